#include "web/html.h"

#include "web/assets/assets.h"

/* Below <head>, what every page has: its title and where its style is. */
static void
html_head(struct buf *out, const char *title)
{
    char style[ASSET_ADDRESS_BYTES], icon[ASSET_ADDRESS_BYTES];
    asset_address("style.css", style);
    asset_address("icon.svg", icon);
    (void)buf_append_string(
        out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
             "<meta name=\"color-scheme\" content=\"light dark\"><title>");
    html_text(out, slice_string(title));
    (void)buf_printf(out,
                     "</title><link rel=\"stylesheet\" href=\"%s\">"
                     "<link rel=\"icon\" type=\"image/svg+xml\" href=\"%s\">",
                     style, icon);
}

void
html_begin_bare(struct buf *out, const char *title)
{
    html_head(out, title);
    (void)buf_append_string(out, "</head><body class=\"bare\"><main>\n");
}

void
html_script(struct buf *out, const char *name)
{
    char address[ASSET_ADDRESS_BYTES];
    asset_address(name, address);
    (void)buf_printf(out, "<script src=\"%s\" defer></script>", address);
}

/* Writes what stands above each page: where one begins, the field for words, the pages. */
static void
html_header(struct buf *out, bool with_field, struct slice words)
{
    static const char *const pages[][2] = {{"/sparql", "Query"},      {"/document", "Documents"},
                                           {"/identity", "Identity"}, {"/inspect", "Inspect"},
                                           {"/validate", "Validate"}, {"/report", "Reports"},
                                           {"/ping", "Tell"},         {"/status", "Status"}};
    (void)buf_append_string(
        out, "</head><body><a class=\"skip\" href=\"#content\">Skip to the content</a>\n"
             "<header class=\"site\"><a class=\"brand\" href=\"/\">Quadrille</a>");
    if (with_field) {
        (void)buf_append_string(
            out, "<form role=\"search\" action=\"/search\">"
                 "<input type=\"search\" name=\"q\" aria-label=\"Words to search for\" "
                 "placeholder=\"Search\" autocomplete=\"off\" data-suggest value=\"");
        html_text(out, words);
        (void)buf_append_string(out, "\"><button>Search</button></form>");
    }
    (void)buf_append_string(out, "<nav aria-label=\"Pages\"><ul>");
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        (void)buf_printf(out, "<li><a href=\"%s\">%s</a></li>", pages[i][0], pages[i][1]);
    }
    (void)buf_append_string(out, "</ul></nav></header>\n<main id=\"content\" tabindex=\"-1\">\n");
}

void
html_begin(struct buf *out, const char *title, struct slice words)
{
    html_head(out, title);
    html_script(out, "site.js");
    html_header(out, true, words);
}

void
html_begin_front(struct buf *out, const char *title)
{
    html_head(out, title);
    html_script(out, "site.js");
    html_header(out, false, slice_of(NULL, 0));
}

void
html_begin_live(struct buf *out, const char *title, unsigned seconds)
{
    html_head(out, title);
    html_script(out, "site.js");
    (void)buf_printf(out, "<noscript><meta http-equiv=\"refresh\" content=\"%u\"></noscript>",
                     seconds);
    html_header(out, true, slice_of(NULL, 0));
}

void
html_end(struct buf *out)
{
    (void)buf_append_string(out, "</main></body></html>\n");
}

void
html_problem(struct web_reply *reply, const char *title)
{
    html_begin(&reply->body, title, slice_of(NULL, 0));
    (void)buf_printf(&reply->body, "<h1>%s</h1>\n<p class=\"bad\" role=\"alert\">", title);
    html_text(&reply->body, slice_string(reply->problem));
    (void)buf_append_string(&reply->body, "</p>\n");
    html_end(&reply->body);
}
