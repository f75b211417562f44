/* A copy of data directories, whole and as of one moment: of one directory, or of ROOT and all
 * shares of a cluster. docs/BACKUP.md has its files. */
#ifndef CLI_BACKUP_DIRECTORY_BACKUP_H
#define CLI_BACKUP_DIRECTORY_BACKUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { BACKUP_PATH_SIZE = 4096 };

/* The first line of MANIFEST: this, a tab, how many partitions of the index there are. */
#define BACKUP_WHOLE_HEAD "quadrille backup 2"
/* The file that lists ROOT's own files begins with this word, a tab, and their number; the files
 * are in the folder BACKUP_OF_ROOT beside the shares. */
#define BACKUP_CLUSTER_HEAD "quadrille cluster backup 1"
#define BACKUP_OF_ROOT "root"

struct backup_place {
    char from[BACKUP_PATH_SIZE];    /* the data directory, or ROOT */
    char name[32];                  /* of its folder in the backup; empty: the backup itself */
    char earlier[BACKUP_PATH_SIZE]; /* the same in an earlier backup; empty: none */
    int rest;                       /* the lock; -1: it is not at rest */
};
struct backup_copied {
    uint64_t files, bytes, shared; /* of the bytes: in files that are the earlier backup's, too */
    uint64_t rest_ms;              /* how long nothing ran */
};

/* Copies the places into `target`, which is there and empty: first the archive while all goes on,
 * then all places, at rest together, what has changed since; then they go on, and everything is
 * synced and gets its MANIFEST. shares: of the cluster, whose ROOT is one of the places; else 0. */
enum status directory_backup(struct backup_place *places, size_t count, size_t shares,
                             const char *target, struct backup_copied *copied, struct reason *why);

#endif
