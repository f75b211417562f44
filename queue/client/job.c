#include "queue/client/job.h"

#include <string.h>

#include "base/url/url.h"

enum { RECORD_VERSION = 1 };

static const char *const stage_names[] = {
#define X(name, text) text,
    STAGE_MAP(X)
#undef X
};

const char *
stage_name(enum stage stage)
{
    return (unsigned)stage < STAGE_COUNT ? stage_names[stage] : "none";
}

bool
stage_of_name(struct slice name, enum stage *stage)
{
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (slice_is(name, stage_names[i])) {
            *stage = (enum stage)i;
            return true;
        }
    }
    return false;
}

void
job_key_write(const struct job_key *key, uint8_t bytes[JOB_KEY_SIZE])
{
    bytes[0] = key->stage;
    codec_write_u64(bytes + 1, key->lane);
    codec_write_u64(bytes + 9, key->rank);
    codec_write_u64(bytes + 17, key->id);
}

void
job_key_read(const uint8_t bytes[JOB_KEY_SIZE], struct job_key *key)
{
    *key = (struct job_key){
        .stage = bytes[0],
        .lane = codec_read_u64(bytes + 1),
        .rank = codec_read_u64(bytes + 9),
        .id = codec_read_u64(bytes + 17),
    };
}

void
job_key_encode(struct buf *out, const struct job_key *key)
{
    uint8_t bytes[JOB_KEY_SIZE];
    job_key_write(key, bytes);
    (void)buf_append(out, bytes, sizeof bytes);
}

bool
job_key_decode(struct codec_reader *reader, struct job_key *key)
{
    key->stage = codec_get_u8(reader);
    key->lane = codec_get_u64(reader);
    key->rank = codec_get_u64(reader);
    key->id = codec_get_u64(reader);
    if (key->stage >= STAGE_COUNT) {
        reader->bad = true;
    }
    return !reader->bad;
}

void
job_encode(struct buf *out, const struct job *job)
{
    codec_put_u8(out, RECORD_VERSION);
    codec_put_u8(out, job->flags);
    codec_put_u8(out, job->priority);
    codec_put_u8(out, job->hops);
    codec_put_varint(out, job->depth);
    codec_put_varint(out, job->attempt);
    codec_put_varint(out, job->deaths);
    codec_put_varint(out, job->generation);
    codec_put_varint(out, job->due_ms);
    codec_put_varint(out, job->queued_ms);
    codec_put_slice(out, job->uri);
    codec_put_slice(out, job->via);
    codec_put_slice(out, job->data);
}

static uint64_t
bounded(struct codec_reader *reader, uint64_t most)
{
    const uint64_t value = codec_get_varint(reader);
    if (value > most) {
        reader->bad = true;
        return 0;
    }
    return value;
}

bool
job_decode(struct codec_reader *reader, struct job *job)
{
    if (codec_get_u8(reader) != RECORD_VERSION) {
        reader->bad = true;
    }
    job->flags = codec_get_u8(reader);
    job->priority = codec_get_u8(reader);
    job->hops = codec_get_u8(reader);
    job->depth = (uint16_t)bounded(reader, UINT16_MAX);
    job->attempt = (uint16_t)bounded(reader, UINT16_MAX);
    job->deaths = (uint16_t)bounded(reader, UINT16_MAX);
    job->generation = codec_get_varint(reader);
    job->due_ms = codec_get_varint(reader);
    job->queued_ms = codec_get_varint(reader);
    job->uri = codec_get_slice(reader);
    job->via = codec_get_slice(reader);
    job->data = codec_get_slice(reader);
    job->pace = (struct slice){NULL, 0};
    if (job->uri.length == 0 || job->uri.length > URL_MAXIMUM || job->via.length > URL_MAXIMUM ||
        job->data.length > (job_is_metadata(job) ? JOB_METADATA_MAXIMUM : JOB_DATA_MAXIMUM)) {
        reader->bad = true;
    }
    if (reader->bad) {
        job->uri = job->via = job->data = (struct slice){NULL, 0};
    }
    job->lane_name = job->key.stage == STAGE_FETCH && !reader->bad ? url_origin(job->uri)
                                                                   : (struct slice){NULL, 0};
    return !reader->bad;
}

bool
job_is_metadata(const struct job *job)
{
    return job->key.stage == STAGE_FETCH && slice_is(job->uri, JOB_METADATA_URI);
}

bool
job_metadata(const struct job *job, struct slice *key, struct slice *fields)
{
    struct codec_reader reader = codec_reader_of(job->data);
    *key = codec_get_slice(&reader);
    *fields = codec_get_slice(&reader);
    return codec_at_end(&reader) && key->length >= 2;
}
