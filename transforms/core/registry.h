/* Tells which document is turned by which transforms: one text file, docs/REGISTRY.md has its
 * grammar. Several files may be read one after the other; a user's comes last and can add
 * transforms, add matches and switch transforms off.
 */
#ifndef TRANSFORMS_CORE_REGISTRY_H
#define TRANSFORMS_CORE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum {
    REGISTRY_TRANSFORMS = 256,
    REGISTRY_MATCHES = 1024,
    REGISTRY_CHAIN = 16, /* transforms of one document */
    REGISTRY_NAME = 64   /* bytes of a transform's name with NUL */
};

enum transform_kind { TRANSFORM_BUILTIN, TRANSFORM_RDF, TRANSFORM_XSLT, TRANSFORM_PROGRAM };

struct transform {
    char name[REGISTRY_NAME];
    enum transform_kind kind;
    char *argument; /* BUILTIN: extractor; RDF: syntax; XSLT: path; PROGRAM: command line */
    char *version;
    char *folder; /* of the registry that has it: examples/NAME in there is its example */
    bool off;
    bool tidy;      /* XSLT: pages are given to it as Tidy mends them */
    void *prepared; /* compiled stylesheet; transforms/transform.c's */
};

/* The properties of a document that the registry looks at. */
struct registry_subject {
    struct slice type; /* "text/html" */
    struct slice root; /* local name; empty when not XML */
    struct slice namespace;
    struct slice profile; /* IRIs separated by white space, of a page's head */
    struct slice header;  /* "link" when the answer had such a header */
};

struct registry;
struct registry *registry_new(void);
void registry_free(struct registry *registry);
/* Reads a file; relative paths of stylesheets are relative to it. MISUSE names file, line and
 * fault. */
enum status registry_read(struct registry *registry, const char *path, struct reason *why);
/* The file that comes with the program: beside the executable's ../share/quadrille, or in the
 * source tree it was built in. NOT_FOUND when neither is there. */
enum status registry_read_default(struct registry *registry, struct reason *why);

size_t registry_count(const struct registry *registry);
struct transform *registry_transform(struct registry *registry, size_t index);
struct transform *registry_find(struct registry *registry, struct slice name);

/* The transforms of a document, in the order of the file. Returns how many (at most
 * REGISTRY_CHAIN); chain may be NULL. Thread-safe. */
size_t registry_match(struct registry *registry, const struct registry_subject *subject,
                      struct transform *chain[REGISTRY_CHAIN]);
/* Returns whether any match has this condition, so that pages must be looked into for it. */
bool registry_wants_profile(const struct registry *registry);
/* A document of this type might be given to the transform, whatever else a match asks for. */
bool registry_may_match(const struct registry *registry, const struct transform *transform,
                        struct slice type);
/* Appends what the transform's matches say, "text/html, * root=rss", separated by ", ". */
void registry_matches_text(const struct registry *registry, const struct transform *transform,
                           struct buf *text);
/* "builtin", "rdf", "xslt", "program". */
const char *transform_kind_name(enum transform_kind kind);
/* Folder of the default registry, for its examples; NULL before registry_read_default. */
const char *registry_folder(const struct registry *registry);

#endif
