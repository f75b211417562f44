#include "web/pages/status_history.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "base/system/log.h"

enum {
    WORD = 8,
    RECORD = WORD * (STATUS_SAMPLE_FIGURES + 2), /* time, figures, checksum */
    RECORDS = STATUS_SPANS * STATUS_SPAN_SAMPLES,
    PATH_BYTES = 4096
};
static const char magic[WORD] = "QSTATS1\n";

const struct status_span status_spans[STATUS_SPANS] = {
    {"hour", 10 * 1000}, {"day", 240 * 1000}, {"month", 7200 * 1000}};

struct status_history {
    pthread_mutex_t lock; /* of all that follows */
    struct status_sample samples[STATUS_SPANS][STATUS_SPAN_SAMPLES];
    int file;    /* -1: none */
    bool failed; /* the log has it */
};

/* ---- records ---- */

static void
write_record(const struct status_sample *sample, uint8_t bytes[RECORD])
{
    codec_write_u64(bytes, sample->wall_ms);
    for (size_t i = 0; i < STATUS_SAMPLE_FIGURES; i++) {
        codec_write_u64(bytes + WORD * (i + 1), sample->figures[i]);
    }
    codec_write_u64(bytes + RECORD - WORD, crc32(0, bytes, RECORD - WORD));
}

/* Reads a record; one that was torn, or never written, gives nothing. */
static void
read_record(const uint8_t *bytes, size_t span, size_t place, struct status_sample *sample)
{
    const uint64_t wall_ms = codec_read_u64(bytes);
    if (wall_ms == 0 || codec_read_u64(bytes + RECORD - WORD) != crc32(0, bytes, RECORD - WORD) ||
        wall_ms / status_spans[span].period_ms % STATUS_SPAN_SAMPLES != place) {
        return;
    }
    sample->wall_ms = wall_ms;
    for (size_t i = 0; i < STATUS_SAMPLE_FIGURES; i++) {
        sample->figures[i] = codec_read_u64(bytes + WORD * (i + 1));
    }
}

static void
tell_failure(struct status_history *history)
{
    if (!history->failed) {
        log_warning("status history not kept", "reason=%s", strerror(errno));
        history->failed = true;
    }
}

/* ---- life ---- */

static void
read_file(struct status_history *history)
{
    enum { ALL = WORD + RECORDS * RECORD };
    uint8_t *bytes = memory_new(ALL);
    const ssize_t length = pread(history->file, bytes, ALL, 0);
    if (length < WORD || memcmp(bytes, magic, WORD) != 0) {
        if (ftruncate(history->file, 0) != 0 ||
            !file_write_all_at(history->file, slice_of(magic, WORD), 0)) {
            tell_failure(history);
        }
    } else {
        for (size_t i = 0; i < RECORDS; i++) {
            const size_t span = i / STATUS_SPAN_SAMPLES, place = i % STATUS_SPAN_SAMPLES;
            read_record(bytes + WORD + i * RECORD, span, place, &history->samples[span][place]);
        }
    }
    free(bytes);
}

struct status_history *
status_history_open(const char *directory)
{
    struct status_history *history = memory_new(sizeof *history);
    struct buf path;
    (void)pthread_mutex_init(&history->lock, NULL);
    buf_init(&path, PATH_BYTES);
    (void)buf_printf(&path, "%s/status-history", directory);
    (void)buf_append_char(&path, '\0');
    history->file =
        path.overflowed ? -1 : open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    buf_release(&path);
    if (history->file >= 0) {
        read_file(history);
    } else {
        tell_failure(history);
    }
    return history;
}

void
status_history_close(struct status_history *history)
{
    if (history != NULL) {
        file_close(history->file);
        (void)pthread_mutex_destroy(&history->lock);
        free(history);
    }
}

/* ---- samples ---- */

static void
put(struct status_history *history, size_t span, const struct status_sample *sample)
{
    const uint64_t period_ms = status_spans[span].period_ms, number = sample->wall_ms / period_ms;
    const size_t place = number % STATUS_SPAN_SAMPLES;
    struct status_sample *kept = &history->samples[span][place];
    uint8_t bytes[RECORD];
    if (kept->wall_ms > 0 && kept->wall_ms / period_ms == number) {
        return;
    }
    *kept = *sample;
    write_record(sample, bytes);
    const uint64_t offset = WORD + (span * STATUS_SPAN_SAMPLES + place) * RECORD;
    if (history->file >= 0 &&
        !file_write_all_at(history->file, slice_of((const char *)bytes, RECORD), offset)) {
        tell_failure(history);
    }
}

void
status_history_add(struct status_history *history, const struct status_sample *sample)
{
    (void)pthread_mutex_lock(&history->lock);
    for (size_t span = 0; span < STATUS_SPANS; span++) {
        put(history, span, sample);
    }
    (void)pthread_mutex_unlock(&history->lock);
}

size_t
status_history_read(struct status_history *history, size_t span, uint64_t now_ms,
                    struct status_sample samples[STATUS_SPAN_SAMPLES])
{
    const uint64_t period_ms = status_spans[span].period_ms, last = now_ms / period_ms;
    size_t count = 0;
    (void)pthread_mutex_lock(&history->lock);
    for (uint64_t i = 0; i < STATUS_SPAN_SAMPLES; i++) {
        const uint64_t number = last - (STATUS_SPAN_SAMPLES - 1 - i);
        const struct status_sample *sample = &history->samples[span][number % STATUS_SPAN_SAMPLES];
        /* Another number at the place: of a round before, or of a clock that was put back. */
        if (sample->wall_ms > 0 && sample->wall_ms / period_ms == number) {
            samples[count++] = *sample;
        }
    }
    (void)pthread_mutex_unlock(&history->lock);
    return count;
}
