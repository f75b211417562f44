#include "cli/datasets/host_survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url/url.h"
#include "datasets/dump_key.h"
#include "datasets/harvest.h"
#include "datasets/rdf_description.h"
#include "datasets/semantic_sitemap.h"
#include "rdf/format.h"
#include "stages/fetch/http/fetch_http.h"
#include "warc/warc.h"

enum {
    SITEMAPS_MAXIMUM = 500,
    JOINED_MAXIMUM = 50,
    HEADS_MAXIMUM = 100,
    LOCATIONS_MAXIMUM = 1 << 20,
    VOID_BYTES = 16 << 20
};
#define SURVEY_MEMORY ((size_t)1 << 30)

void
survey_init(struct survey *survey)
{
    *survey = (struct survey){0};
    arena_init(&survey->arena, SURVEY_MEMORY);
    survey->claims.arena = &survey->arena;
}

void
survey_release(struct survey *survey)
{
    free(survey->sitemaps);
    free(survey->locations);
    free(survey->claims.descriptions);
    arena_release(&survey->arena);
}

static void
add_description(struct survey *survey, struct description *description)
{
    struct claims *claims = &survey->claims;
    claims->descriptions =
        memory_resize(claims->descriptions, claims->count + 1, sizeof *claims->descriptions);
    claims->descriptions[claims->count++] = description;
}

/* ---- sitemaps ---- */

static struct surveyed_sitemap *
add_sitemap(struct survey *survey, struct slice uri)
{
    for (size_t i = 0; i < survey->count; i++) {
        if (slice_equal(survey->sitemaps[i].uri, uri)) {
            return NULL;
        }
    }
    if (survey->count == SITEMAPS_MAXIMUM) {
        survey->limited = true;
        return NULL;
    }
    survey->sitemaps = memory_resize(survey->sitemaps, survey->count + 1, sizeof *survey->sitemaps);
    struct surveyed_sitemap *sitemap = &survey->sitemaps[survey->count++];
    *sitemap = (struct surveyed_sitemap){.uri = arena_copy(&survey->arena, uri)};
    return sitemap;
}

struct entries {
    struct survey *survey;
    struct slice base;
    const struct sitemap_result *result;
    unsigned foreign;
};

static bool
take_entry(void *context, const struct sitemap_entry *entry)
{
    struct entries *entries = context;
    struct survey *survey = entries->survey;
    struct buf key;
    buf_init(&key, URL_MAXIMUM);
    if (url_crawl_key(entry->location, entries->base, &key, NULL) != STATUS_OK) {
        /* Not of the web. */
    } else if (!slice_equal(url_host(buf_slice(&key)), url_host(entries->base)) &&
               !slice_equal(url_host(buf_slice(&key)), url_host(survey->origin))) {
        entries->foreign++;
    } else if (entries->result->kind == SITEMAP_INDEX) {
        (void)add_sitemap(survey, buf_slice(&key));
    } else if (survey->location_count < LOCATIONS_MAXIMUM) {
        if ((survey->location_count & (survey->location_count - 1)) == 0) {
            survey->locations = memory_resize(survey->locations, 2 * survey->location_count + 1,
                                              sizeof *survey->locations);
        }
        survey->locations[survey->location_count++] = arena_copy(&survey->arena, buf_slice(&key));
    } else {
        survey->limited = true;
    }
    buf_release(&key);
    return true;
}

static void
read_sitemap(struct survey *survey, struct web_client *client, size_t at)
{
    struct arena *arena = &survey->arena;
    struct sitemap_result result;
    struct web_answer answer;
    struct reason why = {""};
    const struct slice uri = survey->sitemaps[at].uri;
    enum status status = web_client_get(client, uri, SITEMAP_BYTES_MAXIMUM, arena, &answer, &why);
    if (status == STATUS_OK && (answer.status < 200 || answer.status >= 300)) {
        status = status_fail(&why, STATUS_NOT_FOUND, "%.*s: the host answered %u", SLICE_PRINT(uri),
                             answer.status);
    }
    struct description *description = NULL;
    struct entries entries = {.survey = survey, .base = uri, .result = &result};
    if (status == STATUS_OK) {
        status = sitemap_parse(answer.body, take_entry, &entries, &result, &why);
    }
    if (status == STATUS_OK) {
        description = arena_zero(arena, sizeof *description);
        if (description == NULL ||
            semantic_sitemap_parse(answer.body, uri, arena, description, NULL) != STATUS_OK ||
            (description->dataset_count == 0 && description->sub_count == 0 &&
             description->parent_count == 0 && description->authority.length == 0)) {
            description = NULL;
        }
    }
    /* Entries of an index may have moved the array. */
    struct surveyed_sitemap *sitemap = &survey->sitemaps[at];
    if (status != STATUS_OK) {
        sitemap->problem = arena_copy(arena, slice_string(why.text));
        return;
    }
    sitemap->kind = result.kind;
    sitemap->entries = result.entries;
    sitemap->foreign = entries.foreign;
    sitemap->limited = result.limited || result.too_large || answer.cut;
    sitemap->incomplete = result.incomplete;
    sitemap->description = description;
    if (description != NULL) {
        add_description(survey, description);
    }
}

static void
read_sitemaps(struct survey *survey, struct web_client *client, size_t from)
{
    for (size_t i = from; i < survey->count; i++) {
        read_sitemap(survey, client, i);
    }
}

enum status
survey_sitemap(struct survey *survey, struct web_client *client, struct slice uri,
               struct reason *why)
{
    survey->origin = arena_copy(&survey->arena, url_origin(uri));
    const size_t from = survey->count;
    if (add_sitemap(survey, uri) == NULL) {
        return status_fail(why, STATUS_LIMIT, "%.*s was read before", SLICE_PRINT(uri));
    }
    read_sitemaps(survey, client, from);
    const struct slice problem = survey->sitemaps[from].problem;
    return problem.length == 0 ? STATUS_OK
                               : status_fail(why, STATUS_BAD_INPUT, "%.*s", SLICE_PRINT(problem));
}

/* ---- VoID ---- */

/* What RDF says of datasets; nothing when it is none. */
static void
read_rdf(const struct web_answer *answer, struct slice uri, struct arena *arena,
         struct description *description)
{
    struct graph graph;
    struct slice type = answer->content_type;
    type = slice_trim(slice_of(type.at, slice_find(type, ';')));
    enum rdf_format format = rdf_format_of_media_type(type);
    if (format == RDF_FORMAT_NONE) {
        format = rdf_format_of_file(answer->url);
    }
    const struct parse_options options = {.base = answer->url, .lenient = true};
    graph_init(&graph, (size_t)64 << 20);
    const struct quad_sink sink = graph_sink(&graph);
    if (format != RDF_FORMAT_NONE) {
        (void)rdf_parse(format, answer->body, &options, &sink, NULL);
        rdf_description_read(&graph, uri, arena, description);
    }
    graph_release(&graph);
}

/* VoID section 7.2; no answer is no problem. */
static void
read_void(struct survey *survey, struct web_client *client)
{
    struct arena *arena = &survey->arena;
    struct web_answer answer;
    const struct slice url =
        arena_printf(arena, "%.*s/.well-known/void", SLICE_PRINT(survey->origin));
    struct description *description = arena_zero(arena, sizeof *description);
    if (description != NULL &&
        web_client_get(client, url, VOID_BYTES, arena, &answer, NULL) == STATUS_OK &&
        answer.status == 200) {
        read_rdf(&answer, url, arena, description);
        if (description->dataset_count > 0) {
            add_description(survey, description);
        }
    }
}

enum status
survey_host(struct survey *survey, struct web_client *client, struct slice url, struct reason *why)
{
    const struct robots *robots;
    const struct slice *named = NULL;
    struct buf key;
    survey->origin = arena_copy(&survey->arena, url_origin(url));
    TRY(web_client_robots(client, url, &robots, why));
    const size_t count = robots != NULL ? robots_sitemaps(robots, &named) : 0;
    buf_init(&key, URL_MAXIMUM);
    for (size_t i = 0; i < count; i++) {
        buf_reset(&key);
        if (url_crawl_key(named[i], url, &key, NULL) == STATUS_OK) {
            (void)add_sitemap(survey, buf_slice(&key));
        }
    }
    if (count == 0) { /* 2007, section 4: its name and place when robots.txt says nothing */
        buf_printf(&key, "%.*s/sitemap.xml", SLICE_PRINT(survey->origin));
        (void)add_sitemap(survey, buf_slice(&key));
    }
    buf_release(&key);
    read_sitemaps(survey, client, 0);
    read_void(survey, client);
    return STATUS_OK;
}

/* ---- facts ---- */

static void
read_joined(struct survey *survey, struct web_client *client)
{
    for (size_t round = 0, read = 0; round < JOINED_MAXIMUM && read < JOINED_MAXIMUM; round++) {
        struct slice *missing;
        const size_t count = claims_missing(&survey->claims, &missing), from = survey->count;
        for (size_t i = 0; i < count && read < JOINED_MAXIMUM; i++) {
            struct buf key;
            buf_init(&key, URL_MAXIMUM);
            if (url_crawl_key(missing[i], survey->origin, &key, NULL) == STATUS_OK &&
                add_sitemap(survey, buf_slice(&key)) != NULL) {
                read++;
            }
            buf_release(&key);
        }
        if (survey->count == from) {
            return;
        }
        read_sitemaps(survey, client, from);
    }
}

static void
ask_head(struct survey *survey, struct web_client *client, struct dataset_access *access)
{
    struct access_facts *facts = &access->facts;
    struct web_answer answer = {0};
    struct reason why = {""};
    struct buf key;
    buf_init(&key, URL_MAXIMUM);
    facts->asked = true;
    enum status status = dump_key(access->uri, survey->origin, &key, &why);
    if (status == STATUS_OK) {
        status = web_client_head(client, buf_slice(&key), &survey->arena, &answer, &why);
    }
    if (status == STATUS_OK && answer.status != 200) {
        char words[FETCH_WORDS_SIZE];
        fetch_answer_words(answer.status, answer.reply, words);
        status = status_fail(&why, STATUS_NOT_FOUND, "%s", words);
    }
    facts->answered = status == STATUS_OK;
    if (facts->answered) {
        facts->bytes = slice_number(warc_http_header(answer.header, "Content-Length"));
        facts->modified_ms = sitemap_date(warc_http_header(answer.header, "Last-Modified"));
    } else {
        facts->problem = arena_copy(&survey->arena, slice_string(why.text));
    }
    buf_release(&key);
}

/* Returns how much the service's description says that there is; 0: it has none. */
static uint64_t
described_triples(struct survey *survey, struct web_client *client, struct slice url)
{
    struct arena *arena = &survey->arena;
    struct web_answer answer;
    struct description description = {0};
    uint64_t triples = 0;
    if (web_client_get_as(client, url, SLICE("text/turtle, application/rdf+xml;q=0.8"), VOID_BYTES,
                          arena, &answer, NULL) == STATUS_OK &&
        answer.status == 200) {
        read_rdf(&answer, url, arena, &description);
    }
    for (size_t i = 0; i < description.dataset_count; i++) {
        const uint64_t said = description.datasets[i].triples;
        triples = said > triples ? said : triples;
    }
    return triples;
}

/* Service description and count first: the first page is nothing that a survey asks for. */
static void
ask_endpoint(struct survey *survey, struct web_client *client, const struct dataset *dataset,
             struct dataset_access *access)
{
    struct arena *arena = &survey->arena;
    struct access_facts *facts = &access->facts;
    struct execution execution = {.graphs = slice_is(dataset->graph, "*")};
    const struct harvest_position at = {0};
    struct web_answer answer = {0};
    struct reason why = {""};
    struct buf key, query, url;
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *one = &dataset->accesses[i];
        if (one->kind == ACCESS_LINKED_DATA && one->refused.length == 0) {
            (void)execution_add_space(&execution, one->uri, SLICING_NONE, arena);
        }
    }
    buf_init(&key, URL_MAXIMUM);
    buf_init(&query, HARVEST_QUERY_BYTES);
    buf_init(&url, 4 * HARVEST_QUERY_BYTES);
    facts->asked = true;
    enum status status = STATUS_BAD_INPUT;
    if (harvest_endpoint(access->uri, dataset->graph, survey->origin, &key)) {
        facts->count = described_triples(survey, client, buf_slice(&key));
        harvest_query(&execution, &at, &query);
        harvest_url(buf_slice(&key), buf_slice(&query), &url);
        status = web_client_get_as(client, buf_slice(&url), SLICE(HARVEST_COUNT_SYNTAX), VOID_BYTES,
                                   arena, &answer, &why);
    }
    const uint64_t counted = answer.status == 200 ? harvest_counted(answer.body) : 0;
    facts->count = counted > 0 ? counted : facts->count;
    if (status == STATUS_OK && answer.status != 200 && answer.status != 400) {
        status = status_fail(&why, STATUS_NOT_FOUND, "the endpoint answered %u", answer.status);
    } else if (status == STATUS_OK &&
               slice_starts_nocase(answer.content_type, SLICE("text/html"))) {
        status = status_fail(&why, STATUS_NOT_FOUND, "a page for people answered");
    }
    facts->answered = status == STATUS_OK;
    facts->problem =
        facts->answered ? (struct slice){0} : arena_copy(arena, slice_string(why.text));
    buf_release(&url);
    buf_release(&query);
    buf_release(&key);
}

static void
count_documents(const struct survey *survey, struct dataset_access *access)
{
    for (size_t i = 0; i < survey->location_count; i++) {
        access->facts.count += slice_starts(survey->locations[i], access->uri) ? 1 : 0;
    }
}

void
survey_finish(struct survey *survey, struct web_client *client)
{
    size_t heads = 0;
    read_joined(survey, client);
    claims_judge(&survey->claims);
    for (size_t i = 0; i < survey->claims.count; i++) {
        struct description *description = survey->claims.descriptions[i];
        for (size_t k = 0; k < description->dataset_count; k++) {
            struct dataset *dataset = &description->datasets[k];
            claims_judge_endpoints(&survey->claims, description, dataset);
            for (size_t n = 0; n < dataset->access_count; n++) {
                struct dataset_access *access = &dataset->accesses[n];
                if (access->kind == ACCESS_LINKED_DATA) {
                    count_documents(survey, access);
                } else if ((access->kind == ACCESS_DUMP || access->kind == ACCESS_FRAGMENT_DUMP) &&
                           heads++ < HEADS_MAXIMUM) {
                    ask_head(survey, client, access);
                } else if (access->kind == ACCESS_SPARQL && access->refused.length == 0 &&
                           heads++ < HEADS_MAXIMUM) {
                    ask_endpoint(survey, client, dataset, access);
                }
            }
        }
    }
}
