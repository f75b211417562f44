/* The page where one begins: a field for words, and how much there is. */
#include "web/html.h"
#include "web/pages/page_terms.h"

static void
put_card(struct buf *out, uint64_t figure, const char *label)
{
    (void)buf_append_string(out, "<div class=\"card\"><p class=\"figure\">");
    page_number(out, figure);
    (void)buf_printf(out, "</p><p class=\"label\">%s</p></div>", label);
}

static void
put_figures(struct web_service *service, struct buf *out)
{
    struct reason why = {""};
    struct index_stats stats;
    struct index_client *client;
    enum status status = web_index_take(service, &client, &why);
    if (status == STATUS_OK) {
        status = index_stats_get(client, &stats, &why);
        web_index_give(service, client, status == STATUS_OK);
    }
    if (status != STATUS_OK) {
        (void)buf_append_string(out, "<p class=\"bad\" role=\"alert\">");
        html_text(out, slice_string(why.text));
        (void)buf_append_string(out, "</p>\n");
        return;
    }
    (void)buf_append_string(out, "<div class=\"cards\">");
    put_card(out, stats.documents, "documents with data");
    put_card(out, stats.quads, "statements");
    put_card(out, stats.literals, "texts found by their words");
    (void)buf_append_string(out, "</div>\n");
}

void
web_front(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct buf *out = &reply->body;
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    html_begin_front(out, "Quadrille");
    (void)buf_append_string(
        out, "<div class=\"front\"><h1>Quadrille</h1>"
             "<p class=\"where\">What the web says of a thing, and who says it</p>"
             "<form role=\"search\" action=\"/search\">"
             "<input type=\"search\" name=\"q\" aria-label=\"Words to search for\" "
             "placeholder=\"A name, a title, some words\" autocomplete=\"off\" data-suggest "
             "autofocus required><button>Search</button></form>\n");
    put_figures(service, out);
    (void)buf_append_string(
        out, "<form action=\"/resource\"><input name=\"uri\" type=\"url\" "
             "aria-label=\"Address of a thing\" placeholder=\"https://… what is said of a thing\" "
             "required><button class=\"plain\">Look up</button></form></div>\n");
    html_end(out);
    web_query_give(service, query);
}
