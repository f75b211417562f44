/* What taking (slicer.c) and grouping (slicer_group.c, slicer_closures.c) share. */
#ifndef DUMPS_SLICER_PRIVATE_H
#define DUMPS_SLICER_PRIVATE_H

#include <stdatomic.h>

#include "dumps/closure.h"
#include "dumps/components.h"
#include "dumps/dictionary.h"
#include "dumps/gather.h"
#include "dumps/slicer.h"

struct slicer_taker {
    struct slicer *slicer;
    struct spool_writer *keys, *blank;
    struct buf packed, label, document;
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

/* Documents that are a term of the triple, without its fragment, are not written. A record: u64
 * hash of the document, place, then for DOCUMENT_WRITTEN u64 hash of the condition's line (0:
 * none), length and name of the document, then the packed triple. */
enum document_place { DOCUMENT_OF_SUBJECT, DOCUMENT_OF_OBJECT, DOCUMENT_WRITTEN };

/* Never 0. */
uint64_t sliced_hash(struct slice bytes);
/* Puts taker->packed to this document. */
enum status slicer_put(struct slicer_taker *taker, enum document_place place, struct slice document,
                       uint64_t condition, struct reason *why);
/* Descriptions that follow blank nodes, to their documents. */
enum status slicer_close(struct slicer *slicer, struct reason *why);

#endif
