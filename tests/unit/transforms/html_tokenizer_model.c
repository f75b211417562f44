#include "tests/unit/transforms/html_tokenizer_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/ascii.h"
#include "transforms/html/html_entities.h"

enum { ROOM = 1 << 16, TAG_ATTRIBUTES = 64 };

/* ---- what tokens are printed as ---- */

void
print_text(struct buf *out, size_t offset, bool decoded, struct slice text)
{
    buf_printf(out, "T%zu%s'", offset, decoded && text.length > 0 ? "*" : "");
    buf_append_slice(out, text);
    buf_append_string(out, "'\n");
}

void
print_name(struct buf *out, enum html_token_kind kind, size_t offset, struct slice name,
           bool self_closing)
{
    buf_printf(out, "%c%zu%s ", kind == HTML_TOKEN_START ? 'S' : 'E', offset,
               self_closing ? "/" : "");
    buf_append_slice(out, name);
    buf_append_char(out, '\n');
}

void
print_attribute(struct buf *out, bool lowered, struct slice name, bool decoded, struct slice value)
{
    buf_append_string(out, lowered ? " *" : "  ");
    buf_append_slice(out, name);
    buf_append_string(out, decoded && value.length > 0 ? " =* " : " = ");
    buf_append_slice(out, value);
    buf_append_char(out, '\n');
}

bool
is_raw_text(enum html_element element)
{
    return element == HTML_PLAINTEXT || html_element_rules(element) & (RULE_RAW | RULE_RCDATA);
}

/* ---- the second tokenizer ---- */

struct model {
    const char *start, *at, *end;
    bool cdata;
    struct buf *out;
    struct buf text; /* decoded last */
};

enum place { DATA, ATTRIBUTE, RCDATA, PLAIN_TEXT };

static bool
needs_decoding(struct slice raw, enum place place)
{
    return memchr(raw.at, '\r', raw.length) || memchr(raw.at, 0, raw.length) ||
           (place != PLAIN_TEXT && memchr(raw.at, '&', raw.length));
}

static struct slice
decode_slowly(struct model *m, struct slice raw, enum place place)
{
    struct buf lines;
    buf_init(&lines, ROOM);
    for (size_t i = 0; i < raw.length; i++) {
        if (raw.at[i] == 0) {
            buf_append_string(&lines, place == DATA ? "" : "\xEF\xBF\xBD");
        } else if (raw.at[i] != '\r') {
            buf_append_char(&lines, raw.at[i]);
        } else if (i + 1 == raw.length || raw.at[i + 1] != '\n') {
            buf_append_char(&lines, '\n');
        }
    }
    buf_reset(&m->text);
    for (size_t i = 0; i < lines.length;) {
        char text[ENTITY_TEXT_MAXIMUM];
        size_t written = 0, used = 0;
        if (lines.data[i] == '&' && place != PLAIN_TEXT) {
            used = entity_decode(slice_of(lines.data + i, lines.length - i), place == ATTRIBUTE,
                                 text, &written);
        }
        buf_append(&m->text, used > 0 ? text : lines.data + i, used > 0 ? written : 1);
        i += used > 0 ? used : 1;
    }
    buf_release(&lines);
    return buf_slice(&m->text);
}

static void
model_text(struct model *m, const char *from, const char *to, enum place place)
{
    const struct slice raw = slice_of(from, (size_t)(to - from));
    print_text(m->out, (size_t)(from - m->start), needs_decoding(raw, place),
               decode_slowly(m, raw, place));
}

struct model_tag {
    struct slice name, names[TAG_ATTRIBUTES], values[TAG_ATTRIBUTES];
    size_t count;
    bool self_closing;
};

enum tag_state {
    TAG_NAME,
    BEFORE_ATTRIBUTE,
    ATTRIBUTE_NAME,
    AFTER_ATTRIBUTE,
    BEFORE_VALUE,
    QUOTED,
    UNQUOTED,
    AFTER_QUOTED,
    SELF_CLOSING
};

static void
start_attribute(struct model *m, struct model_tag *tag)
{
    assert_true(tag->count < TAG_ATTRIBUTES);
    tag->names[tag->count] = slice_of(m->at, 1);
    tag->values[tag->count++] = slice_of(m->at, 0);
}

static enum tag_state
start_value(struct model *m, struct slice *value)
{
    const bool quoted = *m->at == '"' || *m->at == '\'';
    *value = slice_of(m->at + quoted, quoted ? 0 : 1);
    return quoted ? QUOTED : UNQUOTED;
}

/* Reads a tag from the first letter of its name to behind '>'. False: the page ends inside. */
static bool
model_tag(struct model *m, struct model_tag *tag)
{
    enum tag_state state = TAG_NAME;
    *tag = (struct model_tag){.name = slice_of(m->at, 0)};
    for (; m->at < m->end; m->at++) {
        const char c = *m->at;
        const bool space = ascii_is_space(c);
        const size_t last = tag->count > 0 ? tag->count - 1 : 0;
        struct slice *name = &tag->names[last], *value = &tag->values[last];
        if (state == QUOTED) {
            if (c == value->at[-1]) {
                state = AFTER_QUOTED;
            } else {
                value->length++;
            }
        } else if (c == '>') {
            tag->self_closing = state == SELF_CLOSING;
            m->at++;
            return true;
        } else if (state == UNQUOTED) {
            state = space ? BEFORE_ATTRIBUTE : UNQUOTED;
            value->length += !space;
        } else if (state == BEFORE_VALUE) {
            state = space ? BEFORE_VALUE : start_value(m, value);
        } else if (c == '/') {
            state = SELF_CLOSING;
        } else if (space) {
            state = state == ATTRIBUTE_NAME || state == AFTER_ATTRIBUTE ? AFTER_ATTRIBUTE
                                                                        : BEFORE_ATTRIBUTE;
        } else if (c == '=' && (state == ATTRIBUTE_NAME || state == AFTER_ATTRIBUTE)) {
            state = BEFORE_VALUE;
        } else if (state == TAG_NAME) {
            tag->name.length++;
        } else if (state == ATTRIBUTE_NAME) {
            name->length++;
        } else {
            start_attribute(m, tag);
            state = ATTRIBUTE_NAME;
        }
    }
    return false;
}

static bool
model_says(const struct model *m, const char *at, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i < length; i++) {
        if (at + i >= m->end || ascii_lower(at[i]) != word[i]) {
            return false;
        }
    }
    return true;
}

/* NULs are shown; letters become lower-case ones when wanted. */
static struct slice
clean_name(struct slice name, bool lower, char out[3 * ROOM], bool *changed)
{
    size_t length = 0;
    *changed = false;
    for (size_t i = 0; i < name.length; i++) {
        const char c = lower ? ascii_lower(name.at[i]) : name.at[i];
        if (c == 0) {
            memcpy(out + length, "\xEF\xBF\xBD", 3);
            length += 3;
        } else {
            out[length++] = c;
        }
        *changed = *changed || c == 0 || c != name.at[i];
    }
    return slice_of(out, length);
}

static void
print_model_tag(struct model *m, const struct model_tag *tag, enum html_token_kind kind,
                const char *from)
{
    static char name[3 * ROOM];
    bool changed;
    print_name(m->out, kind, (size_t)(from - m->start),
               clean_name(tag->name, false, name, &changed), tag->self_closing);
    for (size_t i = 0; i < tag->count && kind == HTML_TOKEN_START; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++) {
            again = again || slice_equal_nocase(tag->names[i], tag->names[j]);
        }
        if (!again) {
            const struct slice shown = clean_name(tag->names[i], true, name, &changed);
            print_attribute(m->out, changed, shown, needs_decoding(tag->values[i], ATTRIBUTE),
                            decode_slowly(m, tag->values[i], ATTRIBUTE));
        }
    }
}

/* at: behind "</". Whether an end tag of that name begins there. */
static bool
is_end_tag(const struct model *m, const char *at, const char *name)
{
    const char *behind = at + strlen(name);
    return model_says(m, at, name) && behind < m->end &&
           (ascii_is_space(*behind) || *behind == '/' || *behind == '>');
}

/* The script data states, which know three: plain, escaped, double escaped; dashes: as many as
 * stand before, up to two. */
static const char *
model_script_end(const struct model *m)
{
    enum { PLAIN, ESCAPED, DOUBLE } state = PLAIN;
    int dashes = 0;
    for (const char *at = m->at; at < m->end; at++) {
        const bool end =
            *at == '<' && at + 1 < m->end && at[1] == '/' && is_end_tag(m, at + 2, "script");
        if (end && state != DOUBLE) {
            return at;
        }
        if (state == PLAIN) {
            if (model_says(m, at, "<!--")) {
                state = ESCAPED;
                dashes = 2;
                at += 3;
            }
            continue;
        }
        if (*at == '>' && dashes == 2) {
            state = PLAIN;
        } else if (end) {
            state = ESCAPED;
        } else if (*at == '<' && state == ESCAPED && is_end_tag(m, at + 1, "script")) {
            state = DOUBLE;
        }
        dashes = *at != '-' ? 0 : dashes == 0 ? 1 : 2;
    }
    return NULL;
}

static const char *
model_raw_end(const struct model *m, const char *name)
{
    for (const char *at = m->at; m->end - at >= 2; at++) {
        if (memcmp(at, "</", 2) == 0 && is_end_tag(m, at + 2, name)) {
            return at;
        }
    }
    return NULL;
}

static bool
is_markup(const struct model *m, const char *at)
{
    if (*at != '<' || at + 1 == m->end) {
        return false;
    }
    return ascii_is_letter(at[1]) || at[1] == '!' || at[1] == '?' ||
           (at[1] == '/' && at + 2 < m->end);
}

static void
model_raw(struct model *m, struct slice name, enum html_element element)
{
    char word[16];
    for (size_t i = 0; i <= name.length; i++) {
        word[i] = i < name.length ? ascii_lower(name.at[i]) : 0;
    }
    const enum place place = html_element_rules(element) & RULE_RCDATA ? RCDATA : PLAIN_TEXT;
    const char *from = m->at, *end = element == HTML_PLAINTEXT ? NULL
                                     : element == HTML_SCRIPT  ? model_script_end(m)
                                                               : model_raw_end(m, word);
    m->at = end != NULL ? end : m->end;
    /* Where the standard takes all, a title ends at the next tag. */
    for (const char *at = from; end == NULL && element == HTML_TITLE && at < m->at; at++) {
        m->at = is_markup(m, at) ? at : m->at;
    }
    model_text(m, from, m->at, place);
    if (end != NULL) {
        struct model_tag tag;
        m->at += 2;
        (void)model_tag(m, &tag);
    }
}

static void
skip_model_newline(struct model *m)
{
    const bool carriage = m->at < m->end && *m->at == '\r';
    m->at += carriage;
    m->at += m->at < m->end && *m->at == '\n';
}

/* The comment states, at behind "<!--". */
static void
skip_model_comment(struct model *m)
{
    enum { START, START_DASH, COMMENT, DASH, END, BANG } state = START;
    for (; m->at < m->end; m->at++) {
        const char c = *m->at;
        if (c == '>' && state != COMMENT && state != DASH) {
            m->at++;
            return;
        }
        if (c == '-') {
            state = state == START ? START_DASH : state == COMMENT || state == BANG ? DASH : END;
        } else {
            state = c == '!' && state == END ? BANG : COMMENT;
        }
    }
}

/* Behind "<!", "<?" or "</" and no letter. */
static void
model_markup(struct model *m, const char *from)
{
    if (model_says(m, from, "<!--")) {
        m->at = from + 4;
        skip_model_comment(m);
        return;
    }
    const bool doctype = model_says(m, from, "<!doctype");
    if (m->cdata && m->end - from >= 9 && memcmp(from, "<![CDATA[", 9) == 0) {
        const char *at = from + 9;
        while (at < m->end && !model_says(m, at, "]]>")) {
            at++;
        }
        const size_t offset = (size_t)(from - m->start);
        const struct slice raw = slice_of(from + 9, (size_t)(at - from - 9));
        print_text(m->out, offset, needs_decoding(raw, PLAIN_TEXT),
                   decode_slowly(m, raw, PLAIN_TEXT));
        m->at = at < m->end ? at + 3 : at;
        return;
    }
    m->at = from + 2;
    while (m->at < m->end && *m->at != '>') {
        m->at++;
    }
    if (doctype) {
        buf_printf(m->out, "D%zu'", (size_t)(from - m->start));
        buf_append(m->out, from + 9, (size_t)(m->at - from - 9));
        buf_append_string(m->out, "'\n");
    }
    m->at += m->at < m->end;
}

static void
run(struct model *m)
{
    while (m->at < m->end) {
        const char *from = m->at;
        while (m->at < m->end && !is_markup(m, m->at)) {
            m->at++;
        }
        if (m->at > from) {
            model_text(m, from, m->at, DATA);
            continue;
        }
        const bool end = m->at[1] == '/';
        m->at += end ? 2 : 1;
        if (!ascii_is_letter(*m->at)) {
            model_markup(m, from);
            continue;
        }
        struct model_tag tag;
        if (!model_tag(m, &tag)) {
            return;
        }
        print_model_tag(m, &tag, end ? HTML_TOKEN_END : HTML_TOKEN_START, from);
        const enum html_element element = html_element_of(tag.name);
        if (!end && is_raw_text(element)) {
            if (element == HTML_TEXTAREA) {
                skip_model_newline(m);
            }
            model_raw(m, tag.name, element);
        }
    }
}

void
model_tokens(struct slice page, bool cdata, struct buf *out)
{
    struct model model = {.start = page.at, .at = page.at, .end = page.at + page.length};
    model.cdata = cdata;
    model.out = out;
    buf_init(&model.text, ROOM);
    run(&model);
    buf_release(&model.text);
}
