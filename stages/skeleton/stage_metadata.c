/* What of a job concerns other nodes: the metadata that they keep, and that one is away. */
#include "base/codec.h"
#include "base/system/clock.h"
#include "stages/skeleton/stage_private.h"

/* The end of the update's fields that fit into so many bytes; at least one. */
static size_t
whole_fields(struct slice fields, size_t most)
{
    struct codec_reader reader = codec_reader_of(fields);
    size_t end = 0;
    while (!codec_at_end(&reader) && !reader.bad) {
        const uint64_t form = codec_get_varint(&reader) % 4;
        if (form == 0) {
            (void)codec_get_varint(&reader);
        } else if (form == 1) {
            (void)codec_get_slice(&reader);
        }
        const size_t next = (size_t)(reader.at - (const uint8_t *)fields.at);
        if (end > 0 && next > most) {
            break;
        }
        end = next;
    }
    return end > 0 ? end : fields.length;
}

/* It leaves with the completion, in the same transaction, and reaches the other node's store before
 * the jobs that follow from it; so no job here waits for that node. */
static void
post_metadata(struct held_job *held, struct slice key, struct slice fields)
{
    while (fields.length > 0) {
        const size_t most = JOB_METADATA_MAXIMUM - META_KEY_MAXIMUM - 16;
        const size_t length = whole_fields(fields, most);
        struct buf data;
        buf_init(&data, JOB_METADATA_MAXIMUM);
        codec_put_slice(&data, key);
        codec_put_slice(&data, slice_of(fields.at, length));
        const struct job output = {
            .key.stage = STAGE_FETCH, .uri = SLICE(JOB_METADATA_URI), .data = buf_slice(&data)};
        stage_output(&held->public, &output);
        buf_release(&data);
        fields = slice_of(fields.at + length, fields.length - length);
    }
}

static bool
is_elsewhere(const struct stage_run *run, struct slice key)
{
    return cluster_key_owner(run->cluster, key) != cluster_self(run->cluster);
}

void
stage_post_metadata(struct held_job *held)
{
    const struct stage_run *run = held->public.run;
    struct meta_update *own = &held->public.meta;
    size_t kept = 0;
    struct buf key;
    buf_init(&key, META_KEY_MAXIMUM);
    buf_append_char(&key, 'u');
    buf_append_slice(&key, held->public.job.uri);
    if (own->fields.length > 0 && is_elsewhere(run, buf_slice(&key))) {
        post_metadata(held, buf_slice(&key), buf_slice(&own->fields));
        meta_update_reset(own);
    }
    for (size_t i = 0; i < held->put_count; i++) {
        if (is_elsewhere(run, held->puts[i].key)) {
            post_metadata(held, held->puts[i].key, held->puts[i].fields);
        } else {
            held->puts[kept++] = held->puts[i];
        }
    }
    held->put_count = kept;
    buf_release(&key);
}

void
stage_put_off(struct stage_job *job, const struct reason *why)
{
    enum { LEAST_MS = 1000, MOST_MS = 60000 };
    const uint64_t now = clock_wall_ms(), queued = job->job.queued_ms;
    const uint64_t quarter = now > queued ? (now - queued) / 4 : 0;
    const uint64_t most = quarter < MOST_MS ? quarter : MOST_MS;
    stage_release(job, most > LEAST_MS ? most : LEAST_MS, false, "%s", why->text);
}
