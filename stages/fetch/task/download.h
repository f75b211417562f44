/* A dump that is being fetched: its bytes on the disk, and what became of its answer. The bytes are
 * in DIR/dumps/NAME.part (which name: datasets/execution.h) until the dump is whole; NAME.head
 * holds the validator of what is there.
 *
 * When the machine has been started since, only as much counts as was synced: behind that a file
 * may have its size and other bytes. NAME.head is one sector, so that it is on the disk as it was
 * before or as it is: the bytes of NAME.part that are safe, the boot in which the others were
 * written, the validator. It is safe before the bytes that it speaks of are written over, and says
 * nothing of bytes before they are safe. Not thread-safe; errors are in errno. */
#ifndef STAGES_FETCH_TASK_DOWNLOAD_H
#define STAGES_FETCH_TASK_DOWNLOAD_H

#include "stages/fetch/http/fetch_http.h"

enum {
    DOWNLOAD_PATH = 4096,
    DOWNLOAD_HEAD = 512,
    DOWNLOAD_NUMBER = 20,
    DOWNLOAD_BOOT = 36, /* a UUID */
    DOWNLOAD_VALIDATOR = DOWNLOAD_HEAD - DOWNLOAD_NUMBER - DOWNLOAD_BOOT - 2
};

struct task;

struct download {
    struct task *task;
    struct fetch_sink sink;
    int file;                  /* -1: not open */
    uint64_t at_hand, written; /* bytes there before; that came now */
    uint64_t safe;             /* bytes that a power failure leaves */
    bool keeps;                /* the answer's body is the dump, or its rest */
    char path[DOWNLOAD_PATH], part[DOWNLOAD_PATH + 8], head[DOWNLOAD_PATH + 8];
    char validator[DOWNLOAD_VALIDATOR + 1];
    char problem[REASON_SIZE]; /* of the disk, or of the answer; "": none */
    bool refused, strange;     /* the answer's fault: it is too much, it is another part */
};

/* Opens the file at its paths, to go on where it ends; so it does with a whole dump that nobody
 * knew to be one. */
bool download_open(struct download *download);
/* Begins the file anew, with the version that the answer's header tells. */
bool download_begin_anew(struct download *download, struct slice header);
/* Makes safe what is written so far. */
bool download_sync(struct download *download);
/* Removes the file and its head. */
void download_discard(const struct download *download);
/* Closes the file; NULL is allowed. */
void download_free(struct download *download);

#endif
