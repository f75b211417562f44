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

/* Of four sitemap documents three are useful (one fails), of four linked ones one (two are like
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
    meta_update_release(&update);
    buf_release(&record);
    balance_free(balance);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_the_last_of_an_epoch),
        cmocka_unit_test(utility_moves_the_share),
        cmocka_unit_test(a_new_process_goes_on_with_the_record),
    };
    return cmocka_run_group_tests_name("fetch_balance", tests, NULL, NULL);
}
