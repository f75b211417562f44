/* Reads what HTTP clients send: Range, Accept, a query, text for a page, a form, Host. The first
 * byte says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url/url.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/http/form.h"
#include "web/http/host.h"
#include "web/http/range.h"
#include "web/query_form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(int holds)
{
    if (!holds) {
        abort();
    }
}

static void
range(const char *text)
{
    static const uint64_t sizes[] = {0, 1, 100, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct web_range found = {0, 0};
        if (web_range_parse(text, sizes[i], &found) == WEB_RANGE_PART) {
            check(found.length > 0 && found.offset < sizes[i] &&
                  found.length <= sizes[i] - found.offset);
        }
    }
}

static void
page(struct slice text)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    html_text(&out, text);
    url_append_value(&out, text);
    for (size_t i = 0; i < out.length; i++) {
        check(strchr("<>\"'", out.data[i]) == NULL || out.data[i] == 0);
    }
    html_iri(&out, text);
    buf_release(&out);
}

/* Every name and value is a string, and together they are no longer than what came. */
static void
form(struct slice body)
{
    struct web_form found;
    size_t length = 0;
    if (web_form_read(&found, body, NULL) == STATUS_OK) {
        check(found.count <= WEB_FIELDS_MAXIMUM);
        for (size_t i = 0; i < found.count; i++) {
            length += strlen(found.fields[i].name) + strlen(found.fields[i].value);
        }
        check(length <= body.length);
        web_form_release(&found);
    }
}

static void
host(struct slice text)
{
    const struct slice found = web_host_of(text);
    check(found.length <= text.length);
    check(!web_host_is_loopback(found) || found.length > 0);
    (void)web_host_is_listed(found, "a.example b.example");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"text/html", "text/csv", "application/json"};
    if (size == 0) {
        return 0;
    }
    if (data[0] % 8 == 4) {
        form(slice_of((const char *)data + 1, size - 1)); /* without a NUL behind it */
        return 0;
    }
    char *text = memory_string_n((const char *)data + 1, size - 1);
    const struct slice slice = slice_of(text, size - 1);
    switch (data[0] % 8) {
    case 0:
        range(text);
        break;
    case 1:
        check(web_accept_choose(text, types, 3) < 3);
        break;
    case 2:
        (void)web_query_form_of(slice);
        break;
    case 5:
        host(slice);
        break;
    default:
        page(slice);
        break;
    }
    free(text);
    return 0;
}
