#include "cli/shared/scope_of_seeds.h"

#include <string.h>
#include <unistd.h>

#include "crawl/scope.h"

static const char *const places[] = {"scope.hosts", "scope.domains", "scope.prefixes",
                                     "scope.include"};
enum { PLACES = sizeof places / sizeof places[0] };

/* Tells whether one of the rules that let URIs in is set; first: 0 counts scope.hosts, 1 does
 * not. */
static bool
says_where(const struct opt_set *options, size_t first)
{
    bool changed = false;
    for (size_t i = first; i < PLACES && !changed; i++) {
        opt_text(options, places[i], &changed);
    }
    return changed;
}

/* Reads the rules that people or earlier crawls wrote to DIR/scope.conf. */
static enum status
read_saved(const char *directory, struct opt_set *saved, struct reason *why)
{
    struct buf text;
    buf_init(&text, 4 * SCOPE_TEXT_MAXIMUM);
    enum status status = scope_file_read(directory, &text, NULL, why);
    if (status == STATUS_OK) {
        status = opt_set_load_text(saved, buf_slice(&text), "scope.conf", why);
    }
    buf_release(&text);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* With the lock: between reading and writing nobody else adds hosts. The hosts that an earlier
 * crawl wrote are kept. Where people wrote other rules by `quadrille scope`, those hold. */
static enum status
extend(const char *directory, const struct seeds *seeds, struct opt_set *saved, struct reason *why)
{
    const char *const *hosts;
    struct buf assignment;
    TRY(read_saved(directory, saved, why));
    const size_t host_count = opt_list(saved, "scope.hosts", &hosts);
    if ((host_count > 0 && strcmp(hosts[0], "*") == 0) || says_where(saved, 1)) {
        return STATUS_OK;
    }
    buf_init(&assignment, SCOPE_TEXT_MAXIMUM);
    enum status status = seeds_scope(seeds, hosts, host_count, &assignment, why);
    if (status == STATUS_OK) {
        const char *lines[] = {assignment.data};
        status = scope_file_set(directory, lines, 1, why);
    }
    buf_release(&assignment);
    return status;
}

static enum status
extend_place(const char *directory, const struct seeds *seeds, struct reason *why)
{
    static const struct opt *const tables[] = {scope_options, NULL};
    int lock;
    TRY(scope_file_lock(directory, &lock, why));
    struct opt_set *saved = opt_set_new(tables);
    enum status status = extend(directory, seeds, saved, why);
    if (status == STATUS_OK) {
        status = scope_file_settle(directory, NULL, why);
    }
    opt_set_free(saved);
    close(lock);
    return status;
}

enum status
scope_of_seeds(const struct cli *cli, const struct seeds *seeds, struct reason *why)
{
    if (says_where(cli->options, 0) || seeds->count == 0) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < cli_scope_places(cli); i++) {
        char place[CLI_PLACE_SIZE];
        cli_scope_place(cli, i, place);
        TRY(extend_place(place, seeds, why));
    }
    return STATUS_OK;
}
