/* What verifying a partition reports (index/maintenance/): every line of it, of an index that is
 * well, of counts that are made wrong one at a time, and while batches come between its steps. */
#include "tests/unit/index_parts/index_parts.h"

#include "tests/unit/index/index_fixture.h"

#include "base/codec.h"
#include "index/maintenance/backup.h"
#include "index/write/partition_state.h"

enum { CACHE = 4 << 20, REPORT_MOST = 1 << 16 };

static char folder[SCRATCH_SIZE];
static struct partition *partition;
static struct reason why;
static struct buf report;
static void (*meanwhile)(void); /* is called once, between two steps */
static bool words_left_out;     /* they are looked at before that */

static void
put(const char *uri, uint64_t generation, bool removed, const char *nquads)
{
    struct index_batch *batch = index_batch_new(partition);
    const struct index_document document = {
        .uri = slice_string(uri), .generation = generation, .removed = removed};
    size_t number;
    must(index_batch_add(batch, &document, slice_string(nquads), &number, &why), &why);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

static const char first_document[] =
    "<http://s.example/1> <http://p.example/p> \"some words\" .\n"
    "<http://s.example/1> <http://p.example/p> <http://s.example/2> .\n"
    "<http://s.example/1> <http://p.example/q> \"12\" .\n"
    "<http://s.example/2> "
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    "<http://c.example/C> .\n";
static const char second_document[] =
    "<http://s.example/1> <http://p.example/p> \"other words\" .\n";

int
open_verified(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "verify_reports"));
    partition = fixture_open(folder, CACHE);
    buf_init(&report, REPORT_MOST);
    put("http://one.example/1", 1, false, first_document);
    put("http://two.example/2", 1, false, second_document);
    must(partition_settle(partition, &why), &why);
    return 0;
}

int
close_verified(void **state)
{
    (void)state;
    partition_close(partition);
    buf_release(&report);
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

static enum status
take_line(void *context, struct slice line, struct reason *reason)
{
    (void)context;
    (void)reason;
    assert_true(line.length > 0 && line.at[line.length - 1] == '\n');
    /* How many pages there are is the library's affair. */
    if (memcmp(line.at, "pages:", 6) != 0 &&
        !(words_left_out && memcmp(line.at, "literals:", 9) == 0)) {
        (void)buf_append_slice(&report, line);
    }
    if (meanwhile != NULL && memcmp(line.at, "change log:", 11) == 0) {
        void (*const once)(void) = meanwhile;
        meanwhile = NULL;
        once();
    }
    return STATUS_OK;
}

static enum status
verify(void)
{
    const atomic_bool cancel = false;
    buf_reset(&report);
    const enum status status =
        partition_verify(partition, folder, 1 << 20, &cancel, take_line, NULL, &why);
    (void)buf_append_char(&report, '\0');
    return status;
}

static const char well[] = "change log: 2 batches\n"
                           "lexicon: 11 terms, each way\n"
                           "literals: words of 3, each way\n"
                           "trees: 5 quads in each of six orders\n"
                           "documents: 2 with 5 quads, digests recomputed\n"
                           "statistics: 3 of kind predicate\n"
                           "statistics: 1 of kind class\n"
                           "statistics: 2 hosts; 3 subjects in 3 sets of predicates\n";

void
what_is_well_is_reported(void **state)
{
    (void)state;
    assert_int_equal(verify(), STATUS_OK);
    assert_string_equal(report.data, well);
}

/* ---- batches that come between ---- */

static void
change_much(void)
{
    put("http://one.example/1", 2, false,
        "<http://s.example/1> <http://p.example/p> \"some words\" .\n"
        "<http://s.example/1> <http://p.example/r> \"new words\" .\n"
        "<http://s.example/3> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://c.example/D> .\n");
    put("http://three.example/3", 1, false,
        "<http://s.example/1> <http://p.example/q> \"12\" .\n"
        "<http://s.example/4> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://c.example/D> .\n");
    put("http://two.example/2", 2, true, "");
}

static void
remove_everything(void)
{
    put("http://one.example/1", 3, true, "");
    put("http://three.example/3", 2, true, "");
}

static void
come_back(void)
{
    put("http://two.example/2", 3, false, second_document);
    put("http://two.example/4", 1, false, first_document);
}

/* A subject with more predicates than a set that is held has. */
static void
become_large(void)
{
    struct buf text;
    buf_init(&text, 1 << 14);
    for (unsigned i = 0; i <= SET_PREDICATES_MOST; i++) {
        (void)buf_printf(&text, "<http://s.example/1> <http://p.example/%u> \"12\" .\n", i);
    }
    (void)buf_append_char(&text, '\0');
    put("http://large.example/", 1, false, text.data);
    buf_release(&text);
}

static void
nothing_new(void)
{
    put("http://two.example/2", 4, false, second_document);
}

/* The line of the change log is the one that may tell of before. */
static const char *
after_the_log(void)
{
    assert_memory_equal(report.data, "change log:", 11);
    return strchr(report.data, '\n') + 1;
}

void
what_comes_between_is_counted(void **state)
{
    static void (*const changes[])(void) = {change_much, remove_everything, come_back, become_large,
                                            nothing_new};
    char before[4096];
    (void)state;
    words_left_out = true;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        meanwhile = changes[i];
        if (verify() != STATUS_OK) {
            fail_msg("change %zu: %s", i, report.data);
        }
        assert_null(meanwhile);
        snprintf(before, sizeof before, "%s", after_the_log());
        assert_int_equal(verify(), STATUS_OK);
        assert_string_equal(before, after_the_log());
    }
    words_left_out = false;
}

/* ---- counts that are wrong ---- */

/* The report has the lines, in this order, and tells that so many things are wrong. */
static void
expect_wrong(unsigned things, const char *const *lines)
{
    char end[64];
    const char *at;
    assert_int_equal(verify(), STATUS_CORRUPT);
    at = report.data;
    for (unsigned i = 0; i < things; i++) {
        const char *found = strstr(at, "wrong: ");
        if (found == NULL || strncmp(found + 7, lines[i], strlen(lines[i])) != 0 ||
            found[7 + strlen(lines[i])] != '\n') {
            fail_msg("\"%s\" is not the next line in:\n%s", lines[i], report.data);
        }
        at = found + 7;
    }
    assert_null(strstr(at, "wrong: "));
    snprintf(end, sizeof end, ": %u things are wrong", things);
    assert_non_null(strstr(why.text, end));
}

static oid
id_of(const char *iri)
{
    struct partition_reader *reader;
    oid id = OID_NONE;
    const struct term term = {.kind = TERM_IRI, .value = slice_string(iri)};
    must(partition_reader_open(&reader, partition, &why), &why);
    const struct quad_source *source = partition_reader_source(reader);
    must(source->lookup(source->context, &term, &id, &why), &why);
    partition_reader_close(reader);
    assert_true(id != OID_NONE);
    return id;
}

/* Writes numbers into the tree of statistics; n 0: takes the record away. */
static void
put_numbers(struct slice key, const uint64_t *numbers, size_t n)
{
    struct transaction *transaction;
    must(transaction_begin(&transaction, partition->environment, 0, &why), &why);
    latch_enter_writing(tree_latch(partition->statistics));
    must(n > 0 ? statistics_write(partition->statistics, transaction, key, numbers, n, &why)
               : tree_delete(partition->statistics, transaction, key, &why),
         &why);
    latch_leave(tree_latch(partition->statistics));
    must(transaction_commit(transaction, &why), &why);
}

/* Makes numbers wrong, sees what is said, and makes them right. */
static void
with_numbers(struct slice key, uint64_t a, uint64_t b, size_t n, unsigned things,
             const char *const *lines)
{
    uint64_t right[2];
    const uint64_t wrong[] = {a, b};
    const size_t count = key.at[0] == STATISTIC_CLASS ? 1 : 2;
    const bool there = statistics_read(partition->statistics, key, right, count, &why) == STATUS_OK;
    put_numbers(key, wrong, n);
    expect_wrong(things, lines);
    put_numbers(key, right, there ? count : 0);
}

void
wrong_counts_are_named(void **state)
{
    uint8_t key[STATISTIC_KEY_SIZE];
    char lines[4][128];
    const char *const said[] = {lines[0], lines[1], lines[2], lines[3]};
    (void)state;
    const oid predicate = id_of("http://p.example/p"), class = id_of("http://c.example/C"),
              other = id_of("http://s.example/1");
    const struct slice p = statistic_key(STATISTIC_PREDICATE, predicate, key);
    snprintf(lines[0], 128, "predicate %u has 3 quads, counted 4", (unsigned)oid_number(predicate));
    with_numbers(p, 4, 2, 2, 1, said);
    snprintf(lines[0], 128, "2 subjects have predicate %u, counted 3",
             (unsigned)oid_number(predicate));
    with_numbers(p, 3, 3, 2, 1, said);
    snprintf(lines[0], 128, "2 counts for 3 of kind predicate");
    snprintf(lines[1], 128, "2 subjects have predicate %u, counted 0",
             (unsigned)oid_number(predicate));
    with_numbers(p, 0, 0, 0, 2, said);
    const struct slice c = statistic_key(STATISTIC_CLASS, class, key);
    snprintf(lines[0], 128, "class %u has 1 quads, counted 2", (unsigned)oid_number(class));
    with_numbers(c, 2, 0, 1, 1, said);
    const struct slice o = statistic_key(STATISTIC_CLASS, other, key);
    snprintf(lines[0], 128, "class %u has 0 quads, counted 7", (unsigned)oid_number(other));
    snprintf(lines[1], 128, "2 counts for 1 of kind class");
    with_numbers(o, 7, 0, 1, 2, said);
    snprintf(lines[0], 128, "host one.example has 1 documents, 4 quads, counted 2, 4");
    with_numbers(SLICE("Hone.example"), 2, 4, 2, 1, said);
    snprintf(lines[0], 128, "host one.example has 1 documents, 4 quads, counted 1, 5");
    with_numbers(SLICE("Hone.example"), 1, 5, 2, 1, said);
    snprintf(lines[0], 128, "2 hosts, counted 1");
    with_numbers(SLICE("Hone.example"), 0, 0, 0, 1, said);
    snprintf(lines[0], 128, "host none.example has 0 documents, 0 quads, counted 1, 1");
    snprintf(lines[1], 128, "2 hosts, counted 3");
    with_numbers(SLICE("Hnone.example"), 1, 1, 2, 2, said);
    assert_int_equal(verify(), STATUS_OK);
    assert_string_equal(report.data, well);
}

/* Adds a difference to the sets that are held, and takes it away again. */
static void
with_set(const oid *predicates, size_t count, int64_t subjects, int64_t rows, unsigned things,
         const char *const *lines)
{
    for (int sign = 1; sign >= -1; sign -= 2) {
        struct predicate_sets differences = {0};
        struct predicate_set *set = predicate_sets_add(&differences, predicates, count);
        struct transaction *transaction;
        set->subjects = sign * subjects;
        for (size_t i = 0; i < count; i++) {
            differences.rows[set->first + i] = sign * rows;
        }
        must(transaction_begin(&transaction, partition->environment, 0, &why), &why);
        latch_enter_writing(tree_latch(partition->statistics));
        must(characteristic_sets_apply(partition->sets, transaction, &differences, &why), &why);
        latch_leave(tree_latch(partition->statistics));
        must(transaction_commit(transaction, &why), &why);
        predicate_sets_release(&differences);
        if (sign == 1) {
            expect_wrong(things, lines);
        }
    }
}

void
wrong_sets_are_named(void **state)
{
    oid p[SET_PREDICATES_MOST + 1] = {id_of("http://p.example/p")};
    static const char *const subjects[] = {
        "a set of 1 predicates has 1 subjects or other rows, counted 2",
        "3 subjects, 0 and 0 of them in no set held; counted 4, 0, 0"};
    static const char *const rows[] = {
        "a set of 1 predicates has 1 subjects or other rows, counted 1"};
    static const char *const more[] = {
        "3 sets of predicates have subjects, counted 4",
        "3 subjects, 0 and 0 of them in no set held; counted 4, 0, 0"};
    static const char *const large[] = {
        "3 subjects, 0 and 0 of them in no set held; counted 5, 2, 0"};
    (void)state;
    with_set(p, 1, 1, 0, 2, subjects);
    with_set(p, 1, 0, 1, 1, rows);
    for (unsigned i = 1; i <= SET_PREDICATES_MOST; i++) {
        p[i] = p[0] + 8 * i;
    }
    with_set(p, 3, 1, 1, 2, more);
    with_set(p, SET_PREDICATES_MOST + 1, 2, 2, 1, large);
    assert_int_equal(verify(), STATUS_OK);
    assert_string_equal(report.data, well);
}

void
verifying_can_be_ended(void **state)
{
    const atomic_bool cancel = true;
    (void)state;
    assert_int_equal(partition_verify(partition, folder, 1 << 20, &cancel, take_line, NULL, &why),
                     STATUS_CANCELLED);
    assert_int_equal(verify(), STATUS_OK);
}

/* ---- backups ---- */

enum { FRAMES_MOST = 1 << 24 };

static struct buf frames;
static unsigned pieces, refused_piece; /* the one that is not taken; 0: none */

static enum status
take_piece(void *context, struct slice bytes, struct reason *reason)
{
    (void)context;
    if (++pieces == refused_piece) {
        return status_fail(reason, STATUS_FULL, "no room");
    }
    if (pieces == 1) { /* one backup at a time */
        struct reason other = {""};
        assert_int_equal(partition_backup(partition, take_piece, NULL, &other), STATUS_AGAIN);
        assert_non_null(strstr(other.text, "is under way"));
    }
    return buf_append_slice(&frames, bytes);
}

static enum status
back_up(unsigned refuse)
{
    buf_reset(&frames);
    pieces = 0;
    refused_piece = refuse;
    return partition_backup(partition, take_piece, NULL, &why);
}

static void
open_the_copy(const char *copy)
{
    char manifest_path[SCRATCH_SIZE + 32];
    uint64_t bytes = 0;
    snprintf(manifest_path, sizeof manifest_path, "%s/manifest", folder);
    FILE *manifest = fopen(manifest_path, "w");
    assert_non_null(manifest);
    struct backup_receiver *receiver = backup_receiver_new(copy, "index-0", manifest);
    must(backup_receive(receiver, buf_slice(&frames), &why), &why);
    must(backup_receiver_end(receiver, &bytes, &why), &why);
    assert_true(bytes > 0);
    backup_receiver_free(receiver);
    assert_int_equal(fclose(manifest), 0);
    struct partition *original = partition;
    partition = fixture_open(copy, CACHE);
    assert_int_equal(verify(), STATUS_OK);
    assert_string_equal(report.data, well);
    partition_close(partition);
    partition = original;
}

/* Each file ends, the whole does, and what comes of it is the partition. A backup that nobody takes
 * any more ends, and leaves the way free for the next one and for batches. */
void
a_backup_is_the_whole_partition(void **state)
{
    char copy[SCRATCH_SIZE + 32];
    (void)state;
    buf_init(&frames, FRAMES_MOST);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    must(back_up(0), &why);
    const unsigned all = pieces;
    struct codec_reader in = codec_reader_of(buf_slice(&frames));
    unsigned files = 0, ends = 0;
    uint8_t kind = 0;
    while (!codec_at_end(&in)) {
        kind = codec_get_u8(&in);
        files += kind == BACKUP_FILE;
        ends += kind == BACKUP_END;
        if (kind == BACKUP_FILE || kind == BACKUP_BYTES) {
            (void)codec_get_slice(&in);
        }
        assert_false(in.bad);
    }
    assert_int_equal(kind, BACKUP_WHOLE);
    assert_int_equal(files, ends);
    assert_true(files > 10);
    open_the_copy(copy);
    for (unsigned refuse = 2; refuse <= all; refuse++) {
        assert_int_equal(back_up(refuse), STATUS_FULL);
        assert_int_equal(pieces, refuse);
    }
    put("http://two.example/2", 2, false, second_document);
    fixture_run("rm -r %s%s", copy, "");
    must(back_up(0), &why);
    buf_release(&frames);
}
