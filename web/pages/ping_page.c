/* The page where people tell of pages; what is sent goes to /v2/ping, which leads to a receipt. */
#include "web/html.h"
#include "web/web_service.h"

void
web_ping_page(struct web_service *service, const struct web_request *request,
              struct web_reply *reply)
{
    struct buf *out = &reply->body;
    (void)service;
    (void)request;
    html_begin(out, "Tell of a page", slice_of(NULL, 0));
    (void)buf_append_string(
        out, "<h1>Tell of a page</h1>\n<p>A page that is new, has changed, or is gone is fetched "
             "out of turn, by the rules of its host and within the scope of this crawl. A receipt "
             "tells what becomes of it.</p>\n"
             "<form class=\"row\" action=\"/v2/ping\" method=\"post\">"
             "<input type=\"url\" name=\"url\" aria-label=\"Address of the page\" "
             "placeholder=\"https://…\" required><button>Tell</button></form>\n"
             "<p class=\"where\">Programs send many at once, or with a key: "
             "<code>/v2/ping</code>, <code>/xmlrpc/api</code>, <code>/indexnow</code>.</p>\n");
    html_end(out);
}
