#include "cli/supervisor/scope_keeper.h"

#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/system/log.h"
#include "config/config.h"
#include "config/scope_file.h"

enum { PATH_BYTES = 1 << 16 };

/* Fingerprint of the options that decide which links are followed. */
static uint64_t
fingerprint_of_options(const struct opt_set *options)
{
    static const char *const beginnings[] = {"scope.", "traps.", "urls.", "extract.queries"};
    struct buf text;
    buf_init(&text, 2 * SCOPE_TEXT_MAXIMUM);
    for (size_t t = 0; config_tables[t] != NULL; t++) {
        for (const struct opt *o = config_tables[t]; o->name != NULL; o++) {
            for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
                if (strncmp(o->name, beginnings[i], strlen(beginnings[i])) == 0) {
                    buf_printf(&text, "%s=%s\n", o->name, opt_text(options, o->name, NULL));
                }
            }
        }
    }
    const uint64_t fingerprint = fingerprint64(buf_slice(&text));
    buf_release(&text);
    return fingerprint;
}

void
scope_keeper_open(struct scope_keeper *keeper, const char *directory, const struct opt_set *options)
{
    *keeper = (struct scope_keeper){.directory = directory,
                                    .configured = fingerprint_of_options(options)};
}

/* Tells whether scope.conf and scope.version are as they were left. */
static bool
is_as_seen(const struct scope_keeper *keeper, const struct stat *rules)
{
    struct buf path;
    struct stat edition;
    buf_init(&path, PATH_BYTES);
    scope_edition_path(keeper->directory, &path);
    const bool there = stat(path.data, &edition) == 0;
    buf_release(&path);
    return keeper->looked && there && rules->st_ino == keeper->rules.st_ino &&
           rules->st_size == keeper->rules.st_size &&
           rules->st_mtim.tv_sec == keeper->rules.st_mtim.tv_sec &&
           rules->st_mtim.tv_nsec == keeper->rules.st_mtim.tv_nsec;
}

/* Half of a file that an editor is writing gets no version. */
static bool
is_whole(const struct scope_keeper *keeper)
{
    struct buf text;
    struct reason why;
    bool whole = true;
    buf_init(&text, 4 * SCOPE_TEXT_MAXIMUM);
    (void)scope_file_read(keeper->directory, &text, &whole, &why);
    buf_release(&text);
    return whole;
}

void
scope_keeper_look(struct scope_keeper *keeper)
{
    struct stat rules = {0};
    struct buf path;
    struct reason why;
    int lock;
    if (keeper->directory == NULL) {
        return;
    }
    buf_init(&path, PATH_BYTES);
    scope_file_path(keeper->directory, &path);
    if (stat(path.data, &rules) != 0) {
        rules = (struct stat){0};
    }
    buf_release(&path);
    if (is_as_seen(keeper, &rules) || (keeper->looked && !is_whole(keeper))) {
        return;
    }
    enum status status = scope_file_lock(keeper->directory, &lock, &why);
    if (status == STATUS_OK) {
        status = scope_file_settle(keeper->directory, &keeper->configured, &why);
        close(lock);
    }
    if (status != STATUS_OK) {
        log_error("scope_version", "reason=%s", why.text);
        return;
    }
    keeper->rules = rules;
    keeper->looked = true;
}
