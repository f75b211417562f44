#include "index/read/provenance.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url/url.h"
#include "index/read/provenance_many.h"
#include "index/terms/term_set.h"
#include "metastore/record_rdf.h"

enum {
    ROWS_FIRST = 256, /* gathered before a scan of all records hands out any */
    ROWS_MOST = 65536,
    RECORDS_BETWEEN_LOOKS = 256,
    ROWS_PER_RECORD = 80,
    ROWS_PER_PREDICATE = 2,
    ROWS_OF_ALL = 1000 /* at least */
};

enum { PREDICATES = 64 };

/* Identifiers of nodes: OID_OVERLAY, NODE, number of the record, number of the label. */
#define NODE ((oid)1 << 58)
#define LABEL_BITS 20
#define LABEL_MASK (((oid)1 << LABEL_BITS) - 1)

/* Blank nodes are numbered by where they came from, so that a pattern with one bound knows its
 * record. `owners` does the same for records of the archive, which have IRIs that do not tell. */
struct provenance {
    struct provenance_settings settings;
    struct quad_source source;
    const struct quad_source *inner;
    struct provenance_records *records;
    oid graph;             /* OID_NONE: nobody has asked for it yet */
    struct term_set terms; /* that only records have */
    struct term_set keys;  /* of records with nodes, as IRIs */
    struct term_set labels;
    struct term_set owners; /* id: number of the key */
    struct {
        const char *at; /* predicates are constant strings */
        oid id;
    } predicates[PREDICATES];
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

/* ---- identifiers ---- */

static bool
is_node(oid id)
{
    return provenance_owns(id) && (id & NODE) != 0;
}

static size_t
node_record(oid id)
{
    return (size_t)((id & (NODE - 1)) >> LABEL_BITS);
}

static struct slice
node_label(const struct provenance *provenance, oid id)
{
    return provenance->labels.terms[id & LABEL_MASK].term.value;
}

static enum status
check_memory(const struct provenance *provenance, struct reason *why)
{
    const size_t bytes = term_set_bytes(&provenance->terms) + term_set_bytes(&provenance->keys) +
                         term_set_bytes(&provenance->owners);
    return bytes <= provenance->settings.memory
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "the query touches too many terms of metadata");
}

/* Own terms first: a term that came to be stored meanwhile keeps its identifier. */
static enum status
identify(struct provenance *provenance, const struct term *term, oid *id, struct reason *why)
{
    const struct term normal = term_normal(term);
    const uint64_t hash = term_hash(&normal);
    struct set_term *own = term_set_find(&provenance->terms, &normal, hash);
    if (own == NULL) {
        TRY(provenance->inner->lookup(provenance->inner->context, term, id, why));
        if (*id != OID_NONE) {
            return STATUS_OK;
        }
        TRY(check_memory(provenance, why));
        own = term_set_insert(&provenance->terms, &normal, hash);
    }
    *id = OID_OVERLAY | (oid)(own - provenance->terms.terms);
    return STATUS_OK;
}

static enum status
source_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    struct provenance *provenance = context;
    TRY(identify(provenance, term, id, why));
    if (term->kind == TERM_IRI && slice_is(term->value, QUERY_PROVENANCE)) {
        provenance->graph = *id;
    }
    return STATUS_OK;
}

static enum status
source_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    struct provenance *provenance = context;
    if (!provenance_owns(id)) {
        return provenance->inner->resolve(provenance->inner->context, id, arena, term, why);
    }
    if (is_node(id)) {
        *term = term_blank(arena_printf(arena, "p%zu%.*s", node_record(id),
                                        SLICE_PRINT(node_label(provenance, id))));
        return term->value.length > 0
                   ? STATUS_OK
                   : status_fail(why, STATUS_LIMIT, "a term does not fit in memory");
    }
    return term_copy(arena, &provenance->terms.terms[id & ~OID_OVERLAY].term, term)
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "a term does not fit in memory");
}

/* ---- rows of a record ---- */

/* The number of the record being read. */
static size_t
record_number(struct quad_scan *scan)
{
    if (scan->record == 0) {
        const struct term key = term_iri(buf_slice(&scan->key));
        scan->record = term_set_add(&scan->provenance->keys, &key) + (oid)1;
    }
    return (size_t)scan->record - 1;
}

static bool
is_archived(const struct term *term)
{
    return term->kind == TERM_IRI && slice_starts(term->value, SLICE("urn:uuid:"));
}

static void
remember_owner(struct quad_scan *scan, const struct term *term)
{
    struct term_set *owners = &scan->provenance->owners;
    const uint64_t hash = term_hash(term);
    if (term_set_find(owners, term, hash) == NULL) {
        const size_t number = record_number(scan);
        term_set_insert(owners, term, hash)->id = number;
    }
}

static enum status
identify_place(struct quad_scan *scan, const struct term *term, oid bound, oid *id,
               struct reason *why)
{
    struct provenance *provenance = scan->provenance;
    *id = bound;
    if (bound != OID_NONE) {
        return STATUS_OK;
    }
    if (is_archived(term)) {
        TRY(check_memory(provenance, why));
        remember_owner(scan, term);
    }
    if (term->kind != TERM_BLANK) {
        return identify(provenance, term, id, why);
    }
    TRY(check_memory(provenance, why));
    const oid label = term_set_add(&provenance->labels, term);
    if (label > LABEL_MASK) {
        return status_fail(why, STATUS_LIMIT, "a record of metadata has too many nodes");
    }
    *id = OID_OVERLAY | NODE | (oid)record_number(scan) << LABEL_BITS | label;
    return STATUS_OK;
}

static enum status
identify_predicate(struct quad_scan *scan, const struct term *term, oid *id, struct reason *why)
{
    struct provenance *provenance = scan->provenance;
    const size_t place = ((uintptr_t)term->value.at >> 3) % PREDICATES;
    if (provenance->predicates[place].at != term->value.at) {
        TRY(identify(provenance, term, &provenance->predicates[place].id, why));
        provenance->predicates[place].at = term->value.at;
    }
    *id = provenance->predicates[place].id;
    return STATUS_OK;
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
    if (scan->count == scan->capacity) {
        scan->capacity = scan->capacity > 0 ? 2 * scan->capacity : 64;
        scan->rows = memory_resize(scan->rows, scan->capacity, sizeof *scan->rows);
    }
    struct quad_oids *row = &scan->rows[scan->count];
    TRY(identify_place(scan, &quad->subject, scan->ids.subject, &row->subject, why));
    TRY(identify_predicate(scan, &quad->predicate, &row->predicate, why));
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

/* Tells whether the term leads to one record, whose key is appended. */
static bool
leads_to_record(const struct provenance *provenance, oid id, const struct term *term,
                struct buf *key)
{
    if (is_node(id)) {
        (void)buf_append_slice(key, provenance->keys.terms[node_record(id)].term.value);
        return true;
    }
    if (!is_archived(term)) {
        return false;
    }
    const struct set_term *owner = term_set_find(&provenance->owners, term, term_hash(term));
    if (owner != NULL) {
        (void)buf_append_slice(key, provenance->keys.terms[owner->id].term.value);
    }
    return owner != NULL;
}

static void
choose_reading(struct quad_scan *scan)
{
    const struct term *subject = &scan->wanted.subject;
    scan->reading = READ_KEY;
    if (is_node(scan->ids.subject) && is_node(scan->ids.object) &&
        node_record(scan->ids.subject) != node_record(scan->ids.object)) {
        scan->reading = READ_END;
        return;
    }
    if (leads_to_record(scan->provenance, scan->ids.subject, subject, &scan->key) ||
        leads_to_record(scan->provenance, scan->ids.object, &scan->wanted.object, &scan->key)) {
        return;
    }
    if (subject->kind == TERM_NONE || is_archived(subject)) {
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
    if (is_node(id)) {
        *term = term_blank(node_label(provenance, id));
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
    struct quad_scan *scan = memory_zero(1, sizeof *scan);
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
    *scan = memory_zero(1, sizeof **scan);
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
    if (pattern->subject != OID_NONE || is_node(pattern->object)) {
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
    struct provenance *provenance = memory_zero(1, sizeof *provenance);
    provenance->settings = *settings;
    provenance->inner = settings->source;
    provenance->records = provenance_records_new(&provenance->settings);
    term_set_init(&provenance->terms);
    term_set_init(&provenance->keys);
    term_set_init(&provenance->labels);
    term_set_init(&provenance->owners);
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
        term_set_release(&provenance->terms);
        term_set_release(&provenance->keys);
        term_set_release(&provenance->labels);
        term_set_release(&provenance->owners);
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
