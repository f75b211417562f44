#include "rdf/jsonld/jsonld_link.h"

#include "rdf/core/lexical.h"

struct cursor {
    const char *at, *end;
};

static void
skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && lexical_is(*cursor->at, LEXICAL_SPACE)) {
        cursor->at++;
    }
}

static struct slice
take_until(struct cursor *cursor, const char *stops)
{
    const char *start = cursor->at;
    while (cursor->at < cursor->end && (*cursor->at == '\0' || !strchr(stops, *cursor->at))) {
        cursor->at++;
    }
    return slice_of(start, (size_t)(cursor->at - start));
}

/* ";name=value" or ";name=\"value\""; the cursor is behind the semicolon. */
static void
take_parameter(struct cursor *cursor, struct slice *rel, struct slice *type)
{
    skip_blanks(cursor);
    const struct slice name = slice_trim(take_until(cursor, "=;,"));
    struct slice value = {"", 0};
    if (cursor->at < cursor->end && *cursor->at == '=') {
        cursor->at++;
        skip_blanks(cursor);
        if (cursor->at < cursor->end && *cursor->at == '"') {
            cursor->at++;
            value = take_until(cursor, "\"");
            cursor->at += cursor->at < cursor->end;
            take_until(cursor, ";,");
        } else {
            value = slice_trim(take_until(cursor, ";,"));
        }
    }
    if (slice_equal_nocase(name, SLICE("rel")) && rel->length == 0) {
        *rel = value;
    } else if (slice_equal_nocase(name, SLICE("type")) && type->length == 0) {
        *type = value;
    }
}

static bool
has_word(struct slice words, struct slice word)
{
    struct cursor cursor = {words.at, words.at + words.length};
    while (cursor.at < cursor.end) {
        skip_blanks(&cursor);
        if (slice_equal_nocase(take_until(&cursor, " \t"), word)) {
            return true;
        }
    }
    return false;
}

static bool
is_type(struct slice content_type, struct slice type)
{
    return slice_equal_nocase(slice_trim(slice_of(content_type.at, slice_find(content_type, ';'))),
                              type);
}

bool
jsonld_is_json_ld(struct slice content_type)
{
    return is_type(content_type, SLICE("application/ld+json"));
}

bool
jsonld_is_plain_json(struct slice content_type)
{
    const struct slice type = slice_trim(slice_of(content_type.at, slice_find(content_type, ';')));
    const size_t suffix = sizeof "+json" - 1;
    return !jsonld_is_json_ld(content_type) &&
           (slice_equal_nocase(type, SLICE("application/json")) ||
            (type.length > suffix &&
             slice_equal_nocase(slice_of(type.at + type.length - suffix, suffix), SLICE("+json"))));
}

struct jsonld_links
jsonld_links(struct slice header)
{
    struct jsonld_links links = {.several_contexts = false};
    if (header.length == 0) {
        return links;
    }
    struct cursor cursor = {header.at, header.at + header.length};
    while (cursor.at < cursor.end) {
        struct slice rel = {"", 0}, type = {"", 0};
        take_until(&cursor, "<");
        if (cursor.at == cursor.end) {
            break;
        }
        cursor.at++;
        const struct slice uri = slice_trim(take_until(&cursor, ">"));
        cursor.at += cursor.at < cursor.end;
        take_until(&cursor, ";,");
        while (cursor.at < cursor.end && *cursor.at == ';') {
            cursor.at++;
            take_parameter(&cursor, &rel, &type);
        }
        if (has_word(rel, SLICE(JSONLD_CONTEXT_RELATION))) {
            links.several_contexts |= links.context.length > 0;
            links.context = uri;
        } else if (has_word(rel, SLICE("alternate")) &&
                   is_type(type, SLICE("application/ld+json")) && links.alternate.length == 0) {
            links.alternate = uri;
        }
    }
    return links;
}
