/* Declarations that taking (slicer.c) and grouping (slicer_group.c, slicer_closures.c) share. */
#ifndef DUMPS_SLICER_PRIVATE_H
#define DUMPS_SLICER_PRIVATE_H

#include <stdatomic.h>

#include "dumps/closure.h"
#include "dumps/components.h"
#include "dumps/dictionary.h"
#include "dumps/gather.h"
#include "dumps/slicer.h"

/* Documents that are a term of the triple, without its fragment, are not written. A record: u64
 * hash of the document, place, then for DOCUMENT_WRITTEN u64 hash of the condition's line (0:
 * none), length and name of the document, then a run of triples: their subject, then predicate and
 * object of each, packed. */
enum document_place { DOCUMENT_OF_SUBJECT, DOCUMENT_OF_OBJECT, DOCUMENT_WRITTEN };

/* A record that triples may still be added to. */
struct slicer_run {
    struct buf record;    /* empty: there is none */
    size_t head, subject; /* lengths of what comes before the subject; of the subject */
    bool of_last;         /* it is the last subject's, by its document */
};

struct slicer_taker {
    struct slicer *slicer;
    struct spool_writer *keys, *blank;
    struct buf subject, rest; /* of the triple, packed; subject is kept for the next */
    struct buf last;          /* subject of the last triple, as it was given */
    enum term_kind last_kind;
    unsigned last_file;
    uint64_t last_node; /* hash of the subject if it is blank */
    const struct slice_space *last_space;
    struct buf label, document, head;
    struct slicer_run run;
    uint64_t triples, outside;
};

struct slicer {
    struct slicer_options options;
    struct slice_space *spaces;
    bool closures; /* some space's slicing follows blank nodes */
    struct spool_room room;
    struct dictionary *dictionary;
    struct spool *keys;  /* by hash of the document: sliced lines (below) */
    struct spool *blank; /* part 0: u64 component, packed triple */
    struct components *components;
    struct slicer_taker *taker; /* of slicer_take, and of closures */
    unsigned file;
    _Atomic uint64_t triples, outside, documents, lines, cut;
};

/* Never 0. */
uint64_t sliced_hash(struct slice bytes);
/* Puts the triple in taker->subject and rest to this document. */
enum status slicer_put(struct slicer_taker *taker, enum document_place place, struct slice document,
                       uint64_t condition, struct reason *why);
/* Descriptions that follow blank nodes, to their documents. */
enum status slicer_close(struct slicer *slicer, struct reason *why);

#endif
