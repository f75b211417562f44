/* Reads what is no JSON but can be understood. Each function looks at a bounded stretch, or at one
 * that is not looked at again. */
#include <string.h>

#include "rdf/core/lexical.h"
#include "rdf/json/json_reader.h"

static bool
starts(const struct json_reader *reader, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, word, length) == 0;
}

/* Puts reader->at behind the next `word`, or at the end of the text. */
static void
skip_past(struct json_reader *reader, const char *word)
{
    const size_t length = strlen(word);
    const char *found = memmem(reader->at, (size_t)(reader->end - reader->at), word, length);
    const char *to = found != NULL ? found + length : reader->end;
    for (; reader->at < to; reader->at++) {
        if (*reader->at == '\n') {
            reader->line++;
            reader->line_start = reader->at + 1;
        }
    }
}

bool
json_skip_odd(struct json_reader *reader)
{
    static const char *const wrappers[] = {
        "<!--", "-->",   "//<![CDATA[",  "/*<![CDATA[*/", "<![CDATA[",       "//]]>",    "/*]]>*/",
        "]]>",  "//-->", "// <![CDATA[", "// ]]>",        "/* <![CDATA[ */", "/* ]]> */"};
    static const char *const spaces[] = {"\xef\xbb\xbf", "\xc2\xa0", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                         "\xe2\x80\x8b"};
    const unsigned char c = (unsigned char)*reader->at;
    if (c == '<' || c == '-' || c == '/' || c == ']') {
        for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
            if (starts(reader, wrappers[i])) {
                reader->at += strlen(wrappers[i]);
                json_repaired(reader, JSON_REPAIR_WRAPPER);
                return true;
            }
        }
    }
    if (c == '/' && (starts(reader, "//") || starts(reader, "/*"))) {
        skip_past(reader, reader->at[1] == '/' ? "\n" : "*/");
        json_repaired(reader, JSON_REPAIR_COMMENT);
        return true;
    }
    if (c < 0x20 || c == 0x7f) {
        reader->at++;
        json_repaired(reader, JSON_REPAIR_SPACE);
        return true;
    }
    for (size_t i = 0; c >= 0x80 && i < sizeof spaces / sizeof *spaces; i++) {
        if (starts(reader, spaces[i])) {
            reader->at += strlen(spaces[i]);
            json_repaired(reader, JSON_REPAIR_SPACE);
            return true;
        }
    }
    return false;
}

static const char *
skip_blanks(const char *at, const char *end)
{
    while (at < end && lexical_is(*at, LEXICAL_SPACE)) {
        at++;
    }
    return at;
}

/* A quote inside a string is followed by more text, its end by punctuation. A comma is both:
 * then a value or a name must come. */
bool
json_quote_ends(const struct json_reader *reader, const char *at, char quote)
{
    at = skip_blanks(at + 1, reader->end);
    if (at == reader->end || strchr(":}];/<", *at) != NULL || (unsigned char)*at < 0x20 ||
        *at == quote) {
        return true;
    }
    if (*at != ',') {
        return false;
    }
    at = skip_blanks(at + 1, reader->end);
    return at == reader->end || strchr("\"'{}[]-,/<", *at) != NULL ||
           lexical_is(*at, LEXICAL_DIGIT) || (unsigned char)*at < 0x20 ||
           lexical_is(*at, LEXICAL_LETTER);
}

static struct slice
take_word(struct json_reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end &&
           (lexical_is(*reader->at, LEXICAL_NAME) || strchr("$@.+", *reader->at) != NULL) &&
           *reader->at != '\0') {
        reader->at++;
    }
    return slice_of(start, (size_t)(reader->at - start));
}

enum status
json_read_name(struct json_reader *reader, struct slice *text)
{
    if (*reader->at == '\'') {
        json_repaired(reader, JSON_REPAIR_SINGLE_QUOTE);
        reader->at++;
        return json_read_string(reader, '\'', text);
    }
    *text = take_word(reader);
    if (text->length == 0) {
        return json_fail(reader, "expected a name in quotation marks");
    }
    json_repaired(reader, JSON_REPAIR_NAME);
    return STATUS_OK;
}

bool
json_starts_member(const struct json_reader *reader)
{
    return *reader->at == '"' || *reader->at == '\'';
}

/* A number as other languages write it, by its parts: "05", "+5", ".5", "5.". */
static bool
is_odd_number(struct slice word)
{
    size_t digits = 0;
    for (size_t i = 0; i < word.length; i++) {
        digits += lexical_is(word.at[i], LEXICAL_DIGIT);
        if (!lexical_is(word.at[i], LEXICAL_DIGIT) && strchr("+-.eE", word.at[i]) == NULL) {
            return false;
        }
    }
    return digits > 0;
}

enum status
json_read_odd(struct json_reader *reader, struct json *node)
{
    static const struct {
        const char *word;
        enum json_kind kind;
    } literals[] = {{"undefined", JSON_NULL}, {"NaN", JSON_NULL},  {"None", JSON_NULL},
                    {"nil", JSON_NULL},       {"NULL", JSON_NULL}, {"Null", JSON_NULL},
                    {"True", JSON_TRUE},      {"TRUE", JSON_TRUE}, {"False", JSON_FALSE},
                    {"FALSE", JSON_FALSE}};
    if (*reader->at == '\'') {
        json_repaired(reader, JSON_REPAIR_SINGLE_QUOTE);
        reader->at++;
        node->kind = JSON_STRING;
        return json_read_string(reader, '\'', &node->text);
    }
    if (*reader->at == ',' || *reader->at == '}') {
        json_repaired(reader, JSON_REPAIR_MISSING_VALUE);
        node->kind = JSON_NULL;
        return STATUS_OK;
    }
    const char *start = reader->at;
    const struct slice word = take_word(reader);
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        if (slice_is(word, literals[i].word)) {
            json_repaired(reader, JSON_REPAIR_LITERAL);
            node->kind = (uint8_t)literals[i].kind;
            return STATUS_OK;
        }
    }
    if (is_odd_number(word)) {
        json_repaired(reader, JSON_REPAIR_NUMBER);
        node->kind = JSON_STRING;
        node->text = word;
        return STATUS_OK;
    }
    reader->at = start;
    return json_fail(reader, "expected a value");
}

/* ---- HTML's references ---- */

static const struct {
    const char *name;
    char character;
} references[] = {{"&quot;", '"'},  {"&#34;", '"'},  {"&#034;", '"'},  {"&#x22;", '"'},
                  {"&amp;", '&'},   {"&#38;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                  {"&apos;", '\''}, {"&#39;", '\''}, {"&#039;", '\''}, {"&#x27;", '\''}};

/* The number of the reference at `at`, or -1. */
static int
reference_at(const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        const size_t length = strlen(references[i].name);
        if ((size_t)(end - at) >= length && memcmp(at, references[i].name, length) == 0) {
            return (int)i;
        }
    }
    return -1;
}

struct slice
json_undo_entities(struct json_reader *reader, struct slice text)
{
    const char *end = text.at + text.length;
    const char *at = skip_blanks(text.at, end);
    while (at < end && (*at == '{' || *at == '[')) {
        at = skip_blanks(at + 1, end);
    }
    const int first = at < end && *at == '&' ? reference_at(at, end) : -1;
    if (first < 0 || references[first].character != '"') {
        return text;
    }
    json_repaired(reader, JSON_REPAIR_ENTITIES);
    char *copy = arena_alloc(reader->pool->arena, text.length + 1), *to = copy;
    for (at = text.at; at < end;) {
        const int found = *at == '&' ? reference_at(at, end) : -1;
        *to++ = found < 0 ? *at : references[found].character;
        at += found < 0 ? 1 : strlen(references[found].name);
    }
    return slice_of(copy, (size_t)(to - copy));
}
