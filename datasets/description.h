/* Descriptions that publishers give of their datasets, whatever vocabulary they use: Semantic
 * Sitemaps (semantic_sitemap.h), VoID, DCAT and schema.org. docs/DATASETS.md says what is believed
 * of it. Everything lives in the arena that a reader is given. / */
#ifndef DATASETS_DESCRIPTION_H
#define DATASETS_DESCRIPTION_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "dumps/slicing.h"

enum access_kind {
    ACCESS_LINKED_DATA,   /* uri: a prefix of resources that resolve one by one */
    ACCESS_DUMP,          /* a file of the whole or a part of it */
    ACCESS_FRAGMENT_DUMP, /* a dump in which each member or graph is a document */
    ACCESS_SPARQL,        /* an endpoint */
    ACCESS_SAMPLE,        /* a resource worth beginning with */
    ACCESS_KIND_COUNT
};
const char *access_kind_name(enum access_kind kind); /* "linked data", "dump", ... */

/* The facts that asking for a dump or an endpoint has shown. */
struct access_facts {
    bool asked, answered; /* answered: as what it says it is */
    struct slice problem; /* why it was not, or robots.txt forbids it */
    uint64_t bytes;       /* of a dump as transferred; 0: unknown */
    uint64_t modified_ms; /* of a dump; 0: unknown */
    uint64_t count; /* linked data: documents that sitemaps list; endpoint: triples; 0: unknown */
};

struct dataset_access {
    enum access_kind kind;
    struct slice uri;     /* absolute */
    enum slicing slicing; /* NONE: not said */
    unsigned line;        /* of the description; 0: unknown */
    struct slice refused; /* why it is not believed; empty: it is */
    struct access_facts facts;
};

enum description_vocabulary {
    DESCRIPTION_SITEMAP,
    DESCRIPTION_VOID,
    DESCRIPTION_DCAT,
    DESCRIPTION_SCHEMA
};

struct dataset {
    enum description_vocabulary vocabulary;
    struct slice uri, label;
    struct slice graph; /* within the endpoint; empty: its default graph, "*": all of them */
    struct slice change_frequency;
    uint64_t modified_ms;        /* wall time; 0: not said */
    uint64_t triples, documents; /* 0: not said */
    unsigned line;
    struct dataset_access *accesses;
    size_t access_count;
};

/* The kinds of findings that a publisher should look at. */
enum note_kind {
    NOTE_QUIRK, /* understood all the same */
    NOTE_ERROR  /* left out */
};
struct description_note {
    enum note_kind kind;
    unsigned line;
    struct slice text;
};

/* A description in one file. */
struct description {
    struct slice uri;   /* of the file */
    struct slice space; /* URIs that begin so are its author's: docs/DATASETS.md, rule 1 */
    struct slice authority;
    struct slice *sub_sitemaps, *parent_sitemaps;
    size_t sub_count, parent_count;
    struct dataset *datasets;
    size_t dataset_count;
    struct description_note *notes;
    size_t note_count;
    bool limited, incomplete; /* more than is read of one file; cut off or damaged */
    bool rdf;                 /* no sitemap: its place takes nothing from others */
};

enum {
    DESCRIPTION_DATASETS = 10000,
    DESCRIPTION_ACCESSES = 100000, /* of all datasets of a file */
    DESCRIPTION_SITEMAPS = 50000,
    DESCRIPTION_NOTES = 1000,
    DESCRIPTION_TEXT = 16 << 10 /* bytes of one value */
};

/* The folder of a URI: all up to the last "/" of its path. Points into uri. */
struct slice description_folder(struct slice uri);

/* ---- for readers: items grow by doubling inside the arena ---- */

struct dataset *description_add_dataset(struct description *description, struct arena *arena);
struct dataset_access *dataset_add_access(struct dataset *dataset, struct arena *arena);
struct slice *description_add_sitemap(struct slice **sitemaps, size_t *count, struct arena *arena);
/* NULL from any of these: past the limit or the arena's maximum. */
void description_note(struct description *description, struct arena *arena, enum note_kind kind,
                      unsigned line, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
