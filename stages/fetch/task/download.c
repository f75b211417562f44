#include "stages/fetch/task/download.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file.h"
#include "warc/warc.h"

/* Reads the identifier of this start of the machine. Where it is unknown no file is of another. */
static void
read_boot(char boot[DOWNLOAD_BOOT + 1])
{
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t n = file >= 0 ? read(file, boot, DOWNLOAD_BOOT) : 0;
    boot[n == DOWNLOAD_BOOT ? DOWNLOAD_BOOT : 0] = '\0';
    file_close(file);
}

static bool
write_head(const struct download *download)
{
    char bytes[DOWNLOAD_HEAD + 1] = "", boot[DOWNLOAD_BOOT + 1];
    read_boot(boot);
    snprintf(bytes, sizeof bytes, "%0*llu %*s %s", (int)DOWNLOAD_NUMBER,
             (unsigned long long)download->safe, (int)DOWNLOAD_BOOT, boot, download->validator);
    const int file = file_open(download->head, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool good = file >= 0 && file_write_all_at(file, slice_of(bytes, DOWNLOAD_HEAD), 0) &&
                      fdatasync(file) == 0;
    file_close(file);
    return good;
}

/* Returns how many bytes of the file, which has so many, are those that were written; 0: there is
 * no head.
 */
static uint64_t
read_head(struct download *download, uint64_t size)
{
    char bytes[DOWNLOAD_HEAD + 1] = "", boot[DOWNLOAD_BOOT + 1];
    const size_t boot_at = DOWNLOAD_NUMBER + 1, validator_at = boot_at + DOWNLOAD_BOOT + 1;
    const int file = open(download->head, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file >= 0 ? read(file, bytes, DOWNLOAD_HEAD) : 0;
    file_close(file);
    if (n != DOWNLOAD_HEAD || bytes[DOWNLOAD_NUMBER] != ' ' || bytes[validator_at - 1] != ' ' ||
        bytes[validator_at] == '\0') {
        return 0;
    }
    read_boot(boot);
    download->safe = slice_number(slice_of(bytes, DOWNLOAD_NUMBER));
    download->safe = download->safe < size ? download->safe : size;
    memcpy(download->validator, bytes + validator_at, DOWNLOAD_VALIDATOR);
    return boot[0] != '\0' && memcmp(bytes + boot_at, boot, DOWNLOAD_BOOT) == 0 ? size
                                                                                : download->safe;
}

bool
download_sync(struct download *download)
{
    if (fdatasync(download->file) != 0) {
        return false;
    }
    download->safe = download->at_hand + download->written;
    return write_head(download);
}

bool
download_begin_anew(struct download *download, struct slice header)
{
    struct slice value = warc_http_header(header, "ETag");
    if (value.length == 0 || slice_starts(value, SLICE("W/"))) {
        value = warc_http_header(header, "Last-Modified");
    }
    value = value.length <= DOWNLOAD_VALIDATOR ? value : (struct slice){0};
    snprintf(download->validator, sizeof download->validator, "%.*s", SLICE_PRINT(value));
    download->at_hand = download->safe = 0;
    return write_head(download) && ftruncate(download->file, 0) == 0;
}

/* It was whole, and nobody knows: so is what has the size that its head says. */
static void
take_back(const struct download *download)
{
    struct download whole = *download;
    struct stat about;
    if (access(download->part, F_OK) != 0 && stat(download->path, &about) == 0 &&
        read_head(&whole, UINT64_MAX) > 0 && whole.safe == (uint64_t)about.st_size) {
        (void)rename(download->path, download->part);
    }
}

bool
download_open(struct download *download)
{
    struct stat about;
    take_back(download);
    download->file = file_open(download->part, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (download->file < 0 || fstat(download->file, &about) != 0) {
        return false;
    }
    const uint64_t there = read_head(download, (uint64_t)about.st_size);
    download->at_hand = there > 1 ? there - 1 : 0;
    return ftruncate(download->file, (off_t)download->at_hand) == 0;
}

void
download_discard(const struct download *download)
{
    (void)unlink(download->part);
    (void)unlink(download->head);
}

void
download_free(struct download *download)
{
    if (download != NULL) {
        file_close(download->file);
        free(download);
    }
}
