#include "web/html.h"

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#1c2430;background:#fff}"
    "nav{display:flex;gap:1.2rem;align-items:baseline;border-bottom:1px solid #cfd6df;"
    "padding-bottom:.7rem;flex-wrap:wrap}nav b{font-size:1.2rem}nav form{flex:1;min-width:14rem;"
    "display:flex;gap:.4rem}input[type=search]{flex:1}"
    "input,button,textarea{font:inherit;padding:.25rem .5rem;box-sizing:border-box}"
    "textarea{width:100%;font-family:ui-monospace,monospace;font-size:14px}"
    "table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .8rem;text-align:right;"
    "border-bottom:1px solid #e3e8ee;font-variant-numeric:tabular-nums}"
    "td:first-child,th:first-child{text-align:left}a{color:#1a56a8}"
    ".hit{margin:1.1rem 0}.hit p{margin:.1rem 0}.where{color:#56616f;font-size:.9rem;"
    "overflow-wrap:anywhere}.bad{color:#a3261b}"
    "@media(prefers-color-scheme:dark){body{background:#12161c;color:#dde3ea}a{color:#7fb2f0}"
    "td,th,nav{border-color:#2b333d}.where{color:#98a4b2}.bad{color:#f0897f}}";

/* The length of the UTF-8 character at text, or 0. */
static size_t
character(struct slice text)
{
    const unsigned char first = (unsigned char)text.at[0];
    const size_t length = first < 0x80    ? 1
                          : first < 0xC2  ? 0
                          : first < 0xE0  ? 2
                          : first < 0xF0  ? 3
                          : first <= 0xF4 ? 4
                                          : 0;
    if (length > text.length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text.at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static const char *
reference(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void
html_text(struct buf *out, struct slice text)
{
    while (text.length > 0) {
        const size_t length = character(text);
        const char c = text.at[0];
        const char *escaped = reference(c);
        if (length == 0) {
            (void)buf_append_string(out, "\xEF\xBF\xBD");
        } else if (escaped != NULL) {
            (void)buf_append_string(out, escaped);
        } else if (length > 1 || (unsigned char)c >= ' ' || c == '\n' || c == '\t') {
            (void)buf_append(out, text.at, length);
        }
        const size_t step = length > 0 ? length : 1;
        text = slice_of(text.at + step, text.length - step);
    }
}

void
html_iri(struct buf *out, struct slice iri)
{
    const bool link = slice_starts(iri, SLICE("http://")) || slice_starts(iri, SLICE("https://"));
    if (link) {
        (void)buf_append_string(out, "<a rel=\"noreferrer\" href=\"");
        html_text(out, iri);
        (void)buf_append_string(out, "\">");
    }
    html_text(out, iri);
    if (link) {
        (void)buf_append_string(out, "</a>");
    }
}

void
html_begin_bare(struct buf *out, const char *title)
{
    (void)buf_printf(out,
                     "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width\">"
                     "<title>%s</title><style>%s</style></head><body>\n",
                     title, style);
}

void
html_begin(struct buf *out, const char *title, struct slice words)
{
    html_begin_bare(out, title);
    (void)buf_append_string(
        out, "<nav><b>Quadrille</b><a href=\"/\">Status</a><a href=\"/sparql\">SPARQL</a>"
             "<a href=\"/meta\">Documents</a>"
             "<form action=\"/search\"><input type=\"search\" name=\"q\" "
             "aria-label=\"Words to search for\" value=\"");
    html_text(out, words);
    (void)buf_append_string(out, "\"><button>Search</button></form></nav>\n");
}

void
html_end(struct buf *out)
{
    (void)buf_append_string(out, "</body></html>\n");
}

void
html_problem(struct web_reply *reply, const char *title)
{
    html_begin(&reply->body, title, slice_of(NULL, 0));
    (void)buf_printf(&reply->body, "<h1>%s</h1>\n<p class=\"bad\">", title);
    html_text(&reply->body, slice_string(reply->problem));
    (void)buf_append_string(&reply->body, "</p>\n");
    html_end(&reply->body);
}
