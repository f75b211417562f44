#include "config/scope_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "config/config.h"
#include "config/run_lock.h"

enum { PATH_BYTES = 1 << 16, EDITION_BYTES = 128, FILE_BYTES = 4 * SCOPE_TEXT_MAXIMUM };
static const char RULES[] = SCOPE_RULES_FILE, EDITION[] = "scope.version", LOCK[] = SCOPE_LOCK_FILE;

static uint64_t
fingerprint_of_text(struct slice text)
{
    return text.length == 0 ? 0 : fingerprint64(text);
}

static void
scope_path(const char *directory, const char *name, struct buf *out)
{
    config_scope_folder(directory, out);
    (void)buf_printf(out, "/%s", name);
}

/* ---- reading ---- */

void
scope_edition_path(const char *directory, struct buf *out)
{
    scope_path(directory, EDITION, out);
}

bool
scope_edition_read(const char *directory, struct scope_edition *edition)
{
    struct buf path, text;
    struct reason why;
    *edition = (struct scope_edition){0};
    buf_init(&path, PATH_BYTES);
    buf_init(&text, EDITION_BYTES);
    scope_path(directory, EDITION, &path);
    const bool known = file_read(path.data, &text, &why) == STATUS_OK && text.length > 0 &&
                       sscanf(text.data, "%" SCNu64 " %" SCNx64 " %" SCNx64, &edition->version,
                              &edition->rules, &edition->configured) == 3;
    if (!known) {
        *edition = (struct scope_edition){0};
    }
    buf_release(&path);
    buf_release(&text);
    return known;
}

enum status
scope_file_read(const char *directory, struct buf *text, bool *whole, struct reason *why)
{
    struct scope_edition edition;
    struct stat file;
    struct buf path;
    buf_init(&path, PATH_BYTES);
    scope_path(directory, RULES, &path);
    const bool there = stat(path.data, &file) == 0; /* before it is read: it may be written to */
    const enum status status = file_read(path.data, text, why);
    buf_release(&path);
    if (whole != NULL) {
        const uint64_t written_ms =
            there ? (uint64_t)file.st_mtim.tv_sec * 1000 + (uint64_t)file.st_mtim.tv_nsec / 1000000
                  : 0;
        *whole = written_ms + SCOPE_SETTLE_MS <= clock_wall_ms() ||
                 (scope_edition_read(directory, &edition) &&
                  edition.rules == fingerprint_of_text(buf_slice(text)));
    }
    return status;
}

void
scope_file_path(const char *directory, struct buf *out)
{
    scope_path(directory, RULES, out);
}

/* ---- writing ---- */

enum status
scope_file_lock(const char *directory, int *lock, struct reason *why)
{
    struct buf folder;
    buf_init(&folder, PATH_BYTES);
    config_scope_folder(directory, &folder);
    *lock = run_lock_open(folder.data, LOCK);
    buf_release(&folder);
    if (*lock < 0 || !run_lock_wait(*lock, LOCK_EX)) {
        const enum status status = status_fail_errno(why, "cannot lock %s/run/%s", directory, LOCK);
        if (*lock >= 0) {
            close(*lock);
        }
        return status;
    }
    return STATUS_OK;
}

/* Under the lock nobody else makes the file of that name; one that was left behind is begun anew.
 */
enum status
scope_file_replace(const char *directory, const char *name, struct slice text, struct reason *why)
{
    struct buf path, fresh;
    buf_init(&path, PATH_BYTES);
    buf_init(&fresh, PATH_BYTES);
    scope_path(directory, name, &path);
    buf_printf(&fresh, "%s.new", path.data);
    const int file = open(fresh.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = file >= 0 && file_write_all(file, text);
    enum status status = STATUS_OK;
    if (file >= 0) {
        good = close(file) == 0 && good;
    }
    if (!good || file_rename(fresh.data, path.data) != 0) {
        status = status_fail_errno(why, "cannot write %s", path.data);
        (void)unlink(fresh.data);
    }
    buf_release(&path);
    buf_release(&fresh);
    return status;
}

static bool
same_name(struct slice line, const char *assignment)
{
    const size_t n = strcspn(assignment, "= \t");
    const struct slice trimmed = slice_trim(line);
    return trimmed.length > n && memcmp(trimmed.at, assignment, n) == 0 &&
           strchr("= \t", trimmed.at[n]) != NULL;
}

static void
keep_other_lines(struct slice old, const char *const *assignments, size_t n, struct buf *text)
{
    while (old.length > 0) {
        const struct slice line = slice_take(&old, '\n');
        bool replaced = false;
        for (size_t i = 0; i < n && !replaced; i++) {
            replaced = same_name(line, assignments[i]);
        }
        if (!replaced) {
            buf_append_slice(text, line);
            buf_append_char(text, '\n');
        }
    }
}

void
scope_text_set(struct slice old, const char *const *assignments, size_t n, struct buf *text)
{
    keep_other_lines(old, assignments, n, text);
    for (size_t i = 0; i < n; i++) {
        buf_append_string(text, assignments[i]);
        buf_append_char(text, '\n');
    }
}

enum status
scope_file_set(const char *directory, const char *const *assignments, size_t n, struct reason *why)
{
    struct buf old, text;
    buf_init(&old, FILE_BYTES);
    buf_init(&text, FILE_BYTES);
    enum status status = scope_file_read(directory, &old, NULL, why);
    if (status == STATUS_NOT_FOUND) {
        status = STATUS_OK;
        buf_append_string(
            &text, "# Written by quadrille scope and quadrille crawl; overrides quadrille.conf.\n");
    }
    scope_text_set(buf_slice(&old), assignments, n, &text);
    if (status == STATUS_OK && text.overflowed) {
        status = status_fail(why, STATUS_LIMIT, "%s/%s would be too long", directory, RULES);
    }
    if (status == STATUS_OK && !slice_equal(buf_slice(&old), buf_slice(&text))) {
        status = scope_file_replace(directory, RULES, buf_slice(&text), why);
    }
    buf_release(&old);
    buf_release(&text);
    return status;
}

/* Versions are times where the clock allows: one that was lost with its file is not met again. */
enum status
scope_file_settle(const char *directory, const uint64_t *configured, struct reason *why)
{
    struct scope_edition before, now;
    struct buf text;
    char line[EDITION_BYTES];
    const bool known = scope_edition_read(directory, &before);
    buf_init(&text, FILE_BYTES);
    enum status status = scope_file_read(directory, &text, NULL, why);
    now.rules = fingerprint_of_text(buf_slice(&text));
    buf_release(&text);
    now.configured = configured != NULL ? *configured : before.configured;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    if (known && now.rules == before.rules && now.configured == before.configured) {
        return STATUS_OK;
    }
    now.version = clock_wall_ms() > before.version ? clock_wall_ms() : before.version + 1;
    const int n = snprintf(line, sizeof line, "%" PRIu64 " %" PRIx64 " %" PRIx64 "\n", now.version,
                           now.rules, now.configured);
    return scope_file_replace(directory, EDITION, slice_of(line, (size_t)n), why);
}
