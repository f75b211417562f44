/* Keyword search: a page of hits, or JSON when Accept or format= asks for it. */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/url/url.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/spelling.h"
#include "web/web_service.h"

enum { HITS_DEFAULT = 20, HITS_MAXIMUM = 1000, HITS_BYTES = 16 << 20, SHOWN_BYTES = 400 };

/* A line of index_search: terms in N-Triples form. */
struct hit {
    struct slice score, literal, subject, predicate, document;
};

static struct hit
hit_of(struct slice line)
{
    struct hit hit;
    hit.score = slice_take(&line, '\t');
    hit.literal = slice_take(&line, '\t');
    hit.subject = slice_take(&line, '\t');
    hit.predicate = slice_take(&line, '\t');
    hit.document = slice_take(&line, '\t');
    return hit;
}

/* "<iri>" without its brackets. */
static struct slice
iri_inside(struct slice term)
{
    return term.length >= 2 && term.at[0] == '<' && term.at[term.length - 1] == '>'
               ? slice_of(term.at + 1, term.length - 2)
               : slice_of(NULL, 0);
}

static void
append_character(struct buf *out, uint32_t code)
{
    if (code < 0x80) {
        (void)buf_append_char(out, (char)code);
    } else if (code < 0x800) {
        (void)buf_append_char(out, (char)(0xC0 | (code >> 6)));
        (void)buf_append_char(out, (char)(0x80 | (code & 0x3F)));
    } else if (code < 0x10000) {
        (void)buf_append_char(out, (char)(0xE0 | (code >> 12)));
        (void)buf_append_char(out, (char)(0x80 | ((code >> 6) & 0x3F)));
        (void)buf_append_char(out, (char)(0x80 | (code & 0x3F)));
    } else {
        (void)buf_append_char(out, (char)(0xF0 | (code >> 18)));
        (void)buf_append_char(out, (char)(0x80 | ((code >> 12) & 0x3F)));
        (void)buf_append_char(out, (char)(0x80 | ((code >> 6) & 0x3F)));
        (void)buf_append_char(out, (char)(0x80 | (code & 0x3F)));
    }
}

/* Four or eight hexadecimal digits; false when they are not. */
static bool
hexadecimal(struct slice text, size_t digits, uint32_t *code)
{
    *code = 0;
    if (text.length < digits) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        const int value = ascii_hex_value(text.at[i]);
        if (value < 0) {
            return false;
        }
        *code = *code * 16 + (uint32_t)value;
    }
    return *code <= 0x10FFFF;
}

/* The lexical form of a literal in N-Triples form, unescaped; *language may be empty. */
static void
lexical_form(struct slice term, struct buf *out, struct slice *language)
{
    static const char escapes[] = "tbnrf\"'\\";
    static const char meanings[] = "\t\b\n\r\f\"'\\";
    size_t i = 1;
    *language = slice_of(NULL, 0);
    for (; i < term.length && term.at[i] != '"'; i++) {
        if (term.at[i] != '\\' || i + 1 == term.length) {
            (void)buf_append_char(out, term.at[i]);
            continue;
        }
        const char c = term.at[++i];
        const char *known = c != 0 ? strchr(escapes, c) : NULL;
        const size_t digits = c == 'u' ? 4 : 8;
        uint32_t code;
        if (known != NULL) {
            (void)buf_append_char(out, meanings[known - escapes]);
        } else if ((c == 'u' || c == 'U') &&
                   hexadecimal(slice_of(term.at + i + 1, term.length - i - 1), digits, &code)) {
            append_character(out, code);
            i += digits;
        }
    }
    if (i + 1 < term.length && term.at[i + 1] == '@') {
        *language = slice_of(term.at + i + 2, term.length - i - 2);
    }
}

static void
html_term(struct buf *out, struct slice term)
{
    const struct slice iri = iri_inside(term);
    if (iri.length > 0) {
        html_iri(out, iri);
    } else {
        html_text(out, term);
    }
}

static void
html_hit(struct buf *out, const struct hit *hit)
{
    struct buf text;
    struct slice language;
    buf_init(&text, HITS_BYTES);
    lexical_form(hit->literal, &text, &language);
    const struct slice document = iri_inside(hit->document);
    (void)buf_append_string(out, "<div class=\"hit\"><p");
    if (language.length > 0) {
        (void)buf_append_string(out, " lang=\"");
        html_text(out, language);
        (void)buf_append_string(out, "\"");
    }
    (void)buf_append_string(out, ">");
    html_text(out, slice_of(text.data, text.length < SHOWN_BYTES ? text.length : SHOWN_BYTES));
    (void)buf_append_string(out, text.length > SHOWN_BYTES ? "…</p>" : "</p>");
    (void)buf_append_string(out, "<p class=\"where\">");
    html_term(out, hit->predicate);
    (void)buf_append_string(out, " of ");
    html_term(out, hit->subject);
    (void)buf_append_string(out, "</p><p class=\"where\">in ");
    html_iri(out, document);
    (void)buf_append_string(out, " · <a href=\"/meta?uri=");
    url_append_value(out, document);
    (void)buf_append_string(out, "\">about this document</a></p></div>\n");
    buf_release(&text);
}

/* corrected: what was searched for in place of words that nothing has; empty: nothing. */
static void
html_hits(struct buf *out, struct slice words, struct slice corrected, struct slice lines)
{
    html_begin(out, "Search", words);
    if (lines.length > 0 && corrected.length > 0) {
        (void)buf_append_string(out, "<p>Nothing has those words. This is what was found for <b>");
        html_text(out, corrected);
        (void)buf_append_string(out, "</b>.</p>\n");
    }
    if (words.length > 0) {
        (void)buf_append_string(out, "<p class=\"where\"><a href=\"/lookup?group=resource&amp;q=");
        url_append_value(out, words);
        (void)buf_append_string(out, "\">The same by resource, on pages</a></p>\n");
    }
    if (words.length == 0) {
        (void)buf_append_string(out, "<p>Words to search for go above: they are looked up in the "
                                     "literals of all documents.</p>\n");
    } else if (lines.length == 0) {
        (void)buf_append_string(out, "<p>Nothing found.</p>\n");
    }
    while (lines.length > 0) {
        const struct hit hit = hit_of(slice_take(&lines, '\n'));
        html_hit(out, &hit);
    }
    html_end(out);
}

static void
json_member(struct buf *out, const char *name, struct slice value, bool last)
{
    (void)buf_printf(out, "\"%s\":\"", name);
    (void)buf_append_json(out, value);
    (void)buf_append_string(out, last ? "\"" : "\",");
}

static void
json_hits(struct buf *out, struct slice corrected, struct slice lines)
{
    bool first = true;
    (void)buf_append_string(out, "{");
    if (corrected.length > 0) {
        json_member(out, "corrected", corrected, false);
    }
    (void)buf_append_string(out, "\"hits\":[");
    while (lines.length > 0) {
        const struct hit hit = hit_of(slice_take(&lines, '\n'));
        (void)buf_append_string(out, first ? "\n{" : ",\n{");
        json_member(out, "score", hit.score, false);
        json_member(out, "literal", hit.literal, false);
        json_member(out, "subject", hit.subject, false);
        json_member(out, "predicate", hit.predicate, false);
        json_member(out, "document", hit.document, true);
        (void)buf_append_string(out, "}");
        first = false;
    }
    (void)buf_append_string(out, "]}\n");
}

static uint32_t
limit_of(const struct web_request *request)
{
    const char *text = web_parameter(request, "limit", NULL);
    const unsigned long wanted = text != NULL ? strtoul(text, NULL, 10) : HITS_DEFAULT;
    return wanted == 0 || wanted > HITS_MAXIMUM ? HITS_MAXIMUM : (uint32_t)wanted;
}

static enum status
gather(void *context, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(context, bytes);
    return status == STATUS_OK
               ? status
               : status_fail(why, status, "the hits are longer than %d bytes", HITS_BYTES);
}

/* When nothing has the words, what they may be meant for is searched for. */
static enum status
search(struct index_client *client, struct slice words, uint32_t limit, struct buf *corrected,
       struct buf *lines, struct reason *why)
{
    bool changed;
    TRY(index_search(client, words, limit, gather, lines, why));
    if (lines->length > 0) {
        return STATUS_OK;
    }
    TRY(spelling_correct(client, words, corrected, &changed, why));
    if (!changed) {
        buf_reset(corrected);
        return STATUS_OK;
    }
    return index_search(client, buf_slice(corrected), limit, gather, lines, why);
}

/* ---- completions, as browsers ask for them ---- */

struct completions {
    struct buf *out;
    struct slice before; /* words before the one that is completed */
    bool more;
};

static void
add_completion(void *context, struct slice word)
{
    struct completions *completions = context;
    (void)buf_append_string(completions->out, completions->more ? ",\"" : "\"");
    (void)buf_append_json(completions->out, completions->before);
    (void)buf_append_json(completions->out, word);
    (void)buf_append_char(completions->out, '"');
    completions->more = true;
}

void
web_suggest(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    const struct slice words = slice_string(web_parameter(request, "q", NULL));
    struct reason why = {""};
    struct index_client *client;
    size_t start = words.length;
    while (start > 0 && words.at[start - 1] != ' ') {
        start--;
    }
    struct completions completions = {.out = &reply->body, .before = slice_of(words.at, start)};
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    (void)buf_append_string(&reply->body, "[\"");
    (void)buf_append_json(&reply->body, words);
    (void)buf_append_string(&reply->body, "\",[");
    enum status status = web_index_take(service, &client, &why);
    if (status == STATUS_OK) {
        index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
        status = spelling_complete(client, slice_of(words.at + start, words.length - start),
                                   add_completion, &completions, &why);
        index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
        web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    }
    status = web_query_status(query, status, &why);
    web_query_give(service, query);
    (void)buf_append_string(&reply->body, "]]\n");
    reply->content_type = "application/x-suggestions+json";
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    }
}

/* ---- the page ---- */

void
web_search(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    static const char *const types[] = {"text/html", "application/json"};
    const char *words = web_parameter(request, "q", NULL);
    const char *format = web_parameter(request, "format", NULL);
    const bool json = (format != NULL && strcmp(format, "json") == 0) ||
                      web_accept_choose(web_header(request, "Accept"), types, 2) == 1;
    struct reason why = {""};
    struct buf lines, corrected;
    bool warn;
    if (!web_partial(request, reply, &warn)) {
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    buf_init(&lines, HITS_BYTES);
    buf_init(&corrected, HITS_BYTES);
    (void)buf_append_string(&corrected, "");
    enum status status = STATUS_OK;
    if (words != NULL && words[0] != 0) {
        struct index_client *client;
        status = web_index_take(service, &client, &why);
        if (status == STATUS_OK) {
            index_client_manner(client, warn ? INDEX_PARTIAL_WARN : INDEX_PARTIAL_ERROR,
                                &query->cancelled);
            status =
                search(client, slice_string(words), limit_of(request), &corrected, &lines, &why);
            web_reply_missing(reply, client);
            index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
            web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
        }
    }
    status = web_query_status(query, status, &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (json) {
        reply->content_type = "application/json";
        json_hits(&reply->body, buf_slice(&corrected), buf_slice(&lines));
    } else {
        html_hits(&reply->body, slice_string(words), buf_slice(&corrected), buf_slice(&lines));
    }
    buf_release(&lines);
    buf_release(&corrected);
    web_query_give(service, query);
}
