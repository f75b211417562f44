/* The counters of all partitions together and the VoID description made of them
 * (index/client/client_statistics.c), and how many triples match a pattern where partitions have
 * the same ones (index/serve/answer_triples.c): three partitions say what one says. */
#include "tests/unit/index_service/served_partitions.h"

#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/protocol/triples_request.h"

enum { GRAPHS = 30, TRIPLES_EACH = 20, SHIFT = 7, MANY = 3000 };

static char folder[SCRATCH_SIZE];
static struct buf text, expected;

/* ---- partitions of the test ---- */

/* Stands in the place of each partition's stream; NULL: the streams are read. */
static const char *const *fakes;
static size_t fake_piece; /* bytes that come at once */
static unsigned fake_sets;

enum status __real_stream_pass_on(struct index_client *client, size_t partition,
                                  struct slice request, index_piece *piece, void *context,
                                  struct reason *why);
enum status __wrap_stream_pass_on(struct index_client *client, size_t partition,
                                  struct slice request, index_piece *piece, void *context,
                                  struct reason *why);

enum status
__wrap_stream_pass_on(struct index_client *client, size_t partition, struct slice request,
                      index_piece *piece, void *context, struct reason *why)
{
    if (fakes == NULL) {
        return __real_stream_pass_on(client, partition, request, piece, context, why);
    }
    assert_int_equal(request.length, 2);
    assert_int_equal(request.at[0], INDEX_STREAM_COUNTS);
    fake_sets += request.at[1] == 1;
    if (fakes[partition] == NULL) {
        return status_fail(why, STATUS_CORRUPT, "partition %zu is broken", partition);
    }
    struct slice rest = slice_string(fakes[partition]);
    while (rest.length > 0) {
        const size_t n = rest.length < fake_piece ? rest.length : fake_piece;
        /* A copy of its own, so that reading past its end is found. */
        char *const bytes = malloc(n);
        memcpy(bytes, rest.at, n);
        const enum status status = piece(context, slice_of(bytes, n), why);
        free(bytes);
        TRY(status);
        rest = slice_of(rest.at + n, rest.length - n);
    }
    return STATUS_OK;
}

static struct index_client *
client_of(size_t count)
{
    static const char *const endpoints[] = {"ipc:///nonexistent/0", "ipc:///nonexistent/1",
                                            "ipc:///nonexistent/2"};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = count, .name = "test"};
    struct index_client *client;
    struct reason why = {""};
    must(index_client_open(&client, &options, &why), &why);
    return client;
}

static void
write_counts(const struct index_counts *counts, struct buf *out)
{
    static const char kinds[] = "CHPST";
    buf_reset(out);
    for (size_t k = 0; k < strlen(kinds); k++) {
        size_t n;
        const struct index_count *items = index_counts_of(counts, kinds[k], &n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(items[i].kind, kinds[k]);
            (void)buf_printf(out, "%c", items[i].kind);
            for (size_t j = 0; j < items[i].n; j++) {
                (void)buf_printf(out, "%c%lu", j == 0 ? '\t' : ' ',
                                 (unsigned long)items[i].numbers[j]);
            }
            (void)buf_printf(out, "\t%.*s\n", SLICE_PRINT(items[i].name));
        }
    }
}

/* ---- sums ---- */

static const char *const usual[] = {
    "T\t10\tquads\nT\t4\tdocuments\nH\t10 4\tone.example\nP\t6 3\t<a:q>\nP\t4 4\t<a:p>\n"
    "C\t2\t<a:T>\nS\t3 30 31\t<a:q> <a:p>\nS\t1 9\t<a:q>\n",
    "T\t5\tquads\nT\t2\tdocuments\nT\t7\tsubjects\nH\t5 2\ttwo.example\nH\t1 1\tone.example\n"
    "P\t5 2\t<a:p>\nC\t1\t_:b\nS\t2 20 22\t<a:p> <a:q>\nS\t4 4 5 6\t<a:q> <a:r> <a:p>\n",
    ""};

#define SUMS                                                                                 \
    "C\t2\t<a:T>\nC\t1\t_:b\nH\t11 5\tone.example\nH\t5 2\ttwo.example\nP\t9 6\t<a:p>\n"     \
    "P\t6 3\t<a:q>\nS\t5 51 52\t<a:p> <a:q>\nS\t4 6 4 5\t<a:p> <a:q> <a:r>\nS\t1 9\t<a:q>\n" \
    "T\t6\tdocuments\nT\t15\tquads\nT\t7\tsubjects\n"

/* Equal names add up number by number, sets in whatever order their predicates are told. */
static void
counters_of_partitions_add_up(void **state)
{
    static const size_t pieces[] = {1, 7, 1 << 20};
    (void)state;
    struct index_client *client = client_of(3);
    fakes = usual;
    fake_sets = 0;
    for (size_t i = 0; i < 3; i++) {
        struct index_counts *counts;
        struct reason why = {""};
        fake_piece = pieces[i];
        must(index_counts_get(client, true, &counts, &why), &why);
        write_counts(counts, &text);
        assert_string_equal(text.data, SUMS);
        size_t n;
        (void)index_counts_of(counts, 'X', &n);
        assert_int_equal(n, 0);
        index_counts_free(counts);
    }
    assert_int_equal(fake_sets, 9);
    fakes = NULL;
    index_client_close(client);
}

static void
malformed_counters_are_refused(void **state)
{
    static const char *const malformed[] = {"\n",
                                            "T\n",
                                            "T\t\n",
                                            "T\t5\n",
                                            "T 5\tquads\n",
                                            "T\t5 quads\n",
                                            "T\t5  quads\n",
                                            "T\t5x\tquads\n",
                                            "\t5\tquads\n5\n",
                                            "T\t5\tquads\nT\txy\n"};
    (void)state;
    struct index_client *client = client_of(1);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct index_counts *counts;
        struct reason why = {""};
        fakes = &malformed[i];
        for (fake_piece = 1; fake_piece < 16; fake_piece *= 5) {
            if (index_counts_get(client, false, &counts, &why) != STATUS_PROTOCOL) {
                fail_msg("taken: %s", malformed[i]);
            }
            assert_null(counts);
            assert_non_null(strstr(why.text, "malformed counters"));
        }
    }
    fakes = NULL;
    index_client_close(client);
}

/* A line may be long, but has an end; and there are at most so many numbers of one. */
static void
counters_are_bounded(void **state)
{
    enum { LONGEST = 64 << 20, NUMBERS = 64 };
    (void)state;
    struct index_client *client = client_of(1);
    struct index_counts *counts;
    struct reason why = {""};
    char *const line = malloc(LONGEST + 16);
    const char *const lines[] = {line};
    fakes = lines;
    fake_piece = 1 << 20;
    memset(line, 'x', LONGEST + 15);
    line[LONGEST + 15] = '\0';
    assert_int_equal(index_counts_get(client, false, &counts, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "too long"));
    for (size_t count = NUMBERS; count <= NUMBERS + 1; count++) {
        size_t length = (size_t)sprintf(line, "S\t1");
        for (size_t i = 1; i < count; i++) {
            length += (size_t)sprintf(line + length, " %zu", i);
        }
        (void)sprintf(line + length, "\tname\n");
        const enum status status = index_counts_get(client, true, &counts, &why);
        assert_int_equal(status, count == NUMBERS ? STATUS_OK : STATUS_PROTOCOL);
        if (status == STATUS_OK) {
            size_t n;
            const struct index_count *sets = index_counts_of(counts, INDEX_COUNT_SET, &n);
            assert_int_equal(n, 1);
            assert_int_equal(sets->n, NUMBERS);
            assert_int_equal(sets->numbers[NUMBERS - 1], NUMBERS - 1);
        }
        index_counts_free(counts);
    }
    free(line);
    fakes = NULL;
    index_client_close(client);
}

static void
a_partition_that_fails_fails_all(void **state)
{
    static const char *const broken[] = {"T\t1\tquads\n", NULL, "T\t1\tquads\n"};
    const struct index_void_options options = {.dataset = "a:b"};
    (void)state;
    struct index_client *client = client_of(3);
    struct index_counts *counts;
    struct reason why = {""};
    fakes = broken;
    assert_int_equal(index_counts_get(client, false, &counts, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "partition 1 is broken");
    assert_null(counts);
    buf_reset(&text);
    assert_int_equal(index_void(client, &options, &text, &why), STATUS_CORRUPT);
    assert_int_equal(text.length, 0);
    fakes = NULL;
    index_client_close(client);
}

/* ---- VoID ---- */

#define VOID_PREFIXES                                                    \
    "@prefix void: <http://rdfs.org/ns/void#> .\n"                       \
    "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .\n" \
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"               \
    "@prefix q: <urn:x-quadrille:void#> .\n\n"

static const char whole_void[] = VOID_PREFIXES
    "<http://d.example/#data> a void:Dataset ;\n"
    "    void:triples 15 ;\n"
    "    void:documents 6 ;\n"
    "    void:properties 2 ;\n"
    "    void:classes 1 ;\n"
    "    q:documentSubjects 7 ;\n"
    "    q:hosts 2 ;\n"
    "    void:sparqlEndpoint <http://d.example/sparql> ;\n"
    "    void:propertyPartition\n"
    "        [ void:property <a:p> ; void:triples 9 ; q:documentSubjects 6 ] ,\n"
    "        [ void:property <a:q> ; void:triples 6 ; q:documentSubjects 3 ] ;\n"
    "    void:classPartition\n"
    "        [ void:class <a:T> ; void:entities 2 ] .\n"
    "\n[] a sd:Service ;\n"
    "    sd:endpoint <http://d.example/sparql> ;\n"
    "    sd:supportedLanguage sd:SPARQL11Query ;\n"
    "    sd:feature sd:UnionDefaultGraph ;\n"
    "    sd:propertyFeature <urn:x-quadrille:query#matches> .\n"
    "\n<http://d.example/#data> <http://xmlns.com/foaf/0.1/page> <http://d.example/search> .\n";

static const char empty_void[] = VOID_PREFIXES "<#data> a void:Dataset ;\n"
                                               "    void:triples 0 ;\n"
                                               "    void:documents 0 ;\n"
                                               "    void:properties 0 ;\n"
                                               "    void:classes 0 ;\n"
                                               "    q:documentSubjects 0 ;\n"
                                               "    q:hosts 0 .\n";

static void
the_description_says_what_the_counters_say(void **state)
{
    static const char *const empty[] = {"", "", ""};
    (void)state;
    struct index_client *client = client_of(3);
    struct index_void_options options = {.dataset = "http://d.example/#data",
                                         .endpoint = "http://d.example/sparql",
                                         .search = "http://d.example/search"};
    struct reason why = {""};
    struct buf small;
    fakes = usual;
    fake_piece = 64;
    fake_sets = 0;
    buf_reset(&text);
    must(index_void(client, &options, &text, &why), &why);
    assert_string_equal(text.data, whole_void);
    buf_init(&small, sizeof whole_void - 2);
    assert_int_equal(index_void(client, &options, &small, &why), STATUS_LIMIT);
    buf_release(&small);
    options = (struct index_void_options){.dataset = "#data"};
    fakes = empty;
    buf_reset(&text);
    must(index_void(client, &options, &text, &why), &why);
    assert_string_equal(text.data, empty_void);
    assert_int_equal(fake_sets, 0);
    fakes = NULL;
    index_client_close(client);
}

/* ---- partitions that share triples ---- */

/* Graph i has the triples i*SHIFT .. i*SHIFT+TRIPLES_EACH-1, modulo a number that makes them meet.
 */
static void
put_graph(void *context, unsigned graph, const char *uri, struct buf *quads)
{
    const unsigned *different = context;
    for (unsigned i = 0; i < TRIPLES_EACH; i++) {
        const unsigned n = (graph * SHIFT + i) % *different;
        (void)buf_printf(quads, "<a:s%u> <a:p%u> %s%u%s <%s> .\n", n, n % 3, n % 2 ? "<a:o" : "\"",
                         n / 2, n % 2 ? ">" : "\"^^<http://www.w3.org/2001/XMLSchema#integer>",
                         uri);
    }
}

static void
fill(struct served *served, unsigned different)
{
    served_fill(served, GRAPHS, put_graph, &different);
}

static void
answer_of(struct served *served, const char *sparql, struct buf *out)
{
    const struct index_query_options options = {0};
    struct reason why = {""};
    buf_reset(out);
    if (index_query(served->client, slice_string(sparql), "csv", &options, fixture_append, out,
                    &why) != STATUS_OK) {
        fail_msg("%s: %s", sparql, why.text);
    }
}

static const char *const countings[] = {
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s <a:p1> ?o }",
    "SELECT (COUNT(*) AS ?n) { <a:s3> ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p <a:o3> }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p 4 }",
    "SELECT (COUNT(*) AS ?n) { ?s <a:none> ?o }",
    "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s ORDER BY ?s",
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?p",
    "SELECT ?o (COUNT(*) AS ?n) { ?s <a:p2> ?o } GROUP BY ?o ORDER BY STR(?o)",
    "SELECT ?o (COUNT(*) AS ?n) { ?s <a:none> ?o } GROUP BY ?o",
};

static const char *const first_answers[] = {"n\r\n50\r\n", "n\r\n17\r\n", "n\r\n1\r\n",
                                            "n\r\n1\r\n",  "n\r\n1\r\n",  "n\r\n0\r\n"};

static void
shared_triples_are_counted_once(void **state)
{
    (void)state;
    struct served one, three;
    served_start(&one, folder, 1);
    served_start(&three, folder, 3);
    fill(&one, 50);
    fill(&three, 50);
    for (size_t i = 0; i < sizeof countings / sizeof *countings; i++) {
        answer_of(&one, countings[i], &expected);
        answer_of(&three, countings[i], &text);
        assert_string_equal(text.data, expected.data);
        if (i < sizeof first_answers / sizeof *first_answers) {
            assert_string_equal(text.data, first_answers[i]);
        }
    }
    served_stop(&one);
    served_stop(&three);
}

static void
partitions_count_what_one_counts(void **state)
{
    (void)state;
    struct served served;
    for (size_t count = 1; count <= 3; count += 2) {
        struct index_counts *counts;
        struct reason why = {""};
        size_t n;
        served_start(&served, folder, count);
        fill(&served, 50);
        must(index_counts_get(served.client, true, &counts, &why), &why);
        struct index_count *totals =
            (struct index_count *)(uintptr_t)index_counts_of(counts, INDEX_COUNT_TOTAL, &n);
        for (size_t i = 0; i < n; i++) {
            if (slice_is(totals[i].name, "terms") || slice_is(totals[i].name, "literals")) {
                totals[i].numbers[0] = 0; /* each partition has its own */
            }
        }
        write_counts(counts, count == 1 ? &expected : &text);
        assert_int_equal(index_counts_of(counts, INDEX_COUNT_PREDICATE, &n)->numbers[0],
                         GRAPHS * TRIPLES_EACH / 3 + 4);
        assert_int_equal(n, 3);
        index_counts_free(counts);
        served_stop(&served);
    }
    assert_string_equal(text.data, expected.data);
    assert_non_null(strstr(text.data, "T\t600\tquads\n"));
    assert_non_null(strstr(text.data, "T\t30\tdocuments\n"));
}

/* ---- the stream itself ---- */

static void
begin_request(struct buf *request, uint8_t form, const struct term *predicate)
{
    static const struct term any = {.kind = TERM_NONE};
    buf_reset(request);
    codec_put_u8(request, INDEX_STREAM_TRIPLES);
    codec_put_u64(request, 0);
    codec_put_u8(request, 0);
    codec_put_u8(request, form);
    index_put_term(request, &any);
    index_put_term(request, predicate != NULL ? predicate : &any);
    index_put_term(request, &any);
}

static enum status
ask(struct served *served, size_t partition, const struct buf *request, struct buf *reply,
    struct reason *why)
{
    buf_reset(reply);
    client_begin(served->client, INDEX_PARTIAL_ERROR, 0, NULL);
    return stream_pass_on(served->client, partition, buf_slice(request), fixture_append, reply,
                          why);
}

struct printed {
    uint64_t fingerprint, number;
};

static size_t
fingerprints_of(struct served *served, size_t partition, struct printed *printed)
{
    struct buf request;
    struct reason why = {""};
    size_t n = 0;
    buf_init(&request, 1 << 20);
    begin_request(&request, TRIPLES_FINGERPRINTS, NULL);
    must(ask(served, partition, &request, &text, &why), &why);
    struct codec_reader in = codec_reader_of(buf_slice(&text));
    assert_int_equal(codec_get_u8(&in), TRIPLES_KNOWN);
    while (!codec_at_end(&in)) {
        assert_true(n < MANY && !in.bad);
        printed[n].fingerprint = codec_get_u64(&in);
        printed[n].number = codec_get_varint(&in);
        assert_true(n == 0 || printed[n - 1].fingerprint <= printed[n].fingerprint);
        n++;
    }
    buf_release(&request);
    return n;
}

static int
compare_numbers(const void *a, const void *b)
{
    const struct printed *left = a, *right = b;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* The triples of all rows, in their order, a line each in out. */
static void
all_rows(struct served *served, size_t partition, size_t count, struct buf *out)
{
    struct buf request;
    struct reason why = {""};
    struct slice *names = calloc(3 * count + 1, sizeof *names);
    char(*inlines)[OID_INLINE_TEXT] = calloc(3 * count + 1, sizeof *inlines);
    size_t name_count = 0;
    buf_init(&request, 1 << 20);
    begin_request(&request, TRIPLES_ROWS, NULL);
    codec_put_varint(&request, count);
    for (size_t i = 0; i < count; i++) {
        codec_put_varint(&request, i > 0);
    }
    must(ask(served, partition, &request, &text, &why), &why);
    struct codec_reader in = codec_reader_of(buf_slice(&text));
    buf_reset(out);
    for (size_t i = 0; i < 3 * count; i++) {
        const uint64_t name = codec_get_varint(&in);
        size_t at = name - INDEX_NAME_FIRST;
        if (name == INDEX_NAME_NEW) {
            const oid id = codec_get_u64(&in);
            struct term term = {.kind = TERM_NONE};
            at = name_count++;
            if (index_name_has_term(id)) {
                assert_true(index_get_term(&in, &term));
            } else {
                assert_true(oid_inline_term(id, inlines[at], &term));
            }
            names[at] = term.value;
        }
        assert_true(!in.bad && at < name_count);
        (void)buf_printf(out, "%.*s%c", SLICE_PRINT(names[at]), i % 3 < 2 ? ' ' : '\n');
    }
    assert_true(codec_at_end(&in));
    free(names);
    free(inlines);
    buf_release(&request);
}

static size_t
line_end(const struct buf *lines, size_t at)
{
    return at + slice_find(slice_of(lines->data + at, lines->length - at), '\n') + 1;
}

/* Equal triples have equal fingerprints, in other partitions as well, and different ones have
 * different ones; each row has its number once. */
static void
fingerprints_are_those_of_the_triples(void **state)
{
    enum { DIFFERENT = 50 };
    (void)state;
    static struct printed printed[MANY];
    static uint64_t of_triple[DIFFERENT];
    struct served served;
    struct buf rows;
    size_t total = 0;
    memset(of_triple, 0, sizeof of_triple);
    buf_init(&rows, 1 << 20);
    served_start(&served, folder, 3);
    fill(&served, DIFFERENT);
    for (size_t p = 0; p < 3; p++) {
        const size_t count = fingerprints_of(&served, p, printed);
        total += count;
        qsort(printed, count, sizeof *printed, compare_numbers);
        all_rows(&served, p, count, &rows);
        size_t at = 0;
        for (size_t i = 0; i < count; i++) {
            unsigned triple;
            char line[64];
            assert_int_equal(printed[i].number, i);
            assert_int_equal(sscanf(rows.data + at, "a:s%u ", &triple), 1);
            assert_true(triple < DIFFERENT);
            snprintf(line, sizeof line, "a:s%u a:p%u %s%u\n", triple, triple % 3,
                     triple % 2 ? "a:o" : "", triple / 2);
            assert_memory_equal(rows.data + at, line, strlen(line));
            if (of_triple[triple] == 0) {
                of_triple[triple] = printed[i].fingerprint;
            }
            assert_true(of_triple[triple] == printed[i].fingerprint);
            at = line_end(&rows, at);
        }
        assert_int_equal(at, rows.length);
    }
    assert_int_equal(total, GRAPHS * TRIPLES_EACH);
    for (size_t i = 0; i < DIFFERENT; i++) {
        assert_true(of_triple[i] != 0);
        for (size_t k = 0; k < i; k++) {
            assert_true(of_triple[i] != of_triple[k]);
        }
    }
    buf_release(&rows);
    served_stop(&served);
}

/* Those that are wanted are found among many rows, over several steps of the scan. */
static void
rows_are_named_by_number(void **state)
{
    (void)state;
    static const unsigned wanted[] = {0, 1, 1022, 1023, 1024, 1025, 2047, 2048, MANY - 1};
    enum { WANTED = sizeof wanted / sizeof *wanted };
    struct served served;
    struct buf quads, request, all;
    struct reason why = {""};
    buf_init(&quads, 1 << 24);
    buf_init(&request, 1 << 20);
    buf_init(&all, 1 << 24);
    for (unsigned i = 0; i < MANY; i++) {
        (void)buf_printf(&quads, "<a:s%04u> <a:p> <a:o> <http://host1.example/document/1> .\n", i);
    }
    served_start(&served, folder, 1);
    struct index_batch *batch = index_batch_new(served.partitions[0]);
    fixture_add(batch, 1, 1, &quads);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    all_rows(&served, 0, MANY, &all);
    assert_int_equal(all.length, MANY * strlen("a:s0000 a:p a:o\n"));
    begin_request(&request, TRIPLES_ROWS, NULL);
    codec_put_varint(&request, WANTED);
    for (size_t i = 0; i < WANTED; i++) {
        codec_put_varint(&request, i == 0 ? wanted[0] : wanted[i] - wanted[i - 1]);
    }
    must(ask(&served, 0, &request, &text, &why), &why);
    for (size_t i = 0; i < WANTED; i++) {
        char name[8];
        memcpy(name, all.data + wanted[i] * strlen("a:s0000 a:p a:o\n"), 7);
        name[7] = '\0';
        assert_non_null(memmem(text.data, text.length, name, 7));
    }
    buf_release(&quads);
    buf_release(&request);
    buf_release(&all);
    served_stop(&served);
}

static void
check_malformed(struct served *served, const struct buf *request, enum status status)
{
    struct reason why = {""};
    assert_int_equal(ask(served, 0, request, &text, &why), status);
    if (status != STATUS_OK) {
        assert_non_null(strstr(why.text, "a request for triples is malformed"));
    }
}

static void
malformed_requests_are_refused(void **state)
{
    static const struct term unknown = {.kind = TERM_IRI, .value = SLICE_INIT("a:unknown")};
    (void)state;
    struct served served;
    struct buf request;
    struct reason why = {""};
    buf_init(&request, 1 << 20);
    served_start(&served, folder, 1);
    fill(&served, 50);
    begin_request(&request, TRIPLES_ROWS + 1, NULL);
    check_malformed(&served, &request, STATUS_PROTOCOL);
    begin_request(&request, TRIPLES_FINGERPRINTS, &unknown);
    for (request.length -= 1; request.length > 10; request.length--) {
        check_malformed(&served, &request, STATUS_PROTOCOL);
    }
    /* Each is refused: the same row twice; one past the last; fewer than announced; more than
     * announced. */
    static const uint64_t numbers[][4] = {
        {2, 5, 0, 0}, {1, GRAPHS * TRIPLES_EACH, 0, 0}, {3, 5, 1, 1}, {1, 5, 0, 0}};
    static const size_t lengths[] = {3, 2, 3, 3};
    for (size_t i = 0; i < 4; i++) {
        begin_request(&request, TRIPLES_ROWS, NULL);
        for (size_t k = 0; k < lengths[i]; k++) {
            codec_put_varint(&request, numbers[i][k]);
        }
        check_malformed(&served, &request, STATUS_PROTOCOL);
    }
    begin_request(&request, TRIPLES_ROWS, NULL);
    codec_put_varint(&request, 1);
    codec_put_varint(&request, GRAPHS * TRIPLES_EACH - 1);
    check_malformed(&served, &request, STATUS_OK);
    /* No triple here has this. */
    begin_request(&request, TRIPLES_FINGERPRINTS, &unknown);
    must(ask(&served, 0, &request, &text, &why), &why);
    assert_int_equal(text.length, 1);
    assert_int_equal(text.data[0], TRIPLES_KNOWN);
    begin_request(&request, TRIPLE_ALL, &unknown);
    must(ask(&served, 0, &request, &text, &why), &why);
    assert_int_equal(text.length, 17);
    assert_int_equal(text.data[0], TRIPLES_KNOWN);
    buf_release(&request);
    served_stop(&served);
}

/* ---- setup ---- */

static int
make_folder(void **state)
{
    (void)state;
    buf_init(&text, SERVED_ANSWER);
    buf_init(&expected, SERVED_ANSWER);
    return scratch_folder(folder, "counts") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    buf_release(&text);
    buf_release(&expected);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    index_counts_free(NULL);
    index_client_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counters_of_partitions_add_up),
        TEST(malformed_counters_are_refused),
        TEST(counters_are_bounded),
        TEST(a_partition_that_fails_fails_all),
        TEST(the_description_says_what_the_counters_say),
        TEST(shared_triples_are_counted_once),
        TEST(partitions_count_what_one_counts),
        TEST(fingerprints_are_those_of_the_triples),
        TEST(rows_are_named_by_number),
        TEST(malformed_requests_are_refused),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
