/* A table says what each property of a dataset means. Values that stand for more, as distributions
 * do, are followed one step, through their own rows of the table. */
#include "datasets/rdf_description.h"

#include <ctype.h>
#include <string.h>

#include "base/url/url.h"
#include "datasets/sitemap.h"
#include "rdf/core/vocabulary.h"
#include "rdf/format.h"

#define VOID "http://rdfs.org/ns/void#"
#define DCAT "http://www.w3.org/ns/dcat#"
#define DCTERMS "http://purl.org/dc/terms/"
#define DC "http://purl.org/dc/elements/1.1/"
#define RDFS "http://www.w3.org/2000/01/rdf-schema#"
#define FOAF "http://xmlns.com/foaf/0.1/"
#define FREQUENCY "http://publications.europa.eu/resource/authority/frequency/"

/* schema.org's terms are met under both schemes. */
static const struct slice schema[] = {SLICE_INIT("http://schema.org/"),
                                      SLICE_INIT("https://schema.org/")};
static const struct slice media_types[] = {
    SLICE_INIT("https://www.iana.org/assignments/media-types/"),
    SLICE_INIT("http://www.iana.org/assignments/media-types/")};
static const char schema_prefix[] = "schema:";

enum meaning {
    MEANS_NOTHING,
    MEANS_LABEL,
    MEANS_MODIFIED,
    MEANS_FREQUENCY,
    MEANS_TRIPLES,
    MEANS_DOCUMENTS,
    MEANS_SPACE,
    MEANS_PATTERN,
    MEANS_DUMP,
    MEANS_ENDPOINT,
    MEANS_SAMPLE,
    MEANS_DISTRIBUTION, /* its value has MEANS_FILE */
    MEANS_FILE,
    MEANS_MEDIA_TYPE
};

static const struct {
    const char *predicate;
    enum meaning meaning;
} properties[] = {
    {VOID "dataDump", MEANS_DUMP},
    {VOID "sparqlEndpoint", MEANS_ENDPOINT},
    {VOID "uriSpace", MEANS_SPACE},
    {VOID "uriRegexPattern", MEANS_PATTERN},
    {VOID "exampleResource", MEANS_SAMPLE},
    {VOID "rootResource", MEANS_SAMPLE},
    {VOID "triples", MEANS_TRIPLES},
    {VOID "documents", MEANS_DOCUMENTS},
    {VOID "entities", MEANS_DOCUMENTS},
    {DCAT "distribution", MEANS_DISTRIBUTION},
    {DCAT "downloadURL", MEANS_FILE},
    {DCAT "mediaType", MEANS_MEDIA_TYPE},
    {DCTERMS "format", MEANS_MEDIA_TYPE},
    {DCTERMS "title", MEANS_LABEL},
    {DC "title", MEANS_LABEL},
    {RDFS "label", MEANS_LABEL},
    {FOAF "name", MEANS_LABEL},
    {DCTERMS "modified", MEANS_MODIFIED},
    {DCTERMS "accrualPeriodicity", MEANS_FREQUENCY},
    {"schema:distribution", MEANS_DISTRIBUTION},
    {"schema:contentUrl", MEANS_FILE},
    {"schema:encodingFormat", MEANS_MEDIA_TYPE},
    {"schema:fileFormat", MEANS_MEDIA_TYPE},
    {"schema:name", MEANS_LABEL},
    {"schema:dateModified", MEANS_MODIFIED},
};

static const struct {
    const char *type;
    enum description_vocabulary vocabulary;
} types[] = {
    {VOID "Dataset", DESCRIPTION_VOID},
    {VOID "Linkset", DESCRIPTION_VOID},
    {DCAT "Dataset", DESCRIPTION_DCAT},
    {"schema:Dataset", DESCRIPTION_SCHEMA},
};

/* The EU's vocabulary of frequencies, which DCAT recommends, in a sitemap's words. */
static const struct {
    const char *end, *frequency;
} frequencies[] = {
    {"CONT", "always"},   {"UPDATE_CONT", "always"}, {"HOURLY", "hourly"}, {"DAILY", "daily"},
    {"WEEKLY", "weekly"}, {"MONTHLY", "monthly"},    {"ANNUAL", "yearly"}, {"NEVER", "never"},
};

struct reader {
    const struct graph *graph;
    struct arena *arena;
    struct description *description;
    struct dataset *dataset;
    size_t accesses;
};

/* ---- names ---- */

/* The name of a table: schema.org's under their short form. */
static bool
is_named(struct slice iri, const char *name)
{
    const size_t prefix = sizeof schema_prefix - 1;
    if (strncmp(name, schema_prefix, prefix) != 0) {
        return slice_is(iri, name);
    }
    for (size_t i = 0; i < sizeof schema / sizeof *schema; i++) {
        if (slice_starts(iri, schema[i])) {
            return slice_is(slice_of(iri.at + schema[i].length, iri.length - schema[i].length),
                            name + prefix);
        }
    }
    return false;
}

static enum meaning
meaning_of(const struct term *predicate)
{
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (is_named(predicate->value, properties[i].predicate)) {
            return properties[i].meaning;
        }
    }
    return MEANS_NOTHING;
}

/* ---- the graph ---- */

/* The first quad whose subject is not before the term. */
static size_t
first_of(const struct graph *graph, const struct term *subject)
{
    size_t low = 0, high = graph->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (term_compare(&graph->quads[middle].subject, subject) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

#define EACH_QUAD_OF(quad, graph_, subject_)                                     \
    (const struct quad *quad = (graph_)->quads + first_of((graph_), (subject_)), \
     *end_ = (graph_)->quads + (graph_)->count;                                  \
     quad < end_ && term_equal(&quad->subject, (subject_)); quad++)

/* ---- values ---- */

static void
add_access(struct reader *reader, enum access_kind kind, const struct term *value, unsigned line)
{
    struct dataset *dataset = reader->dataset;
    for (size_t i = 0; i < dataset->access_count; i++) {
        if (dataset->accesses[i].kind == kind &&
            slice_equal(dataset->accesses[i].uri, value->value)) {
            return;
        }
    }
    if (!iri_is_absolute(value->value)) {
        description_note(reader->description, reader->arena, NOTE_ERROR, line, "\"%.*s\" is no URI",
                         SLICE_PRINT(value->value));
        return;
    }
    struct dataset_access *access =
        reader->accesses < DESCRIPTION_ACCESSES ? dataset_add_access(dataset, reader->arena) : NULL;
    if (access == NULL) {
        reader->description->limited = true;
        return;
    }
    reader->accesses++;
    *access = (struct dataset_access){
        .kind = kind, .uri = arena_copy(reader->arena, value->value), .line = line};
}

static uint64_t
number_of(const struct term *value)
{
    return value->kind == TERM_LITERAL ? slice_number(value->value) : 0;
}

static struct slice
frequency_of(struct slice iri)
{
    if (slice_starts(iri, SLICE(FREQUENCY))) {
        const struct slice end =
            slice_of(iri.at + strlen(FREQUENCY), iri.length - strlen(FREQUENCY));
        for (size_t i = 0; i < sizeof frequencies / sizeof *frequencies; i++) {
            if (slice_is(end, frequencies[i].end)) {
                return slice_string(frequencies[i].frequency);
            }
        }
    }
    return (struct slice){0};
}

/* A media type as DCAT and schema.org write them: by name, or as IANA's IRI. */
static enum rdf_format
format_of(const struct term *value)
{
    struct slice type = value->value;
    for (size_t i = 0; i < sizeof media_types / sizeof *media_types; i++) {
        if (slice_starts(type, media_types[i])) {
            type = slice_of(type.at + media_types[i].length, type.length - media_types[i].length);
        }
    }
    type = slice_trim(slice_of(type.at, slice_find(type, ';')));
    const enum rdf_format format = rdf_format_of_media_type(type);
    return format != RDF_FORMAT_NONE ? format : rdf_format_of_name(type);
}

/* Files of a distribution, if they are RDF as far as it tells. */
static void
take_distribution(struct reader *reader, const struct quad *distribution)
{
    bool typed = false, is_rdf = false;
    for
        EACH_QUAD_OF(quad, reader->graph, &distribution->object)
        {
            if (meaning_of(&quad->predicate) == MEANS_MEDIA_TYPE) {
                typed = true;
                is_rdf |= format_of(&quad->object) != RDF_FORMAT_NONE;
            }
        }
    for
        EACH_QUAD_OF(quad, reader->graph, &distribution->object)
        {
            if (meaning_of(&quad->predicate) == MEANS_FILE &&
                (is_rdf || (!typed && rdf_format_of_file(quad->object.value) != RDF_FORMAT_NONE))) {
                add_access(reader, ACCESS_DUMP, &quad->object, quad->line);
            }
        }
}

/* A pattern that is a prefix and anything behind it: "^http://a\\.example/id/.+". */
static void
take_pattern(struct reader *reader, const struct quad *quad)
{
    static const char *const ends[] = {"", ".*", ".+", ".*$", ".+$"};
    struct slice pattern = quad->object.value;
    struct term prefix = quad->object;
    char text[DESCRIPTION_TEXT];
    size_t length = 0, at = pattern.length > 0 && pattern.at[0] == '^' ? 1 : 0;
    while (at < pattern.length && length < sizeof text) {
        const bool escaped = pattern.at[at] == '\\' && at + 1 < pattern.length &&
                             ispunct((unsigned char)pattern.at[at + 1]);
        const bool dot = pattern.at[at] == '.' && at + 1 < pattern.length &&
                         isalnum((unsigned char)pattern.at[at + 1]); /* they mean the dot */
        if (!escaped && !dot && strchr("\\.[](){}*+?|$^", pattern.at[at]) != NULL) {
            break;
        }
        at += escaped ? 1 : 0;
        text[length++] = pattern.at[at++];
    }
    const struct slice end = slice_of(pattern.at + at, pattern.length - at);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (slice_is(end, ends[i])) {
            prefix.value = arena_copy(reader->arena, slice_of(text, length));
            add_access(reader, ACCESS_LINKED_DATA, &prefix, quad->line);
            return;
        }
    }
    description_note(reader->description, reader->arena, NOTE_QUIRK, quad->line,
                     "the pattern %.*s is no prefix and not used", SLICE_PRINT(pattern));
}

static void
take_property(struct reader *reader, const struct quad *quad)
{
    struct dataset *dataset = reader->dataset;
    const struct term *value = &quad->object;
    switch (meaning_of(&quad->predicate)) {
    case MEANS_LABEL:
        if (dataset->label.length == 0) {
            dataset->label = arena_copy(reader->arena, value->value);
        }
        break;
    case MEANS_MODIFIED:
        dataset->modified_ms = sitemap_date(value->value);
        break;
    case MEANS_FREQUENCY:
        dataset->change_frequency = frequency_of(value->value);
        break;
    case MEANS_TRIPLES:
        dataset->triples = number_of(value);
        break;
    case MEANS_DOCUMENTS:
        if (dataset->documents < number_of(value)) {
            dataset->documents = number_of(value);
        }
        break;
    case MEANS_SPACE:
        add_access(reader, ACCESS_LINKED_DATA, value, quad->line);
        break;
    case MEANS_PATTERN:
        take_pattern(reader, quad);
        break;
    case MEANS_DUMP:
        add_access(reader, ACCESS_DUMP, value, quad->line);
        break;
    case MEANS_ENDPOINT:
        add_access(reader, ACCESS_SPARQL, value, quad->line);
        break;
    case MEANS_SAMPLE:
        add_access(reader, ACCESS_SAMPLE, value, quad->line);
        break;
    case MEANS_DISTRIBUTION:
        take_distribution(reader, quad);
        break;
    default:
        break;
    }
}

static void
take_dataset(struct reader *reader, const struct quad *type, enum description_vocabulary vocabulary)
{
    struct description *description = reader->description;
    reader->dataset = description_add_dataset(description, reader->arena);
    if (reader->dataset == NULL) {
        return;
    }
    reader->dataset->vocabulary = vocabulary;
    reader->dataset->line = type->line;
    if (type->subject.kind == TERM_IRI) {
        reader->dataset->uri = arena_copy(reader->arena, type->subject.value);
    }
    for
        EACH_QUAD_OF(quad, reader->graph, &type->subject)
        {
            take_property(reader, quad);
        }
}

/* dcat:DataService, dcat:endpointURL, of the datasets that it serves, if it speaks SPARQL. */
static void
take_services(struct reader *reader)
{
    for (size_t i = 0; i < reader->graph->count; i++) {
        const struct quad *serves = &reader->graph->quads[i];
        if (!is_named(serves->predicate.value, DCAT "servesDataset")) {
            continue;
        }
        const struct term *endpoint = NULL;
        bool sparql = false;
        for
            EACH_QUAD_OF(quad, reader->graph, &serves->subject)
            {
                if (is_named(quad->predicate.value, DCAT "endpointURL")) {
                    endpoint = &quad->object;
                } else if (is_named(quad->predicate.value, DCTERMS "conformsTo")) {
                    sparql |= slice_find_slice(quad->object.value, SLICE("sparql")) <
                              quad->object.value.length;
                }
            }
        for (size_t k = 0; sparql && endpoint != NULL && k < reader->description->dataset_count;
             k++) {
            reader->dataset = &reader->description->datasets[k];
            if (slice_equal(reader->dataset->uri, serves->object.value)) {
                add_access(reader, ACCESS_SPARQL, endpoint, serves->line);
            }
        }
    }
}

bool
rdf_description_likely(struct slice quads)
{
    static const struct slice names[] = {SLICE_INIT("/rdfs.org/ns/void#"),
                                         SLICE_INIT("/www.w3.org/ns/dcat#"),
                                         SLICE_INIT("/schema.org/distribution>")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_find_slice(quads, names[i]) < quads.length) {
            return true;
        }
    }
    return false;
}

bool
rdf_description_offers(const struct description *description)
{
    for (size_t i = 0; i < description->dataset_count; i++) {
        const struct dataset *dataset = &description->datasets[i];
        for (size_t k = 0; k < dataset->access_count; k++) {
            const enum access_kind kind = dataset->accesses[k].kind;
            if (kind == ACCESS_DUMP || kind == ACCESS_SPARQL) {
                return true;
            }
        }
    }
    return false;
}

void
rdf_description_read(struct graph *graph, struct slice uri, struct arena *arena,
                     struct description *description)
{
    struct reader reader = {.graph = graph, .arena = arena, .description = description};
    struct iri_parts parts;
    const struct term *last = NULL;
    *description = (struct description){.uri = arena_copy(arena, uri), .rdf = true};
    description->space = description_folder(description->uri);
    iri_split(description->uri, &parts);
    if (slice_is(parts.path, "/.well-known/void")) {
        description->space =
            slice_of(description->uri.at, (size_t)(parts.path.at + 1 - description->uri.at));
    }
    graph_sort_unique(graph);
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            const bool again = last != NULL && term_equal(last, &quad->subject);
            if (!again && slice_is(quad->predicate.value, RDF_TYPE) &&
                is_named(quad->object.value, types[k].type)) {
                last = &quad->subject;
                take_dataset(&reader, quad, types[k].vocabulary);
            }
        }
    }
    take_services(&reader);
}
