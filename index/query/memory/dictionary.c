#include "index/query/memory/dictionary.h"

#include <stdlib.h>

#include "base/memory.h"

enum { CACHE_BYTES = 8 << 20, FIRST_ROOM = 64, FIRST_BYTES = 4 << 10, MOST_BYTES = 4 << 20 };

void
dictionary_init(struct dictionary *dictionary, const struct quad_source *source,
                struct spill *spill)
{
    *dictionary = (struct dictionary){.source = source, .spill = spill};
    arena_init(&dictionary->resolved, 0);
    dictionary->cache = memory_zero(DICTIONARY_CACHE, sizeof *dictionary->cache);
}

void
dictionary_release(struct dictionary *dictionary)
{
    struct spill *spill = dictionary->spill;
    for (size_t i = 0; i < dictionary->area_count; i++) {
        spill_area_free(spill, &dictionary->bytes[i]);
    }
    free(dictionary->bytes);
    spill_area_free(spill, &dictionary->entry_area);
    spill_area_free(spill, &dictionary->table_area);
    spill_area_free(spill, &dictionary->local_area);
    arena_release(&dictionary->resolved);
    free(dictionary->cache);
}

void
dictionary_trim(struct dictionary *dictionary)
{
    if (dictionary->resolved.used > CACHE_BYTES) {
        memset(dictionary->cache, 0, DICTIONARY_CACHE * sizeof *dictionary->cache);
        arena_reset(&dictionary->resolved);
        dictionary->trims++;
    }
}

enum status
dictionary_term(struct dictionary *dictionary, oid id, struct term *term, struct reason *why)
{
    if (id >= OID_LOCAL) {
        *term = dictionary->entries[dictionary->locals[id - OID_LOCAL]].term;
        return STATUS_OK;
    }
    const size_t place = hash_mix(0, id) % DICTIONARY_CACHE;
    if (dictionary->cache[place].id != id) {
        struct term resolved;
        TRY(dictionary->source->resolve(dictionary->source->context, id, &dictionary->resolved,
                                        &resolved, why));
        dictionary->cache[place].id = id;
        dictionary->cache[place].term = resolved;
    }
    *term = dictionary->cache[place].term;
    return STATUS_OK;
}

static uint64_t
hash_term(const struct term *term)
{
    uint64_t hash = hash_bytes((uint64_t)term->kind, term->value.at, term->value.length);
    hash = hash_bytes(hash, term->datatype.at, term->datatype.length);
    return hash_bytes(hash, term->language.at, term->language.length);
}

/* ---- interning ---- */

/* A larger area with what the old one has. */
static enum status
enlarge(struct dictionary *dictionary, struct spill_area *area, size_t size, struct reason *why)
{
    struct spill_area larger;
    TRY(spill_area_new(dictionary->spill, size, "computed terms", &larger, why));
    if (area->size) {
        memcpy(larger.memory, area->memory, area->size);
    }
    spill_area_free(dictionary->spill, area);
    *area = larger;
    return STATUS_OK;
}

static enum status
grow(struct dictionary *dictionary, struct reason *why)
{
    const size_t room = dictionary->room ? dictionary->room * 2 : FIRST_ROOM;
    TRY(enlarge(dictionary, &dictionary->entry_area, room * sizeof *dictionary->entries, why));
    dictionary->entries = dictionary->entry_area.memory;
    TRY(enlarge(dictionary, &dictionary->local_area, room * sizeof *dictionary->locals, why));
    dictionary->locals = dictionary->local_area.memory;
    spill_area_free(dictionary->spill, &dictionary->table_area);
    TRY(enlarge(dictionary, &dictionary->table_area, room * 2 * sizeof *dictionary->table, why));
    dictionary->table = dictionary->table_area.memory;
    dictionary->room = room;
    for (size_t i = 0; i < dictionary->count; i++) {
        size_t place = dictionary->entries[i].hash & (room * 2 - 1);
        while (dictionary->table[place]) {
            place = (place + 1) & (room * 2 - 1);
        }
        dictionary->table[place] = (uint32_t)i + 1;
    }
    return STATUS_OK;
}

static enum status
more_bytes(struct dictionary *dictionary, size_t least, struct reason *why)
{
    const size_t count = dictionary->area_count;
    size_t size = count ? dictionary->bytes[count - 1].size * 2 : FIRST_BYTES;
    size = size > MOST_BYTES ? MOST_BYTES : size;
    dictionary->bytes = memory_resize(dictionary->bytes, count + 1, sizeof *dictionary->bytes);
    TRY(spill_area_new(dictionary->spill, size < least ? least : size, "computed terms",
                       &dictionary->bytes[count], why));
    dictionary->area_count++;
    dictionary->filled = 0;
    return STATUS_OK;
}

static struct slice
keep_slice(struct dictionary *dictionary, struct slice slice)
{
    char *to = (char *)dictionary->bytes[dictionary->area_count - 1].memory + dictionary->filled;
    if (slice.length) {
        memcpy(to, slice.at, slice.length);
    }
    dictionary->filled += slice.length;
    return slice_of(to, slice.length);
}

static enum status
keep_term(struct dictionary *dictionary, const struct term *term, struct term *kept,
          struct reason *why)
{
    const size_t length = term->value.length + term->datatype.length + term->language.length;
    if (!dictionary->area_count ||
        length > dictionary->bytes[dictionary->area_count - 1].size - dictionary->filled) {
        TRY(more_bytes(dictionary, length, why));
    }
    *kept = *term;
    kept->value = keep_slice(dictionary, term->value);
    kept->datatype = keep_slice(dictionary, term->datatype);
    kept->language = keep_slice(dictionary, term->language);
    return STATUS_OK;
}

enum status
dictionary_intern(struct dictionary *dictionary, const struct term *term, oid *id,
                  struct reason *why)
{
    if (dictionary->count == dictionary->room) {
        TRY(grow(dictionary, why));
    }
    const uint64_t hash = hash_term(term);
    const size_t mask = dictionary->room * 2 - 1;
    size_t place = hash & mask;
    for (; dictionary->table[place]; place = (place + 1) & mask) {
        const struct dictionary_entry *entry = &dictionary->entries[dictionary->table[place] - 1];
        if (entry->hash == hash && term_equal(&entry->term, term)) {
            *id = entry->id;
            return STATUS_OK;
        }
    }
    TRY(dictionary->source->lookup(dictionary->source->context, term, id, why));
    struct dictionary_entry *entry = &dictionary->entries[dictionary->count];
    TRY(keep_term(dictionary, term, &entry->term, why));
    if (*id == OID_NONE) {
        *id = OID_LOCAL + dictionary->local_count;
        dictionary->locals[dictionary->local_count++] = (uint32_t)dictionary->count;
    }
    entry->hash = hash;
    entry->id = *id;
    dictionary->table[place] = (uint32_t)++dictionary->count;
    return STATUS_OK;
}
