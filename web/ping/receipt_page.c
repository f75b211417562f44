/* GET /ping/NAME: a receipt and what became of its URLs, as JSON or a page. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "web/api/find.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/ping/finding.h"

enum { PER_PAGE = 20, MEMORY_BYTES = 8 << 20 };

static const char *const ways[] = {"post", "xmlrpc", "indexnow"};
static const char *const proofs[PROOF_COUNT] = {"no", "awaited", "yes", "failed"};

struct view {
    const char *name;
    struct receipt receipt;
    size_t page, pages;
    struct slice uris[PER_PAGE]; /* of the page */
    struct finding findings[PER_PAGE];
    size_t count;
    bool looked_up;           /* else the URLs wait for the key, or it was wrong */
    struct reason key_reason; /* why the key was not proved */
};

static void
choose_page(struct view *view, const char *page)
{
    struct slice rest = view->receipt.uris;
    const size_t asked = page != NULL ? (size_t)slice_number(slice_string(page)) : 1;
    view->pages = (view->receipt.count + PER_PAGE - 1) / PER_PAGE;
    view->page = asked < 1 ? 1 : asked > view->pages ? view->pages : asked;
    for (size_t i = 0; rest.length > 0 && view->count < PER_PAGE; i++) {
        const struct slice uri = slice_take(&rest, '\n');
        if (view->page > 0 && i >= (view->page - 1) * PER_PAGE) {
            view->uris[view->count++] = uri;
        }
    }
}

static enum status
find_out(struct web_service *service, struct view *view, struct reason *why)
{
    struct finding_clients clients;
    const struct receipt *receipt = &view->receipt;
    if (receipt->proof == PROOF_WRONG) {
        struct key_answer answer;
        if (key_proof(service, receipt->key_location, receipt->key, receipt->time_ms, &answer,
                      why) == STATUS_OK) {
            view->key_reason = answer.told;
        }
        return STATUS_OK;
    }
    if (receipt->proof == PROOF_AWAITED) {
        return STATUS_OK;
    }
    enum status status = finding_clients_open(&clients, service, why);
    for (size_t i = 0; i < view->count && status == STATUS_OK; i++) {
        status = finding_read(&clients, view->uris[i], receipt->time_ms, &view->findings[i], why);
    }
    finding_clients_close(&clients);
    view->looked_up = true;
    return status;
}

/* ---- JSON ---- */

static void
set_text(json_t *object, const char *name, struct slice text)
{
    if (text.length > 0) {
        (void)json_object_set_new(object, name, find_json_text(text));
    }
}

static void
set_number(json_t *object, const char *name, uint64_t number)
{
    if (number > 0) {
        (void)json_object_set_new(object, name, json_integer((json_int_t)number));
    }
}

static void
set_time(json_t *object, const char *name, uint64_t time_ms)
{
    char text[CLOCK_TEXT_SIZE];
    if (time_ms > 0) {
        clock_text(time_ms, 1, text);
        (void)json_object_set_new(object, name, json_string(text));
    }
}

static const char *
state_of(const struct view *view, size_t i)
{
    return view->looked_up                        ? finding_names[view->findings[i].state]
           : view->receipt.proof == PROOF_AWAITED ? "awaits key"
                                                  : "refused";
}

static json_t *
json_finding(const struct view *view, size_t i)
{
    const struct finding *finding = &view->findings[i];
    json_t *object = json_object();
    set_text(object, "url", view->uris[i]);
    set_text(object, "state", slice_string(state_of(view, i)));
    const bool final = view->looked_up ? finding->final : view->receipt.proof == PROOF_WRONG;
    (void)json_object_set_new(object, "final", json_boolean(final));
    set_text(object, "outcome", slice_string(finding->outcome));
    set_text(object, "reason", slice_string(finding->reason));
    if (finding->document.data != NULL) {
        set_text(object, "document", buf_slice(&finding->document));
    }
    set_time(object, "fetched", finding->fetched_ms);
    set_number(object, "status", finding->status);
    set_text(object, "type", slice_string(finding->type));
    if (finding->state == FINDING_INDEXED) {
        set_time(object, "indexed", finding->indexed_ms);
        (void)json_object_set_new(object, "quads", json_integer((json_int_t)finding->quads));
    }
    return object;
}

static void
write_json(const struct view *view, struct web_reply *reply)
{
    const struct receipt *receipt = &view->receipt;
    json_t *object = json_object();
    json_t *found = json_array();
    size_t indexed = 0, final = 0;
    json_int_t quads = 0;
    char address[16 + RECEIPT_NAME_SIZE];
    (void)snprintf(address, sizeof address, "/ping/%s", view->name);
    for (size_t i = 0; i < view->count; i++) {
        const struct finding *finding = &view->findings[i];
        const bool is_indexed = view->looked_up && finding->state == FINDING_INDEXED;
        (void)json_array_append_new(found, json_finding(view, i));
        indexed += is_indexed;
        final += view->looked_up ? finding->final : receipt->proof == PROOF_WRONG;
        quads += is_indexed ? (json_int_t)finding->quads : 0;
    }
    set_text(object, "receipt", slice_string(address));
    set_time(object, "received", receipt->time_ms);
    set_text(object, "way", slice_string(ways[receipt->way]));
    set_text(object, "verified", slice_string(proofs[receipt->proof]));
    set_text(object, "keyLocation", receipt->key_location);
    set_text(object, "keyReason", slice_string(view->key_reason.text));
    set_number(object, "urls", receipt->count);
    set_number(object, "page", view->page);
    set_number(object, "pages", view->pages);
    (void)json_object_set_new(object, "ended", json_integer((json_int_t) final));
    (void)json_object_set_new(object, "documents", json_integer((json_int_t)indexed));
    (void)json_object_set_new(object, "quads", json_integer(quads));
    (void)json_object_set_new(object, "found", found);
    reply->content_type = "application/json";
    find_put_json(&reply->body, object, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
}

/* ---- the page ---- */

static void
write_row(const struct view *view, size_t i, struct buf *out)
{
    const struct finding *finding = &view->findings[i];
    (void)buf_append_string(out, "<tr><td>");
    html_iri(out, view->uris[i]);
    if (finding->document.data != NULL && finding->document.length > 0) {
        (void)buf_append_string(out, "<br><span class=\"where\">redirected to ");
        html_iri(out, buf_slice(&finding->document));
        (void)buf_append_string(out, "</span>");
    }
    (void)buf_printf(out, "<td>%s<td>", state_of(view, i));
    html_text(out, slice_string(finding->outcome));
    if (finding->reason[0] != '\0') {
        (void)buf_append_string(out, " <span class=\"where\">");
        html_text(out, slice_string(finding->reason));
        (void)buf_append_string(out, "</span>");
    }
    if (view->looked_up && finding->state == FINDING_INDEXED) {
        const struct slice document =
            finding->document.length > 0 ? buf_slice(&finding->document) : view->uris[i];
        (void)buf_printf(out, "<td class=\"number\"><a href=\"/graph?graph=");
        url_append_value(out, document);
        (void)buf_printf(out, "\">%llu</a>", (unsigned long long)finding->quads);
    } else {
        (void)buf_append_string(out, "<td>");
    }
}

static void
write_pager(const struct view *view, struct buf *out)
{
    if (view->pages < 2) {
        return;
    }
    (void)buf_printf(out, "<p class=\"pager\">Page %zu of %zu", view->page, view->pages);
    if (view->page > 1) {
        (void)buf_printf(out, " <a href=\"?page=%zu\">back</a>", view->page - 1);
    }
    if (view->page < view->pages) {
        (void)buf_printf(out, " <a href=\"?page=%zu\">on</a>", view->page + 1);
    }
    (void)buf_append_string(out, "</p>");
}

static void
write_page(const struct view *view, struct web_reply *reply)
{
    struct buf *out = &reply->body;
    const struct receipt *receipt = &view->receipt;
    char time[CLOCK_TEXT_SIZE];
    size_t ended = 0;
    clock_text(receipt->time_ms, 0, time);
    for (size_t i = 0; i < view->count && (!view->looked_up || view->findings[i].final); i++) {
        ended += view->looked_up;
    }
    if (ended < view->count && receipt->proof != PROOF_WRONG) {
        web_reply_header(reply, "Refresh", "5"); /* there will be more to tell */
    }
    html_begin(out, "Receipt of a ping", slice_of(NULL, 0));
    (void)buf_printf(out, "<h1>Receipt of a ping</h1><p>%zu URL%s, told at %s.", receipt->count,
                     receipt->count == 1 ? "" : "s", time);
    if (receipt->key_location.length > 0) {
        (void)buf_append_string(out, " Key file: ");
        html_iri(out, receipt->key_location);
        (void)buf_printf(out, ", proved: %s.", proofs[receipt->proof]);
        (void)buf_append_char(out, ' ');
        html_text(out, slice_string(view->key_reason.text));
    }
    (void)buf_append_string(out, "</p><div class=\"wide\"><table><tr><th>URL<th>State<th>Outcome"
                                 "<th>Quads");
    for (size_t i = 0; i < view->count; i++) {
        write_row(view, i, out);
    }
    (void)buf_append_string(out, "</table></div>");
    write_pager(view, out);
    html_end(out);
}

static void
answer(struct web_service *service, const struct web_request *request, struct view *view,
       struct web_reply *reply)
{
    static const char *const types[] = {"application/json", "text/html"};
    struct reason why = {""};
    const char *format = web_parameter(request, "format", NULL);
    const bool json = format != NULL
                          ? strcmp(format, "json") == 0
                          : web_accept_choose(web_header(request, "Accept"), types, 2) != 1;
    choose_page(view, web_parameter(request, "page", NULL));
    const enum status status = find_out(service, view, &why);
    web_reply_header(reply, "Cache-Control", "no-store");
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (json) {
        write_json(view, reply);
    } else {
        write_page(view, reply);
    }
    for (size_t i = 0; i < view->count; i++) {
        finding_release(&view->findings[i]);
    }
}

void
web_ping_receipt(struct web_service *service, const struct web_request *request,
                 struct web_reply *reply)
{
    struct reason why = {""};
    struct buf memory;
    struct view *view = memory_new(sizeof *view);
    view->name = request->path + sizeof "/ping/" - 1;
    buf_init(&memory, MEMORY_BYTES);
    const enum status status =
        receipts_read(service->ping->receipts, view->name, &view->receipt, &memory, &why);
    struct web_query *query = status == STATUS_OK ? web_query_take(service, request, reply) : NULL;
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (query != NULL) {
        answer(service, request, view, reply);
        web_query_give(service, query);
    }
    buf_release(&memory);
    free(view);
}
