#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "rdf/sketch.h"

/* A document of statements number from..to - 1. */
static struct sketch
sketch_numbers(const char *uri, int from, int to)
{
    struct buf text;
    struct sketch sketch;
    buf_init(&text, 1 << 20);
    for (int i = from; i < to; i++) {
        buf_printf(&text, "<%s#x> <http://v/p> \"value %d\" <%s> .\n", uri, i, uri);
    }
    assert_true(sketch_of(buf_slice(&text), slice_string(uri), &sketch));
    buf_release(&text);
    return sketch;
}

static struct sketch
sketch_text(const char *nquads, const char *uri)
{
    struct sketch sketch;
    (void)sketch_of(slice_string(nquads), slice_string(uri), &sketch);
    return sketch;
}

static void
own_uri_order_and_blank_labels_do_not_count(void **state)
{
    (void)state;
    const struct sketch a = sketch_text("<http://e/a> <http://v/p> _:b1 <http://e/a> .\n"
                                        "_:b1 <http://v/q> \"x \\\" y\"@en <http://e/a> .\n",
                                        "http://e/a");
    const struct sketch b = sketch_text("_:c7 <http://v/q> \"x \\\" y\"@en <http://e/b?p=1> .\n"
                                        "<http://e/b?p=1> <http://v/p> _:c7 <http://e/b?p=1> .\n",
                                        "http://e/b?p=1");
    const struct sketch other = sketch_text("<http://e/a> <http://v/p> _:b1 <http://e/a> .\n"
                                            "_:b1 <http://v/q> \"x \\\" z\"@en <http://e/a> .\n",
                                            "http://e/a");
    assert_int_equal(sketch_agreement(&a, &b), SKETCH_PLACES);
    assert_true(sketch_agreement(&a, &other) < SKETCH_PLACES);
}

/* Agreement estimates resemblance: of 1000 statements 950 shared are 950 / 1050 = 0.905, of which
 * a mean of 14.5 places; half shared is a third, 5.3. */
static void
agreement_estimates_resemblance(void **state)
{
    unsigned near = 0, far = 0, none = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        const struct sketch a = sketch_numbers("http://e/a", i * 5000, i * 5000 + 1000);
        const struct sketch b = sketch_numbers("http://e/bb", i * 5000 + 50, i * 5000 + 1050);
        const struct sketch c = sketch_numbers("http://e/c", i * 5000 + 500, i * 5000 + 1500);
        const struct sketch d = sketch_numbers("http://e/d", i * 5000 + 2000, i * 5000 + 3000);
        near += sketch_agreement(&a, &b);
        far += sketch_agreement(&a, &c);
        none += sketch_agreement(&a, &d);
    }
    assert_in_range(near, 40 * 140 / 10, 40 * 150 / 10);
    assert_in_range(far, 40 * 43 / 10, 40 * 63 / 10);
    assert_in_range(none, 0, 10);
}

static void
few_statements_are_told_apart(void **state)
{
    (void)state;
    const struct sketch a = sketch_numbers("http://e/a", 0, 2),
                        b = sketch_numbers("http://e/a", 5, 7);
    assert_true(sketch_agreement(&a, &b) < 4);
    const struct sketch same = sketch_numbers("http://e/longer", 0, 2);
    for (unsigned i = 0; i < SKETCH_BANDS; i++) {
        assert_true(sketch_band(&a, i) == sketch_band(&same, i));
        assert_true(sketch_band(&a, i) != sketch_band(&b, i));
    }
}

static void
texts_are_read_back(void **state)
{
    char text[SKETCH_TEXT];
    struct sketch read;
    (void)state;
    const struct sketch sketch = sketch_numbers("http://e/a", 0, 9);
    sketch_write(&sketch, text);
    assert_true(sketch_read(slice_string(text), &read));
    assert_memory_equal(&read, &sketch, sizeof read);
    text[3] = 'g';
    assert_false(sketch_read(slice_string(text), &read));
    assert_false(sketch_read(SLICE("12"), &read));
    assert_false(sketch_of(SLICE("\nnonsense\n\"a\n"), SLICE("http://e/"), &read));
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
