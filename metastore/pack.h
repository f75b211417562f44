/* Records as they are stored: packed against records that were written before (FORMAT.md,
 * "Values").
 *
 * Most of a page's record is said of every page: the headers that are sent with each request, the
 * names of fields and servers, of files and transforms. So records are compressed by LZ4 with a
 * dictionary, which is some 16 KiB of earlier records, and a page of headers becomes a fifth.
 * Dictionaries are learned from what is written and stored beside the records; a value names
 * its own. A new one is learned when records have become different enough from the latest.
 *
 * Not thread-safe.
 */
#ifndef METASTORE_PACK_H
#define METASTORE_PACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum {
    PACK_DICTIONARIES_MAXIMUM = 200,
    PACK_DICTIONARY_BYTES = 16 << 10,
    PACK_RECORD_MAXIMUM = 32 << 20
};

struct packer;

struct packer *packer_new(void);
void packer_free(struct packer *packer);

/* A dictionary, the next by number from 1; copied. What is packed from now on is packed with it.
 * False when there are too many, or it has no bytes. */
bool packer_add(struct packer *packer, struct slice dictionary);
size_t packer_count(const struct packer *packer);

/* Appends the stored value of a record. */
void packer_pack(struct packer *packer, struct slice record, struct buf *value);

/* The record in a stored value; in `memory` if it was packed. False: damaged, or packed with a
 * dictionary that is not there. */
bool packer_unpack(const struct packer *packer, struct slice value, struct buf *memory,
                   struct slice *record);

/* A dictionary that should be stored, then added; empty: none is wanted now. Lives until then. */
struct slice packer_learned(const struct packer *packer);

#endif
