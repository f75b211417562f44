#include "tests/unit/fetch_web.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/clock.h"

enum { REQUESTS_MAXIMUM = 4096 };
static atomic_uint late_due; /* so many of the late answers are given */

struct page {
    const char *host, *path;
    const char *header; /* status line and headers; NULL: close without an answer */
    const char *body;
    /* SECOND_TIME: header only from then on; LATE: when it is due */
    enum { ONCE, FOR_EVER, SECOND_TIME, LATE } manner;
};

#define OK "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"latin1\"\r\n"
#define RING                                                 \
    "<sitemapindex><sitemap>http://ring.example/1</sitemap>" \
    "<sitemap>http://ring.example/2</sitemap></sitemapindex>"
#define TO(uri) "HTTP/1.1 301 Moved\r\nLocation: " uri "\r\n"

static const struct page pages[] = {
    {"plain.example", "/a", OK "Link: </b>; rel=x\r\nETag: \"1\"\r\nLink: </c>\r\n", "<p>a</p>", 0},
    {"plain.example", "/empty", "HTTP/1.1 204 No Content\r\n", "", 0},
    {"plain.example", "/gone", "HTTP/1.1 410 Gone\r\n", "", 0},
    {"plain.example", "/no", "HTTP/1.1 403 Forbidden\r\n", "no", 0},
    {"plain.example", "/late", OK, "<p>late</p>", SECOND_TIME},
    {"plain.example", "/never", "HTTP/1.1 500 Broken\r\n", "", 0},
    {"plain.example", "/closes", NULL, NULL, 0},
    {"plain.example", "/endless", OK, "0123456789abcdef", FOR_EVER},
    {"plain.example", "/header", "HTTP/1.1 200 OK\r\nX: 0123456789abcdef", NULL, FOR_EVER},
    {"plain.example", "/moved", TO("/a"), "", 0},
    {"plain.example", "/self", TO("/self"), "", 0},
    {"plain.example", "/nowhere", "HTTP/1.1 302 Found\r\n", "", 0},
    {"plain.example", "/outside", TO("http://outside.test/"), "", 0},
    {"plain.example", "/loop", TO("/loop2"), "", 0},
    {"plain.example", "/loop2", TO("/loop"), "", 0},
    {"plain.example", "/chain0", TO("/chain1"), "", 0},
    {"plain.example", "/chain1", TO("/chain2"), "", 0},
    {"plain.example", "/chain2", TO("/chain3"), "", 0},
    {"plain.example", "/chain3", TO("/chain4"), "", 0},
    {"plain.example", "/chain4", TO("/chain5"), "", 0},
    {"plain.example", "/chain5", TO("/chain6"), "", 0},
    {"plain.example", "/chain6", TO("/chain7"), "", 0},
    {"plain.example", "/chain7", TO("/chain8"), "", 0},
    {"plain.example", "/chain8", TO("/chain9"), "", 0},
    {"plain.example", "/chain9", TO("/chain10"), "", 0},
    {"plain.example", "/chain10", TO("/chain11"), "", 0},
    {"rules.example", "/robots.txt", OK,
     "User-agent: *\nDisallow: /secret\nSitemap: http://maps.example/map.xml\n", 0},
    {"rules.example", "/open", OK, "<p>open</p>", 0},
    {"rules.example", "/from-map", OK, "<p>mapped</p>", 0},
    {"rules.example", "/from-list", OK, "<p>listed</p>", 0},
    {"maps.example", "/map.xml", "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n",
     "<sitemapindex><sitemap><loc>http://maps.example/1.xml</loc></sitemap>"
     "<sitemap><loc>http://maps.example/2.txt</loc></sitemap></sitemapindex>",
     0},
    {"maps.example", "/1.xml", "HTTP/1.1 200 OK\r\n",
     "<urlset><url><loc>http://rules.example/from-map</loc></url>"
     "<url><loc>http://foreign.example/x</loc></url></urlset>",
     0},
    {"maps.example", "/2.txt", "HTTP/1.1 200 OK\r\n", "http://rules.example/from-list\n", 0},
    {"deep.example", "/robots.txt", OK, "Sitemap: /map.xml\n", 0},
    {"deep.example", "/map.xml", OK, "<urlset><url><loc>/entry</loc></url></urlset>", 0},
    {"deep.example", "/entry", OK, "<p>entry</p>", 0},
    {"unnamed.example", "/a", OK, "<p>a</p>", 0},
    {"unnamed.example", "/b", OK, "<p>b</p>", 0},
    {"unnamed.example", "/c", OK, "<p>c</p>", 0},
    {"unnamed.example", "/sitemap.xml", OK,
     "<urlset><url><loc>http://unnamed.example/entry</loc></url></urlset>", 0},
    {"unnamed.example", "/entry", OK, "<p>entry</p>", 0},
    {"away.example", "/a", OK, "<p>a</p>", 0},
    {"away.example", "/sitemap.xml", TO("/maps/all.xml"), "", 0},
    {"away.example", "/maps/all.xml", OK,
     "<urlset><url><loc>http://away.example/entry</loc></url></urlset>", 0},
    {"page.example", "/a", OK, "<p>a</p>", 0},
    {"page.example", "/sitemap.xml", OK, "http://page.example/b\n", 0},
    {"shut.example", "/robots.txt", OK, "User-agent: *\nDisallow: /sitemap.xml\n", 0},
    {"shut.example", "/a", OK, "<p>a</p>", 0},
    {"busy.example", "/a", OK, "<p>a</p>", SECOND_TIME},
    {"busy.example", "/b", OK, "<p>b</p>", 0},
    {"busy.example", "/c", OK, "<p>c</p>", 0},
    {"down.example", "/robots.txt", "HTTP/1.1 503 Down\r\n", "", 0},
    {"fails.example", "/robots.txt", "HTTP/1.1 500 Broken\r\n", "", 0},
    {"elsewhere.example", "/robots.txt", TO("http://fails.example/shared"), "", 0},
    {"fails.example", "/shared", "HTTP/1.1 500 Broken\r\n", "", 0},
    {"late.example", "/robots.txt", OK, "Sitemap: /map.xml\n", LATE},
    {"late.example", "/map.xml", OK, "<urlset><url><loc>/entry</loc></url></urlset>", LATE},
    {"late.example", "/a", OK, "<p>a</p>", 0},
    {"hop.example", "/robots.txt", TO("http://rules.example/robots.txt"), "", 0},
    {"hop.example", "/secret", OK, "x", 0},
    {"nest.example", "/robots.txt", OK, "Sitemap: /nest0\n", 0},
    {"nest.example", "/a", OK, "<p>a</p>", 0},
    {"wide.example", "/robots.txt", OK, "Sitemap: /wide\n", 0},
    {"wide.example", "/a", OK, "<p>a</p>", 0},
    {"wide.example", "/wide", OK,
     "<sitemapindex><sitemap>http://wide.example/1</sitemap>"
     "<sitemap>http://wide.example/2</sitemap><sitemap>http://wide.example/3</sitemap>"
     "<sitemap>http://wide.example/4</sitemap><sitemap>http://wide.example/5</sitemap>"
     "<sitemap>http://wide.example/6</sitemap><sitemap>http://wide.example/7</sitemap>"
     "</sitemapindex>",
     0},
    {"names.example", "/robots.txt", OK, "Sitemap: http://ring.example/1\n", 0},
    {"names.example", "/a", OK, "<p>a</p>", 0},
    {"ring.example", "/1", OK, RING, 0},
    {"ring.example", "/2", OK, RING, 0},
};

static int listener;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char requests[REQUESTS_MAXIMUM][256]; /* "host/path" or, conditional, "host/path if" */
static uint64_t requested_ms[REQUESTS_MAXIMUM];
static size_t request_count;

unsigned
fetch_web_count(const char *what)
{
    unsigned n = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < request_count; i++) {
        n += strcmp(requests[i], what) == 0;
    }
    pthread_mutex_unlock(&lock);
    return n;
}

uint64_t
fetch_web_moment(const char *what)
{
    uint64_t moment_ms = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < request_count && moment_ms == 0; i++) {
        moment_ms = strcmp(requests[i], what) == 0 ? requested_ms[i] : 0;
    }
    pthread_mutex_unlock(&lock);
    return moment_ms;
}

static unsigned
note_request(const char *host, const char *path, bool conditional)
{
    char line[256];
    snprintf(line, sizeof line, "%s%s%s", host, path, conditional ? " if" : "");
    const unsigned before = fetch_web_count(line);
    pthread_mutex_lock(&lock);
    if (request_count < REQUESTS_MAXIMUM) {
        requested_ms[request_count] = clock_monotonic_ms();
        memcpy(requests[request_count++], line, sizeof line);
    }
    pthread_mutex_unlock(&lock);
    return before;
}

static void
say(int peer, const char *text)
{
    (void)send(peer, text, strlen(text), MSG_NOSIGNAL);
}

static void
say_for_ever(int peer, const char *text)
{
    while (send(peer, text, strlen(text), MSG_NOSIGNAL) > 0) {
    }
}

/* An index of sitemaps that lists another one, for ever. */
static void
answer_nested(int peer, const char *path)
{
    char body[200], header[100];
    const unsigned number = (unsigned)strtoul(path + strlen("/nest"), NULL, 10);
    snprintf(body, sizeof body,
             "<sitemapindex><sitemap>http://nest.example/nest%u</sitemap></sitemapindex>",
             number + 1);
    snprintf(header, sizeof header, "%sContent-Length: %zu\r\n\r\n", OK, strlen(body));
    say(peer, header);
    say(peer, body);
}

static void
answer(int peer, const char *host, const char *path, bool conditional)
{
    const unsigned before = note_request(host, path, conditional);
    char length[64];
    if (strncmp(path, "/nest", strlen("/nest")) == 0) {
        answer_nested(peer, path);
        return;
    }
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        const struct page *page = &pages[i];
        if (strcmp(page->host, host) != 0 || strcmp(page->path, path) != 0) {
            continue;
        }
        static atomic_uint late;
        for (const unsigned own = page->manner == LATE ? atomic_fetch_add(&late, 1) : 0;
             page->manner == LATE && atomic_load(&late_due) <= own;) {
            usleep(1000);
        }
        if (conditional) {
            say(peer, "HTTP/1.1 304 Not Modified\r\n\r\n");
        } else if (page->manner == SECOND_TIME && before == 0) {
            say(peer, "HTTP/1.1 503 Wait\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n");
        } else if (page->manner == FOR_EVER) {
            say(peer, page->header);
            say(peer, page->body != NULL ? "\r\n" : "");
            say_for_ever(peer, page->body != NULL ? page->body : "0123456789");
        } else if (page->header != NULL) {
            snprintf(length, sizeof length, "Content-Length: %zu\r\n\r\n", strlen(page->body));
            say(peer, page->header);
            say(peer, length);
            say(peer, page->body);
        }
        return;
    }
    say(peer, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

static void *
serve_one(void *context)
{
    const int peer = (int)(intptr_t)context;
    char request[16384];
    size_t length = 0;
    for (;;) {
        const ssize_t n = recv(peer, request + length, sizeof request - 1 - length, 0);
        if (n <= 0) {
            break;
        }
        length += (size_t)n;
        request[length] = '\0';
        if (strstr(request, "\r\n\r\n") != NULL) {
            char path[100] = "";
            char host[100] = "";
            const char *at = strstr(request, "\r\nHost: ");
            if (sscanf(request, "GET %99s", path) == 1 && at != NULL &&
                sscanf(at + 8, "%99s", host) == 1) {
                answer(peer, host, path, strstr(request, "\r\nIf-None-Match: \"1\"") != NULL);
            }
            break;
        }
    }
    shutdown(peer, SHUT_RDWR);
    close(peer);
    return NULL;
}

static void *
serve(void *context)
{
    (void)context;
    for (;;) {
        pthread_t thread;
        const int peer = accept(listener, NULL, NULL);
        if (peer >= 0 && pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)peer) == 0) {
            pthread_detach(thread);
        }
    }
    return NULL;
}

unsigned
fetch_web_start(void)
{
    pthread_t thread;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 128), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
    return ntohs(address.sin_port);
}

void
fetch_web_answer_late(void)
{
    atomic_fetch_add(&late_due, 1);
}
