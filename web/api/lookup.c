/* /lookup?uri=, ?property=&object=, ?q=: ranked documents, or resources with group=resource. */
#include <stdlib.h>

#include "base/url/url.h"
#include "web/api/answer.h"
#include "web/api/lookup.h"

enum { PER_PAGE = 10, PER_PAGE_MOST = 100 };

static size_t
number(const struct web_request *request, const char *name, size_t usual)
{
    const char *text = web_parameter(request, name, NULL);
    const size_t value = text != NULL ? (size_t)slice_number(slice_string(text)) : usual;
    return value > 0 ? value : usual;
}

void
lookup_answer(struct web_service *service, const struct web_request *request,
              struct find_request *wanted, struct slice question, enum answer_shape shape,
              struct web_reply *reply)
{
    struct reason why = {""};
    struct find_results results;
    struct answer answer = {.request = request,
                            .question = question,
                            .shape = shape,
                            .results = &results,
                            .page = number(request, "page", 1),
                            .per_page = number(request, "per_page", PER_PAGE)};
    const int format = answer_format(request, reply);
    struct web_query *query = format >= 0 ? web_query_take(service, request, reply) : NULL;
    if (query == NULL) {
        return;
    }
    wanted->query = query;
    answer.per_page = answer.per_page < PER_PAGE_MOST ? answer.per_page : PER_PAGE_MOST;
    enum status status = find_run(service, wanted, &results, &why);
    const char *by_date = web_parameter(request, "sortbydate", NULL);
    if (status == STATUS_OK && by_date != NULL && strcmp(by_date, "1") == 0) {
        status = find_sort_by_date(service, wanted, &results, &why);
    }
    if (status == STATUS_OK) {
        const size_t from = (answer.page - 1) * answer.per_page;
        status = find_describe(service, wanted, &results, from, answer.per_page, &why);
    }
    if (status == STATUS_OK) {
        answer_write(&answer, format, reply);
    } else {
        web_reply_failure(reply, status, &why);
    }
    find_release(&results);
    web_query_give(service, query);
}

bool
lookup_by_property(const struct web_request *request, struct find_request *wanted,
                   struct buf *memory, struct web_reply *reply)
{
    const char *property = web_parameter(request, "property", NULL);
    const char *object = web_parameter(request, "object", NULL);
    if (property == NULL || object == NULL || object[0] == '\0') {
        web_reply_error(reply, 400, "There must be property= and object=.");
        return false;
    }
    wanted->property = find_iri(slice_string(property), memory);
    wanted->text = slice_string(object);
    if (wanted->property.length == 0) {
        web_reply_error(reply, 400, "property is no IRI: %.200s", property);
    }
    return wanted->property.length > 0;
}

void
web_lookup(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    const char *uri = web_parameter(request, "uri", NULL);
    const char *words = web_parameter(request, "q", NULL);
    const char *group = web_parameter(request, "group", NULL);
    const char *filters = web_parameter(request, "fq", NULL);
    struct find_request wanted = {.filters = slice_string(filters)};
    struct buf memory;
    buf_init(&memory, URL_MAXIMUM);
    if (group != NULL && strcmp(group, "resource") == 0) {
        wanted.group = FIND_BY_RESOURCE;
    }
    bool good = true;
    if (uri != NULL) {
        wanted.is_uri = true;
        wanted.text = find_iri(slice_string(uri), &memory);
        good = wanted.text.length > 0;
        if (!good) {
            web_reply_error(reply, 400, "uri is no IRI: %.200s", uri);
        }
    } else if (words != NULL) {
        wanted.text = slice_string(words);
    } else {
        good = lookup_by_property(request, &wanted, &memory, reply);
    }
    if (good) {
        lookup_answer(service, request, &wanted, wanted.text, ANSWER_PLAIN, reply);
    }
    buf_release(&memory);
}
