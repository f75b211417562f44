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

#include "base/url.h"
#include "tests/unit/scratch.h"
#include "warc/remote.h"
#include "web/accept.h"
#include "web/html.h"
#include "web/query_form.h"
#include "web/range.h"
#include "web/service.h"

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
}

/* ---- over HTTP ---- */

struct fixture {
    char folder[SCRATCH_SIZE];
    char url[64];
    struct web_service service;
    struct web_server *server;
    struct warc_remote *remote;
    struct buf bytes;
};

static const struct web_route routes[] = {{"/warc/", WEB_GET, web_archive}, {NULL, 0, NULL}};

static int
setup(void **state)
{
    static struct fixture fixture;
    struct reason why = {""};
    memset(&fixture, 0, sizeof fixture);
    if (!scratch_folder(fixture.folder, "test_web")) {
        return 1;
    }
    fixture.service = (struct web_service){.directory = fixture.folder, .archive = -1};
    (void)pthread_mutex_init(&fixture.service.lock, NULL);
    const struct web_server_options options = {.listen = "127.0.0.1:0",
                                               .connections = 8,
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
    assert_int_equal(fetch(fixture, "b.warc.gz", 0, 1), STATUS_NOT_FOUND);
    assert_int_equal(fetch(fixture, "../secret", 0, 1), STATUS_MISUSE);
}

/* The status line of the answer to raw bytes. */
static unsigned
raw(const struct fixture *fixture, const char *request)
{
    char reply[4096];
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(web_server_port(fixture->server)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(connection, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(connection, request, strlen(request), 0), strlen(request));
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
    } cases[] = {{"GET /warc/a.warc.gz HTTP/1.1\r\nHost: a\r\n\r\n", 200},
                 {"HEAD /warc/a.warc.gz HTTP/1.1\r\nHost: a\r\n\r\n", 200},
                 {"GET /warc/%61.warc.gz HTTP/1.1\r\nHost: a\r\n\r\n", 200},
                 {"GET /warc/ HTTP/1.1\r\nHost: a\r\n\r\n", 404},
                 {"GET /warc/../secret HTTP/1.1\r\nHost: a\r\n\r\n", 404},
                 {"GET /warc/%2e%2e%2fsecret HTTP/1.1\r\nHost: a\r\n\r\n", 404},
                 {"GET /warc/link HTTP/1.1\r\nHost: a\r\n\r\n", 404},
                 {"GET /warc/fifo HTTP/1.1\r\nHost: a\r\n\r\n", 404},
                 {"GET /warc/. HTTP/1.1\r\nHost: a\r\n\r\n", 404},
                 {"GET /warc HTTP/1.1\r\nHost: a\r\n\r\n", 404},
                 {"DELETE /warc/a.warc.gz HTTP/1.1\r\nHost: a\r\n\r\n", 405},
                 {"POST /warc/a.warc.gz HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 405}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned status = raw(fixture, cases[i].request);
        if (status != cases[i].status) {
            fail_msg("%s: %u", cases[i].request, status);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_query_forms),
        cmocka_unit_test(test_html_is_escaped),
        cmocka_unit_test_setup_teardown(test_ranges_of_archive_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_else_is_served, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
