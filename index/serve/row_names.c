#include "index/serve/row_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/protocol/service_protocol.h"

enum {
    CHUNK_GROWTH = 4,
    TERMS_MOST = 64 << 20, /* bytes of a chunk's terms; then rows go out one by one */
    TERMS_MAXIMUM = 1 << 30,
    NAMES_MOST = 1 << 20, /* then they are forgotten */
    NAMES_FIRST = 256
};

/* OID_NONE, which stands for nothing bound, is kept as a number of its own. */
struct row_name {
    oid key;
    uint32_t number; /* UNSENT: not yet */
    uint32_t length; /* of the term's bytes in the chunk, while unsent */
    size_t at;
};
static const uint32_t UNSENT = UINT32_MAX;
static const oid UNBOUND_KEY = UINT64_MAX;

static oid
key_of(oid id)
{
    return id == OID_NONE ? UNBOUND_KEY : id;
}

static struct row_name *
name_place(const struct row_names *names, oid key)
{
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 20) & (names->places - 1);
    while (names->table[at].key != OID_NONE && names->table[at].key != key) {
        at = (at + 1) & (names->places - 1);
    }
    return &names->table[at];
}

static void
grow(struct row_names *names)
{
    const struct row_names old = *names;
    names->places = old.places > 0 ? 2 * old.places : NAMES_FIRST;
    names->table = memory_zero(names->places, sizeof(*names->table));
    for (size_t i = 0; i < old.places; i++) {
        if (old.table[i].key != OID_NONE) {
            *name_place(names, old.table[i].key) = old.table[i];
        }
    }
    free(old.table);
}

void
row_names_init(struct row_names *names, const struct quad_source *source)
{
    *names = (struct row_names){.source = source};
    arena_init(&names->arena, 0);
    buf_init(&names->terms, TERMS_MAXIMUM);
}

void
row_names_release(struct row_names *names)
{
    arena_release(&names->arena);
    buf_release(&names->terms);
    free(names->table);
    free(names->fresh);
}

enum status
row_names_stored(void *context, oid id, struct term *term, struct reason *why)
{
    struct row_names *names = context;
    arena_reset(&names->arena);
    return names->source->resolve(names->source->context, id, &names->arena, term, why);
}

void
row_names_note(struct row_names *names, oid id)
{
    if (2 * names->count >= names->places) {
        grow(names);
    }
    struct row_name *name = name_place(names, key_of(id));
    if (name->key != OID_NONE) {
        return;
    }
    *name = (struct row_name){.key = key_of(id), .number = UNSENT};
    names->count++;
    names->fresh =
        array_grow(names->fresh, names->fresh_count, &names->fresh_capacity, sizeof(*names->fresh));
    names->fresh[names->fresh_count++] = id;
}

static int
compare_ids(const void *a, const void *b)
{
    const oid left = *(const oid *)a, right = *(const oid *)b;
    return left < right ? -1 : left > right;
}

enum status
row_names_prepare(struct row_names *names, row_names_resolve *resolve, void *context,
                  struct reason *why)
{
    buf_reset(&names->terms);
    if (names->fresh_count > 0) {
        qsort(names->fresh, names->fresh_count, sizeof(*names->fresh), compare_ids);
    }
    for (size_t i = 0; i < names->fresh_count; i++) {
        const oid id = names->fresh[i];
        struct row_name *name = name_place(names, key_of(id));
        name->at = names->terms.length;
        if (index_name_has_term(id)) {
            struct term term;
            TRY(resolve(context, id, &term, why));
            index_put_term(&names->terms, &term);
        }
        name->length = (uint32_t)(names->terms.length - name->at);
    }
    names->fresh_count = 0;
    return names->terms.overflowed
               ? status_fail(why, STATUS_LIMIT, "terms of more than %d bytes", TERMS_MAXIMUM)
               : STATUS_OK;
}

void
row_names_put(struct row_names *names, oid id, struct buf *out)
{
    struct row_name *name = name_place(names, key_of(id));
    if (names->forget) {
        codec_put_varint(out, INDEX_NAME_FORGET);
        names->forget = false;
    }
    if (name->number != UNSENT) {
        codec_put_varint(out, INDEX_NAME_FIRST + (uint64_t)name->number);
        return;
    }
    name->number = names->sent++;
    codec_put_varint(out, INDEX_NAME_NEW);
    codec_put_u64(out, id);
    (void)buf_append_slice(out, slice_of(names->terms.data + name->at, name->length));
}

static void
forget_many(struct row_names *names)
{
    if (names->count > NAMES_MOST) {
        memset(names->table, 0, names->places * sizeof(*names->table));
        names->count = names->sent = 0;
        names->forget = true;
    }
}

enum status
row_names_send(struct row_names *names, struct buf *out, struct cursor *cursor, bool last,
               size_t most, size_t *room, struct reason *why)
{
    if (out->overflowed) {
        return status_fail(why, STATUS_LIMIT, "rows of more than %d bytes", ROW_NAMES_PIECE);
    }
    const enum status status =
        (last ? cursor_write_last : cursor_write)(cursor, buf_slice(out), why);
    buf_reset(out);
    forget_many(names);
    if (names->terms.length > TERMS_MOST) {
        *room = 1;
    } else {
        *room = *room < most / CHUNK_GROWTH ? *room * CHUNK_GROWTH : most;
    }
    return status;
}
