#include "tests/web/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"

enum {
    FILLER = 1 << 20,
    BODY_LEAST = 600,
    LISTED_MOST = 400, /* pages that the root links to */
    HUGE_BODY = 3 << 20,
    BOMB_BODY = 40 << 20,
    HEADER_MOST = 300 << 10,
    REFUSALS = 2, /* so often a storm page answers 503 before it answers well */
    CHAIN = 3,
};

static char *filler;
static struct buf bomb;

/* ---- chance ---- */

static uint64_t
chance(const struct web *web, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = web->seed * 0x9e3779b97f4a7c15u + a * 0xbf58476d1ce4e5b9u +
                 b * 0x94d049bb133111ebu + c * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static double
fraction(uint64_t number)
{
    return (double)(number >> 11) / (double)(1ull << 53);
}

enum {
    OF_PAGES = 1,
    OF_ROBOTS,
    OF_ADDRESS,
    OF_TRAPS,
    OF_KIND,
    OF_LENGTH,
    OF_LINK,
    OF_DELAY,
    OF_CHANGE,
    OF_PHASE
};

/* ---- hosts ---- */

struct robots_share {
    enum robots_kind kind;
    unsigned share; /* of thousand */
};
static const struct robots_share robots_shares[] = {
    {ROBOTS_MISSING, 150}, {ROBOTS_DELAY, 60}, {ROBOTS_EMPTY, 40},
    {ROBOTS_BROKEN, 15},   {ROBOTS_MOVED, 40}, {ROBOTS_LONG, 10},
    {ROBOTS_GARBAGE, 10},  {ROBOTS_SLOW, 10},  {ROBOTS_RULES, 1000},
};

struct web_host
web_host(const struct web *web, uint32_t number)
{
    struct web_host host = {.number = number};
    const double luck = fraction(chance(web, OF_PAGES, number, 0)) + 1e-9;
    const double pages = web->pages * pow(luck, -0.5);
    host.pages = pages > web->most_pages ? web->most_pages : (uint32_t)pages;
    uint32_t left = (uint32_t)(chance(web, OF_ROBOTS, number, 0) % 1000);
    const struct robots_share *share = robots_shares;
    while (left >= share->share) {
        left -= share->share;
        share++;
    }
    host.robots = share->kind;
    host.forbids = host.robots == ROBOTS_RULES || host.robots == ROBOTS_DELAY ||
                   host.robots == ROBOTS_LONG || host.robots == ROBOTS_MOVED ||
                   host.robots == ROBOTS_SLOW;
    if (host.robots == ROBOTS_DELAY) {
        host.crawl_delay_ms = 200 + 100 * (uint32_t)(chance(web, OF_DELAY, number, 0) % 4);
    }
    /* Three of ten lie with others at one of few addresses. */
    const uint64_t lot = chance(web, OF_ADDRESS, number, 0);
    const uint32_t at = lot % 10 < 3 ? (uint32_t)(lot / 10 % (web->hosts / 40 + 1)) : number;
    host.address = (127u << 24) + (lot % 10 < 3 ? 2u << 16 : 1u << 16) + at + 1;
    host.traps = chance(web, OF_TRAPS, number, 0) % 10 == 0;
    return host;
}

bool
web_host_number(const struct web *web, struct slice name, uint32_t *number)
{
    size_t i = 1;
    uint64_t n = 0;
    if (name.length < 2 || name.at[0] != 'h') {
        return false;
    }
    for (; i < name.length && i < 10 && name.at[i] >= '0' && name.at[i] <= '9'; i++) {
        n = 10 * n + (uint64_t)(name.at[i] - '0');
    }
    *number = (uint32_t)n;
    return i > 1 && n < web->hosts &&
           slice_starts(slice_of(name.at + i, name.length - i), SLICE(".web.example"));
}

/* ---- kinds of pages ---- */

struct response {
    const struct web *web;
    const struct web_host *host;
    struct web_answer *answer;
    const struct web_request *request;
    uint32_t page, step, version;
};

static void
head(struct response *r, unsigned status, const char *type, size_t length, const char *more)
{
    r->answer->status = status;
    buf_printf(
        &r->answer->bytes,
        "HTTP/1.1 %u %s\r\nServer: synthetic\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n",
        status, status < 300 ? "OK" : "Other", type, length, more);
}

static void
plain(struct response *r, unsigned status, const char *more)
{
    head(r, status, "text/plain", 5, more);
    buf_append_string(&r->answer->bytes, "text\n");
}

static void
link_to(const struct response *r, struct buf *body, uint32_t host, uint32_t page)
{
    char path[16] = "";
    if (page > 0) {
        snprintf(path, sizeof path, "p%u", page);
    }
    buf_printf(body, "<li><a href=\"http://h%u.web.example:%u/%s\">page</a>\n", host, r->web->port,
               path);
}

static void
links(const struct response *r, struct buf *body)
{
    const struct web_host *host = r->host;
    const uint32_t first = r->page == 0 ? 1 : 0;
    const uint32_t own = r->page == 0 ? host->pages - 1 : 3;
    const uint64_t of = r->page * 16 + (r->version << 24); /* links change with the version */
    for (uint32_t i = 0; i < own && i < LISTED_MOST; i++) {
        const uint32_t any = (uint32_t)(chance(r->web, OF_LINK, host->number, of + i));
        link_to(r, body, host->number, first ? i + 1 : any % host->pages);
    }
    if (r->page == 0) {
        buf_append_string(body, "<li><a href=\"/private/p1\">private</a>\n");
    }
    for (uint32_t i = 0; i < 3; i++) { /* the smaller its number, the more link to a host */
        const double u = fraction(chance(r->web, OF_LINK, host->number, of + 8 + i));
        link_to(r, body, (uint32_t)(u * u * u * r->web->hosts), 0);
    }
    if (host->traps) {
        buf_printf(body,
                   "<li><a href=\"/cal/%u\">next day</a>\n<li><a href=\"/?sid=%08x\">home</a>\n"
                   "<li><a href=\"/q?a=%u&amp;b=%u\">more</a>\n<li><a href=\"deep/\">deep</a>\n",
                   r->step + 1,
                   (unsigned)chance(r->web, OF_LINK, host->number, r->step * 31 + r->page),
                   r->step + 1, r->page);
    }
}

static void
html(struct response *r, const char *more)
{
    static struct buf body;
    const uint64_t lot = chance(r->web, OF_LENGTH, r->host->number, r->page);
    const double length = BODY_LEAST * pow(fraction(lot) + 1e-9, -0.8);
    const size_t fill = length > r->web->body_most ? r->web->body_most : (size_t)length;
    if (body.maximum == 0) {
        buf_init(&body, 2 << 20);
    }
    buf_reset(&body);
    buf_printf(&body, "<!DOCTYPE html><html lang=\"en\"><head><title>Page %u of host %u</title>",
               r->page, r->host->number);
    if (r->web->change_s > 0) {
        buf_printf(&body, "<link rel=\"license\" href=\"http://version.example/%u\">", r->version);
    }
    buf_append_string(&body, "</head><body>\n<ul>\n");
    links(r, &body);
    buf_append_string(&body, "</ul>\n<p>");
    buf_append(&body, filler + (lot + r->version) % (FILLER - WEB_BODY_MOST), fill);
    buf_append_string(&body, "</p></body></html>\n");
    head(r, 200, "text/html; charset=utf-8", body.length, more);
    buf_append_slice(&r->answer->bytes, buf_slice(&body));
}

struct web_change
web_change(const struct web *web, const struct web_host *host, uint32_t number)
{
    struct web_change change = {0};
    if (web->change_s > 0) {
        const uint64_t lot = chance(web, OF_CHANGE, host->number, number);
        change.period_s = (uint32_t)(web->change_s * pow(WEB_PERIODS, fraction(lot)));
        change.phase_s = (uint32_t)(chance(web, OF_PHASE, host->number, number) %
                                    ((uint64_t)change.period_s * WEB_VERSIONS));
        change.goes = number > 0 && lot % 16 == 0;
    }
    return change;
}

static void missing(struct response *r);

static void
good(struct response *r)
{
    char more[40];
    struct slice tag;
    const struct web_change change = web_change(r->web, r->host, r->page);
    if (change.period_s == 0) {
        html(r, "");
        return;
    }
    r->version = (uint32_t)((r->request->now_s + change.phase_s) / change.period_s % WEB_VERSIONS);
    snprintf(more, sizeof more, "ETag: \"v%u\"\r\n", r->version);
    tag = slice_of(more + 6, 4);
    if (change.goes && r->version == WEB_VERSION_GONE) {
        missing(r);
    } else if (slice_equal(r->request->validator, tag)) {
        r->answer->status = 304;
        buf_printf(&r->answer->bytes, "HTTP/1.1 304 Not Modified\r\n%s\r\n", more);
    } else {
        html(r, more);
    }
}

static void
slow(struct response *r)
{
    html(r, "");
    r->answer->delivery = SEND_SLOWLY;
}

static void
empty(struct response *r)
{
    head(r, 200, "text/html", 0, "");
}

static void
missing(struct response *r)
{
    plain(r, 404, "");
}

static void
gone(struct response *r)
{
    plain(r, 410, "");
}

static void
forbidden(struct response *r)
{
    plain(r, 403, "");
}

static void
redirect(struct response *r, const char *kind, uint32_t step)
{
    char more[80];
    snprintf(more, sizeof more, "Location: /%s%u/%u\r\n", kind, r->page, step);
    plain(r, 301, more);
}

static void
chain(struct response *r)
{
    if (r->step < CHAIN) {
        redirect(r, "p", r->step + 1);
    } else {
        html(r, "");
    }
}

static void
loop(struct response *r)
{
    redirect(r, "p", r->step == 1 ? 2 : 1);
}

static void
itself(struct response *r)
{
    char more[64];
    snprintf(more, sizeof more, "Location: /p%u\r\n", r->page);
    plain(r, 302, more);
}

static void
later(struct response *r, unsigned status)
{
    if (r->request->refused == REFUSALS) {
        html(r, "");
        return;
    }
    r->answer->refusal = true;
    plain(r, status, "Retry-After: 1\r\n");
}

static void
storm(struct response *r)
{
    later(r, 503);
}

static void
busy(struct response *r)
{
    later(r, 429);
}

static void
broken(struct response *r)
{
    plain(r, 500, "");
}

static void
reset(struct response *r)
{
    html(r, "");
    r->answer->delivery = SEND_RESET;
}

static void
short_body(struct response *r)
{
    html(r, "");
    r->answer->bytes.length -= 300;
    r->answer->delivery = SEND_SHORT;
}

static void
garbage(struct response *r)
{
    for (uint32_t i = 0; i < 500; i++) {
        const uint64_t lot = chance(r->web, OF_LENGTH, r->page, i);
        buf_append(&r->answer->bytes, &lot, sizeof lot);
    }
    r->answer->close = true;
}

static void
silent(struct response *r)
{
    r->answer->close = true;
}

static void
mute(struct response *r)
{
    r->answer->delivery = SEND_MUTE;
}

static void
endless(struct response *r)
{
    r->answer->status = 200;
    buf_append_string(&r->answer->bytes, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                                         "Transfer-Encoding: chunked\r\n\r\n");
    r->answer->delivery = SEND_ENDLESS;
}

static void
huge(struct response *r)
{
    head(r, 200, "text/html", HUGE_BODY, "");
    for (size_t i = 0; i < HUGE_BODY / FILLER; i++) {
        buf_append(&r->answer->bytes, filler, FILLER);
    }
}

static void
long_header(struct response *r)
{
    r->answer->status = 200;
    buf_append_string(&r->answer->bytes, "HTTP/1.1 200 OK\r\n");
    for (size_t i = 0; i < HEADER_MOST / 1024; i++) {
        buf_printf(&r->answer->bytes, "X-Filler-%zu: %.1000s\r\n", i, filler);
    }
    buf_append_string(&r->answer->bytes, "Content-Length: 0\r\n\r\n");
}

static void
gzip_bomb(struct response *r)
{
    head(r, 200, "text/html", bomb.length, "Content-Encoding: gzip\r\n");
    buf_append_slice(&r->answer->bytes, buf_slice(&bomb));
}

struct page_kind {
    const char *name;
    unsigned weight;
    void (*answer)(struct response *r);
    const char *end;
};
static const struct page_kind kinds[] = {
    {"good", 0, good, "fetched"},       {"slow", 8, slow, "fetched"},
    {"empty", 4, empty, "fetched"},     {"missing", 16, missing, "gone"},
    {"gone", 4, gone, "gone"},          {"forbidden", 4, forbidden, "failed"},
    {"chain", 12, chain, "redirected"}, {"loop", 4, loop, "redirected"},
    {"itself", 4, itself, "failed"},    {"storm", 8, storm, "fetched"},
    {"busy", 4, busy, "fetched"},       {"broken", 4, broken, "failed"},
    {"reset", 4, reset, "failed"},      {"short", 4, short_body, "failed"},
    {"garbage", 4, garbage, "failed"},  {"silent", 4, silent, "failed"},
    {"mute", 2, mute, "failed"},        {"endless", 2, endless, "failed"},
    {"huge", 2, huge, "cut"},           {"header", 2, long_header, "failed"},
    {"bomb", 2, gzip_bomb, "fetched"},
};
enum { KINDS = sizeof kinds / sizeof *kinds, WEIGHTS = 98 };

static const struct page_kind *
kind_of(const struct web *web, const struct web_host *host, uint32_t page)
{
    const uint64_t lot = chance(web, OF_KIND, host->number, page + 1);
    if (page == 0 || lot % 1000 >= web->faults) {
        return &kinds[0];
    }
    uint64_t left = lot / 1000 % WEIGHTS;
    const struct page_kind *kind = kinds;
    while (left >= kind->weight) {
        left -= kind->weight;
        kind++;
    }
    return kind;
}

uint32_t
web_page_count(const struct web_host *host)
{
    return host->pages + 1;
}

struct web_page
web_page(const struct web *web, const struct web_host *host, uint32_t number)
{
    struct web_page page;
    if (number == host->pages) {
        page = (struct web_page){"/private/p1", "private", host->forbids ? "denied" : "fetched"};
    } else {
        const struct page_kind *kind = kind_of(web, host, number);
        page = (struct web_page){"/", kind->name, kind->end};
        if (number > 0) {
            snprintf(page.path, sizeof page.path, "/p%u", number);
        }
    }
    if (host->robots == ROBOTS_BROKEN) { /* nothing links to its pages but its own */
        page.end = number == 0 ? "waits" : "unseen";
    }
    return page;
}

/* ---- robots.txt and sitemap ---- */

static void
rules(struct response *r, size_t more)
{
    char delay[40] = "";
    struct buf body;
    buf_init(&body, 2 << 20);
    if (r->host->crawl_delay_ms > 0) {
        snprintf(delay, sizeof delay, "Crawl-delay: %u.%u\n", r->host->crawl_delay_ms / 1000,
                 r->host->crawl_delay_ms % 1000 / 100);
    }
    buf_printf(
        &body,
        "User-agent: *\nDisallow: /private/\n%sSitemap: http://h%u.web.example:%u/sitemap.xml\n",
        delay, r->host->number, r->web->port);
    while (body.length < more) {
        buf_printf(&body, "# %.200s\n", filler);
    }
    head(r, 200, "text/plain", body.length, "");
    buf_append_slice(&r->answer->bytes, buf_slice(&body));
    buf_release(&body);
}

static void
robots(struct response *r)
{
    char more[100];
    switch (r->host->robots) {
    case ROBOTS_RULES:
    case ROBOTS_DELAY:
        rules(r, 0);
        break;
    case ROBOTS_SLOW:
        rules(r, 0);
        r->answer->delivery = SEND_SLOWLY;
        break;
    case ROBOTS_LONG:
        rules(r, 700 << 10);
        break;
    case ROBOTS_MISSING:
        plain(r, 404, "");
        break;
    case ROBOTS_EMPTY:
        head(r, 200, "text/plain", 0, "");
        break;
    case ROBOTS_BROKEN:
        plain(r, 500, "");
        break;
    case ROBOTS_MOVED:
        snprintf(more, sizeof more, "Location: http://h%u.web.example:%u/robots-of-others\r\n",
                 r->host->number / 2, r->web->port);
        plain(r, 302, more);
        break;
    case ROBOTS_GARBAGE:
        head(r, 200, "text/plain", 4000, "");
        garbage(r);
        r->answer->close = false;
        break;
    }
}

static void
sitemap(struct response *r)
{
    struct buf body;
    buf_init(&body, 16 << 20);
    buf_append_string(&body, "<?xml version=\"1.0\"?>\n<urlset "
                             "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    for (uint32_t i = 0; i < r->host->pages; i++) {
        const struct web_page page = web_page(r->web, r->host, i);
        buf_printf(&body, "<url><loc>http://h%u.web.example:%u%s</loc></url>\n", r->host->number,
                   r->web->port, page.path);
    }
    buf_append_string(&body, "</urlset>\n");
    head(r, 200, "application/xml", body.length, "");
    buf_append_slice(&r->answer->bytes, buf_slice(&body));
    buf_release(&body);
}

/* ---- answering ---- */

static uint32_t
number_at(struct slice path, size_t *at)
{
    uint32_t n = 0;
    while (*at < path.length && path.at[*at] >= '0' && path.at[*at] <= '9') {
        n = 10 * n + (uint32_t)(path.at[(*at)++] - '0');
    }
    return n;
}

static void
answer_page(struct response *r, struct slice path)
{
    size_t at = 2;
    r->page = number_at(path, &at);
    if (at < path.length && path.at[at] == '/') {
        at++;
        r->step = number_at(path, &at);
    }
    if (r->page == 0 || r->page >= r->host->pages || at < path.length) {
        missing(r);
    } else {
        kind_of(r->web, r->host, r->page)->answer(r);
    }
}

/* Answers a part of a site that has no end: each page leads to another. */
static void
answer_trap(struct response *r, struct slice path)
{
    size_t at = 0;
    while (at < path.length && (path.at[at] < '0' || path.at[at] > '9')) {
        at++;
    }
    r->step = at < path.length ? number_at(path, &at) : (uint32_t)path.length;
    r->page = r->step % 1000;
    html(r, "");
}

struct place {
    const char *path;
    bool whole;
    bool trap;
    void (*answer)(struct response *r);
};
static const struct place places[] = {
    {"/robots.txt", true, false, robots},   {"/robots-of-others", true, false, NULL},
    {"/sitemap.xml", true, false, sitemap}, {"/", true, false, good},
    {"/private/p1", true, false, good},     {"/cal/", false, true, NULL},
    {"/?sid=", false, true, NULL},          {"/q?", false, true, NULL},
    {"/deep/", false, true, NULL},
};

void
web_answer(const struct web *web, const struct web_host *host, const struct web_request *request,
           struct web_answer *answer)
{
    const struct slice path = request->path;
    struct response r = {.web = web, .host = host, .answer = answer, .request = request};
    answer->status = 0;
    answer->delivery = SEND_WHOLE;
    answer->close = false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct place *place = &places[i];
        if (place->whole ? !slice_is(path, place->path)
                         : !slice_starts(path, slice_string(place->path))) {
            continue;
        }
        if (place->trap && host->traps) {
            answer_trap(&r, path);
        } else if (place->answer != NULL) {
            place->answer(&r);
        } else if (!place->trap) {
            rules(&r, 0);
        } else {
            missing(&r);
        }
        return;
    }
    if (slice_starts(path, SLICE("/p"))) {
        answer_page(&r, path);
    } else {
        missing(&r);
    }
}

/* ---- what is made once ---- */

static void
make_filler(const struct web *web)
{
    static const char *const words[] = {"data", "of",    "the",  "crawl", "link", "host",
                                        "page", "index", "quad", "graph", "web",  "term"};
    size_t at = 0;
    filler = memory_alloc(FILLER);
    for (uint64_t i = 0; at < FILLER; i++) {
        const uint64_t lot = chance(web, OF_LENGTH, i, 99);
        char text[32];
        const int n = snprintf(text, sizeof text, lot % 5 == 0 ? "%s%u " : "%s ",
                               words[lot / 5 % 12], (unsigned)(lot >> 40 & 0xffff));
        const size_t room = FILLER - at;
        memcpy(filler + at, text, (size_t)n < room ? (size_t)n : room);
        at += (size_t)n;
    }
}

void
web_open(const struct web *web)
{
    char *zeros = memory_new(BOMB_BODY);
    make_filler(web);
    buf_init(&bomb, 1 << 20);
    z_stream stream = {.next_in = (Bytef *)zeros, .avail_in = BOMB_BODY};
    deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    stream.next_out = (Bytef *)buf_reserve(&bomb, bomb.maximum);
    stream.avail_out = (uInt)bomb.maximum;
    deflate(&stream, Z_FINISH);
    buf_commit(&bomb, stream.total_out);
    deflateEnd(&stream);
    free(zeros);
}

void
web_close(void)
{
    free(filler);
    buf_release(&bomb);
}
