/* A small random dataset, and its slices by definition: every resource against every triple, until
 * nothing is added. */
#ifndef TESTS_UNIT_DATASETS_SLICING_ORACLE_H
#define TESTS_UNIT_DATASETS_SLICING_ORACLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dumps/slicing.h"
#include "rdf/core/vocabulary.h"

enum { TOKEN_SIZE = 96, ORACLE_TRIPLES = 700, ORACLE_RESOURCES = 2 * ORACLE_TRIPLES };

struct oracle_triple {
    char subject[TOKEN_SIZE], predicate[TOKEN_SIZE], object[TOKEN_SIZE]; /* as in results */
    char graph[TOKEN_SIZE];                                              /* IRI, or empty */
    unsigned file;
};

struct oracle {
    uint64_t random;
    unsigned resources, nodes, predicates; /* how many different ones there are */
    struct oracle_triple triples[ORACLE_TRIPLES];
    size_t count;
};

static inline unsigned
oracle_random(struct oracle *oracle, unsigned below)
{
    oracle->random = oracle->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(oracle->random >> 33) % below;
}

static inline void
oracle_iri(struct oracle *oracle, char *token)
{
    static const char *const starts[] = {"http://a.example/", "http://a.example/b/",
                                         "http://c.example/v#", "http://d.example/d",
                                         "urn:elsewhere:"};
    static const char *const ends[] = {"", "", "", "#part", "#"};
    snprintf(token, TOKEN_SIZE, "<%s%u%s>", starts[oracle_random(oracle, 5)],
             oracle_random(oracle, oracle->resources), ends[oracle_random(oracle, 5)]);
}

static inline void
oracle_node(struct oracle *oracle, char *token, unsigned file)
{
    if (oracle_random(oracle, 3) == 0) {
        snprintf(token, TOKEN_SIZE, "_:f%uxn%u", file, oracle_random(oracle, oracle->nodes));
    } else {
        oracle_iri(oracle, token);
    }
}

static inline struct oracle_triple *
oracle_add(struct oracle *oracle, const char *subject, const char *predicate, const char *object,
           unsigned file)
{
    struct oracle_triple *triple = &oracle->triples[oracle->count++];
    memset(triple, 0, sizeof *triple);
    snprintf(triple->subject, TOKEN_SIZE, "%s", subject);
    snprintf(triple->predicate, TOKEN_SIZE, "%s", predicate);
    snprintf(triple->object, TOKEN_SIZE, "%s", object);
    triple->file = file;
    return triple;
}

/* Adds a reification of a triple that is there, or of one that is not. */
static inline void
oracle_reify(struct oracle *oracle, unsigned number)
{
    struct oracle_triple stated = oracle->triples[oracle_random(oracle, (unsigned)oracle->count)];
    char node[TOKEN_SIZE];
    if (oracle_random(oracle, 4) == 0) {
        snprintf(stated.predicate, sizeof stated.predicate, "<urn:p:never>");
    }
    snprintf(node, sizeof node, "_:f%uxs%u", stated.file, number);
    if (oracle_random(oracle, 6) == 0) {
        snprintf(node, sizeof node, "<http://a.example/statement%u>", number);
    }
    oracle_add(oracle, node, "<" RDF_NAMESPACE "subject>", stated.subject, stated.file);
    oracle_add(oracle, node, "<" RDF_NAMESPACE "predicate>", stated.predicate, stated.file);
    oracle_add(oracle, node, "<" RDF_NAMESPACE "object>", stated.object, stated.file);
    if (oracle_random(oracle, 2) == 0) { /* what is said of the statement */
        char about[TOKEN_SIZE];
        oracle_node(oracle, about, stated.file);
        oracle_add(oracle, node, "<urn:p:source>", about, stated.file);
    }
}

static inline void
oracle_make(struct oracle *oracle, uint64_t seed, size_t count, unsigned reifications, bool graphs)
{
    oracle->random = seed * 2654435761u + 1;
    oracle->count = 0;
    oracle->resources = 1 + oracle_random(oracle, 12);
    oracle->nodes = 1 + oracle_random(oracle, 30);
    while (oracle->count < count) {
        char subject[TOKEN_SIZE], predicate[TOKEN_SIZE], object[TOKEN_SIZE];
        const unsigned file = (unsigned)(2 * oracle->count / count);
        oracle_node(oracle, subject, file);
        snprintf(predicate, sizeof predicate, "<urn:p:%u>", oracle_random(oracle, 4));
        if (oracle_random(oracle, 4) == 0) {
            snprintf(object, sizeof object, "\"text\\n%u\"@en", oracle_random(oracle, 9));
        } else {
            oracle_node(oracle, object, file);
        }
        struct oracle_triple *triple = oracle_add(oracle, subject, predicate, object, file);
        if (graphs && oracle_random(oracle, 3) != 0) {
            snprintf(triple->graph, sizeof triple->graph, "http://a.example/%u#graph",
                     oracle_random(oracle, 9));
        }
    }
    for (unsigned i = 0; i < reifications; i++) {
        oracle_reify(oracle, i);
    }
}

/* Writes the term as a dump would have it: labels without the name of their file. */
static inline void
oracle_write_token(FILE *out, const char *token)
{
    if (token[0] == '_') {
        fprintf(out, "_:%s ", strchr(token, 'x') + 1);
    } else {
        fprintf(out, "%s ", token);
    }
}

static inline void
oracle_write(const struct oracle *oracle, unsigned file, FILE *out)
{
    for (size_t i = 0; i < oracle->count; i++) {
        const struct oracle_triple *triple = &oracle->triples[i];
        if (triple->file != file) {
            continue;
        }
        oracle_write_token(out, triple->subject);
        oracle_write_token(out, triple->predicate);
        oracle_write_token(out, triple->object);
        if (triple->graph[0] != '\0') {
            fprintf(out, "<%s> ", triple->graph);
        }
        fprintf(out, ".\n");
    }
}

/* ---- definitions ---- */

struct oracle_marks {
    bool in[ORACLE_TRIPLES], forward[ORACLE_TRIPLES], backward[ORACLE_TRIPLES];
};

/* Returns whether a triple of those taken in one direction leads to the node. */
static inline bool
oracle_leads(const struct oracle *oracle, const bool *marks, const char *node, bool backward)
{
    for (size_t i = 0; i < oracle->count && node[0] == '_'; i++) {
        const struct oracle_triple *triple = &oracle->triples[i];
        if (marks[i] && strcmp(backward ? triple->subject : triple->object, node) == 0) {
            return true;
        }
    }
    return false;
}

static inline const char *
oracle_value(const struct oracle *oracle, const char *node, const char *predicate)
{
    for (size_t i = 0; i < oracle->count; i++) {
        if (strcmp(oracle->triples[i].subject, node) == 0 &&
            strcmp(oracle->triples[i].predicate, predicate) == 0) {
            return oracle->triples[i].object;
        }
    }
    return "";
}

/* Returns whether the node states a triple of the description. */
static inline bool
oracle_states(const struct oracle *oracle, const struct oracle_marks *marks, const char *node)
{
    const char *subject = oracle_value(oracle, node, "<" RDF_NAMESPACE "subject>");
    const char *predicate = oracle_value(oracle, node, "<" RDF_NAMESPACE "predicate>");
    const char *object = oracle_value(oracle, node, "<" RDF_NAMESPACE "object>");
    for (size_t i = 0; i < oracle->count && node[0] == '_'; i++) {
        const struct oracle_triple *triple = &oracle->triples[i];
        if (marks->in[i] && strcmp(triple->subject, subject) == 0 &&
            strcmp(triple->predicate, predicate) == 0 && strcmp(triple->object, object) == 0) {
            return true;
        }
    }
    return false;
}

static inline bool
oracle_share_node(const struct oracle_triple *a, const struct oracle_triple *b)
{
    const char *of_a[2] = {a->subject, a->object}, *of_b[2] = {b->subject, b->object};
    for (size_t i = 0; i < 4; i++) {
        if (of_a[i / 2][0] == '_' && strcmp(of_a[i / 2], of_b[i % 2]) == 0) {
            return true;
        }
    }
    return false;
}

static inline void
oracle_close(const struct oracle *oracle, const char *resource, bool symmetric,
             struct oracle_marks *marks)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < oracle->count; i++) {
            const struct oracle_triple *triple = &oracle->triples[i];
            if (triple->graph[0] != '\0') {
                continue;
            }
            if (!marks->forward[i] &&
                (strcmp(triple->subject, resource) == 0 ||
                 oracle_leads(oracle, marks->forward, triple->subject, false) ||
                 oracle_states(oracle, marks, triple->subject))) {
                marks->forward[i] = marks->in[i] = more = true;
            }
            if (symmetric && !marks->backward[i] &&
                (strcmp(triple->object, resource) == 0 ||
                 oracle_leads(oracle, marks->backward, triple->object, true))) {
                marks->backward[i] = marks->in[i] = more = true;
            }
        }
        /* Finds what a description goes on from: nodes of reifications, too. */
        for (size_t i = 0; i < oracle->count; i++) {
            const struct oracle_triple *triple = &oracle->triples[i];
            if (!marks->forward[i] && triple->graph[0] == '\0' &&
                oracle_states(oracle, marks, triple->subject)) {
                marks->forward[i] = marks->in[i] = more = true;
            }
        }
    }
}

static inline void
oracle_describe(const struct oracle *oracle, const char *resource, enum slicing slicing,
                struct oracle_marks *marks)
{
    memset(marks, 0, sizeof *marks);
    if (slicing == SLICING_CBD || slicing == SLICING_SCBD) {
        oracle_close(oracle, resource, slicing == SLICING_SCBD, marks);
        return;
    }
    for (size_t i = 0; i < oracle->count; i++) {
        const struct oracle_triple *triple = &oracle->triples[i];
        marks->in[i] = triple->graph[0] == '\0' &&
                       (strcmp(triple->subject, resource) == 0 ||
                        (slicing != SLICING_SUBJECT && strcmp(triple->object, resource) == 0));
    }
    for (bool more = slicing == SLICING_MSG; more;) {
        more = false;
        for (size_t i = 0; i < oracle->count * oracle->count; i++) {
            const size_t from = i / oracle->count, to = i % oracle->count;
            if (marks->in[from] && !marks->in[to] && oracle->triples[to].graph[0] == '\0' &&
                oracle_share_node(&oracle->triples[from], &oracle->triples[to])) {
                marks->in[to] = more = true;
            }
        }
    }
}

/* Calls out "document\tline" for all descriptions; duplicates among them. */
typedef void oracle_pair(void *context, const char *pair);

static inline void
oracle_pair_of(const struct oracle_triple *triple, struct slice document, oracle_pair *pair,
               void *context)
{
    char text[8 * TOKEN_SIZE];
    snprintf(text, sizeof text, "%.*s\t%s %s %s .\n", SLICE_PRINT(document), triple->subject,
             triple->predicate, triple->object);
    pair(context, text);
}

static inline void
oracle_slice(const struct oracle *oracle, const struct slice_space *spaces, size_t space_count,
             oracle_pair *pair, void *context)
{
    struct oracle_marks *marks = malloc(sizeof *marks);
    for (size_t i = 0; i < 2 * oracle->count; i++) {
        const struct oracle_triple *triple = &oracle->triples[i / 2];
        const char *token = i % 2 ? triple->object : triple->subject;
        const struct slice iri =
            token[0] == '<' ? slice_of(token + 1, strlen(token) - 2) : (struct slice){0};
        const struct slice_space *space = slice_space_of(spaces, space_count, iri);
        bool before = false;
        for (size_t k = 0; k < i && !before; k++) {
            before = strcmp(token, k % 2 ? oracle->triples[k / 2].object
                                         : oracle->triples[k / 2].subject) == 0;
        }
        if (iri.length == 0 || space == NULL || before) {
            continue;
        }
        struct buf document;
        buf_init(&document, 1 << 12);
        slice_document(space, slice_key(iri), &document);
        oracle_describe(oracle, token, space->slicing, marks);
        for (size_t k = 0; k < oracle->count; k++) {
            if (marks->in[k]) {
                oracle_pair_of(&oracle->triples[k], buf_slice(&document), pair, context);
            }
        }
        buf_release(&document);
    }
    for (size_t i = 0; i < oracle->count; i++) {
        if (oracle->triples[i].graph[0] != '\0') {
            oracle_pair_of(&oracle->triples[i], slice_key(slice_string(oracle->triples[i].graph)),
                           pair, context);
        }
    }
    free(marks);
}

#endif
