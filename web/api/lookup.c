/* /lookup?uri=, ?property=&object=, ?q=: ranked documents, or resources with group=resource. */
#include <stdlib.h>

#include "base/url/url.h"
#include "web/api/answer.h"
#include "web/api/lookup.h"

enum { PER_PAGE = 10, PER_PAGE_MOST = 100, ROWS_PER_ENTRY = 10, ROWS_PER_ENTRY_OF_WORDS = 3 };

static size_t
number(const struct web_request *request, const char *name, size_t usual)
{
    const char *text = web_parameter(request, name, NULL);
    const size_t value = text != NULL ? (size_t)slice_number(slice_string(text)) : usual;
    return value > 0 ? value : usual;
}

static bool
is_set(const struct web_request *request, const char *name)
{
    const char *text = web_parameter(request, name, NULL);
    return text != NULL && strcmp(text, "1") == 0;
}

/* Enough statements for a page: all that may be read only where something depends on all, else
 * whole bands, of which the first is about a page. Words find the best first, and few of these have
 * several in a document; find_for reads more if so. */
static void
set_rows(const struct answer *answer, struct find_request *wanted, bool by_date)
{
    const bool words = !wanted->is_uri && wanted->property.length == 0;
    const size_t per_entry = words ? ROWS_PER_ENTRY_OF_WORDS : ROWS_PER_ENTRY;
    wanted->rows = FIND_ROWS;
    if (wanted->facets || by_date || answer->filters.length > 0) {
        return;
    }
    wanted->band = answer->per_page * per_entry;
    size_t rows = wanted->band;
    while (rows < FIND_ROWS && rows / per_entry / answer->per_page < answer->page) {
        rows *= FIND_BAND_GROWTH;
    }
    wanted->rows = rows < FIND_ROWS ? rows : FIND_ROWS;
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
                            .filters = wanted->filters,
                            .page = number(request, "page", 1),
                            .per_page = number(request, "per_page", PER_PAGE)};
    struct find_page page = {.by_date = is_set(request, "sortbydate")};
    const int format = answer_format(request, reply);
    struct web_query *query = format >= 0 && web_partial(request, reply, &page.partial)
                                  ? web_query_take(service, request, reply)
                                  : NULL;
    if (query == NULL) {
        return;
    }
    answer.per_page = answer.per_page < PER_PAGE_MOST ? answer.per_page : PER_PAGE_MOST;
    page.from = (answer.page - 1) * answer.per_page;
    page.count = answer.per_page;
    page.documents =
        shape != ANSWER_PLAIN || answer_shows_documents(format) || is_set(request, "documents");
    wanted->facets = answer_shows_facets(format) || is_set(request, "facets");
    set_rows(&answer, wanted, page.by_date);
    const enum status status = find_for(service, query, wanted, &page, reply, &results, &why);
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

static bool
read_lookup(const struct web_request *request, struct find_request *wanted, struct buf *memory,
            struct web_reply *reply)
{
    const char *uri = web_parameter(request, "uri", NULL);
    const char *words = web_parameter(request, "q", NULL);
    const char *group = web_parameter(request, "group", NULL);
    if (group != NULL && strcmp(group, "resource") == 0) {
        wanted->group = FIND_BY_RESOURCE;
    }
    if (uri != NULL) {
        wanted->is_uri = true;
        wanted->same = is_set(request, "same");
        wanted->text = find_iri(slice_string(uri), memory);
        if (wanted->text.length == 0) {
            web_reply_error(reply, 400, "uri is no IRI: %.200s", uri);
        }
        return wanted->text.length > 0;
    }
    wanted->text = slice_string(words);
    return words != NULL || lookup_by_property(request, wanted, memory, reply);
}

void
web_lookup(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct find_request wanted = {.is_uri = false};
    struct buf memory, filters;
    buf_init(&memory, URL_MAXIMUM);
    buf_init(&filters, WEB_BODY_MAXIMUM);
    web_parameters(request, "fq", web_add_line, &filters);
    wanted.filters = buf_slice(&filters);
    if (read_lookup(request, &wanted, &memory, reply)) {
        lookup_answer(service, request, &wanted, wanted.text, ANSWER_PLAIN, reply);
    }
    buf_release(&memory);
    buf_release(&filters);
}

/* Does the same by words, of which there need be none yet. */
void
web_search(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct buf filters;
    buf_init(&filters, WEB_BODY_MAXIMUM);
    web_parameters(request, "fq", web_add_line, &filters);
    const char *group = web_parameter(request, "group", NULL);
    struct find_request wanted = {.text = slice_string(web_parameter(request, "q", NULL)),
                                  .filters = buf_slice(&filters),
                                  .group = group != NULL && strcmp(group, "resource") == 0
                                               ? FIND_BY_RESOURCE
                                               : FIND_BY_DOCUMENT};
    lookup_answer(service, request, &wanted, wanted.text, ANSWER_PLAIN, reply);
    buf_release(&filters);
}
