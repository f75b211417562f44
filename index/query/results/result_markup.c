/* SPARQL results in JSON and XML. */
#include <string.h>

#include "index/query/results/result_syntax.h"

/* ---- JSON ---- */

static void
json_text(struct buf *buf, const char *before, struct slice text)
{
    (void)buf_append_string(buf, before);
    (void)buf_append_char(buf, '"');
    (void)buf_append_json(buf, text);
    (void)buf_append_char(buf, '"');
}

static enum status
json_columns(struct result_writer *writer, struct reason *why)
{
    (void)why;
    (void)buf_append_string(&writer->buf, "{\"head\":{\"vars\":[");
    for (size_t i = 0; i < writer->count; i++) {
        json_text(&writer->buf, i ? "," : "", writer->names[i]);
    }
    (void)buf_append_string(&writer->buf, "]},\"results\":{\"bindings\":[");
    return STATUS_OK;
}

static void
json_term(struct buf *buf, const struct term *term)
{
    static const char *const types[] = {
        [TERM_NONE] = "", [TERM_IRI] = "uri", [TERM_BLANK] = "bnode", [TERM_LITERAL] = "literal"};
    (void)buf_printf(buf, "{\"type\":\"%s\"", types[term->kind]);
    json_text(buf, ",\"value\":", term->value);
    if (term->kind == TERM_LITERAL && term->language.length) {
        json_text(buf, ",\"xml:lang\":", term->language);
    } else if (term->kind == TERM_LITERAL && term->datatype.length) {
        json_text(buf, ",\"datatype\":", term->datatype);
    }
    (void)buf_append_char(buf, '}');
}

static enum status
json_row(struct result_writer *writer, const struct term *terms, struct reason *why)
{
    bool first = true;
    (void)why;
    (void)buf_append_string(&writer->buf, writer->rows ? ",\n{" : "\n{");
    for (size_t i = 0; i < writer->count; i++) {
        if (terms[i].kind != TERM_NONE) {
            json_text(&writer->buf, first ? "" : ",", writer->names[i]);
            (void)buf_append_char(&writer->buf, ':');
            json_term(&writer->buf, &terms[i]);
            first = false;
        }
    }
    (void)buf_append_char(&writer->buf, '}');
    return STATUS_OK;
}

static enum status
json_boolean(struct result_writer *writer, bool answer, struct reason *why)
{
    (void)why;
    return buf_printf(&writer->buf, "{\"head\":{},\"boolean\":%s}\n", answer ? "true" : "false");
}

static enum status
json_finish(struct result_writer *writer, struct reason *why)
{
    (void)why;
    return writer->answered ? STATUS_OK : buf_append_string(&writer->buf, "\n]}}\n");
}

const struct result_syntax result_json = {json_columns, json_row, json_boolean, NULL, json_finish};

/* ---- XML ---- */

/* U+FFFE and U+FFFF, which XML 1.0 does not have. */
static bool
is_no_character(struct slice rest)
{
    return rest.length > 2 && memcmp(rest.at, "\xEF\xBF", 2) == 0 &&
           (unsigned char)rest.at[2] >= 0xBE;
}

void
result_xml_text(struct buf *buf, struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        switch (c) {
        case '<':
            (void)buf_append_string(buf, "&lt;");
            break;
        case '>':
            (void)buf_append_string(buf, "&gt;");
            break;
        case '&':
            (void)buf_append_string(buf, "&amp;");
            break;
        case '"':
            (void)buf_append_string(buf, "&quot;");
            break;
        case '\r':
            (void)buf_append_string(buf, "&#13;");
            break;
        default:
            /* Control characters that XML 1.0 does not have. */
            if ((unsigned char)c < 0x20 && c != '\n' && c != '\t') {
                (void)buf_append_string(buf, "\xEF\xBF\xBD");
            } else if (is_no_character(slice_of(text.at + i, text.length - i))) {
                (void)buf_append_string(buf, "\xEF\xBF\xBD");
                i += 2;
            } else {
                (void)buf_append_char(buf, c);
            }
        }
    }
}

static void
xml_start(struct buf *buf)
{
    (void)buf_append_string(buf, "<?xml version=\"1.0\"?>\n"
                                 "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n");
}

static enum status
xml_columns(struct result_writer *writer, struct reason *why)
{
    (void)why;
    xml_start(&writer->buf);
    (void)buf_append_string(&writer->buf, "<head>");
    for (size_t i = 0; i < writer->count; i++) {
        (void)buf_printf(&writer->buf, "<variable name=\"%.*s\"/>", SLICE_PRINT(writer->names[i]));
    }
    return buf_append_string(&writer->buf, "</head>\n<results>\n");
}

static void
xml_term(struct buf *buf, const struct term *term)
{
    const char *element = term->kind == TERM_IRI     ? "uri"
                          : term->kind == TERM_BLANK ? "bnode"
                                                     : "literal";
    (void)buf_printf(buf, "<%s", element);
    if (term->kind == TERM_LITERAL && term->language.length) {
        (void)buf_printf(buf, " xml:lang=\"%.*s\"", SLICE_PRINT(term->language));
    } else if (term->kind == TERM_LITERAL && term->datatype.length) {
        (void)buf_append_string(buf, " datatype=\"");
        result_xml_text(buf, term->datatype);
        (void)buf_append_char(buf, '"');
    }
    (void)buf_append_char(buf, '>');
    result_xml_text(buf, term->value);
    (void)buf_printf(buf, "</%s>", element);
}

static enum status
xml_row(struct result_writer *writer, const struct term *terms, struct reason *why)
{
    (void)why;
    (void)buf_append_string(&writer->buf, "<result>");
    for (size_t i = 0; i < writer->count; i++) {
        if (terms[i].kind != TERM_NONE) {
            (void)buf_printf(&writer->buf, "<binding name=\"%.*s\">",
                             SLICE_PRINT(writer->names[i]));
            xml_term(&writer->buf, &terms[i]);
            (void)buf_append_string(&writer->buf, "</binding>");
        }
    }
    return buf_append_string(&writer->buf, "</result>\n");
}

static enum status
xml_boolean(struct result_writer *writer, bool answer, struct reason *why)
{
    (void)why;
    xml_start(&writer->buf);
    return buf_printf(&writer->buf, "<head/>\n<boolean>%s</boolean>\n</sparql>\n",
                      answer ? "true" : "false");
}

static enum status
xml_finish(struct result_writer *writer, struct reason *why)
{
    (void)why;
    return writer->answered ? STATUS_OK
                            : buf_append_string(&writer->buf, "</results>\n</sparql>\n");
}

const struct result_syntax result_xml = {xml_columns, xml_row, xml_boolean, NULL, xml_finish};
