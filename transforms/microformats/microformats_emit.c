/* Items to statements, by the tables of microformats_vocabulary.c; what they do not name goes to
 * the microformat's profile, so that nothing is lost. */
#include <stdio.h>

#include "base/ascii.h"
#include "rdf/core/vocabulary.h"
#include "transforms/common/vocabulary.h"
#include "transforms/microdata/microdata.h"
#include "transforms/microformats/microformats_parser.h"
#include "transforms/page/page_extract.h"

#define PROFILE "http://microformats.org/profile/"
#define XFN "http://vocab.sindice.com/xfn#"
#define RDF_HTML RDF_NAMESPACE "HTML"

enum { LABEL = 32, DATE_SIZE = 96 };

enum finding { FOUND_BAD_DATE, FOUND_NO_NAME, FINDINGS };

struct writer {
    const struct html_tree *tree;
    struct links *links;
    const struct microformats_options *options;
    struct emitter *emitter;
    struct buf iri; /* predicates of profiles */
    unsigned items; /* said so far: their labels */
    struct {
        uint32_t count, node;
    } findings[FINDINGS];
};

static void
find(struct writer *w, enum finding finding, uint32_t node)
{
    if (w->findings[finding].count++ == 0) {
        w->findings[finding].node = node;
    }
}

static void
set_line(struct writer *w, uint32_t node)
{
    w->emitter->line = w->options->lines ? html_line(w->tree, node) : 0;
}

/* ---- terms ---- */

static struct term
plain(struct writer *w, uint32_t node, struct slice text, char language[36])
{
    struct html_walk walk = {.tree = w->tree};
    struct term term = term_literal(text);
    term.language = html_walk_language(&walk, node, language);
    return term;
}

/* A date as XML Schema writes it: T, seconds, a colon in the offset. */
static struct slice
schema_date(struct slice text, char result[DATE_SIZE])
{
    struct microformat_moment moment = {{0}};
    text = slice_trim(text);
    if (microformat_date_of(text).length != 10 || text.length > 40) {
        return text;
    }
    microformat_moment_add(&moment, text);
    if (moment.time[0] == '\0') {
        return text;
    }
    const size_t zone = strlen(moment.zone);
    int length = snprintf(result, DATE_SIZE, "%sT%s%s", moment.date, moment.time,
                          strlen(moment.time) == 5 ? ":00" : "");
    if (moment.zone[0] == 'z') {
        moment.zone[0] = 'Z';
    }
    const bool joined = zone == 5 && !strchr(moment.zone, ':');
    length += snprintf(result + length, DATE_SIZE - (size_t)length, "%.3s%s%s", moment.zone,
                       joined || zone == 3 ? ":" : "",
                       zone == 3  ? "00"
                       : zone > 3 ? moment.zone + 3
                                  : "");
    return slice_of(result, (size_t)length);
}

static struct term
date_term(struct writer *w, const struct microformat_value *value, char text[DATE_SIZE],
          char language[36])
{
    const struct slice date = schema_date(value->text, text);
    const char *type = microdata_time_type(date);
    if (type) {
        struct term term = term_literal(date);
        term.datatype = slice_string(type);
        return term;
    }
    if (microformat_date_of(value->text).length == 0) {
        find(w, FOUND_BAD_DATE, value->node);
    }
    return plain(w, value->node, value->text, language);
}

static struct term
url_term(struct writer *w, const struct microformat_value *value, char language[36])
{
    struct slice iri, url = value->text;
    char mail[512];
    if (microformat_is_mailbox(url) && url.length < 500) {
        const int length = snprintf(mail, sizeof mail, "mailto:%.*s", SLICE_PRINT(url));
        url = slice_of(mail, (size_t)length);
    }
    if (links_resolve(w->links, url, &iri)) {
        return term_iri(iri);
    }
    return plain(w, value->node, value->text, language);
}

/* ---- statements ---- */

static void
emit_statement(struct writer *w, const struct term *subject, const char *predicate,
               const struct term *object)
{
    if (predicate[0] != '^') {
        emit(w->emitter, subject, predicate, object);
    } else if (object->kind != TERM_LITERAL) {
        emit(w->emitter, object, predicate + 1, subject);
    } else {
        char label[LABEL];
        const int length = snprintf(label, sizeof label, "microformat%u", w->items++);
        const struct term node = term_blank(slice_of(label, (size_t)length));
        emit(w->emitter, &node, RDF_NAMESPACE "value", object);
        emit(w->emitter, &node, predicate + 1, subject);
    }
}

static void
say_property(struct writer *w, const struct microformat_item *item, const struct term *subject,
             struct slice name, const struct term *object)
{
    bool said = false;
    for (size_t i = 0; i < item->type_count; i++) {
        const char *predicate = microformat_property_of(item->types[i], name);
        if (predicate) {
            emit_statement(w, subject, predicate, object);
            said = true;
        }
    }
    if (!said) {
        buf_reset(&w->iri);
        buf_printf(&w->iri, PROFILE "%.*s#%.*s", SLICE_PRINT(item->types[0]), SLICE_PRINT(name));
        emit_statement(w, subject, w->iri.data, object);
    }
}

static void
say_types(struct writer *w, const struct microformat_item *item, const struct term *subject)
{
    for (size_t i = 0; i < item->type_count; i++) {
        const char *class = microformat_class_of(item->types[i]);
        buf_reset(&w->iri);
        buf_printf(&w->iri, PROFILE "%.*s", SLICE_PRINT(item->types[i]));
        const struct term profile = term_iri(buf_slice(&w->iri));
        emit(w->emitter, subject, RDF_TYPE, &profile);
        if (class) {
            const struct term object = term_iri(slice_string(class));
            emit(w->emitter, subject, RDF_TYPE, &object);
        }
    }
}

/* "30.267991;-97.739568": what stands for a place without properties. */
static bool
say_position(struct writer *w, const struct microformat_item *item, const struct term *subject,
             struct slice text)
{
    const size_t middle = slice_find(text, ';');
    if (!slice_is(item->types[0], "h-geo") || middle == text.length) {
        return false;
    }
    const struct term latitude = term_literal(slice_trim(slice_of(text.at, middle)));
    const struct term longitude =
        term_literal(slice_trim(slice_of(text.at + middle + 1, text.length - middle - 1)));
    say_property(w, item, subject, SLICE("latitude"), &latitude);
    say_property(w, item, subject, SLICE("longitude"), &longitude);
    return true;
}

static void say_item(struct writer *w, const struct microformat_item *item, struct term *subject,
                     char label[LABEL]);

static void
say_value(struct writer *w, const struct microformat_item *item, const struct term *subject,
          struct slice name, const struct microformat_value *value)
{
    char language[36], label[LABEL], date[DATE_SIZE];
    struct term object;
    if (value->item) {
        say_item(w, value->item, &object, label);
        set_line(w, value->node);
        say_property(w, item, subject, name, &object);
        if (!value->item->properties && value->text.length > 0 &&
            !say_position(w, value->item, &object, value->text)) {
            const struct term text = plain(w, value->node, value->text, language);
            emit(w->emitter, &object, RDF_NAMESPACE "value", &text);
        }
        return;
    }
    set_line(w, value->node);
    switch (value->kind) {
    case MICROFORMAT_URL:
        object = url_term(w, value, language);
        break;
    case MICROFORMAT_DATE:
        object = date_term(w, value, date, language);
        break;
    default:
        object = plain(w, value->node, value->text, language);
    }
    if (object.value.length == 0) {
        return;
    }
    say_property(w, item, subject, name, &object);
    if (value->has_alt && value->alt.length > 0 && object.kind == TERM_IRI) {
        const struct term alt = plain(w, value->node, value->alt, language);
        emit(w->emitter, &object, VOCABULARY_QUADRILLE "alternativeText", &alt);
    }
    if (value->has_html && slice_find(value->html, '<') < value->html.length) {
        struct term html = term_literal(value->html);
        html.datatype = SLICE(RDF_HTML);
        say_property(w, item, subject, name, &html);
    }
}

static void
say_item(struct writer *w, const struct microformat_item *item, struct term *subject,
         char label[LABEL])
{
    const int length = snprintf(label, LABEL, "microformat%u", w->items++);
    bool named = false;
    *subject = term_blank(slice_of(label, (size_t)length));
    set_line(w, item->node);
    say_types(w, item, subject);
    for (const struct microformat_property *property = item->properties; property;
         property = property->next) {
        named |= slice_is(property->name, "name");
        for (const struct microformat_value *value = property->first; value; value = value->next) {
            say_value(w, item, subject, property->name, value);
        }
    }
    if (!named && slice_is(item->types[0], "h-card")) {
        find(w, FOUND_NO_NAME, item->node);
    }
    for (const struct microformat_item *child = item->children;
         child && w->emitter->status == STATUS_OK; child = child->next) {
        char child_label[LABEL];
        struct term object;
        say_item(w, child, &object, child_label);
        emit(w->emitter, subject, VOCABULARY_DCTERMS "hasPart", &object);
    }
}

/* ---- XFN ---- */

static bool
is_xfn(struct slice word, char lower[16])
{
    static const char *const words[] = {
        "me",        "contact",  "acquaintance", "friend", "met",    "co-worker",
        "colleague", "neighbor", "co-resident",  "child",  "parent", "sibling",
        "spouse",    "kin",      "muse",         "crush",  "date",   "sweetheart"};
    if (word.length >= 16) {
        return false;
    }
    for (size_t i = 0; i < word.length; i++) {
        const char c = word.at[i];
        lower[i] = ascii_lower(c);
    }
    lower[word.length] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], lower) == 0) {
            return true;
        }
    }
    return false;
}

/* The page's author and the person of the page that the link leads to. */
static void
say_relation(struct writer *w, const struct microformat_relation *relation, const char *rel,
             bool first)
{
    const char *const is_topic_of = VOCABULARY_FOAF "isPrimaryTopicOf";
    const struct term author = term_blank(SLICE("microformatauthor"));
    const struct term person = term_iri(SLICE(VOCABULARY_FOAF "Person"));
    char predicate[128], label[LABEL];
    struct slice iri;
    if (!links_resolve(w->links, relation->url, &iri)) {
        return;
    }
    const struct term target = term_iri(iri);
    set_line(w, relation->node);
    emit(w->emitter, &author, RDF_TYPE, &person);
    emit(w->emitter, &author, is_topic_of, &w->emitter->document);
    snprintf(predicate, sizeof predicate, XFN "%s-hyperlink", rel);
    emit(w->emitter, &w->emitter->document, predicate, &target);
    if (strcmp(rel, "me") == 0) {
        emit(w->emitter, &author, is_topic_of, &target);
        return;
    }
    const int length = snprintf(label, sizeof label, "microformatperson%u", relation->node);
    const struct term other = term_blank(slice_of(label, (size_t)length));
    if (first) {
        emit(w->emitter, &other, RDF_TYPE, &person);
        emit(w->emitter, &other, is_topic_of, &target);
    }
    snprintf(predicate, sizeof predicate, XFN "%s", rel);
    emit(w->emitter, &author, predicate, &other);
}

static void
say_relations(struct writer *w, const struct microformat_relation *relation)
{
    for (; relation && w->emitter->status == STATUS_OK; relation = relation->next) {
        struct slice rels = relation->rels, word;
        bool first = true;
        char rel[16];
        while ((word = slice_next_word(&rels)).length > 0) {
            if (is_xfn(word, rel)) {
                say_relation(w, relation, rel, first);
                first &= strcmp(rel, "me") == 0;
            }
        }
    }
}

static void
tell_findings(struct writer *w)
{
    static const char *const texts[FINDINGS] = {
        [FOUND_BAD_DATE] = "a date is none as ISO 8601 writes them: put one such as 2026-01-31 or "
                           "2026-01-31T09:00:00+01:00 into datetime or into class value",
        [FOUND_NO_NAME] = "a card without a name: give one element of it the class fn (vcard) or "
                          "p-name (h-card)"};
    for (size_t i = 0; i < FINDINGS; i++) {
        char text[400];
        if (w->findings[i].count == 0 || !w->options->advice.problem) {
            continue;
        }
        const int length = snprintf(text, sizeof text, "%s", texts[i]);
        if (w->findings[i].count > 1) {
            snprintf(text + length, sizeof text - (size_t)length, "; %u times on the page",
                     (unsigned)w->findings[i].count);
        }
        const struct parse_problem problem = {.line = html_line(w->tree, w->findings[i].node),
                                              .text = text};
        w->options->advice.problem(w->options->advice.context, &problem);
    }
}

enum status
microformats_emit(const struct html_tree *tree, const struct microformats *found,
                  struct links *links, const struct microformats_options *options,
                  struct emitter *emitter)
{
    struct writer w = {.tree = tree, .links = links, .options = options, .emitter = emitter};
    buf_init(&w.iri, 1 << 20);
    for (const struct microformat_item *item = found->items; item && emitter->status == STATUS_OK;
         item = item->next) {
        char label[LABEL];
        struct term subject;
        say_item(&w, item, &subject, label);
    }
    say_relations(&w, found->relations);
    tell_findings(&w);
    if (found->cut && options->problems.problem) {
        const struct parse_problem problem = {
            .text = "microformats lie in each other, or include each other, without end: some of "
                    "what they say was left out"};
        options->problems.problem(options->problems.context, &problem);
    }
    buf_release(&w.iri);
    return emitter->status;
}
