/* The transform "calendar": iCalendar (RFC 5545, 7986) and vCalendar 1.0 to the vocabulary
 * http://www.w3.org/2002/12/cal/icaltzd#.
 *
 * Lines, parameters and components are read here, so that each statement has its line and a
 * malformed one costs only itself; libical says of which type a property is and reads its
 * value.
 */
#include <ctype.h>
#include <stdio.h>

#include <libical/ical.h>

#include "rdf/core/lexical.h"
#include "transforms/common/vocabulary.h"
#include "transforms/core/builtins.h"
#include "transforms/text/content_line.h"

#define CAL "http://www.w3.org/2002/12/cal/icaltzd#"
#define GEO "http://www.w3.org/2003/01/geo/wgs84_pos#"
#define XSD VOCABULARY_XSD

enum { COMPONENT_DEPTH = 8, CALENDAR_TEXT = 64 << 10, CALENDAR_VALUES = 1000 };

struct component {
    struct term node;
    struct buf name;
    char type[32]; /* upper case */
    bool silent;   /* not said: past the depth, or of an unknown kind */
};

struct calendar {
    struct transformation *transformation;
    struct quad_sink sink;
    struct emitter emitter;
    struct content_reader reader;
    struct component open[COMPONENT_DEPTH];
    unsigned depth, too_deep, blanks, calendars;
    struct buf value, text, iri;
};

/* ---- statements ---- */

static const struct term *
subject_of(struct calendar *calendar)
{
    return &calendar->open[calendar->depth - 1].node;
}

static void
emit_statement(struct calendar *calendar, const char *predicate, struct slice form,
               const char *datatype, struct slice language)
{
    struct term object = term_literal(form);
    object.datatype = slice_string(datatype);
    object.language = language;
    if (form.length > 0) {
        emit(&calendar->emitter, subject_of(calendar), predicate, &object);
    }
}

/* LAST-MODIFIED: lastModified */
static void
predicate_of(struct slice name, char predicate[128])
{
    size_t length = (size_t)snprintf(predicate, 128, "%s", CAL);
    bool upper = false;
    for (size_t i = 0; i < name.length && length < 120; i++) {
        if (name.at[i] == '-') {
            upper = true;
        } else {
            const int c = (unsigned char)name.at[i];
            predicate[length++] = (char)(upper ? toupper(c) : tolower(c));
            upper = false;
        }
    }
    predicate[length] = '\0';
}

/* ---- values ---- */

static void
say_time(struct calendar *calendar, const char *predicate, struct icaltimetype time, bool utc)
{
    char form[40];
    if (time.is_date) {
        snprintf(form, sizeof form, "%04d-%02d-%02d", time.year, time.month, time.day);
        emit_statement(calendar, predicate, slice_string(form), XSD "date", (struct slice){0});
    } else {
        snprintf(form, sizeof form, "%04d-%02d-%02dT%02d:%02d:%02d%s", time.year, time.month,
                 time.day, time.hour, time.minute, time.second, utc ? "Z" : "");
        emit_statement(calendar, predicate, slice_string(form), XSD "dateTime", (struct slice){0});
    }
}

/* xsd:duration knows no weeks. */
static void
say_duration(struct calendar *calendar, const char *predicate, struct icaldurationtype duration)
{
    char form[96];
    const char *sign = duration.is_neg ? "-" : "";
    const unsigned days = duration.days + 7 * duration.weeks;
    if (days > 0 && duration.hours + duration.minutes + duration.seconds == 0) {
        snprintf(form, sizeof form, "%sP%uD", sign, days);
    } else {
        char day[24] = "", clock[64];
        if (days > 0) {
            snprintf(day, sizeof day, "%uD", days);
        }
        int length = 0;
        clock[0] = '\0';
        if (duration.hours > 0) {
            length += snprintf(clock + length, 20, "%uH", duration.hours);
        }
        if (duration.minutes > 0) {
            length += snprintf(clock + length, 20, "%uM", duration.minutes);
        }
        if (duration.seconds > 0 || length == 0) {
            snprintf(clock + length, 20, "%uS", duration.seconds);
        }
        snprintf(form, sizeof form, "%sP%sT%s", sign, day, clock);
    }
    emit_statement(calendar, predicate, slice_string(form), XSD "duration", (struct slice){0});
}

static void
say_text(struct calendar *calendar, const char *predicate, struct slice value,
         const struct content_line *line)
{
    const struct slice language = content_parameter(line, "LANGUAGE");
    char lower[36];
    const bool tagged =
        language.length > 0 && language.length < sizeof lower && lexical_language_valid(language);
    if (tagged) {
        lexical_lower(language, lower);
    }
    if (value.length > CALENDAR_TEXT) {
        value.length = lexical_utf8_prefix(value.at, CALENDAR_TEXT);
    }
    emit_statement(calendar, predicate, value, NULL, slice_of(lower, tagged ? language.length : 0));
}

static bool
say_iri(struct calendar *calendar, const char *predicate, struct slice value)
{
    if (!content_iri(value, &calendar->iri)) {
        return false;
    }
    const struct term object = term_iri(buf_slice(&calendar->iri));
    emit(&calendar->emitter, subject_of(calendar), predicate, &object);
    return true;
}

/* An attendee: a node with the address and what the parameters say. */
static void
say_address(struct calendar *calendar, const char *predicate, const struct content_line *line)
{
    static const struct {
        const char *parameter, *predicate;
    } terms[] = {{"CN", CAL "cn"},
                 {"ROLE", CAL "role"},
                 {"PARTSTAT", CAL "partstat"},
                 {"CUTYPE", CAL "cutype"},
                 {"RSVP", CAL "rsvp"}};
    char label[CONTENT_LABEL];
    const struct term node = content_blank(&calendar->blanks, label);
    emit(&calendar->emitter, subject_of(calendar), predicate, &node);
    if (content_iri(line->value, &calendar->iri)) {
        const struct term address = term_iri(buf_slice(&calendar->iri));
        emit(&calendar->emitter, &node, CAL "calAddress", &address);
    }
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        const struct term text = term_literal(content_parameter(line, terms[i].parameter));
        if (text.value.length > 0) {
            emit(&calendar->emitter, &node, terms[i].predicate, &text);
        }
    }
}

static void
say_zone(struct calendar *calendar, const struct content_line *line)
{
    const struct slice zone = content_parameter(line, "TZID");
    if (zone.length > 0 && zone.length < 256) {
        emit_statement(calendar, CAL "tzid", zone, NULL, (struct slice){0});
    }
}

/* Writes values in the forms that libical reads. */
static void
say_typed(struct calendar *calendar, const char *predicate, const icalvalue *value,
          const struct content_line *line, struct slice raw)
{
    char number[40];
    const bool utc = (raw.at[raw.length - 1] | 0x20) == 'z';
    switch (icalvalue_isa(value)) {
    case ICAL_DATE_VALUE:
        say_time(calendar, predicate, icalvalue_get_date(value), false);
        break;
    case ICAL_DATETIME_VALUE:
    case ICAL_DATETIMEDATE_VALUE:
        say_time(calendar, predicate, icalvalue_get_datetime(value), utc);
        say_zone(calendar, line);
        break;
    case ICAL_DURATION_VALUE:
        say_duration(calendar, predicate, icalvalue_get_duration(value));
        break;
    case ICAL_INTEGER_VALUE:
        snprintf(number, sizeof number, "%d", icalvalue_get_integer(value));
        emit_statement(calendar, predicate, slice_string(number), XSD "integer", (struct slice){0});
        break;
    case ICAL_GEO_VALUE: {
        const struct icalgeotype geo = icalvalue_get_geo(value);
        snprintf(number, sizeof number, "%.6f", geo.lat);
        emit_statement(calendar, GEO "lat", slice_string(number), XSD "decimal", (struct slice){0});
        snprintf(number, sizeof number, "%.6f", geo.lon);
        emit_statement(calendar, GEO "long", slice_string(number), XSD "decimal",
                       (struct slice){0});
        break;
    }
    default: /* a rule, a period, a status, an offset: as it is written */
        say_text(calendar, predicate, raw, line);
    }
}

static icalvalue_kind
kind_of(const struct content_line *line, struct slice raw)
{
    char name[64], type[32];
    snprintf(name, sizeof name, "%.*s", SLICE_PRINT(line->name));
    const struct slice parameter = content_parameter(line, "VALUE");
    snprintf(type, sizeof type, "%.*s", SLICE_PRINT(parameter));
    icalvalue_kind kind = icalproperty_kind_to_value_kind(icalproperty_string_to_kind(name));
    if (parameter.length > 0) {
        const icalvalue_kind said = icalvalue_string_to_kind(type);
        kind = said == ICAL_NO_VALUE ? kind : said;
    }
    if (content_is(line, "GEO")) { /* libical takes it for one number */
        return ICAL_GEO_VALUE;
    }
    switch (kind) {
    case ICAL_TRIGGER_VALUE:
        return ICAL_DURATION_VALUE;
    case ICAL_DATETIMEPERIOD_VALUE:
        return slice_find(raw, '/') < raw.length ? ICAL_PERIOD_VALUE : ICAL_DATETIME_VALUE;
    case ICAL_DATETIME_VALUE:
    case ICAL_DATETIMEDATE_VALUE: /* many forget VALUE=DATE */
        return raw.length == 8 ? ICAL_DATE_VALUE : ICAL_DATETIME_VALUE;
    default:
        return kind;
    }
}

static void
report_value(struct calendar *calendar, const struct content_line *line, struct slice raw)
{
    char problem[256];
    raw.length = lexical_utf8_prefix(raw.at, raw.length < 80 ? raw.length : 80);
    snprintf(problem, sizeof problem,
             "%.*s: \"%.*s\" is not a value of the property's type and was taken as text",
             (int)(line->name.length < 40 ? line->name.length : 40), line->name.at,
             SLICE_PRINT(raw));
    transformation_problem(calendar->transformation, line->line, problem);
}

/* One value of the line, which may hold several. */
static void
say_value(struct calendar *calendar, const char *predicate, const struct content_line *line,
          struct slice raw)
{
    icalvalue *value;
    if (raw.length == 0 || content_is_binary(line)) {
        return; /* contents are no metadata */
    }
    const icalvalue_kind kind = kind_of(line, raw);
    switch (kind) {
    case ICAL_CALADDRESS_VALUE:
        say_address(calendar, predicate, line);
        return;
    case ICAL_URI_VALUE:
    case ICAL_ATTACH_VALUE:
        if (say_iri(calendar, predicate, raw)) {
            return;
        }
        report_value(calendar, line, raw);
        break;
    case ICAL_TEXT_VALUE:
    case ICAL_X_VALUE:
    case ICAL_NO_VALUE:
        break;
    default:
        buf_reset(&calendar->value);
        buf_append_slice(&calendar->value, raw);
        value = icalvalue_new_from_string(kind, calendar->value.data);
        if (value) {
            say_typed(calendar, predicate, value, line, raw);
            icalvalue_free(value);
            return;
        }
        report_value(calendar, line, raw);
    }
    buf_reset(&calendar->text);
    content_unescape(raw, &calendar->text);
    say_text(calendar, predicate, buf_slice(&calendar->text), line);
}

/* ---- properties ---- */

static bool
is_list(const struct content_line *line)
{
    return content_is(line, "CATEGORIES") || content_is(line, "RESOURCES") ||
           content_is(line, "EXDATE") || content_is(line, "RDATE") || content_is(line, "FREEBUSY");
}

/* Names that calendars have of themselves, before RFC 7986 gave them one. */
static const struct {
    const char *name, *predicate;
} calendar_names[] = {{"X-WR-CALNAME", VOCABULARY_DCTERMS "title"},
                      {"NAME", VOCABULARY_DCTERMS "title"},
                      {"X-WR-CALDESC", VOCABULARY_DCTERMS "description"},
                      {"X-WR-TIMEZONE", CAL "tzid"}};

static void
say_property(struct calendar *calendar, const struct content_line *line)
{
    char predicate[128];
    struct slice rest = line->value, piece;
    for (size_t i = 0; i < sizeof calendar_names / sizeof *calendar_names; i++) {
        if (content_is(line, calendar_names[i].name)) {
            say_value(calendar, calendar_names[i].predicate, line, slice_trim(rest));
            return;
        }
    }
    if (line->name.length > 2 && (line->name.at[0] | 0x20) == 'x' && line->name.at[1] == '-') {
        return;
    }
    predicate_of(line->name, predicate);
    if (!is_list(line)) {
        const bool text = kind_of(line, rest) == ICAL_TEXT_VALUE;
        say_value(calendar, predicate, line, text ? rest : slice_trim(rest));
        return;
    }
    for (int i = 0; i < CALENDAR_VALUES && rest.at; i++) {
        piece = content_piece(rest, ',', &rest);
        say_value(calendar, predicate, line, slice_trim(piece));
    }
}

/* ---- components ---- */

/* UID and RECURRENCE-ID stand anywhere in it; inner components have their own. */
static void
find_identity(const struct calendar *calendar, struct buf *uid, struct buf *recurrence)
{
    struct content_reader ahead;
    struct content_line line;
    content_reader_init(&ahead, calendar->transformation, calendar->reader.left);
    buf_reset(uid);
    buf_reset(recurrence);
    while (content_next(&ahead, &line) && !content_is(&line, "BEGIN") &&
           !content_is(&line, "END")) {
        struct buf *to = content_is(&line, "UID")             ? uid
                         : content_is(&line, "RECURRENCE-ID") ? recurrence
                                                              : NULL;
        if (to && to->length == 0) {
            buf_append_slice(to, slice_trim(line.value));
        }
    }
    content_reader_release(&ahead);
}

/* VEVENT: Vevent */
static void
say_class(struct calendar *calendar, const struct component *component)
{
    char class[96];
    snprintf(class, sizeof class, "%s%s", CAL, component->type);
    for (size_t i = sizeof CAL; class[i]; i++) {
        class[i] = (char)tolower((unsigned char)class[i]);
    }
    const struct term object = term_iri(slice_string(class));
    emit(&calendar->emitter, &component->node, VOCABULARY_RDF "type", &object);
}

static void
name_component(struct calendar *calendar, struct component *component)
{
    struct buf uid, recurrence;
    buf_init(&uid, CONTENT_LINE);
    buf_init(&recurrence, CONTENT_LINE);
    find_identity(calendar, &uid, &recurrence);
    component->node = content_subject(&calendar->emitter, buf_slice(&uid), buf_slice(&recurrence),
                                      &calendar->blanks, &component->name);
    buf_release(&uid);
    buf_release(&recurrence);
}

static void
open_component(struct calendar *calendar, const struct content_line *line)
{
    const struct slice type = slice_trim(line->value);
    if (calendar->depth == COMPONENT_DEPTH) {
        calendar->too_deep++;
        return;
    }
    struct component *component = &calendar->open[calendar->depth];
    const struct component *outer = calendar->depth > 0 ? component - 1 : NULL;
    const bool zone = outer && strcmp(outer->type, "VTIMEZONE") == 0;
    snprintf(component->type, sizeof component->type, "%.*s",
             (int)(type.length < sizeof component->type ? type.length : 0), type.at);
    for (char *c = component->type; *c; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    bool known =
        zone ? strcmp(component->type, "STANDARD") == 0 || strcmp(component->type, "DAYLIGHT") == 0
             : component->type[0] == 'V' &&
                   strspn(component->type, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(component->type);
    known = known && (outer != NULL) != (strcmp(component->type, "VCALENDAR") == 0);
    component->silent = !known || (outer && outer->silent);
    calendar->depth++;
    if (component->silent) {
        return;
    }
    if (!outer) {
        component->node = calendar->emitter.document;
        calendar->calendars++;
    } else {
        name_component(calendar, component);
        const char *relation = !zone                                      ? CAL "component"
                               : strcmp(component->type, "DAYLIGHT") == 0 ? CAL "daylight"
                                                                          : CAL "standard";
        emit(&calendar->emitter, &outer->node, relation, &component->node);
    }
    if (!zone) {
        say_class(calendar, component);
    }
}

static void
close_component(struct calendar *calendar, const struct content_line *line)
{
    const struct slice type = slice_trim(line->value);
    if (calendar->too_deep > 0) {
        calendar->too_deep--;
        return;
    }
    unsigned depth = calendar->depth;
    while (depth > 0 && !slice_equal_nocase(type, slice_string(calendar->open[depth - 1].type))) {
        depth--;
    }
    if (depth == 0) {
        transformation_problem(calendar->transformation, line->line, "END without its BEGIN");
        return;
    }
    if (depth != calendar->depth) {
        transformation_problem(calendar->transformation, line->line,
                               "END before that of an inner component");
    }
    calendar->depth = depth - 1;
}

static void
take_line(struct calendar *calendar, const struct content_line *line)
{
    calendar->emitter.line = line->line;
    if (line->name.length == 0) {
        transformation_problem(calendar->transformation, line->line,
                               "no colon after a property name; the line was passed over");
    } else if (content_is(line, "BEGIN")) {
        open_component(calendar, line);
    } else if (content_is(line, "END")) {
        close_component(calendar, line);
    } else if (calendar->depth > 0 && calendar->too_deep == 0 &&
               !calendar->open[calendar->depth - 1].silent) {
        say_property(calendar, line);
    }
}

enum status
builtin_calendar(struct transformation *transformation, struct reason *why)
{
    struct slice text;
    struct content_line line;
    TRY(content_text(transformation, &text, why));
    struct calendar calendar = {.transformation = transformation};
    calendar.emitter = transformation_emitter(transformation, &calendar.sink, why);
    icalerror_set_errors_are_fatal(false);
    buf_init(&calendar.value, CONTENT_LINE);
    buf_init(&calendar.text, CONTENT_LINE);
    buf_init(&calendar.iri, 64 << 10);
    for (size_t i = 0; i < COMPONENT_DEPTH; i++) {
        buf_init(&calendar.open[i].name, 64 << 10);
    }
    content_reader_init(&calendar.reader, transformation, text);
    while (calendar.emitter.status == STATUS_OK && content_next(&calendar.reader, &line)) {
        take_line(&calendar, &line);
    }
    if (calendar.calendars == 0) {
        transformation_problem(transformation, 0, "there is no BEGIN:VCALENDAR");
    } else if (calendar.depth > 0) {
        transformation_problem(transformation, calendar.reader.line, "it ends within a component");
    }
    content_reader_release(&calendar.reader);
    for (size_t i = 0; i < COMPONENT_DEPTH; i++) {
        buf_release(&calendar.open[i].name);
    }
    buf_release(&calendar.value);
    buf_release(&calendar.text);
    buf_release(&calendar.iri);
    icalmemory_free_ring();
    return calendar.emitter.status;
}
