/* Term tables (open addressing, chained to the tables of outer contexts) and the cache of
 * contexts between documents. */
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/jsonld/jsonld_processor.h"

enum { TABLE_START = 16, CHAIN_LONGEST = 6 };

struct jsonld_contexts *
jsonld_contexts_new(void)
{
    struct jsonld_contexts *contexts = memory_new(sizeof *contexts);
    arena_init(&contexts->arena, 0);
    contexts->pool.arena = &contexts->arena;
    return contexts;
}

void
jsonld_contexts_free(struct jsonld_contexts *contexts)
{
    if (contexts != NULL) {
        arena_release(&contexts->arena);
        free(contexts);
    }
}

static struct jsonld_term **
find_slot(const struct term_table *table, struct slice name, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & table->mask;
    while (table->slots[at] != NULL &&
           (table->slots[at]->hash != hash || !slice_equal(table->slots[at]->name, name))) {
        at = (at + 1) & table->mask;
    }
    return &table->slots[at];
}

static const struct jsonld_term *
find_hashed(const struct term_table *table, struct slice name, uint64_t hash)
{
    for (; table != NULL; table = table->behind) {
        const struct jsonld_term *term = *find_slot(table, name, hash);
        if (term != NULL) {
            return term->removed ? NULL : term;
        }
    }
    return NULL;
}

const struct jsonld_term *
jsonld_find_term(const struct jsonld_context *context, struct slice name)
{
    return context->terms != NULL ? find_hashed(context->terms, name, json_hash_text(name)) : NULL;
}

static void
grow(struct arena *arena, struct term_table *table)
{
    const uint32_t old = table->mask + 1;
    struct jsonld_term **slots = table->slots;
    table->mask = old * 2 - 1;
    table->slots = arena_zero(arena, (table->mask + 1) * sizeof *slots);
    for (uint32_t i = 0; i < old; i++) {
        if (slots[i] != NULL) {
            *find_slot(table, slots[i]->name, slots[i]->hash) = slots[i];
        }
    }
}

void
jsonld_put_term(struct arena *arena, struct term_table *table, struct jsonld_term *term)
{
    term->hash = json_hash_text(term->name);
    struct jsonld_term **slot = find_slot(table, term->name, term->hash);
    if (*slot == NULL && ++table->count * 3 > table->mask * 2) {
        grow(arena, table);
        slot = find_slot(table, term->name, term->hash);
    }
    *slot = term;
    table->type_alias |= term->keyword == KEYWORD_TYPE;
    table->is_protected |= term->is_protected;
}

static struct term_table *
empty_table(struct arena *arena, uint32_t size)
{
    struct term_table *table = arena_zero(arena, sizeof *table);
    table->mask = size - 1;
    table->slots = arena_zero(arena, size * sizeof(struct jsonld_term *));
    return table;
}

struct term_table *
jsonld_new_table(struct jsonld *jsonld, struct arena *arena, const struct term_table *behind)
{
    struct term_table *table = empty_table(arena, TABLE_START);
    if (behind == NULL) {
        return table;
    }
    if (behind->depth < CHAIN_LONGEST) {
        table->behind = behind;
        table->depth = behind->depth + 1;
        table->type_alias = behind->type_alias;
        table->is_protected = behind->is_protected;
        return table;
    }
    for (const struct term_table *from = behind; from != NULL; from = from->behind) {
        for (uint32_t i = 0; i <= from->mask; i++) {
            struct jsonld_term *term = from->slots[i];
            if (term != NULL && find_hashed(behind, term->name, term->hash) == term) {
                jsonld_put_term(arena, table, term);
            }
        }
        jsonld->steps += from->mask / 4;
    }
    return table;
}

bool
jsonld_has_protected(const struct jsonld_context *context)
{
    const struct term_table *from = context->terms;
    for (; from != NULL && from->is_protected; from = from->behind) {
        for (uint32_t i = 0; i <= from->mask; i++) {
            const struct jsonld_term *term = from->slots[i];
            if (term != NULL && term->is_protected &&
                find_hashed(context->terms, term->name, term->hash) == term) {
                return true;
            }
        }
    }
    return false;
}
