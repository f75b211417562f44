/* Copying a partition while it is written to: see index/trees/environment_copy.c for why the copy
 * is consistent. */
#include "index/maintenance/backup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "index/write/partition_state.h"

enum { PAGES_BYTES = 128 << 10, PATH_SIZE = 4096 };

struct backup {
    struct partition *partition;
    partition_report *piece;
    void *context;
    struct buf frame;
    uint8_t *pages;
};

static enum status
send_frame(struct backup *b, enum backup_frame kind, struct slice bytes, struct reason *why)
{
    buf_reset(&b->frame);
    codec_put_u8(&b->frame, (uint8_t)kind);
    if (kind == BACKUP_FILE || kind == BACKUP_BYTES) {
        codec_put_slice(&b->frame, bytes);
    }
    return b->piece(b->context, buf_slice(&b->frame), why);
}

static enum status
send_name(struct backup *b, const char *name, struct reason *why)
{
    return send_frame(b, BACKUP_FILE, slice_string(name), why);
}

static enum status
send_file(void *context, const char *name, struct reason *why)
{
    struct backup *b = context;
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", b->partition->folder, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return status_fail_errno(why, "cannot read %s", path);
    }
    enum status status = send_name(b, name, why);
    ssize_t n = 1;
    while (status == STATUS_OK && n > 0) {
        n = read(file, b->pages, PAGES_BYTES);
        if (n > 0) {
            status = send_frame(b, BACKUP_BYTES, slice_of((char *)b->pages, (size_t)n), why);
        } else if (n < 0) {
            status = status_fail_errno(why, "cannot read %s", path);
        }
    }
    close(file);
    return status == STATUS_OK ? send_frame(b, BACKUP_END, SLICE(""), why) : status;
}

static enum status
send_tree(struct backup *b, struct tree *tree, struct reason *why)
{
    char name[TREE_FILE_SIZE];
    uint32_t page = 0;
    tree_file(tree, name);
    enum status status = send_name(b, name, why);
    for (bool end = false; !end && status == STATUS_OK;) {
        size_t length = 0;
        status = tree_copy_pages(tree, &page, b->pages, PAGES_BYTES, &length, &end, why);
        if (status == STATUS_OK) {
            status = send_frame(b, BACKUP_BYTES, slice_of((char *)b->pages, length), why);
        }
    }
    return status == STATUS_OK ? send_frame(b, BACKUP_END, SLICE(""), why) : status;
}

static enum status
send_all(struct backup *b, struct reason *why)
{
    const struct environment *environment = b->partition->environment;
    for (struct tree *tree = environment_tree(environment, NULL); tree != NULL;
         tree = environment_tree(environment, tree)) {
        TRY(send_tree(b, tree, why));
    }
    TRY(environment_log_files(b->partition->environment, send_file, b, why));
    return send_frame(b, BACKUP_WHOLE, SLICE(""), why);
}

static enum status
copy_all(struct backup *b, struct reason *why)
{
    TRY(environment_hold_log(b->partition->environment, why));
    const enum status status = send_all(b, why);
    environment_release_log(b->partition->environment);
    return status;
}

enum status
partition_backup(struct partition *partition, partition_report *piece, void *context,
                 struct reason *why)
{
    struct backup b = {.partition = partition, .piece = piece, .context = context};
    if (pthread_mutex_trylock(&partition->maintenance) != 0) {
        return status_fail(why, STATUS_AGAIN, "%s: another backup or compact is under way",
                           partition->folder);
    }
    b.pages = memory_alloc(PAGES_BYTES);
    buf_init(&b.frame, 2 * PAGES_BYTES);
    enum status status = partition_hold_staging(partition, why);
    if (status == STATUS_OK) {
        status = copy_all(&b, why);
        partition_release_staging(partition);
    }
    pthread_mutex_unlock(&partition->maintenance);
    buf_release(&b.frame);
    free(b.pages);
    return status;
}
