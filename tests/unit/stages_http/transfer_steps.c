#include "tests/unit/stages_http/transfer_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/system/clock.h"
#include "stages/fetch/http/address_limit.h"
#include "stages/fetch/http/address_rules.h"
#include "stages/fetch/http/fetch_credentials.h"
#include "stages/fetch/http/hosts_file.h"

/* ---- libcurl ---- */

struct told_option told[OPTIONS_MOST];

static int easy_place, multi_place;
unsigned handles_removed, handles_freed;
bool no_handle;

static bool
is_text(CURLoption option)
{
    switch (option) {
    case CURLOPT_URL:
    case CURLOPT_PROTOCOLS_STR:
    case CURLOPT_PROXY:
    case CURLOPT_NOPROXY:
    case CURLOPT_USERAGENT:
    case CURLOPT_USERPWD:
    case CURLOPT_XOAUTH2_BEARER:
    case CURLOPT_CAINFO:
    case CURLOPT_CAPATH:
    case CURLOPT_COPYPOSTFIELDS:
        return true;
    default:
        return false;
    }
}

CURL *__wrap_curl_easy_init(void);
CURL *
__wrap_curl_easy_init(void)
{
    return no_handle ? NULL : &easy_place;
}

void __wrap_curl_easy_cleanup(CURL *easy);
void
__wrap_curl_easy_cleanup(CURL *easy)
{
    assert_ptr_equal(easy, &easy_place);
    handles_freed++;
}

CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...);
CURLcode
__wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    const unsigned place = (unsigned)option % 10000;
    va_list list;
    assert_ptr_equal(easy, &easy_place);
    assert_true(place < OPTIONS_MOST);
    told[place].times++;
    va_start(list, option);
    if (option < CURLOPTTYPE_OBJECTPOINT) {
        told[place].number = va_arg(list, long);
    } else if (option < CURLOPTTYPE_FUNCTIONPOINT) {
        told[place].pointer = va_arg(list, const void *);
    } else if (option < CURLOPTTYPE_OFF_T) {
        told[place].function = va_arg(list, curl_write_callback);
    } else {
        told[place].number = (long)va_arg(list, curl_off_t);
    }
    va_end(list);
    if (is_text(option)) { /* libcurl copies it */
        const char *text = told[place].pointer;
        snprintf(told[place].text, TEXT, "%s", text != NULL ? text : "(none)");
    }
    return CURLE_OK;
}

struct curl_answers answers;

CURLcode __wrap_curl_easy_getinfo(CURL *easy, CURLINFO info, ...);
CURLcode
__wrap_curl_easy_getinfo(CURL *easy, CURLINFO info, ...)
{
    va_list list;
    assert_ptr_equal(easy, &easy_place);
    va_start(list, info);
    void *result = va_arg(list, void *);
    va_end(list);
    switch (info) {
    case CURLINFO_RESPONSE_CODE:
        *(long *)result = answers.status;
        break;
    case CURLINFO_HTTP_VERSION:
        *(long *)result = answers.version;
        break;
    case CURLINFO_OS_ERRNO:
        *(long *)result = answers.number;
        break;
    case CURLINFO_PRIMARY_IP:
        *(const char **)result = answers.ip;
        break;
    case CURLINFO_EFFECTIVE_URL:
        *(const char **)result = answers.url;
        break;
    case CURLINFO_RETRY_AFTER:
        *(curl_off_t *)result = answers.retry_after;
        break;
    default:
        break;
    }
    return CURLE_OK;
}

CURLMcode __wrap_curl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMcode
__wrap_curl_multi_remove_handle(CURLM *multi, CURL *easy)
{
    assert_ptr_equal(multi, &multi_place);
    assert_ptr_equal(easy, &easy_place);
    handles_removed++;
    return CURLM_OK;
}

/* ---- clocks and names ---- */

uint64_t now_ms;
char unreachable[100];

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

uint64_t __wrap_clock_wall_ms(void);
uint64_t
__wrap_clock_wall_ms(void)
{
    return WALL_MS;
}

void __wrap_dns_unreachable(struct dns *dns, struct slice host);
void
__wrap_dns_unreachable(struct dns *dns, struct slice host)
{
    (void)dns;
    snprintf(unreachable, sizeof unreachable, "%.*s", SLICE_PRINT(host));
}

/* ---- steps ---- */

struct fetch_http http;
static struct opt_set *options;
static struct multi multi = {.http = &http, .handle = &multi_place};
struct transfer *transfer;
struct fetch_result last;
char last_problem[CURL_ERROR_SIZE], last_request[TEXT];

static void
take(void *context, const struct fetch_result *result)
{
    assert_ptr_equal(context, &last);
    last = *result;
    snprintf(last_problem, sizeof last_problem, "%s", result->problem);
    snprintf(last_request, sizeof last_request, "%.*s", SLICE_PRINT(result->request));
}

void
open_with(const char *const *settings)
{
    static const struct opt *const tables[] = {fetch_options, NULL};
    const char *const *cidrs;
    struct reason why;
    options = opt_set_new((const struct opt **)(uintptr_t)tables);
    for (size_t i = 0; settings[i] != NULL; i++) {
        assert_int_equal(opt_set_assign(options, settings[i], &why), STATUS_OK);
    }
    memset(told, 0, sizeof told);
    memset(&answers, 0, sizeof answers);
    http = (struct fetch_http){.multis = &multi, .multi_count = 1};
    http_settings_open(&http.settings, options);
    http.settings.header_size = HEADER_SIZE;
    const size_t n = opt_list(options, "fetch.allow_address", &cidrs);
    assert_int_equal(address_rules_open(&http.addresses, cidrs, n, &why), STATUS_OK);
    assert_int_equal(
        credentials_open(&http.credentials, opt_string(options, "fetch.credentials"), &why),
        STATUS_OK);
    assert_int_equal(names_open(&http.names, opt_string(options, "fetch.hosts_file"), &why),
                     STATUS_OK);
    assert_int_equal(proxy_from(&http.proxy, options, &why), STATUS_OK);
    http.address_limit = address_limit_new(2);
    now_ms = STARTED_MS;
    transfer = transfer_new(&http);
    assert_ptr_equal(transfer->http, &http);
}

void
close_all(void)
{
    handles_freed = 0;
    transfer_free(transfer);
    assert_int_equal(handles_freed, 1);
    address_rules_close(http.addresses);
    credentials_close(http.credentials);
    names_close(http.names);
    proxy_release(&http.proxy);
    address_limit_free(http.address_limit);
    http_settings_release(&http.settings);
    opt_set_free(options);
}

const char *const plain[] = {"fetch.user_agent=bot/1", NULL};

void
prepare(struct fetch_request request)
{
    request.done = take;
    request.context = &last;
    transfer_prepare(transfer, &request);
}

void
prepare_url(const char *url)
{
    prepare((struct fetch_request){.url = slice_string(url)});
}

const char *
lines_of(const struct curl_slist *list)
{
    static char text[TEXT];
    size_t at = 0;
    text[0] = '\0';
    for (; list != NULL; list = list->next) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", list->data);
    }
    return text;
}

size_t
tell_header(const char *line)
{
    char bytes[TEXT];
    snprintf(bytes, sizeof bytes, "%s", line);
    return TOLD(CURLOPT_HEADERFUNCTION).function(bytes, 1, strlen(line), transfer);
}

size_t
tell_body(const char *text)
{
    char bytes[TEXT];
    snprintf(bytes, sizeof bytes, "%s", text);
    return TOLD(CURLOPT_WRITEFUNCTION).function(bytes, 1, strlen(text), transfer);
}

void
tell_debug(curl_infotype type, const char *text)
{
    char bytes[TEXT];
    curl_debug_callback debug;
    snprintf(bytes, sizeof bytes, "%s", text);
    memcpy(&debug, &TOLD(CURLOPT_DEBUGFUNCTION).function, sizeof debug);
    assert_int_equal(debug(&easy_place, type, bytes, strlen(text), transfer), 0);
}

void
tell_request(void)
{
    curl_prereq_callback prereq;
    char none[] = "";
    memcpy(&prereq, &TOLD(CURLOPT_PREREQFUNCTION).function, sizeof prereq);
    assert_int_equal(prereq(transfer, none, none, 1, 2), CURL_PREREQFUNC_OK);
}
