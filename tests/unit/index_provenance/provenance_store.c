#include "tests/unit/index_provenance/provenance_bed.h"
#include "tests/unit/index_provenance/provenance_calls.h"

#include "index/read/provenance_records.h"
#include "tests/unit/memory_in_use.h"

/* ---- records ---- */

static struct provenance_records *
records_begin(struct provenance_settings *settings)
{
    begin();
    end();
    return provenance_records_new(settings);
}

/* Compares what is known of a key, "-": nothing; or "!" and the reason. */
static void
known(struct provenance_records *records, const char *key, const char *expected)
{
    struct reason why = {""};
    struct slice record = SLICE("something");
    char text[REASON_SIZE + 32] = "-";
    const enum status status = provenance_records_get(records, slice_string(key), &record, &why);
    if (status != STATUS_OK) {
        snprintf(text, sizeof text, "!%s: %s", status_name(status), why.text);
        assert_int_equal(record.length, 0);
    } else if (record.length > 0) {
        snprintf(text, sizeof text, "%.*s", SLICE_PRINT(record));
    }
    assert_string_equal(text, expected);
}

static void
records_are_asked_for_together_and_once(void **state)
{
    (void)state;
    struct reason why = {""};
    struct provenance_settings settings = settings_of(PLENTY);
    struct provenance_records *records = records_begin(&settings);
    const struct slice keys[] = {SLICE("hhttp://a.example"),       SLICE("hhttp://a.example"),
                                 SLICE("uhttp://a.example/none"),  SLICE("no key"),
                                 SLICE("uhttp://a.example/3"),     SLICE("u"),
                                 SLICE("uhttp://known.example/9"), SLICE("hhttp://a.example")};
    assert_int_equal(provenance_records_fetch(records, keys, 0, &why), STATUS_OK);
    told_calls("open\n");
    for (told.waits = 0; told.waits < 3; told.waits += 2) {
        assert_int_equal(provenance_records_fetch(records, keys, 7, &why), STATUS_OK);
        told_calls(told.waits == 0 ? "get 4: hhttp://a.example uhttp://a.example/none "
                                     "uhttp://a.example/3 uhttp://known.example/9\n"
                                   : "");
        known(records, "hhttp://a.example", "http://a.example " P0 " \"robots");
        known(records, "uhttp://a.example/3", "!misuse");
        known(records, "uhttp://a.example/none", "-");
        known(records, "no key", "-");
        known(records, "uhttp://known.example/9",
              "http://known.example/9 " P7 " http://known.example/5");
    }
    told_calls("");
    known(records, "uhttp://a.example/2",
          "http://a.example/2 " P0 " _:fetch\n_:fetch " P1 " \"other");
    told_calls("get 1: uhttp://a.example/2\n");
    assert_int_equal(told.waited, told.waits);
    provenance_records_free(records);
    provenance_records_free(NULL);
}

/* Past its memory everything is forgotten, but for what is asked for. */
static void
records_are_forgotten(void **state)
{
    (void)state;
    static const struct told_record few[] = {{"uhttp://a.example/1", "record"},
                                             {"uhttp://a.example/2", "another"}};
    static const char *const keys[] = {"uhttp://a.example/1"};
    const size_t most = bytes_of(keys, 1) + 16;
    for (size_t less = 0; less < 2; less++) {
        struct provenance_settings settings = settings_of(most - less);
        struct provenance_records *records = records_begin(&settings);
        told.records = few;
        told.count = 2;
        known(records, "uhttp://a.example/1", "record");
        known(records, "uhttp://a.example/1", "record");
        known(records, "uhttp://a.example/2", "another");
        told_calls("open\nget 1: uhttp://a.example/1\nget 1: uhttp://a.example/2\n");
        known(records, "uhttp://a.example/1", "record");
        told_calls(less == 0 ? "" : "get 1: uhttp://a.example/1\n");
        known(records, "uhttp://a.example/1", "record");
        known(records, "uhttp://a.example/2", "another");
        provenance_records_free(records);
        buf_reset(&told.calls);
    }
}

static void
records_that_cannot_be_had(void **state)
{
    (void)state;
    struct reason why = {""};
    const struct slice none = {NULL, 0};
    struct provenance_settings settings = settings_of(PLENTY);
    settings.metastore = NULL;
    struct provenance_records *records = records_begin(&settings);
    known(records, "hhttp://a.example",
          "!UNSUPPORTED: <" QUERY_PROVENANCE "> is not known here: there is no metadata store");
    assert_int_equal(provenance_records_scan(records, SLICE("h"), none, NULL, NULL, &why),
                     STATUS_UNSUPPORTED);
    provenance_records_free(records);

    settings = settings_of(PLENTY);
    records = records_begin(&settings);
    told_calls("");
    told.opens = STATUS_SYSTEM;
    known(records, "hhttp://a.example", "!SYSTEM: no client");
    assert_int_equal(provenance_records_scan(records, SLICE("h"), none, NULL, NULL, &why),
                     STATUS_SYSTEM);
    told.opens = STATUS_OK;
    told_calls("open\nopen\n");
    /* One that failed is asked again. */
    for (told.waits = 0; told.waits < 2; told.waits++) {
        told.gets = STATUS_UNAVAILABLE;
        told.without_reason = true;
        known(records, "hhttp://b.example",
              told.waits == 0 ? "!UNAVAILABLE: metadata:"
                              : "!UNAVAILABLE: metadata: the disk is broken");
        told.without_reason = false;
        known(records, "hhttp://b.example", "!UNAVAILABLE: metadata: the disk is broken");
    }
    told.gets = STATUS_OK;
    told.scans = STATUS_PROTOCOL;
    assert_int_equal(provenance_records_scan(records, SLICE("x"), none, NULL, NULL, &why),
                     STATUS_PROTOCOL);
    assert_string_equal(why.text, "metadata: the scan broke");
    known(records, "hhttp://a.example", "http://a.example " P0 " \"robots");
    provenance_records_free(records);
}

/* What a store answers after it was given up is not looked at; it is asked for nothing more. */
static void
a_store_that_does_not_answer(void **state)
{
    (void)state;
    static const char *const slow = "!TIMEOUT: the metadata store does not answer",
                             *const gone = "!TIMEOUT: the metadata store has not answered",
                             *const late = "!TIMEOUT: the query took too long to read metadata",
                             *const cancelled = "!CANCELLED: the query was cancelled";
    struct reason why = {""};
    const struct slice none = {NULL, 0};
    for (int i = 0; i < 3; i++) {
        struct provenance_settings settings = settings_of(PLENTY);
        settings.timeout_ms = i == 1 ? 300 : 0;
        if (i == 0) {
            settings.cancel = NULL;
        }
        const uint64_t before = told.now;
        struct provenance_records *records = records_begin(&settings);
        known(records, "hhttp://a.example", "http://a.example " P0 " \"robots");
        told.waits = UINT32_MAX;
        atomic_store(&told.cancel, i == 2);
        known(records, "hhttp://b.example", i == 0 ? slow : i == 1 ? late : cancelled);
        assert_in_range(told.now - before,
                        i == 0   ? 30000
                        : i == 1 ? 300
                                 : 1,
                        i == 0   ? 31000
                        : i == 1 ? 1300
                                 : 1000);
        told_calls("open\nget 1: hhttp://a.example\nget 1: hhttp://b.example\n");
        known(records, "hhttp://b.example", gone);
        known(records, "hhttp://a.example", "http://a.example " P0 " \"robots");
        assert_int_equal(provenance_records_scan(records, SLICE("h"), none, NULL, NULL, &why),
                         STATUS_TIMEOUT);
        told_answer();
        known(records, "hhttp://b.example", gone);
        provenance_records_free(records);
        told_calls("");
        told.waits = 0;
        atomic_store(&told.cancel, false);
    }
}

/* The limits of a query hold from its beginning. */
static void
the_time_that_is_left(void **state)
{
    (void)state;
    struct reason why = {""};
    const struct slice none = {NULL, 0};
    struct provenance_settings settings = settings_of(PLENTY);
    settings.timeout_ms = 31000;
    struct provenance_records *records = records_begin(&settings);
    assert_int_equal(provenance_records_scan(records, SLICE("x"), none, NULL, NULL, &why),
                     STATUS_OK);
    told.now += 1000;
    (void)provenance_records_scan(records, SLICE("x"), SLICE("xa"), NULL, NULL, &why);
    told.now += 1;
    (void)provenance_records_scan(records, SLICE("x"), none, NULL, NULL, &why);
    told.now += 29998;
    assert_int_equal(provenance_records_check(records, &why), STATUS_OK);
    /* It ends between two looks at the clock. */
    told.ticks = 1;
    assert_int_equal(provenance_records_scan(records, SLICE("x"), none, NULL, NULL, &why),
                     STATUS_OK);
    told_calls("open\nscan x after '' 30000 ms\nscan x after 'xa' 30000 ms\n"
               "scan x after '' 29999 ms\nscan x after '' 1 ms\n");
    told.ticks = 0;
    told.now--;
    assert_int_equal(provenance_records_check(records, &why), STATUS_TIMEOUT);
    assert_string_equal(why.text, "the query took too long to read metadata");
    assert_int_equal(provenance_records_scan(records, SLICE("x"), none, NULL, NULL, &why),
                     STATUS_TIMEOUT);
    told_calls("");
    /* One that is cancelled is so at any time. */
    atomic_store(&told.cancel, true);
    assert_int_equal(provenance_records_check(records, &why), STATUS_CANCELLED);
    provenance_records_free(records);
}

/* ---- the query ---- */

static struct provenance *
for_query(const char *text, const struct query_options *options)
{
    static const struct metastore_client_options nowhere = {.name = "test"};
    struct query *query;
    struct reason why = {""};
    assert_int_equal(query_prepare(&query, slice_string(text), slice_of(NULL, 0), &why), STATUS_OK);
    provenance = provenance_for_query(query, &told_source, &nowhere, options);
    query_free(query);
    return provenance;
}

static void
queries_that_ask_for_it(void **state)
{
    (void)state;
    static const char *const names[] = {QUERY_PROVENANCE, "http://a.example/", "http://b.example/"};
    const size_t most = bytes_of(names, 2);
    struct reason why = {""};
    oid id;
    struct query_options options = {.cancel = &told.cancel, .timeout_ms = 300};
    begin();
    end();
    assert_null(for_query("SELECT * { ?s ?p <" QUERY_NAMESPACE "other> }", &options));
    assert_non_null(for_query("SELECT * { GRAPH <" QUERY_IDENTITY "> { ?s ?p ?o } }", &options));
    provenance_free(provenance);
    for (size_t less = 0; less < 3; less++) {
        options.memory = 2 * most - less;
        assert_non_null(
            for_query("SELECT * { GRAPH <" QUERY_PROVENANCE "> { ?s ?p ?o } }", &options));
        source = provenance_source(provenance);
        for (size_t i = 0; i < 3; i++) {
            const struct term term = term_iri(slice_string(names[i]));
            assert_int_equal(source->lookup(source->context, &term, &id, &why),
                             i == 2 && less > 0 ? STATUS_LIMIT : STATUS_OK);
        }
        provenance_free(provenance);
    }
    /* A usual amount is plenty; other limits are the query's. */
    options.memory = 0;
    begin_on(for_query("SELECT * { GRAPH <" QUERY_PROVENANCE "> { ?s ?p ?o } }", &options));
    rows("http://a.example", NULL, NULL, "http://a.example " P0 " \"robots\n");
    told.now += 299;
    rows(NULL, P0, "\"robots", "http://a.example " P0 " \"robots\n");
    told.now++;
    rows(NULL, P0, "\"robots", "!TIMEOUT: the query took too long to read metadata");
    atomic_store(&told.cancel, true);
    rows(NULL, P0, "\"robots", "!CANCELLED: the query was cancelled");
    end();
}

/* ---- all of it ---- */

static void
ask_much(void)
{
    struct provenance_settings settings = settings_of(PLENTY);
    struct reason why = {""};
    struct quad_oids found[8];
    uint32_t numbers[8];
    struct quad_scan *scan;
    size_t n;
    static struct quad_source many_source;
    many_source = told_source;
    many_source.scan_many = told_scan_many;
    many_source.scan_many_next = told_scan_many_next;
    settings.source = &many_source;
    begin_with(&settings);
    rows("http://a.example/2", NULL, NULL, "http://a.example/2 " P0 " _:p0fetch\n");
    rows("_:p0fetch", P1, NULL, "_:p0fetch " P1 " \"other\n");
    rows(NULL, P7, NULL,
         ARCHIVED " " P7 " http://known.example/5\nhttp://known.example/9 " P7
                  " http://known.example/5\n");
    (void)source->scan(source->context, &(struct quad_oids){.subject = 1}, ORDER_COUNT, &scan,
                       &why);
    source->scan_close(scan);
    const struct quad_oids patterns[] = {{id_of("http://a.example/2"), 0, 0, graph},
                                         {id_of("http://a.example/1"), 0, 0, graph},
                                         {1, 0, 0, 0}};
    for (size_t reads = 0; reads < 4; reads++) {
        (void)source->scan_many(source->context, patterns, 3, true, &scan, &why);
        for (size_t i = 0; i < reads; i++) {
            (void)source->scan_many_next(scan, found, numbers, 8, &n, &why);
        }
        source->scan_close(scan);
    }
    told.gets = STATUS_SYSTEM;
    rows("http://c.example/", NULL, NULL, "!SYSTEM: metadata: the disk is broken");
    told.gets = STATUS_OK;
    told.inner_scans = STATUS_SYSTEM;
    (void)source->scan(source->context, &(struct quad_oids){.subject = 1}, ORDER_COUNT, &scan,
                       &why);
    told.inner_scans = STATUS_OK;
    buf_reset(&told.calls);
    end();
}

static void
nothing_is_left_behind(void **state)
{
    (void)state;
    begin();
    end();
    assert_true(leaves_no_memory(ask_much));
    assert_int_equal(told.open, 0);
    assert_int_equal(told.clients, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, told_begin, told_end)

int
provenance_store(void)
{
    const struct CMUnitTest tests[] = {
        CASE(records_are_asked_for_together_and_once),
        CASE(records_are_forgotten),
        CASE(records_that_cannot_be_had),
        CASE(a_store_that_does_not_answer),
        CASE(the_time_that_is_left),
        CASE(queries_that_ask_for_it),
        CASE(nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
