/* Nodes of a JSON tree, their hashes, and members of large objects by key. */
#include "rdf/json/json.h"

#include <string.h>
#include <sys/auxv.h>

enum { POOL_NODES = 64, INDEX_FROM = 12 };

struct json_index {
    uint32_t mask;
    struct {
        uint32_t hash;
        struct json *member;
    } slots[];
};

const char *
json_repair_text(enum json_repair repair)
{
    static const char *const texts[] = {
#define X(name, text) text,
        JSON_REPAIR_MAP(X)
#undef X
    };
    return texts[repair];
}

/* ---- nodes ---- */

struct json *
json_new(struct json_pool *pool, enum json_kind kind, uint32_t line)
{
    if (pool->left == 0) {
        pool->free = arena_zero(pool->arena, POOL_NODES * sizeof *pool->free);
        pool->left = POOL_NODES;
    }
    struct json *node = &pool->free[--pool->left];
    node->kind = (uint8_t)kind;
    node->line = line;
    return node;
}

struct json *
json_as_text(struct json_pool *pool, struct slice text, uint32_t line)
{
    struct json *node = json_new(pool, JSON_STRING, line);
    node->text = text;
    return node;
}

void
json_append(struct json *parent, struct json *child)
{
    child->next = NULL;
    child->ordinal = parent->count++;
    if (parent->first != NULL) {
        parent->last->next = child;
    } else {
        parent->first = child;
    }
    parent->last = child;
}

void
json_move(struct json *to, struct json *from)
{
    for (struct json *child = from->first, *next; child != NULL; child = next) {
        next = child->next;
        json_append(to, child);
    }
    from->first = from->last = NULL;
    from->count = 0;
}

/* ---- hashing ---- */

static uint64_t
seed(void)
{
    static uint64_t value;
    if (value == 0) {
        const unsigned char *bytes = (const unsigned char *)getauxval(AT_RANDOM);
        if (bytes != NULL) {
            memcpy(&value, bytes, sizeof value);
        }
        value |= 1;
    }
    return value;
}

__extension__ typedef unsigned __int128 product_type;

static uint64_t
mix(uint64_t a, uint64_t b)
{
    const product_type product =
        (product_type)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xc2b2ae3d27d4eb4fu);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t
json_hash_text(struct slice text)
{
    uint64_t hash = seed() + text.length, word = 0;
    size_t at = 0;
    for (; text.length - at >= 8; at += 8) {
        memcpy(&word, text.at + at, 8);
        hash = mix(hash, word);
    }
    if (at < text.length) {
        word = 0;
        memcpy(&word, text.at + at, text.length - at);
        hash = mix(hash, word);
    }
    return hash;
}

uint64_t
json_hash(const struct json *node)
{
    uint64_t hash = mix(seed(), node->kind);
    if (node->kind == JSON_STRING || node->kind == JSON_NUMBER) {
        return mix(hash, json_hash_text(node->text));
    }
    if (node->kind >= JSON_ARRAY) {
        for (const struct json *child = node->first; child != NULL; child = child->next) {
            hash = mix(hash, json_hash(child) + json_hash_text(child->key));
        }
    }
    return hash;
}

bool
json_same(const struct json *a, const struct json *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == JSON_STRING || a->kind == JSON_NUMBER) {
        return slice_equal(a->text, b->text);
    }
    if (a->kind < JSON_ARRAY) {
        return true;
    }
    const struct json *left = a->first, *right = b->first;
    while (left != NULL && right != NULL && slice_equal(left->key, right->key) &&
           json_same(left, right)) {
        left = left->next;
        right = right->next;
    }
    return left == NULL && right == NULL;
}

/* ---- members by key ---- */

static struct json **
index_slot(struct json_index *index, struct slice key)
{
    const uint32_t hash = (uint32_t)json_hash_text(key);
    uint32_t at = hash & index->mask;
    while (index->slots[at].member != NULL &&
           (index->slots[at].hash != hash || !slice_equal(index->slots[at].member->key, key))) {
        at = (at + 1) & index->mask;
    }
    index->slots[at].hash = hash;
    return &index->slots[at].member;
}

static void
index_build(struct json_pool *pool, struct json *object)
{
    uint32_t size = 4 * INDEX_FROM;
    while (size < object->count * 3) {
        size *= 2;
    }
    uint32_t power = 16;
    while (power < size) {
        power *= 2;
    }
    struct json_index *index =
        arena_zero(pool->arena, sizeof *index + power * sizeof index->slots[0]);
    index->mask = power - 1;
    object->index = index;
    for (struct json *member = object->first; member != NULL; member = member->next) {
        *index_slot(index, member->key) = member;
    }
}

struct json *
json_get(const struct json *object, struct slice key)
{
    if (object == NULL || object->kind != JSON_OBJECT) {
        return NULL;
    }
    if (object->index != NULL) {
        const struct json_index *index = object->index;
        const uint32_t hash = (uint32_t)json_hash_text(key);
        uint32_t at = hash & index->mask;
        while (index->slots[at].member != NULL &&
               (index->slots[at].hash != hash || !slice_equal(index->slots[at].member->key, key))) {
            at = (at + 1) & index->mask;
        }
        return index->slots[at].member;
    }
    struct json *member = object->first;
    while (member != NULL && !slice_equal(member->key, key)) {
        member = member->next;
    }
    return member;
}

/* Appends the member, or puts its value in the place of the one with the same key. */
void
json_add(struct json_pool *pool, struct json *object, struct json *member)
{
    struct json *old = NULL;
    if (object->index != NULL) {
        if (object->count * 2 >= object->index->mask) {
            index_build(pool, object);
        }
        struct json **slot = index_slot(object->index, member->key);
        old = *slot;
        *slot = old != NULL ? old : member;
    } else {
        old = json_get(object, member->key);
    }
    if (old == NULL) {
        json_append(object, member);
        if (object->index == NULL && object->count == INDEX_FROM) {
            index_build(pool, object);
        }
        return;
    }
    member->next = old->next;
    member->ordinal = old->ordinal;
    *old = *member;
}
