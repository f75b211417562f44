/* The row html5lib-tokenizer: html5lib's cases of the HTML standard's tokenizer.
 *
 * Compared is what our tokenizer hands to tree construction, so what is expected is rewritten where
 * the two divide their work otherwise than the standard: comments are not kept; a document type is
 * only asked whether it means quirks; NULs, which tree construction drops from text and replaces
 * in CDATA sections, are gone or replaced already. Skipped are cases for tokenizers whose tokens
 * become XML. */
#include <jansson.h>

#include "base/buf.h"
#include "base/memory.h"
#include "rdf/core/lexical.h"
#include "tests/conformance/row.h"
#include "transforms/html/tree_build.h"

enum { LINE_MAXIMUM = 1 << 20 };

/* Tokens as lines: "text ...", "start NAME /", "attribute NAME=VALUE", "end NAME", "doctype". */
struct lines {
    struct buf text;
    struct buf characters; /* not yet written, since neighbours are joined */
};

static void
put(struct lines *lines, const char *kind, struct slice text)
{
    if (lines->characters.length > 0 && strcmp(kind, "text") != 0) {
        const struct slice characters = buf_slice(&lines->characters);
        buf_printf(&lines->text, "text %.*s\n", SLICE_PRINT(characters));
        buf_reset(&lines->characters);
    }
    if (strcmp(kind, "text") == 0) {
        buf_append_slice(&lines->characters, text);
    } else if (kind[0]) {
        buf_append_string(&lines->text, kind);
        buf_append_char(&lines->text, ' ');
        buf_append_slice(&lines->text, text);
        buf_append_char(&lines->text, '\n');
    }
}

static int
compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Attributes have no order. */
static void
put_attributes(struct lines *lines, char **attributes, size_t count)
{
    qsort(attributes, count, sizeof *attributes, compare);
    for (size_t i = 0; i < count; i++) {
        put(lines, "attribute", slice_string(attributes[i]));
        free(attributes[i]);
    }
}

/* ---- what is expected ---- */

/* Undoes \uHHHH; surrogate pairs are one character, a lone one is three bytes. */
static void
unescape(struct slice text, struct buf *out)
{
    uint32_t high = 0;
    buf_reset(out);
    for (size_t i = 0; i < text.length;) {
        char bytes[8];
        unsigned code;
        if (text.length - i < 6 || text.at[i] != '\\' || text.at[i + 1] != 'u' ||
            sscanf(text.at + i + 2, "%4x", &code) != 1) {
            buf_append_char(out, text.at[i++]);
            high = 0;
            continue;
        }
        i += 6;
        if (high && code >= 0xDC00 && code < 0xE000) {
            out->length -= 3;
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00);
        }
        high = code >= 0xD800 && code < 0xDC00 ? code : 0;
        buf_append(out, bytes, (size_t)lexical_encode(code, bytes));
    }
}

static struct slice
text_of(const json_t *string, bool escaped, struct buf *memory)
{
    const struct slice text = slice_of(json_string_value(string), json_string_length(string));
    if (!escaped) {
        return text;
    }
    unescape(text, memory);
    return buf_slice(memory);
}

enum state { DATA, PLAINTEXT, RCDATA, RAWTEXT, SCRIPT_DATA, CDATA, STATES };
static const char *const state_names[STATES] = {"Data state",        "PLAINTEXT state",
                                                "RCDATA state",      "RAWTEXT state",
                                                "Script data state", "CDATA section state"};

static void
expect_characters(struct lines *lines, struct slice text, enum state state)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] != 0) {
            put(lines, "text", slice_of(text.at + i, 1));
        } else if (state == CDATA) {
            put(lines, "text", SLICE("\xEF\xBF\xBD"));
        }
    }
}

static void
expect_doctype(struct lines *lines, const json_t *token)
{
    struct buf text;
    const char *public = json_string_value(json_array_get(token, 2));
    const char *system = json_string_value(json_array_get(token, 3));
    const char *name = json_string_value(json_array_get(token, 1));
    buf_init(&text, LINE_MAXIMUM);
    buf_append_string(&text, name ? name : "");
    if (public) {
        buf_printf(&text, " PUBLIC %c%s%c", strchr(public, '"') ? '\'' : '"', public,
                   strchr(public, '"') ? '\'' : '"');
    } else if (system) {
        buf_append_string(&text, " SYSTEM");
    }
    if (system) {
        buf_printf(&text, " %c%s%c", strchr(system, '"') ? '\'' : '"', system,
                   strchr(system, '"') ? '\'' : '"');
    }
    const bool quirks =
        json_is_false(json_array_get(token, 4)) || html_doctype_is_quirky(buf_slice(&text), false);
    put(lines, "doctype", quirks ? SLICE("quirks") : SLICE("standards"));
    buf_release(&text);
}

static void
expect_start(struct lines *lines, json_t *token, bool escaped)
{
    struct buf name, value;
    char *attributes[HTML_ATTRIBUTES] = {NULL};
    size_t count = 0;
    const char *key;
    json_t *attribute;
    buf_init(&name, LINE_MAXIMUM);
    buf_init(&value, LINE_MAXIMUM);
    buf_append_slice(&value, text_of(json_array_get(token, 1), escaped, &name));
    if (json_is_true(json_array_get(token, 3))) {
        buf_append_string(&value, " /");
    }
    put(lines, "start", buf_slice(&value));
    json_object_foreach(json_array_get(token, 2), key, attribute)
    {
        struct buf line;
        json_t *string = json_string(key);
        buf_init(&line, LINE_MAXIMUM);
        buf_append_slice(&line, text_of(string, escaped, &name));
        buf_append_char(&line, '=');
        buf_append_slice(&line, text_of(attribute, escaped, &value));
        attributes[count++] = memory_string(line.data);
        json_decref(string);
        buf_release(&line);
    }
    put_attributes(lines, attributes, count);
    buf_release(&name);
    buf_release(&value);
}

static void
expect(struct lines *lines, json_t *output, bool escaped, enum state state)
{
    size_t i;
    json_t *token;
    struct buf memory;
    buf_init(&memory, LINE_MAXIMUM);
    json_array_foreach(output, i, token)
    {
        const char *kind = json_string_value(json_array_get(token, 0));
        if (strcmp(kind, "Character") == 0) {
            expect_characters(lines, text_of(json_array_get(token, 1), escaped, &memory), state);
        } else if (strcmp(kind, "StartTag") == 0) {
            expect_start(lines, token, escaped);
        } else if (strcmp(kind, "EndTag") == 0) {
            put(lines, "end", text_of(json_array_get(token, 1), escaped, &memory));
        } else if (strcmp(kind, "DOCTYPE") == 0) {
            expect_doctype(lines, token);
        }
    }
    put(lines, "", (struct slice){0});
    buf_release(&memory);
}

/* ---- what we make of it ---- */

static void
put_lower(struct lines *lines, const char *kind, struct slice name, const char *end)
{
    struct buf text;
    buf_init(&text, LINE_MAXIMUM);
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        buf_append_char(&text, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
    buf_append_string(&text, end);
    put(lines, kind, buf_slice(&text));
    buf_release(&text);
}

static void
put_start(struct lines *lines, const struct html_tree *tree, const struct html_token *token)
{
    char *attributes[HTML_ATTRIBUTES] = {NULL};
    put_lower(lines, "start", token->name, token->self_closing ? " /" : "");
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[token->attribute + i];
        struct buf line;
        buf_init(&line, LINE_MAXIMUM);
        buf_append_slice(&line, attribute->name);
        buf_append_char(&line, '=');
        buf_append_slice(&line, attribute->value);
        attributes[i] = memory_string(line.data);
        buf_release(&line);
    }
    put_attributes(lines, attributes, token->attribute_count);
}

/* Text up to the end tag of what was opened last. */
static void
take_raw(struct lines *lines, struct html_tokenizer *tokenizer, enum state state,
         const char *opened)
{
    static const enum html_element elements[STATES] = {[PLAINTEXT] = HTML_PLAINTEXT,
                                                       [RCDATA] = HTML_TEXTAREA,
                                                       [RAWTEXT] = HTML_STYLE,
                                                       [SCRIPT_DATA] = HTML_SCRIPT};
    const struct html_token start = {
        .kind = HTML_TOKEN_START, .element = elements[state], .name = slice_string(opened)};
    struct slice text;
    bool closed = html_token_raw(tokenizer, &start, &text);
    put(lines, "text", text);
    if (closed) {
        put(lines, "end", start.name);
    }
}

static void
tokenize(struct lines *lines, struct slice input, enum state state, const char *opened)
{
    struct arena arena;
    struct html_tree tree;
    struct html_tokenizer tokenizer;
    struct html_token token;
    struct buf bytes;
    arena_init(&arena, 16 << 20);
    html_tree_init(&tree, &arena);
    buf_init(&bytes, LINE_MAXIMUM);
    buf_append_string(&bytes, state == CDATA ? "<![CDATA[" : "");
    buf_append_slice(&bytes, input);
    html_tokenizer_init(&tokenizer, &tree, buf_slice(&bytes));
    tokenizer.cdata = state == CDATA;
    if (state != DATA && state != CDATA) {
        take_raw(lines, &tokenizer, state, opened);
    }
    for (;;) {
        html_token_next(&tokenizer, &token);
        tokenizer.cdata = false;
        if (token.kind == HTML_TOKEN_END_OF_INPUT) {
            break;
        }
        if (token.kind == HTML_TOKEN_TEXT) {
            put(lines, "text", token.text);
        } else if (token.kind == HTML_TOKEN_START) {
            put_start(lines, &tree, &token);
        } else if (token.kind == HTML_TOKEN_END) {
            put_lower(lines, "end", token.name, "");
        } else {
            put(lines, "doctype",
                html_doctype_is_quirky(token.text, token.cut_off) ? SLICE("quirks")
                                                                  : SLICE("standards"));
        }
    }
    put(lines, "", (struct slice){0});
    buf_release(&bytes);
    html_tree_release(&tree);
    arena_release(&arena);
}

/* ---- cases ---- */

static void
run_state(struct row *row, const char *id, json_t *test, enum state state)
{
    struct lines wanted, got;
    struct buf memory;
    const bool escaped = json_is_true(json_object_get(test, "doubleEscaped"));
    const char *opened = json_string_value(json_object_get(test, "lastStartTag"));
    buf_init(&memory, LINE_MAXIMUM);
    buf_init(&wanted.text, LINE_MAXIMUM);
    buf_init(&wanted.characters, LINE_MAXIMUM);
    buf_init(&got.text, LINE_MAXIMUM);
    buf_init(&got.characters, LINE_MAXIMUM);
    expect(&wanted, json_object_get(test, "output"), escaped, state);
    tokenize(&got, text_of(json_object_get(test, "input"), escaped, &memory), state,
             opened ? opened : "none");
    const bool good = slice_equal(buf_slice(&wanted.text), buf_slice(&got.text));
    struct buf told;
    buf_init(&told, LINE_MAXIMUM);
    buf_printf(&told, "got %.*s; expected %.*s", SLICE_PRINT(buf_slice(&got.text)),
               SLICE_PRINT(buf_slice(&wanted.text)));
    for (size_t i = 0; i < told.length; i++) {
        told.data[i] = told.data[i] == '\n' || told.data[i] == 0 ? '|' : told.data[i];
    }
    row_case(row, id, good, "%s", told.data);
    buf_release(&told);
    buf_release(&memory);
    buf_release(&wanted.text);
    buf_release(&wanted.characters);
    buf_release(&got.text);
    buf_release(&got.characters);
}

static enum state
state_of(const char *name)
{
    enum state state = DATA;
    while (state < CDATA && strcmp(state_names[state], name) != 0) {
        state++;
    }
    return state;
}

static void
run_file(struct row *row, const char *folder, const char *name)
{
    char path[PATH_MAX + 256], id[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL), *test, *state;
    json_t *tests = json_object_get(root, "tests");
    size_t i, k;
    row->skipped += (unsigned)json_array_size(json_object_get(root, "xmlViolationTests"));
    if (!root) {
        row_case(row, name, false, "is no JSON");
    }
    json_array_foreach(tests, i, test)
    {
        json_t *states = json_object_get(test, "initialStates");
        if (!states) {
            snprintf(id, sizeof id, "%s/%zu", name, i + 1);
            run_state(row, id, test, DATA);
        }
        json_array_foreach(states, k, state)
        {
            snprintf(id, sizeof id, "%s/%zu (%s)", name, i + 1, json_string_value(state));
            run_state(row, id, test, state_of(json_string_value(state)));
        }
    }
    json_decref(root);
}

int
main(int argc, char **argv)
{
    char folder[PATH_MAX - 64];
    struct row row;
    if (argc != 3) {
        fprintf(stderr, "usage: %s SUITES OUTPUT\n", argv[0]);
        return 100;
    }
    snprintf(folder, sizeof folder, "%s/html5lib/tokenizer", argv[1]);
    row_open(&row, "html5lib-tokenizer", argv[2]);
    row_files(&row, folder, ".test", run_file);
    row_close(&row);
    return 0;
}
