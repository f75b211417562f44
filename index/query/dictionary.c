#include "index/query/dictionary.h"

#include <stdlib.h>

#include "base/memory.h"

enum { CACHE_BYTES = 8 << 20, FIRST_ROOM = 64 };

void
dictionary_init(struct dictionary *dictionary, const struct quad_source *source,
                struct memory_account *account)
{
    *dictionary = (struct dictionary){.source = source, .account = account};
    arena_init(&dictionary->interned, 0);
    arena_init(&dictionary->resolved, 0);
    dictionary->cache = memory_zero(DICTIONARY_CACHE, sizeof *dictionary->cache);
}

void
dictionary_release(struct dictionary *dictionary)
{
    arena_release(&dictionary->interned);
    arena_release(&dictionary->resolved);
    free(dictionary->entries);
    free(dictionary->table);
    free(dictionary->locals);
    free(dictionary->cache);
}

void
dictionary_trim(struct dictionary *dictionary)
{
    if (dictionary->resolved.used > CACHE_BYTES) {
        memset(dictionary->cache, 0, DICTIONARY_CACHE * sizeof *dictionary->cache);
        arena_reset(&dictionary->resolved);
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

static enum status
grow(struct dictionary *dictionary, struct reason *why)
{
    const size_t room = dictionary->room ? dictionary->room * 2 : FIRST_ROOM;
    TRY(memory_take(dictionary->account,
                    (room - dictionary->room) *
                        (sizeof *dictionary->entries + 3 * sizeof *dictionary->table),
                    "computed terms", why));
    dictionary->entries = memory_resize(dictionary->entries, room, sizeof *dictionary->entries);
    dictionary->locals = memory_resize(dictionary->locals, room, sizeof *dictionary->locals);
    free(dictionary->table);
    dictionary->table = memory_zero(room * 2, sizeof *dictionary->table);
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
    const size_t before = dictionary->interned.used;
    struct dictionary_entry *entry = &dictionary->entries[dictionary->count];
    if (!term_copy(&dictionary->interned, term, &entry->term)) {
        return status_fail(why, STATUS_LIMIT, "a computed term is too large");
    }
    TRY(memory_take(dictionary->account, dictionary->interned.used - before, "computed terms",
                    why));
    if (*id == OID_NONE) {
        *id = OID_LOCAL + dictionary->local_count;
        dictionary->locals[dictionary->local_count++] = (uint32_t)dictionary->count;
    }
    entry->hash = hash;
    entry->id = *id;
    dictionary->table[place] = (uint32_t)++dictionary->count;
    return STATUS_OK;
}
