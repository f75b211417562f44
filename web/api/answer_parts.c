/* Functions that the writers of a lookup's answer share: its places, addresses, titles. */
#include "base/url/url.h"
#include "web/api/answer.h"

size_t
answer_first(const struct answer *answer)
{
    const size_t first = (answer->page - 1) * answer->per_page;
    return first < answer->results->count ? first : answer->results->count;
}

size_t
answer_end(const struct answer *answer)
{
    const size_t end = answer_first(answer) + answer->per_page;
    return end < answer->results->count ? end : answer->results->count;
}

/* Parameters that links to other pages of the answer keep; fq= is kept, too. */
static const char *const carried[] = {"q",    "qt",     "nq",        "property", "object",
                                      "uri",  "format", "field",     "per_page", "group",
                                      "same", "facets", "documents", "partial",  "sortbydate"};

struct carrying {
    struct buf *out;
    const char *name;
};

static void
carry(void *context, const char *value)
{
    const struct carrying *carrying = context;
    (void)buf_printf(carrying->out, "%s=", carrying->name);
    url_append_value(carrying->out, slice_string(value));
    (void)buf_append_char(carrying->out, '&');
}

void
answer_address(const struct answer *answer, const struct answer_change *change, struct buf *out)
{
    const char *host = web_header(answer->request, "Host");
    (void)buf_printf(out, "http://%s%s?", host != NULL ? host : "localhost", answer->request->path);
    for (size_t i = 0; i < sizeof carried / sizeof carried[0]; i++) {
        struct carrying carrying = {out, carried[i]};
        web_parameters(answer->request, carried[i], carry, &carrying);
    }
    struct slice filters = answer->filters;
    for (;;) {
        const struct slice filter = find_next_word(&filters);
        if (filter.length == 0) {
            break;
        }
        if (!slice_equal(filter, change->without)) {
            (void)buf_append_string(out, "fq=");
            url_append_value(out, filter);
            (void)buf_append_char(out, '&');
        }
    }
    if (change->with.length > 0) {
        (void)buf_append_string(out, "fq=");
        url_append_value(out, change->with);
        (void)buf_append_char(out, '&');
    }
    (void)buf_printf(out, "page=%zu", change->page);
}

struct slice
answer_title(const struct find_entry *entry)
{
    return entry->title.length > 0            ? entry->title
           : entry->resource.kind == TERM_IRI ? entry->resource.value
                                              : entry->document;
}

const char *
answer_filter_name(enum find_filter_kind kind)
{
    static const char *const names[FILTER_KINDS] = {"class", "predicate", "domain", "lang", "date"};
    return names[kind];
}
