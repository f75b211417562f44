/* The fetch process's side of fetch_parser.h: what is asked of workers, and what they say. */
#include "stages/fetch/parser/fetch_parser.h"

#include <stdlib.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/url/url.h"
#include "stages/fetch/http/fetch_http.h"

enum {
    FIELDS_MAXIMUM = 16 << 20, /* of a request besides its bytes: spaces of URIs */
    TEXT_MAXIMUM = 64 << 10,   /* of one text that a worker may say */
    WALL_FACTOR = 3,           /* of transform.cpu, of which 50 MB of a sitemap take a tenth */
    WORKER_JOBS = 10000
};

struct fetch_parser {
    struct worker_pool *pool;
    struct fetch_http *http;
};

/* A request that waits, or is with a worker. */
struct parsing {
    struct fetch_parser *parser;
    struct buf fields;
    char *bytes;
    size_t length;
    fetch_parsed *done;
    void *context;
};

enum status
fetch_parser_open(struct fetch_parser **result, struct fork_server *fork_server,
                  const struct opt_set *options, struct fetch_http *http, struct reason *why)
{
    struct fetch_parser *parser = memory_new(sizeof *parser);
    const size_t body = (size_t)opt_integer(options, "fetch.size");
    const size_t most = body > PARSER_BYTES_MAXIMUM ? body : (size_t)PARSER_BYTES_MAXIMUM;
    const uint64_t cpu_ms = opt_duration_ms(options, "transform.cpu");
    const struct worker_limits limits = {.workers = 1,
                                         .request = most + FIELDS_MAXIMUM,
                                         .reply = PARSER_BYTES_MAXIMUM,
                                         .memory =
                                             2 * (size_t)opt_integer(options, "transform.memory"),
                                         .cpu_ms = cpu_ms,
                                         .wall_ms = cpu_ms * WALL_FACTOR,
                                         .jobs = WORKER_JOBS};
    *result = parser;
    parser->http = http;
    return worker_pool_open(&parser->pool, fork_server, &limits, (struct slice){0}, why);
}

void
fetch_parser_close(struct fetch_parser *parser)
{
    if (parser != NULL) {
        worker_pool_close(parser->pool);
        free(parser);
    }
}

struct worker_pool *
fetch_parser_pool(const struct fetch_parser *parser)
{
    return parser->pool;
}

/* ---- requests ---- */

static void
encode_fields(const struct parser_request *request, struct buf *fields)
{
    struct buf text;
    buf_init(&text, FIELDS_MAXIMUM);
    codec_put_slice(&text, request->coding);
    switch (request->verb) {
    case PARSER_DECODE:
        codec_put_varint(&text, request->most);
        break;
    case PARSER_SITEMAP:
        codec_put_slice(&text, request->uri);
        codec_put_u8(&text, request->named);
        codec_put_u8(&text, request->described);
        break;
    case PARSER_DESCRIPTION:
        codec_put_slice(&text, request->uri);
        codec_put_u8(&text, request->rdf);
        break;
    case PARSER_COUNT:
        break;
    case PARSER_PAGE:
        codec_put_varint(&text, request->position->number);
        codec_put_varint(&text, request->execution->space_count);
        for (size_t i = 0; i < request->execution->space_count; i++) {
            codec_put_slice(&text, request->execution->spaces[i].prefix);
        }
        break;
    }
    codec_put_slice(fields, buf_slice(&text));
    buf_release(&text);
}

static void
answered(void *context, const struct worker_answer *answer)
{
    struct parsing *parsing = context;
    const struct reason none = {""};
    parsing->done(parsing->context, answer->status, answer->reply,
                  answer->why != NULL ? answer->why : &none);
    if (parsing->parser->http != NULL) {
        fetch_http_let_go(parsing->parser->http, parsing->length);
    }
    buf_release(&parsing->fields);
    free(parsing->bytes);
    free(parsing);
}

void
fetch_parser_submit(struct fetch_parser *parser, const struct parser_request *request,
                    fetch_parsed *done, void *context)
{
    struct parsing *parsing = memory_alloc(sizeof *parsing);
    *parsing = (struct parsing){.parser = parser,
                                .bytes = memory_string_n(request->bytes.at, request->bytes.length),
                                .length = request->bytes.length,
                                .done = done,
                                .context = context};
    buf_init(&parsing->fields, FIELDS_MAXIMUM + 16);
    encode_fields(request, &parsing->fields);
    if (parser->http != NULL) {
        fetch_http_hold(parser->http, parsing->length);
    }
    const struct slice pieces[] = {buf_slice(&parsing->fields),
                                   slice_of(parsing->bytes, parsing->length)};
    worker_submit(parser->pool, SANDBOX_PARSER, (uint8_t)request->verb, pieces, 2, answered,
                  parsing);
}

/* ---- sitemaps ---- */

bool
parsed_sitemap_decode(struct slice reply, struct parsed_sitemap *sitemap)
{
    struct codec_reader reader = codec_reader_of(reply);
    *sitemap = (struct parsed_sitemap){.candidate = codec_get_u8(&reader) != 0};
    if (!sitemap->candidate) {
        return codec_at_end(&reader);
    }
    sitemap->describes = codec_get_u8(&reader) != 0;
    const unsigned kind = codec_get_u8(&reader);
    sitemap->result.kind = kind <= SITEMAP_ATOM ? (enum sitemap_kind)kind : SITEMAP_NONE;
    sitemap->result.entries = (unsigned)codec_get_varint(&reader);
    sitemap->result.incomplete = codec_get_u8(&reader) != 0;
    sitemap->result.limited = codec_get_u8(&reader) != 0;
    sitemap->result.too_large = codec_get_u8(&reader) != 0;
    sitemap->problem = codec_get_slice(&reader);
    sitemap->entries = codec_get_slice(&reader);
    return codec_at_end(&reader) && kind <= SITEMAP_ATOM &&
           sitemap->result.entries <= SITEMAP_ENTRIES_MAXIMUM &&
           sitemap->problem.length < REASON_SIZE;
}

bool
parsed_sitemap_next(struct slice *rest, struct sitemap_entry *entry)
{
    struct codec_reader reader = codec_reader_of(*rest);
    entry->location = codec_get_slice(&reader);
    entry->modified_ms = codec_get_varint(&reader);
    entry->change_frequency = codec_get_slice(&reader);
    entry->priority = codec_get_u8(&reader);
    entry->alternates = codec_get_slice(&reader);
    entry->facts = codec_get_slice(&reader);
    *rest = slice_of((const char *)reader.at, (size_t)(reader.end - reader.at));
    return !reader.bad && entry->priority <= 100 && entry->location.length <= TEXT_MAXIMUM &&
           entry->change_frequency.length <= TEXT_MAXIMUM &&
           entry->alternates.length <= SITEMAP_LINES_MAXIMUM &&
           entry->facts.length <= SITEMAP_LINES_MAXIMUM;
}

/* ---- descriptions ---- */

/* Tells whether the text is one line, as it must be to go into lines of the metadata store. */
static bool
is_one_line(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        if ((unsigned char)text.at[i] < ' ') {
            return false;
        }
    }
    return text.length <= TEXT_MAXIMUM;
}

static struct slice
take_text(struct codec_reader *reader, struct arena *arena)
{
    const struct slice text = codec_get_slice(reader);
    reader->bad |= text.length > TEXT_MAXIMUM;
    return text.length > 0 && !reader->bad ? arena_copy(arena, text) : (struct slice){0};
}

static struct slice
take_line(struct codec_reader *reader, struct arena *arena)
{
    const struct slice text = take_text(reader, arena);
    reader->bad |= !is_one_line(text);
    return text;
}

static void
take_accesses(struct codec_reader *reader, struct arena *arena, struct dataset *dataset)
{
    const uint64_t count = codec_get_varint(reader);
    for (uint64_t i = 0; i < count && !reader->bad; i++) {
        const unsigned kind = codec_get_u8(reader);
        const struct slice uri = take_line(reader, arena);
        const unsigned slicing = codec_get_u8(reader);
        const unsigned line = (unsigned)codec_get_varint(reader);
        struct dataset_access *access = dataset_add_access(dataset, arena);
        reader->bad |= kind >= ACCESS_KIND_COUNT || slicing > SLICING_MSG || access == NULL;
        if (!reader->bad) {
            access->kind = (enum access_kind)kind;
            access->uri = uri;
            access->slicing = (enum slicing)slicing;
            access->line = line;
        }
    }
}

static void
take_dataset(struct codec_reader *reader, struct arena *arena, struct description *description)
{
    struct dataset *dataset = description_add_dataset(description, arena);
    const unsigned vocabulary = codec_get_u8(reader);
    reader->bad |= dataset == NULL || vocabulary > DESCRIPTION_SCHEMA;
    if (reader->bad) {
        return;
    }
    dataset->vocabulary = (enum description_vocabulary)vocabulary;
    dataset->uri = take_line(reader, arena);
    dataset->label = take_text(reader, arena);
    dataset->graph = take_line(reader, arena);
    dataset->change_frequency = take_text(reader, arena);
    dataset->modified_ms = codec_get_varint(reader);
    dataset->triples = codec_get_varint(reader);
    dataset->documents = codec_get_varint(reader);
    dataset->line = (unsigned)codec_get_varint(reader);
    take_accesses(reader, arena, dataset);
}

static void
take_sitemaps(struct codec_reader *reader, struct arena *arena, struct slice **uris, size_t *n)
{
    const uint64_t count = codec_get_varint(reader);
    for (uint64_t i = 0; i < count && !reader->bad; i++) {
        const struct slice uri = take_line(reader, arena);
        struct slice *place = description_add_sitemap(uris, n, arena);
        reader->bad |= place == NULL;
        if (place != NULL) {
            *place = uri;
        }
    }
}

/* docs/DATASETS.md, rule 1. */
static struct slice
space_of(const struct description *description)
{
    const struct slice uri = description->uri;
    return description->rdf && slice_is(url_path_query(uri), "/.well-known/void")
               ? slice_of(uri.at, url_origin(uri).length + 1)
               : description_folder(uri);
}

bool
parsed_description_decode(struct slice reply, struct slice uri, struct arena *arena,
                          struct description *description)
{
    struct codec_reader reader = codec_reader_of(reply);
    *description = (struct description){.uri = arena_copy(arena, uri)};
    description->rdf = codec_get_u8(&reader) != 0;
    description->limited = codec_get_u8(&reader) != 0;
    description->incomplete = codec_get_u8(&reader) != 0;
    description->authority = take_line(&reader, arena);
    take_sitemaps(&reader, arena, &description->sub_sitemaps, &description->sub_count);
    take_sitemaps(&reader, arena, &description->parent_sitemaps, &description->parent_count);
    const uint64_t datasets = codec_get_varint(&reader);
    for (uint64_t i = 0; i < datasets && !reader.bad; i++) {
        take_dataset(&reader, arena, description);
    }
    description->space = space_of(description);
    return codec_at_end(&reader) && description->uri.at != NULL;
}

/* ---- endpoints ---- */

uint64_t
parsed_count(struct slice reply)
{
    struct codec_reader reader = codec_reader_of(reply);
    const uint64_t count = codec_get_varint(&reader);
    return codec_at_end(&reader) ? count : 0;
}

bool
parsed_page_decode(struct slice reply, struct harvest_page *page)
{
    struct codec_reader reader = codec_reader_of(reply);
    page->triples = codec_get_varint(&reader);
    page->resources = codec_get_varint(&reader);
    page->deeper = codec_get_u8(&reader) != 0;
    page->last = take_line(&reader, &page->arena);
    buf_append(&page->text, reader.at, (size_t)(reader.end - reader.at));
    return !reader.bad && !page->text.overflowed;
}
