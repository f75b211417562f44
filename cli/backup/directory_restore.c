#include "cli/backup/directory_restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/file.h"
#include "cli/backup/directory_backup.h"
#include "index/maintenance/backup.h"

enum { LINE_SIZE = BACKUP_PATH_SIZE + 128 };
static const char nodes[] = "cluster.conf", held_nodes[] = "cluster.conf.restored";

static const struct {
    const char *head;
    enum backup_kind kind;
} heads[] = {{"quadrille backup 1", BACKUP_OF_INDEX},
             {BACKUP_WHOLE_HEAD, BACKUP_OF_DIRECTORY},
             {BACKUP_CLUSTER_HEAD, BACKUP_OF_CLUSTER}};

static enum status
join(char path[BACKUP_PATH_SIZE], const char *folder, const char *name, struct reason *why)
{
    const int n = snprintf(path, BACKUP_PATH_SIZE, "%s/%s", folder, name);
    return n > 0 && n < BACKUP_PATH_SIZE
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "%.200s is too long a path", folder);
}

/* Names with slashes between them, of which none is empty, "." or "..": nothing leads out. */
static bool
is_safe(const char *path)
{
    for (const char *name = path;; name++) {
        const size_t length = strcspn(name, "/");
        if (length == 0 || strspn(name, ".") == length) {
            return false;
        }
        name += length;
        if (*name == '\0') {
            return true;
        }
    }
}

/* Makes the folders that lead to it; each is synced by who makes a name in it. */
static enum status
make_way(char *path, size_t from, struct reason *why)
{
    for (char *slash = path + from; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        const enum status status = file_make_folder(path, 0700, why);
        *slash = '/';
        TRY(status);
    }
    return STATUS_OK;
}

static enum status
restore_file(const char *source, const char *folder, char *line, struct reason *why)
{
    char from[BACKUP_PATH_SIZE], to[BACKUP_PATH_SIZE], digest[65];
    uint64_t bytes = 0;
    char *save = NULL;
    const char *expected = strtok_r(line, "\t", &save);
    const char *size = strtok_r(NULL, "\t", &save);
    const char *name = strtok_r(NULL, "\n", &save);
    if (expected == NULL || size == NULL || name == NULL || !is_safe(name)) {
        return status_fail(why, STATUS_CORRUPT, "%s/MANIFEST has a malformed line", source);
    }
    TRY(join(from, source, name, why));
    TRY(join(to, folder, strcmp(name, nodes) == 0 ? held_nodes : name, why));
    TRY(make_way(to, strlen(folder) + 1, why));
    TRY(backup_copy_file(from, to, name, NULL, digest, &bytes, why));
    if (strcmp(digest, expected) != 0 || bytes != strtoull(size, NULL, 10)) {
        return status_fail(why, STATUS_CORRUPT, "%s is not what MANIFEST says", from);
    }
    *strrchr(to, '/') = '\0';
    return file_sync_folder(to, why);
}

static enum status
read_head(FILE *manifest, const char *source, struct restored *restored, struct reason *why)
{
    char line[LINE_SIZE] = "";
    const char *tab = fgets(line, sizeof line, manifest) != NULL ? strchr(line, '\t') : NULL;
    for (size_t i = 0; tab != NULL && i < sizeof heads / sizeof heads[0]; i++) {
        const size_t length = (size_t)(tab - line);
        if (strlen(heads[i].head) == length && memcmp(line, heads[i].head, length) == 0) {
            *restored =
                (struct restored){.kind = heads[i].kind, .count = strtoll(tab + 1, NULL, 10)};
            return STATUS_OK;
        }
    }
    return status_fail(why, STATUS_UNSUPPORTED, "%s is no backup of a known format", source);
}

enum status
directory_restore(const char *source, const char *folder, struct restored *restored,
                  struct reason *why)
{
    char path[BACKUP_PATH_SIZE], line[LINE_SIZE];
    TRY(join(path, source, "MANIFEST", why));
    FILE *manifest = fopen(path, "re");
    if (manifest == NULL) {
        return status_fail(why, STATUS_MISUSE, "%s is no backup: cannot read its MANIFEST", source);
    }
    enum status status = read_head(manifest, source, restored, why);
    while (status == STATUS_OK && fgets(line, sizeof line, manifest) != NULL) {
        status = restore_file(source, folder, line, why);
    }
    (void)fclose(manifest);
    return status;
}

enum status
directory_restore_end(const char *folder, struct reason *why)
{
    char from[BACKUP_PATH_SIZE], to[BACKUP_PATH_SIZE];
    TRY(join(from, folder, held_nodes, why));
    TRY(join(to, folder, nodes, why));
    return access(from, F_OK) != 0 || file_rename(from, to) == 0
               ? STATUS_OK
               : status_fail_errno(why, "cannot rename %s", from);
}
