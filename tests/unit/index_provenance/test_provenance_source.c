/* The graph q:provenance (index/read/provenance.c and what it stands on) over a metadata store and
 * a source of quads that do as they are told: which records are asked for and which are read, what
 * goes to the other source, and what becomes of failures. */
#include "tests/unit/index_provenance/provenance_bed.h"

#include "base/memory.h"
#include "tests/unit/index_provenance/provenance_calls.h"

/* ---- one record ---- */

static void
a_bound_subject_names_its_record(void **state)
{
    (void)state;
    begin();
    rows("http://a.example/1", NULL, NULL,
         "http://a.example/1 " P0 " _:p0fetch\nhttp://a.example/1 " P2 " " ARCHIVED "\n");
    rows("http://a.example", NULL, NULL, "http://a.example " P0 " \"robots\n");
    rows("http://known.example/9", NULL, NULL,
         "http://known.example/9 " P7 " http://known.example/5\n");
    told_calls("open\nget 1: uhttp://a.example/1\nget 1: hhttp://a.example\n"
               "get 1: uhttp://known.example/9\n");
    /* Records are remembered, those that nobody knows among them. */
    rows("http://a.example/1", P0, NULL, "http://a.example/1 " P0 " _:p0fetch\n");
    rows("http://a.example/1", P1, NULL, "");
    rows("http://a.example/1", P2, ARCHIVED, "http://a.example/1 " P2 " " ARCHIVED "\n");
    rows("http://a.example/1", NULL, "\"quadrille", "");
    rows("http://a.example", P0, "\"robots", "http://a.example " P0 " \"robots\n");
    rows("http://a.example", P0, "\"other", "");
    rows("http://a.example", P0, "http://known.example/5", "");
    rows("http://known.example/9", P7, "http://known.example/5",
         "http://known.example/9 " P7 " http://known.example/5\n");
    told_calls("");
    rows("http://a.example/unknown", NULL, NULL, "");
    rows("http://a.example/unknown", NULL, NULL, "");
    told_calls("get 1: uhttp://a.example/unknown\n");
    end();
}

/* A URI that is no IRI has no triples; what else is wrong with a record is told. */
static void
records_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct told_record records[] = {
        {"hhttp://a.example", "http://a.example " P0 " \"robots"},
        {"uhttp://a.example/1", "!misuse"},
        {"uhttp://a.example/2", "http://a.example/2 " P0 " \"two"},
        {"uhttp://a.example/3", "!damaged"},
    };
    begin();
    told.records = records;
    told.count = 3;
    rows("http://a.example/1", NULL, NULL, "");
    rows(NULL, NULL, NULL, "http://a.example " P0 " \"robots\nhttp://a.example/2 " P0 " \"two\n");
    told.count = 4;
    rows("http://a.example/3", NULL, NULL, "!CORRUPT: the record is damaged");
    rows(NULL, NULL, NULL, "http://a.example " P0 " \"robots\n!CORRUPT: the record is damaged");
    end();
}

/* What cannot be the subject of a record is not asked for. */
static void
subjects_without_a_record(void **state)
{
    (void)state;
    static const size_t lengths[] = {META_KEY_MAXIMUM - 1, META_KEY_MAXIMUM, 3 * META_KEY_MAXIMUM};
    static const bool asked[] = {true, false, false};
    char *text = memory_alloc(3 * META_KEY_MAXIMUM + 1);
    begin();
    rows("\"http://a.example/1", NULL, NULL, "");
    told_calls("");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memset(text, 'x', lengths[i]);
        memcpy(text, "http://a.example/", strlen("http://a.example/"));
        text[lengths[i]] = '\0';
        rows(text, NULL, NULL, "");
        assert_int_equal(told.calls.length > 0, asked[i]);
        buf_reset(&told.calls);
    }
    free(text);
    end();
}

/* ---- all records ---- */

static const char *const everything =
    "http://a.example " P0 " \"robots\nhttp://b.example " P0 " _:p0robots\n_:p0robots " P1
    " \"body\nhttp://a.example/1 " P0 " _:p1fetch\n_:p1fetch " P1 " _:p1agent\n_:p1agent " P2
    " \"quadrille\nhttp://a.example/1 " P2 " " ARCHIVED "\n" ARCHIVED " " P7
    " http://known.example/5\nhttp://a.example/2 " P0 " _:p2fetch\n_:p2fetch " P1
    " \"other\nhttp://known.example/9 " P7 " http://known.example/5\n";

static void
without_a_subject_all_records_are_read(void **state)
{
    (void)state;
    begin();
    for (piece = 1; piece <= 64; piece *= 4) {
        rows(NULL, NULL, NULL, everything);
    }
    piece = 3;
    told_calls("open\nscan h after '' 30000 ms\nscan u after '' 30000 ms\n"
               "scan h after '' 30000 ms\nscan u after '' 30000 ms\n"
               "scan h after '' 30000 ms\nscan u after '' 30000 ms\n"
               "scan h after '' 30000 ms\nscan u after '' 30000 ms\n");
    rows(NULL, P7, NULL,
         ARCHIVED " " P7 " http://known.example/5\nhttp://known.example/9 " P7
                  " http://known.example/5\n");
    rows(NULL, P0, "\"robots", "http://a.example " P0 " \"robots\n");
    rows(NULL, NULL, "\"nothing", "");
    rows(NULL, NULL, "http://known.example/5",
         ARCHIVED " " P7 " http://known.example/5\nhttp://known.example/9 " P7
                  " http://known.example/5\n");
    end();
}

/* A scan ends when there are rows enough to hand out, and goes on behind the last record. */
static void
many_records_are_read_bit_by_bit(void **state)
{
    (void)state;
    enum { MANY = 1500 };
    struct told_record *records = memory_zero(MANY, sizeof *records);
    char(*texts)[2][64] = memory_zero(MANY, sizeof *texts);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(texts[i][0], sizeof texts[i][0], "uhttp://a.example/%04zu", i);
        snprintf(texts[i][1], sizeof texts[i][1], "http://known.example/9 " P7 " _:n");
        records[i] = (struct told_record){texts[i][0], texts[i][1]};
    }
    begin();
    told.records = records;
    told.count = MANY;
    const struct quad_oids pattern = {.graph = graph};
    struct quad_scan *scan;
    struct reason why = {""};
    assert_int_equal(source->scan(source->context, &pattern, ORDER_COUNT, &scan, &why), STATUS_OK);
    size_t n = 1, total = 0;
    oid last = OID_NONE;
    while (n > 0) {
        struct quad_oids found[100];
        assert_int_equal(source->scan_next(scan, found, 100, &n, &why), STATUS_OK);
        for (size_t i = 0; i < n; i++) {
            assert_true(found[i].object > last); /* a node of a record of its own */
            last = found[i].object;
        }
        total += n;
    }
    assert_int_equal(total, MANY);
    source->scan_close(scan);
    told_calls("open\nscan h after '' 30000 ms\nscan u after '' 30000 ms\n"
               "scan u after 'uhttp://a.example/1023' 30000 ms\n");
    end();
    free(records);
    free(texts);
}

/* The query's end is seen while records are read that have nothing for it. */
static void
a_scan_that_finds_nothing_is_cancelled(void **state)
{
    (void)state;
    enum { MANY = 600 };
    static struct told_record records[MANY];
    static char keys[MANY][32];
    for (size_t i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "uhttp://a.example/%04zu", i);
        records[i] = (struct told_record){keys[i], "http://known.example/9 " P7 " \"x"};
    }
    begin();
    told.records = records;
    told.count = MANY;
    told.cancel_at = 2;
    rows(NULL, NULL, "\"nothing", "!CANCELLED: the query was cancelled");
    assert_in_range(told.visits, 2, 256);
    rows(NULL, NULL, "\"nothing", "!CANCELLED: the query was cancelled");
    told_calls("open\nscan h after '' 30000 ms\nscan u after '' 30000 ms\n");
    atomic_store(&told.cancel, false);
    told.cancel_at = 0;
    told.visits = 0;
    rows(NULL, NULL, "\"nothing", "");
    assert_int_equal(told.visits, MANY);
    end();
}

/* ---- blank nodes and records of the archive ---- */

static void
nodes_lead_to_their_records(void **state)
{
    (void)state;
    begin();
    rows(NULL, NULL, NULL, everything);
    buf_reset(&told.calls);
    rows("_:p1fetch", NULL, NULL, "_:p1fetch " P1 " _:p1agent\n");
    rows("_:p2fetch", NULL, NULL, "_:p2fetch " P1 " \"other\n");
    rows("_:p0robots", NULL, NULL, "_:p0robots " P1 " \"body\n");
    told_calls(
        "get 1: uhttp://a.example/1\nget 1: uhttp://a.example/2\nget 1: hhttp://b.example\n");
    rows(NULL, NULL, "_:p1fetch", "http://a.example/1 " P0 " _:p1fetch\n");
    rows(NULL, NULL, "_:p1agent", "_:p1fetch " P1 " _:p1agent\n");
    rows(NULL, P2, "_:p1agent", "");
    rows("_:p1fetch", NULL, "_:p1agent", "_:p1fetch " P1 " _:p1agent\n");
    rows("_:p1agent", NULL, "_:p1fetch", "");
    rows("http://a.example/1", NULL, "_:p1fetch", "http://a.example/1 " P0 " _:p1fetch\n");
    rows("http://a.example/2", NULL, "_:p1fetch", "");
    /* Nodes of two records are in no triple together, though their names may be the same. */
    rows("_:p2fetch", NULL, "_:p1agent", "");
    rows("_:p1fetch", NULL, "_:p2fetch", "");
    told_calls("");
    end();
}

/* Two records say the same of nodes with the same names. */
static void
nodes_of_two_records_are_in_no_triple_together(void **state)
{
    (void)state;
    static const struct told_record alike[] = {
        {"uhttp://a.example/1", "_:a " P0 " _:b"},
        {"uhttp://a.example/2", "_:a " P0 " _:b"},
    };
    begin();
    told.records = alike;
    told.count = 2;
    rows(NULL, NULL, NULL, "_:p0a " P0 " _:p0b\n_:p1a " P0 " _:p1b\n");
    rows("_:p0a", NULL, "_:p0b", "_:p0a " P0 " _:p0b\n");
    rows("_:p1a", NULL, "_:p1b", "_:p1a " P0 " _:p1b\n");
    rows("_:p0a", NULL, "_:p1b", "");
    rows("_:p1a", NULL, "_:p0b", "");
    end();
}

static void
what_is_archived_leads_to_its_record_once_it_is_known(void **state)
{
    (void)state;
    begin();
    rows(ARCHIVED, NULL, NULL, ARCHIVED " " P7 " http://known.example/5\n");
    told_calls("open\nscan h after '' 30000 ms\nscan u after '' 30000 ms\n");
    rows(NULL, P2, NULL, "_:p0agent " P2 " \"quadrille\nhttp://a.example/1 " P2 " " ARCHIVED "\n");
    told_calls("scan h after '' 30000 ms\nscan u after '' 30000 ms\n");
    rows(NULL, NULL, ARCHIVED, "http://a.example/1 " P2 " " ARCHIVED "\n");
    rows(ARCHIVED, NULL, NULL, ARCHIVED " " P7 " http://known.example/5\n");
    rows(ARCHIVED, P7, "http://known.example/5", ARCHIVED " " P7 " http://known.example/5\n");
    rows(ARCHIVED, P0, NULL, "");
    told_calls("get 1: uhttp://a.example/1\n");
    /* One that no record has. */
    rows("urn:uuid:2", NULL, NULL, "");
    rows("urn:uuid:2", NULL, NULL, "");
    told_calls("scan h after '' 30000 ms\nscan u after '' 30000 ms\n"
               "scan h after '' 30000 ms\nscan u after '' 30000 ms\n");
    end();
}

/* ---- terms ---- */

static void
terms_keep_their_identifiers(void **state)
{
    (void)state;
    struct reason why = {""};
    struct arena arena;
    struct term found;
    begin();
    const struct term typed = {.kind = TERM_LITERAL,
                               .value = SLICE("x"),
                               .datatype = SLICE("http://www.w3.org/2001/XMLSchema#string")};
    oid id;
    assert_true(id_of("http://known.example/5") == 5);
    const oid a = id_of("http://a.example/"), x = id_of("\"x");
    assert_true(a >= OID_OVERLAY && a < OID_LOCAL && x >= OID_OVERLAY && x < OID_LOCAL);
    assert_true(a != x && a != graph && x != graph);
    assert_true(id_of("http://a.example/") == a);
    assert_int_equal(source->lookup(source->context, &typed, &id, &why), STATUS_OK);
    assert_true(id == x);
    /* One that the other source cannot look for. */
    told.lookups = STATUS_SYSTEM;
    const struct term iri = term_iri(SLICE("http://other.example/"));
    assert_int_equal(source->lookup(source->context, &iri, &id, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "no term is found");
    assert_true(id_of("http://a.example/") == a);
    rows("http://a.example/", NULL, NULL, "");
    rows("http://a.example/", NULL, NULL, "");
    /* One that does not fit. */
    rows(NULL, NULL, NULL, "!SYSTEM: no term is found");
    told.lookups = STATUS_OK;
    rows("http://a.example/2", NULL, NULL, "http://a.example/2 " P0 " _:p0fetch\n");
    told.resolves = STATUS_CORRUPT;
    rows("http://known.example/9", NULL, NULL, "!CORRUPT: the term is damaged");
    rows(NULL, P7, NULL, "!CORRUPT: the term is damaged");
    rows(NULL, NULL, "http://known.example/5", "!CORRUPT: the term is damaged");
    assert_int_equal(source->resolve(source->context, 5, &arena, &found, &why), STATUS_CORRUPT);
    arena_init(&arena, 1);
    why.text[0] = '\0';
    assert_int_equal(source->resolve(source->context, a, &arena, &found, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "a term does not fit in memory");
    why.text[0] = '\0';
    assert_int_equal(source->resolve(source->context, id_of("_:p0fetch"), &arena, &found, &why),
                     STATUS_LIMIT);
    assert_string_equal(why.text, "a term does not fit in memory");
    arena_release(&arena);
    end();
}

/* Predicates are told apart wherever their texts are, also after one could not be looked for. */
static void
predicates_are_known_by_their_places(void **state)
{
    (void)state;
    static const struct told_record records[] = {
        {"uhttp://a.example/1", "http://known.example/1 " P7 " http://known.example/2\n"
                                "http://known.example/1 " P0 " http://known.example/2\n"
                                "http://known.example/1 " P7 " http://known.example/3\n"
                                "http://known.example/1 " P1 " http://known.example/3\n"
                                "http://known.example/1 " P0 " http://known.example/4"},
    };
    begin();
    told.records = records;
    told.count = 1;
    told.lookups = STATUS_SYSTEM;
    rows(NULL, NULL, NULL, "!SYSTEM: no term is found");
    told.lookups = STATUS_OK;
    rows(NULL, NULL, NULL,
         "http://known.example/1 " P7 " http://known.example/2\n"
         "http://known.example/1 " P0 " http://known.example/2\n"
         "http://known.example/1 " P7 " http://known.example/3\n"
         "http://known.example/1 " P1 " http://known.example/3\n"
         "http://known.example/1 " P0 " http://known.example/4\n");
    end();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, told_begin, told_end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_bound_subject_names_its_record),
        CASE(records_that_cannot_be_read),
        CASE(subjects_without_a_record),
        CASE(without_a_subject_all_records_are_read),
        CASE(many_records_are_read_bit_by_bit),
        CASE(a_scan_that_finds_nothing_is_cancelled),
        CASE(nodes_lead_to_their_records),
        CASE(nodes_of_two_records_are_in_no_triple_together),
        CASE(what_is_archived_leads_to_its_record_once_it_is_known),
        CASE(terms_keep_their_identifiers),
        CASE(predicates_are_known_by_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + provenance_calls() + provenance_store();
}
