/* The work that is done inside the workers of fetch_parser.h. */
#include <libxml/parser.h>
#include <stdlib.h>

#include "base/codec.h"
#include "base/memory.h"
#include "datasets/rdf_description.h"
#include "datasets/semantic_sitemap.h"
#include "rdf/nquads/nquads.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "warc/warc.h"

enum { DESCRIPTION_MEMORY = 256 << 20, GRAPH_BYTES = 128 << 20 };

/* ---- preparing ---- */

static enum status
prepare(struct slice configuration, void **context, struct reason *why)
{
    (void)configuration;
    (void)why;
    *context = NULL;
    xmlInitParser();
    return STATUS_OK;
}

/* ---- content codings ---- */

/* The decoded bytes: those that came, or what memory (buf_init'ed) gets of them; what could be
 * decoded counts. */
static struct slice
decode(struct slice coding, struct slice bytes, struct buf *memory)
{
    if (coding.length == 0) {
        return slice_of(bytes.at, bytes.length < memory->maximum ? bytes.length : memory->maximum);
    }
    (void)warc_decode(coding, bytes, 0, memory, NULL);
    return memory->length > 0 ? buf_slice(memory) : SLICE("");
}

static enum status
handle_decode(struct codec_reader *fields, struct slice bytes, struct buf *reply,
              struct reason *why)
{
    struct buf memory;
    const struct slice coding = codec_get_slice(fields);
    const uint64_t most = codec_get_varint(fields);
    if (!codec_at_end(fields) || most > PARSER_ENTRIES_BYTES) {
        return status_fail(why, STATUS_PROTOCOL, "the request is malformed");
    }
    buf_init(&memory, (size_t)most);
    buf_append_slice(reply, decode(coding, bytes, &memory));
    buf_release(&memory);
    return STATUS_OK;
}

/* ---- sitemaps ---- */

static bool
is_candidate(struct slice coding, struct slice bytes, bool named)
{
    struct buf start;
    if (named || coding.length == 0) {
        return named || sitemap_is_likely(bytes);
    }
    buf_init(&start, SITEMAP_SNIFF_BYTES);
    const bool candidate = sitemap_is_likely(decode(coding, bytes, &start));
    buf_release(&start);
    return candidate;
}

static bool
says_something(const struct description *description)
{
    return description->dataset_count > 0 || description->sub_count > 0 ||
           description->parent_count > 0 || description->authority.length > 0;
}

static bool
describes(struct slice sitemap, struct slice uri)
{
    struct arena arena;
    struct description description;
    if (!semantic_sitemap_likely(sitemap)) {
        return false;
    }
    arena_init(&arena, DESCRIPTION_MEMORY);
    const bool it_does =
        semantic_sitemap_parse(sitemap, uri, &arena, &description, NULL) == STATUS_OK &&
        says_something(&description);
    arena_release(&arena);
    return it_does;
}

struct entries {
    struct buf *text;
    bool full;
};

static bool
write_entry(void *context, const struct sitemap_entry *entry)
{
    enum { ENTRY_ROOM = 64 };
    struct entries *entries = context;
    struct buf *text = entries->text;
    const size_t bytes = entry->location.length + entry->change_frequency.length +
                         entry->alternates.length + entry->facts.length + ENTRY_ROOM;
    if (bytes > text->maximum - text->length) {
        entries->full = true;
        return false;
    }
    codec_put_slice(text, entry->location);
    codec_put_varint(text, entry->modified_ms);
    codec_put_slice(text, entry->change_frequency);
    codec_put_u8(text, entry->priority);
    codec_put_slice(text, entry->alternates);
    codec_put_slice(text, entry->facts);
    return true;
}

static void
reply_sitemap(struct slice body, struct slice uri, bool described, struct buf *reply)
{
    struct buf text;
    struct entries entries = {.text = &text};
    struct sitemap_result result;
    struct reason problem = {""};
    buf_init(&text, PARSER_ENTRIES_BYTES);
    (void)sitemap_parse(body, write_entry, &entries, &result, &problem);
    codec_put_u8(reply, true);
    codec_put_u8(reply, described && describes(body, uri));
    codec_put_u8(reply, (uint8_t)result.kind);
    codec_put_varint(reply, result.entries);
    codec_put_u8(reply, result.incomplete);
    codec_put_u8(reply, result.limited || entries.full);
    codec_put_u8(reply, result.too_large);
    codec_put_slice(reply, slice_string(problem.text));
    codec_put_slice(reply, buf_slice(&text));
    buf_release(&text);
}

static enum status
handle_sitemap(struct codec_reader *fields, struct slice bytes, struct buf *reply,
               struct reason *why)
{
    struct buf memory;
    const struct slice coding = codec_get_slice(fields);
    const struct slice uri = codec_get_slice(fields);
    const bool named = codec_get_u8(fields) != 0, described = codec_get_u8(fields) != 0;
    if (!codec_at_end(fields)) {
        return status_fail(why, STATUS_PROTOCOL, "the request is malformed");
    }
    if (!is_candidate(coding, bytes, named)) {
        codec_put_u8(reply, false);
        return STATUS_OK;
    }
    buf_init(&memory, SITEMAP_BYTES_MAXIMUM + 1); /* the one too many is noticed */
    reply_sitemap(decode(coding, bytes, &memory), uri, described, reply);
    buf_release(&memory);
    return STATUS_OK;
}

/* ---- descriptions ---- */

static void
write_dataset(const struct dataset *dataset, struct buf *reply)
{
    codec_put_u8(reply, (uint8_t)dataset->vocabulary);
    codec_put_slice(reply, dataset->uri);
    codec_put_slice(reply, dataset->label);
    codec_put_slice(reply, dataset->graph);
    codec_put_slice(reply, dataset->change_frequency);
    codec_put_varint(reply, dataset->modified_ms);
    codec_put_varint(reply, dataset->triples);
    codec_put_varint(reply, dataset->documents);
    codec_put_varint(reply, dataset->line);
    codec_put_varint(reply, dataset->access_count);
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        codec_put_u8(reply, (uint8_t)access->kind);
        codec_put_slice(reply, access->uri);
        codec_put_u8(reply, (uint8_t)access->slicing);
        codec_put_varint(reply, access->line);
    }
}

static void
write_uris(const struct slice *uris, size_t n, struct buf *reply)
{
    codec_put_varint(reply, n);
    for (size_t i = 0; i < n; i++) {
        codec_put_slice(reply, uris[i]);
    }
}

static void
write_description(const struct description *description, struct buf *reply)
{
    codec_put_u8(reply, description->rdf);
    codec_put_u8(reply, description->limited);
    codec_put_u8(reply, description->incomplete);
    codec_put_slice(reply, description->authority);
    write_uris(description->sub_sitemaps, description->sub_count, reply);
    write_uris(description->parent_sitemaps, description->parent_count, reply);
    codec_put_varint(reply, description->dataset_count);
    for (size_t i = 0; i < description->dataset_count; i++) {
        write_dataset(&description->datasets[i], reply);
    }
}

/* An empty reply: there is no description. */
static enum status
describe_by_rdf(struct slice quads, struct slice uri, struct arena *arena, struct buf *reply,
                struct reason *why)
{
    struct description description;
    struct graph graph;
    if (!rdf_description_likely(quads)) {
        return status_fail(why, STATUS_BAD_INPUT, "it does not speak of datasets");
    }
    graph_init(&graph, GRAPH_BYTES);
    const struct quad_sink sink = graph_sink(&graph);
    enum status status = nquads_parse(quads, NULL, &sink, why);
    if (status == STATUS_OK) {
        rdf_description_read(&graph, uri, arena, &description);
        if (rdf_description_offers(&description)) {
            write_description(&description, reply);
        } else {
            status = status_fail(why, STATUS_BAD_INPUT, "it offers neither dumps nor endpoints");
        }
    }
    graph_release(&graph);
    return status;
}

static enum status
handle_description(struct codec_reader *fields, struct slice bytes, struct buf *reply,
                   struct reason *why)
{
    struct arena arena;
    struct buf memory;
    struct description description;
    const struct slice coding = codec_get_slice(fields);
    const struct slice uri = codec_get_slice(fields);
    const bool rdf = codec_get_u8(fields) != 0;
    if (!codec_at_end(fields)) {
        return status_fail(why, STATUS_PROTOCOL, "the request is malformed");
    }
    arena_init(&arena, DESCRIPTION_MEMORY);
    buf_init(&memory, PARSER_BYTES_MAXIMUM);
    const struct slice text = decode(coding, bytes, &memory);
    enum status status;
    if (rdf) {
        status = describe_by_rdf(text, uri, &arena, reply, why);
    } else {
        status = semantic_sitemap_parse(text, uri, &arena, &description, why);
        if (status == STATUS_OK) {
            write_description(&description, reply);
        }
    }
    buf_release(&memory);
    arena_release(&arena);
    return reply->overflowed ? status_fail(why, STATUS_LIMIT, "the description is too large")
                             : status;
}

/* ---- endpoints ---- */

static enum status
handle_count(struct codec_reader *fields, struct slice bytes, struct buf *reply, struct reason *why)
{
    struct buf memory;
    const struct slice coding = codec_get_slice(fields);
    if (!codec_at_end(fields)) {
        return status_fail(why, STATUS_PROTOCOL, "the request is malformed");
    }
    buf_init(&memory, HARVEST_PAGE_BYTES);
    codec_put_varint(reply, harvest_counted(decode(coding, bytes, &memory)));
    buf_release(&memory);
    return STATUS_OK;
}

static enum status
reply_page(struct slice answer, const struct execution *execution, uint64_t number,
           struct buf *reply, struct reason *why)
{
    struct harvest_page page;
    const struct harvest_position position = {.number = number};
    harvest_page_init(&page);
    enum status status = harvest_read(&page, execution, &position, answer, why);
    if (status == STATUS_OK) {
        codec_put_varint(reply, page.triples);
        codec_put_varint(reply, page.resources);
        codec_put_u8(reply, page.deeper);
        codec_put_slice(reply, page.last);
        buf_append_slice(reply, buf_slice(&page.text));
    }
    if (reply->overflowed) {
        status = status_fail(why, STATUS_LIMIT, "the page is too large");
    }
    harvest_page_release(&page);
    return status;
}

static enum status
handle_page(struct codec_reader *fields, struct slice bytes, struct buf *reply, struct reason *why)
{
    struct execution execution = {0};
    struct buf memory;
    const struct slice coding = codec_get_slice(fields);
    const uint64_t number = codec_get_varint(fields), spaces = codec_get_varint(fields);
    if (spaces > EXECUTION_SPACES) {
        return status_fail(why, STATUS_PROTOCOL, "the request is malformed");
    }
    execution.spaces = memory_zero((size_t)spaces + 1, sizeof *execution.spaces);
    for (; execution.space_count < spaces; execution.space_count++) {
        execution.spaces[execution.space_count].prefix = codec_get_slice(fields);
    }
    enum status status = STATUS_OK;
    if (codec_at_end(fields)) {
        buf_init(&memory, HARVEST_PAGE_BYTES);
        status = reply_page(decode(coding, bytes, &memory), &execution, number, reply, why);
        buf_release(&memory);
    } else {
        status = status_fail(why, STATUS_PROTOCOL, "the request is malformed");
    }
    free(execution.spaces);
    return status;
}

/* ---- all ---- */

static enum status
handle(void *context, uint8_t verb, struct slice request, struct buf *reply, struct reason *why)
{
    static enum status (*const handlers[])(struct codec_reader *, struct slice, struct buf *,
                                           struct reason *) = {
        [PARSER_DECODE] = handle_decode,
        [PARSER_SITEMAP] = handle_sitemap,
        [PARSER_DESCRIPTION] = handle_description,
        [PARSER_COUNT] = handle_count,
        [PARSER_PAGE] = handle_page,
    };
    struct codec_reader reader = codec_reader_of(request);
    struct codec_reader fields = codec_reader_of(codec_get_slice(&reader));
    (void)context;
    if (reader.bad || verb < PARSER_DECODE || verb > PARSER_PAGE) {
        return status_fail(why, STATUS_PROTOCOL, "the worker knows no request %u", verb);
    }
    const struct slice bytes = slice_of((const char *)reader.at, (size_t)(reader.end - reader.at));
    return handlers[verb](&fields, bytes, reply, why);
}

const struct worker_program fetch_parser_program = {
    .name = "quadrille-read", .prepare = prepare, .handle = handle};
