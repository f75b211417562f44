/* A trace that was read: the operations in their order, and the files and folders that they
 * concern. disk_trace.c makes it, disk_sites.c adds the sites; the states of disk.c are made from
 * it. */
#ifndef TESTS_POWER_LOSS_DISK_TRACE_H
#define TESTS_POWER_LOSS_DISK_TRACE_H

#include "base/buf.h"
#include "base/slice.h"
#include "tests/power_loss/disk.h"
#include "tests/power_loss/trace.h"

#define NONE SIZE_MAX

struct entry {
    struct slice name;
    size_t node;
};

struct entries {
    struct entry *list;
    size_t count;
};

/* A file or folder; 0 is the whole. */
struct node {
    uint64_t inode;
    bool is_folder;
    struct entries entries; /* in the end */
};

struct operation {
    enum trace_kind kind;
    size_t node, folder, folder_before, site; /* NONE */
    struct slice name, name2, bytes;
    uint64_t offset;
};

struct site {
    char *name;
    size_t syncs;
};

struct disk_trace {
    struct buf bytes;
    struct operation *operations;
    size_t count;
    struct node *nodes;
    size_t node_count;
    struct site *sites;
    size_t site_count;
};

/* Returns whether the file is a tree of Berkeley DB. */
bool disk_is_database(struct slice name);
/* Gives the name to the node; NONE: takes the name away. */
void entries_set(struct entries *entries, struct slice name, size_t node);

#endif
