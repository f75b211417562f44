/* What taking (slicer.c) and grouping (slicer_group.c) share. */
#ifndef DUMPS_SLICER_PRIVATE_H
#define DUMPS_SLICER_PRIVATE_H

#include <stdatomic.h>

#include "dumps/closure.h"
#include "dumps/components.h"
#include "dumps/slicer.h"
#include "dumps/spool.h"

struct slicer {
    struct slicer_options options;
    struct slice_space *spaces;
    bool closures; /* some space's slicing follows blank nodes */
    struct spool_room room;
    struct spool *keys;  /* by hash of the key: a sliced line (below) */
    struct spool *blank; /* part 0: u64 component, line */
    struct components *components;
    struct buf line, record;
    struct buf label;
    unsigned file;
    uint64_t triples, outside;
    _Atomic uint64_t documents, lines, cut;
};

/* A line and what it is of. As a record: v length of the key * 4 + where the key is (enum
 * key_place), then what that needs, then the line. */
enum key_place {
    KEY_IN_SUBJECT,  /* the line has it from its second byte on */
    KEY_IN_LINE,     /* v offset in the line */
    KEY_BEFORE_LINE, /* u64 hash of the condition's line, 0: none; the key */
    KEY_IS_DOCUMENT  /* the key: a document by itself (of a quads dump) */
};
struct sliced_line {
    enum key_place place;
    uint64_t hash, condition;
    struct slice key, line;
};
uint64_t sliced_hash(struct slice bytes);
enum status sliced_line_add(struct spool *keys, struct buf *record, const struct sliced_line *line,
                            struct reason *why);
bool sliced_line_read(struct slice record, struct sliced_line *line);

#endif
