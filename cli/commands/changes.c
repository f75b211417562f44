/* quadrille changes: what batches change, as patches that others apply. docs/CHANGE_FEED.md. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/shared/cli.h"

enum { TEXT_MAXIMUM = 1 << 30, FLUSH = 64 << 10 };

static volatile bool stopped;

static void
stop(int signal)
{
    (void)signal;
    stopped = true;
}

/* Once there are `from` bytes; 1: all, so that a reader has it at once. */
static enum status
write_out(struct buf *out, size_t from, struct reason *why)
{
    if (out->length < from) {
        return STATUS_OK;
    }
    const bool good = !out->overflowed &&
                      fwrite(out->data, 1, out->length, stdout) == out->length &&
                      (from > 1 || fflush(stdout) == 0);
    buf_reset(out);
    return good ? STATUS_OK : status_fail_errno(why, "cannot write to standard output");
}

/* ---- N-Quads with a sign before each line ---- */

static enum status
quads_begin(void *context, const struct index_changes_begin *begin, struct reason *why)
{
    (void)why;
    struct buf *out = context;
    (void)buf_printf(out, "# begin %.*s after %.*s\n", SLICE_PRINT(begin->position),
                     SLICE_PRINT(begin->previous));
    return STATUS_OK;
}

static enum status
quads_document(void *context, struct slice uri, uint64_t generation, struct reason *why)
{
    (void)why;
    struct buf *out = context;
    (void)buf_printf(out, "# document %" PRIu64 " ", generation);
    (void)buf_append_slice(out, uri);
    (void)buf_append_char(out, '\n');
    return STATUS_OK;
}

static enum status
quads_quad(void *context, bool removed, struct slice line, struct reason *why)
{
    struct buf *out = context;
    (void)buf_append_char(out, removed ? '-' : '+');
    (void)buf_append_slice(out, line);
    (void)buf_append_char(out, '\n');
    return write_out(out, FLUSH, why);
}

static enum status
quads_commit(void *context, struct slice position, struct reason *why)
{
    struct buf *out = context;
    (void)buf_printf(out, "# commit %.*s\n", SLICE_PRINT(position));
    return write_out(out, 1, why);
}

static enum status
quads_abort(void *context, struct reason *why)
{
    struct buf *out = context;
    (void)buf_append_string(out, "# abort\n");
    return write_out(out, 1, why);
}

/* ---- RDF Patch: https://afs.github.io/rdf-delta/rdf-patch.html ---- */

static enum status
patch_begin(void *context, const struct index_changes_begin *begin, struct reason *why)
{
    (void)why;
    struct buf *out = context;
    (void)buf_printf(out,
                     "H id <urn:x-quadrille:changes:%.*s> .\n"
                     "H prev <urn:x-quadrille:changes:%.*s> .\n"
                     "H position \"%.*s\" .\n"
                     "TX .\n",
                     SLICE_PRINT(begin->position), SLICE_PRINT(begin->previous),
                     SLICE_PRINT(begin->reached));
    return STATUS_OK;
}

static enum status
patch_quad(void *context, bool removed, struct slice line, struct reason *why)
{
    struct buf *out = context;
    (void)buf_append_string(out, removed ? "D " : "A ");
    (void)buf_append_slice(out, line);
    (void)buf_append_char(out, '\n');
    return write_out(out, FLUSH, why);
}

static enum status
patch_commit(void *context, struct slice position, struct reason *why)
{
    (void)position;
    struct buf *out = context;
    (void)buf_append_string(out, "TC .\n");
    return write_out(out, 1, why);
}

static enum status
patch_abort(void *context, struct reason *why)
{
    struct buf *out = context;
    (void)buf_append_string(out, "TA .\n");
    return write_out(out, 1, why);
}

/* ---- JSON lines ---- */

static void
put_member(struct buf *out, const char *name, struct slice value)
{
    (void)buf_printf(out, ", \"%s\": \"", name);
    (void)buf_append_json(out, value);
    (void)buf_append_char(out, '"');
}

static enum status
json_begin(void *context, const struct index_changes_begin *begin, struct reason *why)
{
    (void)why;
    struct buf *out = context;
    (void)buf_printf(out, "{\"op\": \"begin\", \"partition\": %zu", begin->partition);
    put_member(out, "batch", begin->position);
    put_member(out, "after", begin->previous);
    (void)buf_append_string(out, "}\n");
    return STATUS_OK;
}

static enum status
json_document(void *context, struct slice uri, uint64_t generation, struct reason *why)
{
    (void)why;
    struct buf *out = context;
    (void)buf_printf(out, "{\"op\": \"document\", \"generation\": %" PRIu64, generation);
    put_member(out, "uri", uri);
    (void)buf_append_string(out, "}\n");
    return STATUS_OK;
}

static enum status
json_quad(void *context, bool removed, struct slice line, struct reason *why)
{
    struct buf *out = context;
    (void)buf_printf(out, "{\"op\": \"%s\"", removed ? "remove" : "add");
    put_member(out, "quad", line);
    (void)buf_append_string(out, "}\n");
    return write_out(out, FLUSH, why);
}

static enum status
json_commit(void *context, struct slice position, struct reason *why)
{
    struct buf *out = context;
    (void)buf_append_string(out, "{\"op\": \"commit\"");
    put_member(out, "position", position);
    (void)buf_append_string(out, "}\n");
    return write_out(out, 1, why);
}

static enum status
json_abort(void *context, struct reason *why)
{
    struct buf *out = context;
    (void)buf_append_string(out, "{\"op\": \"abort\"}\n");
    return write_out(out, 1, why);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    struct index_follower follower;
} formats[] = {
    {"nquads-patch", {quads_begin, quads_document, quads_quad, quads_commit, quads_abort, NULL}},
    {"rdf-patch", {patch_begin, NULL, patch_quad, patch_commit, patch_abort, NULL}},
    {"json", {json_begin, json_document, json_quad, json_commit, json_abort, NULL}},
};

static enum status
find_format(const char *name, struct index_follower *follower, struct reason *why)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i].name, name) == 0) {
            *follower = formats[i].follower;
            return STATUS_OK;
        }
    }
    return status_fail(why, STATUS_MISUSE, "--format is nquads-patch, rdf-patch or json");
}

static enum status
print_position(struct index_client *index, struct reason *why)
{
    struct buf position;
    buf_init(&position, TEXT_MAXIMUM);
    const enum status status = index_position(index, &position, why);
    if (status == STATUS_OK) {
        printf("%.*s\n", SLICE_PRINT(buf_slice(&position)));
    }
    buf_release(&position);
    return status;
}

static enum status
print_changes(struct index_client *index, const struct index_follower *format, const char *since,
              const struct flag_list *graphs, bool follow, struct reason *why)
{
    struct buf out;
    struct index_follower follower = *format;
    struct slice *wanted = memory_zero(graphs->count + 1, sizeof(*wanted));
    for (size_t i = 0; i < graphs->count; i++) {
        wanted[i] = slice_string(graphs->items[i]);
    }
    const struct index_follow_options options = {.since = slice_string(since ? since : ""),
                                                 .graphs = wanted,
                                                 .graph_count = graphs->count,
                                                 .follow = follow,
                                                 .stopped = &stopped};
    buf_init(&out, TEXT_MAXIMUM);
    follower.context = &out;
    enum status status = index_changes(index, &options, &follower, why);
    if (status == STATUS_OK) {
        status = write_out(&out, 1, why);
    }
    buf_release(&out);
    free(wanted);
    return status;
}

static enum status
print_last(struct index_client *index, const struct index_follower *format, const char *uri,
           struct reason *why)
{
    struct buf out;
    struct index_follower follower = *format;
    buf_init(&out, TEXT_MAXIMUM);
    follower.context = &out;
    enum status status = index_last_change(index, slice_string(uri), 0, &follower, why);
    if (status == STATUS_OK) {
        status = write_out(&out, 1, why);
    }
    buf_release(&out);
    return status;
}

int
command_changes(int argc, char **argv)
{
    struct cli_common common = {0};
    struct cli cli = {0};
    struct index_client *index = NULL;
    const char *since = NULL;
    const char *last = NULL;
    const char *format = "nquads-patch";
    struct flag_list graphs = {0};
    struct index_follower follower;
    bool follow = false;
    bool start = false;
    bool json = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"since", 'S', FLAG_STRING, "POSITION", &since,
         "Changes after this position; without it, from the first batch on."},
        {"follow", 'f', FLAG_SWITCH, NULL, &follow,
         "Goes on with each new batch until SIGINT or SIGTERM; waits while the index is down."},
        {"format", 'F', FLAG_STRING, "FORMAT", &format,
         "nquads-patch (the usual), rdf-patch or json."},
        {"json", 'j', FLAG_SWITCH, NULL, &json, "The same as --format json."},
        {"graph", 'g', FLAG_REPEATED, "URI", &graphs, "Only changes of this document; repeatable."},
        {"last", 'l', FLAG_STRING, "URI", &last,
         "What the last change of this document added and removed, and nothing else."},
        {"start", 0, FLAG_SWITCH, NULL, &start, "Prints the position of now, and nothing else."},
        {0},
    };
    const struct program program = {
        .name = "quadrille changes",
        .synopsis = "--dir DIR [--since POSITION] [--follow] [--format FORMAT] [--graph URI]... "
                    "[--last URI]",
        .summary = "follow what changes in the index, for mirrors",
        .description =
            "Prints for each batch that the index committed which quads it removed and which it "
            "added, each batch as a transaction. nquads-patch: canonical N-Quads lines after - or "
            "+, between the lines \"# begin\" and \"# commit POSITION\"; rdf-patch: RDF Patch; "
            "json: an object in each line. What follows an abort mark comes again: changes "
            "between begin and abort do not count.\n\n"
            "A mirror begins with `quadrille dump --position FILE`, applies each transaction "
            "whole, and keeps the position of the last one with its data; from there it goes on "
            "after any interruption, and every change comes exactly once. The index keeps changes "
            "up to the option index.changes; a follower that is further behind gets exit code 111 "
            "and must begin with a dump again. docs/CHANGE_FEED.md.",
        .examples = "quadrille dump --dir DIR --output mirror.nq --position mirror.position\n"
                    "quadrille changes --dir DIR --since \"$(cat mirror.position)\" --follow\n"
                    "quadrille changes --dir DIR --last http://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = find_format(json ? "json" : format, &follower, &why);
    }
    if (status == STATUS_OK && start && (follow || since != NULL || graphs.count > 0)) {
        status = status_fail(&why, STATUS_MISUSE, "--start stands alone");
    }
    if (status == STATUS_OK && last != NULL &&
        (start || follow || since != NULL || graphs.count > 0)) {
        status = status_fail(&why, STATUS_MISUSE, "--last stands alone");
    }
    if (status == STATUS_OK) {
        status = cli_open_reading(&cli, &common, &why);
    }
    if (status == STATUS_OK && follow && cli.reading) {
        status = status_fail(&why, STATUS_MISUSE,
                             "%s may only be read: there is nothing to be followed in a copy of it",
                             common.directory);
    }
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "index", &why);
    }
    if (status == STATUS_OK) {
        status = cli_index(&cli, &index, &why);
    }
    if (status == STATUS_OK && start) {
        status = print_position(index, &why);
    } else if (status == STATUS_OK && last != NULL) {
        status = print_last(index, &follower, last, &why);
    } else if (status == STATUS_OK) {
        (void)signal(SIGINT, stop);
        (void)signal(SIGTERM, stop);
        status = print_changes(index, &follower, since, &graphs, follow, &why);
    }
    index_client_close(index);
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
