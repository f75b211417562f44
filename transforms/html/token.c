#include "transforms/html/token.h"

#include <strings.h>

#include "base/ascii.h"
#include "transforms/html/html_entities.h"

void
html_tokenizer_init(struct html_tokenizer *tokenizer, struct html_tree *tree, struct slice input)
{
    *tokenizer = (struct html_tokenizer){
        .tree = tree, .start = input.at, .at = input.at, .end = input.at + input.length};
    tokenizer->odd = input.length > 0 &&
                     (memchr(input.at, '\r', input.length) || memchr(input.at, 0, input.length));
}

static char *
allocate(struct html_tokenizer *tokenizer, size_t length)
{
    char *memory = arena_alloc(tokenizer->tree->arena, length);
    tokenizer->full |= !memory;
    return memory;
}

/* Ends of lines become LF. NULs are dropped from text, and shown as U+FFFD elsewhere. */
static struct slice
normalise(struct html_tokenizer *tokenizer, struct slice raw, bool in_text)
{
    size_t nuls = 0;
    bool returns = false;
    for (size_t i = 0; i < raw.length; i++) {
        nuls += raw.at[i] == 0;
        returns |= raw.at[i] == '\r';
    }
    if (!returns && nuls == 0) {
        return raw;
    }
    char *out = allocate(tokenizer, raw.length + (in_text ? 0 : 2 * nuls));
    if (!out) {
        return (struct slice){"", 0};
    }
    size_t length = 0;
    for (size_t i = 0; i < raw.length; i++) {
        const char c = raw.at[i];
        if (c == 0) {
            memcpy(out + length, "\357\277\275", in_text ? 0 : 3);
            length += in_text ? 0 : 3;
        } else if (c != '\r') {
            out[length++] = c;
        } else if (i + 1 == raw.length || raw.at[i + 1] != '\n') {
            out[length++] = '\n';
        }
    }
    return slice_of(out, length);
}

enum text_place { IN_TEXT, IN_ATTRIBUTE, IN_RAW_TEXT };

/* Text with its character references decoded. Two of them have more UTF-8 than the reference has
 * bytes: "&nGt;" and "&nLt;", by a fifth. */
static struct slice
decode(struct html_tokenizer *tokenizer, struct slice raw, enum text_place place)
{
    if (tokenizer->odd) {
        raw = normalise(tokenizer, raw, place == IN_TEXT);
    }
    const char *reference = memchr(raw.at, '&', raw.length);
    if (!reference) {
        return raw;
    }
    char *out = allocate(tokenizer, raw.length + raw.length / 5 + ENTITY_TEXT_MAXIMUM);
    if (!out) {
        return (struct slice){"", 0};
    }
    size_t length = 0;
    const char *at = raw.at, *const end = raw.at + raw.length;
    while (reference) {
        memcpy(out + length, at, (size_t)(reference - at));
        length += (size_t)(reference - at);
        size_t written = 0;
        const size_t used = entity_decode(slice_of(reference, (size_t)(end - reference)),
                                          place == IN_ATTRIBUTE, out + length, &written);
        if (used == 0) {
            out[length++] = '&';
            at = reference + 1;
        } else {
            length += written;
            at = reference + used;
        }
        reference = memchr(at, '&', (size_t)(end - at));
    }
    memcpy(out + length, at, (size_t)(end - at));
    return slice_of(out, length + (size_t)(end - at));
}

static bool
starts(const char *at, const char *end, struct slice word)
{
    return slice_starts(slice_of(at, (size_t)(end - at)), word);
}

/* NULL when absent. */
static const char *
find(const char *at, const char *end, struct slice word)
{
    return memmem(at, (size_t)(end - at), word.at, word.length);
}

static void
skip_to_greater(struct html_tokenizer *tokenizer)
{
    const char *greater = memchr(tokenizer->at, '>', (size_t)(tokenizer->end - tokenizer->at));
    tokenizer->at = greater ? greater + 1 : tokenizer->end;
}

/* Tells whether the word stands at `at`; then what is read next stands behind it. */
static bool
skip_word(struct html_tokenizer *tokenizer, const char *at, struct slice word)
{
    if (!starts(at, tokenizer->end, word)) {
        return false;
    }
    tokenizer->at = at + word.length;
    return true;
}

/* at stands after "<!--". */
static void
skip_comment(struct html_tokenizer *tokenizer)
{
    const char *at = tokenizer->at;
    if (skip_word(tokenizer, at, SLICE(">")) || skip_word(tokenizer, at, SLICE("->"))) {
        return;
    }
    for (; (at = find(at, tokenizer->end, SLICE("--"))) != NULL; at++) {
        if (skip_word(tokenizer, at, SLICE("-->")) || skip_word(tokenizer, at, SLICE("--!>"))) {
            return;
        }
    }
    tokenizer->at = tokenizer->end;
}

static struct slice
lower_case(struct html_tokenizer *tokenizer, struct slice name)
{
    size_t i = 0;
    while (i < name.length && !(name.at[i] >= 'A' && name.at[i] <= 'Z')) {
        i++;
    }
    if (i == name.length) {
        return name;
    }
    char *copy = allocate(tokenizer, name.length);
    if (!copy) {
        return name;
    }
    for (i = 0; i < name.length; i++) {
        const char c = name.at[i];
        copy[i] = ascii_lower(c);
    }
    return slice_of(copy, name.length);
}

static void
add_attribute(struct html_tokenizer *tokenizer, struct html_token *token, struct slice name,
              struct slice value)
{
    if (token->kind != HTML_TOKEN_START || token->attribute_count >= HTML_ATTRIBUTES) {
        return;
    }
    name = lower_case(tokenizer, tokenizer->odd ? normalise(tokenizer, name, false) : name);
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        if (slice_equal(tokenizer->tree->attributes[token->attribute + i].name, name)) {
            return;
        }
    }
    html_tree_attribute(tokenizer->tree, name, decode(tokenizer, value, IN_ATTRIBUTE));
    token->attribute_count++;
}

/* at stands on the first character of the value. */
static struct slice
attribute_value(struct html_tokenizer *tokenizer)
{
    const char *at = tokenizer->at, *const end = tokenizer->end;
    if (*at == '"' || *at == '\'') {
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        tokenizer->at = close ? close + 1 : end;
        return slice_of(at + 1, (size_t)((close ? close : end) - at - 1));
    }
    const char *from = at;
    while (at < end && !ascii_is_space(*at) && *at != '>') {
        at++;
    }
    tokenizer->at = at;
    return slice_of(from, (size_t)(at - from));
}

static const char *
skip_space(const char *at, const char *end)
{
    while (at < end && ascii_is_space(*at)) {
        at++;
    }
    return at;
}

/* at stands on the first letter of the name. False: the input ended inside the tag. */
static bool
read_tag(struct html_tokenizer *tokenizer, struct html_token *token)
{
    const char *at = tokenizer->at, *const end = tokenizer->end;
    const char *name = at;
    while (at < end && !ascii_is_space(*at) && *at != '>' && *at != '/') {
        at++;
    }
    token->name = slice_of(name, (size_t)(at - name));
    if (tokenizer->odd) {
        token->name = normalise(tokenizer, token->name, false);
    }
    token->element = html_element_of(token->name);
    token->attribute = tokenizer->tree->attribute_count;
    token->attribute_count = 0;
    token->self_closing = false;
    for (;;) {
        at = skip_space(at, end);
        if (at >= end) {
            tokenizer->at = end;
            return false;
        }
        if (*at == '>') {
            tokenizer->at = at + 1;
            return true;
        }
        if (*at == '/') {
            at++;
            if (at < end && *at == '>') {
                token->self_closing = true;
            }
            continue;
        }
        name = at++;
        while (at < end && !ascii_is_space(*at) && *at != '>' && *at != '/' && *at != '=') {
            at++;
        }
        const struct slice attribute = slice_of(name, (size_t)(at - name));
        struct slice value = {"", 0};
        const char *equals = skip_space(at, end);
        if (equals < end && *equals == '=') {
            tokenizer->at = skip_space(equals + 1, end);
            if (tokenizer->at < end && *tokenizer->at != '>') {
                value = attribute_value(tokenizer);
            }
            at = tokenizer->at;
        }
        add_attribute(tokenizer, token, attribute, value);
    }
}

/* at stands on "<!" or "<?" or "</" and no letter. True when it was a document type or a CDATA
 * section, whose text is in token; other things are not kept. */
static bool
read_markup(struct html_tokenizer *tokenizer, struct html_token *token)
{
    const char *at = tokenizer->at;
    const struct slice left = slice_of(at, (size_t)(tokenizer->end - at));
    const struct slice cdata = SLICE("<![CDATA["), doctype = SLICE("<!doctype");
    if (slice_starts(left, SLICE("<!--"))) {
        tokenizer->at = at + 4;
        skip_comment(tokenizer);
        return false;
    }
    if (tokenizer->cdata && slice_starts(left, cdata)) {
        const char *text = at + cdata.length, *close = find(text, tokenizer->end, SLICE("]]>"));
        token->kind = HTML_TOKEN_TEXT;
        token->text = slice_of(text, (size_t)((close ? close : tokenizer->end) - text));
        if (tokenizer->odd) {
            token->text = normalise(tokenizer, token->text, false);
        }
        tokenizer->at = close ? close + 3 : tokenizer->end;
        return true;
    }
    tokenizer->at = at + 2;
    skip_to_greater(tokenizer);
    if (left.length >= doctype.length && strncasecmp(at, doctype.at, doctype.length) == 0) {
        token->kind = HTML_TOKEN_DOCTYPE;
        token->text = slice_of(at + doctype.length, (size_t)(tokenizer->at - at) - doctype.length);
        token->cut_off = tokenizer->at[-1] != '>';
        token->text.length -= !token->cut_off;
        return true;
    }
    return false;
}

/* Finds where text that starts at `at` ends: at markup or at the end of the input. */
static const char *
text_end(const char *at, const char *end)
{
    while (at < end) {
        const char *less = memchr(at, '<', (size_t)(end - at));
        if (!less) {
            return end;
        }
        if (end - less >= 2) {
            const char next = less[1];
            if (ascii_is_letter(next) || next == '!' || next == '?' ||
                (next == '/' && end - less >= 3)) {
                return less;
            }
        }
        at = less + 1;
    }
    return end;
}

void
html_token_next(struct html_tokenizer *tokenizer, struct html_token *token)
{
    for (;;) {
        const char *at = tokenizer->at, *const end = tokenizer->end;
        token->offset = (uint32_t)(at - tokenizer->start);
        token->kind = HTML_TOKEN_END_OF_INPUT;
        if (at >= end) {
            return;
        }
        const char *stop = text_end(at, end);
        if (stop > at) {
            token->kind = HTML_TOKEN_TEXT;
            token->text = decode(tokenizer, slice_of(at, (size_t)(stop - at)),
                                 tokenizer->shows_nuls ? IN_RAW_TEXT : IN_TEXT);
            tokenizer->at = stop;
            return;
        }
        const bool closing = at[1] == '/';
        if (ascii_is_letter(at[closing ? 2 : 1])) {
            token->kind = closing ? HTML_TOKEN_END : HTML_TOKEN_START;
            tokenizer->at = at + (closing ? 2 : 1);
            if (!read_tag(tokenizer, token)) {
                tokenizer->tree->attribute_count = token->attribute;
                token->kind = HTML_TOKEN_END_OF_INPUT;
            }
            return;
        }
        if (read_markup(tokenizer, token)) {
            return;
        }
    }
}

void
html_token_skip_newline(struct html_tokenizer *tokenizer)
{
    const char *at = tokenizer->at, *const end = tokenizer->end;
    at += at < end && *at == '\r';
    at += at < end && *at == '\n';
    tokenizer->at = at;
}

/* Returns whether `at` has "name" (any case) and then a blank, '/' or '>'. */
static bool
names(const char *at, const char *end, struct slice name)
{
    if ((size_t)(end - at) <= name.length || strncasecmp(at, name.at, name.length) != 0) {
        return false;
    }
    const char next = at[name.length];
    return ascii_is_space(next) || next == '/' || next == '>';
}

static const char *
find_raw_end(const char *at, const char *end, struct slice name)
{
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (starts(at, end, SLICE("</")) && names(at + 2, end, name)) {
            return at;
        }
        at++;
    }
    return end;
}

/* Script text may hold "<!-- <script> </script> -->" (the standard's escaped states). */
static const char *
find_script_end(const char *at, const char *end, struct slice name)
{
    enum { PLAIN, ESCAPED, DOUBLE } state = PLAIN;
    for (; at < end; at++) {
        if (state == PLAIN) {
            at = memchr(at, '<', (size_t)(end - at));
            if (!at) {
                return end;
            }
        }
        if (*at == '-' && state != PLAIN && starts(at, end, SLICE("-->"))) {
            state = PLAIN;
        } else if (*at == '<') {
            if (starts(at, end, SLICE("</")) && names(at + 2, end, name)) {
                if (state != DOUBLE) {
                    return at;
                }
                state = ESCAPED;
            } else if (state == PLAIN && starts(at, end, SLICE("<!--"))) {
                state = ESCAPED; /* the dashes may also be those of "-->" */
            } else if (state == ESCAPED && names(at + 1, end, name)) {
                state = DOUBLE;
            }
        }
    }
    return end;
}

/* Finds where the text of a raw text element ends; *closed: at its end tag. A title without end
 * would take the whole page, as no author means it: it ends where the next tag begins. */
static const char *
raw_text_end(struct html_tokenizer *tokenizer, const struct html_token *start, bool *closed)
{
    const char *at = tokenizer->at, *const end = tokenizer->end, *stop = end;
    if (start->element == HTML_SCRIPT) {
        stop = find_script_end(at, end, start->name);
    } else if (start->element != HTML_PLAINTEXT &&
               !(start->element == HTML_TITLE && tokenizer->titles_over)) {
        stop = find_raw_end(at, end, start->name);
    }
    *closed = stop < end;
    if (!*closed && start->element != HTML_PLAINTEXT) {
        tokenizer->tree->repair |= HTML_REPAIR_RAW;
    }
    if (!*closed && start->element == HTML_TITLE) {
        tokenizer->titles_over = true;
        stop = text_end(at, end);
    }
    return stop;
}

bool
html_token_raw(struct html_tokenizer *tokenizer, const struct html_token *start, struct slice *text)
{
    bool closed;
    const char *stop = raw_text_end(tokenizer, start, &closed);
    *text = slice_of(tokenizer->at, (size_t)(stop - tokenizer->at));
    if (html_element_rules(start->element) & RULE_RCDATA) {
        *text = decode(tokenizer, *text, IN_RAW_TEXT);
    } else if (tokenizer->odd) {
        *text = normalise(tokenizer, *text, false);
    }
    tokenizer->at = stop;
    if (closed) {
        struct html_token close = {.kind = HTML_TOKEN_END}; /* the name is known */
        closed = read_tag(tokenizer, &close);
    }
    return closed;
}
