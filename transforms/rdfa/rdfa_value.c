/* Values of properties that are literals: RDFa Core 1.1, section 7.5 step 11; HTML+RDFa 1.1 for
 * datetime and rdf:HTML. */
#include "rdf/core/vocabulary.h"
#include "transforms/rdfa/rdfa_processor.h"

#define RDF_HTML RDF_NAMESPACE "HTML"

/* ---- text ---- */

/* The text inside, as it stands; a lone piece is not copied. */
static struct slice
text_inside(struct rdfa *rdfa, uint32_t node)
{
    const struct html_node *nodes = rdfa->tree->nodes;
    struct slice only = {"", 0};
    unsigned pieces = 0;
    buf_reset(&rdfa->text);
    for (uint32_t i = node + 1; i < nodes[node].end;) {
        if (nodes[i].kind == HTML_ELEMENT && nodes[i].element == HTML_TEMPLATE) {
            i = nodes[i].end;
            continue;
        }
        if (nodes[i].kind == HTML_TEXT) {
            if (pieces++ == 1) {
                buf_append_slice(&rdfa->text, only);
            }
            only = nodes[i].text;
            if (pieces > 1) {
                buf_append_slice(&rdfa->text, nodes[i].text);
            }
        }
        i++;
    }
    return pieces < 2 ? only : rdfa_keep(rdfa, buf_slice(&rdfa->text));
}

/* ---- dates ---- */

/* Patterns of XML Schema's lexical forms: 9 is a digit, + one or more of them, ? what may be
 * missing up to ';', T? of duration is handled apart. */
struct reader {
    const char *at, *end;
};

static size_t
digits(struct reader *reader)
{
    const char *from = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') {
        reader->at++;
    }
    return (size_t)(reader->at - from);
}

static bool
take(struct reader *reader, char c)
{
    if (reader->at < reader->end && *reader->at == c) {
        reader->at++;
        return true;
    }
    return false;
}

static bool
two(struct reader *reader, char before)
{
    return (!before || take(reader, before)) && digits(reader) == 2;
}

static bool
year(struct reader *reader)
{
    take(reader, '-');
    return digits(reader) >= 4;
}

static bool
clock_time(struct reader *reader)
{
    if (!two(reader, 0) || !two(reader, ':') || !two(reader, ':')) {
        return false;
    }
    return !take(reader, '.') || digits(reader) > 0;
}

static bool
zone(struct reader *reader)
{
    if (reader->at == reader->end) {
        return true;
    }
    if (!take(reader, 'Z')) {
        if (!take(reader, '+') && !take(reader, '-')) {
            return false;
        }
        if (!two(reader, 0) || !two(reader, ':')) {
            return false;
        }
    }
    return reader->at == reader->end;
}

static bool
is_year(struct reader reader)
{
    return year(&reader) && zone(&reader);
}

static bool
is_year_month(struct reader reader)
{
    return year(&reader) && two(&reader, '-') && zone(&reader);
}

static bool
is_date(struct reader reader)
{
    return year(&reader) && two(&reader, '-') && two(&reader, '-') && zone(&reader);
}

static bool
is_time(struct reader reader)
{
    return clock_time(&reader) && zone(&reader);
}

static bool
is_date_time(struct reader reader)
{
    return year(&reader) && two(&reader, '-') && two(&reader, '-') && take(&reader, 'T') &&
           clock_time(&reader) && zone(&reader);
}

/* Numbers with these units in this order; how many there were. -1: something else. */
static int
quantities(struct reader *reader, const char *units)
{
    int count = 0;
    while (reader->at < reader->end && *reader->at != 'T') {
        bool good = digits(reader) > 0;
        const bool fraction = good && take(reader, '.');
        good = good && (!fraction || digits(reader) > 0) && reader->at < reader->end;
        const char *unit = good ? strchr(units, *reader->at) : NULL;
        if (!unit || !*unit || (fraction && *unit != 'S')) {
            return -1;
        }
        units = unit + 1;
        reader->at++;
        count++;
    }
    return count;
}

static bool
is_duration(struct reader reader)
{
    take(&reader, '-');
    if (!take(&reader, 'P')) {
        return false;
    }
    const int days = quantities(&reader, "YMD");
    if (days < 0) {
        return false;
    }
    if (take(&reader, 'T')) {
        return quantities(&reader, "HMS") > 0 && reader.at == reader.end;
    }
    return days > 0 && reader.at == reader.end;
}

static struct slice
date_type(struct slice text)
{
    static const struct {
        bool (*is)(struct reader reader);
        struct slice type;
    } types[] = {
        {is_date_time, SLICE_INIT(XSD_NAMESPACE "dateTime")},
        {is_date, SLICE_INIT(XSD_NAMESPACE "date")},
        {is_time, SLICE_INIT(XSD_NAMESPACE "time")},
        {is_duration, SLICE_INIT(XSD_NAMESPACE "duration")},
        {is_year_month, SLICE_INIT(XSD_NAMESPACE "gYearMonth")},
        {is_year, SLICE_INIT(XSD_NAMESPACE "gYear")},
    };
    for (size_t i = 0; text.length > 0 && i < sizeof types / sizeof *types; i++) {
        if (types[i].is((struct reader){text.at, text.at + text.length})) {
            return types[i].type;
        }
    }
    return (struct slice){0};
}

/* ---- literals ---- */

static bool
has_markup(const struct rdfa *rdfa, uint32_t node)
{
    const struct html_node *nodes = rdfa->tree->nodes;
    for (uint32_t i = node + 1; i < nodes[node].end; i++) {
        if (nodes[i].kind == HTML_ELEMENT) {
            return true;
        }
    }
    return false;
}

static struct term
typed(struct slice text, struct slice datatype)
{
    struct term term = term_literal(text);
    if (!slice_is(datatype, XSD_STRING)) {
        term.datatype = datatype;
    }
    return term;
}

static struct term
plain(const struct rdfa_context *context, struct slice text)
{
    struct term term = term_literal(text);
    term.language = context->language;
    return term;
}

static struct slice
datatype_of(struct rdfa *rdfa, const struct rdfa_context *context,
            const struct rdfa_element *element)
{
    struct slice value = element->values[RDFA_DATATYPE], token;
    if (!rdfa_has(element, RDFA_BIT(DATATYPE)) || (token = slice_next_word(&value)).length == 0) {
        return (struct slice){0};
    }
    const struct slice iri = rdfa_name(rdfa, context, token, RDFA_USE_DATATYPE).value;
    return slice_is(iri, RDF_NAMESPACE "langString") ? (struct slice){0} : iri;
}

struct term
rdfa_literal(struct rdfa *rdfa, const struct rdfa_context *context,
             const struct rdfa_element *element, bool *is_xml)
{
    const struct slice datatype = datatype_of(rdfa, context, element);
    const bool has_datatype = rdfa_has(element, RDFA_BIT(DATATYPE));
    const bool has_content = rdfa_has(element, RDFA_BIT(CONTENT));
    const bool has_date = !has_content && rdfa_has(element, RDFA_BIT(DATETIME));
    *is_xml =
        slice_is(datatype, RDF_XML_LITERAL) || (rdfa->host == RDFA_XHTML_1_0 && !has_datatype &&
                                                !has_content && has_markup(rdfa, element->node));
    if (*is_xml) {
        rdfa_write_xml(rdfa, element->node);
        return typed(rdfa_keep(rdfa, buf_slice(&rdfa->text)), SLICE(RDF_XML_LITERAL));
    }
    if (slice_is(datatype, RDF_HTML) && rdfa->host != RDFA_XHTML_1_0) {
        rdfa_write_html(rdfa, element->node);
        return typed(rdfa_keep(rdfa, buf_slice(&rdfa->text)), datatype);
    }
    const struct slice text = has_content ? element->values[RDFA_CONTENT]
                              : has_date  ? element->values[RDFA_DATETIME]
                                          : text_inside(rdfa, element->node);
    if (datatype.length > 0) {
        return typed(text, datatype);
    }
    const bool is_time = rdfa->host == RDFA_HTML && !has_content &&
                         rdfa->tree->nodes[element->node].element == HTML_TIME;
    if (!has_datatype && (has_date || is_time)) {
        const struct slice type = date_type(text);
        if (type.at) {
            return typed(text, type);
        }
    }
    return plain(context, text);
}
