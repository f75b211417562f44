#include "datasets/dump_key.h"

#include <string.h>

#include "base/url/url.h"

/* ";type=X" at the end of an FTP URL; 0: there is none. */
static char
transfer_type(struct slice path)
{
    static const char name[] = ";type=";
    const size_t length = sizeof name; /* with the letter */
    if (path.length < length ||
        !slice_equal_nocase(slice_of(path.at + path.length - length, length - 1), SLICE(name))) {
        return 0;
    }
    return (char)(path.at[path.length - 1] | 0x20);
}

/* A line's end within a name would end the command that asks for it. */
static bool
has_control(struct slice path)
{
    static const char *const escapes[] = {"%00", "%0A", "%0D"};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        if (slice_find_slice(path, slice_string(escapes[i])) < path.length) {
            return true;
        }
    }
    return false;
}

/* Why it is not one file that is had byte by byte; NULL: it is. said: as somebody wrote it. */
static const char *
refusal(const struct iri_parts *said, struct slice path)
{
    const char type = transfer_type(path);
    if (said->query.at != NULL) {
        return "a URL of FTP has no query";
    }
    if (slice_find(said->path, '*') < said->path.length ||
        slice_find(said->path, '[') < said->path.length) {
        return "a pattern; by FTP only files are fetched, each by its name";
    }
    if (path.length == 0 || path.at[path.length - 1] == '/' || type == 'd') {
        return "a directory; by FTP only files are fetched, and none is listed";
    }
    if (type != 0 && type != 'i') {
        return "a transfer as text would change its bytes";
    }
    return has_control(path) ? "a control character in its name" : NULL;
}

static enum status
ftp_key(struct slice uri, struct buf *key, struct reason *why)
{
    struct iri_parts said;
    const size_t start = key->length;
    TRY(url_ftp_key(uri, key, why));
    const struct slice whole = slice_of(key->data + start, key->length - start);
    const struct slice path = url_path_query(whole);
    iri_split(uri, &said);
    const char *because = refusal(&said, path);
    if (because != NULL) {
        key->length = start;
        key->data[start] = '\0';
        return status_fail(why, STATUS_UNSUPPORTED, "%s", because);
    }
    if (transfer_type(path) != 0) {
        key->length -= sizeof ";type=i" - 1;
        key->data[key->length] = '\0';
    }
    return STATUS_OK;
}

enum status
dump_key(struct slice uri, struct slice base, struct buf *key, struct reason *why)
{
    static const char *const ssh[] = {"sftp", "scp", "ssh"};
    struct iri_parts parts;
    iri_split(uri, &parts);
    if (slice_equal_nocase(parts.scheme, SLICE("ftp")) ||
        slice_equal_nocase(parts.scheme, SLICE("ftps"))) {
        return ftp_key(uri, key, why);
    }
    for (size_t i = 0; i < sizeof ssh / sizeof *ssh; i++) {
        if (slice_equal_nocase(parts.scheme, slice_string(ssh[i]))) {
            return status_fail(why, STATUS_UNSUPPORTED, "SSH is not spoken");
        }
    }
    const enum status status = url_crawl_key(uri, base, key, why);
    return status == STATUS_UNSUPPORTED
               ? status_fail(why, status, "only dumps by HTTP and FTP are fetched")
               : status;
}
