/* The graph of a feed as the conformance runners look at it. */
#ifndef TESTS_CONFORMANCE_FEED_GRAPH_H
#define TESTS_CONFORMANCE_FEED_GRAPH_H

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/term.h"
#include "rdf/nquads/nquads.h"

enum { FEED_TERMS = 4096 };

struct feed_graph {
    struct quad *quads;
    size_t count, capacity;
    struct arena arena;
    struct term channel;
    struct term items[FEED_TERMS]; /* in the order of rss:items, else any */
    size_t item_count;
};

struct feed_terms {
    struct term terms[FEED_TERMS];
    size_t count;
};

static const struct {
    const char *prefix, *iri;
} prefixes[] = {{"rdf:", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"},
                {"rdfs:", "http://www.w3.org/2000/01/rdf-schema#"},
                {"rss:", "http://purl.org/rss/1.0/"},
                {"rss091:", "http://purl.org/rss/1.0/modules/rss091#"},
                {"rss2:", "http://backend.userland.com/rss2#"},
                {"dc:", "http://purl.org/dc/elements/1.1/"},
                {"dcterms:", "http://purl.org/dc/terms/"},
                {"content:", "http://purl.org/rss/1.0/modules/content/"},
                {"enc:", "http://purl.oclc.org/net/rss_2.0/enc#"},
                {"admin:", "http://webns.net/mvcb/"},
                {"foaf:", "http://xmlns.com/foaf/0.1/"},
                {"skos:", "http://www.w3.org/2004/02/skos/core#"},
                {"sioc:", "http://rdfs.org/sioc/ns#"},
                {"iana:", "http://www.iana.org/assignments/relation/"},
                {"media:", "http://search.yahoo.com/mrss/"},
                {"itunes:", "http://www.itunes.com/dtds/podcast-1.0.dtd#"},
                {"psc:", "http://podlove.org/simple-chapters#"},
                {"georss:", "http://www.georss.org/georss/"},
                {"gml:", "http://www.opengis.net/gml/"},
                {"geo:", "http://www.w3.org/2003/01/geo/wgs84_pos#"},
                {"slash:", "http://purl.org/rss/1.0/modules/slash/"},
                {"thr:", "http://purl.org/syndication/thread/1.0#"},
                {"feedburner:", "http://rssnamespace.org/feedburner/ext/1.0#"},
                {"wfw:", "http://wellformedweb.org/CommentAPI/"}};

/* The IRI of a prefixed name. */
static inline void
feed_name(const char *name, size_t length, char iri[256])
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t prefix = strlen(prefixes[i].prefix);
        if (length > prefix && memcmp(name, prefixes[i].prefix, prefix) == 0) {
            snprintf(iri, 256, "%s%.*s", prefixes[i].iri, (int)(length - prefix), name + prefix);
            return;
        }
    }
    snprintf(iri, 256, "%.*s", (int)length, name);
}

static void
add(struct feed_terms *found, const struct term *term)
{
    for (size_t i = 0; i < found->count; i++) {
        if (term_equal(&found->terms[i], term)) {
            return;
        }
    }
    if (found->count < FEED_TERMS) {
        found->terms[found->count++] = *term;
    }
}

static void
step(const struct feed_graph *graph, const struct term *subject, const char *name, size_t length,
     struct feed_terms *found)
{
    char iri[256];
    const bool any = length == 1 && *name == '*';
    feed_name(name, length, iri);
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        if (term_equal(&quad->subject, subject) && (any || slice_is(quad->predicate.value, iri))) {
            add(found, &quad->object);
        }
    }
}

static void
follow(const struct feed_graph *graph, const struct term *subject, const char *path, size_t length,
       struct feed_terms *found)
{
    const char *slash = memchr(path, '/', length);
    if (!slash) {
        step(graph, subject, path, length, found);
        return;
    }
    struct feed_terms *next = memory_new(sizeof *next);
    const size_t first = (size_t)(slash - path);
    step(graph, subject, path, first, next);
    for (size_t i = 0; i < next->count; i++) {
        follow(graph, &next->terms[i], slash + 1, length - first - 1, found);
    }
    free(next);
}

/* Finds what is reached by a path of prefixed names: "foaf:maker/foaf:name|dc:creator"; "*" is any
 * predicate. Sets found anew. */
static inline void
feed_graph_get(const struct feed_graph *graph, const struct term *subject, const char *path,
               struct feed_terms *found)
{
    found->count = 0;
    while (*path) {
        const size_t length = strcspn(path, "|");
        follow(graph, subject, path, length, found);
        path += length + (path[length] == '|');
    }
}

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct feed_graph *graph = context;
    (void)why;
    if (graph->count == graph->capacity) {
        graph->capacity = graph->capacity ? graph->capacity * 2 : 256;
        graph->quads = memory_resize(graph->quads, graph->capacity, sizeof *graph->quads);
    }
    quad_copy(&graph->arena, quad, &graph->quads[graph->count++]);
    return STATUS_OK;
}

static void
find_items(struct feed_graph *graph)
{
    struct feed_terms *found = memory_new(sizeof *found);
    char path[64];
    for (size_t n = 1; n < FEED_TERMS; n++) {
        snprintf(path, sizeof path, "rss:items/rdf:_%zu", n);
        feed_graph_get(graph, &graph->channel, path, found);
        if (found->count == 0) {
            break;
        }
        graph->items[graph->item_count++] = found->terms[0];
    }
    for (size_t i = 0; i < graph->count && graph->item_count < FEED_TERMS; i++) {
        const struct quad *quad = &graph->quads[i];
        bool here = !slice_is(quad->object.value, "http://purl.org/rss/1.0/item");
        for (size_t n = 0; n < graph->item_count; n++) {
            here = here || term_equal(&graph->items[n], &quad->subject);
        }
        if (!here) {
            graph->items[graph->item_count++] = quad->subject;
        }
    }
    free(found);
}

/* nquads: of a result; must stay. */
static inline void
feed_graph_read(struct feed_graph *graph, struct slice nquads, struct slice document)
{
    const struct quad_sink sink = {take, graph};
    struct reason why;
    *graph = (struct feed_graph){0};
    arena_init(&graph->arena, 0);
    nquads_parse(nquads, NULL, &sink, &why);
    graph->channel = term_iri(document);
    struct feed_terms *found = memory_new(sizeof *found);
    feed_graph_get(graph, &graph->channel, "foaf:primaryTopic", found);
    if (found->count > 0) {
        graph->channel = found->terms[0];
    }
    free(found);
    find_items(graph);
}

static inline void
feed_graph_release(struct feed_graph *graph)
{
    free(graph->quads);
    arena_release(&graph->arena);
}

#endif
