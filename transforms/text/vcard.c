/* The transform "vcard": vCard 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350) to the vocabulary
 * http://www.w3.org/2006/vcard/ns#. libical reads no vCards; the content lines are the same.
 */
#include <stdio.h>

#include "rdf/core/lexical.h"
#include "transforms/core/builtins.h"
#include "transforms/media/media.h"
#include "transforms/text/content_line.h"

#define VCARD "http://www.w3.org/2006/vcard/ns#"

enum { CARD_TEXT = 64 << 10, CARD_VALUES = 200 };

struct cards {
    struct transformation *transformation;
    struct quad_sink sink;
    struct emitter emitter;
    struct content_reader reader;
    struct term card;
    struct buf name, text, iri;
    unsigned depth, blanks, count;
};

/* ---- values ---- */

static void
say_text(struct cards *cards, const struct term *subject, const char *predicate, struct slice value,
         struct slice language)
{
    char lower[36];
    const bool tagged =
        language.length > 0 && language.length < sizeof lower && lexical_language_valid(language);
    buf_reset(&cards->text);
    content_unescape(value, &cards->text);
    struct term object = term_literal(slice_trim(buf_slice(&cards->text)));
    if (object.value.length > CARD_TEXT) {
        object.value.length = lexical_utf8_prefix(object.value.at, CARD_TEXT);
    }
    if (tagged) {
        lexical_lower(language, lower);
        object.language = slice_of(lower, language.length);
    }
    if (object.value.length > 0) {
        emit(&cards->emitter, subject, predicate, &object);
    }
}

static bool
say_iri(struct cards *cards, const struct term *subject, const char *predicate, struct slice value)
{
    if (!content_iri(value, &cards->iri)) {
        return false;
    }
    const struct term object = term_iri(buf_slice(&cards->iri));
    emit(&cards->emitter, subject, predicate, &object);
    return true;
}

static void
say_class(struct cards *cards, const struct term *subject, const char *class)
{
    const struct term object = term_iri(slice_string(class));
    emit(&cards->emitter, subject, VOCABULARY_RDF "type", &object);
}

/* "home,work": their classes. */
static const struct {
    const char *type, *class;
} types[] = {
    {"home", VCARD "Home"},         {"work", VCARD "Work"},
    {"cell", VCARD "Cell"},         {"fax", VCARD "Fax"},
    {"voice", VCARD "Voice"},       {"pager", VCARD "Pager"},
    {"text", VCARD "Text"},         {"textphone", VCARD "TextPhone"},
    {"video", VCARD "Video"},       {"pref", VCARD "Pref"},
    {"dom", VCARD "Dom"},           {"intl", VCARD "Intl"},
    {"postal", VCARD "Postal"},     {"parcel", VCARD "Parcel"},
    {"internet", VCARD "Internet"}, {"msg", VCARD "Msg"},
    {"modem", VCARD "Modem"},       {"car", VCARD "Car"},
    {"isdn", VCARD "ISDN"},         {"pcs", VCARD "PCS"},
    {"bbs", VCARD "BBS"},           {"x400", VCARD "X400"},
};

static unsigned
say_types(struct cards *cards, const struct term *subject, const struct content_line *line)
{
    unsigned said = 0;
    for (size_t i = 0; i < line->parameter_count; i++) {
        if (!slice_equal_nocase(line->parameters[i].name, SLICE("TYPE"))) {
            continue;
        }
        struct slice rest = line->parameters[i].value;
        while (rest.at) {
            const struct slice type = slice_trim(content_piece(rest, ',', &rest));
            for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
                if (slice_equal_nocase(type, slice_string(types[k].type))) {
                    if (subject) {
                        say_class(cards, subject, types[k].class);
                    }
                    said++;
                }
            }
        }
    }
    return said;
}

/* ---- properties, by kind ---- */

enum card_kind {
    CARD_TEXT_VALUE,
    CARD_LIST, /* texts separated by commas */
    CARD_DATE,
    CARD_IRI, /* or text */
    CARD_NAME,
    CARD_ADDRESS,
    CARD_ORGANIZATION,
    CARD_TELEPHONE,
    CARD_MAIL,
    CARD_PLACE,
    CARD_KIND,
    CARD_SEX
};

static const struct card_term {
    const char *name;
    enum card_kind kind;
    const char *predicate;
} card_terms[] = {
    {"FN", CARD_TEXT_VALUE, VCARD "fn"},
    {"N", CARD_NAME, VCARD "hasName"},
    {"NICKNAME", CARD_LIST, VCARD "nickname"},
    {"ORG", CARD_ORGANIZATION, VCARD "organization-name"},
    {"TITLE", CARD_TEXT_VALUE, VCARD "title"},
    {"ROLE", CARD_TEXT_VALUE, VCARD "role"},
    {"NOTE", CARD_TEXT_VALUE, VCARD "note"},
    {"CATEGORIES", CARD_LIST, VCARD "category"},
    {"BDAY", CARD_DATE, VCARD "bday"},
    {"ANNIVERSARY", CARD_DATE, VCARD "anniversary"},
    {"REV", CARD_DATE, VCARD "rev"},
    {"PRODID", CARD_TEXT_VALUE, VCARD "prodid"},
    {"TZ", CARD_TEXT_VALUE, VCARD "tz"},
    {"LANG", CARD_TEXT_VALUE, VCARD "language"},
    {"SORT-STRING", CARD_TEXT_VALUE, VCARD "sort-string"},
    {"CLASS", CARD_TEXT_VALUE, VCARD "class"},
    {"LABEL", CARD_TEXT_VALUE, VCARD "label"},
    {"UID", CARD_IRI, VCARD "hasUID"},
    {"URL", CARD_IRI, VCARD "hasURL"},
    {"PHOTO", CARD_IRI, VCARD "hasPhoto"},
    {"LOGO", CARD_IRI, VCARD "hasLogo"},
    {"SOUND", CARD_IRI, VCARD "hasSound"},
    {"KEY", CARD_IRI, VCARD "hasKey"},
    {"SOURCE", CARD_IRI, VCARD "hasSource"},
    {"IMPP", CARD_IRI, VCARD "hasInstantMessage"},
    {"RELATED", CARD_IRI, VCARD "hasRelated"},
    {"MEMBER", CARD_IRI, VCARD "hasMember"},
    {"FBURL", CARD_IRI, VCARD "hasFreeBusy"},
    {"CALURI", CARD_IRI, VCARD "hasCalendarLink"},
    {"CALADRURI", CARD_IRI, VCARD "hasCalendarRequest"},
    {"TEL", CARD_TELEPHONE, VCARD "hasTelephone"},
    {"EMAIL", CARD_MAIL, VCARD "hasEmail"},
    {"ADR", CARD_ADDRESS, VCARD "hasAddress"},
    {"GEO", CARD_PLACE, VCARD "hasGeo"},
    {"KIND", CARD_KIND, NULL},
    {"GENDER", CARD_SEX, VCARD "hasGender"},
};

/* Components separated by semicolons, each perhaps a list. */
static void
say_components(struct cards *cards, const struct term *subject, const char *const *predicates,
               size_t count, const struct content_line *line)
{
    struct slice rest = line->value;
    const struct slice language = content_parameter(line, "LANGUAGE");
    for (size_t i = 0; i < count && rest.at; i++) {
        struct slice values = content_piece(rest, ';', &rest);
        for (int k = 0; k < CARD_VALUES && values.at; k++) {
            say_text(cards, subject, predicates[i], content_piece(values, ',', &values), language);
        }
    }
}

static bool
is_empty(struct slice value)
{
    for (size_t i = 0; i < value.length; i++) {
        if (!strchr("; ,\t", value.at[i])) {
            return false;
        }
    }
    return true;
}

static void
say_structure(struct cards *cards, const struct card_term *term, const struct content_line *line)
{
    static const char *const name[] = {VCARD "family-name", VCARD "given-name",
                                       VCARD "additional-name", VCARD "honorific-prefix",
                                       VCARD "honorific-suffix"};
    static const char *const address[] = {
        VCARD "post-office-box", VCARD "extended-address", VCARD "street-address", VCARD "locality",
        VCARD "region",          VCARD "postal-code",      VCARD "country-name"};
    char label[CONTENT_LABEL];
    if (is_empty(line->value)) {
        return;
    }
    const struct term node = content_blank(&cards->blanks, label);
    emit(&cards->emitter, &cards->card, term->predicate, &node);
    if (term->kind == CARD_NAME) {
        say_class(cards, &node, VCARD "Name");
        say_components(cards, &node, name, sizeof name / sizeof *name, line);
    } else {
        say_class(cards, &node, VCARD "Address");
        say_types(cards, &node, line);
        say_components(cards, &node, address, sizeof address / sizeof *address, line);
    }
}

/* With a type, a node of it that has the value; without, the value. */
static void
say_contact(struct cards *cards, const struct card_term *term, const struct content_line *line,
            struct slice iri)
{
    char label[CONTENT_LABEL];
    if (say_types(cards, NULL, line) == 0) {
        say_iri(cards, &cards->card, term->predicate, iri);
    } else if (content_iri(iri, &cards->iri)) {
        const struct term node = content_blank(&cards->blanks, label);
        emit(&cards->emitter, &cards->card, term->predicate, &node);
        say_types(cards, &node, line);
        say_iri(cards, &node, VCARD "hasValue", iri);
    }
}

/* "tel:" takes no blanks; visual separators are allowed. */
static void
say_telephone(struct cards *cards, const struct card_term *term, const struct content_line *line)
{
    char number[128];
    size_t length = 0;
    if (lexical_has_scheme(line->value)) {
        say_contact(cards, term, line, line->value);
        return;
    }
    for (size_t i = 0; i < line->value.length && length < sizeof number - 1; i++) {
        const char c = line->value.at[i];
        if (lexical_is(c, LEXICAL_LETTER | LEXICAL_DIGIT) || strchr("+-.()*;=", c)) {
            length += (size_t)snprintf(number + length, 2, "%c", c);
        } else if (length > 0 && number[length - 1] != '-') {
            number[length++] = '-';
        }
    }
    char iri[140];
    snprintf(iri, sizeof iri, "tel:%.*s", (int)length, number);
    if (length > 0) {
        say_contact(cards, term, line, slice_string(iri));
    }
}

static void
say_mail(struct cards *cards, const struct card_term *term, const struct content_line *line)
{
    char iri[512];
    const struct slice address = slice_trim(line->value);
    if (slice_find(address, '@') == address.length || address.length > 400) {
        transformation_problem(cards->transformation, line->line, "EMAIL is no address");
        return;
    }
    const bool mailto =
        address.length > 7 && slice_equal_nocase(slice_of(address.at, 7), SLICE("mailto:"));
    snprintf(iri, sizeof iri, "%s%.*s", mailto ? "" : "mailto:", SLICE_PRINT(address));
    say_contact(cards, term, line, slice_string(iri));
}

/* "geo:48.2,16.3", "48.2;16.3" */
static void
say_place(struct cards *cards, const struct card_term *term, const struct content_line *line)
{
    char iri[96], text[64];
    double latitude, longitude;
    const struct slice value = slice_trim(line->value);
    if (say_iri(cards, &cards->card, term->predicate, value)) {
        return;
    }
    snprintf(text, sizeof text, "%.*s", (int)(value.length < 63 ? value.length : 63), value.at);
    if (sscanf(text, "%lf%*[;,]%lf", &latitude, &longitude) == 2 && latitude >= -90 &&
        latitude <= 90 && longitude >= -180 && longitude <= 180) {
        snprintf(iri, sizeof iri, "geo:%.6f,%.6f", latitude, longitude);
        say_iri(cards, &cards->card, term->predicate, slice_string(iri));
    } else {
        transformation_problem(cards->transformation, line->line, "GEO is not latitude;longitude");
    }
}

static void
say_date(struct cards *cards, const struct card_term *term, const struct content_line *line)
{
    char form[40];
    const char *datatype;
    if (media_date_form(line->value, form, &datatype)) {
        struct term object = term_literal(slice_string(form));
        object.datatype = slice_string(datatype);
        emit(&cards->emitter, &cards->card, term->predicate, &object);
    } else {
        say_text(cards, &cards->card, term->predicate, line->value, (struct slice){0});
    }
}

static void
say_kind(struct cards *cards, struct slice kind)
{
    static const struct {
        const char *kind, *class;
    } kinds[] = {{"group", VCARD "Group"},
                 {"org", VCARD "Organization"},
                 {"location", VCARD "Location"},
                 {"", VCARD "Individual"}};
    size_t i = 0;
    while (kinds[i].kind[0] && !slice_equal_nocase(kind, slice_string(kinds[i].kind))) {
        i++;
    }
    say_class(cards, &cards->card, kinds[i].class);
}

static void
say_sex(struct cards *cards, const struct card_term *term, struct slice value)
{
    static const struct {
        char letter;
        const char *class;
    } sexes[] = {{'M', VCARD "Male"},
                 {'F', VCARD "Female"},
                 {'O', VCARD "Other"},
                 {'N', VCARD "None"},
                 {'U', VCARD "Unknown"}};
    for (size_t i = 0; value.length > 0 && i < sizeof sexes / sizeof *sexes; i++) {
        if ((value.at[0] & ~0x20) == sexes[i].letter) {
            const struct term object = term_iri(slice_string(sexes[i].class));
            emit(&cards->emitter, &cards->card, term->predicate, &object);
        }
    }
}

static void
say_list(struct cards *cards, const struct card_term *term, const struct content_line *line)
{
    struct slice rest = line->value;
    for (int i = 0; i < CARD_VALUES && rest.at; i++) {
        say_text(cards, &cards->card, term->predicate, content_piece(rest, ',', &rest),
                 content_parameter(line, "LANGUAGE"));
    }
}

static void
say_property(struct cards *cards, const struct card_term *term, const struct content_line *line)
{
    static const char *const organization[] = {VCARD "organization-name", VCARD "organization-unit",
                                               VCARD "organization-unit",
                                               VCARD "organization-unit"};
    switch (term->kind) {
    case CARD_TEXT_VALUE:
        say_text(cards, &cards->card, term->predicate, line->value,
                 content_parameter(line, "LANGUAGE"));
        break;
    case CARD_LIST:
        say_list(cards, term, line);
        break;
    case CARD_DATE:
        say_date(cards, term, line);
        break;
    case CARD_IRI:
        if (!content_is_binary(line) &&
            !say_iri(cards, &cards->card, term->predicate, line->value)) {
            say_text(cards, &cards->card, term->predicate, line->value, (struct slice){0});
        }
        break;
    case CARD_NAME:
    case CARD_ADDRESS:
        say_structure(cards, term, line);
        break;
    case CARD_ORGANIZATION:
        say_components(cards, &cards->card, organization, 4, line);
        break;
    case CARD_TELEPHONE:
        say_telephone(cards, term, line);
        break;
    case CARD_MAIL:
        say_mail(cards, term, line);
        break;
    case CARD_PLACE:
        say_place(cards, term, line);
        break;
    case CARD_KIND:
        break; /* said when the card began */
    case CARD_SEX:
        say_sex(cards, term, line->value);
        break;
    }
}

/* ---- cards ---- */

/* Begins a card by reading ahead, since what its node and class depend on may stand anywhere in
 * it. */
static void
begin_card(struct cards *cards)
{
    struct content_reader ahead;
    struct content_line line;
    struct buf uid, kind;
    buf_init(&uid, CONTENT_LINE);
    buf_init(&kind, CONTENT_LINE);
    content_reader_init(&ahead, cards->transformation, cards->reader.left);
    while (content_next(&ahead, &line) && !content_is(&line, "BEGIN") &&
           !content_is(&line, "END")) {
        struct buf *to = content_is(&line, "UID") ? &uid : content_is(&line, "KIND") ? &kind : NULL;
        if (to && to->length == 0) {
            buf_append_slice(to, slice_trim(line.value));
        }
    }
    content_reader_release(&ahead);
    cards->card = content_subject(&cards->emitter, buf_slice(&uid), (struct slice){0},
                                  &cards->blanks, &cards->name);
    cards->count++;
    emit(&cards->emitter, &cards->emitter.document, VOCABULARY_FOAF "topic", &cards->card);
    say_kind(cards, buf_slice(&kind));
    buf_release(&uid);
    buf_release(&kind);
}

static void
take_line(struct cards *cards, const struct content_line *line)
{
    cards->emitter.line = line->line;
    if (line->name.length == 0) {
        transformation_problem(cards->transformation, line->line,
                               "no colon after a property name; the line was passed over");
    } else if (content_is(line, "BEGIN")) {
        cards->depth++; /* a card within a card (2.1: AGENT) is passed over */
        if (cards->depth == 1) {
            begin_card(cards);
        }
    } else if (content_is(line, "END")) {
        cards->depth -= cards->depth > 0;
    } else if (cards->depth == 1) {
        for (size_t i = 0; i < sizeof card_terms / sizeof *card_terms; i++) {
            if (content_is(line, card_terms[i].name)) {
                say_property(cards, &card_terms[i], line);
            }
        }
    }
}

enum status
builtin_vcard(struct transformation *transformation, struct reason *why)
{
    struct slice text;
    struct content_line line;
    TRY(content_text(transformation, &text, why));
    struct cards cards = {.transformation = transformation};
    cards.emitter = transformation_emitter(transformation, &cards.sink, why);
    buf_init(&cards.name, 64 << 10);
    buf_init(&cards.text, CONTENT_LINE);
    buf_init(&cards.iri, 64 << 10);
    content_reader_init(&cards.reader, transformation, text);
    while (cards.emitter.status == STATUS_OK && content_next(&cards.reader, &line)) {
        take_line(&cards, &line);
    }
    if (cards.count == 0) {
        transformation_problem(transformation, 0, "there is no BEGIN:VCARD");
    } else if (cards.depth > 0) {
        transformation_problem(transformation, cards.reader.line, "it ends within a card");
    }
    content_reader_release(&cards.reader);
    buf_release(&cards.name);
    buf_release(&cards.text);
    buf_release(&cards.iri);
    return cards.emitter.status;
}
