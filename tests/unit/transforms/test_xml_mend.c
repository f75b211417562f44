#include "transforms/xml/xml_mend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct expected {
    const char *input, *output;
    int mistake; /* the one that is counted; -1: none */
};

static void
test_mistakes(void **state)
{
    static const struct expected cases[] = {
        {"<a b='1'>x &amp; &nbsp; &#65; y</a>", "<a b='1'>x &amp; &nbsp; &#x41; y</a>", -1},
        {"junk\n<?xml version='1.0'?><a/>", "    \n                     <a/>", XML_JUNK_BEFORE},
        {"<a>AT&T, a & b, ?x&y=1</a>", "<a>AT&amp;T, a &amp; b, ?x&amp;y=1</a>", XML_AMPERSAND},
        {"<a>&unknown; &#0;&#X41;</a>", "<a>&amp;unknown; &#x41;</a>", XML_REFERENCE},
        {"<a>1 < 2 <3</a>", "<a>1 &lt; 2 &lt;3</a>", XML_LESS_THAN},
        {"<a b='<'/>", "<a b='&lt;'/>", XML_LESS_THAN},
        {"<a>\x01x\x0c</a>", "<a> x </a>", XML_CONTROL},
        {"<a b=1 c d='2'd='3'/>", "<a b=\"1\" c=\"\" d='2' />", XML_ATTRIBUTE},
        {"<a><b><c>x</b></a>", "<a><b><c>x</c></b></a>", XML_NESTING},
        {"<a>x</b></a>", "<a>x</a>", XML_NESTING},
        {"<a><!-- x -- y ---></a>", "<a><!-- x  - y  --></a>", XML_COMMENT},
        {"<a><b>x", "<a><b>x</b></a>", XML_CUT_OFF},
        {"<a><![CDATA[x <b> &", "<a><![CDATA[x <b> &]]></a>", XML_CUT_OFF},
        {"<a>]]></a>", "<a>]]&gt;</a>", -1},
        {"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>",
         -1},
        {"<a <b>x</b></a>", "<a ><b>x</b></a>", XML_NESTING},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        uint64_t mistakes[XML_MISTAKES];
        buf_init(&out, 1 << 20);
        xml_mend(slice_string(cases[i].input), &out, mistakes);
        buf_append_char(&out, 0);
        assert_string_equal(out.data, cases[i].output);
        if (cases[i].mistake >= 0) {
            assert_true(mistakes[cases[i].mistake] > 0);
        }
        buf_release(&out);
    }
}

/* Depth is bounded, and so is the work for ends that end nothing. */
static void
test_depth(void **state)
{
    enum { DEEP = 100000 };
    struct buf in, out;
    uint64_t mistakes[XML_MISTAKES];
    (void)state;
    buf_init(&in, 16 << 20);
    buf_init(&out, 16 << 20);
    for (int i = 0; i < DEEP; i++) {
        buf_append_string(&in, "<a></b>");
    }
    xml_mend(buf_slice(&in), &out, mistakes);
    assert_int_equal(out.length, (size_t)XML_MEND_DEPTH * 7);
    buf_release(&in);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
