/* One dataset, as dumps, into the documents that describe its resources.
 *
 * Triples go in in any order; documents come out, each whole and once, with its lines sorted. What
 * does not fit into memory lies in nameless temporary files, written and read once (twice for
 * triples with blank nodes): time is linear in size, memory and disk are bounded.
 *
 *   take     each triple to the keys it belongs to (dumps/slicing.h), by a hash of the key over
 *            256 files; those with blank nodes aside if their slicing follows blank nodes
 *   group    blank nodes into components (dumps/components.h), each component's descriptions
 *            (dumps/closure.h) to their keys; then file by file: keys brought together, lines
 *            sorted and duplicates dropped
 *
 * A statement of a quads dump that has a graph belongs to the document that the graph names; then
 * nothing is sliced (Semantic Sitemaps, section 4.2).
 *
 * Triples may be taken by several threads, each with a taker of its own. All else is not
 * thread-safe; slicer_group uses threads of its own.
 */
#ifndef DUMPS_SLICER_H
#define DUMPS_SLICER_H

#include "dumps/slicing.h"
#include "rdf/core/term.h"

struct slicer_options {
    const char *folder;     /* for temporary files */
    uint64_t memory, disk;  /* bytes, about */
    uint64_t document_most; /* bytes of one document's lines; what is more is cut */
    uint64_t closure_most;  /* bytes that the descriptions of one component may take */
    const struct slice_space *spaces;
    size_t count; /* 0: nothing but statements with graphs is taken */
    bool graphs;  /* statements with a graph are of the document that it names */
    unsigned threads;
};
void slicer_options_default(struct slicer_options *options, const char *folder);

struct slicer_counts {
    uint64_t triples, outside; /* taken; of no resource in any space */
    uint64_t documents, lines; /* given out */
    uint64_t cut;              /* documents and components over a limit */
    uint64_t disk;             /* most that temporary files took */
};

struct slicer;
/* Spaces are copied. */
struct slicer *slicer_new(const struct slicer_options *options);
void slicer_free(struct slicer *slicer);

/* Blank node labels of one dump file have nothing to do with those of the next. Not while several
 * threads take. */
void slicer_next_file(struct slicer *slicer);
/* A quad sink's function. LIMIT when the disk's share is used up. */
enum status slicer_take(void *slicer, const struct quad *quad, struct reason *why);

/* Threads have takers of their own: free each before slicer_group. */
struct slicer_taker;
struct slicer_taker *slicer_taker_new(struct slicer *slicer);
/* Hands on what it holds; not if why is NULL. */
enum status slicer_taker_free(struct slicer_taker *taker, struct reason *why);
enum status slicer_taker_take(void *taker, const struct quad *quad, struct reason *why);

struct sliced_document {
    struct slice uri;        /* of the document */
    struct slice lines;      /* canonical N-Triples, sorted by bytes, each once */
    const uint32_t *lengths; /* of lines, each with its end */
    uint64_t count;
    bool cut;
};
/* thread: 0 .. threads-1, the caller's own memory for each. Slices live until it returns; a status
 * other than OK ends the grouping. */
typedef enum status slicer_visit(void *context, unsigned thread,
                                 const struct sliced_document *document, struct reason *why);
/* Once, after all triples. Documents of one thread come in no particular order, but whose order is
 * the same for the same triples and one thread. */
enum status slicer_group(struct slicer *slicer, slicer_visit *visit, void *context,
                         struct reason *why);
void slicer_counted(const struct slicer *slicer, struct slicer_counts *counts);

#endif
