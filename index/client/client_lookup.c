#include "index/client/client_lookup.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/client/partitions/client_calls.h"

enum { REQUEST_MAXIMUM = 16 << 20, ANSWER_MAXIMUM = 256 << 20 };

/* One partition's answer while it is read. */
struct lookup_answer {
    struct arena *arena;
    struct codec_reader in;
    struct term *names; /* in the arena's memory, by their number */
    size_t name_count, name_capacity;
};

/* ---- asking ---- */

/* The partition's whole answer. Empty when the call goes on without it. */
static enum status
read_answer(struct index_stream_reader *stream, struct buf *text, struct reason *why)
{
    struct slice bytes;
    enum status status;
    while ((status = client_next_bytes(stream, &bytes, why)) == STATUS_OK) {
        TRY(buf_append_slice(text, bytes) == STATUS_OK
                ? STATUS_OK
                : status_fail(why, STATUS_LIMIT, "an answer of the index is longer than %d bytes",
                              ANSWER_MAXIMUM));
    }
    if (stream->client->partitions[stream->partition].missing) {
        buf_reset(text);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

typedef enum status lookup_read(void *context, size_t partition, struct lookup_answer *answer,
                                struct reason *why);

/* Asks the partitions that have a request, all at once, and reads their answers one after the
 * other. */
static enum status
ask_all(struct index_client *client, const struct buf *requests, uint32_t timeout_ms,
        struct arena *arena, lookup_read *read, void *context, struct reason *why)
{
    struct index_stream_reader *streams = memory_zero(client->count, sizeof *streams);
    enum status status = STATUS_OK;
    client_begin(client, client->partial, timeout_ms, client->cancel);
    for (size_t i = 0; i < client->count; i++) {
        if (requests[i].overflowed) {
            status = status_fail(why, STATUS_LIMIT, "a request to the index is too long");
        }
    }
    for (size_t i = 0; i < client->count && status == STATUS_OK; i++) {
        if (requests[i].length > 0) {
            stream_start(&streams[i], client, i, buf_slice(&requests[i]));
        }
    }
    for (size_t i = 0; i < client->count && status == STATUS_OK; i++) {
        struct buf text;
        struct lookup_answer answer = {.arena = arena};
        buf_init(&text, ANSWER_MAXIMUM);
        if (streams[i].client != NULL) {
            status = read_answer(&streams[i], &text, why);
            answer.in = codec_reader_of(buf_slice(&text));
            status = status == STATUS_OK ? read(context, i, &answer, why) : status;
        }
        free(answer.names);
        buf_release(&text);
    }
    for (size_t i = 0; i < client->count; i++) {
        if (streams[i].client != NULL) {
            stream_close(&streams[i]);
        }
    }
    free(streams);
    return status;
}

/* ---- names ---- */

static enum status
malformed(struct reason *why)
{
    return status_fail(why, STATUS_PROTOCOL, "the index sent a malformed answer to a lookup");
}

static enum status
read_new_name(struct lookup_answer *answer, struct reason *why)
{
    char text[OID_INLINE_TEXT];
    const oid id = codec_get_u64(&answer->in);
    struct term term;
    const bool good = index_name_has_term(id) ? index_get_term(&answer->in, &term)
                                              : oid_inline_term(id, text, &term);
    if (!good || answer->in.bad) {
        return malformed(why);
    }
    if (answer->name_count == answer->name_capacity) {
        answer->name_capacity = answer->name_capacity ? 4 * answer->name_capacity : 64;
        answer->names = memory_resize(answer->names, answer->name_capacity, sizeof(struct term));
    }
    return term_copy(answer->arena, &term, &answer->names[answer->name_count++])
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "what was found does not fit in memory");
}

static enum status
read_name(struct lookup_answer *answer, struct term *term, struct reason *why)
{
    uint64_t code = codec_get_varint(&answer->in);
    if (code == INDEX_NAME_FORGET) {
        answer->name_count = 0;
        code = codec_get_varint(&answer->in);
    }
    uint64_t number = code - INDEX_NAME_FIRST;
    if (code == INDEX_NAME_NEW) {
        number = answer->name_count;
        TRY(read_new_name(answer, why));
    }
    if (answer->in.bad || number >= answer->name_count) {
        return malformed(why);
    }
    *term = answer->names[number];
    return STATUS_OK;
}

/* ---- statements ---- */

struct finding {
    struct index_statement *found;
    size_t count, capacity;
    const struct index_find *asked;
    bool words;
};

/* Counts what a partition has given so far: `count` statements of the last number. */
struct given {
    uint64_t number, count;
};

/* A partition gives no more than it was asked for, pattern by pattern. */
static bool
is_asked(const struct finding *finding, struct given *given, uint64_t number)
{
    const bool same = finding->words || number == given->number;
    const bool good = same || (number > given->number && number < finding->asked->pattern_count);
    *given = (struct given){number, same ? given->count + 1 : 1};
    return good && given->count <= finding->asked->limit;
}

static enum status
read_statements(void *context, size_t partition, struct lookup_answer *answer, struct reason *why)
{
    struct finding *finding = context;
    struct given given = {0, 0};
    (void)partition;
    while (answer->in.at < answer->in.end) {
        const uint64_t number = codec_get_varint(&answer->in);
        if (!is_asked(finding, &given, number)) {
            return malformed(why);
        }
        if (finding->count == finding->capacity) {
            finding->capacity = finding->capacity ? 4 * finding->capacity : 64;
            finding->found =
                memory_resize(finding->found, finding->capacity, sizeof *finding->found);
        }
        struct index_statement *statement = &finding->found[finding->count++];
        *statement = (struct index_statement){
            .score = finding->words ? (double)number / INDEX_SCORE_PARTS : 0,
            .pattern = finding->words ? 0 : number};
        TRY(read_name(answer, &statement->quad.subject, why));
        TRY(read_name(answer, &statement->quad.predicate, why));
        TRY(read_name(answer, &statement->quad.object, why));
        TRY(read_name(answer, &statement->quad.graph, why));
    }
    return STATUS_OK;
}

/* Those of a lower partition come first where all else is the same: that is how they stand. */
static int
compare_statements(const void *a, const void *b)
{
    const struct index_statement *const *left = a, *const *right = b;
    if ((*left)->pattern != (*right)->pattern) {
        return (*left)->pattern < (*right)->pattern ? -1 : 1;
    }
    if ((*left)->score != (*right)->score) {
        return (*left)->score < (*right)->score ? 1 : -1;
    }
    return (*left > *right) - (*left < *right);
}

static enum status
give_statements(const struct finding *finding, uint32_t limit, bool sorted,
                index_statement_take *take, void *context, struct reason *why)
{
    const struct index_statement **order =
        memory_alloc(finding->count * sizeof(struct index_statement *));
    enum status status = STATUS_OK;
    size_t of_pattern = 0;
    for (size_t i = 0; i < finding->count; i++) {
        order[i] = &finding->found[i];
    }
    if (!sorted) {
        qsort(order, finding->count, sizeof *order, compare_statements);
    }
    for (size_t i = 0; i < finding->count && status == STATUS_OK; i++) {
        of_pattern = i > 0 && order[i - 1]->pattern == order[i]->pattern ? of_pattern + 1 : 0;
        status = of_pattern < limit ? take(context, order[i], why) : STATUS_OK;
    }
    free(order);
    return status;
}

enum status
index_find(struct index_client *client, const struct index_find *find, struct arena *arena,
           index_statement_take *take, void *context, struct reason *why)
{
    struct finding finding = {.asked = find, .words = find->words.length > 0};
    struct buf *requests = memory_zero(client->count, sizeof *requests);
    for (size_t i = 0; i < client->count; i++) {
        struct buf *request = &requests[i];
        buf_init(request, REQUEST_MAXIMUM);
        codec_put_u8(request, INDEX_STREAM_FIND);
        codec_put_u8(request, finding.words ? INDEX_FIND_WORDS : INDEX_FIND_PATTERNS);
        codec_put_varint(request, find->limit);
        if (finding.words) {
            codec_put_slice(request, find->words);
            continue;
        }
        codec_put_varint(request, find->pattern_count);
        for (size_t k = 0; k < find->pattern_count; k++) {
            index_put_pattern(request, &find->patterns[k]);
        }
    }
    enum status status =
        ask_all(client, requests, find->timeout_ms, arena, read_statements, &finding, why);
    if (status == STATUS_OK) {
        status = give_statements(&finding, find->limit, client->count == 1, take, context, why);
    }
    for (size_t i = 0; i < client->count; i++) {
        buf_release(&requests[i]);
    }
    free(requests);
    free(finding.found);
    return status;
}

/* ---- resources ---- */

struct describing {
    size_t *owners; /* partition of each resource */
    size_t count, predicate_count;
    index_object_take *take;
    void *context;
};

/* The partition's resources are numbered in their order. */
static enum status
read_objects(void *context, size_t partition, struct lookup_answer *answer, struct reason *why)
{
    const struct describing *describing = context;
    size_t resource = 0;
    uint64_t its_number = 0; /* in the partition: of those before `resource` */
    while (answer->in.at < answer->in.end) {
        struct term object;
        const uint64_t number = codec_get_varint(&answer->in);
        const uint64_t predicate = codec_get_varint(&answer->in);
        while (resource < describing->count &&
               (describing->owners[resource] != partition || its_number < number)) {
            its_number += describing->owners[resource] == partition;
            resource++;
        }
        if (resource == describing->count || number < its_number ||
            predicate >= describing->predicate_count) {
            return malformed(why);
        }
        TRY(read_name(answer, &object, why));
        describing->take(describing->context, resource, predicate, &object);
    }
    return STATUS_OK;
}

/* Writes what each partition is asked; nothing when none of the documents are there. */
static void
put_resources(const struct index_resource *resources, const struct slice *predicates,
              const struct describing *describing, struct buf *requests)
{
    for (size_t i = 0; i < describing->count; i++) {
        struct buf *request = &requests[describing->owners[i]];
        if (request->length == 0) {
            codec_put_u8(request, INDEX_STREAM_DESCRIBE);
            codec_put_varint(request, describing->predicate_count);
            for (size_t k = 0; k < describing->predicate_count; k++) {
                const struct term predicate = term_iri(predicates[k]);
                index_put_term(request, &predicate);
            }
        }
        index_put_term(request, &resources[i].subject);
        index_put_term(request, &resources[i].graph);
    }
}

enum status
index_describe(struct index_client *client, const struct index_resource *resources, size_t count,
               const struct slice *predicates, size_t predicate_count, uint32_t timeout_ms,
               struct arena *arena, index_object_take *take, void *context, struct reason *why)
{
    struct describing describing = {.owners = memory_alloc(count * sizeof(size_t)),
                                    .count = count,
                                    .predicate_count = predicate_count,
                                    .take = take,
                                    .context = context};
    struct buf *requests = memory_zero(client->count, sizeof *requests);
    for (size_t i = 0; i < client->count; i++) {
        buf_init(&requests[i], REQUEST_MAXIMUM);
    }
    for (size_t i = 0; i < count; i++) {
        describing.owners[i] = client_owner(client, resources[i].graph.value);
    }
    put_resources(resources, predicates, &describing, requests);
    const enum status status =
        ask_all(client, requests, timeout_ms, arena, read_objects, &describing, why);
    for (size_t i = 0; i < client->count; i++) {
        buf_release(&requests[i]);
    }
    free(requests);
    free(describing.owners);
    return status;
}
