#include "cli/import/import_lines.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rdf/nquads/nquads.h"

enum { PIECE_BYTES = 1 << 20, PIECES_PER_THREAD = 3 };

struct piece {
    char *bytes;
    size_t length, size;
    uint64_t line; /* its first */
};

/* Pieces go around: free, filled, being parsed, free. */
struct sharing {
    const struct import_lines *lines;
    struct parse_options options; /* with a problem function that locks */
    pthread_mutex_t lock, problem_lock;
    pthread_cond_t filled, freed;
    struct piece *pieces, **free, **full; /* full: a ring, in order of the input */
    size_t count, free_count, first, full_count;
    bool ended;
    enum status status;
    uint64_t failed_line; /* first of the piece at fault */
    struct reason why;
};

struct worker {
    struct sharing *sharing;
    const struct quad_sink *sink;
    pthread_t thread;
};

static void
report(void *context, const struct parse_problem *problem)
{
    struct sharing *sharing = context;
    const struct problem_sink *problems = &sharing->lines->options->problems;
    pthread_mutex_lock(&sharing->problem_lock);
    if (problems->problem != NULL) {
        problems->problem(problems->context, problem);
    }
    pthread_mutex_unlock(&sharing->problem_lock);
}

/* ---- parsing ---- */

static struct piece *
next_full(struct sharing *sharing)
{
    struct piece *piece = NULL;
    pthread_mutex_lock(&sharing->lock);
    while (sharing->full_count == 0 && !sharing->ended) {
        pthread_cond_wait(&sharing->filled, &sharing->lock);
    }
    if (sharing->full_count > 0 && sharing->status == STATUS_OK) {
        piece = sharing->full[sharing->first];
        sharing->first = (sharing->first + 1) % sharing->count;
        sharing->full_count--;
    }
    pthread_mutex_unlock(&sharing->lock);
    return piece;
}

static void
give_back(struct sharing *sharing, struct piece *piece, enum status status,
          const struct reason *why)
{
    pthread_mutex_lock(&sharing->lock);
    if (status != STATUS_OK &&
        (sharing->status == STATUS_OK || piece->line < sharing->failed_line)) {
        sharing->status = status;
        sharing->failed_line = piece->line;
        sharing->why = *why;
    }
    sharing->free[sharing->free_count++] = piece;
    pthread_cond_signal(&sharing->freed);
    pthread_mutex_unlock(&sharing->lock);
}

static void *
work(void *context)
{
    const struct worker *worker = context;
    struct sharing *sharing = worker->sharing;
    struct nquads_reader *reader =
        nquads_reader_new(&sharing->options, sharing->lines->triples, worker->sink);
    struct piece *piece;
    while ((piece = next_full(sharing)) != NULL) {
        struct reason why = {""};
        nquads_reader_at_line(reader, piece->line);
        enum status status =
            nquads_reader_feed(reader, slice_of(piece->bytes, piece->length), &why);
        if (status == STATUS_OK) {
            status = nquads_reader_finish(reader, &why);
        }
        give_back(sharing, piece, status, &why);
    }
    nquads_reader_free(reader);
    return NULL;
}

/* ---- cutting ---- */

/* NULL: something failed. */
static struct piece *
next_free(struct sharing *sharing)
{
    struct piece *piece = NULL;
    pthread_mutex_lock(&sharing->lock);
    while (sharing->free_count == 0) {
        pthread_cond_wait(&sharing->freed, &sharing->lock);
    }
    if (sharing->status == STATUS_OK) {
        piece = sharing->free[--sharing->free_count];
    }
    pthread_mutex_unlock(&sharing->lock);
    return piece;
}

static void
hand_on(struct sharing *sharing, struct piece *piece)
{
    pthread_mutex_lock(&sharing->lock);
    sharing->full[(sharing->first + sharing->full_count++) % sharing->count] = piece;
    pthread_cond_signal(&sharing->filled);
    pthread_mutex_unlock(&sharing->lock);
}

/* Some files end their lines with '\r'; one at the end may have a '\n' behind it. */
static const char *
last_line_end(const struct piece *piece, size_t from)
{
    const char *last = memrchr(piece->bytes + from, '\n', piece->length - from);
    return last != NULL || piece->length == from
               ? last
               : memrchr(piece->bytes + from, '\r', piece->length - from - 1);
}

/* Fills the piece behind what it has; a line that is longer than it makes it larger. *end: no more
 * input; *whole: bytes up to its last line end. */
static enum status
fill_piece(struct sharing *sharing, struct piece *piece, size_t *whole, bool *end,
           struct reason *why)
{
    const struct import_lines *lines = sharing->lines;
    const size_t most =
        lines->options->term_size > 0 ? lines->options->term_size : (size_t)PARSE_TERM_SIZE;
    for (*whole = 0, *end = false; *whole == 0 && !*end;) {
        const size_t from = piece->length;
        if (piece->length == piece->size) {
            if (piece->size > most) {
                return status_fail(why, STATUS_LIMIT, "line %llu is longer than %zu bytes",
                                   (unsigned long long)piece->line, most);
            }
            piece->size *= 2;
            piece->bytes = memory_resize(piece->bytes, piece->size, 1);
        }
        while (piece->length < piece->size && !*end) {
            size_t length = 0;
            TRY(lines->fill(lines->context, piece->bytes + piece->length,
                            piece->size - piece->length, &length, why));
            piece->length += length;
            *end = length == 0;
        }
        const char *last = last_line_end(piece, from);
        *whole = *end ? piece->length : last != NULL ? (size_t)(last + 1 - piece->bytes) : 0;
    }
    return STATUS_OK;
}

/* Eight bytes at a time: this thread must not be slower than all that parse. */
static uint64_t
count_lines(struct slice bytes)
{
    const uint64_t ones = UINT64_MAX / 0xff, low = 0x7f * ones;
    uint64_t count = 0, eight;
    size_t at = 0;
    for (; at + sizeof eight <= bytes.length; at += sizeof eight) {
        memcpy(&eight, bytes.at + at, sizeof eight);
        eight ^= '\n' * ones;
        count += (~(((eight & low) + low) | eight) >> 7 & ones) * ones >> 56;
    }
    for (; at < bytes.length; at++) {
        count += bytes.at[at] == '\n';
    }
    return count;
}

static enum status
cut(struct sharing *sharing, struct reason *why)
{
    struct piece *piece = next_free(sharing);
    piece->line = 1;
    piece->length = 0;
    for (bool end = false; !end;) {
        size_t whole;
        TRY(fill_piece(sharing, piece, &whole, &end, why));
        struct piece *next = end ? NULL : next_free(sharing);
        if (!end && next == NULL) {
            return STATUS_OK; /* told by the thread that failed */
        }
        if (next != NULL) {
            next->length = piece->length - whole;
            if (next->length > next->size) {
                next->size = next->length;
                next->bytes = memory_resize(next->bytes, next->size, 1);
            }
            memcpy(next->bytes, piece->bytes + whole, next->length);
            next->line = piece->line + count_lines(slice_of(piece->bytes, whole));
        }
        piece->length = whole;
        hand_on(sharing, piece);
        piece = next;
    }
    return STATUS_OK;
}

/* ---- all together ---- */

static void
make_pieces(struct sharing *sharing)
{
    sharing->count = (size_t)PIECES_PER_THREAD * sharing->lines->threads + 1;
    sharing->pieces = memory_zero(sharing->count, sizeof *sharing->pieces);
    sharing->free = memory_zero(sharing->count, sizeof *sharing->free);
    sharing->full = memory_zero(sharing->count, sizeof *sharing->full);
    for (size_t i = 0; i < sharing->count; i++) {
        sharing->pieces[i] =
            (struct piece){.bytes = memory_alloc(PIECE_BYTES), .size = PIECE_BYTES};
        sharing->free[sharing->free_count++] = &sharing->pieces[i];
    }
}

static enum status
run(struct sharing *sharing, struct worker *workers, struct reason *why)
{
    unsigned started = 0;
    enum status status = STATUS_OK;
    for (; started < sharing->lines->threads; started++) {
        workers[started] =
            (struct worker){.sharing = sharing, .sink = &sharing->lines->sinks[started]};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) {
            break;
        }
    }
    status =
        started > 0 ? cut(sharing, why) : status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    pthread_mutex_lock(&sharing->lock);
    sharing->ended = true;
    pthread_cond_broadcast(&sharing->filled);
    pthread_mutex_unlock(&sharing->lock);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    if (sharing->status != STATUS_OK) {
        return status_fail(why, sharing->status, "%s", sharing->why.text);
    }
    return status;
}

enum status
import_lines(const struct import_lines *lines, struct reason *why)
{
    struct sharing sharing = {.lines = lines, .options = *lines->options};
    struct worker *workers = memory_zero(lines->threads, sizeof *workers);
    sharing.options.problems = (struct problem_sink){report, &sharing};
    pthread_mutex_init(&sharing.lock, NULL);
    pthread_mutex_init(&sharing.problem_lock, NULL);
    pthread_cond_init(&sharing.filled, NULL);
    pthread_cond_init(&sharing.freed, NULL);
    make_pieces(&sharing);
    const enum status status = run(&sharing, workers, why);
    for (size_t i = 0; i < sharing.count; i++) {
        free(sharing.pieces[i].bytes);
    }
    free(sharing.pieces);
    free(sharing.free);
    free(sharing.full);
    free(workers);
    pthread_cond_destroy(&sharing.freed);
    pthread_cond_destroy(&sharing.filled);
    pthread_mutex_destroy(&sharing.problem_lock);
    pthread_mutex_destroy(&sharing.lock);
    return status;
}
