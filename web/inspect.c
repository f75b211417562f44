/* One document looked at, pasted or fetched, without being indexed: `quadrille inspect` in a
 * process of its own. */
#include "base/url/url.h"
#include "web/command.h"
#include "web/html.h"
#include "web/http/form.h"

static const char *const formats[] = {"json", "html",   "ttl", "nt", "nq",
                                      "rdf",  "jsonld", "svg", NULL};

static void
page(struct buf *out, struct slice url, struct slice uri, struct slice document,
     struct slice content)
{
    html_begin(out, "Inspect", slice_of(NULL, 0));
    (void)buf_append_string(
        out, "<h1>Inspect a document</h1>\n<p>What every transform finds in it, line by line, and "
             "what to mend. Nothing is kept or indexed.</p>\n"
             "<form action=\"/inspect\"><p><label>Address <input type=\"url\" name=\"url\" "
             "size=\"60\" required value=\"");
    html_text(out, url);
    (void)buf_append_string(out, "\"></label> <button>Inspect</button></p></form>\n"
                                 "<details");
    (void)buf_append_string(out, document.length > 0 || content.length == 0 ? " open" : "");
    (void)buf_append_string(out, "><summary>Or paste a document</summary>\n"
                                 "<form action=\"/inspect\" method=\"post\">"
                                 "<p><textarea name=\"document\" rows=\"8\" cols=\"80\" required "
                                 "aria-label=\"Document\">\n");
    html_text(out, document);
    (void)buf_append_string(out, "</textarea></p><p><label>Its URI <input type=\"text\" "
                                 "name=\"uri\" size=\"50\" value=\"");
    html_text(out, uri);
    (void)buf_append_string(
        out, "\"></label> <label>Content-Type <input name=\"type\" placeholder=\"found from the "
             "content\"></label> <button>Inspect</button></p></form></details>\n");
    (void)buf_append_slice(out, content);
    html_end(out);
}

/* Reads what is to be looked at, from a form or the body itself. False: the reply says what is
 * wrong. */
static bool
read_request(const struct web_request *request, struct web_command *command,
             struct web_reply *reply)
{
    const char *url = web_parameter(request, "url", NULL);
    const char *uri = web_parameter(request, "uri", NULL);
    const char *type = web_parameter(request, "type", NULL);
    const char *document = web_parameter(request, "document", NULL);
    const char *archived = web_parameter(request, "archived", NULL);
    size_t n = 2; /* behind --format */
    command->name = "inspect";
    if (archived != NULL && archived[0] != '\0') {
        command->arguments[n] = "--archived";
        command->operand = archived;
        return true;
    }
    if (url != NULL && url[0] != '\0') {
        const struct slice text = slice_string(url);
        if (!slice_starts(text, SLICE("http://")) && !slice_starts(text, SLICE("https://"))) {
            web_reply_error(reply, 400, "url is an http or https URL.");
            return false;
        }
        command->operand = url;
        command->host = url_origin(text);
        return true;
    }
    if (request->method == WEB_POST && document == NULL && request->form->count == 0) {
        command->input = request->body;
        type = type != NULL ? type : web_header(request, "Content-Type");
    } else {
        command->input = slice_string(document);
    }
    command->operand = "-";
    command->arguments[n++] = "--uri";
    command->arguments[n++] = uri != NULL && uri[0] != '\0' ? uri : "http://document.invalid/";
    if (type != NULL && type[0] != '\0') {
        command->arguments[n++] = "--content-type";
        command->arguments[n++] = type;
    }
    return true;
}

void
web_inspect(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct web_command command = {.arguments = {"--format"}};
    struct buf content;
    const struct web_command_format *format = web_command_format(
        request, formats, "format is html, json, ttl, nt, nq, rdf, jsonld or svg.", reply);
    if (format == NULL || !read_request(request, &command, reply)) {
        return;
    }
    const struct slice url = slice_string(web_parameter(request, "url", NULL));
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    buf_init(&content, WEB_COMMAND_BYTES);
    reply->body.maximum = 2 * WEB_COMMAND_BYTES;
    const bool archived = command.operand != NULL && command.arguments[2] != NULL &&
                          strcmp(command.arguments[2], "--archived") == 0;
    if (archived && !web_gives_archive(service)) {
        web_reply_error(reply, 403, "The archive is not served here.");
        return;
    }
    if (!archived && command.host.length == 0 && command.input.length == 0) {
        if (request->method == WEB_POST || !format->page) {
            web_reply_error(reply, 400, "There must be url= or a document.");
        } else {
            page(&reply->body, url, uri, command.input, buf_slice(&content));
        }
        return;
    }
    if (web_is_foreign(request)) {
        web_reply_error(reply, 403, "Pages of other sites may not have documents inspected.");
        return;
    }
    command.arguments[1] = web_command_format_flag(format);
    if (web_command_run(service, request, &command, &content, reply)) {
        reply->content_type = web_command_format_type(format);
        if (format->page) {
            page(&reply->body, url, uri, command.input, buf_slice(&content));
        } else {
            (void)buf_append_slice(&reply->body, buf_slice(&content));
        }
    }
    buf_release(&content);
}
