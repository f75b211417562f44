/* quadrille retain: keeps the archive within bounds. docs/BACKUP.md, "Archive within bounds".
 *
 *   1. The files of DIR/warc, but for those that may still be written to: the newest of each
 * process, and all that were written to of late. Names that are not ours are left alone.
 *   2. What jobs of all queues refer to is pinned. Stages are asked in their order, so that a job
 *      that moves on meanwhile is met later.
 *   3. The metadata store says how many bytes of each file are current.
 *   4. Files are chosen, oldest first, as long as size or age ask for it.
 *   5. Records of chosen files that are current are copied to a new file, which is synced; then the
 *      metadata store is told (it drops what is said of a record that another has replaced); then
 * the file is removed.
 *
 * Killed anywhere it leaves at worst copies that nothing refers to: they go in a later round. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "cli/shared/cli.h"
#include "config/access.h"
#include "stages/skeleton/document.h"
#include "stages/skeleton/services.h"
#include "warc/warc.h"

enum {
    SCAN_MS = 600000,
    PEEK_MOST = 20000,
    PEEK_BYTES_MOST = 12 << 20, /* a reply that is larger may have been cut */
    MOVES_MOST = 200000,        /* in a round */
    MOVES_TOGETHER = 256,
    NAME_PARTS_BEHIND = 2 /* node and process, behind stamp and serial */
};
enum { PAUSES = 6, PAUSE_LEAST_MS = 1000, PAUSE_MOST_MS = 600000 };
static const double WORTH_COPYING =
    0.9; /* a file with a larger current share is left for its size */

struct file {
    char name[WARC_FILE_SIZE];
    uint64_t bytes, current, written_ms;
    bool open, pinned, chosen;
};

/* A record to be copied: where it is in the metadata store. */
struct move {
    char *key;
    struct document_record from;
    bool conversion;
};

struct retain {
    struct cli cli;
    struct metastore_client *metastore;
    const char *node;
    char *folder;
    struct file *files; /* by name: oldest first, per prefix */
    size_t count;
    struct move *moves;
    size_t move_count;
    struct arena arena; /* texts of moves */
    bool choosing;      /* the second scan */
    bool unsure;        /* not everything could be looked at: nothing may go */
    size_t peeked, peeked_bytes;
    uint64_t removed_files, removed_bytes;
    bool dry;
};

/* ---- files ---- */

static int
compare_names(const void *left, const void *right)
{
    return strcmp(((const struct file *)left)->name, ((const struct file *)right)->name);
}

/* PREFIX-STAMP-SERIAL-NODE-PROCESS.warc.gz: behind the serial; NULL: not ours. */
static const char *
process_part(const char *name)
{
    const size_t length = strlen(name);
    const char *at = name + length;
    if (length < 9 || strcmp(at - 8, ".warc.gz") != 0) {
        return NULL;
    }
    for (int dashes = 0; at > name; at--) {
        dashes += at[-1] == '-';
        if (dashes == NAME_PARTS_BEHIND) {
            return at;
        }
    }
    return NULL;
}

static void
add_file(struct retain *retain, int folder, const char *name)
{
    struct stat info;
    const size_t length = strlen(name);
    if (process_part(name) == NULL || length >= WARC_FILE_SIZE ||
        fstatat(folder, name, &info, 0) != 0 || !S_ISREG(info.st_mode)) {
        return;
    }
    retain->files = memory_resize(retain->files, retain->count + 1, sizeof *retain->files);
    struct file *file = &retain->files[retain->count++];
    *file = (struct file){.bytes = (uint64_t)info.st_size,
                          .written_ms = (uint64_t)info.st_mtim.tv_sec * 1000 +
                                        (uint64_t)info.st_mtim.tv_nsec / 1000000};
    memcpy(file->name, name, length + 1);
}

static enum status
list_files(struct retain *retain, struct reason *why)
{
    const uint64_t least_ms = opt_duration_ms(retain->cli.options, "warc.keep_least");
    const uint64_t now_ms = clock_wall_ms();
    DIR *folder = opendir(retain->folder);
    if (folder == NULL) {
        return STATUS_OK; /* nothing was archived yet */
    }
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        add_file(retain, dirfd(folder), entry->d_name);
    }
    closedir(folder);
    if (retain->count == 0) {
        return STATUS_OK;
    }
    qsort(retain->files, retain->count, sizeof *retain->files, compare_names);
    for (size_t i = 0; i < retain->count; i++) {
        struct file *file = &retain->files[i];
        bool newest = true;
        for (size_t k = i + 1; k < retain->count && newest; k++) {
            newest = strcmp(process_part(file->name), process_part(retain->files[k].name)) != 0;
        }
        file->open = newest || file->written_ms + least_ms > now_ms;
    }
    (void)why;
    return STATUS_OK;
}

static struct file *
find_file(struct retain *retain, struct slice node, struct slice name)
{
    struct file key = {0};
    if (!slice_is(node, retain->node) || name.length >= sizeof key.name || retain->count == 0) {
        return NULL;
    }
    snprintf(key.name, sizeof key.name, "%.*s", SLICE_PRINT(name));
    return bsearch(&key, retain->files, retain->count, sizeof *retain->files, compare_names);
}

/* ---- what queues refer to ---- */

static void
pin(struct retain *retain, const struct document_record *record)
{
    struct file *file = find_file(retain, record->node, record->file);
    if (file != NULL) {
        file->pinned = true;
    }
}

static const struct place {
    enum meta_field node, file, offset, length, id;
} places[] = {
    {META_WARC_NODE, META_WARC_FILE, META_WARC_OFFSET, META_WARC_LENGTH, META_WARC_RECORD_ID},
    {META_CONVERSION_NODE, META_CONVERSION_FILE, META_CONVERSION_OFFSET, META_CONVERSION_LENGTH,
     META_CONVERSION_RECORD_ID},
};

static bool
read_place(struct slice record, const struct place *place, struct document_record *where)
{
    return meta_record_text(record, place->node, &where->node) &&
           meta_record_text(record, place->file, &where->file) &&
           meta_record_number(record, place->offset, &where->offset) &&
           meta_record_number(record, place->length, &where->length) &&
           meta_record_text(record, place->id, &where->id);
}

/* Keeps the records that an update names which is not in the store yet. */
static void
pin_update(struct retain *retain, struct slice fields)
{
    struct buf record;
    buf_init(&record, JOB_METADATA_MAXIMUM);
    (void)meta_merge((struct slice){NULL, 0}, fields, &record);
    for (size_t i = 0; i < 2; i++) {
        struct document_record where;
        if (read_place(buf_slice(&record), &places[i], &where)) {
            pin(retain, &where);
        }
    }
    buf_release(&record);
}

static bool
pin_job(void *context, const struct job *job, struct slice state, struct slice reason,
        struct slice reproducer)
{
    struct retain *retain = context;
    struct document document;
    struct slice fields;
    (void)state;
    retain->peeked++;
    retain->peeked_bytes +=
        job->uri.length + job->via.length + job->data.length + reason.length + reproducer.length;
    if (!document_decode(job->data, &document)) {
        retain->unsure = true;
        return false;
    }
    pin(retain, &document.response);
    pin(retain, &document.conversion);
    while (document_said(&document.said, &fields)) {
        pin_update(retain, fields);
    }
    return true;
}

/* Metadata on their way to another node's store. */
static bool
pin_metadata(void *context, const struct job *job, struct slice state, struct slice reason,
             struct slice reproducer)
{
    struct retain *retain = context;
    struct slice key, fields;
    (void)state;
    (void)reason;
    (void)reproducer;
    retain->peeked++;
    retain->peeked_bytes += job->uri.length + job->data.length;
    if (!job_is_metadata(job) || !job_metadata(job, &key, &fields)) {
        return true;
    }
    pin_update(retain, fields);
    return true;
}

static enum status
peek_and_pin(struct retain *retain, struct queue_client *queue, enum stage stage, const char *state,
             queue_visit *visit, struct reason *why)
{
    retain->peeked = retain->peeked_bytes = 0;
    TRY(queue_peek(queue, stage, state, PEEK_MOST, visit, retain, why));
    retain->unsure |= retain->peeked >= PEEK_MOST || retain->peeked_bytes > PEEK_BYTES_MOST;
    return STATUS_OK;
}

static enum status
pin_queue(struct retain *retain, struct queue_client *queue, struct reason *why)
{
    static const char *const states[] = {"outbox", "jobs", "delayed", "buried", "jobs"};
    for (int stage = STAGE_DETECT; stage < STAGE_COUNT; stage++) {
        for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
            TRY(peek_and_pin(retain, queue, (enum stage)stage, states[i], pin_job, why));
        }
    }
    return peek_and_pin(retain, queue, STAGE_FETCH, "outbox", pin_metadata, why);
}

static enum status
pin_queues(struct retain *retain, struct reason *why)
{
    struct cluster_services services;
    TRY(services_queues(retain->cli.cluster, retain->cli.directory, &services, why));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < services.count && status == STATUS_OK; i++) {
        struct queue_client *queue;
        const struct queue_client_options options = {
            .endpoint = services.endpoints[i], .name = "cli.retain", .keys = services.keys};
        status = queue_client_open(&queue, &options, why);
        if (status == STATUS_OK) {
            status = pin_queue(retain, queue, why);
            queue_client_close(queue);
        }
    }
    cluster_services_release(&services);
    return status;
}

/* ---- what is current ---- */

static void
add_move(struct retain *retain, struct slice key, bool conversion,
         const struct document_record *from)
{
    struct arena *arena = &retain->arena;
    if ((retain->move_count & (retain->move_count - 1)) == 0) {
        retain->moves =
            memory_resize(retain->moves, 2 * retain->move_count + 1, sizeof *retain->moves);
    }
    struct move *move = &retain->moves[retain->move_count++];
    *move = (struct move){
        .key = memory_string_n(key.at, key.length), .from = *from, .conversion = conversion};
    move->from.file = arena_copy(arena, from->file);
    move->from.id = arena_copy(arena, from->id);
}

static bool
visit(void *context, struct slice key, struct slice record)
{
    struct retain *retain = context;
    for (size_t i = 0; i < 2; i++) {
        struct document_record where;
        if (!read_place(record, &places[i], &where)) {
            continue;
        }
        struct file *file = find_file(retain, where.node, where.file);
        if (file != NULL && !retain->choosing) {
            file->current += where.length;
        } else if (file != NULL && file->chosen && retain->move_count < MOVES_MOST) {
            add_move(retain, key, i == 1, &where);
        } else if (file != NULL && file->chosen) {
            file->chosen = false; /* the rest in another round */
        }
    }
    return true;
}

static enum status
scan(struct retain *retain, struct reason *why)
{
    return metastore_scan(retain->metastore, SLICE("u"), (struct slice){0}, UINT32_MAX, visit,
                          retain, SCAN_MS, why);
}

/* ---- choosing ---- */

static void
choose(struct retain *retain)
{
    const struct opt_set *options = retain->cli.options;
    const uint64_t most = (uint64_t)opt_integer(options, "warc.keep_bytes");
    const uint64_t age_ms = opt_duration_ms(options, "warc.keep_age");
    const uint64_t now_ms = clock_wall_ms();
    uint64_t bytes = 0;
    for (size_t i = 0; i < retain->count; i++) {
        bytes += retain->files[i].bytes;
    }
    /* First what is not needed at all, then what is needed in part. */
    for (int partly = 0; partly < 2; partly++) {
        for (size_t i = 0; i < retain->count; i++) {
            struct file *file = &retain->files[i];
            const bool old = age_ms > 0 && file->written_ms + age_ms < now_ms;
            const bool large = most > 0 && bytes > most &&
                               (double)file->current < WORTH_COPYING * (double)file->bytes;
            if (!file->open && !file->pinned && !file->chosen && (old || large) &&
                (partly || file->current == 0)) {
                file->chosen = true;
                bytes -= file->bytes - file->current;
            }
        }
    }
    if (most > 0 && bytes > most) {
        log_warning("archive_large", "bytes=%" PRIu64 " warc.keep_bytes=%" PRIu64, bytes, most);
    }
}

/* ---- moving and removing ---- */

static enum status
note_places(struct retain *retain, const struct meta_put *puts, size_t n, struct reason *why)
{
    const enum status status = cli_note_and_wait(retain->metastore, puts, n, why);
    return status == STATUS_OK
               ? STATUS_OK
               : status_prefix(why, status, "the metadata store did not take new places");
}

static void
set_place(struct meta_update *update, const struct move *move, const struct warc_location *to)
{
    const struct place *place = &places[move->conversion];
    meta_update_init(update);
    meta_set_text(update, META_MOVED, move->from.id);
    meta_set_text(update, place->file, slice_string(to->file));
    meta_set_number(update, place->offset, to->offset);
    meta_set_number(update, place->length, to->length);
}

/* A record that cannot be read is lost already: its file stays, for people to look at. */
static enum status
move_some(struct retain *retain, struct warc_writer *writer, const struct move *moves, size_t n,
          struct reason *why)
{
    struct meta_update updates[MOVES_TOGETHER];
    struct meta_put puts[MOVES_TOGETHER];
    size_t moved = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        const struct document_record *from = &moves[i].from;
        struct warc_location to;
        status =
            warc_copy_record(writer, from->file, from->offset, from->length, from->id, &to, why);
        if (status == STATUS_CORRUPT) {
            log_warning("not_copied", "reason=%s", why->text);
            find_file(retain, slice_string(retain->node), from->file)->chosen = false;
            status = STATUS_OK;
        } else if (status == STATUS_OK) {
            set_place(&updates[moved], &moves[i], &to);
            puts[moved] =
                (struct meta_put){slice_string(moves[i].key), meta_update_fields(&updates[moved])};
            moved++;
        }
    }
    if (status == STATUS_OK) {
        status = warc_sync(writer, why);
    }
    if (status == STATUS_OK && moved > 0) {
        status = note_places(retain, puts, moved, why);
    }
    for (size_t i = 0; i < moved; i++) {
        meta_update_release(&updates[i]);
    }
    return status;
}

static enum status
move_all(struct retain *retain, struct reason *why)
{
    struct warc_writer *writer;
    struct warc_writer_options options = {.node = retain->node, .process = "retain"};
    warc_writer_options_from(&options, retain->cli.options);
    TRY(warc_writer_open(&writer, retain->folder, &options, why));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < retain->move_count && status == STATUS_OK; i += MOVES_TOGETHER) {
        const size_t left = retain->move_count - i;
        status = move_some(retain, writer, retain->moves + i,
                           left < MOVES_TOGETHER ? left : (size_t)MOVES_TOGETHER, why);
    }
    const enum status closed = warc_writer_close(writer, status == STATUS_OK ? why : NULL);
    return status == STATUS_OK ? closed : status;
}

static void
remove_chosen(struct retain *retain)
{
    const int folder = open(retain->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < retain->count; i++) {
        const struct file *file = &retain->files[i];
        if (file->chosen && !file->pinned && !retain->unsure &&
            (retain->dry || unlinkat(folder, file->name, 0) == 0)) {
            retain->removed_files++;
            retain->removed_bytes += file->bytes;
            log_info("archive_removed", "file=%s bytes=%" PRIu64 " current=%" PRIu64, file->name,
                     file->bytes, file->current);
        }
    }
    file_close(folder);
}

/* ---- a round ---- */

static enum status
retain_round(struct retain *retain, struct reason *why)
{
    TRY(list_files(retain, why));
    TRY(pin_queues(retain, why));
    if (retain->unsure) {
        log_info("archive_kept", "because=%s", "too many jobs wait to see all that they refer to");
        return STATUS_OK;
    }
    TRY(scan(retain, why));
    choose(retain);
    if (!retain->dry) {
        retain->choosing = true;
        TRY(scan(retain, why));
        TRY(move_all(retain, why));
        TRY(pin_queues(retain, why)); /* a replay may have begun meanwhile */
    }
    remove_chosen(retain);
    return STATUS_OK;
}

static enum status
round_of(struct retain *retain, struct reason *why)
{
    struct buf folder;
    buf_init(&folder, 1 << 16);
    buf_printf(&folder, "%s/warc", retain->cli.directory);
    retain->folder = folder.data;
    access_restrict(retain->cli.options);
    retain->node = cluster_node(retain->cli.cluster, cluster_self(retain->cli.cluster))->name;
    arena_init(&retain->arena, 0);
    enum status status = cli_metastore(&retain->cli, &retain->metastore, why);
    if (status == STATUS_OK) {
        status = retain_round(retain, why);
        metastore_client_close(retain->metastore);
    }
    for (size_t i = 0; i < retain->move_count; i++) {
        free(retain->moves[i].key);
    }
    free(retain->moves);
    free(retain->files);
    arena_release(&retain->arena);
    buf_release(&folder);
    return status;
}

static void
wait_for_next(const struct retain *retain)
{
    const uint64_t share_ms = opt_duration_ms(retain->cli.options, "warc.keep_least") / PAUSES;
    const uint64_t least_ms = share_ms > PAUSE_LEAST_MS ? share_ms : PAUSE_LEAST_MS;
    usleep((useconds_t)(least_ms < PAUSE_MOST_MS ? least_ms : PAUSE_MOST_MS) * 1000);
}

int
command_retain(int argc, char **argv)
{
    struct cli_common common = {0};
    struct retain retain = {0};
    bool repeat = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"dry-run", 'n', FLAG_SWITCH, NULL, &retain.dry, "Only says what would be removed."},
        {"repeat", 0, FLAG_SWITCH, NULL, &repeat,
         "Waits for a sixth of warc.keep_least at the end: for `quadrille up`, which starts it "
         "again."},
        {0},
    };
    const struct program program = {
        .name = "quadrille retain",
        .synopsis = "--dir DIR [--dry-run]",
        .summary = "remove archived files that nothing current needs",
        .description =
            "Removes WARC files of this node, oldest first, as warc.keep_bytes and warc.keep_age "
            "ask for. The latest response and conversion of every document are kept: they are "
            "copied to a new file when theirs goes. So is what a job in a queue refers to. "
            "`quadrille up` does this all the time when one of the two options is set.",
        .examples = "quadrille retain --dir DIR --set warc.keep_bytes=100G --dry-run",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = cli_open(&retain.cli, &common, &why);
    }
    if (status == STATUS_OK && !repeat) {
        status = cli_serve(&retain.cli, "queue,metastore", &why);
    }
    if (status == STATUS_OK) {
        status = round_of(&retain, &why);
    }
    if (status == STATUS_OK && !repeat) {
        printf("files=%" PRIu64 " bytes=%" PRIu64 " copied=%zu%s\n", retain.removed_files,
               retain.removed_bytes, retain.move_count, retain.dry ? " (not removed)" : "");
    } else if (status == STATUS_OK) {
        wait_for_next(&retain);
    }
    cli_close(&retain.cli);
    return cli_end(&program, status, &why);
}
