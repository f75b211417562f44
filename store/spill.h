/* Temporary files of one task, as a query: where records go that its memory has no room for.
 *
 * All lists of a task share one unlinked file, to which full buffers are appended; a list is the
 * extents that are its own. The space of a released list is given back where the file system can.
 * What is written is never read by another process, so it has no format.
 */
#ifndef STORE_SPILL_H
#define STORE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "store/memory_account.h"

/* Tells whether the task has to end before its time. */
typedef enum status spill_check(const void *context, struct reason *why);

struct spill {
    struct memory_account *account;
    size_t share;       /* bytes of memory for what can go on in files */
    spill_check *check; /* NULL: never */
    const void *check_context;
    const char *folder; /* NULL: nothing can be spilled */
    int descriptor;     /* -1: not yet */
    uint64_t end, used, highest, maximum;
};

/* The share is half of the account's maximum. */
void spill_init(struct spill *spill, struct memory_account *account, const char *folder,
                uint64_t maximum);
enum status spill_may_go_on(const struct spill *spill, struct reason *why);
void spill_release(struct spill *spill);
/* Returns whether a structure that can go on in files may take bytes more: these share a part of
 * the memory, the rest is for what cannot and for buffers. True when there are no files: then the
 * account's own limit ends the run. */
bool spill_may_take(const struct spill *spill, size_t bytes);

/* Zeroed memory, of the heap while it may take it, else a file's pages. */
struct spill_area {
    void *memory;
    size_t size;
    uint64_t offset; /* in the file; UINT64_MAX: of the heap */
};
enum status spill_area_new(struct spill *spill, size_t size, const char *what,
                           struct spill_area *area, struct reason *why);
void spill_area_free(struct spill *spill, struct spill_area *area);

struct spill_extent {
    uint64_t offset;
    size_t length;
};
struct spill_list {
    struct spill *spill;
    struct spill_extent *extents;
    size_t count, room;
    uint64_t length; /* bytes, those in the buffer included */
    char *buffer;
    size_t filled, buffer_size;
};

/* buffer_size: bytes that are written at a time. */
void spill_list_init(struct spill_list *list, struct spill *spill, size_t buffer_size);
void spill_list_release(struct spill_list *list);
enum status spill_list_write(struct spill_list *list, const void *bytes, size_t length,
                             struct reason *why);
/* Writes what is in the buffer, and frees it. Must come before reading. */
enum status spill_list_finish(struct spill_list *list, struct reason *why);

struct spill_reader {
    const struct spill_list *list;
    size_t extent, at_extent; /* next to read, and from where in it */
    char *buffer;
    size_t at, filled, buffer_size;
};
void spill_reader_init(struct spill_reader *reader, const struct spill_list *list,
                       size_t buffer_size);
void spill_reader_release(struct spill_reader *reader);
/* The next length bytes; *end instead when none are left. */
enum status spill_read(struct spill_reader *reader, void *bytes, size_t length, bool *end,
                       struct reason *why);

#endif
