/* Adds what follows from the triples: property copying and vocabulary expansion. Both repeat until
 * nothing new follows, over a set of the triples there are. */
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "rdf/core/vocabulary.h"
#include "transforms/rdfa/rdfa_processor.h"

/* Triples that may be added, and how many may be looked at for it. Each round of copying doubles
 * how far a chain of patterns is followed. */
enum { RULES_MAXIMUM = 1 << 18, RULES_WORK = 1 << 24, RULES_ROUNDS = 8 };

#define RDFS "http://www.w3.org/2000/01/rdf-schema#"
#define OWL "http://www.w3.org/2002/07/owl#"

/* ---- a set of triples ---- */

struct set {
    struct rdfa *rdfa;
    struct map places; /* in rdfa->quads, by the hash of each: base/map.h */
    size_t known;      /* quads that are in it */
    uint64_t work, added;
};

static uint64_t
hash_slice(uint64_t hash, struct slice slice)
{
    for (size_t i = 0; i < slice.length; i++) {
        hash = (hash ^ (uint8_t)slice.at[i]) * 0x100000001b3U;
    }
    return (hash ^ 0xff) * 0x100000001b3U;
}

static uint64_t
hash_quad(const struct quad *quad)
{
    uint64_t hash = hash_slice(0xcbf29ce484222325U, quad->subject.value);
    hash = hash_slice(hash, quad->predicate.value);
    hash = hash_slice(hash, quad->object.value);
    return hash ^ hash >> 29;
}

static bool
same_triple(const struct quad *a, const struct quad *b)
{
    return term_equal(&a->subject, &b->subject) && term_equal(&a->predicate, &b->predicate) &&
           term_equal(&a->object, &b->object);
}

/* Returns false when it is there already. */
static bool
set_insert(struct set *set, const struct quad *quad, uint32_t place)
{
    for (uint64_t hash = hash_quad(quad);; hash++) {
        const uint32_t at = map_get(&set->places, hash);
        if (at == (uint32_t)MAP_NONE) {
            map_set(&set->places, hash, place);
            return true;
        }
        if (same_triple(&set->rdfa->quads[at], quad)) {
            return false;
        }
    }
}

static bool
is_exhausted(const struct set *set)
{
    return set->rdfa->full || set->work >= RULES_WORK || set->added >= RULES_MAXIMUM;
}

/* false: there already, or too much. */
static bool
set_add(struct set *set, const struct term *subject, struct slice predicate,
        const struct term *object, uint32_t line)
{
    struct rdfa *rdfa = set->rdfa;
    const struct quad quad = {
        .subject = *subject, .predicate = term_iri(predicate), .object = *object};
    if (is_exhausted(set)) {
        return false;
    }
    set->work++;
    for (; set->known < rdfa->quad_count; set->known++) {
        set_insert(set, &rdfa->quads[set->known], (uint32_t)set->known);
    }
    if (!set_insert(set, &quad, (uint32_t)rdfa->quad_count)) {
        return false;
    }
    rdfa->line = line;
    set->added++;
    rdfa_add(rdfa, subject, predicate, object);
    set->known = rdfa->quad_count;
    return true;
}

/* ---- property copying: HTML+RDFa 1.1, section 3.5 ---- */

static int
by_subject(const void *left, const void *right)
{
    const struct quad *a = left, *b = right;
    return term_compare(&a->subject, &b->subject);
}

/* Returns the first of the quads, sorted by subject, that is about the term; count when there is
 * none. */
static size_t
first_about(const struct quad *quads, size_t count, const struct term *subject)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (term_compare(&quads[middle].subject, subject) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && term_equal(&quads[low].subject, subject) ? low : count;
}

static bool
is_pattern_type(const struct quad *quad)
{
    return slice_is(quad->predicate.value, RDF_TYPE) && quad->object.kind == TERM_IRI &&
           slice_is(quad->object.value, RDFA_NAMESPACE "Pattern");
}

static bool
is_copy(const struct quad *quad)
{
    return slice_is(quad->predicate.value, RDFA_NAMESPACE "copy");
}

static bool
is_pattern(const struct quad *patterns, size_t count, const struct term *term)
{
    return first_about(patterns, count, term) < count;
}

/* Everything that a pattern says is said of what copies it; patterns may copy patterns. */
static void
copy_all(struct set *set, const struct quad *patterns, size_t count)
{
    struct rdfa *rdfa = set->rdfa;
    bool grown = true;
    for (unsigned round = 0; grown && round < RULES_ROUNDS; round++) {
        grown = false;
        const size_t before = rdfa->quad_count;
        struct quad *sorted = memory_alloc((before + 1) * sizeof *sorted);
        memcpy(sorted, rdfa->quads, before * sizeof *sorted);
        qsort(sorted, before, sizeof *sorted, by_subject);
        for (size_t i = 0; i < before; i++) {
            const struct quad copy = rdfa->quads[i];
            if (!is_copy(&copy) || !is_pattern(patterns, count, &copy.object)) {
                continue;
            }
            for (size_t k = first_about(sorted, before, &copy.object);
                 k < before && !is_exhausted(set) && term_equal(&sorted[k].subject, &copy.object);
                 k++) {
                if (!is_pattern_type(&sorted[k])) {
                    grown |= set_add(set, &copy.subject, sorted[k].predicate.value,
                                     &sorted[k].object, copy.line);
                }
            }
        }
        free(sorted);
    }
}

/* Keeps those patterns that something copies: others are not taken out. */
static size_t
keep_copied(const struct rdfa *rdfa, struct quad *patterns, size_t count)
{
    size_t kept = 0;
    struct quad *copies = memory_alloc((rdfa->quad_count + 1) * sizeof *copies);
    size_t copy_count = 0;
    for (size_t i = 0; i < rdfa->quad_count; i++) {
        if (is_copy(&rdfa->quads[i])) {
            copies[copy_count] = rdfa->quads[i];
            copies[copy_count++].subject = rdfa->quads[i].object;
        }
    }
    qsort(copies, copy_count, sizeof *copies, by_subject);
    for (size_t i = 0; i < count; i++) {
        if (first_about(copies, copy_count, &patterns[i].subject) < copy_count) {
            patterns[kept++] = patterns[i];
        }
    }
    free(copies);
    return kept;
}

void
rdfa_copy_patterns(struct rdfa *rdfa)
{
    struct set set = {.rdfa = rdfa};
    size_t count = 0;
    struct quad *patterns = memory_alloc((rdfa->quad_count + 1) * sizeof *patterns);
    for (size_t i = 0; i < rdfa->quad_count; i++) {
        if (is_pattern_type(&rdfa->quads[i])) {
            patterns[count++] = rdfa->quads[i];
        }
    }
    count = keep_copied(rdfa, patterns, count);
    if (count > 0) {
        qsort(patterns, count, sizeof *patterns, by_subject);
        copy_all(&set, patterns, count);
        size_t kept = 0;
        for (size_t i = 0; i < rdfa->quad_count; i++) {
            const struct quad *quad = &rdfa->quads[i];
            const bool gone = is_pattern(patterns, count, &quad->subject) ||
                              (is_copy(quad) && is_pattern(patterns, count, &quad->object));
            if (!gone) {
                rdfa->quads[kept++] = *quad;
            }
        }
        rdfa->quad_count = kept;
    }
    free(patterns);
    map_release(&set.places);
}

/* ---- vocabulary expansion: RDFa Core 1.1, section 10.2 ---- */

/* Whoever has `from` has `to` as well: properties, or classes. */
struct implication {
    struct slice from, to;
    bool classes;
};

static int
compare_implications(const void *left, const void *right)
{
    const struct implication *a = left, *b = right;
    return slice_compare(a->from, b->from);
}

static size_t
read_implications(struct rdfa *rdfa, const struct graph *vocabulary, struct implication *out)
{
    static const struct {
        struct slice predicate;
        bool classes, both_ways;
    } kinds[] = {
        {SLICE_INIT(RDFS "subPropertyOf"), false, false},
        {SLICE_INIT(RDFS "subClassOf"), true, false},
        {SLICE_INIT(OWL "equivalentProperty"), false, true},
        {SLICE_INIT(OWL "equivalentClass"), true, true},
    };
    size_t count = 0;
    for (size_t i = 0; i < vocabulary->count; i++) {
        const struct quad *quad = &vocabulary->quads[i];
        if (quad->subject.kind != TERM_IRI || quad->object.kind != TERM_IRI) {
            continue;
        }
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (slice_equal(quad->predicate.value, kinds[k].predicate)) {
                const struct slice a = rdfa_keep(rdfa, quad->subject.value);
                const struct slice b = rdfa_keep(rdfa, quad->object.value);
                out[count++] = (struct implication){a, b, kinds[k].classes};
                if (kinds[k].both_ways) {
                    out[count++] = (struct implication){b, a, kinds[k].classes};
                }
            }
        }
    }
    return count;
}

/* Adds what follows from one triple by one step. */
static void
imply(struct set *set, const struct implication *implications, size_t count,
      const struct quad *quad, bool classes)
{
    const struct slice name = classes ? quad->object.value : quad->predicate.value;
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (slice_compare(implications[middle].from, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && !is_exhausted(set) && slice_equal(implications[low].from, name); low++) {
        if (implications[low].classes != classes) {
            continue;
        }
        const struct term to = term_iri(implications[low].to);
        if (classes) {
            set_add(set, &quad->subject, SLICE(RDF_TYPE), &to, quad->line);
        } else {
            set_add(set, &quad->subject, to.value, &quad->object, quad->line);
        }
    }
}

void
rdfa_expand(struct rdfa *rdfa, const struct graph *vocabulary)
{
    struct implication *implications = memory_zero(vocabulary->count * 2 + 1, sizeof *implications);
    const size_t count = read_implications(rdfa, vocabulary, implications);
    struct set set = {.rdfa = rdfa};
    if (count > 0) {
        qsort(implications, count, sizeof *implications, compare_implications);
    }
    /* The array grows while it is read: what was added implies more. */
    for (size_t i = 0; count > 0 && i < rdfa->quad_count; i++) {
        const struct quad quad = rdfa->quads[i];
        imply(&set, implications, count, &quad, false);
        if (slice_is(quad.predicate.value, RDF_TYPE) && quad.object.kind == TERM_IRI) {
            imply(&set, implications, count, &quad, true);
        }
    }
    free(implications);
    map_release(&set.places);
}
