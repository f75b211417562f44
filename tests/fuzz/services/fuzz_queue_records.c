/* Records and messages: what decodes encodes to something that decodes to the same. */
#include <stdlib.h>

#include "queue/client/message.h"

static void
check_job(struct slice bytes)
{
    struct codec_reader reader = codec_reader_of(bytes);
    struct job job = {0};
    struct job again = {0};
    struct buf out;
    if (!message_get_new(&reader, &job)) {
        return;
    }
    buf_init(&out, 1 << 20);
    message_put_new(&out, &job);
    reader = codec_reader_of(buf_slice(&out));
    if (!message_get_new(&reader, &again) || !codec_at_end(&reader) ||
        !slice_equal(job.uri, again.uri) || !slice_equal(job.data, again.data) ||
        !slice_equal(job.via, again.via) || job.depth != again.depth ||
        job.generation != again.generation || job.due_ms != again.due_ms ||
        !slice_equal(job.lane_name, again.lane_name)) {
        abort();
    }
    buf_release(&out);
}

static void
check_completion(struct slice bytes)
{
    struct codec_reader reader = codec_reader_of(bytes);
    struct completion completion;
    uint16_t attempt;
    if (message_get_completion(&reader, &completion, &attempt)) {
        for (size_t i = 0; i < completion.output_count; i++) {
            struct job job;
            if (!message_get_new(&reader, &job)) {
                break;
            }
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice bytes = {(const char *)data, size};
    struct queue_stats stats;
    check_job(bytes);
    check_completion(bytes);
    (void)message_get_stats(bytes, &stats);
    return 0;
}
