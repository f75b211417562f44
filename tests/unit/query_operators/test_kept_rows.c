/* What operators keep rows in: tables with their exact memory, sets that go on in files, filters of
 * keys, and joins part by part. */
#include <string.h>

#include "index/query/memory/join_spill.h"
#include "index/query/memory/key_filter.h"
#include "index/query/memory/row_set.h"
#include "tests/unit/query_operators/operator_stand.h"

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fail_msg("%s", why->text);
    }
}

/* ---- tables ---- */

/* Room is for 64 rows, then twice as many again and again, with two places for each. */
static size_t
bytes_for(size_t rows, size_t width)
{
    size_t room = rows ? 64 : 0;
    while (room < rows) {
        room *= 2;
    }
    return room * (width * sizeof(oid) + sizeof(uint32_t)) + 2 * room * sizeof(uint64_t);
}

static void
tables_take_what_they_say(void **state)
{
    static const size_t shapes[][2] = {{1, 1}, {3, 2}, {3, 3}, {2, 0}, {0, 0}};
    (void)state;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        const size_t width = shapes[shape][0], keys = shapes[shape][1];
        const size_t most = keys ? 520 : 130;
        struct memory_account account = {.maximum = SIZE_MAX};
        struct reason why = {""};
        struct row_table table;
        row_table_init(&table, &account, "rows", width, keys);
        assert_int_equal(row_table_find(&table, (const oid[]){1, 2, 3}), SIZE_MAX);
        for (size_t i = 0; i < most; i++) {
            const oid row[3] = {1 + i / 3, 7 * (i % 2), i};
            const size_t growth = bytes_for(i + 1, width) - bytes_for(i, width);
            assert_int_equal(row_table_growth(&table), growth);
            assert_int_equal(row_table_growth_to(&table, i), 0);
            assert_int_equal(row_table_growth_to(&table, 1000),
                             bytes_for(1000, width) - bytes_for(i, width));
            must(row_table_add(&table, row, &why), &why);
            assert_int_equal(account.used, bytes_for(i + 1, width));
        }
        assert_int_equal(table.count, most);
        /* Each row is found with all that have its keys, the newest first. */
        for (size_t i = 0; i < most + 3; i++) {
            const oid row[3] = {1 + i / 3, 7 * (i % 2), i};
            size_t at = row_table_find(&table, row);
            for (size_t k = most; k-- > 0;) {
                const oid other[3] = {1 + k / 3, 7 * (k % 2), k};
                if (memcmp(row, other, keys * sizeof *row) == 0) {
                    assert_int_equal(at, k);
                    assert_memory_equal(row_table_row(&table, at), other, width * sizeof *other);
                    at = row_table_next(&table, row, at);
                }
            }
            assert_int_equal(at, SIZE_MAX);
        }
        row_table_release(&table);
        assert_int_equal(account.used, 0);
        assert_true(table.count == 0 && table.room == 0 && table.width == width);
    }
}

/* What was never made can be released. */
static void
tables_that_are_all_zero_are_released(void **state)
{
    struct row_table table = {0};
    struct row_set set = {0};
    (void)state;
    row_table_release(&table);
    row_set_release(&set);
    assert_true(table.account == NULL && set.spill == NULL);
}

static void
tables_refuse_what_they_have_no_memory_for(void **state)
{
    struct memory_account account = {.maximum = bytes_for(64, 2) + bytes_for(128, 2) -
                                                bytes_for(64, 2) - 1};
    struct reason why = {""};
    struct row_table table;
    bool added;
    size_t at;
    (void)state;
    row_table_init(&table, &account, "things", 2, 1);
    for (oid i = 0; i < 64; i++) {
        must(row_table_put(&table, (const oid[]){i, 2 * i}, &added, &at, &why), &why);
        assert_true(added && at == i);
        must(row_table_put(&table, (const oid[]){i, 1}, &added, &at, &why), &why);
        assert_true(!added && at == i);
    }
    assert_int_equal(row_table_put(&table, (const oid[]){64, 0}, &added, &at, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "things"));
    assert_int_equal(table.count, 64);
    assert_int_equal(account.used, bytes_for(64, 2));
    must(row_table_put(&table, (const oid[]){63, 1}, &added, &at, &why), &why);
    assert_true(!added && at == 63 && row_table_row(&table, 63)[1] == 126);
    must(row_table_reserve(&table, 64, &why), &why);
    assert_int_equal(row_table_reserve(&table, 65, &why), STATUS_LIMIT);
    account.maximum = SIZE_MAX;
    must(row_table_reserve(&table, 65, &why), &why);
    assert_int_equal(row_table_find(&table, (const oid[]){63}), 63);
    assert_int_equal(row_table_reserve(&table, UINT32_MAX, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the query holds too many rows (things)");
    row_table_release(&table);
    assert_int_equal(account.used, 0);
}

/* A table that is emptied finds nothing of before, whether it had few rows or many. */
static void
emptied_tables_find_nothing(void **state)
{
    static const size_t counts[] = {0, 1, 127, 128, 129, 512};
    struct memory_account account = {.maximum = SIZE_MAX};
    struct reason why = {""};
    struct row_table table;
    (void)state;
    row_table_init(&table, &account, "rows", 2, 1);
    must(row_table_reserve(&table, 512, &why), &why);
    assert_int_equal(table.places, 1024);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (oid k = 0; k < counts[i]; k++) {
            must(row_table_add(&table, (const oid[]){k % 100, k}, &why), &why);
        }
        row_table_reset(&table);
        assert_int_equal(table.count, 0);
        for (size_t place = 0; place < table.places; place++) {
            assert_int_equal(table.table[place], 0);
        }
        assert_int_equal(table.room, 512);
    }
    row_table_release(&table);
}

static void
many_keys_are_found_at_once(void **state)
{
    struct memory_account account = {.maximum = SIZE_MAX};
    struct reason why = {""};
    struct row_table table;
    oid keys[3 * ROW_TABLE_MANY];
    size_t found[ROW_TABLE_MANY];
    (void)state;
    row_table_init(&table, &account, "rows", 1, 1);
    for (size_t i = 0; i < 3 * ROW_TABLE_MANY; i++) {
        keys[i] = i % 3 == 1 ? 100 + i : 1;
    }
    for (int turn = 0; turn < 3; turn++) {
        memset(found, 0, sizeof found);
        row_table_find_many(&table, keys + 1, 3, ROW_TABLE_MANY, found);
        for (size_t i = 0; i < ROW_TABLE_MANY; i++) {
            assert_int_equal(found[i], row_table_find(&table, &keys[1 + 3 * i]));
            assert_int_equal(found[i] != SIZE_MAX, turn > 0 && i % 2 == 0);
        }
        for (size_t i = 0; i < ROW_TABLE_MANY && turn == 0; i += 2) {
            must(row_table_add(&table, &keys[1 + 3 * i], &why), &why);
        }
    }
    row_table_release(&table);
}

/* Bytes of any length have their own hash, and another with another seed. */
static void
hashes_tell_bytes_apart(void **state)
{
    static const char bytes[40] = "abcdefghabcdefghabcdefghabcdefghabcdefg";
    char copy[41];
    uint64_t hashes[41];
    (void)state;
    for (size_t length = 0; length <= 40; length++) {
        memcpy(copy + 1, bytes, length);
        hashes[length] = hash_bytes(3, bytes, length);
        assert_true(hash_bytes(3, copy + 1, length) == hashes[length]);
        assert_true(hash_bytes(4, bytes, length) != hashes[length]);
        for (size_t i = 0; i < length; i++) {
            assert_true(hashes[i] != hashes[length]);
            copy[1 + i] ^= 1;
            assert_true(hash_bytes(3, copy + 1, length) != hashes[length]);
            copy[1 + i] ^= 1;
        }
    }
}

/* ---- filters ---- */

static void
filters_have_sixteen_bits_a_key(void **state)
{
    static const struct {
        size_t keys, bytes;
    } sizes[] = {{0, 128},   {1, 128},         {64, 128},   {65, 256},   {128, 256},
                 {129, 512}, {262144, 524288}, {262145, 0}, {1 << 22, 0}};
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct row_table table = {.count = sizes[i].keys};
        assert_int_equal(key_filter_size(&table), sizes[i].bytes);
    }
    struct memory_account account = {.maximum = SIZE_MAX};
    struct row_table table;
    struct key_filter filter;
    size_t others = 0, bits = 0;
    row_table_init(&table, &account, "rows", 2, 1);
    for (oid i = 0; i < 1000; i++) {
        must(row_table_add(&table, (const oid[]){i, 77 + 3 * i}, &why), &why);
    }
    key_filter_fill(&filter, &table, 1);
    for (oid key = 77; key < 77 + 3000; key++) {
        const bool may = key_filter_may_have(&filter, key);
        assert_true(may || (key - 77) % 3 != 0);
        others += may && (key - 77) % 3 != 0;
    }
    assert_in_range(others, 0, 250);
    for (size_t i = 0; i < key_filter_size(&table) / sizeof *filter.words; i++) {
        bits += (size_t)__builtin_popcountll(filter.words[i]);
    }
    assert_in_range(bits, 900, 1000);
    key_filter_release(&filter);
    assert_null(filter.words);
    row_table_release(&table);
}

/* ---- sets ---- */

/* Of each key the first is told as new, at once or, once there is no room, when all are there, in
 * the order in which they came. */
static void
sets_tell_the_first_of_each_key(void **state)
{
    static const size_t payloads[] = {0, 1, 3};
    (void)state;
    for (size_t turn = 0; turn < 6; turn++) {
        const size_t keys = turn % 2 ? 3 : 1, payload = payloads[turn / 2];
        struct stand stand;
        struct reason why = {""};
        struct row_set set;
        stand_open(&stand, "", "SELECT * {}", 4, 1 << 20);
        row_set_init(&set, &stand.run.spill, "rows", keys, payload);
        for (int again = 0; again < 2; again++) {
            static unsigned char had[1000];
            static oid deferred[1000][2];
            const oid *key, *more;
            size_t news = 0, waiting = 0;
            uint64_t seed = turn + 1;
            memset(had, 0, sizeof had);
            stand.run.spill.share = stand.run.account.used + (again ? 0 : bytes_for(256, keys));
            for (oid i = 0; i < 4000; i++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                const oid number = (seed >> 33) % 1000;
                const oid row[3] = {number / 2, 9, number % 2 + 4};
                const oid single = number + 1, carried[3] = {i, 2 * i, 3 * i};
                enum row_state told;
                must(row_set_put(&set, keys == 3 ? row : &single, payload ? carried : NULL, &told,
                                 &why),
                     &why);
                if (told == ROW_NEW) {
                    assert_int_equal(had[number], 0);
                    had[number] = 1;
                    news++;
                } else if (told == ROW_SEEN) {
                    assert_int_equal(had[number], 1);
                } else {
                    assert_true(had[number] != 1);
                    if (had[number] == 0) {
                        deferred[waiting][0] = number;
                        deferred[waiting++][1] = i;
                    }
                    had[number] = 2;
                }
            }
            /* The second time the table has its room still. */
            assert_int_equal(news, again ? 0 : 256);
            for (size_t at = 0; at < waiting; at++) {
                must(row_set_next(&set, &key, &more, &why), &why);
                assert_non_null(key);
                const oid number = keys == 3 ? key[0] * 2 + key[2] - 4 : key[0] - 1;
                assert_int_equal(number, deferred[at][0]);
                assert_true(keys == 1 || key[1] == 9);
                for (size_t k = 0; k < payload; k++) {
                    assert_int_equal(more[k], (k + 1) * deferred[at][1]);
                }
            }
            for (int end = 0; end < 2; end++) {
                must(row_set_next(&set, &key, &more, &why), &why);
                assert_true(key == NULL && more == NULL);
            }
            row_set_reset(&set);
            must(row_set_next(&set, &key, &more, &why), &why);
            assert_null(key);
        }
        row_set_release(&set);
        stand_close(&stand);
    }
}

/* A set that is emptied has seen nothing, whether its keys were in the table, put off, or partly
 * given. */
static void
emptied_sets_have_seen_nothing(void **state)
{
    (void)state;
    for (oid given = 0; given < 5; given++) {
        struct stand stand;
        struct reason why = {""};
        struct row_set set;
        enum row_state told;
        const oid *key, *payload;
        stand_open(&stand, "", "SELECT * {}", 4, 1 << 20);
        row_set_init(&set, &stand.run.spill, "rows", 1, 1);
        const size_t share = stand.run.spill.share;
        for (int again = 0; again < 3; again++) {
            const oid count = again == 1 ? 20 : 60;
            stand.run.spill.share = given ? 0 : share;
            for (oid i = 1; i <= count; i++) {
                must(row_set_put(&set, &i, &i, &told, &why), &why);
                assert_int_equal(told, given ? ROW_DEFERRED : ROW_NEW);
            }
            for (oid i = 1; i < given; i++) {
                must(row_set_next(&set, &key, &payload, &why), &why);
                assert_true(key && key[0] == i && payload[0] == i);
            }
            if (given == 0) {
                must(row_set_put(&set, &count, &count, &told, &why), &why);
                assert_int_equal(told, ROW_SEEN);
                must(row_set_next(&set, &key, &payload, &why), &why);
                assert_null(key);
            }
            if (again == 1 && given) {
                for (oid i = given; i <= count; i++) {
                    must(row_set_next(&set, &key, &payload, &why), &why);
                    assert_true(key && key[0] == i && payload[0] == i);
                }
                must(row_set_next(&set, &key, &payload, &why), &why);
                assert_null(key);
            }
            row_set_reset(&set);
        }
        row_set_release(&set);
        stand_close(&stand);
    }
}

/* ---- joins part by part ---- */

/* Each pair of rows with equal keys comes once, and each input row that was not marked once more at
 * the end; the built side serves another input. */
static void
parts_give_each_pair(void **state)
{
    static const size_t counts[] = {0, 1, 64, 65, 700};
    (void)state;
    for (size_t turn = 0; turn < 10; turn++) {
        const size_t keys = turn / 5, count = counts[turn % 5];
        const bool room = turn % 2;
        struct stand stand;
        struct join_spill join;
        struct reason why = {""};
        stand_open(&stand, "", "SELECT * {}", 3, 1 << 20);
        const size_t before = stand.run.account.used;
        join_spill_init(&join, &stand.run.spill, keys, 2, 3);
        for (oid i = 0; i < 90; i++) {
            must(join_spill_build(&join, (const oid[]){i / 2, 500 + i}, &why), &why);
        }
        must(join_spill_built(&join, &why), &why);
        if (!room) {
            stand.run.spill.share = 0;
        }
        for (int again = 0; again < 2; again++) {
            static unsigned pairs[700][90], singles[700];
            memset(pairs, 0, sizeof pairs);
            memset(singles, 0, sizeof singles);
            for (oid i = 0; i < count; i++) {
                const oid key = i % 50, row[3] = {i, key, 7};
                must(join_spill_input(&join, &key, row, &why), &why);
            }
            must(join_spill_begin(&join, &why), &why);
            for (;;) {
                const oid *row, *stored;
                uint8_t *matched;
                must(join_spill_next(&join, &row, &stored, &matched, &why), &why);
                if (!row) {
                    break;
                }
                assert_true(row[0] < count && row[1] == row[0] % 50 && row[2] == 7);
                if (stored) {
                    assert_true(stored[1] >= 500 && stored[1] < 590);
                    assert_int_equal(stored[0], (stored[1] - 500) / 2);
                    pairs[row[0]][stored[1] - 500]++;
                    assert_true(*matched == 0 || *matched == 1);
                    /* Rows of odd numbers are never marked. */
                    *matched = row[0] % 2 == 0;
                } else {
                    singles[row[0]]++;
                }
            }
            for (size_t i = 0; i < count; i++) {
                const bool has = keys == 0 || i % 50 < 45;
                for (size_t k = 0; k < 90; k++) {
                    assert_int_equal(pairs[i][k], keys == 0 || i % 50 == k / 2);
                }
                assert_int_equal(singles[i], !has || i % 2 == 1);
            }
            /* An input that is given up in the midst leaves nothing behind. */
            join_spill_restart(&join);
            if (count == 700) {
                const oid *row, *stored;
                uint8_t *matched;
                for (oid i = 0; i < count; i++) {
                    must(join_spill_input(&join, &i, (const oid[]){i, 1, 2}, &why), &why);
                }
                must(join_spill_begin(&join, &why), &why);
                must(join_spill_next(&join, &row, &stored, &matched, &why), &why);
                assert_non_null(row);
                join_spill_restart(&join);
            }
        }
        join_spill_release(&join);
        assert_int_equal(stand.run.account.used, before);
        stand_close(&stand);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_take_what_they_say),
        cmocka_unit_test(tables_that_are_all_zero_are_released),
        cmocka_unit_test(tables_refuse_what_they_have_no_memory_for),
        cmocka_unit_test(emptied_tables_find_nothing),
        cmocka_unit_test(many_keys_are_found_at_once),
        cmocka_unit_test(hashes_tell_bytes_apart),
        cmocka_unit_test(filters_have_sixteen_bits_a_key),
        cmocka_unit_test(sets_tell_the_first_of_each_key),
        cmocka_unit_test(emptied_sets_have_seen_nothing),
        cmocka_unit_test(parts_give_each_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
