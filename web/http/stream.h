/* A reply that is made by a thread of its own while it is sent: at most 1 MiB of it is in memory,
 * and the work is cancelled when the client goes away. */
#ifndef WEB_HTTP_STREAM_H
#define WEB_HTTP_STREAM_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"
#include "base/system/threads.h"

struct web_stream;
/* Calls web_stream_piece with the bytes; looks now and then whether it is cancelled. */
typedef enum status web_produce(void *context, struct web_stream *stream, struct reason *why);
typedef void web_release(void *context);

/* Takes context: release is called in the end. NULL: no thread can be started. cancelled: the flag
 * by which the work ends; this sets it, and others may. It lives until the release, and threads
 * live until web_stream_close. */
struct web_stream *web_stream_open(struct threads *threads, web_produce *produce,
                                   web_release *release, void *context, atomic_bool *cancelled);
/* Cancels and waits for the thread. */
void web_stream_close(struct web_stream *stream);

/* Producer: an index_piece. CANCELLED when nobody wants it any more. */
enum status web_stream_piece(void *stream, struct slice bytes, struct reason *why);

/* Waits until it is known how the reply begins: END, the whole is there, *length bytes; OK, there
 * is more than a first part; otherwise the producer failed before anything was sent. socket: of
 * the client; CANCELLED when it goes away. */
enum status web_stream_begin(struct web_stream *stream, int socket, size_t *length,
                             struct reason *why);
/* Waits for some bytes; END. */
enum status web_stream_read(struct web_stream *stream, int socket, char *bytes, size_t most,
                            size_t *n);

#endif
