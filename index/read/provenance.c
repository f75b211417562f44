#include "index/read/provenance.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/url/url.h"
#include "index/read/provenance_many.h"
#include "index/read/provenance_terms.h"
#include "metastore/record_rdf.h"

enum {
    ROWS_FIRST = 256, /* gathered before a scan of all records hands out any */
    ROWS_MOST = 65536,
    RECORDS_BETWEEN_LOOKS = 256,
    ROWS_PER_RECORD = 80,
    ROWS_PER_PREDICATE = 2,
    ROWS_OF_ALL = 1000 /* at least */
};

struct provenance {
    struct provenance_settings settings;
    struct quad_source source;
    const struct quad_source *inner;
    struct provenance_records *records;
    struct provenance_terms *terms;
    oid graph; /* OID_NONE: nobody has asked for it yet */
};

enum reading { READ_KEY, READ_HOSTS, READ_DOCUMENTS, READ_END };

struct quad_scan {
    struct provenance *provenance;
    struct quad_scan *inner; /* of the other source; else all of what follows */
    struct quad_oids ids;
    struct quad wanted; /* TERM_NONE: any. A node: its label */
    struct arena arena; /* of wanted */
    enum reading reading;
    struct buf key; /* of the record being read, or read last */
    oid record;     /* its number + 1, once a node of it was given out */
    size_t rows_wanted;
    unsigned looked; /* records since the last look at the clock */
    enum status status;
    struct reason *why;
    struct quad_oids *rows;
    size_t count, capacity, at;
    struct provenance_many *many; /* not NULL: of many patterns, and none of what is above */
};

static const size_t memory_usual = (size_t)256 << 20;

/* ---- terms ---- */

static enum status
source_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    struct provenance *provenance = context;
    TRY(provenance_identify(provenance->terms, term, id, why));
    if (term->kind == TERM_IRI && slice_is(term->value, QUERY_PROVENANCE)) {
        provenance->graph = *id;
    }
    return STATUS_OK;
}

static enum status
source_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    const struct provenance *provenance = context;
    return provenance_resolve(provenance->terms, id, arena, term, why);
}

/* ---- rows of a record ---- */

/* The number of the record being read. */
static size_t
record_number(struct quad_scan *scan)
{
    if (scan->record == 0) {
        scan->record =
            provenance_number_record(scan->provenance->terms, buf_slice(&scan->key)) + (oid)1;
    }
    return (size_t)scan->record - 1;
}

static enum status
identify_place(struct quad_scan *scan, const struct term *term, oid bound, oid *id,
               struct reason *why)
{
    struct provenance_terms *terms = scan->provenance->terms;
    *id = bound;
    if (bound != OID_NONE) {
        return STATUS_OK;
    }
    if (term->kind == TERM_BLANK) {
        return provenance_identify_node(terms, record_number(scan), term, id, why);
    }
    if (provenance_is_archived(term)) {
        TRY(provenance_remember_owner(terms, term, record_number(scan), why));
    }
    return provenance_identify(terms, term, id, why);
}

static bool
fits(const struct term *wanted, const struct term *said)
{
    return wanted->kind == TERM_NONE || term_equal(wanted, said);
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct quad_scan *scan = context;
    if (!fits(&scan->wanted.predicate, &quad->predicate) ||
        !fits(&scan->wanted.subject, &quad->subject) ||
        !fits(&scan->wanted.object, &quad->object)) {
        return STATUS_OK;
    }
    scan->rows = array_grow(scan->rows, scan->count, &scan->capacity, sizeof *scan->rows);
    struct quad_oids *row = &scan->rows[scan->count];
    TRY(identify_place(scan, &quad->subject, scan->ids.subject, &row->subject, why));
    TRY(provenance_identify_predicate(scan->provenance->terms, &quad->predicate, &row->predicate,
                                      why));
    TRY(identify_place(scan, &quad->object, scan->ids.object, &row->object, why));
    row->graph = scan->ids.graph;
    scan->count++;
    return STATUS_OK;
}

/* A URI that is no IRI has no triples. */
static enum status
read_record(struct quad_scan *scan, struct slice record, struct reason *why)
{
    const struct quad_sink sink = {take_quad, scan};
    const struct term graph = {.kind = TERM_NONE};
    const enum status status = meta_quads(buf_slice(&scan->key), record, &graph, &sink, why);
    return status == STATUS_MISUSE ? STATUS_OK : status;
}

/* ---- scans ---- */

static bool
visit(void *context, struct slice key, struct slice record)
{
    struct quad_scan *scan = context;
    buf_reset(&scan->key);
    (void)buf_append_slice(&scan->key, key);
    scan->record = 0;
    scan->status = read_record(scan, record, scan->why);
    if (scan->status == STATUS_OK && ++scan->looked >= RECORDS_BETWEEN_LOOKS) {
        scan->looked = 0;
        scan->status = provenance_records_check(scan->provenance->records, scan->why);
    }
    return scan->status == STATUS_OK && scan->count < scan->rows_wanted;
}

static enum status
read_all(struct quad_scan *scan, struct reason *why)
{
    const struct slice prefix = scan->reading == READ_HOSTS ? SLICE("h") : SLICE("u");
    struct buf after;
    buf_init(&after, META_KEY_MAXIMUM);
    (void)buf_append_slice(&after, buf_slice(&scan->key));
    scan->why = why;
    scan->status = STATUS_OK;
    enum status status = provenance_records_scan(scan->provenance->records, prefix,
                                                 buf_slice(&after), visit, scan, why);
    buf_release(&after);
    status = status == STATUS_OK ? scan->status : status;
    if (status == STATUS_OK && scan->count < scan->rows_wanted) {
        scan->reading++;
        buf_reset(&scan->key);
    }
    if (scan->rows_wanted < ROWS_MOST) {
        scan->rows_wanted *= 4;
    }
    return status;
}

static enum status
read_more(struct quad_scan *scan, struct reason *why)
{
    if (scan->reading != READ_KEY) {
        return read_all(scan, why);
    }
    struct slice record;
    scan->reading = READ_END;
    TRY(provenance_records_get(scan->provenance->records, buf_slice(&scan->key), &record, why));
    return record.length > 0 ? read_record(scan, record, why) : STATUS_OK;
}

/* Only http and https URIs have records; origins, which have no path, those of hosts. */
static void
key_of_iri(struct slice iri, struct buf *key)
{
    const struct slice origin = url_origin(iri);
    (void)buf_append_char(key, origin.length == iri.length ? 'h' : 'u');
    (void)buf_append_slice(key, iri);
}

static void
choose_reading(struct quad_scan *scan)
{
    const struct term *subject = &scan->wanted.subject;
    scan->reading = READ_KEY;
    if (provenance_is_node(scan->ids.subject) && provenance_is_node(scan->ids.object) &&
        provenance_node_record(scan->ids.subject) != provenance_node_record(scan->ids.object)) {
        scan->reading = READ_END;
        return;
    }
    if (provenance_leads_to_record(scan->provenance->terms, scan->ids.subject, subject,
                                   &scan->key) ||
        provenance_leads_to_record(scan->provenance->terms, scan->ids.object, &scan->wanted.object,
                                   &scan->key)) {
        return;
    }
    if (subject->kind == TERM_NONE || provenance_is_archived(subject)) {
        scan->reading = READ_HOSTS;
        return;
    }
    if (subject->kind == TERM_IRI) {
        key_of_iri(subject->value, &scan->key);
    }
    if (scan->key.overflowed || !meta_key_valid(buf_slice(&scan->key))) {
        scan->reading = READ_END;
    }
}

static enum status
bound_term(struct quad_scan *scan, oid id, struct term *term, struct reason *why)
{
    const struct provenance *provenance = scan->provenance;
    *term = (struct term){.kind = TERM_NONE};
    if (provenance_is_node(id)) {
        *term = term_blank(provenance_node_label(provenance->terms, id));
    } else if (id != OID_NONE) {
        TRY(source_resolve(scan->provenance, id, &scan->arena, term, why));
    }
    return STATUS_OK;
}

void
provenance_scan_close(struct quad_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    provenance_many_free(scan->many);
    if (scan->inner != NULL) {
        scan->provenance->inner->scan_close(scan->inner);
    }
    arena_release(&scan->arena);
    buf_release(&scan->key);
    free(scan->rows);
    free(scan);
}

static enum status
open_own(struct quad_scan *scan, struct reason *why)
{
    scan->rows_wanted = ROWS_FIRST;
    TRY(bound_term(scan, scan->ids.subject, &scan->wanted.subject, why));
    TRY(bound_term(scan, scan->ids.predicate, &scan->wanted.predicate, why));
    TRY(bound_term(scan, scan->ids.object, &scan->wanted.object, why));
    choose_reading(scan);
    return STATUS_OK;
}

enum status
provenance_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
                struct quad_scan **result, struct reason *why)
{
    struct provenance *provenance = context;
    const bool own = provenance_is_graph(provenance, pattern->graph);
    *result = NULL;
    if (own && order != ORDER_COUNT) {
        return status_fail(why, STATUS_UNSUPPORTED, "triples of records have no order");
    }
    struct quad_scan *scan = memory_new(sizeof *scan);
    scan->provenance = provenance;
    scan->ids = *pattern;
    arena_init(&scan->arena, 0);
    buf_init(&scan->key, META_KEY_MAXIMUM);
    const bool none =
        !own && (provenance_owns(pattern->subject) || provenance_owns(pattern->predicate) ||
                 provenance_owns(pattern->object) || provenance_owns(pattern->graph));
    scan->reading = READ_END;
    const enum status status = own    ? open_own(scan, why)
                               : none ? STATUS_OK /* the other source has no such term */
                                      : provenance->inner->scan(provenance->inner->context, pattern,
                                                                order, &scan->inner, why);
    if (status != STATUS_OK) {
        provenance_scan_close(scan);
        return status;
    }
    *result = scan;
    return STATUS_OK;
}

enum status
provenance_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                     struct reason *why)
{
    if (scan->inner != NULL) {
        return scan->provenance->inner->scan_next(scan->inner, rows, most, n, why);
    }
    while (scan->at == scan->count && scan->reading != READ_END) {
        scan->at = scan->count = 0;
        TRY(read_more(scan, why));
    }
    const size_t left = scan->count - scan->at;
    *n = left < most ? left : most;
    if (*n > 0) {
        memcpy(rows, scan->rows + scan->at, *n * sizeof *rows);
    }
    scan->at += *n;
    return STATUS_OK;
}

/* ---- many patterns ---- */

static bool
source_rather_many(void *context, oid graph)
{
    const struct provenance *provenance = context;
    const struct quad_source *inner = provenance->inner;
    return provenance_is_graph(provenance, graph) ||
           (inner->scan_many != NULL &&
            (inner->rather_many == NULL || inner->rather_many(inner->context, graph)));
}

static enum status
source_scan_many(void *context, const struct quad_oids *patterns, size_t count, bool graphs,
                 struct quad_scan **scan, struct reason *why)
{
    (void)why;
    *scan = memory_new(sizeof **scan);
    (*scan)->provenance = context;
    (*scan)->many = provenance_many_new(context, patterns, count, graphs);
    return STATUS_OK;
}

static enum status
source_scan_many_next(struct quad_scan *scan, struct quad_oids *rows, uint32_t *numbers,
                      size_t most, size_t *n, struct reason *why)
{
    return provenance_many_next(scan->many, rows, numbers, most, n, why);
}

struct slice
provenance_scan_key(const struct quad_scan *scan)
{
    return scan->reading == READ_KEY ? buf_slice(&scan->key) : slice_of(NULL, 0);
}

bool
provenance_is_graph(const struct provenance *provenance, oid graph)
{
    return graph != OID_NONE && graph == provenance->graph;
}

const struct quad_source *
provenance_inner(const struct provenance *provenance)
{
    return provenance->inner;
}

struct provenance_records *
provenance_records_of(const struct provenance *provenance)
{
    return provenance->records;
}

/* ---- the rest ---- */

static enum status
source_estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    struct provenance *provenance = context;
    if (!provenance_is_graph(provenance, pattern->graph)) {
        *rows = 0;
        return provenance_owns(pattern->subject) || provenance_owns(pattern->predicate) ||
                       provenance_owns(pattern->object) || provenance_owns(pattern->graph)
                   ? STATUS_OK
                   : provenance->inner->estimate(provenance->inner->context, pattern, rows, why);
    }
    if (pattern->subject != OID_NONE || provenance_is_node(pattern->object)) {
        *rows = pattern->predicate != OID_NONE ? ROWS_PER_PREDICATE : ROWS_PER_RECORD;
        return STATUS_OK;
    }
    /* To read the records of documents costs about as much as to read their quads. */
    const struct quad_oids all = {0};
    TRY(provenance->inner->estimate(provenance->inner->context, &all, rows, why));
    *rows += ROWS_OF_ALL;
    return STATUS_OK;
}

static enum status
source_estimate_star(void *context, const oid *predicates, size_t count, double *subjects,
                     double *rows, struct reason *why)
{
    struct provenance *provenance = context;
    for (size_t i = 0; i < count; i++) {
        if (provenance_owns(predicates[i])) {
            *subjects = *rows = 0;
            return STATUS_OK;
        }
    }
    return provenance->inner->estimate_star(provenance->inner->context, predicates, count, subjects,
                                            rows, why);
}

static enum status
source_search(void *context, struct slice words, uint32_t most, struct text_scan **scan,
              struct reason *why)
{
    struct provenance *provenance = context;
    return provenance->inner->search(provenance->inner->context, words, most, scan, why);
}

struct provenance *
provenance_new(const struct provenance_settings *settings)
{
    struct provenance *provenance = memory_new(sizeof *provenance);
    provenance->settings = *settings;
    provenance->inner = settings->source;
    provenance->records = provenance_records_new(&provenance->settings);
    provenance->terms = provenance_terms_new(settings->source, settings->memory);
    provenance->source = (struct quad_source){
        .context = provenance,
        .lookup = source_lookup,
        .resolve = source_resolve,
        .scan = provenance_scan,
        .scan_next = provenance_scan_next,
        .scan_close = provenance_scan_close,
        .scan_many = source_scan_many,
        .scan_many_next = source_scan_many_next,
        .rather_many = source_rather_many,
        .estimate = source_estimate,
        .estimate_star = settings->source->estimate_star != NULL ? source_estimate_star : NULL,
        .search = source_search,
        .search_next = settings->source->search_next,
        .search_close = settings->source->search_close};
    return provenance;
}

void
provenance_free(struct provenance *provenance)
{
    if (provenance != NULL) {
        provenance_records_free(provenance->records);
        provenance_terms_free(provenance->terms);
        free(provenance);
    }
}

const struct quad_source *
provenance_source(struct provenance *provenance)
{
    return &provenance->source;
}

struct provenance *
provenance_for_query(const struct query *query, const struct quad_source *source,
                     const struct metastore_client_options *metastore,
                     const struct query_options *options)
{
    if (!query_mentions(query, SLICE(QUERY_PROVENANCE)) &&
        !query_mentions(query, SLICE(QUERY_IDENTITY))) {
        return NULL;
    }
    const struct provenance_settings settings = {.source = source,
                                                 .metastore = metastore,
                                                 .memory = options->memory > 0 ? options->memory / 2
                                                                               : memory_usual,
                                                 .timeout_ms = options->timeout_ms,
                                                 .cancel = options->cancel};
    return provenance_new(&settings);
}
