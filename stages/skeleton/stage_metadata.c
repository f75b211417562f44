/* Handles what concerns other nodes in a job: the metadata that they keep, and that one of them is
 * away. */
#include "base/codec.h"
#include "base/system/clock.h"
#include "stages/skeleton/stage_run.h"

enum {
    /* Limits a job's data with what is said: Berkeley DB keeps rows of more than a quarter of a
     * page in pages of their own. */
    HANDED_MOST = 800,
    SAID_MOST = STAGE_COUNT, /* updates: one of each stage */
    TELL_AGAIN_MS = 1000
};

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

/* The key of the job's document in the metadata store. */
static struct slice
document_key(struct buf *key, const struct held_job *held)
{
    buf_init(key, META_KEY_MAXIMUM);
    buf_append_char(key, 'u');
    buf_append_slice(key, held->public.job.uri);
    return buf_slice(key);
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
    struct buf bytes;
    const struct slice key = document_key(&bytes, held);
    struct slice fields;
    while (is_elsewhere(run, key) && document_said(&held->public.document.said, &fields)) {
        post_metadata(held, key, fields);
    }
    if (own->fields.length > 0 && is_elsewhere(run, key)) {
        post_metadata(held, key, buf_slice(&own->fields));
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
    buf_release(&bytes);
}

/* ---- metadata that the job which follows brings ---- */

/* The job of the same document in a later stage, at once, if nothing else is put: a plan of the
 * host, a resource or a later visit may look for what this job says in the store. Of several nodes
 * it has to go to the one that keeps the document's metadata, which then merges them itself. NULL:
 * there is none. */
static struct job *
follower_of(struct held_job *held, struct slice key)
{
    const struct job *job = &held->public.job;
    const struct cluster *cluster = held->public.run->cluster;
    struct job *output = held->outputs;
    const bool follows = held->output_count == 1 && output->due_ms == 0 &&
                         output->key.stage > job->key.stage &&
                         output->generation == job->generation &&
                         (output->flags & JOB_REVISIT) == 0 && slice_equal(output->uri, job->uri) &&
                         cluster_worker(cluster, (enum stage)output->key.stage, output->uri) ==
                             cluster_key_owner(cluster, key);
    return follows ? output : NULL;
}

void
stage_hand_metadata(struct held_job *held)
{
    struct stage_job *job = &held->public;
    const struct slice own = buf_slice(&job->meta.fields), before = job->document.said;
    struct job *follower = NULL;
    struct buf key;
    const struct slice document = document_key(&key, held);
    if (held->verdict == VERDICT_DONE && job->job.key.stage != STAGE_FETCH &&
        job->job.generation == 1 && own.length + before.length > 0) {
        follower = follower_of(held, document);
    }
    buf_release(&key);
    if (follower == NULL || follower->data.length + before.length + own.length > HANDED_MOST) {
        return;
    }
    struct buf data;
    buf_init(&data, JOB_DATA_MAXIMUM);
    buf_append_slice(&data, follower->data);
    document_say(&data, before, own);
    const struct slice copy = arena_copy(&job->arena, buf_slice(&data));
    buf_release(&data);
    if (copy.at != NULL) {
        follower->data = copy;
        meta_update_reset(&job->meta);
        job->document.said = (struct slice){0};
    }
}

static void
told(void *context, enum status status, const struct reason *why)
{
    struct held_job *held = context;
    if (status != STATUS_OK) {
        stage_release(&held->public, TELL_AGAIN_MS, false, "%s", why->text);
        return;
    }
    held->told = true;
    stage_start(held);
}

/* The queue may bury it without a word of ours. */
bool
stage_tells_first(struct held_job *held)
{
    struct stage_job *job = &held->public;
    struct slice said = job->document.said, fields;
    struct buf bytes;
    if (said.length == 0 || job->job.deaths == 0 || held->told) {
        return false;
    }
    const struct slice key = document_key(&bytes, held);
    struct meta_put puts[SAID_MOST];
    size_t n = 0;
    while (n < SAID_MOST && document_said(&said, &fields)) {
        puts[n++] = (struct meta_put){key, fields};
    }
    metastore_put(job->run->metastore, puts, n, told, held);
    buf_release(&bytes);
    return n > 0;
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
