#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "rdf/canonical/minhash.h"

/* A document of statements number from..to - 1. */
static struct minhash
minhash_numbers(const char *uri, int from, int to)
{
    struct buf text;
    struct minhash minhash;
    buf_init(&text, 1 << 20);
    for (int i = from; i < to; i++) {
        buf_printf(&text, "<%s#x> <http://v/p> \"value %d\" <%s> .\n", uri, i, uri);
    }
    assert_true(minhash_of(buf_slice(&text), slice_string(uri), &minhash));
    buf_release(&text);
    return minhash;
}

static struct minhash
minhash_text(const char *nquads, const char *uri)
{
    struct minhash minhash;
    (void)minhash_of(slice_string(nquads), slice_string(uri), &minhash);
    return minhash;
}

static void
own_uri_order_and_blank_labels_do_not_count(void **state)
{
    (void)state;
    const struct minhash a = minhash_text("<http://e/a> <http://v/p> _:b1 <http://e/a> .\n"
                                          "_:b1 <http://v/q> \"x \\\" y\"@en <http://e/a> .\n",
                                          "http://e/a");
    const struct minhash b = minhash_text("_:c7 <http://v/q> \"x \\\" y\"@en <http://e/b?p=1> .\n"
                                          "<http://e/b?p=1> <http://v/p> _:c7 <http://e/b?p=1> .\n",
                                          "http://e/b?p=1");
    const struct minhash other = minhash_text("<http://e/a> <http://v/p> _:b1 <http://e/a> .\n"
                                              "_:b1 <http://v/q> \"x \\\" z\"@en <http://e/a> .\n",
                                              "http://e/a");
    assert_int_equal(minhash_agreement(&a, &b), MINHASH_PLACES);
    assert_true(minhash_agreement(&a, &other) < MINHASH_PLACES);
}

/* Agreement estimates resemblance: of 1000 statements 950 shared are 950 / 1050 = 0.905, of which
 * a mean of 14.5 places; half shared is a third, 5.3. */
static void
agreement_estimates_resemblance(void **state)
{
    unsigned near = 0, far = 0, none = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        const struct minhash a = minhash_numbers("http://e/a", i * 5000, i * 5000 + 1000);
        const struct minhash b = minhash_numbers("http://e/bb", i * 5000 + 50, i * 5000 + 1050);
        const struct minhash c = minhash_numbers("http://e/c", i * 5000 + 500, i * 5000 + 1500);
        const struct minhash d = minhash_numbers("http://e/d", i * 5000 + 2000, i * 5000 + 3000);
        near += minhash_agreement(&a, &b);
        far += minhash_agreement(&a, &c);
        none += minhash_agreement(&a, &d);
    }
    assert_in_range(near, 40 * 140 / 10, 40 * 150 / 10);
    assert_in_range(far, 40 * 43 / 10, 40 * 63 / 10);
    assert_in_range(none, 0, 10);
}

static void
few_statements_are_told_apart(void **state)
{
    (void)state;
    const struct minhash a = minhash_numbers("http://e/a", 0, 2),
                         b = minhash_numbers("http://e/a", 5, 7);
    assert_true(minhash_agreement(&a, &b) < 4);
    const struct minhash same = minhash_numbers("http://e/longer", 0, 2);
    for (unsigned i = 0; i < MINHASH_BANDS; i++) {
        assert_true(minhash_band(&a, i) == minhash_band(&same, i));
        assert_true(minhash_band(&a, i) != minhash_band(&b, i));
    }
}

static void
texts_are_read_back(void **state)
{
    char text[MINHASH_TEXT];
    struct minhash read;
    (void)state;
    const struct minhash minhash = minhash_numbers("http://e/a", 0, 9);
    minhash_write(&minhash, text);
    assert_true(minhash_read(slice_string(text), &read));
    assert_memory_equal(&read, &minhash, sizeof read);
    text[3] = 'g';
    assert_false(minhash_read(slice_string(text), &read));
    assert_false(minhash_read(SLICE("12"), &read));
    assert_false(minhash_of(SLICE("\nnonsense\n\"a\n"), SLICE("http://e/"), &read));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_uri_order_and_blank_labels_do_not_count),
        cmocka_unit_test(agreement_estimates_resemblance),
        cmocka_unit_test(few_statements_are_told_apart),
        cmocka_unit_test(texts_are_read_back),
    };
    return cmocka_run_group_tests_name("sketch", tests, NULL, NULL);
}
