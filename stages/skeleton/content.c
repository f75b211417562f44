#include "stages/skeleton/content.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "metastore/archive_link.h"
#include "stages/skeleton/stage.h"
#include "warc/remote.h"

enum { WARC_PATH_MAXIMUM = 1 << 16, REMOTE_WAIT_MS = 5000, REST_MS = 5000 };

struct content {
    const struct cluster *cluster;
    struct warc_limits limits;
    struct warc_reader *reader; /* of DIR/warc */
    struct stage_run *run;      /* NULL: files are closed with the object */
    bool resting;               /* the timer is set */
    struct warc_remote *remote; /* opened at first need, as are the links, one for each node */
    struct archive_link **links;
    uint64_t *web_again_ms; /* by node; monotonic: until then its service is not asked */
    struct buf member;
};

enum status
content_open(struct content **out, const char *directory, const struct cluster *cluster,
             const struct warc_limits *limits, struct reason *why)
{
    struct content *content = memory_zero(1, sizeof *content);
    struct buf folder;
    (void)why;
    content->cluster = cluster;
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
content_close(struct content *content)
{
    if (content == NULL) {
        return;
    }
    if (content->remote != NULL) {
        warc_remote_close(content->remote);
    }
    for (size_t i = 0; content->links != NULL && i < cluster_node_count(content->cluster); i++) {
        archive_link_close(content->links[i]);
    }
    free(content->links);
    free(content->web_again_ms);
    buf_release(&content->member);
    warc_reader_close(content->reader);
    free(content);
}

static enum status
fetch_by_link(struct content *content, size_t number, const struct document_record *where,
              struct reason *why)
{
    const struct cluster_node *node = cluster_node(content->cluster, number);
    if (node->metastore == NULL) {
        return status_fail(why, STATUS_MISUSE,
                           "cluster.conf: node %s has no metastore=, which its archive is read by",
                           node->name);
    }
    if (content->links == NULL) {
        content->links = memory_zero(cluster_node_count(content->cluster), sizeof *content->links);
    }
    struct archive_link **link = &content->links[number];
    if (*link == NULL) {
        TRY(archive_link_open(link, node->metastore, cluster_keys(content->cluster), why));
    }
    return archive_link_read(*link, where->file, where->offset, where->length, &content->member,
                             why);
}

static enum status
fetch_by_web(struct content *content, size_t number, const struct document_record *where,
             struct reason *why)
{
    const struct cluster_node *node = cluster_node(content->cluster, number);
    if (node->web == NULL) {
        return status_fail(why, STATUS_MISUSE,
                           "cluster.conf: node %s has no web=, which its archive is read by",
                           node->name);
    }
    if (content->web_again_ms == NULL) {
        content->web_again_ms =
            memory_zero(cluster_node_count(content->cluster), sizeof *content->web_again_ms);
    }
    if (clock_monotonic_ms() < content->web_again_ms[number]) {
        return status_fail(why, STATUS_UNAVAILABLE, "node %s does not answer", node->name);
    }
    if (content->remote == NULL) {
        TRY(warc_remote_open(&content->remote, REMOTE_WAIT_MS, why));
    }
    const enum status status =
        warc_fetch_remote(content->remote, node->web, where->file, where->offset, where->length,
                          &content->member, why);
    if (status == STATUS_UNAVAILABLE) {
        content->web_again_ms[number] = clock_monotonic_ms() + REST_MS;
    }
    return status;
}

/* With keys nothing goes between nodes that is not encrypted and authenticated. */
static enum status
read_remote(struct content *content, size_t node, const struct document_record *where,
            struct buf *memory, struct warc_record *record, struct reason *why)
{
    TRY((cluster_keys(content->cluster) != NULL ? fetch_by_link : fetch_by_web)(content, node,
                                                                                where, why));
    return warc_read_member(buf_slice(&content->member), &content->limits, memory, record, why);
}

static void
rest(void *context)
{
    struct content *content = context;
    content->resting = warc_reader_rest(content->reader);
    if (content->resting) {
        stage_timer(content->run, REST_MS, rest, content);
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
    if (node != cluster_self(content->cluster)) {
        return read_remote(content, node, where, memory, record, why);
    }
    if (content->run != NULL && !content->resting) {
        content->resting = true;
        stage_timer(content->run, REST_MS, rest, content);
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
