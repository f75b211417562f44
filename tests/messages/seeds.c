#include "tests/messages/seeds.h"

#include <stdio.h>
#include <string.h>

#include "base/codec.h"

enum { PAYLOAD_MOST = 1 << 20 };

struct list {
    struct seed *seeds;
    size_t count;
};

static struct buf *
add(struct list *list, uint8_t verb)
{
    struct seed *seed = &list->seeds[list->count++];
    seed->verb = verb;
    buf_init(&seed->payload, PAYLOAD_MOST);
    return &seed->payload;
}

static void
put_text(struct buf *out, const char *text)
{
    codec_put_slice(out, slice_string(text));
}

/* ---- the index: PROTOCOL.md ---- */

static void
put_iri(struct buf *out, const char *iri)
{
    codec_put_u8(out, 1);
    put_text(out, iri);
}

static void
put_query(struct list *list, const char *sparql, uint64_t timeout_ms)
{
    struct buf *out = add(list, 4);
    codec_put_u8(out, 1);
    put_text(out, sparql);
    put_text(out, "json");
    codec_put_varint(out, timeout_ms);
    put_text(out, "");
    codec_put_u8(out, 0);
    put_text(out, "");
    put_text(out, "");
    codec_put_u64(out, 7);
}

static void
put_stream(struct list *list, uint8_t stream)
{
    codec_put_u8(add(list, 4), stream);
}

static void
add_rows(struct list *list, uint8_t flags)
{
    struct buf *out = add(list, 4);
    codec_put_u8(out, 10);
    codec_put_u64(out, 77);
    codec_put_u8(out, flags);
    codec_put_varint(out, 2);
    for (int i = 0; i < 3; i++) {
        codec_put_u8(out, 0);
    }
    put_iri(out, "urn:g");
    codec_put_u8(out, 4);
    codec_put_u64(out, 1);
    for (int i = 0; i < 3; i++) {
        codec_put_u8(out, 5);
    }
}

static void
add_share(struct list *list)
{
    struct buf *out = add(list, 4);
    codec_put_u8(out, 12);
    codec_put_u64(out, 78);
    codec_put_u8(out, 1);
    put_text(out, "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s ORDER BY ?n");
    for (int i = 0; i < 3; i++) {
        put_text(out, "");
    }
    codec_put_u8(out, 1);
    for (uint64_t value = 1; value < 6; value++) {
        codec_put_varint(out, value);
    }
}

static void
add_index(struct list *list)
{
    struct buf *out = add(list, 2);
    put_text(out, "http://a.example/");
    put_text(out, "http://b.example/");
    out = add(list, 3);
    for (int i = 0; i < 3; i++) {
        codec_put_u8(out, 0);
    }
    put_iri(out, "urn:g");
    put_query(list, "SELECT * { GRAPH ?g { ?s ?p ?o } OPTIONAL { ?o ?q ?r } } LIMIT 10", 500);
    put_query(list, "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(REGEX(STR(?o), \"a\")) }", 500);
    put_query(list, "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", 200);
    out = add(list, 4);
    codec_put_u8(out, 2);
    codec_put_varint(out, 10);
    for (int i = 0; i < 4; i++) {
        codec_put_u8(out, 0);
    }
    for (uint8_t stream = 3; stream <= 4; stream++) {
        out = add(list, 4);
        codec_put_u8(out, stream);
        put_text(out, "apple pear \"a b\" p*");
        codec_put_varint(out, 10);
    }
    for (uint8_t stream = 5; stream <= 9; stream++) {
        put_stream(list, stream);
    }
    add_rows(list, 1);
    add_rows(list, 2);
    add_share(list);
    out = add(list, 4);
    codec_put_u8(out, 11);
    codec_put_varint(out, 1);
    codec_put_varint(out, 1);
    codec_put_varint(out, 1);
    put_text(out, "urn:g");
    out = add(list, 5);
    codec_put_u64(out, 1);
    codec_put_u64(out, 0);
    codec_put_u64(add(list, 6), 1);
    out = add(list, 7);
    codec_put_u8(out, 1);
    codec_put_varint(out, 1);
    put_text(out, "urn:g");
    put_text(out, "<urn:s> <urn:p> \"x\" .\n");
    put_text(out, "<urn:s> <urn:p> \"y\" .\n_:b <urn:p> <urn:o> .\n");
    out = add(list, 7);
    codec_put_u8(out, 2);
    codec_put_varint(out, 1);
    put_text(out, "urn:h");
    codec_put_u8(add(list, 7), 6);
    codec_put_u64(add(list, 8), 77);
    out = add(list, 9);
    codec_put_u8(out, 1);
    codec_put_u64(out, 3);
    out = add(list, 10);
    codec_put_varint(out, 2);
    put_iri(out, "urn:p");
    put_iri(out, "urn:q");
}

/* ---- the queue and the metadata store ---- */

static void
add_queue(struct list *list)
{
    struct buf *out = add(list, 2);
    codec_put_u8(out, 0);
    codec_put_u64(out, 0);
    codec_put_varint(out, 8);
    codec_put_varint(out, 100);
    codec_put_u64(out, 0);
    out = add(list, 4);
    codec_put_u8(out, 1);
    codec_put_varint(out, 0);
    codec_put_u64(add(list, 5), 0);
    out = add(list, 7);
    codec_put_u8(out, 0);
    put_text(out, "ready");
    codec_put_varint(out, 10);
    out = add(list, 8);
    codec_put_u8(out, 1);
    put_text(out, "");
    put_text(add(list, 10), "http://a.example/");
    out = add(list, 11);
    codec_put_u64(out, 0);
    put_text(out, "");
    codec_put_u8(out, 0);
    codec_put_varint(out, 10);
    put_text(add(list, 12), "");
}

static void
add_metastore(struct list *list)
{
    struct buf *out = add(list, 2);
    codec_put_varint(out, 2);
    put_text(out, "uhttp://a.example/");
    put_text(out, "hhttp://a.example");
    out = add(list, 3);
    put_text(out, "u");
    put_text(out, "");
    codec_put_varint(out, 10);
    out = add(list, 1);
    codec_put_varint(out, 1);
    put_text(out, "uhttp://a.example/");
    put_text(out, "");
}

/* ---- HTTP ---- */

static void
add_http(struct list *list)
{
    static const char *const requests[] = {
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /status.json HTTP/1.1\r\nHost: localhost\r\nAccept: */*;q=0.5, text/html\r\n\r\n",
        "HEAD /search?q=apple&limit=2&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /sparql?query=SELECT%20*%20%7B?s%20?p%20?o%7D%20LIMIT%203 HTTP/1.1\r\n"
        "Host: localhost\r\nAccept: text/csv\r\n\r\n",
        "GET /graph?graph=urn:g HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept: text/turtle\r\n\r\n",
        "GET /meta?uri=http://a.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /void HTTP/1.0\r\n\r\n",
        "GET /warc/a-0.warc.gz HTTP/1.1\r\nHost: [::1]\r\nRange: bytes=0-9\r\n\r\n",
        "OPTIONS /sparql HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x.example\r\n\r\n",
        "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/x-www-form-urlencoded\r\nContent-Length: 40\r\n\r\n"
        "query=ASK+%7B%7D&format=json&timeout=100",
        "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
        "Transfer-Encoding: chunked\r\n\r\n6\r\nASK {}\r\n0\r\n\r\n",
        "POST /sparql HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: "
        "application/sparql-update\r\nContent-Length: 9\r\n\r\nCLEAR ALL",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        (void)buf_append_string(add(list, 0), requests[i]);
    }
}

size_t
seeds_of(const char *daemon, struct seed seeds[SEEDS_MOST], uint8_t *stats)
{
    static const struct {
        const char *name;
        void (*add)(struct list *list);
        uint8_t stats;
    } daemons[] = {{"queue", add_queue, 6},
                   {"metastore", add_metastore, 4},
                   {"index", add_index, 1},
                   {"http", add_http, 0}};
    struct list list = {seeds, 0};
    for (size_t i = 0; i < sizeof daemons / sizeof *daemons; i++) {
        if (strcmp(daemons[i].name, daemon) == 0) {
            *stats = daemons[i].stats;
            daemons[i].add(&list);
        }
    }
    return list.count;
}
