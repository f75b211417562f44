#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "stages/fetch/hosts/queue_balance.h"

/* The record of a document that says one thing, which differs with its number. */
static struct slice
record_of(struct buf *out, const char *state, int number)
{
    struct meta_update update;
    struct minhash minhash;
    char text[MINHASH_TEXT], line[100];
    const int n = snprintf(line, sizeof line, "<http://e/x> <http://v/p> \"%d\" .\n", number);
    assert_true(minhash_of(slice_of(line, (size_t)n), SLICE("http://e/x"), &minhash));
    minhash_write(&minhash, text);
    meta_update_init(&update);
    meta_set_text(&update, META_STATE, slice_string(state));
    meta_set_number(&update, META_QUADS, 1);
    meta_set_text(&update, META_SKETCH, slice_string(text));
    buf_init(out, 4096);
    assert_int_equal(meta_merge((struct slice){0}, meta_update_fields(&update), out), META_MERGED);
    meta_update_release(&update);
    return buf_slice(out);
}

/* Epochs of 40, samples of 4: of each epoch the last four of each kind. */
static void
samples_are_the_last_of_an_epoch(void **state)
{
    struct balance *balance = balance_new(40);
    char uri[20];
    (void)state;
    for (int i = 1; i <= 40; i++) {
        const int n = snprintf(uri, sizeof uri, "http://e/%d", i);
        const bool ended = balance_note(balance, i <= 10 ? BALANCE_SITEMAP : BALANCE_LINK,
                                        slice_of(uri, (size_t)n));
        assert_int_equal(ended, i == 40);
    }
    balance_next_epoch(balance);
    assert_string_equal(balance->before[BALANCE_SITEMAP].uris[9 % 4], "http://e/10");
    assert_string_equal(balance->before[BALANCE_SITEMAP].uris[6 % 4], "http://e/7");
    assert_string_equal(balance->before[BALANCE_LINK].uris[29 % 4], "http://e/40");
    assert_null(balance->now[BALANCE_LINK].uris[0]);
    balance_free(balance);
    balance_free(NULL);
}

/* Three of four sitemap documents are useful (one fails), of four linked ones one (two are like
 * another, one is empty): 20 of 40 become 24, which is 153 of 256. */
static void
utility_moves_the_share(void **state)
{
    struct balance *balance = balance_new(40);
    struct buf bufs[8];
    struct slice records[8];
    const unsigned counts[] = {4, 4};
    static const struct {
        const char *state;
        int number;
    } documents[] = {{"indexed", 1}, {"indexed", 2}, {"failed", 3},  {"indexed", 4},
                     {"indexed", 5}, {"indexed", 5}, {"indexed", 1}, {"gone", 6}};
    (void)state;
    for (int i = 0; i < 8; i++) {
        records[i] = record_of(&bufs[i], documents[i].state, documents[i].number);
    }
    balance_look(balance, (struct slice){0}, records, counts);
    assert_true(balance->pending);
    assert_int_equal(balance->useful[BALANCE_SITEMAP], 3);
    assert_int_equal(balance->useful[BALANCE_LINK], 1);
    assert_int_equal(balance->sampled[BALANCE_LINK], 4);
    assert_int_equal(balance->queues.sitemaps, 24);
    assert_int_equal(queue_balance_share(&balance->queues), 153);
    /* One kind alone says nothing of the other. */
    const unsigned alone[] = {0, 1};
    balance_look(balance, (struct slice){0}, records, alone);
    assert_int_equal(balance->queues.sitemaps, 24);
    for (int i = 0; i < 8; i++) {
        buf_release(&bufs[i]);
    }
    balance_free(balance);
}

static void
a_new_process_goes_on_with_the_record(void **state)
{
    struct balance *balance = balance_new(40);
    struct meta_update update;
    struct buf record;
    const unsigned none[] = {0, 0};
    (void)state;
    meta_update_init(&update);
    meta_set_number(&update, META_SITEMAP_SAMPLED, 50);
    meta_set_number(&update, META_SITEMAP_USEFUL, 40);
    meta_set_number(&update, META_SITEMAP_SHARE, 205);
    buf_init(&record, 4096);
    assert_int_equal(meta_merge((struct slice){0}, meta_update_fields(&update), &record),
                     META_MERGED);
    balance_look(balance, buf_slice(&record), NULL, none);
    assert_int_equal(balance->queues.sitemaps, 32);
    assert_int_equal(balance->sampled[BALANCE_SITEMAP], 50);
    assert_int_equal(balance->useful[BALANCE_SITEMAP], 40);
    balance->sampled[BALANCE_SITEMAP] = 51; /* from now on the process itself counts */
    balance_look(balance, buf_slice(&record), NULL, none);
    assert_int_equal(balance->sampled[BALANCE_SITEMAP], 51);
    meta_update_release(&update);
    buf_release(&record);
    balance_free(balance);
}

/* No more than the first of 400 fetches are sampled; few make a sample of a step each. */
static void
samples_are_bounded(void **state)
{
    static const struct {
        unsigned epoch, size;
    } cases[] = {{10, 1}, {150, 15}, {160, 16}, {170, 16}, {4000, 16}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct balance *balance = balance_new(cases[i].epoch);
        assert_int_equal(balance->size, cases[i].size);
        for (unsigned n = 1; n < cases[i].epoch; n++) {
            assert_false(balance_note(balance, BALANCE_LINK, SLICE("http://e/")));
        }
        assert_true(balance_note(balance, BALANCE_LINK, SLICE("http://e/last")));
        assert_int_equal(balance->fetched, cases[i].epoch);
        assert_int_equal(balance->now[BALANCE_LINK].count, cases[i].epoch);
        assert_string_equal(balance->now[BALANCE_LINK].uris[(cases[i].epoch - 1) % cases[i].size],
                            "http://e/last");
        balance_next_epoch(balance);
        assert_int_equal(balance->fetched, 0);
        assert_int_equal(balance->before[BALANCE_LINK].count, cases[i].epoch);
        assert_int_equal(balance->now[BALANCE_LINK].count, 0);
        balance_next_epoch(balance); /* what is looked at once is not looked at again */
        assert_null(balance->before[BALANCE_LINK].uris[0]);
        balance_free(balance);
    }
}

/* What has no sketch is useful by its quads alone; without quads nothing is. */
static void
documents_without_a_sketch_count_by_their_quads(void **state)
{
    struct balance *balance = balance_new(40);
    struct meta_update update;
    struct buf records[3];
    struct slice slices[3];
    const unsigned counts[] = {0, 3};
    (void)state;
    for (int i = 0; i < 3; i++) {
        meta_update_init(&update);
        meta_set_text(&update, META_STATE, SLICE("indexed"));
        if (i > 0) {
            meta_set_number(&update, META_QUADS, i == 1 ? 0 : 1);
        }
        if (i == 2) {
            meta_set_text(&update, META_SKETCH, SLICE("no sketch"));
        }
        buf_init(&records[i], 4096);
        assert_int_equal(meta_merge((struct slice){0}, meta_update_fields(&update), &records[i]),
                         META_MERGED);
        slices[i] = buf_slice(&records[i]);
        meta_update_release(&update);
    }
    balance_look(balance, (struct slice){0}, slices, counts);
    assert_int_equal(balance->useful[BALANCE_LINK], 1);
    assert_int_equal(balance->sampled[BALANCE_LINK], 3);
    assert_int_equal(balance->sampled[BALANCE_SITEMAP], 0);
    assert_int_equal(balance->minhash_count, 0);
    assert_int_equal(balance->queues.sitemaps, 20); /* of sitemaps nothing was seen */
    for (int i = 0; i < 3; i++) {
        buf_release(&records[i]);
    }
    balance_free(balance);
}

/* So many documents are remembered; the next takes the place of the first. */
static void
what_was_like_another_long_ago_is_new(void **state)
{
    struct balance *balance = balance_new(40);
    struct buf buf;
    const unsigned one[] = {1, 0};
    (void)state;
    for (int i = 0; i <= BALANCE_SKETCHES; i++) {
        const struct slice record = record_of(&buf, "indexed", 100 + i);
        balance_look(balance, (struct slice){0}, &record, one);
        buf_release(&buf);
    }
    assert_int_equal(balance->useful[BALANCE_SITEMAP], BALANCE_SKETCHES + 1);
    static const struct {
        int number;
        unsigned useful;
    } again[] = {{101, 0}, {100 + BALANCE_SKETCHES, 0}, {100, 1}, {101, 1}, {102, 1}, {104, 0}};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        const uint64_t before = balance->useful[BALANCE_SITEMAP];
        const struct slice record = record_of(&buf, "indexed", again[i].number);
        balance_look(balance, (struct slice){0}, &record, one);
        assert_int_equal(balance->useful[BALANCE_SITEMAP] - before, again[i].useful);
        buf_release(&buf);
    }
    balance_free(balance);
}

static void
what_was_long_ago_counts_half(void **state)
{
    struct balance *balance = balance_new(40);
    struct buf buf;
    const struct slice record = record_of(&buf, "failed", 1);
    const unsigned one[] = {1, 0};
    (void)state;
    balance->known = true; /* its record is not read again */
    balance->sampled[BALANCE_SITEMAP] = 399;
    balance->useful[BALANCE_SITEMAP] = 300;
    balance_look(balance, record, &record, one);
    assert_int_equal(balance->sampled[BALANCE_SITEMAP], 400);
    assert_int_equal(balance->useful[BALANCE_SITEMAP], 300);
    balance_look(balance, record, &record, one);
    assert_int_equal(balance->sampled[BALANCE_SITEMAP], 200);
    assert_int_equal(balance->useful[BALANCE_SITEMAP], 150);
    buf_release(&buf);
    balance_free(balance);
}

/* Links that bring more move the share to them; what both bring alike moves it to sitemaps. */
static void
shares_move_to_what_brings_more(void **state)
{
    struct buf good, bad;
    const struct slice yes = record_of(&good, "indexed", 1), no = record_of(&bad, "failed", 2);
    const unsigned each[] = {1, 1};
    (void)state;
    for (int sitemap = 0; sitemap < 2; sitemap++) {
        struct balance *balance = balance_new(40);
        const struct slice records[] = {sitemap != 0 ? yes : no, sitemap != 0 ? no : yes};
        balance_look(balance, (struct slice){0}, records, each);
        assert_int_equal(balance->queues.sitemaps, sitemap != 0 ? 24 : 16);
        assert_int_equal(balance->useful[BALANCE_LINK], sitemap != 0 ? 0 : 1);
        balance_free(balance);
    }
    buf_release(&good);
    buf_release(&bad);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_the_last_of_an_epoch),
        cmocka_unit_test(utility_moves_the_share),
        cmocka_unit_test(a_new_process_goes_on_with_the_record),
        cmocka_unit_test(samples_are_bounded),
        cmocka_unit_test(documents_without_a_sketch_count_by_their_quads),
        cmocka_unit_test(what_was_like_another_long_ago_is_new),
        cmocka_unit_test(what_was_long_ago_counts_half),
        cmocka_unit_test(shares_move_to_what_brings_more),
    };
    return cmocka_run_group_tests_name("fetch_balance", tests, NULL, NULL);
}
