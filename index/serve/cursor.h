/* An answer that leaves in pieces: a thread produces bytes into a window, the service hands them
 * out by offset. A piece may be asked for again until a later one is asked for, so a request that
 * was sent twice does no harm. The producer waits while the window is full, and ends soon after
 * cursor_cancel. */
#ifndef INDEX_SERVE_CURSOR_H
#define INDEX_SERVE_CURSOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/system/threads.h"
#include "index/serve/turns.h"

struct cursor;

/* Runs in the cursor's thread; writes with cursor_write. */
typedef enum status cursor_produce(void *job, struct cursor *cursor, struct reason *why);
typedef void cursor_release(void *job);

struct cursor_settings {
    struct threads *threads; /* producers run in them */
    struct turns *turns;     /* producers run by turns */
    uint64_t client;         /* whose turn it is */
    int event;               /* eventfd that is written when there is something to hand out */
    size_t window;       /* bytes held at most; few at first and more with each read, so that little
                          * is in vain when only the beginning is wanted */
    uint64_t bytes_most; /* of the whole answer; more is LIMIT. 0: no limit */
};

/* Takes job: release(job) is called in the end. */
enum status cursor_open(struct cursor **cursor, uint64_t id, const struct cursor_settings *settings,
                        cursor_produce *produce, cursor_release *release, void *job,
                        struct reason *why);
/* Cancels, waits for the producer, frees. */
void cursor_close(struct cursor *cursor);
/* Asks the producer to end; does not wait. */
void cursor_cancel(struct cursor *cursor);
/* True once the producer has ended: cursor_close will not wait. */
bool cursor_ended(struct cursor *cursor);
uint64_t cursor_id(const struct cursor *cursor);

/* Producer: CANCELLED when the answer is no longer wanted, LIMIT past bytes_most. */
enum status cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
/* Writes the last bytes of an answer. They wait for the end of the producer, which follows at once,
 * so that a short answer goes out whole in one piece. */
enum status cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);
/* Lets others run if it is their turn; to be called often where nothing is written for long. A
 * struct cursor. */
void cursor_step(void *cursor);
/* The producer's turn. */
struct turn *cursor_turn(struct cursor *cursor);
/* Threads in which the producer may let others help. */
struct threads *cursor_threads(const struct cursor *cursor);
/* Bytes that the producer may use for its work. */
size_t cursor_memory(const struct cursor *cursor);
/* Returns the flag that turns true when nobody wants the answer any more; work looks at it now and
 * then. */
const atomic_bool *cursor_cancelled(const struct cursor *cursor);

/* Service: appends up to `most` bytes from offset on, and drops those before it. AGAIN when there
 * are none yet; *end when these are the last. After the last byte a failed producer's status is
 * returned instead. NOT_FOUND when offset was dropped already or is past what there is. */
enum status cursor_read(struct cursor *cursor, uint64_t offset, size_t most, struct buf *out,
                        bool *end, struct reason *why);

#endif
