/* A slicer: where what was taken lies until it is grouped. slicer.c has its life; takers
 * (slicer_taker.c) fill keys and blank, slicer_closures.c makes keys of blank, and slicer_group.c
 * reads keys. */
#ifndef DUMPS_SLICER_STATE_H
#define DUMPS_SLICER_STATE_H

#include <stdatomic.h>

#include "dumps/components.h"
#include "dumps/dictionary.h"
#include "dumps/gather.h"
#include "dumps/slicer.h"

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

/* Brings descriptions that follow blank nodes to their documents. */
enum status slicer_close(struct slicer *slicer, struct reason *why);

#endif
