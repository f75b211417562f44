#include "cli/validation/negotiation.h"

#include "cli/inspection/inspection.h"
#include "rdf/canonical/canonical.h"

enum { GRAPH_MEMORY = 64 << 20 };

static const struct {
    const char *type, *accept;
    bool data;
} asked_for[NEGOTIATED_FORMS] = {
    {"text/turtle", "text/turtle", true},
    {"application/rdf+xml", "application/rdf+xml", true},
    {"application/ld+json", "application/ld+json", true},
    {"text/html", "text/html, application/xhtml+xml", false},
};

/* Forms lie at addresses of their own: what each calls itself is one name. */
static void
rename_term(struct term *term, struct slice from, struct slice to, struct arena *arena)
{
    if (term->kind == TERM_IRI && slice_starts(term->value, from) &&
        (term->value.length == from.length || term->value.at[from.length] == '#')) {
        term->value =
            arena_printf(arena, "%.*s%.*s", SLICE_PRINT(to),
                         (int)(term->value.length - from.length), term->value.at + from.length);
    }
}

static enum status
take_statements(const struct inspection *inspection, struct slice address, struct arena *arena,
                struct graph *graph, struct reason *why)
{
    for (size_t i = 0; i < inspection->count; i++) {
        struct quad quad = inspection->statements[i].quad;
        if (slice_starts(inspection->statements[i].transform, SLICE("links/"))) {
            continue;
        }
        rename_term(&quad.subject, inspection->page.uri, address, arena);
        rename_term(&quad.object, inspection->page.uri, address, arena);
        quad.graph = (struct term){0};
        TRY(graph_add(graph, &quad, why));
    }
    return STATUS_OK;
}

static enum status
note_graph(const struct inspection *inspection, struct slice address, struct arena *arena,
           struct negotiated_form *form, struct reason *why)
{
    uint8_t digest[DIGEST_SHA256_SIZE];
    char text[2 * DIGEST_SHA256_SIZE + 1];
    struct graph graph;
    graph_init(&graph, GRAPH_MEMORY);
    enum status status = take_statements(inspection, address, arena, &graph, why);
    if (status == STATUS_OK) {
        status = graph_canonicalize(&graph, CANONICAL_SHA256, 0, why);
    }
    if (status == STATUS_OK) {
        form->statements = graph.count;
        graph_digest(&graph, digest);
        digest_hex(digest, sizeof digest, text);
        form->digest = arena_copy(arena, slice_string(text));
    }
    graph_release(&graph);
    return status == STATUS_LIMIT ? STATUS_OK : status; /* then nothing is compared */
}

static enum status
request_form(struct web_client *client, const struct offline_settings *settings,
             struct slice address, size_t number, struct arena *arena, struct negotiated_form *form,
             struct reason *why)
{
    struct inspection inspection;
    const char *place = arena_copy(arena, address).at; /* ended by NUL */
    const struct inspection_request request = {
        .place = place, .client = client, .accept = slice_string(asked_for[number].accept)};
    struct reason unanswered;
    *form = (struct negotiated_form){.asked = asked_for[number].type};
    const enum status asked = inspect(&inspection, &request, settings, &unanswered);
    enum status status = STATUS_OK;
    if (asked == STATUS_OK) {
        form->http_status = inspection.page.http_status;
        form->type = arena_copy(arena, inspection.page.type);
        if (asked_for[number].data && inspection.page.transformed && inspection.left_out == 0 &&
            inspection.page.has_data) {
            status = note_graph(&inspection, address, arena, form, why);
        }
    } else if (asked == STATUS_DENIED) {
        status = status_fail(why, asked, "%s", unanswered.text);
    }
    inspection_release(&inspection);
    return status;
}

enum status
negotiate(struct web_client *client, const struct offline_settings *settings, struct slice address,
          struct arena *arena, struct negotiated_form *forms, struct reason *why)
{
    for (size_t i = 0; i < NEGOTIATED_FORMS; i++) {
        TRY(request_form(client, settings, address, i, arena, &forms[i], why));
    }
    return STATUS_OK;
}
