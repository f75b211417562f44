#include "queue/daemon/daemon_scope.h"

#include "base/system/log.h"
#include "config/scope_change.h"
#include "config/scope_file.h"

enum { PATH_BYTES = 1 << 16, TEXT_BYTES = 4 * SCOPE_TEXT_MAXIMUM };

void
daemon_scope_open(struct daemon_scope *scope, const struct broker_options *options,
                  const struct opt_set *configured)
{
    *scope = (struct daemon_scope){.directory = options->directory,
                                   .configured = configured,
                                   .alone = cluster_node_count(options->cluster) == 1};
    buf_init(&scope->rules, TEXT_BYTES);
}

void
daemon_scope_close(struct daemon_scope *scope)
{
    buf_release(&scope->rules);
}

/* Fills change and scope->rules. False: half of a file that an editor is writing must not be told
 * to anybody; it is looked at again. */
static bool
find_change(struct daemon_scope *scope, struct buf *change)
{
    struct reason why;
    struct buf told;
    bool whole = true;
    buf_init(&told, TEXT_BYTES);
    buf_reset(&scope->rules);
    enum status status = scope_file_read(scope->directory, &scope->rules, &whole, &why);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        status = scope_told_read(scope->directory, &told, &why);
    }
    if (status == STATUS_OK && whole) {
        scope_change_between(buf_slice(&told), buf_slice(&scope->rules), change);
    }
    buf_release(&told);
    return status == STATUS_OK && whole;
}

void
daemon_scope_look(struct daemon_scope *scope, struct broker *broker)
{
    struct scope_edition edition;
    struct stat file = {0};
    struct buf path, change;
    buf_init(&path, PATH_BYTES);
    scope_edition_path(scope->directory, &path);
    const bool there = stat(path.data, &file) == 0;
    buf_release(&path);
    if (there && file.st_ino == scope->seen.st_ino &&
        file.st_mtim.tv_sec == scope->seen.st_mtim.tv_sec &&
        file.st_mtim.tv_nsec == scope->seen.st_mtim.tv_nsec) {
        return;
    }
    (void)scope_edition_read(scope->directory, &edition);
    const bool tell = !scope->alone && edition.version != broker_scope(broker);
    buf_init(&change, TEXT_BYTES);
    if (!tell || find_change(scope, &change)) {
        scope->seen = file;
        scope->telling = tell ? edition.version : 0;
        broker_set_scope(broker, edition.version, buf_slice(&change));
    }
    buf_release(&change);
}

void
daemon_scope_settle(struct daemon_scope *scope, const struct broker *broker)
{
    struct reason why;
    if (scope->telling == 0 || broker_scope(broker) != scope->telling) {
        return;
    }
    scope->telling = 0;
    if (scope_told_write(scope->directory, buf_slice(&scope->rules), &why) != STATUS_OK) {
        log_warning("scope_told", "reason=%s", why.text); /* they will be told more than is new */
    }
    buf_release(&scope->rules);
    buf_init(&scope->rules, TEXT_BYTES);
}

enum status
daemon_scope_take(void *context, struct slice change, struct reason *why)
{
    const struct daemon_scope *scope = context;
    return scope_change_take(scope->directory, scope->configured, change, why);
}
