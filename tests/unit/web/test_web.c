/* Ranges, Accept, query forms, HTML, and the archive served to and read by warc/remote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/url/url.h"
#include "config/config.h"
#include "search/spelling.h"
#include "tests/unit/scratch.h"
#include "warc/remote.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/http/form.h"
#include "web/http/host.h"
#include "web/http/range.h"
#include "web/query_form.h"
#include "web/web_service.h"

static void
test_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        enum web_range_kind kind;
        uint64_t offset, length;
    } cases[] = {{"bytes=0-0", WEB_RANGE_PART, 0, 1},
                 {"bytes=10-19", WEB_RANGE_PART, 10, 10},
                 {"BYTES=90-", WEB_RANGE_PART, 90, 10},
                 {"bytes=90-1000", WEB_RANGE_PART, 90, 10},
                 {"bytes=-5", WEB_RANGE_PART, 95, 5},
                 {"bytes=-500", WEB_RANGE_PART, 0, 100},
                 {"bytes=100-", WEB_RANGE_OUTSIDE, 0, 0},
                 {"bytes=-0", WEB_RANGE_OUTSIDE, 0, 0},
                 {"bytes=5-4", WEB_RANGE_NONE, 0, 0},
                 {"bytes=0-1,5-6", WEB_RANGE_NONE, 0, 0},
                 {"bytes=-", WEB_RANGE_NONE, 0, 0},
                 {"bytes=", WEB_RANGE_NONE, 0, 0},
                 {"bytes=a-b", WEB_RANGE_NONE, 0, 0},
                 {"lines=1-2", WEB_RANGE_NONE, 0, 0},
                 {"bytes=99999999999999999999-", WEB_RANGE_NONE, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct web_range range = {0, 0};
        if (web_range_parse(cases[i].header, 100, &range) != cases[i].kind ||
            range.offset != cases[i].offset || range.length != cases[i].length) {
            fail_msg("%s: %lu+%lu", cases[i].header, (unsigned long)range.offset,
                     (unsigned long)range.length);
        }
    }
}

static void
test_accept(void **state)
{
    (void)state;
    static const char *const types[] = {"application/sparql-results+json", "text/csv", "text/html"};
    static const struct {
        const char *header;
        int chosen;
    } cases[] = {{NULL, 0},
                 {"", 0},
                 {"*/*", 0},
                 {"text/*", 1},
                 {"TEXT/HTML", 2},
                 {"text/csv;q=0.5, text/html", 2},
                 {"text/csv;q=0.5,*/*;q=0.1", 1},
                 {"text/html;q=0, */*;q=0.2", 0},
                 {"application/sparql-results+json;q=0,*/*", 1},
                 {"text/html; level=1; q=0.9 , text/csv; q=0.95", 1},
                 {"image/png", -1},
                 {"text/csv;q=bad", -1},
                 {",,;;q=,", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int chosen = web_accept_choose(cases[i].header, types, 3);
        if (chosen != cases[i].chosen) {
            fail_msg("%s: %d", cases[i].header, chosen);
        }
    }
}

static void
test_query_forms(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        enum web_query_form form;
    } cases[] = {
        {"SELECT * {}", WEB_FORM_TABLE},
        {"# construct\nselect * {}", WEB_FORM_TABLE},
        {"BASE <http://a/#b> PREFIX select: <http://x#>\n Ask{}", WEB_FORM_TABLE},
        {"PREFIX : <x> DESCRIBE <y>", WEB_FORM_GRAPH},
        {"prefix a.b:<x>construct{}", WEB_FORM_GRAPH},
        {"\xEF\xBB\xBF"
         "CONSTRUCT {}",
         WEB_FORM_GRAPH},
        {"PREFIX a: <b> DELETE DATA {}", WEB_FORM_UPDATE},
        {"", WEB_FORM_UNKNOWN},
        {"#", WEB_FORM_UNKNOWN},
        {"PREFIX", WEB_FORM_UNKNOWN},
        {"PREFIX a: <b", WEB_FORM_UNKNOWN},
        {"BASE", WEB_FORM_UNKNOWN},
        {"selected", WEB_FORM_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (web_query_form_of(slice_string(cases[i].query)) != cases[i].form) {
            fail_msg("%s", cases[i].query);
        }
    }
}

static void
test_spelling_distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned distance; /* 3: more than 2 */
    } cases[] = {{"karenina", "karenina", 0},
                 {"karenina", "KARENINA", 0},
                 {"karenna", "karenina", 1},
                 {"kareninna", "karenina", 1},
                 {"karenima", "karenina", 1},
                 {"karneina", "karenina", 1},
                 {"akrneina", "karenina", 2},
                 {"", "ab", 2},
                 {"abc", "", 3},
                 {"abcdef", "ghijkl", 3},
                 {"abcdefghijklmnopqrstu", "abcdefghijklmnopqrstu", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned distance =
            spelling_distance(slice_string(cases[i].a), slice_string(cases[i].b), 2);
        if (distance != cases[i].distance) {
            fail_msg("%s, %s: %u", cases[i].a, cases[i].b, distance);
        }
    }
}

static void
test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *body, *said;
    } cases[] = {{"a=1&b=2", "a=1;b=2;"},
                 {"", ""},
                 {"&", ""},
                 {"&&&&&a=1&&&", "a=1;"},
                 {"a", "a=;"},
                 {"=", "=;"},
                 {"=&=x&a==", "=;=x;a==;"},
                 {"%61+b=%26%3D%25&c=%", "a b=&=%;c=%;"},
                 {"a=%4&b=%zz%", "a=%4;b=%zz%;"},
                 {"a=%00b%0", "a=b%0;"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct web_form form;
        struct buf said;
        buf_init(&said, 1000);
        /* Copies the text without a NUL behind it, so that a sanitizer sees what is read beyond the
         * end. */
        const size_t length = strlen(cases[i].body);
        char *body = malloc(length + (length == 0));
        memcpy(body, cases[i].body, length);
        assert_int_equal(web_form_read(&form, slice_of(body, length), NULL), STATUS_OK);
        (void)buf_append_string(&said, "");
        for (size_t n = 0; n < form.count; n++) {
            (void)buf_printf(&said, "%s=%s;", form.fields[n].name, form.fields[n].value);
        }
        assert_true(slice_is(buf_slice(&said), cases[i].said));
        web_form_release(&form);
        buf_release(&said);
        free(body);
    }
}

static void
test_forms_have_a_most(void **state)
{
    (void)state;
    enum { LENGTH = WEB_BODY_MAXIMUM };
    struct web_form form;
    struct reason why = {""};
    char *body = malloc(LENGTH);
    memset(body, '&', LENGTH);
    assert_int_equal(web_form_read(&form, slice_of(body, LENGTH), &why), STATUS_OK);
    assert_int_equal(form.count, 0);
    web_form_release(&form);
    for (size_t i = 0; i < LENGTH; i += 2) {
        body[i] = 'a';
    }
    assert_int_equal(web_form_read(&form, slice_of(body, LENGTH), &why), STATUS_LIMIT);
    assert_int_equal(form.count, 0);
    assert_non_null(strstr(why.text, "1024"));
    assert_int_equal(web_form_read(&form, slice_of(body, 2 * WEB_FIELDS_MAXIMUM), &why), STATUS_OK);
    assert_int_equal(form.count, WEB_FIELDS_MAXIMUM);
    web_form_release(&form);
    free(body);
}

static void
test_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *authority, *host;
        bool loopback, listed;
    } cases[] = {{"localhost:8033", "localhost", true, false},
                 {"LocalHost", "LocalHost", true, false},
                 {"a.localhost", "a.localhost", true, false},
                 {"notlocalhost", "notlocalhost", false, false},
                 {"localhost.evil.example", "localhost.evil.example", false, false},
                 {"127.0.0.1:1", "127.0.0.1", true, false},
                 {"127.9.9.9", "127.9.9.9", true, false},
                 {"127.0.0.1.evil.example", "127.0.0.1.evil.example", false, false},
                 {"128.0.0.1", "128.0.0.1", false, false},
                 {"0.0.0.0:8033", "0.0.0.0", false, false},
                 {"[::1]:8033", "::1", true, false},
                 {"[::1]", "::1", true, false},
                 {"[::2]", "::2", false, false},
                 {"[::1", "", false, false},
                 {"[::1]x", "", false, false},
                 {"localhost:80x", "", false, false},
                 {"", "", false, false},
                 {"Named.example:80", "Named.example", false, true},
                 {"tcp://second.example:7001", "second.example", false, true},
                 {"http://second.example/path:x", "second.example", false, true},
                 {"ond.example", "ond.example", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct slice host = web_host_of(slice_string(cases[i].authority));
        if (!slice_is(host, cases[i].host) || web_host_is_loopback(host) != cases[i].loopback ||
            web_host_is_listed(host, " named.example, second.example") != cases[i].listed) {
            fail_msg("%s: %.*s", cases[i].authority, SLICE_PRINT(host));
        }
    }
    assert_true(web_host_is_listed(SLICE("any"), "*"));
    assert_true(web_host_is_address(SLICE("::2")) && !web_host_is_address(SLICE("a")));
}

static void
test_html_is_escaped(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1000);
    html_text(&out, SLICE("<b a='\"'>&\x01\xC3\xA9\xFF\xC3"));
    html_iri(&out, SLICE("javascript:alert(1)"));
    html_iri(&out, SLICE("http://a/?b&\""));
    url_append_value(&out, SLICE("a b&\xC3"));
    assert_string_equal(out.data,
                        "&lt;b a=&#39;&quot;&#39;&gt;&amp;\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD"
                        "javascript:alert(1)"
                        "<a rel=\"noreferrer\" href=\"http://a/?b&amp;&quot;\">"
                        "http://a/?b&amp;&quot;</a>a%20b%26%C3");
    buf_release(&out);
    assert_true(slice_is(html_text_start(SLICE("a\xC3\xA9"), 2), "a"));
    assert_true(slice_is(html_text_start(SLICE("a\xC3\xA9"), 3), "a\xC3\xA9"));
}

/* ---- over HTTP ---- */

enum { PLACES = 8 };

struct fixture {
    char folder[SCRATCH_SIZE];
    char url[64];
    struct web_service service;
    struct cluster *cluster;
    struct web_server *server;
    struct warc_remote *remote;
    struct buf bytes;
};

/* Says the fields named a, and how many there are. */
static void
say_fields(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    size_t count;
    (void)service;
    (void)web_parameter(request, "a", &count);
    web_parameters(request, "a", web_add_line, &reply->body);
    (void)buf_printf(&reply->body, "%zu", count);
}

static const struct web_route routes[] = {
    {"/warc/", WEB_GET, web_archive}, {"/fields", WEB_GET | WEB_POST, say_fields}, {NULL, 0, NULL}};

static bool
use_cluster(struct fixture *fixture, const char *text)
{
    struct reason why;
    struct cluster *cluster = NULL;
    const bool good =
        cluster_parse(&cluster, slice_string(text), NULL, fixture->folder, &why) == STATUS_OK;
    cluster_close(fixture->cluster);
    fixture->service.cluster = fixture->cluster = cluster;
    return good;
}

static int
setup(void **state)
{
    static struct fixture fixture;
    struct reason why = {""};
    memset(&fixture, 0, sizeof fixture);
    if (!scratch_folder(fixture.folder, "test_web")) {
        return 1;
    }
    fixture.service = (struct web_service){
        .directory = fixture.folder, .options = opt_set_new(config_tables), .archive = -1};
    if (!use_cluster(&fixture, "node a\n")) {
        return 1;
    }
    (void)pthread_mutex_init(&fixture.service.lock, NULL);
    const struct web_server_options options = {
        .listen = "127.0.0.1:0",
        .places = {.connections = PLACES, .of_address = PLACES, .of_nodes = 2, .request_ms = 60000},
        .hosts = "named.example",
        .idle_seconds = 5,
        .routes = routes,
        .service = &fixture.service};
    if (web_server_open(&fixture.server, &options, &why) != STATUS_OK ||
        warc_remote_open(&fixture.remote, 5000, &why) != STATUS_OK) {
        print_error("%s\n", why.text);
        return 1;
    }
    snprintf(fixture.url, sizeof fixture.url, "http://127.0.0.1:%u/",
             web_server_port(fixture.server));
    buf_init(&fixture.bytes, 1000);
    *state = &fixture;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    warc_remote_close(fixture->remote);
    buf_release(&fixture->bytes);
    const bool closed = web_server_close(fixture->server, 2000);
    if (fixture->service.archive >= 0) {
        (void)close(fixture->service.archive);
    }
    (void)pthread_mutex_destroy(&fixture->service.lock);
    cluster_close(fixture->cluster);
    opt_set_free((struct opt_set *)(uintptr_t)fixture->service.options);
    snprintf(command, sizeof command, "rm -rf %s", fixture->folder);
    return system(command) != 0 || !closed;
}

static void
write_file(const struct fixture *fixture, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/warc", fixture->folder);
    (void)mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/warc/%s", fixture->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static enum status
fetch(struct fixture *fixture, const char *name, uint64_t offset, uint64_t length)
{
    struct reason why = {""};
    const enum status status = warc_fetch_remote(fixture->remote, fixture->url, slice_string(name),
                                                 offset, length, &fixture->bytes, &why);
    assert_true(status == STATUS_OK || strlen(why.text) > 0);
    return status;
}

/* Sizes at the edges: nothing, one byte, the most that 64 bits hold. */
static void
test_ranges_of_other_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        uint64_t size;
        enum web_range_kind kind;
        uint64_t offset, length;
    } cases[] = {{"bytes=-1", 0, WEB_RANGE_OUTSIDE, 0, 0},
                 {"bytes=0-", 0, WEB_RANGE_OUTSIDE, 0, 0},
                 {"bytes=-1", 1, WEB_RANGE_PART, 0, 1},
                 {"bytes=0-0", 1, WEB_RANGE_PART, 0, 1},
                 {"bytes=1-", 1, WEB_RANGE_OUTSIDE, 0, 0},
                 {"bytes=0-98", 100, WEB_RANGE_PART, 0, 99},
                 {"bytes=0-99", 100, WEB_RANGE_PART, 0, 100},
                 {"bytes=99-99", 100, WEB_RANGE_PART, 99, 1},
                 {"bytes=-99", 100, WEB_RANGE_PART, 1, 99},
                 {"bytes=-100", 100, WEB_RANGE_PART, 0, 100},
                 {"bytes=7-6", 100, WEB_RANGE_NONE, 0, 0},
                 {"bytes=0-9x", 100, WEB_RANGE_NONE, 0, 0},
                 {"bytes=0-/", 100, WEB_RANGE_NONE, 0, 0},
                 {"bytes=:-1", 100, WEB_RANGE_NONE, 0, 0},
                 {"bytes=18446744073709551614-", UINT64_MAX, WEB_RANGE_PART, UINT64_MAX - 1, 1},
                 {"bytes=18446744073709551615-", UINT64_MAX, WEB_RANGE_OUTSIDE, 0, 0},
                 {"bytes=0-18446744073709551615", UINT64_MAX, WEB_RANGE_PART, 0, UINT64_MAX},
                 {"bytes=0-18446744073709551616", UINT64_MAX, WEB_RANGE_NONE, 0, 0},
                 {"bytes=18446744073709551616-", 100, WEB_RANGE_NONE, 0, 0},
                 {"bytes=-18446744073709551616", 100, WEB_RANGE_NONE, 0, 0},
                 {"bytes=18446744073709551616-1", 100, WEB_RANGE_NONE, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct web_range range = {0, 0};
        if (web_range_parse(cases[i].header, cases[i].size, &range) != cases[i].kind ||
            range.offset != cases[i].offset || range.length != cases[i].length) {
            fail_msg("%s of %lu: %lu+%lu", cases[i].header, (unsigned long)cases[i].size,
                     (unsigned long)range.offset, (unsigned long)range.length);
        }
    }
}

static void
test_ranges_of_archive_files(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(fetch(fixture, "a.warc.gz", 0, 1), STATUS_NOT_FOUND);
    write_file(fixture, "a.warc.gz", "0123456789");
    assert_int_equal(fetch(fixture, "a.warc.gz", 3, 4), STATUS_OK);
    assert_string_equal(fixture->bytes.data, "3456");
    assert_int_equal(fetch(fixture, "a.warc.gz", 9, 1), STATUS_OK);
    assert_string_equal(fixture->bytes.data, "9");
    assert_int_equal(fetch(fixture, "a.warc.gz", 9, 2), STATUS_CORRUPT);
    assert_int_equal(fetch(fixture, "a.warc.gz", 10, 1), STATUS_CORRUPT);
    assert_int_equal(fetch(fixture, "a.warc.gz", 0, 1001), STATUS_LIMIT);
    /* Nodes that have keys read over their links, and nobody else reads at all. */
    write_file(fixture, "../secret", "cccccccccccccccccccccccccccccccccccccccc\n");
    char secret[128];
    snprintf(secret, sizeof secret, "%s/secret", fixture->folder);
    assert_int_equal(chmod(secret, 0600), 0);
    assert_true(use_cluster(fixture, "node a\n"
                                     "curve public=cccccccccccccccccccccccccccccccccccccccc "
                                     "secret_file=secret\n"));
    assert_int_equal(fetch(fixture, "a.warc.gz", 0, 1), STATUS_SYSTEM);
    assert_true(use_cluster(fixture, "node a\n"));
    assert_int_equal(fetch(fixture, "a.warc.gz", 0, 1), STATUS_OK);
    struct opt_set *options = (struct opt_set *)(uintptr_t)fixture->service.options;
    assert_int_equal(opt_set_assign(options, "web.archive=no", NULL), STATUS_OK);
    assert_int_equal(fetch(fixture, "a.warc.gz", 0, 1), STATUS_SYSTEM);
    assert_int_equal(opt_set_assign(options, "web.archive=yes", NULL), STATUS_OK);
    assert_int_equal(fetch(fixture, "b.warc.gz", 0, 1), STATUS_NOT_FOUND);
    assert_int_equal(fetch(fixture, "../secret", 0, 1), STATUS_MISUSE);
}

static int
connect_to(const struct fixture *fixture)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(web_server_port(fixture->server)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(connection, (const struct sockaddr *)&address, sizeof address), 0);
    return connection;
}

/* The status line of the answer to raw bytes. */
static unsigned
raw(const struct fixture *fixture, const char *request)
{
    char reply[4096];
    const int connection = connect_to(fixture);
    assert_int_equal(send(connection, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    const ssize_t n = recv(connection, reply, sizeof reply - 1, 0);
    (void)close(connection);
    reply[n > 0 ? n : 0] = 0;
    unsigned status = 0;
    (void)sscanf(reply, "HTTP/1.1 %u", &status);
    return status;
}

static void
test_nothing_else_is_served(void **state)
{
    struct fixture *fixture = *state;
    char path[256];
    write_file(fixture, "a.warc.gz", "0123456789");
    write_file(fixture, "../secret", "x");
    snprintf(path, sizeof path, "%s/warc/link", fixture->folder);
    assert_int_equal(symlink("../secret", path), 0);
    snprintf(path, sizeof path, "%s/warc/fifo", fixture->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    static const struct {
        const char *request;
        unsigned status;
    } cases[] = {
        {"GET /warc/a.warc.gz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},
        {"HEAD /warc/a.warc.gz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},
        {"GET /warc/%61.warc.gz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},
        {"GET /warc/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"GET /warc/../secret HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"GET /warc/%2e%2e%2fsecret HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"GET /warc/link HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"GET /warc/fifo HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"GET /warc/. HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"GET /warc HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"DELETE /warc/a.warc.gz HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
        {"POST /warc/a.warc.gz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned status = raw(fixture, cases[i].request);
        if (status != cases[i].status) {
            fail_msg("%s: %u", cases[i].request, status);
        }
    }
}

/* Every path, whatever the name leads to. */
static void
test_other_names_are_refused(void **state)
{
    struct fixture *fixture = *state;
    write_file(fixture, "a.warc.gz", "0123456789");
    static const struct {
        const char *fields;
        unsigned status;
    } cases[] = {{"Host: localhost:80\r\n", 200},
                 {"Host: 127.0.0.1\r\n", 200},
                 {"Host: [::1]:1\r\n", 200},
                 {"Host: named.example\r\n", 200},
                 {"Host: evil.example\r\n", 421},
                 {"Host: 10.0.0.1\r\n", 421},
                 {"Host: \r\n", 421},
                 {"Host: localhost\r\nHost: evil.example\r\n", 421}};
    static const char *const lines[] = {"GET /warc/a.warc.gz", "POST /fields", "GET /nothing",
                                        "OPTIONS /fields"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
            char request[256];
            (void)snprintf(request, sizeof request, "%s HTTP/1.1\r\n%sContent-Length: 0\r\n\r\n",
                           lines[line], cases[i].fields);
            const unsigned status = raw(fixture, request);
            if ((line == 0 || cases[i].status == 421) && status != cases[i].status) {
                fail_msg("%s %s: %u", lines[line], cases[i].fields, status);
            }
        }
    }
}

/* More "&" than twice as many bytes would fit for. */
static void
test_a_form_of_separators(void **state)
{
    struct fixture *fixture = *state;
    enum { LENGTH = WEB_BODY_MAXIMUM };
    struct buf request;
    buf_init(&request, LENGTH + 1000);
    (void)buf_printf(&request,
                     "POST /fields HTTP/1.1\r\nHost: localhost\r\n"
                     "Content-Type: application/x-www-form-urlencoded\r\n"
                     "Content-Length: %d\r\n\r\n",
                     LENGTH);
    char *room = buf_reserve(&request, LENGTH);
    memset(room, '&', LENGTH);
    buf_commit(&request, LENGTH);
    (void)buf_append_char(&request, '\0');
    assert_int_equal(raw(fixture, request.data), 200);
    room = strchr(request.data, '&');
    for (size_t i = 0; i < LENGTH; i += 2) {
        room[i] = 'a';
    }
    assert_int_equal(raw(fixture, request.data), 413);
    buf_release(&request);
}

/* Connections that never finish a request make way, first those that have waited longest. */
static void
test_slow_requests_make_way(void **state)
{
    struct fixture *fixture = *state;
    static const char beginning[] = "GET /warc/a.warc.gz HTTP/1.1\r\nHost: local";
    enum { CROWD = 4 * PLACES };
    int slow[CROWD];
    write_file(fixture, "a.warc.gz", "0123456789");
    for (size_t i = 0; i < CROWD; i++) {
        slow[i] = connect_to(fixture);
        (void)send(slow[i], beginning, sizeof beginning - 1, MSG_NOSIGNAL);
        if (i % PLACES == 0) {
            assert_int_equal(raw(fixture, "GET /warc/a.warc.gz HTTP/1.1\r\n\r\n"), 200);
        }
    }
    assert_int_equal(raw(fixture, "GET /warc/a.warc.gz HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
    char byte;
    assert_true(recv(slow[0], &byte, 1, 0) <= 0); /* it was ended */
    static const char ending[] = "host\r\n\r\n";
    assert_int_equal(send(slow[CROWD - 1], ending, sizeof ending - 1, MSG_NOSIGNAL),
                     sizeof ending - 1);
    assert_int_equal(recv(slow[CROWD - 1], &byte, 1, 0), 1); /* the latest is still there */
    for (size_t i = 0; i < CROWD; i++) {
        (void)close(slow[i]);
    }
}

/* ---- places, by a clock of their own ---- */

struct pair {
    int ours, theirs;
    struct web_place *place;
};

/* A connection from 10.0.0.LAST; place NULL when it is refused. */
static void
come(struct web_places *places, struct pair *pair, unsigned char last, uint64_t now)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const unsigned char bytes[] = {10, 0, 0, last};
    int sockets[2];
    memcpy(&address.sin_addr, bytes, sizeof bytes);
    *pair = (struct pair){-1, -1, NULL};
    if (!web_places_admit(places, (const struct sockaddr *)&address)) {
        return;
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    pair->ours = sockets[0];
    pair->theirs = sockets[1];
    pair->place = web_places_enter(places, pair->ours, (const struct sockaddr *)&address, now);
    assert_non_null(pair->place);
}

static bool
is_open(const struct pair *pair)
{
    char byte;
    return recv(pair->theirs, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0;
}

static void
go(struct web_places *places, struct pair *pair)
{
    if (pair->place != NULL) {
        web_places_leave(places, pair->place);
        (void)close(pair->ours);
        (void)close(pair->theirs);
    }
}

static void
test_a_whole_request_has_its_time(void **state)
{
    (void)state;
    const struct web_places_limits limits = {8, 8, 0, 1000, 0};
    struct web_places *places = web_places_new(&limits);
    struct pair a, b;
    come(places, &a, 1, 5000);
    come(places, &b, 1, 5000);
    web_places_asked(places, b.place, 5900);
    assert_int_equal(web_places_tend(places, 5999), 0);
    assert_int_equal(web_places_tend(places, 4000), 0); /* a moment noted before */
    assert_int_equal(web_places_tend(places, 6000), 1);
    assert_false(is_open(&a));
    assert_int_equal(web_places_tend(places, 60000), 0); /* being answered is no fault */
    assert_true(is_open(&b));
    web_places_answered(places, b.place, 60000);
    assert_int_equal(web_places_tend(places, 60999), 0);
    assert_int_equal(web_places_tend(places, 61000), 1); /* nor may the next one be slow */
    assert_false(is_open(&b));
    go(places, &a);
    go(places, &b);
    web_places_free(places);
}

static void
test_places_are_shared(void **state)
{
    (void)state;
    const struct web_places_limits limits = {3, 2, 1, 1000, 0};
    struct web_places *places = web_places_new(&limits);
    web_places_add_node(places, SLICE("10.0.0.9"));
    struct pair a[3], b[3], node[3];
    come(places, &a[0], 1, 3);
    come(places, &a[1], 1, 3);
    come(places, &a[2], 1, 3); /* the third of its address, all in one millisecond */
    assert_false(is_open(&a[0]));
    assert_true(is_open(&a[1]));
    web_places_asked(places, a[1].place, 3);
    web_places_asked(places, a[2].place, 3);
    come(places, &b[0], 2, 4);
    come(places, &b[1], 2, 5); /* the fourth of all: only b[0] waits */
    assert_false(is_open(&b[0]));
    assert_true(is_open(&a[1]) && is_open(&a[2]) && is_open(&b[1]));
    web_places_asked(places, b[1].place, 6);
    come(places, &b[2], 3, 7); /* all are being answered */
    assert_null(b[2].place);
    come(places, &node[0], 9, 8);
    assert_non_null(node[0].place);
    come(places, &node[1], 9, 9);
    assert_false(is_open(&node[0]));
    web_places_asked(places, node[1].place, 10);
    come(places, &node[2], 9, 11);
    assert_null(node[2].place);
    go(places, &a[1]);
    come(places, &b[2], 3, 12); /* a node's place is not for others, but this one is */
    assert_non_null(b[2].place);
    for (size_t i = 0; i < 3; i++) {
        if (i != 1) {
            go(places, &a[i]);
        }
        go(places, &b[i]);
        go(places, &node[i]);
    }
    web_places_free(places);
}

/* A reply of which nothing is taken ends; one that is not yet there, or is taken, does not. */
static void
test_replies_are_taken(void **state)
{
    const struct web_places_limits limits = {4, 4, 0, 1000, 1024};
    struct web_places *places = web_places_new(&limits);
    const struct sockaddr_in address = {.sin_family = AF_INET};
    static char block[64 << 10];
    int one = 1024, listening = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    (void)state;
    assert_int_equal(bind(listening, (const struct sockaddr *)&here, length), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&here, &length), 0);
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVBUF, &one, sizeof one), 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&here, length), 0);
    const int server = accept(listening, NULL, NULL);
    assert_true(web_places_admit(places, (const struct sockaddr *)&address));
    struct web_place *place =
        web_places_enter(places, server, (const struct sockaddr *)&address, 1000);
    web_places_asked(places, place, 1000);
    assert_int_equal(web_places_tend(places, 1000), 0);
    assert_int_equal(web_places_tend(places, 100000), 0); /* it has nothing to take */
    while (send(server, block, sizeof block, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
    assert_int_equal(web_places_tend(places, 100001), 0);
    assert_int_equal(web_places_tend(places, 100002), 0);
    size_t taken = 0; /* 10 KiB each 10 s are enough */
    while (taken < sizeof block) {
        const ssize_t n = recv(client, block, sizeof block, 0);
        assert_true(n > 0);
        taken += (size_t)n;
        while (send(server, block, sizeof block, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
        }
    }
    assert_int_equal(web_places_tend(places, 110003), 0);
    assert_int_equal(web_places_tend(places, 120002), 0); /* not 10 s yet */
    assert_int_equal(web_places_tend(places, 120003), 1);
    assert_int_equal(web_places_tend(places, 900000), 0); /* ended once */
    web_places_leave(places, place);
    web_places_free(places);
    (void)close(server);
    (void)close(client);
    (void)close(listening);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_ranges_of_other_sizes),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_query_forms),
        cmocka_unit_test(test_spelling_distances),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_forms_have_a_most),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_html_is_escaped),
        cmocka_unit_test(test_a_whole_request_has_its_time),
        cmocka_unit_test(test_places_are_shared),
        cmocka_unit_test(test_replies_are_taken),
        cmocka_unit_test_setup_teardown(test_ranges_of_archive_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_else_is_served, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_names_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_form_of_separators, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_requests_make_way, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
