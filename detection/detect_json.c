/* JSON and what is written in it, by its tokens: a stack of bits says what is open, and the keys
 * of the outermost object (or of the objects of an outermost array) say which kind it is. */
#include <stdint.h>

#include "detection/detect.h"
#include "detection/text_cursor.h"

enum json_verdict { JSON_BROKEN, JSON_WHOLE, JSON_CUT };
enum { JSON_DEPTH = 64 };

/* Kinds of keys in outer objects that tell what the JSON is. */
enum json_key {
    KEY_LINKED_DATA = 1, /* a keyword of JSON-LD */
    KEY_GEO_TYPE = 2,
    KEY_GEO = 4,
    KEY_FEED = 8,
    KEY_HEAD = 16,
    KEY_RESULTS = 32,
    KEY_SUBJECT = 64,   /* the first outer key is an IRI or a blank node */
    KEY_PREDICATE = 128 /* and the first key inside of it an IRI */
};

struct json_scan {
    struct cursor cursor;
    uint64_t objects; /* bit 0: the innermost open one is an object */
    unsigned depth;
    unsigned keys;    /* enum json_key */
    struct slice key; /* an outer key whose value comes next */
    bool first_key;
    bool comments; /* there were some, which JSON does not have */
};

static const struct {
    const char *key, *value; /* value: its beginning; NULL: any */
    unsigned says;
} outer_keys[] = {
    {"@context", NULL, KEY_LINKED_DATA},
    {"@graph", NULL, KEY_LINKED_DATA},
    {"@id", NULL, KEY_LINKED_DATA},
    {"@type", NULL, KEY_LINKED_DATA},
    {"type", "FeatureCollection", KEY_GEO_TYPE},
    {"type", "Feature", KEY_GEO_TYPE},
    {"type", "Point", KEY_GEO_TYPE},
    {"type", "LineString", KEY_GEO_TYPE},
    {"type", "Polygon", KEY_GEO_TYPE},
    {"type", "MultiPoint", KEY_GEO_TYPE},
    {"type", "MultiLineString", KEY_GEO_TYPE},
    {"type", "MultiPolygon", KEY_GEO_TYPE},
    {"type", "GeometryCollection", KEY_GEO_TYPE},
    {"features", NULL, KEY_GEO},
    {"geometry", NULL, KEY_GEO},
    {"geometries", NULL, KEY_GEO},
    {"coordinates", NULL, KEY_GEO},
    {"version", "https://jsonfeed.org/version/", KEY_FEED},
    {"version", "http://jsonfeed.org/version/", KEY_FEED},
    {"head", NULL, KEY_HEAD},
    {"results", NULL, KEY_RESULTS},
    {"boolean", NULL, KEY_RESULTS},
};

static const struct {
    unsigned keys;
    const char *type;
} kinds[] = {
    {KEY_LINKED_DATA, "application/ld+json"},
    {KEY_FEED, "application/feed+json"},
    {KEY_GEO_TYPE | KEY_GEO, "application/geo+json"},
    {KEY_HEAD | KEY_RESULTS, "application/sparql-results+json"},
    {KEY_SUBJECT | KEY_PREDICATE, "application/rdf+json"},
};

static void
skip_blanks(struct json_scan *scan)
{
    struct cursor *cursor = &scan->cursor;
    for (;;) {
        cursor_skip_space(cursor);
        if (cursor_at(cursor, "//")) {
            cursor_skip_line(cursor);
        } else if (cursor_at(cursor, "/*")) {
            const char *close =
                memmem(cursor->at + 2, (size_t)(cursor->end - cursor->at - 2), "*/", 2);
            cursor->at = close ? close + 2 : cursor->end;
        } else {
            return;
        }
        scan->comments = true;
    }
}

/* A string, number or word. *inner: what is between the quotes. */
static enum json_verdict
json_scalar(struct cursor *cursor, struct slice *inner)
{
    static const char *const words[] = {"true", "false", "null"};
    const char first = cursor_peek(cursor, 0);
    if (first == '"') {
        const char *from = cursor->at + 1, *at = from;
        while (at < cursor->end && *at != '"') {
            at += *at == '\\' ? 2 : 1;
        }
        at = at < cursor->end ? at : cursor->end;
        *inner = slice_of(from, (size_t)(at - from));
        cursor->at = at < cursor->end ? at + 1 : cursor->end;
        return at < cursor->end ? JSON_WHOLE : JSON_CUT;
    }
    if (first == '-' || is_digit(first)) {
        while (cursor->at < cursor->end &&
               (is_digit(*cursor->at) || strchr("+-.eE", *cursor->at))) {
            cursor->at++;
        }
        return JSON_WHOLE;
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t n = strlen(words[i]), left = (size_t)(cursor->end - cursor->at);
        if (memcmp(cursor->at, words[i], left < n ? left : n) == 0) {
            cursor->at += left < n ? left : n;
            return left < n ? JSON_CUT : JSON_WHOLE;
        }
    }
    return JSON_BROKEN;
}

/* In the outermost object, or in an object of the outermost array. */
static bool
is_outer(const struct json_scan *scan)
{
    return (scan->depth == 1 && (scan->objects & 1)) ||
           (scan->depth == 2 && (scan->objects & 3) == 1);
}

static bool
is_iri(struct slice key)
{
    return slice_find_slice(key, SLICE("://")) < key.length || slice_starts(key, SLICE("urn:")) ||
           slice_starts(key, SLICE("_:"));
}

static void
take_key(struct json_scan *scan, struct slice key)
{
    if (is_outer(scan)) {
        scan->key = key;
        scan->keys |= !scan->first_key && scan->depth == 1 && is_iri(key) ? KEY_SUBJECT : 0;
        scan->first_key = true;
    } else if (scan->depth == 2 && (scan->objects & 3) == 3 && is_iri(key)) {
        scan->keys |= KEY_PREDICATE;
    }
}

/* value.at NULL: it is no string. */
static void
take_value(struct json_scan *scan, struct slice value)
{
    for (size_t i = 0; scan->key.at && i < sizeof outer_keys / sizeof *outer_keys; i++) {
        const bool said = !outer_keys[i].value ||
                          (value.at && slice_starts(value, slice_string(outer_keys[i].value)));
        if (said && slice_is(scan->key, outer_keys[i].key)) {
            scan->keys |= outer_keys[i].says;
        }
    }
    scan->key = (struct slice){0};
}

/* The next key of an object and its colon. */
static enum json_verdict
json_key(struct json_scan *scan)
{
    struct cursor *cursor = &scan->cursor;
    struct slice key = {0};
    if (cursor->at < cursor->end && *cursor->at != '"') {
        return JSON_BROKEN;
    }
    if (cursor->at >= cursor->end || json_scalar(cursor, &key) == JSON_CUT) {
        return JSON_CUT;
    }
    skip_blanks(scan);
    if (cursor->at < cursor->end && *cursor->at != ':') {
        return JSON_BROKEN;
    }
    cursor->at += cursor->at < cursor->end;
    take_key(scan, key);
    return JSON_WHOLE;
}

/* Skips what stands between a value and the next: commas and closing brackets; in objects also the
 * next key and its colon. */
static enum json_verdict
json_after_value(struct json_scan *scan, bool first)
{
    struct cursor *cursor = &scan->cursor;
    for (;; first = false) {
        if (scan->depth == 0) {
            return JSON_WHOLE;
        }
        skip_blanks(scan);
        const bool object = scan->objects & 1;
        const char next = cursor_peek(cursor, 0);
        if (cursor->at >= cursor->end) {
            return JSON_CUT;
        }
        if (next == (object ? '}' : ']')) {
            cursor->at++;
            scan->objects >>= 1;
            scan->depth--;
            continue;
        }
        if (!first) {
            if (next != ',') {
                return JSON_BROKEN;
            }
            cursor->at++;
            skip_blanks(scan);
        }
        return object ? json_key(scan) : JSON_WHOLE;
    }
}

/* One value from the cursor on. */
static enum json_verdict
json_value(struct json_scan *scan)
{
    struct cursor *cursor = &scan->cursor;
    do {
        skip_blanks(scan);
        const char next = cursor_peek(cursor, 0);
        struct slice inner = {0};
        if (cursor->at >= cursor->end) {
            return JSON_CUT;
        }
        const bool opens = next == '{' || next == '[';
        if (opens && scan->depth == JSON_DEPTH) {
            return JSON_CUT; /* deep enough to be believed */
        }
        enum json_verdict verdict = JSON_WHOLE;
        if (opens) {
            take_value(scan, inner);
            cursor->at++;
            scan->depth++;
            scan->objects = scan->objects << 1 | (next == '{');
        } else {
            verdict = json_scalar(cursor, &inner);
            take_value(scan, inner);
        }
        if (verdict == JSON_WHOLE) {
            verdict = json_after_value(scan, opens);
        }
        if (verdict != JSON_WHOLE) {
            return verdict;
        }
    } while (scan->depth > 0);
    return JSON_WHOLE;
}

const char *
detect_json(struct slice text, bool *cut)
{
    struct json_scan scan = {.cursor = cursor_of(text)};
    *cut = false;
    skip_blanks(&scan);
    const char open = cursor_peek(&scan.cursor, 0);
    if (open != '{' && open != '[') {
        return NULL;
    }
    const enum json_verdict verdict = json_value(&scan);
    *cut = verdict == JSON_CUT;
    /* JSON-LD of the web is often not quite JSON, so its keywords are enough. */
    if ((verdict == JSON_BROKEN || scan.comments) && !(scan.keys & KEY_LINKED_DATA)) {
        return NULL;
    }
    const char *ended = scan.cursor.at;
    cursor_skip_space(&scan.cursor);
    const char *newline = memchr(ended, '\n', (size_t)(scan.cursor.at - ended));
    if (verdict == JSON_WHOLE && scan.cursor.at < scan.cursor.end) {
        const unsigned keys = scan.keys;
        if (newline && json_value(&scan) != JSON_BROKEN) {
            return "application/x-ndjson";
        }
        return keys & KEY_LINKED_DATA ? "application/ld+json" : NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if ((scan.keys & kinds[i].keys) == kinds[i].keys) {
            return kinds[i].type;
        }
    }
    return "application/json";
}
