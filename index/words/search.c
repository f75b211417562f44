/* Searching: the best literals of one query, best first.
 *
 * Each word wanted is a group of keys (the word, its stems, what OR or a prefix adds); a literal
 * must be in each group and in no excluded one. The group with the fewest literals leads. A cell is
 * one class of the leader: all literals of a length with the word so and so often. Its best score
 * is known beforehand, so cells are gone through from the best on, until as many literals as wanted
 * have better scores than what is left. When more are asked for, the same is done with a greater
 * number and what was given already passed over: scores do not change during a search. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/heap.h"
#include "base/memory.h"
#include "index/words/search_words.h"

enum { FIRST_WANTED = 128, WANTED_MOST = 1 << 22 };

/* BM25's, as most have them. */
static const double saturation = 1.2, by_length = 0.75;

struct cell {
    unsigned class;
    double best;
};

struct hit {
    double score;
    uint64_t number;
    bool tagged;
};

struct literals_search {
    struct word_wants wants;
    struct nodes_reader *nodes;
    double per_class[WORD_CLASSES];
    struct cell cells[WORD_CLASSES];
    size_t cell_count;
    struct words_union rivals; /* other classes of the leader */

    struct hit *hits; /* while searching a heap, the worst first */
    size_t count, capacity, wanted_hits, given;
    bool more;

    struct buf text; /* words of the literal looked at, each behind its length (u8) */
    uint64_t text_number;
};

static bool
is_better(const struct hit *a, const struct hit *b)
{
    return a->score != b->score ? a->score > b->score : a->number < b->number;
}

/* ---- phrases ---- */

static bool
keep_text_word(void *context, const struct token *token)
{
    struct literals_search *s = context;
    (void)buf_append_char(&s->text, (char)token->word.length);
    (void)buf_append_slice(&s->text, token->word);
    return true;
}

static enum status
read_text(struct literals_search *s, const struct hit *hit, struct reason *why)
{
    if (s->text_number == hit->number) {
        return STATUS_OK;
    }
    struct arena arena;
    struct term term;
    arena_init(&arena, 0);
    const enum status status = nodes_resolve(
        s->nodes, oid_stored(hit->number, hit->tagged ? OID_KIND_LANGUAGE : OID_KIND_STRING),
        &arena, &term, why);
    if (status == STATUS_OK) {
        buf_reset(&s->text);
        tokenizer_split(s->wants.tokenizer, term.value, keep_text_word, s);
        s->text_number = hit->number;
    }
    arena_release(&arena);
    return status;
}

static struct slice
text_word(const struct buf *text, size_t at)
{
    return slice_of(text->data + at + 1, (uint8_t)text->data[at]);
}

static bool
stands_at(const struct buf *text, size_t at, const struct query_phrase *phrase)
{
    for (size_t i = 0; i < phrase->count; i++) {
        if (at >= text->length) {
            return false;
        }
        const struct slice word = text_word(text, at);
        const struct slice wanted = phrase->words[i].word;
        const bool prefix = phrase->prefix && i + 1 == phrase->count;
        if (prefix ? !slice_starts(word, wanted) : !slice_equal(word, wanted)) {
            return false;
        }
        at += 1 + word.length;
    }
    return true;
}

static enum status
has_phrase(struct literals_search *s, const struct hit *hit, const struct query_phrase *phrase,
           bool *has, struct reason *why)
{
    TRY(read_text(s, hit, why));
    *has = false;
    for (size_t at = 0; at < s->text.length && !*has; at += 1 + text_word(&s->text, at).length) {
        *has = stands_at(&s->text, at, phrase);
    }
    return STATUS_OK;
}

/* ---- cells ---- */

static void
weigh_classes(struct literals_search *s)
{
    for (unsigned class = 0; class < WORD_CLASSES; class += 1) {
        const double times = count_class_times[class % COUNT_CLASSES];
        const double words = length_class_words[class / COUNT_CLASSES];
        const double norm = saturation * (1 - by_length + by_length * words / s->wants.view.length);
        s->per_class[class] = times * (saturation + 1) / (times + norm);
    }
}

static bool
has_class(const struct words_key *key, unsigned class)
{
    return key->classes >> class & 1;
}

/* A group that has none of the length has no literal either: best is then below 0. */
static void
weigh_group(struct literals_search *s, struct word_group *group)
{
    for (unsigned length = 0; length < LENGTH_CLASSES; length++) {
        group->best[length] = -1;
    }
    for (size_t i = 0; i < group->count; i++) {
        for (unsigned class = 0; class < WORD_CLASSES; class += 1) {
            double *best = &group->best[class / COUNT_CLASSES];
            const double score = group->keys[i]->weight * s->per_class[class];
            if (has_class(group->keys[i], class) && score > *best) {
                *best = score;
            }
        }
    }
}

static int
compare_cells(const void *a, const void *b)
{
    const struct cell *left = a;
    const struct cell *right = b;
    return left->best != right->best ? (left->best < right->best ? 1 : -1)
                                     : (int)left->class - (int)right->class;
}

static int
compare_groups(const void *a, const void *b)
{
    const struct word_group *left = a;
    const struct word_group *right = b;
    return left->literals < right->literals ? -1 : left->literals > right->literals;
}

/* The leader first, and its cells, the best first. */
static void
make_cells(struct literals_search *s)
{
    weigh_classes(s);
    qsort(s->wants.wanted.at, s->wants.wanted.count, sizeof(*s->wants.wanted.at), compare_groups);
    double others[LENGTH_CLASSES] = {0};
    bool possible[LENGTH_CLASSES];
    memset(possible, true, sizeof(possible));
    for (size_t g = 0; g < s->wants.wanted.count; g++) {
        weigh_group(s, &s->wants.wanted.at[g]);
        for (unsigned length = 0; length < LENGTH_CLASSES; length++) {
            const double best = s->wants.wanted.at[g].best[length];
            possible[length] = possible[length] && best >= 0;
            others[length] += g > 0 ? best : 0;
        }
    }
    for (size_t g = 0; g < s->wants.excluded.count; g++) {
        weigh_group(s, &s->wants.excluded.at[g]);
    }
    for (unsigned class = 0; class < WORD_CLASSES; class += 1) {
        const struct word_group *leader = &s->wants.wanted.at[0];
        double best = -1;
        for (size_t i = 0; i < leader->count; i++) {
            const double score = leader->keys[i]->weight * s->per_class[class];
            best = has_class(leader->keys[i], class) && score > best ? score : best;
        }
        if (best >= 0 && possible[class / COUNT_CLASSES]) {
            s->cells[s->cell_count++] = (struct cell){class, best + others[class / COUNT_CLASSES]};
        }
    }
    qsort(s->cells, s->cell_count, sizeof(*s->cells), compare_cells);
}

/* Lists of the group for a set of classes. */
static enum status
open_lists(struct literals_search *s, const struct word_group *group, struct words_union *all,
           uint64_t classes, struct reason *why)
{
    words_union_reset(all);
    for (size_t i = 0; i < group->count; i++) {
        struct words_key *key = group->keys[i];
        for (uint64_t left = key->classes & classes; left != 0; left &= left - 1) {
            const unsigned class = (unsigned)__builtin_ctzll(left);
            TRY(words_union_add(all, key, class, key->weight * s->per_class[class], why));
        }
    }
    return STATUS_OK;
}

/* All classes of the length that this one is of. */
static uint64_t
same_length(unsigned class)
{
    return ((UINT64_C(1) << COUNT_CLASSES) - 1) << (class - class % COUNT_CLASSES);
}

struct match {
    bool found;
    double score;
    unsigned class;
};

/* Tells whether the number stands in the union, with its best score there; the union moves past
 * it. */
static enum status
match(struct literals_search *s, struct words_union *all, const struct hit *hit, struct match *best,
      struct reason *why)
{
    const struct words_list *first;
    best->found = false;
    TRY(words_union_seek(all, hit->number, &first, why));
    while (first != NULL && first->number == hit->number) {
        bool good = !best->found || first->score > best->score ||
                    (first->score == best->score && first->class > best->class);
        if (good && first->key->condition != NULL) {
            TRY(has_phrase(s, hit, first->key->condition, &good, why));
        }
        if (good) {
            *best = (struct match){true, first->score, first->class};
        }
        TRY(words_union_pass(all, &first, why));
    }
    return STATUS_OK;
}

/* ---- the best ---- */

/* The worst stands first. */
static bool
is_before(const void *heap, size_t a, size_t b)
{
    const struct hit *hits = heap;
    return is_better(&hits[b], &hits[a]);
}

static void
swap_hits(void *heap, size_t a, size_t b)
{
    struct hit *hits = heap;
    const struct hit hit = hits[a];
    hits[a] = hits[b];
    hits[b] = hit;
}

static void
keep_hit(struct literals_search *s, const struct hit *hit)
{
    if (s->count == s->wanted_hits) {
        s->hits[0] = *hit;
        heap_sink(s->hits, s->count, 0, is_before, swap_hits);
        return;
    }
    s->hits = array_grow(s->hits, s->count, &s->capacity, sizeof(*s->hits));
    s->hits[s->count] = *hit;
    heap_rise(s->hits, s->count++, is_before, swap_hits);
}

/* Tells whether such a one would be among those wanted. */
static bool
is_wanted(const struct literals_search *s, const struct hit *hit)
{
    return s->count < s->wanted_hits || is_better(hit, &s->hits[0]);
}

/* Matches, as `match` does, the literals of a group that have the length of the cell's. */
static enum status
match_group(struct literals_search *s, const struct cell *cell, struct word_group *group,
            const struct hit *hit, struct match *found, struct reason *why)
{
    if (!group->open) {
        TRY(open_lists(s, group, &group->all, same_length(cell->class), why));
        group->open = true;
    }
    return match(s, &group->all, hit, found, why);
}

/* The rest of what a literal of the cell must fulfil; adds up its score. */
static enum status
judge(struct literals_search *s, const struct cell *cell, struct hit *hit, bool *good,
      struct reason *why)
{
    struct match found;
    *good = false;
    if (hit->tagged ? s->wants.untagged : s->wants.tagged) {
        return STATUS_OK;
    }
    for (size_t g = 1; g < s->wants.wanted.count; g++) {
        TRY(match_group(s, cell, &s->wants.wanted.at[g], hit, &found, why));
        if (!found.found) {
            return STATUS_OK;
        }
        hit->score += found.score;
    }
    if (!is_wanted(s, hit)) {
        return STATUS_OK;
    }
    for (size_t g = 0; g < s->wants.excluded.count; g++) {
        TRY(match_group(s, cell, &s->wants.excluded.at[g], hit, &found, why));
        if (found.found) {
            return STATUS_OK;
        }
    }
    *good = true;
    for (size_t i = 0; i < s->wants.condition_count && *good; i++) {
        TRY(has_phrase(s, hit, s->wants.conditions[i], good, why));
    }
    return STATUS_OK;
}

/* Tells whether the literal belongs to a better cell of the leader. */
static enum status
is_elsewhere(struct literals_search *s, const struct cell *cell, const struct hit *hit,
             bool *elsewhere, struct reason *why)
{
    struct match rival;
    TRY(match(s, &s->rivals, hit, &rival, why));
    *elsewhere = rival.found && (rival.score > hit->score ||
                                 (rival.score == hit->score && rival.class > cell->class));
    return STATUS_OK;
}

static void
open_cell(struct literals_search *s)
{
    for (size_t g = 0; g < s->wants.wanted.count; g++) {
        s->wants.wanted.at[g].open = false;
    }
    for (size_t g = 0; g < s->wants.excluded.count; g++) {
        s->wants.excluded.at[g].open = false;
    }
}

static enum status
search_cell(struct literals_search *s, const struct cell *cell, struct reason *why)
{
    struct word_group *leader = &s->wants.wanted.at[0];
    const struct words_list *first;
    open_cell(s);
    TRY(open_lists(s, leader, &leader->all, UINT64_C(1) << cell->class, why));
    TRY(open_lists(s, leader, &s->rivals, same_length(cell->class) & ~(UINT64_C(1) << cell->class),
                   why));
    TRY(words_union_seek(&leader->all, 0, &first, why));
    while (first != NULL) {
        struct hit hit = {cell->best, first->number, first->tagged};
        if (!is_wanted(s, &hit)) {
            return STATUS_OK; /* the others come later and are no better */
        }
        struct match found;
        TRY(match(s, &leader->all, &hit, &found, why));
        bool good = found.found;
        if (good) {
            bool elsewhere;
            hit.score = found.score;
            TRY(is_elsewhere(s, cell, &hit, &elsewhere, why));
            good = !elsewhere;
        }
        if (good) {
            TRY(judge(s, cell, &hit, &good, why));
        }
        if (good && is_wanted(s, &hit)) {
            keep_hit(s, &hit);
        }
        TRY(words_union_seek(&leader->all, hit.number + 1, &first, why));
    }
    return STATUS_OK;
}

static int
compare_hits(const void *a, const void *b)
{
    return is_better(a, b) ? -1 : 1;
}

static enum status
search(struct literals_search *s, struct reason *why)
{
    s->count = 0;
    for (size_t i = 0; i < s->cell_count; i++) {
        if (s->count == s->wanted_hits && s->cells[i].best < s->hits[0].score) {
            break;
        }
        TRY(search_cell(s, &s->cells[i], why));
    }
    s->more = s->count == s->wanted_hits && s->wanted_hits < WANTED_MOST;
    if (s->count > 0) {
        qsort(s->hits, s->count, sizeof(*s->hits), compare_hits);
    }
    return STATUS_OK;
}

/* ---- a search ---- */

static enum status
prepare(struct literals_search *s, struct slice words, struct reason *why)
{
    TRY(word_wants_read(&s->wants, words, why));
    words_union_init(&s->rivals, &s->wants.view, &s->wants.arena);
    make_cells(s);
    return search(s, why);
}

enum status
literals_search_open(struct literals_search **result, struct literals *literals,
                     struct nodes *nodes, struct slice words, uint32_t most, struct reason *why)
{
    struct literals_search *s = memory_new(sizeof(*s));
    word_wants_open(&s->wants, literals);
    buf_init(&s->text, SIZE_MAX / 2);
    s->nodes = nodes_reader_new(nodes);
    s->wanted_hits = most < FIRST_WANTED ? (most > 0 ? most : 1) : FIRST_WANTED;
    const enum status status = prepare(s, words, why);
    if (status != STATUS_OK) {
        literals_search_close(s);
        s = NULL;
    }
    *result = s;
    return status;
}

struct slice
literals_search_needs(const struct literals_search *s)
{
    return buf_slice(&s->wants.needs);
}

void
literals_search_close(struct literals_search *s)
{
    if (s == NULL) {
        return;
    }
    words_union_release(&s->rivals);
    word_wants_close(&s->wants);
    nodes_reader_free(s->nodes);
    buf_release(&s->text);
    free(s->hits);
    free(s);
}

enum status
literals_search_next(struct literals_search *s, oid *literal, double *score, struct reason *why)
{
    if (s->given == s->count && s->more) {
        s->wanted_hits = s->wanted_hits < WANTED_MOST / 4 ? 4 * s->wanted_hits : WANTED_MOST;
        TRY(search(s, why));
    }
    if (s->given >= s->count) {
        return STATUS_END;
    }
    const struct hit *hit = &s->hits[s->given++];
    *literal = oid_stored(hit->number, hit->tagged ? OID_KIND_LANGUAGE : OID_KIND_STRING);
    *score = hit->score;
    return STATUS_OK;
}
