/* Declarations that the files of the JSON-LD processor share. Private to this folder.
 *
 *   jsonld.c           entry points
 *   jsonld_load.c      documents and contexts that are named
 *   jsonld_contexts.c  the cache between documents, term tables
 *   jsonld_context.c   context processing          (API section 4.1)
 *   jsonld_term.c      create term definition      (4.2)
 *   jsonld_iri.c       IRI expansion               (5.2)
 *   jsonld_expand.c    expansion                   (5.1)
 *   jsonld_keywords.c  expanded objects, values of keywords
 *   jsonld_maps.c      language, index, id, type and graph containers
 *   jsonld_values.c    value expansion, checks of finished objects (5.3)
 *   jsonld_rdf.c       expanded form to quads      (8)
 *   jsonld_words.c     keywords, IRIs, references
 *   jsonld_limits.c    limits, errors
 *
 * Contexts are immutable once made. Each has its terms in a chain of tables: what a context adds
 * lies in a table of its own before the ones of the context it was made from. Results of context
 * processing are kept by (active context, local context), so equal contexts in many nodes cost
 * one processing.
 *
 * Expanded objects are JSON objects whose members bear the keyword's number as tag; values of
 * properties are arrays. A null is a NULL pointer, but for the values of @value and @id.
 * Memory: the document's tree and contexts are in one arena, the expanded form in another that
 * is emptied behind each top-level value.
 */
#ifndef RDF_JSONLD_JSONLD_PROCESSOR_H
#define RDF_JSONLD_JSONLD_PROCESSOR_H

#include "rdf/core/problem.h"
#include "rdf/core/scratch.h"
#include "rdf/json/json.h"
#include "rdf/jsonld/jsonld.h"

#define KEYWORD_MAP(X)         \
    X(BASE, "@base")           \
    X(CONTAINER, "@container") \
    X(CONTEXT, "@context")     \
    X(DIRECTION, "@direction") \
    X(GRAPH, "@graph")         \
    X(ID, "@id")               \
    X(IMPORT, "@import")       \
    X(INCLUDED, "@included")   \
    X(INDEX, "@index")         \
    X(JSON, "@json")           \
    X(LANGUAGE, "@language")   \
    X(LIST, "@list")           \
    X(NEST, "@nest")           \
    X(NONE, "@none")           \
    X(PREFIX, "@prefix")       \
    X(PROPAGATE, "@propagate") \
    X(PROTECTED, "@protected") \
    X(REVERSE, "@reverse")     \
    X(SET, "@set")             \
    X(TYPE, "@type")           \
    X(VALUE, "@value")         \
    X(VERSION, "@version")     \
    X(VOCAB, "@vocab")

enum keyword {
    KEYWORD_NOT = 0,
#define X(name, text) KEYWORD_##name,
    KEYWORD_MAP(X)
#undef X
        KEYWORD_COUNT
};

/* Containers as bits. */
enum {
    CONTAINER_GRAPH = 1,
    CONTAINER_ID = 2,
    CONTAINER_INDEX = 4,
    CONTAINER_LANGUAGE = 8,
    CONTAINER_LIST = 16,
    CONTAINER_SET = 32,
    CONTAINER_TYPE = 64
};

/* A mapping that may be absent, null or set. */
enum mapping { MAPPING_ABSENT, MAPPING_NULL, MAPPING_SET };

struct jsonld_term {
    struct slice name;
    struct slice iri;   /* at NULL: mapped to null */
    struct slice type;  /* type mapping; empty: none */
    struct slice index; /* property that a key of an index container becomes; empty: @index */
    struct slice nest;
    struct slice language;
    struct slice direction;
    const struct json *context; /* NULL: none */
    struct slice context_base;
    uint64_t hash;
    uint8_t keyword, type_keyword; /* enum keyword of iri and type */
    uint8_t containers;
    uint8_t has_language, has_direction; /* enum mapping */
    bool prefix, is_protected, reverse;
    bool removed; /* hides a definition of a table behind */
};

struct term_table {
    const struct term_table *behind;
    struct jsonld_term **slots;
    uint32_t mask, count, depth;
    bool type_alias;   /* some term in it or behind may stand for @type */
    bool is_protected; /* some term in it or behind may be protected */
};

struct jsonld_context {
    struct term_table *terms;
    struct slice base;      /* at NULL: none */
    struct slice vocab;     /* at NULL: none */
    struct slice language;  /* at NULL: none */
    struct slice direction; /* at NULL: none */
    const struct jsonld_context *previous;
};

/* The remote contexts that led to the present one. */
struct remote_chain {
    struct slice url;
    const struct remote_chain *before;
    uint32_t length;
};

struct jsonld_load {
    struct slice url, document_uri;
    struct json *tree; /* the value of its @context */
    struct jsonld_load *next;
    struct jsonld_context *processed; /* shared cache: from an empty context; NULL: not done */
    bool fixed, uses_base, busy;
};

struct processed_context;

struct jsonld {
    const struct jsonld_options *options;
    const struct quad_sink *sink;
    struct reason *why;
    struct problems problems;
    uint32_t mute;          /* > 0: errors are not reported but handed up */
    struct arena memory;    /* tree, contexts */
    struct arena expanded;  /* expanded form of one top-level value */
    struct arena *strings;  /* where IRIs go that are made now: one of the two, or the cache's */
    struct json_pool tree;  /* in memory */
    struct json_pool nodes; /* in expanded */
    struct buf work;        /* for resolution */
    struct slice base;      /* the document's */
    struct jsonld_contexts *contexts;
    struct jsonld_load *loads; /* of this document */
    uint32_t load_count;
    struct processed_context **processed; /* hash table */
    uint64_t steps, step_limit;
    size_t memory_limit;
    uint32_t depth, depth_limit;
    bool used_base, used_loose; /* context processing: base IRI, a context that is not fixed */
    bool asks;                  /* a context is not at hand: the others are being asked for */
    uint64_t made;              /* blank node labels */
    const struct json *document;
};

/* ---- jsonld_limits.c ---- */

/* BAD_INPUT with "line L: code: detail". Reports it as a problem in lenient parsing. */
enum status jsonld_error(struct jsonld *jsonld, uint32_t line, const char *code,
                         struct slice detail);
/* Ends, in lenient parsing, a BAD_INPUT that has been reported. */
static inline enum status
jsonld_recover(const struct jsonld *jsonld, enum status status)
{
    return status == STATUS_BAD_INPUT && jsonld->problems.lenient && jsonld->mute == 0 ? STATUS_OK
                                                                                       : status;
}
/* Counts work and looks at memory: LIMIT. */
enum status jsonld_step(struct jsonld *jsonld);
struct slice jsonld_join(struct jsonld *jsonld, struct slice a, struct slice b);

/* ---- jsonld_load.c ---- */

/* Reads a text, which must outlive the tree; in lenient parsing once more with repairs, which are
 * added to the counts unless they are NULL. */
enum status jsonld_read_json(struct jsonld *jsonld, struct slice bytes, uint32_t line,
                             struct json_pool *pool, uint64_t *repairs, struct json **tree);
/* The context document at url; its @context is in (*load)->tree. */
enum status jsonld_load_context(struct jsonld *jsonld, struct slice url, uint32_t line,
                                struct jsonld_load **load);

/* ---- jsonld_contexts.c ---- */

struct jsonld_contexts {
    struct arena arena;
    struct json_pool pool;
    struct jsonld_load *loads;
};
const struct jsonld_term *jsonld_find_term(const struct jsonld_context *context, struct slice name);
/* Adds or replaces in the context's own table. */
void jsonld_put_term(struct arena *arena, struct term_table *table, struct jsonld_term *term);
/* A table of its own before the one given; joins long chains. */
struct term_table *jsonld_new_table(struct jsonld *jsonld, struct arena *arena,
                                    const struct term_table *behind);
bool jsonld_has_protected(const struct jsonld_context *context);

/* ---- jsonld_context.c ---- */

struct context_flags {
    bool override_protected;
    bool no_propagation;
};
/* The context that `local` makes of `active`. */
enum status jsonld_process(struct jsonld *jsonld, const struct jsonld_context *active,
                           const struct json *local, struct slice base_url,
                           struct context_flags flags, const struct jsonld_context **result);

/* A context definition that is being taken in. */
struct context_build {
    struct jsonld_context *context; /* to be changed */
    struct arena *arena;
    bool owns_table; /* context->terms may be changed */
    const struct json *local;
    uint8_t *states; /* of local's members: enum define_state */
    struct slice base_url;
    const struct remote_chain *remotes;
    bool is_protected, override_protected, propagate;
    bool skips_known; /* "validate scoped context" is false: contexts in `remotes` are skipped */
};
enum define_state { DEFINE_NOT, DEFINE_BUSY, DEFINE_DONE };

/* Processes local into build->context; build->local and ->states are used for it. */
enum status jsonld_build(struct jsonld *jsonld, struct context_build *build,
                         const struct json *local);

/* ---- jsonld_term.c ---- */

enum status jsonld_define(struct jsonld *jsonld, struct context_build *build,
                          const struct json *entry);

/* ---- jsonld_words.c ---- */

enum keyword jsonld_keyword(struct slice text);
struct slice jsonld_keyword_text(enum keyword keyword);
bool jsonld_like_keyword(struct slice text); /* "@" and letters */
bool jsonld_is_iri(struct slice text);       /* absolute, without white space */
bool jsonld_is_blank(struct slice text);     /* "_:" */
/* Resolves against base; as it is where that cannot be done. */
struct slice jsonld_resolve(struct jsonld *jsonld, struct slice base, struct slice reference);

/* ---- jsonld_iri.c ---- */

enum { IRI_DOCUMENT = 1 /* relative to the base */, IRI_VOCAB = 2 };

/* *iri at NULL: null. build: when a context is being taken in, else NULL. */
enum status jsonld_iri(struct jsonld *jsonld, const struct jsonld_context *active,
                       struct context_build *build, struct slice value, unsigned flags,
                       struct slice *iri);
/* ---- expansion ---- */

/* The property whose values are expanded. */
struct property {
    struct slice name; /* as in the document; at NULL: none */
    bool top;          /* none, or @graph */
    bool reverse;      /* @reverse */
};
struct expansion {
    const struct jsonld_context *active, *type_scoped;
    struct property property;
    struct json *result; /* object */
    bool json_type;      /* the object is a value of type @json */
    bool lost;           /* lenient: a value whose @value is none */
};

enum status jsonld_expand_value(struct jsonld *jsonld, const struct jsonld_context *active,
                                struct property property, const struct json *element, bool from_map,
                                struct json **expanded);
/* A new object. */
struct json *jsonld_object(struct jsonld *jsonld, uint32_t line);
void jsonld_set(struct jsonld *jsonld, struct json *object, enum keyword keyword,
                struct json *value);
struct json *jsonld_entry(const struct json *object, enum keyword keyword);
/* Appends the value, or the items of an array, to the array under key, which is made. */
void jsonld_add_values(struct jsonld *jsonld, struct json *object, struct slice key,
                       enum keyword keyword, struct json *value);
/* The value in an array, unless it is one; an empty one for NULL. */
struct json *jsonld_as_array(struct jsonld *jsonld, struct json *value, uint32_t line);
/* A copy that can be put into another parent. */
struct json *jsonld_copy(struct jsonld *jsonld, const struct json *node);
struct json *jsonld_text(struct jsonld *jsonld, struct slice text, uint32_t line);

/* jsonld_keywords.c */
enum status jsonld_expand_keyword(struct jsonld *jsonld, struct expansion *expansion,
                                  enum keyword keyword, const struct json *entry);
/* Adds the values to the object's @reverse map. */
enum status jsonld_add_reverse(struct jsonld *jsonld, struct json *object, struct slice key,
                               struct json *values);

/* jsonld_values.c */
enum status jsonld_expand_scalar(struct jsonld *jsonld, const struct jsonld_context *active,
                                 struct slice property, const struct json *value,
                                 struct json **expanded);
/* The last steps of expansion: *object may become NULL or an array. */
enum status jsonld_finish(struct jsonld *jsonld, struct property property, struct json **object);

/* jsonld_maps.c: values of container maps; *done false: the value is no map for the container. */
enum status jsonld_expand_map(struct jsonld *jsonld, const struct jsonld_context *active,
                              const struct jsonld_term *term, const struct json *entry,
                              struct json **expanded, bool *done);

/* ---- jsonld_rdf.c ---- */

/* Quads of one expanded top-level value (object or array). */
enum status jsonld_emit(struct jsonld *jsonld, const struct json *expanded);

/* ---- jsonld.c ---- */

/* Takes the nodes of the expanded document one after the other; a node lives until it is taken. */
typedef enum status jsonld_take_function(struct jsonld *jsonld, void *context,
                                         struct json *expanded);
enum status jsonld_take(struct slice bytes, const struct jsonld_options *options,
                        const struct quad_sink *sink, jsonld_take_function *take, void *context,
                        struct reason *why);

#endif
