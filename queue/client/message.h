/* Verbs and bytes that daemon and client share: PROTOCOL.md, "Messages". */
#ifndef QUEUE_CLIENT_MESSAGE_H
#define QUEUE_CLIENT_MESSAGE_H

#include "queue/client/queue_client.h"

enum queue_verb {
    QUEUE_PUT = 1,
    QUEUE_RESERVE = 2,
    QUEUE_COMPLETE = 3,
    QUEUE_TOUCH = 4,
    QUEUE_WATCH = 5,
    QUEUE_STATS = 6,
    QUEUE_PEEK = 7,
    QUEUE_KICK = 8,
    QUEUE_TRANSFER = 9,
    QUEUE_LOOK = 10,
    QUEUE_HOSTS = 11,
    QUEUE_RETRY = 12,
    QUEUE_NODES = 13,
    QUEUE_FORGET = 14
};

enum {
    MESSAGE_ENTRIES_MAXIMUM = 1 << 18, /* of any list in a message */
    MESSAGE_REPLY_ENOUGH = 16 << 20,   /* a list of jobs ends after the job that passes this */
    MESSAGE_REPLY_MAXIMUM = 32 << 20,
    MESSAGE_TEXT_MAXIMUM = 4096, /* reasons and reproducers are cut to this */
    MESSAGE_KICK_MOST = 10000,   /* per request; the client asks again */
    MESSAGE_HOSTS_MOST = 1000    /* the same */
};
/* TOUCH_ENDING: the attempt that TOUCH says of a job whose completion is under way. */
enum { COMPLETION_NO_ATTEMPT = 1, TOUCH_ANNOUNCE = 1, TOUCH_ENDING = 0, HOSTS_ASIDE = 1 };

/* "new": u8 stage, record. */
void message_put_new(struct buf *out, const struct job *job);
/* A job that is submitted has only key.stage of its key set. A fetch job needs an http(s) URI with
 * a host, metadata a key. */
bool message_get_new(struct codec_reader *reader, struct job *job);
/* A list's length; more than fits into what is left, at least `least` bytes each, is bad. */
size_t message_get_count(struct codec_reader *reader, size_t least);

/* outputs is not set by decoding: output_count "new" follow. */
void message_put_completion(struct buf *out, const struct completion *completion, uint16_t attempt);
bool message_get_completion(struct codec_reader *reader, struct completion *completion,
                            uint16_t *attempt);

void message_put_stats(struct buf *out, const struct queue_stats *stats);
bool message_get_stats(struct slice bytes, struct queue_stats *stats);

void message_put_host(struct buf *out, const struct queue_host *host);
bool message_get_host(struct codec_reader *reader, struct queue_host *host);

void message_put_node(struct buf *out, const struct queue_node *node);
bool message_get_node(struct codec_reader *reader, struct queue_node *node);

void message_put_explanation(struct buf *out, const struct queue_explanation *look);
bool message_get_explanation(struct slice bytes, struct queue_explanation *look);

#endif
