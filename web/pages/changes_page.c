/* Shows what the last change of a document added and removed, as far as the index keeps it: a page,
 * or JSON. */
#include <string.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/pages/page_terms.h"

enum {
    LISTED = 500, /* of those removed, and of those added */
    LINES_BYTES = 16 << 20,
    TERM_BYTES = 16 << 20,
    KINDS = 2 /* added, removed */
};

struct last_change {
    bool known;
    struct reason unknown; /* why it is not */
    uint64_t wall_ms, generation;
    struct kind {
        uint64_t count, listed;
        struct buf lines; /* N-Quads, sorted as the index has them */
    } kinds[KINDS];
};

static const char *const names[KINDS] = {"added", "removed"};

/* ---- asking ---- */

static enum status
take_begin(void *context, const struct index_changes_begin *begin, struct reason *why)
{
    struct last_change *change = context;
    (void)why;
    change->wall_ms = begin->wall_ms;
    return STATUS_OK;
}

static enum status
take_document(void *context, struct slice uri, uint64_t generation, struct reason *why)
{
    struct last_change *change = context;
    (void)uri, (void)why;
    change->generation = generation;
    return STATUS_OK;
}

static enum status
take_quad(void *context, bool removed, struct slice line, struct reason *why)
{
    struct kind *kind = &((struct last_change *)context)->kinds[removed];
    (void)why;
    kind->count++;
    if (kind->listed == kind->count - 1 && kind->listed < LISTED &&
        line.length < LINES_BYTES - kind->lines.length) {
        (void)buf_append_slice(&kind->lines, line);
        (void)buf_append_char(&kind->lines, '\n');
        kind->listed++;
    }
    return STATUS_OK;
}

static enum status
read_change(struct web_service *service, struct web_query *query, struct slice uri,
            struct last_change *change, struct reason *why)
{
    const struct index_follower follower = {
        .begin = take_begin, .document = take_document, .quad = take_quad, .context = change};
    struct index_client *client;
    TRY(web_index_take(service, &client, why));
    index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
    const enum status status = index_last_change(
        client, uri, (uint32_t)opt_duration_ms(service->options, "web.query_timeout"), &follower,
        why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    change->known = status == STATUS_OK;
    web_index_give(service, client,
                   change->known || status == STATUS_STALE || status == STATUS_NOT_FOUND);
    if (status == STATUS_STALE) {
        change->unknown = *why;
        return STATUS_OK;
    }
    return web_query_status(query, status, why);
}

/* ---- JSON ---- */

static void
put_member(struct buf *out, const char *before, const char *name, struct slice value)
{
    (void)buf_printf(out, "%s\"%s\": \"", before, name);
    (void)buf_append_json(out, value);
    (void)buf_append_char(out, '"');
}

static void
put_json(struct buf *out, struct slice uri, const struct last_change *change)
{
    char when[CLOCK_TEXT_SIZE];
    put_member(out, "{", "document", uri);
    (void)buf_printf(out, ", \"known\": %s", change->known ? "true" : "false");
    if (!change->known) {
        put_member(out, ", ", "reason", slice_string(change->unknown.text));
        (void)buf_append_string(out, "}\n");
        return;
    }
    clock_text(change->wall_ms, 1, when);
    put_member(out, ", ", "changed", slice_string(when));
    (void)buf_printf(out, ", \"generation\": %llu", (unsigned long long)change->generation);
    for (int i = 0; i < KINDS; i++) {
        struct slice lines = buf_slice(&change->kinds[i].lines);
        (void)buf_printf(out, ", \"%sTotal\": %llu, \"%s\": [", names[i],
                         (unsigned long long)change->kinds[i].count, names[i]);
        for (bool first = true; lines.length > 0; first = false) {
            (void)buf_append_string(out, first ? "\"" : ", \"");
            (void)buf_append_json(out, slice_take(&lines, '\n'));
            (void)buf_append_char(out, '"');
        }
        (void)buf_append_char(out, ']');
    }
    (void)buf_printf(out, ", \"cut\": %s}\n",
                     change->kinds[0].listed < change->kinds[0].count ||
                             change->kinds[1].listed < change->kinds[1].count
                         ? "true"
                         : "false");
}

/* ---- the page ---- */

/* A term without a space outside of a literal ends at the first space; what is left of a line
 * behind subject and predicate is the object, the graph and a full stop. */
static void
put_line(struct buf *out, struct slice line, size_t graph, struct arena *arena)
{
    const struct slice subject = slice_take(&line, ' '), property = slice_take(&line, ' ');
    const size_t behind = graph + 5; /* " <GRAPH> ." */
    const struct slice cells[] = {
        subject, property, slice_of(line.at, line.length > behind ? line.length - behind : 0)};
    (void)buf_append_string(out, "<tr>");
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        const struct term term = page_term_read(cells[i], arena);
        (void)buf_append_string(out, "<td>");
        page_term(out, &term);
        (void)buf_append_string(out, "</td>");
    }
    (void)buf_append_string(out, "</tr>\n");
    arena_reset(arena);
}

static void
put_kind(struct buf *out, struct slice uri, const char *title, const struct kind *kind)
{
    struct slice lines = buf_slice(&kind->lines);
    struct arena arena;
    if (kind->count == 0) {
        return;
    }
    (void)buf_printf(out, "<h2>%s</h2>\n", title);
    (void)buf_append_string(out, "<table class=\"triples\"><thead><tr><th scope=\"col\">Of</th>"
                                 "<th scope=\"col\">Property</th><th scope=\"col\">Value</th>"
                                 "</tr></thead><tbody>\n");
    arena_init(&arena, TERM_BYTES);
    while (lines.length > 0) {
        put_line(out, slice_take(&lines, '\n'), uri.length, &arena);
    }
    arena_release(&arena);
    (void)buf_append_string(out, "</tbody></table>\n");
    if (kind->listed < kind->count) {
        (void)buf_append_string(out, "<p class=\"note\">There are ");
        page_number(out, kind->count - kind->listed);
        (void)buf_append_string(out, " more.</p>\n");
    }
}

static void
put_change(struct buf *out, struct slice uri, const struct last_change *change)
{
    const struct kind *added = &change->kinds[0], *removed = &change->kinds[1];
    (void)buf_append_string(out, "<p>Its last change, of ");
    page_time(out, change->wall_ms);
    (void)buf_append_string(out, ", added ");
    page_number(out, added->count);
    (void)buf_append_string(out, " statements and removed ");
    page_number(out, removed->count);
    (void)buf_append_string(out, removed->count == 0
                                     ? ". The document was new, or said less before.</p>\n"
                                     : ".</p>\n");
    put_kind(out, uri, "Added", added);
    put_kind(out, uri, "Removed", removed);
}

static void
put_page(struct buf *out, struct slice uri, const struct last_change *change)
{
    html_begin(out, "What changed", slice_of(NULL, 0));
    (void)buf_append_string(out, "<h1>What changed in <bdi>");
    page_document_link(out, uri);
    (void)buf_append_string(out, "</bdi></h1>\n");
    if (change->known) {
        put_change(out, uri, change);
    } else {
        (void)buf_append_string(out, "<p class=\"note\">What it said before is not known: ");
        html_text(out, slice_string(change->unknown.text));
        (void)buf_append_string(out, ".</p>\n");
    }
    (void)buf_append_string(out, "<p class=\"where\"><a href=\"/changes?format=json&amp;uri=");
    url_append_value(out, uri);
    (void)buf_append_string(out, "\">The same as JSON</a></p>\n");
    html_end(out);
}

void
web_changes(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    static const char *const types[] = {"text/html", "application/json"};
    const char *format = web_parameter(request, "format", NULL);
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    const bool json = format != NULL
                          ? strcmp(format, "json") == 0
                          : web_accept_choose(web_header(request, "Accept"), types, 2) == 1;
    struct last_change change = {.known = false};
    struct reason why = {""};
    if (format != NULL && strcmp(format, "html") != 0 && strcmp(format, "json") != 0) {
        web_reply_error(reply, 400, "format is html or json.");
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    for (int i = 0; i < KINDS; i++) {
        buf_init(&change.kinds[i].lines, LINES_BYTES);
    }
    const enum status status = read_change(service, query, uri, &change, &why);
    web_query_give(service, query);
    reply->body.maximum = 4 * (size_t)LINES_BYTES; /* escaped it is longer */
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (json) {
        reply->content_type = "application/json";
        put_json(&reply->body, uri, &change);
    } else {
        put_page(&reply->body, uri, &change);
    }
    for (int i = 0; i < KINDS; i++) {
        buf_release(&change.kinds[i].lines);
    }
}
