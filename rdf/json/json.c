/* The reader goes down the grammar by recursion, bounded by depth. Strings without escapes,
 * which are nearly all, are found eight bytes at a time and stay in the text. Lines are counted
 * where newlines may be: in white space, and in strings of lenient reading. */
#include "rdf/json/json.h"

#include <string.h>

#include "rdf/core/lexical.h"
#include "rdf/json/json_reader.h"

enum status
json_fail(struct json_reader *reader, const char *text)
{
    return status_fail(reader->why, STATUS_BAD_INPUT, "line %llu, column %zu: %s",
                       (unsigned long long)reader->line,
                       (size_t)(reader->at - reader->line_start) + 1, text);
}

void
json_repaired(struct json_reader *reader, enum json_repair repair)
{
    if (reader->repairs != NULL) {
        reader->repairs[repair]++;
    }
}

/* White space, and in lenient reading what stands for it. */
static void
json_skip_space(struct json_reader *reader)
{
    do {
        while (reader->at < reader->end && lexical_is(*reader->at, LEXICAL_SPACE)) {
            if (*reader->at++ == '\n') {
                reader->line++;
                reader->line_start = reader->at;
            }
        }
    } while (reader->lenient && reader->at < reader->end && json_skip_odd(reader));
}

/* Returns how many bytes at `at` are plain: no quote, backslash, control character; ASCII. */
static size_t
plain_length(const char *at, const char *end, char quote)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    const uint64_t quotes = ones * (unsigned char)quote, slashes = ones * '\\';
    const char *start = at;
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        const uint64_t quote_less = (word ^ quotes) - ones, slash_less = (word ^ slashes) - ones;
        const uint64_t stop = ((word - ones * 0x20) | quote_less | slash_less | word) & tops;
        if (stop != 0) {
            break; /* perhaps a false alarm in a later byte: the slow loop looks */
        }
        at += 8;
    }
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != quote &&
           *at != '\\') {
        at++;
    }
    return (size_t)(at - start);
}

static void
append_code(struct json_reader *reader, uint32_t code)
{
    char bytes[4];
    buf_append(&reader->scratch, bytes, (size_t)lexical_encode(code, bytes));
}

/* Four hexadecimal digits; UINT32_MAX: they are not there. */
static uint32_t
read_hex(const char *at, const char *end)
{
    uint32_t code = 0;
    if (end - at < 4) {
        return UINT32_MAX;
    }
    for (int i = 0; i < 4; i++) {
        if (!lexical_is(at[i], LEXICAL_HEX)) {
            return UINT32_MAX;
        }
        code = code * 16 + (uint32_t)(at[i] <= '9' ? at[i] - '0' : (at[i] | 32) - 'a' + 10);
    }
    return code;
}

static bool
read_unicode(struct json_reader *reader)
{
    uint32_t code = read_hex(reader->at + 2, reader->end);
    if (code == UINT32_MAX) {
        return false;
    }
    reader->at += 6;
    if (code >= 0xd800 && code < 0xdc00 && reader->end - reader->at >= 6 && reader->at[0] == '\\' &&
        reader->at[1] == 'u') {
        const uint32_t low = read_hex(reader->at + 2, reader->end);
        if (low >= 0xdc00 && low < 0xe000) {
            reader->at += 6;
            append_code(reader, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            return true;
        }
    }
    if (code >= 0xd800 && code < 0xe000) {
        json_repaired(reader, JSON_REPAIR_SURROGATE);
        code = 0xfffd;
    }
    append_code(reader, code);
    return true;
}

/* reader->at is at a backslash. */
static enum status
read_escape(struct json_reader *reader)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (reader->end - reader->at < 2) {
        reader->at = reader->end;
        return STATUS_OK;
    }
    const char c = reader->at[1];
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    if (name != NULL) {
        reader->at += 2;
        return buf_append_char(&reader->scratch, values[name - names]);
    }
    if (c == 'u' && read_unicode(reader)) {
        return STATUS_OK;
    }
    if (!reader->lenient) {
        return json_fail(reader, "unknown escape in a string");
    }
    json_repaired(reader, JSON_REPAIR_ESCAPE);
    reader->at++; /* what follows stands for itself */
    return STATUS_OK;
}

/* One character that is not plain: not ASCII, a control character, or a quote inside. */
static enum status
read_character(struct json_reader *reader)
{
    const unsigned char c = (unsigned char)*reader->at;
    if (c >= 0x80) {
        const char *high = reader->at;
        while (high < reader->end && (unsigned char)*high >= 0x80) {
            high++;
        }
        const size_t valid = lexical_utf8_prefix(reader->at, (size_t)(high - reader->at));
        if (valid > 0) {
            buf_append(&reader->scratch, reader->at, valid);
            reader->at += valid;
            return STATUS_OK;
        }
        if (!reader->lenient) {
            return json_fail(reader, "not UTF-8");
        }
        json_repaired(reader, JSON_REPAIR_UTF8);
        append_code(reader, 0xfffd);
        reader->at++;
        return STATUS_OK;
    }
    if (c < 0x20) {
        if (!reader->lenient) {
            return json_fail(reader, "control character in a string");
        }
        json_repaired(reader, JSON_REPAIR_CONTROL);
        if (c == '\n') {
            reader->line++;
            reader->line_start = reader->at + 1;
        }
    } else {
        json_repaired(reader, JSON_REPAIR_QUOTE);
    }
    buf_append_char(&reader->scratch, (char)c);
    reader->at++;
    return STATUS_OK;
}

static inline bool
ends(const struct json_reader *reader, char quote)
{
    return *reader->at == quote &&
           (!reader->lenient || reader->in_name || json_quote_ends(reader, reader->at, quote));
}

/* A string whose decoded form is not what is written. */
static enum status
read_decoded(struct json_reader *reader, char quote, struct slice *text)
{
    while (reader->at < reader->end && !ends(reader, quote)) {
        const size_t plain = plain_length(reader->at, reader->end, quote);
        if (plain > 0) {
            buf_append(&reader->scratch, reader->at, plain);
            reader->at += plain;
        } else if (*reader->at == '\\') {
            TRY(read_escape(reader));
        } else {
            TRY(read_character(reader));
        }
    }
    if (reader->at == reader->end) {
        if (!reader->lenient) {
            return json_fail(reader, "a string does not end");
        }
        reader->truncated = true;
        return STATUS_OK;
    }
    reader->at++;
    *text = arena_copy(reader->pool->arena, buf_slice(&reader->scratch));
    return STATUS_OK;
}

enum status
json_read_string(struct json_reader *reader, char quote, struct slice *text)
{
    const char *start = reader->at;
    const char *at = start;
    for (;;) {
        at += plain_length(at, reader->end, quote);
        if (at == reader->end || (unsigned char)*at < 0x80) {
            break;
        }
        const char *high = at;
        while (high < reader->end && (unsigned char)*high >= 0x80) {
            high++;
        }
        if (!lexical_utf8_valid(at, (size_t)(high - at))) {
            break;
        }
        at = high;
    }
    reader->at = at;
    if (at < reader->end && ends(reader, quote)) {
        *text = slice_of(start, (size_t)(at - start));
        reader->at = at + 1;
        return STATUS_OK;
    }
    buf_reset(&reader->scratch);
    buf_append(&reader->scratch, start, (size_t)(at - start));
    return read_decoded(reader, quote, text);
}

static bool
skip_digits(struct json_reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end && lexical_is(*reader->at, LEXICAL_DIGIT)) {
        reader->at++;
    }
    return reader->at > start;
}

static enum status
read_number(struct json_reader *reader, struct json *node)
{
    const char *start = reader->at;
    reader->at += *reader->at == '-';
    const char *digits = reader->at;
    bool good = skip_digits(reader) && (*digits != '0' || reader->at == digits + 1);
    if (good && reader->at < reader->end && *reader->at == '.') {
        reader->at++;
        good = skip_digits(reader);
    }
    if (good && reader->at < reader->end && (*reader->at | 32) == 'e') {
        reader->at++;
        if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-')) {
            reader->at++;
        }
        good = skip_digits(reader);
    }
    if (reader->lenient && (!good || (reader->at < reader->end &&
                                      lexical_is(*reader->at, LEXICAL_NAME | LEXICAL_LETTER)))) {
        reader->at = start;
        return json_read_odd(reader, node);
    }
    node->kind = JSON_NUMBER;
    node->text = slice_of(start, (size_t)(reader->at - start));
    return good ? STATUS_OK : json_fail(reader, "malformed number");
}

static bool
read_word(struct json_reader *reader, const char *word, struct json *node, enum json_kind kind)
{
    const size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0 ||
        (reader->at + length < reader->end &&
         lexical_is(reader->at[length], LEXICAL_NAME | LEXICAL_LETTER))) {
        return false;
    }
    reader->at += length;
    node->kind = (uint8_t)kind;
    return true;
}

static enum status read_value(struct json_reader *reader, struct json *node);

/* Reads what separates a member or an item from what follows: a comma, the end, or nothing yet. */
static enum status
read_separator(struct json_reader *reader, char end, bool *ended)
{
    json_skip_space(reader);
    *ended = reader->at == reader->end || reader->truncated;
    if (*ended) {
        reader->truncated = true;
        return reader->lenient ? STATUS_OK : json_fail(reader, "the text ends inside a value");
    }
    if (*reader->at == end) {
        reader->at++;
        *ended = true;
        return STATUS_OK;
    }
    if (*reader->at != ',') {
        if (reader->lenient && (end == ']' || json_starts_member(reader)) &&
            strchr("]}:", *reader->at) == NULL) {
            json_repaired(reader, JSON_REPAIR_MISSING_COMMA);
            return STATUS_OK;
        }
        return json_fail(reader, end == '}' ? "expected a comma or } behind a member"
                                            : "expected a comma or ] behind a value");
    }
    reader->at++;
    json_skip_space(reader);
    while (reader->lenient && reader->at < reader->end && *reader->at == ',') {
        json_repaired(reader, JSON_REPAIR_EXTRA_COMMA);
        reader->at++;
        json_skip_space(reader);
    }
    if (reader->at < reader->end && *reader->at == end) {
        if (!reader->lenient) {
            return json_fail(reader, "superfluous comma before a closing bracket");
        }
        json_repaired(reader, JSON_REPAIR_EXTRA_COMMA);
        reader->at++;
        *ended = true;
    }
    return STATUS_OK;
}

static enum status
read_member(struct json_reader *reader, struct json *object)
{
    struct json *member = json_new(reader->pool, JSON_NULL, (uint32_t)reader->line);
    json_skip_space(reader);
    member->line = (uint32_t)reader->line;
    if (reader->at < reader->end && *reader->at == '"') {
        reader->at++;
        reader->in_name = true;
        TRY(json_read_string(reader, '"', &member->key));
        reader->in_name = false;
    } else if (reader->lenient && reader->at < reader->end) {
        TRY(json_read_name(reader, &member->key));
    } else {
        return json_fail(reader, reader->at == reader->end ? "the text ends inside an object"
                                                           : "expected a name in quotation marks");
    }
    json_skip_space(reader);
    if (reader->at == reader->end && reader->lenient) {
        reader->truncated = true;
        return STATUS_OK;
    }
    if (reader->at == reader->end || *reader->at != ':') {
        return json_fail(reader, "expected a colon behind a name");
    }
    reader->at++;
    TRY(read_value(reader, member));
    const bool cut = reader->truncated && member->kind < JSON_ARRAY;
    if (!cut) {
        json_add(reader->pool, object, member);
    }
    return STATUS_OK;
}

static enum status
read_item(struct json_reader *reader, struct json *array)
{
    struct json *item = json_new(reader->pool, JSON_NULL, (uint32_t)reader->line);
    TRY(read_value(reader, item));
    if (!reader->truncated || item->kind >= JSON_ARRAY) {
        json_append(array, item);
    }
    return STATUS_OK;
}

static enum status
read_children(struct json_reader *reader, struct json *node, char end)
{
    reader->at++;
    json_skip_space(reader);
    if (reader->lenient && reader->at < reader->end && *reader->at == ',') {
        json_repaired(reader, JSON_REPAIR_EXTRA_COMMA);
        reader->at++;
        json_skip_space(reader);
    }
    bool ended = reader->at < reader->end && *reader->at == end;
    if (ended) {
        reader->at++;
    }
    while (!ended) {
        if (reader->at == reader->end && reader->lenient) {
            reader->truncated = true;
            break;
        }
        TRY(end == '}' ? read_member(reader, node) : read_item(reader, node));
        TRY(read_separator(reader, end, &ended));
    }
    return STATUS_OK;
}

static enum status
read_nested(struct json_reader *reader, struct json *node)
{
    const bool object = *reader->at == '{';
    if (++reader->depth > reader->depth_limit) {
        return status_fail(reader->why, STATUS_LIMIT, "line %llu: JSON is nested deeper than %u",
                           (unsigned long long)reader->line, reader->depth_limit);
    }
    if (reader->memory > 0 && reader->pool->arena->used > reader->memory) {
        return status_fail(reader->why, STATUS_LIMIT, "JSON takes more than %zu bytes of memory",
                           reader->memory);
    }
    node->kind = object ? JSON_OBJECT : JSON_ARRAY;
    TRY(read_children(reader, node, object ? '}' : ']'));
    reader->depth--;
    return STATUS_OK;
}

static enum status
read_value(struct json_reader *reader, struct json *node)
{
    json_skip_space(reader);
    if (node->key.at == NULL) {
        node->line = (uint32_t)reader->line;
    }
    if (reader->at == reader->end) {
        if (!reader->lenient) {
            return json_fail(reader, "the text ends where a value should be");
        }
        reader->truncated = true;
        return STATUS_OK;
    }
    switch (*reader->at) {
    case '{':
    case '[':
        return read_nested(reader, node);
    case '"':
        node->kind = JSON_STRING;
        reader->at++;
        return json_read_string(reader, '"', &node->text);
    default:
        break;
    }
    if (*reader->at == '-' || lexical_is(*reader->at, LEXICAL_DIGIT)) {
        return read_number(reader, node);
    }
    if (read_word(reader, "true", node, JSON_TRUE) ||
        read_word(reader, "false", node, JSON_FALSE) ||
        read_word(reader, "null", node, JSON_NULL)) {
        return STATUS_OK;
    }
    return reader->lenient ? json_read_odd(reader, node) : json_fail(reader, "expected a value");
}

/* Skips what stands between and behind values at the top. */
static void
skip_between(struct json_reader *reader)
{
    json_skip_space(reader);
    while (reader->at < reader->end && strchr(";,]})", *reader->at) != NULL) {
        json_repaired(reader, *reader->at == ';'   ? JSON_REPAIR_SEMICOLON
                              : *reader->at == ',' ? JSON_REPAIR_EXTRA_COMMA
                                                   : JSON_REPAIR_BRACKET);
        reader->at++;
        json_skip_space(reader);
    }
}

static enum status
read_text(struct json_reader *reader, struct json **tree)
{
    struct json *value = json_new(reader->pool, JSON_NULL, (uint32_t)reader->line);
    json_skip_space(reader);
    if (reader->at == reader->end) {
        return json_fail(reader, "the text is empty");
    }
    TRY(read_value(reader, value));
    *tree = value;
    if (!reader->lenient) {
        json_skip_space(reader);
        return reader->at == reader->end ? STATUS_OK
                                         : json_fail(reader, "something follows the JSON text");
    }
    skip_between(reader);
    if (reader->at < reader->end) {
        json_repaired(reader, JSON_REPAIR_SEVERAL);
        *tree = json_new(reader->pool, JSON_ARRAY, value->line);
        json_append(*tree, value);
        while (reader->at < reader->end) {
            TRY(read_item(reader, *tree));
            skip_between(reader);
        }
    }
    if (reader->truncated) {
        json_repaired(reader, JSON_REPAIR_TRUNCATED);
    }
    return STATUS_OK;
}

enum status
json_read(struct slice text, const struct json_options *options, struct json_pool *pool,
          struct json **tree, struct reason *why)
{
    struct json_reader reader = {.line = options->line > 0 ? options->line : 1,
                                 .depth_limit = options->depth > 0 ? options->depth : JSON_DEPTH,
                                 .lenient = options->lenient,
                                 .memory = options->memory,
                                 .repairs = options->repairs,
                                 .pool = pool,
                                 .why = why};
    if (reader.depth_limit > JSON_DEPTH_MAXIMUM) {
        reader.depth_limit = JSON_DEPTH_MAXIMUM;
    }
    if (slice_starts(text, SLICE("\xef\xbb\xbf"))) {
        text = slice_of(text.at + 3, text.length - 3);
    }
    if (reader.lenient) {
        text = json_undo_entities(&reader, text);
    }
    if (text.length == 0) {
        text = SLICE("");
    }
    reader.at = reader.start = reader.line_start = text.at;
    reader.end = text.at + text.length;
    buf_init(&reader.scratch, SIZE_MAX / 2);
    const enum status status = read_text(&reader, tree);
    buf_release(&reader.scratch);
    return status;
}
