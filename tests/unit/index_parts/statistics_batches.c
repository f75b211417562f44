/* The tree "statistics" as a whole: which formats are opened, and which records a batch makes,
 * changes and takes out. */
#include "tests/unit/index_parts/index_parts.h"

#include "tests/unit/index_parts/statistics_fixture.h"

#include "base/codec.h"
#include "index/statistics/census.h"

int
open_batches(void **state)
{
    return open_tree(state);
}

int
close_batches(void **state)
{
    return close_tree(state);
}

static void
put_count(unsigned number, uint8_t quads, uint8_t subjects)
{
    uint8_t key[STATISTIC_KEY_SIZE];
    const uint8_t numbers[] = {quads, subjects};
    put_bytes(statistic_key(STATISTIC_PREDICATE, predicate(number), key), numbers, 2);
}

/* ---- opening ---- */

void
statistics_of_this_format_are_opened(void **state)
{
    static const struct {
        const char *bytes;
        enum status status;
        const char *why;
    } formats[] = {{"\x08", STATUS_OK, ""},
                   {"\x07", STATUS_OK, ""},
                   {"\x06", STATUS_UNSUPPORTED, "has format 6 and this program reads 8 only"},
                   {"\x09", STATUS_UNSUPPORTED, "has format 9 and this program reads 8 only"},
                   {"\x08\x08", STATUS_CORRUPT, "a number is malformed"},
                   {"\x88", STATUS_CORRUPT, "a number is malformed"},
                   {"", STATUS_CORRUPT, "a number is malformed"}};
    struct totals totals = {.quads = 9};
    uint64_t format = 0;
    (void)state;
    must(statistics_open(tree, environment, &totals, &why), &why);
    assert_int_equal(totals.quads, 0);
    must(statistics_read(tree, SLICE("F"), &format, 1, &why), &why);
    assert_int_equal(format, 8);
    put_bytes(SLICE("T"), "\x01\x02\x03\x04", 4);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        totals.quads = 9;
        put_bytes(SLICE("F"), formats[i].bytes, strlen(formats[i].bytes));
        assert_int_equal(statistics_open(tree, environment, &totals, &why), formats[i].status);
        if (formats[i].status == STATUS_OK) {
            assert_int_equal(totals.quads, 1);
            assert_int_equal(totals.batches, 4);
            must(statistics_read(tree, SLICE("F"), &format, 1, &why), &why);
            assert_int_equal(format, 8);
        } else {
            assert_non_null(strstr(why.text, formats[i].why));
        }
    }
    put_bytes(SLICE("F"), "\x08", 1);
    put_bytes(SLICE("T"), "\x01\x02\x03", 3);
    assert_int_equal(statistics_open(tree, environment, &totals, &why), STATUS_CORRUPT);
}

/* ---- batches ---- */

/* All records: their kind, their number or host, their numbers. */
static const char *
records(void)
{
    static char text[1000];
    uint8_t key[TREE_KEY_MAXIMUM], value[100];
    size_t key_length, length, used = 0;
    struct tree_cursor *cursor;
    text[0] = '\0';
    must(tree_cursor_open(&cursor, tree, NULL, &why), &why);
    for (enum tree_move move = TREE_FIRST;
         tree_cursor_move(cursor, move, key, sizeof key, &key_length, value, sizeof value, &length,
                          &why) == STATUS_OK;
         move = TREE_NEXT) {
        const char *separator = used > 0 ? " " : "";
        const int name = (int)key_length - 1;
        used += (size_t)(key[0] == 'P' || key[0] == 'C'
                             ? snprintf(text + used, sizeof text - used, "%s%c%u", separator,
                                        key[0], (unsigned)oid_number(codec_read_u64(key + 1)))
                             : snprintf(text + used, sizeof text - used, "%s%c%.*s", separator,
                                        key[0], name, (char *)key + 1));
        for (size_t i = 0; i < length; i++) { /* each number is one byte */
            used += (size_t)snprintf(text + used, sizeof text - used, ":%d", value[i]);
        }
    }
    tree_cursor_close(cursor);
    return text;
}

enum { TYPE = 1 };

/* Rows in the order POCS, with the predicate and the object: 1: added, -1: removed. */
static const struct {
    unsigned predicate, object;
    int sign;
} batch[] = {
    {TYPE, 21, 1}, {TYPE, 21, 1}, {TYPE, 22, 1}, {TYPE, 22, -1}, {TYPE, 23, -1}, {TYPE, 24, -1},
    {TYPE, 25, 1}, {2, 21, 1},    {2, 22, -1},   {3, 22, 1},     {3, 22, 1},     {3, 23, 1},
    {4, 1, -1},    {4, 2, -1},    {5, 25, -1},   {6, 1, 1},      {6, 1, -1},     {7, 1, 1},
};
enum { ROWS = sizeof batch / sizeof *batch };
/* Subjects that gain or lose a predicate. */
static const int subjects_of[] = {0, 1, 1, 2, -1, 0, 0, 1};

static enum status
apply_batch(oid type)
{
    static const struct {
        const char *uri;
        int64_t documents, quads;
    } documents[] = {{"http://h1.example/", 2, 10}, {"http://h2.example/", -1, -5},
                     {"http://h3.example/", 0, 1},  {"http://h4.example/", 0, 0},
                     {"http://h5.example/", -1, 0}, {"http://h6.example/", 0, -5}};
    struct quad_change changes[ROWS];
    uint32_t order[ROWS];
    struct census census;
    const struct totals totals = {.quads = 11, .documents = 12, .literals = 13, .batches = 14};
    for (uint32_t i = 0; i < ROWS; i++) { /* they lie in another order */
        order[i] = ROWS - 1 - i;
        changes[order[i]] =
            (struct quad_change){.quad = {predicate(100 + i), predicate(batch[i].predicate),
                                          predicate(batch[i].object), predicate(200)},
                                 .removed = batch[i].sign < 0};
    }
    census_init(&census);
    for (unsigned i = 1; i <= 7; i++) {
        const oid one = predicate(i);
        if (subjects_of[i] != 0) {
            predicate_sets_add(&census.predicates, &one, 1)->subjects = subjects_of[i];
        }
    }
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        census_document(&census, slice_string(documents[i].uri), documents[i].documents,
                        documents[i].quads);
    }
    const struct change_set set = {
        .changes = changes, .count = ROWS, .orders = {[ORDER_POCS] = order}};
    const struct statistics_change change = {&set, &census, type, &totals};
    struct transaction *transaction = begun();
    const enum status status = statistics_apply(tree, transaction, &change, &why);
    if (status == STATUS_OK) {
        must(transaction_commit(transaction, &why), &why);
    } else {
        transaction_abort(transaction);
    }
    census_release(&census);
    return status;
}

/* What was there before each batch. */
static void
put_before(void)
{
    static const struct {
        const char *host;
        uint8_t numbers[2];
    } hosts[] = {{"Hh2.example", {1, 5}},
                 {"Hh3.example", {3, 9}},
                 {"Hh5.example", {1, 2}},
                 {"Hh6.example", {1, 5}},
                 {"Hh7.example", {1, 1}}};
    uint8_t bytes[STATISTIC_KEY_SIZE];
    for (size_t i = 0; i < 5; i++) {
        put_bytes(slice_string(hosts[i].host), hosts[i].numbers, 2);
    }
    put_bytes(statistic_key(STATISTIC_CLASS, predicate(23), bytes), "\x01", 1);
    put_bytes(statistic_key(STATISTIC_CLASS, predicate(24), bytes), "\x03", 1);
    put_count(2, 4, 3);
    put_count(4, 2, 1);
    put_count(5, 5, 3);
    put_count(8, 1, 1);
}

#define HOSTS_AFTER \
    "Hh1.example:2:10 Hh3.example:3:10 Hh5.example:0:2 Hh6.example:1:0 Hh7.example:1:1"
#define AFTER "P1:1:1 P2:4:4 P3:3:2 P5:4:3 P7:1:1 P8:1:1 T:11:12:13:14"

void
a_batch_changes_the_counts(void **state)
{
    (void)state;
    put_before();
    must(apply_batch(predicate(TYPE)), &why);
    assert_string_equal(records(), "C21:2 C24:2 C25:1 " HOSTS_AFTER " " AFTER);
}

void
without_a_type_there_are_no_classes(void **state)
{
    (void)state;
    put_before();
    must(apply_batch(OID_NONE), &why);
    assert_string_equal(records(), "C23:1 C24:3 " HOSTS_AFTER " " AFTER);
}

/* A record that is damaged stops the batch, wherever it stands. */
void
a_damaged_count_ends_the_batch(void **state)
{
    static const unsigned classes[] = {21, 23, 25}, predicates[] = {1, 3, 7};
    uint8_t bytes[STATISTIC_KEY_SIZE];
    char before[1000];
    (void)state;
    put_before();
    for (int i = 0; i < 8; i++) {
        const struct slice key =
            i < 3   ? statistic_key(STATISTIC_CLASS, predicate(classes[i]), bytes)
            : i < 6 ? statistic_key(STATISTIC_PREDICATE, predicate(predicates[i - 3]), bytes)
            : i < 7 ? SLICE("Hh1.example")
                    : SLICE("Hh6.example");
        put_bytes(key, "\xff", 1);
        snprintf(before, sizeof before, "%s", records());
        assert_int_equal(apply_batch(predicate(TYPE)), STATUS_CORRUPT);
        assert_string_equal(records(), before);
        remove_key(key);
    }
}
