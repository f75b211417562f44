#include "config/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/system/file.h"
#include "base/system/log.h"
#include "config/pass_settings.h"

enum { PATH_BYTES = 4096 };

/* ---- what is a data directory ---- */

static bool
is_data_directory(const char *directory)
{
    static const char *const marks[] = {
        "quadrille.conf",       "fixed.conf",           "cluster.conf",       "queue/jobs.db",
        "metastore/records.db", "index-0/documents.db", "transforms/registry"};
    bool found = false;
    struct buf path;
    buf_init(&path, PATH_BYTES);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0] && !found; i++) {
        buf_reset(&path);
        config_path(directory, marks[i], &path);
        found = path.data && access(path.data, F_OK) == 0;
    }
    buf_release(&path);
    return found;
}

static enum status
check_folder(const char *directory, struct reason *why)
{
    struct stat info;
    if (stat(directory, &info) != 0 && errno != ENOENT) {
        return status_fail_errno(why, "cannot read %s", directory);
    }
    if (access(directory, F_OK) != 0 || !S_ISDIR(info.st_mode)) {
        return status_fail(why, STATUS_MISUSE, "%s is not a folder; quadrille init --dir %s",
                           directory, directory);
    }
    return access(directory, X_OK) == 0 ? STATUS_OK
                                        : status_fail_errno(why, "cannot read %s", directory);
}

static enum status
refuse(const char *directory, struct reason *why)
{
    return status_fail(why, STATUS_MISUSE,
                       "%s is no data directory; quadrille init --dir DIR makes one, quadrille "
                       "crawl --dir DIR URI makes and fills it",
                       directory);
}

enum status
config_check_directory(const char *directory, struct reason *why)
{
    TRY(check_folder(directory, why));
    return is_data_directory(directory) ? STATUS_OK : refuse(directory, why);
}

enum status
config_check_place(const char *directory, struct reason *why)
{
    static const char *const own[] = {".",      "..",         "queue",      "metastore",
                                      "warc",   "log",        "run",        "tmp",
                                      "import", "scope.conf", "transforms", "curve.secret"};
    TRY(check_folder(directory, why));
    if (is_data_directory(directory)) {
        return STATUS_OK;
    }
    DIR *folder = opendir(directory);
    if (folder == NULL) {
        return status_fail_errno(why, "cannot read %s", directory);
    }
    bool foreign = false;
    for (struct dirent *entry; !foreign && (entry = readdir(folder)) != NULL;) {
        foreign = strncmp(entry->d_name, "index-", 6) != 0;
        for (size_t i = 0; i < sizeof own / sizeof own[0] && foreign; i++) {
            foreign = strcmp(entry->d_name, own[i]) != 0;
        }
    }
    (void)closedir(folder);
    return foreign ? refuse(directory, why) : STATUS_OK;
}

/* ---- options ---- */

static const char *const fixed_names[] = {"index.partitions"};
enum { FIXED_COUNT = sizeof fixed_names / sizeof fixed_names[0] };

enum status
config_fix(const char *directory, const struct opt_set *options, struct reason *why)
{
    struct buf path, text;
    bool made;
    buf_init(&path, PATH_BYTES);
    buf_init(&text, PATH_BYTES);
    config_path(directory, "fixed.conf", &path);
    (void)buf_append_string(&text, "# What the data here were made with; not to be changed.\n");
    for (int i = 0; i < FIXED_COUNT; i++) {
        (void)buf_printf(&text, "%s = %s\n", fixed_names[i],
                         opt_text(options, fixed_names[i], NULL));
    }
    const enum status status =
        path.data != NULL && access(path.data, F_OK) == 0
            ? STATUS_OK
            : file_make(path.data ? path.data : "", buf_slice(&text), 0666, &made, why);
    buf_release(&text);
    buf_release(&path);
    return status;
}

/* Takes what DIR/fixed.conf says, unless something else was asked for. */
static enum status
take_fixed(struct opt_set *options, const char *directory, struct reason *why)
{
    struct opt_set *fixed = opt_set_new(config_tables);
    struct buf text;
    buf_init(&text, PATH_BYTES);
    config_path(directory, "fixed.conf", &text);
    enum status status = opt_set_load_file(fixed, text.data ? text.data : "", why);
    const bool exists = status != STATUS_NOT_FOUND;
    status = exists ? status : STATUS_OK;
    for (int i = 0; i < FIXED_COUNT && status == STATUS_OK && exists; i++) {
        bool asked;
        const char *made = opt_text(fixed, fixed_names[i], NULL);
        const char *value = opt_text(options, fixed_names[i], &asked);
        if (asked && strcmp(made, value) != 0) {
            status = status_fail(why, STATUS_MISUSE, "%s is %s for the data in %s and cannot be %s",
                                 fixed_names[i], made, directory, value);
            break;
        }
        buf_reset(&text);
        (void)buf_printf(&text, "%s=%s", fixed_names[i], made);
        status = opt_set_assign(options, text.data, why);
    }
    buf_release(&text);
    opt_set_free(fixed);
    return status;
}

static bool
is_of_another(const char *directory)
{
    struct buf path;
    buf_init(&path, PATH_BYTES);
    config_path(directory, "quadrille.conf", &path);
    const bool unreadable = access(path.data, R_OK) != 0 && errno == EACCES;
    buf_release(&path);
    return unreadable && access(directory, W_OK) != 0;
}

enum status
config_load(const char *directory, const struct flag_list *assignments, struct opt_set **options,
            struct reason *why)
{
    enum status status = STATUS_OK;
    *options = opt_set_new(config_tables);
    if (directory) {
        struct buf path;
        buf_init(&path, PATH_BYTES);
        config_path(directory, "quadrille.conf", &path);
        status = opt_set_load_file(*options, path.data ? path.data : "", why);
        /* Nothing to change; or settings of somebody else, whose directory may only be read. */
        if (status == STATUS_NOT_FOUND || (status == STATUS_SYSTEM && is_of_another(directory))) {
            status = STATUS_OK;
        }
        buf_release(&path);
    }
    for (size_t i = 0; assignments && i < assignments->count && status == STATUS_OK; i++) {
        status = settings_take(*options, assignments->items[i], why);
    }
    if (status == STATUS_OK && directory) {
        status = take_fixed(*options, directory, why);
    }
    if (status != STATUS_OK) {
        opt_set_free(*options);
        *options = NULL;
    }
    return status;
}

void
config_open_log(const struct opt_set *options, const char *program)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    const char *wanted = opt_string(options, "log.level");
    enum log_level level = LOG_LEVEL_ERROR;
    while (strcmp(names[level], wanted) != 0) {
        level++;
    }
    log_open(program, level, strcmp(opt_string(options, "log.format"), "json") == 0);
}
