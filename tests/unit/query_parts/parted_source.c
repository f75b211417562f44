#include "tests/unit/query_parts/parted_source.h"

#include "index/oid_set.h"

enum { SUBJECTS = 1200 };

struct parted here;

/* ---- the source ---- */

static enum status
find_here(void *context, const struct term *term, oid *id, struct reason *why)
{
    (void)context;
    TRY(here.plain->lookup(here.plain->context, term, id, why));
    for (size_t i = 0; i < here.added_count && *id == OID_NONE; i++) {
        *id = term_equal(&here.added[i], term) ? OID_OVERLAY + i : OID_NONE;
    }
    return STATUS_OK;
}

static enum status
resolve_here(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    (void)context;
    if (id < OID_OVERLAY) {
        return here.plain->resolve(here.plain->context, id, arena, term, why);
    }
    *term = here.added[id - OID_OVERLAY];
    return STATUS_OK;
}

static struct slice
keep(struct slice text)
{
    return arena_copy(&here.arena, text);
}

static oid
add_here(const struct term *term)
{
    struct reason why = {{0}};
    oid id;
    assert_int_equal(find_here(NULL, term, &id, &why), STATUS_OK);
    if (id == OID_NONE) {
        assert_true(here.added_count < PARTED_MOST);
        here.added[here.added_count] = *term;
        here.added[here.added_count].value = keep(term->value);
        here.added[here.added_count].datatype = keep(term->datatype);
        here.added[here.added_count].language = keep(term->language);
        id = OID_OVERLAY + here.added_count++;
    }
    return id;
}

static bool
is_shared_node(oid id)
{
    return id >= OID_SHARED && id < OID_OVERLAY;
}

/* No node is of both partitions. */
static enum status
scan_here(void *context, const struct quad_oids *pattern, enum quad_order order,
          struct quad_scan **scan, struct reason *why)
{
    struct quad_oids none = *pattern;
    (void)context;
    if (is_shared_node(pattern->subject) || is_shared_node(pattern->object)) {
        none.graph = OID_SHARED - 1;
    }
    return here.plain->scan(here.plain->context, &none, order, scan, why);
}

enum status
parted_part(void *context, enum key_places places, bool *any, struct reason *why)
{
    (void)context;
    (void)buf_printf(&here.requests, "part by %s; ", places == KEYS_NODES ? "nodes" : "subjects");
    *any = here.part_any;
    return here.part_status == STATUS_OK ? STATUS_OK
                                         : status_fail(why, here.part_status, "it cannot be said");
}

enum status
parted_take(void *context, struct dictionary *dictionary, const oid *row, size_t columns,
            struct reason *why)
{
    struct share_scan *scan = context;
    assert_int_equal(columns, scan->columns);
    assert_true(scan->count < PARTED_MOST);
    for (size_t i = 0; i < columns; i++) {
        struct term term;
        oid id = OID_NONE;
        if (row[i] != OID_NONE) {
            TRY(dictionary_term(dictionary, row[i], &term, why));
            id = add_here(&term);
        }
        scan->rows[scan->count * columns + i] = id;
    }
    scan->count++;
    scan->counts[scan->partition]++;
    return STATUS_OK;
}

enum status
parted_end(void *context, struct dictionary *dictionary, struct reason *why)
{
    (void)context, (void)dictionary, (void)why;
    return STATUS_OK;
}

static void
note_request(const struct query *query, const struct share_request *request,
             const struct share_scan *scan)
{
    static const char *const forms[] = {"rows", "values", "parts"};
    struct buf *out = &here.requests;
    (void)buf_printf(out, "%s of %u, %zu columns", forms[request->form], (unsigned)request->node,
                     request->columns);
    if (request->most != UINT64_MAX) {
        (void)buf_printf(out, ", at most %lu", (unsigned long)request->most);
    }
    if (request->partition_wise) {
        (void)buf_printf(out, ", by ?%.*s as %s", SLICE_PRINT(query->slot_names[request->key]),
                         request->places == KEYS_NODES ? "nodes" : "subjects");
    }
    (void)buf_printf(out, ": %zu and %zu; ", scan->counts[0], scan->counts[1]);
}

static enum status
share_here(void *context, const struct share_request *request, struct share_scan **scan,
           struct reason *why)
{
    const struct query_options options = {.default_graph = request->default_graph,
                                          .graphs = request->graphs,
                                          .named_graphs = request->named_graphs,
                                          .now_ms = request->now_ms};
    struct share_scan *made = calloc(1, sizeof *made);
    struct oid_set nobody;
    struct query *query;
    (void)context;
    made->columns = request->columns;
    made->rows = calloc(PARTED_MOST * (request->columns + 1), sizeof *made->rows);
    *scan = made;
    oid_set_init(&nobody, 0);
    enum status status = query_prepare(&query, request->text, SLICE(""), why);
    assert_int_equal(status, STATUS_OK);
    for (; made->partition < PARTITIONS_ASKED && status == STATUS_OK; made->partition++) {
        struct share_request own = *request;
        const struct share_sink sink = {.context = made, .row = parted_take, .end = parted_end};
        own.shared = &nobody;
        status = share_run(query, memory_source_table(here.partitions[made->partition]), &options,
                           &own, &sink, why);
    }
    note_request(query, request, made);
    query_free(query);
    oid_set_release(&nobody);
    return status;
}

static enum status
share_next_here(struct share_scan *scan, oid *rows, size_t most, size_t *n, struct reason *why)
{
    (void)why;
    const size_t left = scan->count - scan->at;
    *n = most < left ? most : left;
    memcpy(rows, scan->rows + scan->at * scan->columns, *n * scan->columns * sizeof *rows);
    scan->at += *n;
    return STATUS_OK;
}

static void
share_close_here(struct share_scan *scan)
{
    free(scan->rows);
    free(scan);
}

/* ---- data ---- */

/* Each subject is of one partition, and so is whom it knows; one triple is in both. */
static void
put_graph(unsigned graph, struct buf *trig)
{
    (void)buf_printf(trig, ":g%u {\n", graph);
    for (unsigned i = 0; i < SUBJECTS; i++) {
        if (i % 4 != graph && !(i % 4 == 0 && i % 5 == 0 && graph == 2)) {
            continue;
        }
        (void)buf_printf(trig, ":s%u a :C%u ; :label \"%u\" ; :size %u .\n", i, i % 3, i / 2,
                         i % 10);
        if (i % 3 != 1) {
            (void)buf_printf(trig, ":s%u :description \"d%u\" .\n", i, i % 100);
        }
        (void)buf_printf(trig, ":s%u :knows :s%u .\n", i, (i + 6) % SUBJECTS);
    }
    (void)buf_append_string(trig, ":t :twice 1 , 2 .\n}\n");
}

int
parted_open(void **state)
{
    static const char prefix[] = "@prefix : <http://example.org/> .\n";
    struct buf trig[PARTITIONS_ASKED + 1];
    (void)state;
    memset(&here, 0, sizeof here);
    arena_init(&here.arena, 0);
    buf_init(&here.requests, 1 << 16);
    for (size_t i = 0; i <= PARTITIONS_ASKED; i++) {
        buf_init(&trig[i], 16 << 20);
        (void)buf_append_string(&trig[i], prefix);
    }
    for (unsigned graph = 0; graph < 4; graph++) {
        put_graph(graph, &trig[graph % PARTITIONS_ASKED]);
        put_graph(graph, &trig[PARTITIONS_ASKED]);
    }
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        here.partitions[i] = query_case_source(trig[i].data);
    }
    here.all = query_case_source(trig[PARTITIONS_ASKED].data);
    for (size_t i = 0; i <= PARTITIONS_ASKED; i++) {
        buf_release(&trig[i]);
    }
    here.plain = memory_source_table(here.all);
    here.source = *here.plain;
    here.source.lookup = find_here;
    here.source.resolve = resolve_here;
    here.source.scan = scan_here;
    here.source.part = parted_part;
    here.source.share = share_here;
    here.source.share_next = share_next_here;
    here.source.share_close = share_close_here;
    return 0;
}

int
parted_close(void **state)
{
    (void)state;
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        memory_source_free(here.partitions[i]);
    }
    memory_source_free(here.all);
    arena_release(&here.arena);
    buf_release(&here.requests);
    return 0;
}
