/* Pages and what is said of them, tree by tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/memory.h"
#include "tests/unit/brief.h"
#include "tests/unit/transforms/html_tokens.h"
#include "transforms/html/html.h"
#include "transforms/html/html_entities.h"
#include "transforms/xml/xml.h"

/* The tree as text: element(children), texts in quotes. */
static void
print_node(const struct html_tree *tree, uint32_t node, struct buf *out)
{
    const struct html_node *nodes = tree->nodes;
    uint32_t child = node + 1;
    bool first = true;
    for (; child < nodes[node].end; child = nodes[child].end) {
        assert_int_equal(nodes[child].parent, node);
        buf_append_string(out, first ? "" : " ");
        first = false;
        if (nodes[child].kind == HTML_TEXT) {
            buf_printf(out, "'%.*s'", SLICE_PRINT(nodes[child].text));
            continue;
        }
        buf_append_slice(out, nodes[child].text);
        for (uint32_t i = 0; i < nodes[child].attribute_count; i++) {
            const struct html_attribute *attribute = &tree->attributes[nodes[child].attribute + i];
            buf_printf(out, "[%.*s=%.*s]", SLICE_PRINT(attribute->name),
                       SLICE_PRINT(attribute->value));
        }
        if (nodes[child].end > child + 1) {
            buf_append_char(out, '(');
            print_node(tree, child, out);
            buf_append_char(out, ')');
        }
    }
    assert_int_equal(child, nodes[node].end);
}

static void
check(const char *page, const char *expected, unsigned repair)
{
    struct arena arena;
    struct html_tree tree;
    struct buf out;
    struct reason why;
    arena_init(&arena, 1 << 20);
    html_tree_init(&tree, &arena);
    buf_init(&out, 1 << 20);
    assert_int_equal(html_parse(&tree, slice_string(page), &why), STATUS_OK);
    print_node(&tree, 0, &out);
    assert_string_equal(out.data ? out.data : "", expected);
    assert_int_equal(tree.repair, repair);
    buf_release(&out);
    html_tree_release(&tree);
    arena_release(&arena);
}

#define BODY(inner) "html(head body(" inner "))"

static void
test_tokens(void **state)
{
    (void)state;
    check("<p a=1 B='2' c=\"3\" d A=9 e = f/g>x", BODY("p[a=1][b=2][c=3][d=][e=f/g]('x')"), 0);
    check("a<!-- b > --!>c<!-->d<!doctype x>e<?php f ?>g</ h>i", BODY("'a' 'c' 'd' 'e' 'g' 'i'"),
          0);
    check("1 < 2 & 3 &lt; 4 &amp;&nbsp;&#x41;&#66;&notit;&unknown; &copy",
          BODY("'1 < 2 & 3 < 4 &\302\240AB\302\254it;&unknown; \302\251'"), 0);
    check("<a href='?a=1&copy=2&amp;b&lt'>x</a>", BODY("a[href=?a=1&copy=2&b<]('x')"), 0);
    check("<script>if (a<b) '</scr'</script>t", "html(head(script('if (a<b) '</scr'')) body('t'))",
          0);
    check("<script><!-- <script> </script> --></script>t",
          "html(head(script('<!-- <script> </script> -->')) body('t'))", 0);
    check("<textarea><b>&amp;</textarea>", BODY("textarea('<b>&')"), 0);
    check("<p>x<a href=", BODY("p('x')"), 0);
    check("<plaintext><b>", BODY("plaintext('<b>')"), 0);
    check("<P>\303\244</P>", BODY("P('\303\244')"), 0);
}

static void
test_implied_ends(void **state)
{
    (void)state;
    check("<p>a<p>b<div>c", BODY("p('a') p('b') div('c')"), 0);
    check("<ul><li>a<ul><li>b</ul><li>c</ul>d", BODY("ul(li('a' ul(li('b'))) li('c')) 'd'"), 0);
    check("<dl><dt>a<dd>b<dt>c", BODY("dl(dt('a') dd('b') dt('c'))"), 0);
    check("<table><tr><td>a<td>b<tr><th>c</table>d",
          BODY("table(tbody(tr(td('a') td('b')) tr(th('c')))) 'd'"), 0);
    check("<table><thead><tr><td>a<tbody><tr><td>b",
          BODY("table(thead(tr(td('a'))) tbody(tr(td('b'))))"), 0);
    check("<td>a</td>b", BODY("'a' 'b'"), 0);
    check("<select><option>a<option>b<optgroup><option>c</select>",
          BODY("select(option('a') option('b') optgroup(option('c')))"), 0);
    check("<h1>a<h2>b</h1>c", BODY("h1('a') h2('b') 'c'"), 0);
    check("<button>a<button>b", BODY("button('a') button('b')"), 0);
    check("<ruby>a<rt>b<rp>c</ruby>", BODY("ruby('a' rt('b') rp('c'))"), 0);
}

static void
test_head(void **state)
{
    (void)state;
    check("", "html(head body)", 0);
    check("<!-- c --><head><noscript><meta></noscript>", "html(head(noscript(meta)) body)", 0);
    check("<head><noscript>", "html(head(noscript) body)", 0);
    check("<head><template><template>x", "html(head(template(template('x'))) body)", 0);
    check("<frameset> a b", "html(head frameset(' ' ' '))", 0);
    check("<svg>\xEF\xBF\xBD </svg><frameset>", "html(head frameset)", HTML_REPAIR_MOVED);
    check(" <title>a</title> <meta x> b", "html(head(title('a') ' ' meta[x=] ' ') body('b'))", 0);
    check("<html lang=en><head><link></head><body class=c>a</body></html>",
          "html[lang=en](head(link) body[class=c]('a'))", 0);
    check("<p>a<title>b</title>", BODY("p('a' title('b'))"), 0);
    check("<frameset><frame src=a></frameset>", "html(head frameset(frame[src=a]))", 0);
}

static void
test_foreign(void **state)
{
    (void)state;
    check("<svg><title>a</title><path/><g>b</g></svg>c", BODY("svg(title('a') path g('b')) 'c'"),
          0);
    check("<svg><![CDATA[<x>]]></svg><![CDATA[y]]>z", BODY("svg('<x>') 'z'"), 0);
    check("<svg><g><p>a", BODY("svg(g) p('a')"), 0);
    check("<svg><foreignObject><p>a</p></foreignObject></svg>b",
          BODY("svg(foreignObject(p('a'))) 'b'"), 0);
    check("<math><mi>x</mi></math>", BODY("math(mi('x'))"), 0);
}

static void
test_anchors(void **state)
{
    (void)state;
    check("<a>x<a>y", BODY("a('x') a('y')"), 0);
    check("<a><b>x</a>y</b>", BODY("a(b('x')) b('y')"), 0);
    check("<a><div>x</div></a>", BODY("a(div('x'))"), 0);
    check("<a><table><tr><td><a>x</a></table></a>", BODY("a(table(tbody(tr(td(a('x'))))))"), 0);
    check("<p><a>x</p> <p></a>y", BODY("p(a('x')) a(' ') p(a 'y')"), HTML_REPAIR_MOVED);
    check("<p><a>x</p>y", BODY("p(a('x')) a('y')"), 0);
    check("<a><p>x</a>y", BODY("a p(a('x') 'y')"), HTML_REPAIR_MOVED);
    check("<a href=1><p>x<a href=2>y", BODY("a[href=1] p(a[href=1]('x') a[href=2]('y'))"),
          HTML_REPAIR_MOVED);
    check("<title>x", "html(head(title('x')) body)", HTML_REPAIR_RAW);
    check("<nobr><table><marquee></table><nobr>", BODY("nobr(marquee table) nobr"),
          HTML_REPAIR_MOVED);
    check("<title>x &amp; <p>y<title>z", "html(head(title('x & ')) body(p('y' title('z'))))",
          HTML_REPAIR_RAW);
}

static void
test_misnested_formatting(void **state)
{
    (void)state;
    /* The standard's own examples, https://html.spec.whatwg.org/#an-introduction-to-error-handling
     */
    check("<p>1<b>2<i>3</b>4</i>5</p>", BODY("p('1' b('2' i('3')) i('4') '5')"), 0);
    check("<b>1<p>2</b>3</p>", BODY("b('1') p(b('2') '3')"), HTML_REPAIR_MOVED);
    check("<!DOCTYPE html><table><b><tr><td>aaa</td></tr>bbb</table>ccc",
          BODY("b b('bbb') table(tbody(tr(td('aaa')))) b('ccc')"), HTML_REPAIR_MOVED);
    check("<a><b><c><p>1</a>2", BODY("a(b(c)) b(p(a('1') '2'))"), HTML_REPAIR_MOVED);
    check("<b><em><foo><foo><foo><aside></b>", BODY("b(em(foo(foo(foo)))) aside(b)"),
          HTML_REPAIR_MOVED);
    check("<p><font size=4><font size=4><font size=4><font size=4><p>X",
          BODY("p(font[size=4](font[size=4](font[size=4](font[size=4])))) "
               "p(font[size=4](font[size=4](font[size=4]('X'))))"),
          0);
    check("<b><button>x</b>y</button>", BODY("b button(b('x') 'y')"), HTML_REPAIR_MOVED);
    check("<nobr>a<nobr>b", BODY("nobr('a') nobr('b')"), 0);
    check("<object><b></object>x", BODY("object(b) 'x'"), 0);
}

static void
test_fostering(void **state)
{
    (void)state;
    check("<table>a<tr>b<td>c</table>d", BODY("'a' 'b' table(tbody(tr(td('c')))) 'd'"),
          HTML_REPAIR_MOVED);
    check("<div><table><p itemprop=x>y</table></div>z", BODY("div(p[itemprop=x]('y') table) 'z'"),
          HTML_REPAIR_MOVED);
    check("<table><form><input type=hidden><tr><td></form>x</table>",
          BODY("table(form input[type=hidden] tbody(tr(td('x'))))"), 0);
    check("<table><a>1<tr><td>2</table>3", BODY("a('1') table(tbody(tr(td('2')))) a('3')"),
          HTML_REPAIR_MOVED);
    check("<table><template><tr><td>x</template></table>", BODY("table(template(tr(td('x'))))"), 0);
    check("<table><col><caption>a<td>b</table>",
          BODY("table(colgroup(col) caption('a') tbody(tr(td('b'))))"), 0);
}

static void
test_quirks(void **state)
{
    (void)state;
    check("<p><table>", BODY("p(table)"), 0);
    check("<!DOCTYPE html><p><table>", BODY("p table"), 0);
    check("<!doctype html public '-//W3C//DTD HTML 4.01 Transitional//EN'><p><table>",
          BODY("p(table)"), 0);
    check("<!doctype html public '-//W3C//DTD HTML 4.01 Transitional//EN' 'x'><p><table>",
          BODY("p table"), 0);
    check("<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 3.2 Final//EN'><p><table>", BODY("p(table)"), 0);
}

static void
test_templates(void **state)
{
    (void)state;
    check("<template><li>a<p>b</template>c", "html(head(template(li('a' p('b')))) body('c'))", 0);
    check("<div><template><div></template></div>x", BODY("div(template(div)) 'x'"), 0);
    check("</template>x", BODY("'x'"), 0);
    check("<body><template><b></template>x", BODY("template(b) 'x'"), 0);
}

static void
test_lines_and_nuls(void **state)
{
    (void)state;
    const struct slice page = SLICE("<pre>\r\na\r\nb\0c</pre><textarea>\nd\re</textarea>");
    struct arena arena;
    struct html_tree tree;
    struct buf out;
    struct reason why;
    arena_init(&arena, 1 << 20);
    html_tree_init(&tree, &arena);
    buf_init(&out, 1 << 20);
    assert_int_equal(html_parse(&tree, page, &why), STATUS_OK);
    print_node(&tree, 0, &out);
    assert_string_equal(out.data, BODY("pre('a\nbc') textarea('d\ne')"));
    assert_int_equal(html_line(&tree, tree.node_count - 1), 4);
    assert_int_equal(html_line(&tree, 1), 1);
    buf_release(&out);
    html_tree_release(&tree);
    arena_release(&arena);
}

static void
test_deep_nesting_is_bounded(void **state)
{
    (void)state;
    const size_t depth = brief(100000, 10000);
    struct arena arena;
    struct html_tree tree;
    struct reason why;
    char *page = memory_alloc(depth * 5);
    for (size_t i = 0; i < depth; i++) {
        memcpy(page + i * 5, "<div>", 5);
    }
    arena_init(&arena, 64 << 20);
    html_tree_init(&tree, &arena);
    assert_int_equal(html_parse(&tree, slice_of(page, depth * 5), &why), STATUS_OK);
    assert_int_equal(tree.repair, HTML_REPAIR_DEPTH);
    assert_int_equal(tree.node_count, depth + 4); /* document, html, head, body */
    html_tree_release(&tree);
    arena_release(&arena);
    free(page);
}

static void
test_xhtml(void **state)
{
    (void)state;
    struct arena arena;
    struct html_tree tree;
    struct buf out;
    struct reason why;
    xml_prepare();
    arena_init(&arena, 1 << 20);
    html_tree_init(&tree, &arena);
    buf_init(&out, 1 << 20);
    const struct slice good = SLICE("<html xmlns='http://www.w3.org/1999/xhtml' xml:lang='de'>"
                                    "<p>&uuml;<![CDATA[<x>]]></p><br/></html>");
    assert_int_equal(xhtml_parse(&tree, good, &why), STATUS_OK);
    print_node(&tree, 0, &out);
    assert_string_equal(
        out.data, "html[xml:lang=de][xmlns=http://www.w3.org/1999/xhtml](p('\303\274' '<x>') br)");
    assert_int_equal(html_line(&tree, 1), 1);
    assert_int_equal(xhtml_parse(&tree, SLICE("<html><p></html>"), &why), STATUS_BAD_INPUT);
    assert_int_equal(xhtml_parse(&tree,
                                 SLICE("<!DOCTYPE html SYSTEM '/etc/passwd'>"
                                       "<html>&x;</html>"),
                                 &why),
                     STATUS_OK);
    buf_release(&out);
    html_tree_release(&tree);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),    cmocka_unit_test(test_implied_ends),
        cmocka_unit_test(test_head),      cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_anchors),   cmocka_unit_test(test_deep_nesting_is_bounded),
        cmocka_unit_test(test_xhtml),     cmocka_unit_test(test_misnested_formatting),
        cmocka_unit_test(test_fostering), cmocka_unit_test(test_quirks),
        cmocka_unit_test(test_templates), cmocka_unit_test(test_lines_and_nuls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + html_tokens_run();
}
