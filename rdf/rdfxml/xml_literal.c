#include "rdf/rdfxml/xml_literal.h"

#include <stdlib.h>

#include "base/memory.h"

struct xml_rendered {
    const xmlChar *prefix, *space; /* NULL: default prefix; no namespace */
    unsigned depth;
};

/* One attribute of SAX2's array. */
struct attribute {
    const xmlChar *local, *prefix, *space, *value, *end;
};

void
xml_literal_init(struct xml_literal *literal, size_t maximum)
{
    *literal = (struct xml_literal){0};
    buf_init(&literal->text, maximum);
}

void
xml_literal_reset(struct xml_literal *literal)
{
    buf_reset(&literal->text);
    literal->rendered_count = 0;
    literal->depth = 0;
}

void
xml_literal_release(struct xml_literal *literal)
{
    buf_release(&literal->text);
    free(literal->rendered);
}

/* Returns what c is replaced by in text, or in an attribute's value; NULL when it stands for
 * itself. */
static const char *
escape_of(char c, bool in_attribute)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return in_attribute ? NULL : "&gt;";
    case '"':
        return in_attribute ? "&quot;" : NULL;
    case '\t':
        return in_attribute ? "&#x9;" : NULL;
    case '\n':
        return in_attribute ? "&#xA;" : NULL;
    case '\r':
        return "&#xD;";
    default:
        return NULL;
    }
}

static void
append_escaped(struct buf *buf, struct slice text, bool in_attribute)
{
    size_t start = 0;
    for (size_t i = 0; i < text.length; i++) {
        const char *escape = escape_of(text.at[i], in_attribute);
        if (escape != NULL) {
            buf_append(buf, text.at + start, i - start);
            buf_append_string(buf, escape);
            start = i + 1;
        }
    }
    buf_append_slice(buf, slice_of(text.at + start, text.length - start));
}

static void
append_name(struct buf *buf, const xmlChar *prefix, const xmlChar *local)
{
    if (prefix != NULL) {
        buf_append_string(buf, (const char *)prefix);
        buf_append_char(buf, ':');
    }
    buf_append_string(buf, (const char *)local);
}

/* Notes that the element being started uses the prefix; shows it unless an ancestor does. */
static void
use_namespace(struct xml_literal *literal, const xmlChar *prefix, const xmlChar *space)
{
    size_t i = literal->rendered_count;
    while (i > 0 && literal->rendered[i - 1].prefix != prefix) {
        i--;
    }
    if (i > 0 ? literal->rendered[i - 1].space == space : prefix == NULL && space == NULL) {
        return;
    }
    if (literal->rendered_count == literal->rendered_size) {
        literal->rendered_size = literal->rendered_size * 2 + 8;
        literal->rendered =
            memory_resize(literal->rendered, literal->rendered_size, sizeof *literal->rendered);
    }
    literal->rendered[literal->rendered_count++] =
        (struct xml_rendered){.prefix = prefix, .space = space, .depth = literal->depth};
}

static int
compare_text(const xmlChar *a, const xmlChar *b)
{
    return strcmp(a != NULL ? (const char *)a : "", b != NULL ? (const char *)b : "");
}

static int
compare_rendered(const void *a, const void *b)
{
    return compare_text(((const struct xml_rendered *)a)->prefix,
                        ((const struct xml_rendered *)b)->prefix);
}

static int
compare_attributes(const void *left, const void *right)
{
    const struct attribute *a = left, *b = right;
    const int order = compare_text(a->space, b->space);
    return order != 0 ? order : compare_text(a->local, b->local);
}

static void
append_namespaces(struct xml_literal *literal, size_t from)
{
    if (from == literal->rendered_count) {
        return;
    }
    qsort(literal->rendered + from, literal->rendered_count - from, sizeof *literal->rendered,
          compare_rendered);
    for (size_t i = from; i < literal->rendered_count; i++) {
        const struct xml_rendered *rendered = &literal->rendered[i];
        const char *space = rendered->space != NULL ? (const char *)rendered->space : "";
        buf_append_string(&literal->text, rendered->prefix != NULL ? " xmlns:" : " xmlns");
        buf_append_string(&literal->text,
                          rendered->prefix != NULL ? (const char *)rendered->prefix : "");
        buf_append_string(&literal->text, "=\"");
        append_escaped(&literal->text, slice_string(space), true);
        buf_append_char(&literal->text, '"');
    }
}

static bool
is_xml_prefix(const xmlChar *prefix)
{
    return strcmp((const char *)prefix, "xml") == 0;
}

void
xml_literal_start(struct xml_literal *literal, const xmlChar *local, const xmlChar *prefix,
                  const xmlChar *space, int attribute_count, const xmlChar **attributes)
{
    const size_t count = (size_t)attribute_count;
    const size_t from = literal->rendered_count;
    struct attribute *sorted = memory_zero(count + 1, sizeof *sorted);
    literal->depth++;
    use_namespace(literal, prefix, space);
    for (size_t i = 0; i < count; i++) {
        const xmlChar **at = attributes + 5 * i;
        sorted[i] = (struct attribute){at[0], at[1], at[2], at[3], at[4]};
        if (at[1] != NULL && !is_xml_prefix(at[1])) {
            use_namespace(literal, at[1], at[2]);
        }
    }
    buf_append_char(&literal->text, '<');
    append_name(&literal->text, prefix, local);
    append_namespaces(literal, from);
    qsort(sorted, count, sizeof *sorted, compare_attributes);
    for (size_t i = 0; i < count; i++) {
        buf_append_char(&literal->text, ' ');
        append_name(&literal->text, sorted[i].prefix, sorted[i].local);
        buf_append_string(&literal->text, "=\"");
        append_escaped(
            &literal->text,
            slice_of((const char *)sorted[i].value, (size_t)(sorted[i].end - sorted[i].value)),
            true);
        buf_append_char(&literal->text, '"');
    }
    buf_append_char(&literal->text, '>');
    free(sorted);
}

void
xml_literal_end(struct xml_literal *literal, const xmlChar *local, const xmlChar *prefix)
{
    buf_append_string(&literal->text, "</");
    append_name(&literal->text, prefix, local);
    buf_append_char(&literal->text, '>');
    while (literal->rendered_count > 0 &&
           literal->rendered[literal->rendered_count - 1].depth == literal->depth) {
        literal->rendered_count--;
    }
    literal->depth--;
}

void
xml_literal_text(struct xml_literal *literal, struct slice text)
{
    append_escaped(&literal->text, text, false);
}

/* Carriage returns are the one thing escaped in comments and instructions. */
static void
append_verbatim(struct buf *buf, const char *text)
{
    const char *carriage;
    while ((carriage = strchr(text, '\r')) != NULL) {
        buf_append(buf, text, (size_t)(carriage - text));
        buf_append_string(buf, "&#xD;");
        text = carriage + 1;
    }
    buf_append_string(buf, text);
}

void
xml_literal_comment(struct xml_literal *literal, const char *text)
{
    buf_append_string(&literal->text, "<!--");
    append_verbatim(&literal->text, text);
    buf_append_string(&literal->text, "-->");
}

void
xml_literal_instruction(struct xml_literal *literal, const char *target, const char *data)
{
    buf_append_string(&literal->text, "<?");
    buf_append_string(&literal->text, target);
    if (data != NULL && *data != '\0') {
        buf_append_char(&literal->text, ' ');
        append_verbatim(&literal->text, data);
    }
    buf_append_string(&literal->text, "?>");
}
