#include "cli/validation/document_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "cli/shared/cli.h"
#include "cli/validation/vocabulary_terms.h"
#include "rdf/core/vocabulary.h"
#include "rdf/nquads/nquads.h"

enum { RECORD_MAXIMUM = 16 << 20, GRAPH_BYTES = 64 << 20, LINKS = 16 };

void
facts_reader_init(struct facts_reader *reader, struct metastore_client *metastore,
                  struct index_client *index, struct arena *arena)
{
    *reader = (struct facts_reader){.metastore = metastore, .index = index, .arena = arena};
    report_page_init(&reader->page);
    buf_init(&reader->record, RECORD_MAXIMUM);
}

void
facts_reader_release(struct facts_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        free(reader->documents[i]->subjects);
        map_release(&reader->documents[i]->places);
        free(reader->documents[i]);
    }
    free(reader->documents);
    map_release(&reader->places);
    report_page_release(&reader->page);
    buf_release(&reader->record);
}

/* ---- its graph ---- */

static enum status
gather(void *context, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(context, bytes);
    return status == STATUS_OK ? status : status_fail(why, status, "a graph is too long");
}

enum status
document_quads(struct facts_reader *reader, struct slice document, const struct quad_sink *sink,
               struct reason *why)
{
    const struct quad pattern = {.graph = term_iri(document)};
    struct buf lines;
    buf_init(&lines, GRAPH_BYTES);
    enum status status = index_pattern(reader->index, &pattern, FACTS_QUADS, gather, &lines, why);
    if (status == STATUS_OK) {
        status = nquads_parse(buf_slice(&lines), NULL, sink, why);
    }
    buf_release(&lines);
    return status;
}

struct graph_reading {
    struct facts_reader *reader;
    struct document_facts *facts;
    size_t capacity, quads;
    struct slice forms[LINKS], pages[LINKS]; /* what it calls so */
    size_t form_count, page_count;
};

static struct spoken_of *
subject_of(struct graph_reading *reading, struct slice iri)
{
    struct document_facts *facts = reading->facts;
    uint32_t place;
    uint64_t hash = digest_local(iri);
    for (; (place = map_get(&facts->places, hash)) != (uint32_t)MAP_NONE; hash++) {
        if (slice_equal(facts->subjects[place].iri, iri)) {
            return &facts->subjects[place];
        }
    }
    facts->subjects = array_grow(facts->subjects, facts->subject_count, &reading->capacity,
                                 sizeof *facts->subjects);
    map_set(&facts->places, hash, (uint32_t)facts->subject_count);
    facts->subjects[facts->subject_count] =
        (struct spoken_of){.iri = arena_copy(reading->reader->arena, iri)};
    return &facts->subjects[facts->subject_count++];
}

static void
add_link(struct graph_reading *reading, struct slice links[LINKS], size_t *count, struct slice iri)
{
    if (*count < LINKS) {
        links[(*count)++] = arena_copy(reading->reader->arena, iri);
    }
}

static enum status
read_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct graph_reading *reading = context;
    const unsigned role = vocabulary_role(quad->predicate.value);
    (void)why;
    reading->quads++;
    if (quad->object.kind == TERM_IRI && (role & ROLE_FORM) != 0) {
        add_link(reading, reading->forms, &reading->form_count, quad->object.value);
    }
    if (quad->object.kind == TERM_IRI && (role & ROLE_PAGE) != 0) {
        add_link(reading, reading->pages, &reading->page_count, quad->object.value);
    }
    if (quad->subject.kind == TERM_IRI) {
        struct spoken_of *subject = subject_of(reading, quad->subject.value);
        subject->said |= SAID_ANYTHING | ((role & ROLE_LABEL) != 0 ? SAID_LABEL : 0) |
                         ((role & ROLE_TEXT) != 0 ? SAID_TEXT : 0);
        if (slice_is(quad->predicate.value, RDF_TYPE) && quad->object.kind == TERM_IRI) {
            subject->said |= vocabulary_kind(quad->object.value);
        }
    }
    return STATUS_OK;
}

/* ---- its record ---- */

/* The part of a URI before its fragment, as crawls spell it. False: it is none that they fetch. */
static bool
address_of(struct slice uri, struct buf *key)
{
    buf_reset(key);
    return url_crawl_key(uri, slice_of(NULL, 0), key, NULL) == STATUS_OK;
}

static enum status
get_record(struct facts_reader *reader, struct slice uri, struct slice *record, struct reason *why)
{
    struct buf key;
    buf_init(&key, META_KEY_MAXIMUM);
    buf_append_char(&key, 'u');
    buf_append_slice(&key, uri);
    enum status status = STATUS_NOT_FOUND;
    buf_reset(&reader->record);
    if (!key.overflowed && meta_key_valid(buf_slice(&key))) {
        status = metastore_get_wait(reader->metastore, buf_slice(&key), &reader->record,
                                    CLI_ANSWER_MS, why);
    }
    buf_release(&key);
    *record = status == STATUS_OK ? buf_slice(&reader->record) : slice_of(NULL, 0);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Since when it fails: the first 404; or the first attempt after it was last indexed; or the last
 * time that it was asked for. Times of attempts stand first in their lines. */
static struct slice
failing_since(struct facts_reader *reader, struct slice record)
{
    char text[CLOCK_TEXT_SIZE] = "", indexed[CLOCK_TEXT_SIZE] = "";
    struct slice attempts = {NULL, 0};
    uint64_t when;
    if (meta_record_number(record, META_GONE_SINCE, &when)) {
        clock_text(when, 0, text);
        return arena_copy(reader->arena, slice_string(text));
    }
    if (meta_record_number(record, META_INDEXED, &when)) {
        clock_text(when, 0, indexed);
    }
    (void)meta_record_text(record, META_ATTEMPTS, &attempts);
    while (attempts.length > 0) {
        struct slice line = slice_take(&attempts, '\n');
        const struct slice time = slice_take(&line, ' ');
        if (line.length > 0 && slice_compare(time, slice_string(indexed)) > 0) {
            return arena_copy(reader->arena, time);
        }
    }
    if (meta_record_number(record, META_FETCHED, &when)) {
        clock_text(when, 0, text);
    }
    return arena_copy(reader->arena, slice_string(text));
}

static void
read_page(struct facts_reader *reader, struct document_facts *facts)
{
    const struct report_page *page = &reader->page;
    facts->type = arena_copy(reader->arena, page->type);
    facts->has_data = page->has_data;
    facts->has_page = page->is_html && page->http_status == 200;
    for (size_t i = 0; i < page->finding_count; i++) {
        const struct report_finding *finding = &page->findings[i];
        const char *advice = finding->advice != NULL ? finding->advice->advice : NULL;
        if (slice_is(finding->where, "detect") && facts->wrong_type.length == 0) {
            facts->wrong_type = arena_copy(reader->arena, finding->text);
            facts->type_remedy = advice;
        } else if (finding->severity == REPORT_ERROR && !slice_is(finding->where, "fetch") &&
                   facts->malformed_count++ == 0) {
            facts->malformed = arena_copy(reader->arena, finding->text);
            facts->malformed_line = finding->line;
            facts->malformed_remedy = advice;
        }
    }
}

/* Reads the facts of the document at the end of redirects from its metadata. */
static void
read_record(struct facts_reader *reader, struct document_facts *facts, struct slice record)
{
    struct slice text = {NULL, 0};
    const struct slice key = arena_printf(reader->arena, "u%.*s", SLICE_PRINT(facts->document));
    facts->known = meta_record_text(record, META_STATE, &text) && !slice_is(text, "fetched") &&
                   !slice_is(text, "covered");
    facts->state = arena_copy(reader->arena, text);
    text = slice_of(NULL, 0);
    (void)meta_record_text(record, META_REASON, &text);
    facts->reason = arena_copy(reader->arena, text);
    (void)meta_record_number(record, META_HTTP_STATUS, &facts->http_status);
    facts->since = failing_since(reader, record);
    if (report_page_read(&reader->page, key, record)) {
        read_page(reader, facts);
    }
}

static enum status
follow(struct facts_reader *reader, struct document_facts *facts, struct reason *why)
{
    struct buf key;
    struct slice record, target;
    enum status status;
    buf_init(&key, 2 * URL_MAXIMUM);
    for (;;) {
        status = get_record(reader, facts->document, &record, why);
        if (status != STATUS_OK || !meta_record_text(record, META_REDIRECT_TO, &target) ||
            !address_of(target, &key)) {
            break;
        }
        if (facts->hop_count == FACTS_HOPS) {
            facts->endless = true;
            break;
        }
        struct fact_hop *hop = &facts->hops[facts->hop_count++];
        hop->uri = facts->document;
        (void)meta_record_number(record, META_HTTP_STATUS, &hop->status);
        facts->document = arena_copy(reader->arena, buf_slice(&key));
        for (size_t i = 0; i < facts->hop_count; i++) {
            facts->endless = facts->endless || slice_equal(facts->hops[i].uri, facts->document);
        }
        if (facts->endless) {
            break;
        }
    }
    if (status == STATUS_OK && !facts->endless) {
        read_record(reader, facts, record);
    }
    buf_release(&key);
    return status;
}

/* ---- the whole ---- */

/* The documents of feeds are alternates of pages, but tell other things. */
static bool
is_form(const struct document_facts *facts)
{
    return !facts->known || (!slice_is(facts->type, "application/rss+xml") &&
                             !slice_is(facts->type, "application/atom+xml"));
}

static enum status find(struct facts_reader *reader, struct slice uri, bool with_links,
                        struct document_facts **result, struct reason *why);

static enum status
look_at_links(struct facts_reader *reader, const struct graph_reading *reading, struct reason *why)
{
    struct document_facts *facts = reading->facts, *other;
    for (size_t i = 0; i < reading->form_count && facts->form_count < FACTS_FORMS; i++) {
        TRY(find(reader, reading->forms[i], false, &other, why));
        bool again = slice_equal(other->document, facts->document) || !is_form(other);
        for (size_t k = 0; k < facts->form_count; k++) {
            again = again || facts->forms[k] == other;
        }
        if (!again) {
            facts->forms[facts->form_count++] = other;
        }
    }
    for (size_t i = 0; i < reading->page_count && !facts->has_page; i++) {
        TRY(find(reader, reading->pages[i], false, &other, why));
        facts->has_page = other->has_page;
    }
    return STATUS_OK;
}

static enum status
read_graph(struct facts_reader *reader, struct document_facts *facts, bool with_links,
           struct reason *why)
{
    struct graph_reading reading = {.reader = reader, .facts = facts};
    const struct quad_sink sink = {read_quad, &reading};
    TRY(document_quads(reader, facts->document, &sink, why));
    facts->indexed = reading.quads > 0;
    reader->cut = reader->cut || reading.quads >= FACTS_QUADS;
    return with_links ? look_at_links(reader, &reading, why) : STATUS_OK;
}

static struct document_facts *
add(struct facts_reader *reader, struct slice address, uint64_t hash)
{
    struct document_facts *facts = memory_new(sizeof *facts);
    reader->documents =
        memory_resize(reader->documents, reader->count + 1, sizeof(struct document_facts *));
    map_set(&reader->places, hash, (uint32_t)reader->count);
    reader->documents[reader->count++] = facts;
    map_init(&facts->places);
    facts->address = arena_copy(reader->arena, address);
    facts->document = facts->address;
    return facts;
}

/* with_links: also what it links to as another form of itself, or as a page. */
static enum status
find(struct facts_reader *reader, struct slice uri, bool with_links, struct document_facts **result,
     struct reason *why)
{
    struct buf key;
    buf_init(&key, 2 * URL_MAXIMUM);
    const bool web = address_of(uri, &key);
    const struct slice address = web ? buf_slice(&key) : slice_of(uri.at, slice_find(uri, '#'));
    uint64_t hash = digest_local(address) ^ with_links;
    uint32_t place;
    enum status status = STATUS_OK;
    for (; (place = map_get(&reader->places, hash)) != (uint32_t)MAP_NONE; hash++) {
        if (slice_equal(reader->documents[place]->address, address)) {
            break;
        }
    }
    if (place != (uint32_t)MAP_NONE) {
        *result = reader->documents[place];
    } else {
        struct document_facts *facts = add(reader, address, hash);
        facts->web = web;
        *result = facts;
        if (web && reader->count > FACTS_DOCUMENTS) {
            reader->cut = true;
        } else if (web) {
            status = follow(reader, facts, why);
        }
        if (status == STATUS_OK && facts->known && facts->has_data) {
            status = read_graph(reader, facts, with_links, why);
        }
    }
    buf_release(&key);
    return status;
}

enum status
document_facts_of(struct facts_reader *reader, struct slice uri,
                  const struct document_facts **facts, struct reason *why)
{
    struct document_facts *found = NULL;
    const enum status status = find(reader, uri, true, &found, why);
    *facts = found;
    return status;
}

enum status
document_facts_negotiate(struct facts_reader *reader, const struct document_facts *facts,
                         struct web_client *client, const struct offline_settings *settings,
                         struct reason *why)
{
    struct negotiated_form *forms =
        arena_zero(reader->arena, NEGOTIATED_FORMS * sizeof(struct negotiated_form));
    TRY(negotiate(client, settings, facts->address, reader->arena, forms, why));
    for (size_t i = 0; i < reader->count; i++) {
        if (reader->documents[i] == facts) {
            reader->documents[i]->negotiated = forms;
        }
    }
    return STATUS_OK;
}
