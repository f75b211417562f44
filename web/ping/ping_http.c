/* Pings by POST, a URL a line or fields of a form, and by XML-RPC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/system/clock.h"
#include "base/system/log.h"
#include "web/api/find.h"
#include "web/http/accept.h"
#include "web/ping/ping.h"
#include "web/ping/xmlrpc.h"

void
ping_reply_wait(struct web_reply *reply, uint64_t seconds)
{
    web_reply_error(reply, 429, "Too many pings; come again in %llu seconds.",
                    (unsigned long long)seconds);
    web_reply_header(reply, "Retry-After", "%llu", (unsigned long long)seconds);
}

void
ping_reply_taken(const struct web_request *request, const struct ping_batch *batch, unsigned status,
                 const char *name, const char *verified, struct web_reply *reply)
{
    static const char *const types[] = {"application/json", "text/html"};
    char address[16 + RECEIPT_NAME_SIZE];
    (void)snprintf(address, sizeof address, "/ping/%s", name);
    web_reply_header(reply, "Location", "%s", address);
    if (web_accept_choose(web_header(request, "Accept"), types, 2) == 1) {
        reply->status = 303; /* a browser looks at the receipt */
        return;
    }
    reply->status = status;
    reply->content_type = "application/json";
    find_put_json(&reply->body,
                  json_pack("{s:s,s:s,s:I,s:I,s:O}", "receipt", address, "verified", verified,
                            "taken", (json_int_t)batch->count, "refused",
                            (json_int_t)batch->refused_count, "problems", batch->refused),
                  JSON_INDENT(1) | JSON_PRESERVE_ORDER);
}

/* Why nothing of the ping was taken. */
static const char *
first_problem(const struct ping_batch *batch)
{
    const char *reason =
        json_string_value(json_object_get(json_array_get(batch->refused, 0), "reason"));
    return reason != NULL ? reason : "it names no URL";
}

/* The receipt is durable before the queue is asked: what is in the queue can be followed. A
 * receipt whose URLs the queue did not take was told to nobody. */
static enum status
take(struct ping_batch *batch, const struct ping_sender *sender, enum receipt_way way,
     char name[RECEIPT_NAME_SIZE], struct reason *why)
{
    struct web_ping *ping = batch->ping;
    const struct receipt receipt = {.time_ms = clock_wall_ms(),
                                    .way = way,
                                    .proof = sender->trusted ? PROOF_GIVEN : PROOF_NONE,
                                    .sender = slice_string(sender->address),
                                    .uris = buf_slice(&batch->uris),
                                    .count = batch->count};
    TRY(web_check_part(ping->service, "queue", why));
    TRY(receipts_add(ping->receipts, &receipt, name, why));
    TRY(ping_put(ping->service, receipt.uris, sender->trusted, why));
    log_info("ping", "sender=%s urls=%zu refused=%zu receipt=%s", sender->address, batch->count,
             batch->refused_count, name);
    return STATUS_OK;
}

/* ---- POST ---- */

struct adding {
    struct ping_batch *batch;
    enum status status;
    struct reason why;
};

static void
add_lines(struct adding *adding, struct slice text)
{
    while (text.length > 0 && adding->status == STATUS_OK) {
        const struct slice line = slice_trim(slice_take(&text, '\n'));
        if (line.length > 0) {
            adding->status = ping_batch_add(adding->batch, line, &adding->why);
        }
    }
}

static void
add_value(void *context, const char *value)
{
    add_lines(context, slice_string(value));
}

static bool
is_plain(const struct web_request *request)
{
    static const char plain[] = "text/plain";
    const char *type = web_header(request, "Content-Type");
    return type == NULL || strncasecmp(type, plain, sizeof plain - 1) == 0;
}

static void
answer_post(const struct web_request *request, const struct ping_sender *sender,
            struct ping_batch *batch, struct web_reply *reply)
{
    struct reason why = {""};
    char name[RECEIPT_NAME_SIZE];
    if (batch->count == 0) {
        const bool out = batch->refused_count > batch->malformed;
        web_reply_error(reply, out ? 422 : 400, "Nothing was taken: %s.", first_problem(batch));
        return;
    }
    const uint64_t wait = ping_batch_claim(batch, sender, 0);
    if (wait > 0) {
        ping_reply_wait(reply, wait);
        return;
    }
    const enum status status = take(batch, sender, RECEIPT_POST, name, &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        return;
    }
    ping_reply_taken(request, batch, 202, name, sender->trusted ? "yes" : "no", reply);
}

void
web_ping_post(struct web_service *service, const struct web_request *request,
              struct web_reply *reply)
{
    struct ping_sender sender;
    struct ping_batch batch;
    struct adding adding = {.batch = &batch, .status = STATUS_OK};
    if (!ping_allowed(service, request, &sender, reply)) {
        return;
    }
    adding.status = ping_batch_open(&batch, service->ping, &adding.why);
    if (adding.status == STATUS_OK) {
        web_parameters(request, "url", add_value, &adding);
        if (is_plain(request)) {
            add_lines(&adding, request->body);
        }
    }
    if (adding.status != STATUS_OK) {
        web_reply_failure(reply, adding.status, &adding.why);
    } else {
        answer_post(request, &sender, &batch, reply);
    }
    ping_batch_release(&batch);
}

/* ---- XML-RPC ---- */

/* Tells which parameters of a method are URLs; the first is the site's name. */
static const struct method {
    const char *name;
    size_t least;
    size_t urls[3]; /* ended by 0 */
} methods[] = {{"weblogUpdates.ping", 2, {1, 2, 0}}, {"weblogUpdates.extendedPing", 2, {1, 2, 3}}};

static const struct method *
method_of(const struct xmlrpc_call *call)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(call->method, methods[i].name) == 0) {
            return &methods[i];
        }
    }
    return NULL;
}

/* Adds the URLs of a call: the site's first; others when they are told, and no URL twice. */
static enum status
add_parameters(struct ping_batch *batch, const struct method *method,
               const struct xmlrpc_call *call, struct reason *why)
{
    for (size_t i = 0; i < 3 && method->urls[i] > 0; i++) {
        const size_t at = method->urls[i];
        bool again = at >= call->count || call->parameters[at][0] == '\0';
        for (size_t k = 0; k < i && !again; k++) {
            again = strcmp(call->parameters[method->urls[k]], call->parameters[at]) == 0;
        }
        if (!again) {
            TRY(ping_batch_add(batch, slice_string(call->parameters[at]), why));
        }
    }
    return STATUS_OK;
}

static void
answer_call(struct web_service *service, const struct ping_sender *sender,
            const struct method *method, const struct xmlrpc_call *call, struct web_reply *reply)
{
    struct ping_batch batch;
    struct reason why = {""};
    char name[RECEIPT_NAME_SIZE], address[16 + RECEIPT_NAME_SIZE] = "";
    enum status status = ping_batch_open(&batch, service->ping, &why);
    status = status == STATUS_OK ? add_parameters(&batch, method, call, &why) : status;
    if (status == STATUS_OK && batch.count == 0) {
        status = status_fail(&why, STATUS_DENIED, "%s", first_problem(&batch));
    }
    if (status == STATUS_OK) {
        const uint64_t wait = ping_batch_claim(&batch, sender, 0);
        status = wait == 0 ? take(&batch, sender, RECEIPT_XMLRPC, name, &why)
                           : status_fail(&why, STATUS_DENIED,
                                         "Too many pings; come again in %llu seconds.",
                                         (unsigned long long)wait);
    }
    if (status == STATUS_OK) {
        (void)snprintf(address, sizeof address, "/ping/%s", name);
        (void)snprintf(why.text, sizeof why.text, "Thanks for the ping. Its receipt: %s", address);
    }
    xmlrpc_ping_reply(&reply->body, status != STATUS_OK, why.text, slice_string(address));
    ping_batch_release(&batch);
}

void
web_ping_xmlrpc(struct web_service *service, const struct web_request *request,
                struct web_reply *reply)
{
    struct ping_sender sender;
    struct xmlrpc_call call;
    struct reason why = {""};
    if (!ping_allowed(service, request, &sender, reply)) {
        return;
    }
    reply->content_type = "text/xml; charset=utf-8";
    if (xmlrpc_read(&call, request->body, &why) != STATUS_OK) {
        xmlrpc_fault(&reply->body, -32700, why.text);
        return;
    }
    const struct method *method = method_of(&call);
    if (method == NULL) {
        xmlrpc_fault(&reply->body, -32601, "There is no such method.");
    } else if (call.count < method->least) {
        xmlrpc_fault(&reply->body, -32602, "The method takes a name and a URL.");
    } else {
        answer_call(service, &sender, method, &call, reply);
    }
    xmlrpc_release(&call);
}
