/* A request is what a transformer is asked, and a result what it answers: a document with its
 * limits, and its graph. */
#ifndef TRANSFORMS_CORE_TRANSFORM_REQUEST_H
#define TRANSFORMS_CORE_TRANSFORM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "transforms/xml/tidy.h"

struct transform_limits {
    size_t memory;           /* arena bytes of decoded text, and bytes of the graph */
    size_t output;           /* bytes of N-Quads */
    uint64_t canonical_work; /* 0: the default of rdf/canonical/canonical.h */
    uint64_t program_cpu_ms; /* processor time of each process of an external program */
    uint64_t program_ms;     /* how long a program may take by the clock */
    struct tidy_limits tidy;
    /* In the process that becomes an external program, before it does; false: it must not. Then all
     * children of this process are the program's, and end with it. NULL: there is no cage. */
    bool (*enter_cage)(void);
};

/* Another document that this one needs: a JSON-LD context, a GRDDL stylesheet. Transforms fetch
 * nothing; they ask, and are run again when it has been fetched. */
struct transform_resource {
    struct slice uri;          /* as it was asked for */
    struct slice document_uri; /* where redirects led */
    struct slice content_type; /* header's value */
    struct slice link_header;
    struct slice bytes;
    struct slice failure; /* not empty: it cannot be had, for this reason */
};
enum { TRANSFORM_RESOURCES = 64 /* of one document; more are not asked for */ };

struct transform_request {
    struct slice uri;         /* crawl key: absolute */
    struct slice type;        /* detected media type */
    struct slice charset;     /* of Content-Type; empty: none */
    struct slice link_header; /* values of Link headers joined by ", " */
    struct slice bytes;       /* content, Content-Encoding undone */
    const struct transform_resource *resources;
    size_t resource_count;
    bool can_wait; /* what is missing may be asked for; else doing without is a problem */
    bool explain;  /* fill result->explanation */
    bool careful;  /* a worker has died of the document: Tidy is not used again */
};

enum transform_state {
    TRANSFORM_WHOLE,  /* everything was read */
    TRANSFORM_PART,   /* malformed in places; the rest was read */
    TRANSFORM_BROKEN, /* malformed, and nothing could be read: the graph is empty */
    TRANSFORM_NONE,   /* the registry has no transform for it: the graph is empty */
    TRANSFORM_WAITING /* nothing was made: result->needs says what is to be fetched first */
};
const char *transform_state_name(enum transform_state state);

struct transform_result {
    enum transform_state state;
    uint64_t quads;
    uint64_t problem_count;
    bool canonical;      /* false: the canonicalisation limit was hit, labels are by appearance */
    struct buf graph;    /* canonical N-Quads, sorted */
    struct buf names;    /* "html/1 jsonld/2": what ran */
    struct buf problems; /* lines "html: line 3: text", the first ones */
    struct buf counts;   /* "html 12 jsonld 30": quads that each said, the same quad by each */
    struct buf
        repairs;       /* lines "jsonld: trailing comma: 3": bad input that was read all the same */
    struct buf advice; /* lines like problems: wrong, but read all the same; for publishers */
    struct buf needs;  /* WAITING: lines "URI" of resources */
    /* explain: lines "transform/version TAB line TAB quad", sorted by quad; a quad said twice is
     * there twice */
    struct buf explanation;
};
void transform_result_init(struct transform_result *result, size_t output);
void transform_result_release(struct transform_result *result);

#endif
