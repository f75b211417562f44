/* Reports of sites and of their terms, from what the crawl has seen: `quadrille report` and
 * `quadrille validate` in processes of their own, since they may read much. */
#include "base/url/url.h"
#include "web/command.h"
#include "web/html.h"

#define PAGES_MOST "200" /* of a report; totals are of all */

struct asked {
    const char *command, *title, *address, *parameter, *label, *value;
    const char *intro;
};

static void
page(struct buf *out, const struct asked *asked, bool may_add, struct slice content)
{
    html_begin(out, asked->title, slice_of(NULL, 0));
    (void)buf_printf(out,
                     "<h1>%s</h1>\n<p>%s</p>\n<form action=\"%s\"><p><label>%s <input "
                     "type=\"text\" name=\"%s\" size=\"60\" required value=\"",
                     asked->title, asked->intro, asked->address, asked->label, asked->parameter);
    html_text(out, slice_string(asked->value));
    (void)buf_append_string(out, "\"></label> <button>Show</button></p></form>\n");
    (void)buf_append_slice(out, content);
    if (may_add && content.length > 0) {
        (void)buf_printf(out,
                         "<form action=\"%s\" method=\"post\"><input type=\"hidden\" "
                         "name=\"%s\" value=\"",
                         asked->address, asked->parameter);
        html_text(out, slice_string(asked->value));
        (void)buf_append_string(out, "\"><p><button>Have what is not known fetched</button></p>"
                                     "</form>\n");
    }
    html_end(out);
}

/* flags: two more words for the command; NULL: none. */
static void
answer(struct web_service *service, const struct web_request *request, const struct asked *asked,
       const struct web_command_format *format, const char *const flags[2], struct web_reply *reply)
{
    const bool may_add = strcmp(asked->command, "validate") == 0 && web_may_write(service, request);
    const struct web_command command = {
        .name = asked->command,
        .arguments = {"--format", web_command_format_flag(format), flags[0], flags[1]},
        .operand = asked->value};
    struct reason why = {""};
    struct buf content;
    buf_init(&content, WEB_COMMAND_BYTES);
    reply->body.maximum = 2 * WEB_COMMAND_BYTES;
    if (asked->value == NULL || asked->value[0] == '\0') {
        if (format->page) {
            page(&reply->body, asked, false, slice_of(NULL, 0));
        } else {
            web_reply_error(reply, 400, "There must be %s=.", asked->parameter);
        }
        return;
    }
    const enum status status = web_check_part(service, "metastore", &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (web_command_run(service, request, &command, &content, reply)) {
        reply->content_type = web_command_format_type(format);
        if (format->page) {
            page(&reply->body, asked, may_add, buf_slice(&content));
        } else {
            (void)buf_append_slice(&reply->body, buf_slice(&content));
        }
    }
    buf_release(&content);
}

void
web_validate(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    const struct asked asked = {
        .command = "validate",
        .title = "Validate linked data",
        .address = "/validate",
        .parameter = "uri",
        .label = "A document, property, class or host",
        .intro = "Whether properties and classes lead to documents that define them, by what the "
                 "crawl has seen, and what to mend.",
        .value = web_parameter(request, "uri", NULL)};
    static const char *const formats[] = {"json", "html", "ttl", "nt", "nq", "rdf", "jsonld", NULL};
    const struct web_command_format *format = web_command_format(
        request, formats, "format is html, json, ttl, nt, nq, rdf, jsonld.", reply);
    if (format == NULL) {
        return;
    }
    if (request->method == WEB_POST && !web_may_write(service, request)) {
        web_reply_error(reply, 403, "Nothing may be queued here: see web.update.");
        return;
    }
    const char *const flags[2] = {request->method == WEB_POST ? "--add" : "--all"};
    answer(service, request, &asked, format, flags, reply);
}

void
web_report(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    const struct asked asked = {.command = "report",
                                .title = "Report of a site",
                                .address = "/report",
                                .parameter = "host",
                                .label = "A host, or the begin of addresses",
                                .intro = "What was found on a site's pages, and what its publisher "
                                         "can mend.",
                                .value = web_parameter(request, "host", NULL)};
    static const char *const formats[] = {"json", "html", "tsv", NULL};
    const struct web_command_format *format =
        web_command_format(request, formats, "format is html, json, tsv.", reply);
    if (format != NULL) {
        static const char *const flags[2] = {"--limit", PAGES_MOST};
        answer(service, request, &asked, format, flags, reply);
    }
}
