/* Hostile requests to a small index: OPEN and CHANGE, as index/PROTOCOL.md has them. The input is a
 * list of messages: kind (odd: CHANGE), length (16 bits), payload. Whatever comes, the writer goes
 * on, answers end, and what is stored agrees with itself. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/system/log.h"
#include "index/serve/answers.h"
#include "index/serve/cursor.h"
#include "index/write/patch.h"
#include "tests/unit/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES_MOST = 8, WINDOW = 64 << 10, BATCH = 1 << 20, VERIFY_EACH = 256 };

static struct world {
    char folder[SCRATCH_SIZE];
    struct partition *partition;
    struct patch_queue *patches;
    struct sessions *sessions;
    struct turns *turns;
    struct threads *threads;
    struct service_options options;
    int event;
    uint64_t runs;
} world;

static void
must(enum status status)
{
    if (status != STATUS_OK) {
        abort();
    }
}

static void
clear_world(void)
{
    DIR *folder = opendir(world.folder);
    const struct dirent *entry;
    sessions_free(world.sessions);
    patch_queue_free(world.patches);
    partition_close(world.partition);
    threads_free(world.threads);
    turns_free(world.turns);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(world.folder);
}

static void
make_world(void)
{
    struct partition_options options;
    log_open("fuzz_index_requests", LOG_LEVEL_ERROR, false);
    if (!scratch_folder(world.folder, "fuzz_index")) {
        abort();
    }
    partition_options_default(&options, world.folder);
    options.cache_bytes = 4 << 20;
    options.disk_reserve = 0;
    options.no_sync = true;
    must(partition_open(&world.partition, &options, NULL));
    world.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    world.patches = patch_queue_new(world.event);
    world.sessions = sessions_new(world.partition, 8);
    world.turns = turns_new(1, 8 << 20);
    world.threads = threads_new(1, 0);
    world.options = (struct service_options){.scratch_folder = world.folder,
                                             .query_timeout_ms = 100,
                                             .query_disk = 1 << 20,
                                             .answer_bytes = 1 << 20,
                                             .sort_memory = 1 << 20};
    (void)atexit(clear_world);
}

/* Read to its end. */
static void
open_answer(struct slice payload)
{
    static uint64_t id;
    struct answer *job;
    struct cursor *cursor;
    struct buf out;
    bool end = false;
    uint64_t offset = 0;
    if (answer_new(&job, world.partition, &world.options, world.sessions, payload, NULL) !=
        STATUS_OK) {
        return;
    }
    const struct cursor_settings settings = {.threads = world.threads,
                                             .turns = world.turns,
                                             .event = world.event,
                                             .window = WINDOW,
                                             .bytes_most = 1 << 20};
    must(cursor_open(&cursor, ++id, &settings, answer_produce, answer_free, job, NULL));
    buf_init(&out, WINDOW);
    for (enum status status = STATUS_OK; !end && (status == STATUS_OK || status == STATUS_AGAIN);) {
        buf_reset(&out);
        status = cursor_read(cursor, offset, WINDOW, &out, &end, NULL);
        offset += out.length;
    }
    buf_release(&out);
    cursor_close(cursor);
}

static void
change(struct slice payload)
{
    const struct rpc_request request = {.payload = payload};
    patch_queue_add(world.patches, &request);
    must(patch_queue_work(world.patches, world.partition, BATCH, NULL));
    struct patch *patch = patch_queue_take(world.patches);
    if (patch == NULL || patch->next != NULL) {
        abort(); /* each is handed back, once */
    }
    free(patch);
}

static enum status
take_report(void *context, struct slice line, struct reason *why)
{
    (void)context;
    (void)line;
    (void)why;
    return STATUS_OK;
}

/* The partition lives as long as the process. */
int __lsan_is_turned_off(void);
int
__lsan_is_turned_off(void)
{
    return 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const atomic_bool never = false;
    if (world.partition == NULL) {
        make_world();
    }
    size_t at = 0;
    for (int count = 0; count < MESSAGES_MOST && size - at >= 3; count++) {
        const uint8_t kind = data[at];
        size_t length = (size_t)(data[at + 1] << 8 | data[at + 2]);
        at += 3;
        length = length < size - at ? length : size - at;
        const struct slice payload = slice_of((const char *)data + at, length);
        (kind % 2 ? change : open_answer)(payload);
        at += length;
    }
    if (++world.runs % VERIFY_EACH == 0) {
        must(partition_verify(world.partition, world.folder, 1 << 20, &never, take_report, NULL,
                              NULL));
    }
    return 0;
}
