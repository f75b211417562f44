#include "stages/skeleton/content.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "metastore/archive_link.h"
#include "metastore/protocol.h"
#include "stages/skeleton/stage.h"
#include "warc/remote.h"

enum {
    WARC_PATH_MAXIMUM = 1 << 16,
    REMOTE_WAIT_MS = 5000,
    REST_MS = 5000,
    RANGES_MAXIMUM = 512, /* read by one message */
    NAMES_BYTES = 1 << 18
};

/* Records of another node, read by one message: that which was wanted, and those that jobs behind
 * it will want, in their order. */
struct ahead {
    struct archive_range ranges[RANGES_MAXIMUM];
    size_t n, next;
    uint64_t length;  /* of all ranges */
    uint64_t at;      /* of the next range in bytes */
    struct buf bytes; /* empty: not read */
    struct arena names;
    size_t one_by_one; /* so many reads more, since one of several failed */
};

struct other_node {
    struct archive_link *link; /* NULL: not yet */
    uint64_t web_again_ms;     /* monotonic: until then its service is not asked */
    struct ahead ahead;
};

struct content {
    const struct cluster *cluster;
    bool helps; /* nothing of the node that we work for is here */
    struct warc_limits limits;
    struct warc_reader *reader; /* of DIR/warc */
    struct stage_run *run;      /* NULL: files are closed with the object */
    bool resting;               /* the timer is set */
    struct warc_remote *remote; /* opened at first need, as is what concerns other nodes */
    struct other_node *others;  /* by node */
    content_wanted *wanted;     /* NULL: one record after the other is read */
    struct buf member;
};

enum status
content_open(struct content **out, const char *directory, const struct cluster *cluster,
             const struct warc_limits *limits, struct reason *why)
{
    struct content *content = memory_new(sizeof *content);
    struct buf folder;
    (void)why;
    content->cluster = cluster;
    content->helps = cluster_helper(cluster) != NULL;
    content->limits = *limits;
    buf_init(&content->member, limits->record > 0 ? limits->record : 256u << 20);
    buf_init(&folder, WARC_PATH_MAXIMUM);
    buf_printf(&folder, "%s/warc", directory);
    content->reader = warc_reader_open(folder.data, limits);
    buf_release(&folder);
    *out = content;
    return STATUS_OK;
}

void
content_close_files(struct content *content, struct stage_run *run)
{
    content->run = run;
}

void
content_read_ahead(struct content *content, content_wanted *wanted)
{
    content->wanted = wanted;
}

void
content_close(struct content *content)
{
    if (content == NULL) {
        return;
    }
    if (content->remote != NULL) {
        warc_remote_close(content->remote);
    }
    for (size_t i = 0; content->others != NULL && i < cluster_node_count(content->cluster); i++) {
        archive_link_close(content->others[i].link);
        buf_release(&content->others[i].ahead.bytes);
        arena_release(&content->others[i].ahead.names);
    }
    free(content->others);
    buf_release(&content->member);
    warc_reader_close(content->reader);
    free(content);
}

/* ---- what waiting jobs will want of another node ---- */

static bool
ahead_add(struct ahead *ahead, const struct document_record *where)
{
    if (ahead->n == RANGES_MAXIMUM || where->length > ARCHIVE_PIECE - ahead->length) {
        return false;
    }
    const struct slice file = arena_copy(&ahead->names, where->file);
    if (file.length == 0) {
        return false;
    }
    ahead->ranges[ahead->n++] = (struct archive_range){file, where->offset, where->length};
    ahead->length += where->length;
    return true;
}

struct looking_ahead {
    struct content *content;
    size_t node;
    struct ahead *ahead;
};

static bool
take_waiting_job(void *context, const struct job *job)
{
    const struct looking_ahead *looking = context;
    struct content *content = looking->content;
    struct document document;
    size_t node;
    if (!document_decode(job->data, &document)) {
        return true;
    }
    const struct document_record *where = content->wanted(&document);
    if (where->length == 0 || !warc_file_name_valid(where->file) ||
        !cluster_find(content->cluster, where->node, &node) || node != looking->node) {
        return true;
    }
    return ahead_add(looking->ahead, where);
}

/* Tells whether the record was read ahead; jobs before it may have ended without reading theirs. */
static bool
ahead_take(struct ahead *ahead, const struct document_record *where, struct slice *member)
{
    uint64_t at = ahead->at;
    for (size_t i = ahead->next; i < ahead->n && ahead->bytes.length > 0; i++) {
        const struct archive_range *range = &ahead->ranges[i];
        if (range->offset == where->offset && range->length == where->length &&
            slice_equal(range->file, where->file)) {
            *member = slice_of(ahead->bytes.data + at, (size_t)range->length);
            ahead->next = i + 1;
            ahead->at = at + range->length;
            return true;
        }
        at += range->length;
    }
    return false;
}

static void
ahead_clear(struct ahead *ahead)
{
    ahead->n = ahead->next = 0;
    ahead->length = ahead->at = 0;
    buf_reset(&ahead->bytes);
    arena_reset(&ahead->names);
}

/* NOT_FOUND: the record is to be read by itself, since nothing else is wanted of the node, or since
 * one of several could not be read: that must not keep the others from being read, nor be told as
 * their reason. */
static enum status
fetch_ahead(struct content *content, size_t number, const struct document_record *where,
            struct slice *member, struct reason *why)
{
    struct ahead *ahead = &content->others[number].ahead;
    if (ahead->one_by_one > 0) {
        ahead->one_by_one--;
        return STATUS_NOT_FOUND;
    }
    ahead_clear(ahead);
    if (content->wanted == NULL || !warc_file_name_valid(where->file) || where->length == 0 ||
        !ahead_add(ahead, where)) {
        return STATUS_NOT_FOUND;
    }
    struct looking_ahead looking = {content, number, ahead};
    stage_waiting(content->run, take_waiting_job, &looking);
    if (ahead->n == 1) {
        return STATUS_NOT_FOUND;
    }
    const enum status status = archive_link_read_ranges(content->others[number].link, ahead->ranges,
                                                        ahead->n, &ahead->bytes, why);
    if (status != STATUS_OK) {
        ahead->one_by_one = ahead->n - 1;
        ahead_clear(ahead);
        return status == STATUS_UNAVAILABLE ? status : STATUS_NOT_FOUND;
    }
    return ahead_take(ahead, where, member) ? STATUS_OK : STATUS_NOT_FOUND;
}

/* ---- another node's ---- */

static struct other_node *
other_node(struct content *content, size_t number)
{
    const size_t n = cluster_node_count(content->cluster);
    if (content->others == NULL) {
        content->others = memory_zero(n, sizeof *content->others);
        for (size_t i = 0; i < n; i++) {
            buf_init(&content->others[i].ahead.bytes, ARCHIVE_PIECE);
            arena_init(&content->others[i].ahead.names, NAMES_BYTES);
        }
    }
    return &content->others[number];
}

static enum status
fetch_by_link(struct content *content, size_t number, const struct document_record *where,
              struct slice *member, struct reason *why)
{
    const struct cluster_node *node = cluster_node(content->cluster, number);
    struct other_node *other = other_node(content, number);
    if (ahead_take(&other->ahead, where, member)) {
        return STATUS_OK;
    }
    if (node->metastore == NULL) {
        return status_fail(why, STATUS_MISUSE,
                           "cluster.conf: node %s has no metastore=, which its archive is read by",
                           node->name);
    }
    if (other->link == NULL) {
        TRY(archive_link_open(&other->link, node->metastore, cluster_keys(content->cluster), why));
    }
    enum status status = fetch_ahead(content, number, where, member, why);
    if (status == STATUS_NOT_FOUND) {
        const struct archive_range range = {where->file, where->offset, where->length};
        status = archive_link_read(other->link, &range, &content->member, why);
        *member = buf_slice(&content->member);
    }
    return status;
}

static enum status
fetch_by_web(struct content *content, size_t number, const struct document_record *where,
             struct slice *member, struct reason *why)
{
    const struct cluster_node *node = cluster_node(content->cluster, number);
    if (node->web == NULL) {
        return status_fail(why, STATUS_MISUSE,
                           "cluster.conf: node %s has no web=, which its archive is read by",
                           node->name);
    }
    struct other_node *other = other_node(content, number);
    if (clock_monotonic_ms() < other->web_again_ms) {
        return status_fail(why, STATUS_UNAVAILABLE, "node %s does not answer", node->name);
    }
    if (content->remote == NULL) {
        TRY(warc_remote_open(&content->remote, REMOTE_WAIT_MS, why));
    }
    const enum status status =
        warc_fetch_remote(content->remote, node->web, where->file, where->offset, where->length,
                          &content->member, why);
    if (status == STATUS_UNAVAILABLE) {
        other->web_again_ms = clock_monotonic_ms() + REST_MS;
    }
    *member = buf_slice(&content->member);
    return status;
}

/* With keys nothing goes between nodes that is not encrypted and authenticated. */
static enum status
read_remote(struct content *content, size_t node, const struct document_record *where,
            struct buf *memory, struct warc_record *record, struct reason *why)
{
    struct slice member = {0};
    TRY((cluster_keys(content->cluster) != NULL ? fetch_by_link : fetch_by_web)(
        content, node, where, &member, why));
    return warc_read_member(member, &content->limits, memory, record, why);
}

static void
close_idle_files(void *context)
{
    struct content *content = context;
    content->resting = warc_reader_rest(content->reader);
    if (content->resting) {
        stage_timer(content->run, REST_MS, close_idle_files, content);
    }
}

enum status
content_read(struct content *content, const struct document_record *where, struct buf *memory,
             struct warc_record *record, struct reason *why)
{
    size_t node = cluster_self(content->cluster);
    if (where->file.length == 0) {
        return status_fail(why, STATUS_NOT_FOUND, "nothing was archived");
    }
    if (where->node.length > 0 && !cluster_find(content->cluster, where->node, &node)) {
        return status_fail(why, STATUS_NOT_FOUND, "cluster.conf has no node %.*s",
                           SLICE_PRINT(where->node));
    }
    if (content->helps || node != cluster_self(content->cluster)) {
        return read_remote(content, node, where, memory, record, why);
    }
    if (content->run != NULL && !content->resting) {
        content->resting = true;
        stage_timer(content->run, REST_MS, close_idle_files, content);
    }
    return warc_read(content->reader, where->file, where->offset, where->length, memory, record,
                     why);
}

void
content_refused(struct stage_job *job, enum status status, const struct reason *why)
{
    enum { RETRY_MS = 1000 };
    if (status == STATUS_UNAVAILABLE) {
        stage_put_off(job, why);
    } else if (status == STATUS_TIMEOUT || status == STATUS_SYSTEM) {
        stage_release(job, RETRY_MS, true, "%s", why->text);
    } else {
        stage_bury(job, "%s", why->text);
    }
}
