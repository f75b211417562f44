/* Searching: the best literals of one query, best first.
 *
 * Each word wanted is a group of keys (the word, its stems, what OR or a prefix adds); a literal
 * must be in each group and in no excluded one. The group with the fewest literals leads. A cell is
 * one class of the leader: all literals of a length with the word so and so often. Its best score
 * is known beforehand, so cells are gone through from the best on, until as many literals as wanted
 * have better scores than what is left. When more are asked for, the same is done with a greater
 * number and what was given already passed over: scores do not change during a search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "index/literals_lists.h"

enum {
    EXPANSIONS_MOST = 4096, /* words of a prefix */
    FIRST_WANTED = 64,
    WANTED_MOST = 1 << 22
};

/* BM25's, as most have them. */
static const double saturation = 1.2, by_length = 0.75;
/* Of a word that only has the same stem. */
static const double stem_weight = 0.9;

struct group {
    struct words_key **keys;
    size_t count, capacity;
    uint64_t literals;
    struct words_union all;      /* lists of the cell under way, */
    bool open;                   /* once they are needed */
    double best[LENGTH_CLASSES]; /* scores; 0: none */
};

struct groups {
    struct group *at;
    size_t count, capacity;
};

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
    struct words_view view;
    struct arena arena;
    struct tokenizer *tokenizer;
    struct nodes_reader *nodes;
    struct groups wanted, excluded;
    struct query_phrase **conditions; /* phrases that all must stand in the text */
    size_t condition_count;
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

/* ---- keys ---- */

static struct group *
add_group(struct groups *groups)
{
    if (groups->count == groups->capacity) {
        groups->capacity = groups->capacity ? 2 * groups->capacity : 8;
        groups->at = memory_resize(groups->at, groups->capacity, sizeof(*groups->at));
    }
    groups->at[groups->count] = (struct group){0};
    return &groups->at[groups->count++];
}

static void
add_key(struct group *group, struct words_key *key)
{
    if (group->count == group->capacity) {
        group->capacity = group->capacity ? 2 * group->capacity : 8;
        group->keys = memory_resize(group->keys, group->capacity, sizeof(struct words_key *));
    }
    group->keys[group->count++] = key;
    group->literals += key->literals;
}

static double
weight_of(const struct literals_search *s, uint64_t literals)
{
    const double count = (double)s->view.count;
    const double with = (double)literals < count ? (double)literals : count;
    return log(1 + (count - with + 0.5) / (with + 0.5));
}

static enum status
add_word(struct literals_search *s, struct group *group, struct slice word, struct reason *why)
{
    struct words_key *key;
    TRY(words_find(&s->view, word, &s->arena, &key, why));
    if (key != NULL) {
        key->weight = weight_of(s, key->literals);
        add_key(group, key);
    }
    return STATUS_OK;
}

static enum status
add_prefix(struct literals_search *s, struct group *group, struct slice prefix, size_t most,
           struct reason *why)
{
    struct words_key **keys;
    size_t count;
    const enum status status =
        words_find_prefix(&s->view, prefix, most, &s->arena, &keys, &count, why);
    uint64_t literals = 0;
    for (size_t i = 0; i < count; i++) {
        literals += keys[i]->literals;
    }
    for (size_t i = 0; i < count; i++) {
        keys[i]->weight = weight_of(s, literals);
        add_key(group, keys[i]);
    }
    free(keys);
    return status;
}

/* Word i of a phrase. */
static enum status
add_phrase_word(struct literals_search *s, struct group *group, const struct query_phrase *phrase,
                size_t i, struct reason *why)
{
    const struct slice word = phrase->words[i].word;
    return phrase->prefix && i + 1 == phrase->count
               ? add_prefix(s, group, word, EXPANSIONS_MOST, why)
               : add_word(s, group, word, why);
}

/* The stems that the word would have in each language. They weigh less than the word itself. */
static enum status
add_stems(struct literals_search *s, struct group *group, const struct token *token,
          struct reason *why)
{
    const size_t first = group->count;
    const uint64_t least = first > 0 ? group->keys[first - 1]->literals : 0;
    for (int i = 0; stem_language_name(i) != NULL; i++) {
        if (s->view.stems >> i & 1) {
            uint8_t key[STEM_KEY_MOST];
            const struct slice stem = tokenizer_stem(s->tokenizer, i, token);
            TRY(add_word(s, group, literals_stem_key(i, stem, key), why));
        }
    }
    for (size_t i = first; i < group->count; i++) {
        const uint64_t literals = group->keys[i]->literals;
        group->keys[i]->weight = stem_weight * weight_of(s, literals > least ? literals : least);
    }
    return STATUS_OK;
}

/* The keys of the phrase's rarest word, on condition that the phrase stands in the text. */
static enum status
add_rarest(struct literals_search *s, struct group *group, struct query_phrase *phrase,
           struct reason *why)
{
    struct group best = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < phrase->count && status == STATUS_OK; i++) {
        struct group one = {0};
        status = add_phrase_word(s, &one, phrase, i, why);
        struct group *worse = i > 0 && one.literals >= best.literals ? &one : &best;
        free(worse->keys);
        best = worse == &one ? best : one;
    }
    for (size_t i = 0; i < best.count; i++) {
        best.keys[i]->condition = phrase;
        add_key(group, best.keys[i]);
    }
    free(best.keys);
    return status;
}

static enum status
add_alternatives(struct literals_search *s, struct group *group, struct query_phrase *phrase,
                 struct reason *why)
{
    for (; phrase != NULL; phrase = phrase->other) {
        if (phrase->count > 1) {
            TRY(add_rarest(s, group, phrase, why));
            continue;
        }
        TRY(add_phrase_word(s, group, phrase, 0, why));
        if (!phrase->exact) {
            TRY(add_stems(s, group, &phrase->words[0], why));
        }
    }
    return STATUS_OK;
}

/* en: the tag, and what begins with en-. */
static enum status
add_tag(struct literals_search *s, struct group *group, struct slice tag, struct reason *why)
{
    uint8_t key[WORD_MOST];
    const struct slice plain = literals_tag_key(tag, key);
    TRY(add_word(s, group, plain, why));
    key[plain.length] = '-';
    TRY(add_prefix(s, group, slice_of((const char *)key, plain.length + 1), EXPANSIONS_MOST, why));
    for (size_t i = 0; i < group->count; i++) {
        group->keys[i]->weight = 0;
    }
    return STATUS_OK;
}

static enum status
add_item(struct literals_search *s, const struct query_item *item, struct reason *why)
{
    struct groups *groups = item->excluded ? &s->excluded : &s->wanted;
    struct query_phrase *phrase = item->phrase;
    if (phrase == NULL) {
        return add_tag(s, add_group(groups), item->tag, why);
    }
    if (item->excluded || phrase->other != NULL || phrase->count == 1) {
        return add_alternatives(s, add_group(groups), phrase, why);
    }
    for (size_t i = 0; i < phrase->count; i++) {
        TRY(add_phrase_word(s, add_group(groups), phrase, i, why));
    }
    s->conditions[s->condition_count++] = phrase;
    return STATUS_OK;
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
        tokenizer_split(s->tokenizer, term.value, keep_text_word, s);
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
        const double norm = saturation * (1 - by_length + by_length * words / s->view.length);
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
weigh_group(struct literals_search *s, struct group *group)
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
    const struct group *left = a;
    const struct group *right = b;
    return left->literals < right->literals ? -1 : left->literals > right->literals;
}

/* The leader first, and its cells, the best first. */
static void
make_cells(struct literals_search *s)
{
    weigh_classes(s);
    qsort(s->wanted.at, s->wanted.count, sizeof(*s->wanted.at), compare_groups);
    double others[LENGTH_CLASSES] = {0};
    bool possible[LENGTH_CLASSES];
    memset(possible, true, sizeof(possible));
    for (size_t g = 0; g < s->wanted.count; g++) {
        weigh_group(s, &s->wanted.at[g]);
        for (unsigned length = 0; length < LENGTH_CLASSES; length++) {
            const double best = s->wanted.at[g].best[length];
            possible[length] = possible[length] && best >= 0;
            others[length] += g > 0 ? best : 0;
        }
    }
    for (size_t g = 0; g < s->excluded.count; g++) {
        weigh_group(s, &s->excluded.at[g]);
    }
    for (unsigned class = 0; class < WORD_CLASSES; class += 1) {
        const struct group *leader = &s->wanted.at[0];
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
open_lists(struct literals_search *s, const struct group *group, struct words_union *all,
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

/* Whether the number stands in the union, with its best score there; the union moves past it. */
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

static void
sift_down(struct hit *hits, size_t count)
{
    for (size_t at = 0;;) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            worst = is_better(&hits[worst], &hits[child]) ? child : worst;
        }
        if (worst == at) {
            return;
        }
        const struct hit hit = hits[at];
        hits[at] = hits[worst];
        hits[worst] = hit;
        at = worst;
    }
}

static void
keep_hit(struct literals_search *s, const struct hit *hit)
{
    if (s->count == s->wanted_hits) {
        s->hits[0] = *hit;
        sift_down(s->hits, s->count);
        return;
    }
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : FIRST_WANTED;
        s->hits = memory_resize(s->hits, s->capacity, sizeof(*s->hits));
    }
    size_t at = s->count++;
    s->hits[at] = *hit;
    while (at > 0 && is_better(&s->hits[(at - 1) / 2], &s->hits[at])) {
        const struct hit up = s->hits[(at - 1) / 2];
        s->hits[(at - 1) / 2] = s->hits[at];
        s->hits[at] = up;
        at = (at - 1) / 2;
    }
}

/* Whether such a one would be among those wanted. */
static bool
is_wanted(const struct literals_search *s, const struct hit *hit)
{
    return s->count < s->wanted_hits || is_better(hit, &s->hits[0]);
}

/* As match, of a group's literals with the length of the cell's. */
static enum status
match_group(struct literals_search *s, const struct cell *cell, struct group *group,
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
    for (size_t g = 1; g < s->wanted.count; g++) {
        TRY(match_group(s, cell, &s->wanted.at[g], hit, &found, why));
        if (!found.found) {
            return STATUS_OK;
        }
        hit->score += found.score;
    }
    if (!is_wanted(s, hit)) {
        return STATUS_OK;
    }
    for (size_t g = 0; g < s->excluded.count; g++) {
        TRY(match_group(s, cell, &s->excluded.at[g], hit, &found, why));
        if (found.found) {
            return STATUS_OK;
        }
    }
    *good = true;
    for (size_t i = 0; i < s->condition_count && *good; i++) {
        TRY(has_phrase(s, hit, s->conditions[i], good, why));
    }
    return STATUS_OK;
}

/* Whether the literal belongs to a better cell of the leader. */
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
    for (size_t g = 0; g < s->wanted.count; g++) {
        s->wanted.at[g].open = false;
    }
    for (size_t g = 0; g < s->excluded.count; g++) {
        s->excluded.at[g].open = false;
    }
}

static enum status
search_cell(struct literals_search *s, const struct cell *cell, struct reason *why)
{
    struct group *leader = &s->wanted.at[0];
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

static void
init_unions(struct literals_search *s, struct groups *groups)
{
    for (size_t g = 0; g < groups->count; g++) {
        words_union_init(&groups->at[g].all, &s->view, &s->arena);
    }
}

static enum status
prepare(struct literals_search *s, struct slice words, struct reason *why)
{
    struct query_item *items;
    TRY(word_query_parse(&items, words, s->tokenizer, &s->arena, why));
    s->conditions = arena_alloc(&s->arena, QUERY_WORDS_MOST * sizeof(struct query_phrase *));
    for (const struct query_item *item = items; item != NULL; item = item->next) {
        TRY(add_item(s, item, why));
    }
    init_unions(s, &s->wanted);
    init_unions(s, &s->excluded);
    words_union_init(&s->rivals, &s->view, &s->arena);
    make_cells(s);
    return search(s, why);
}

enum status
literals_search_open(struct literals_search **result, struct literals *literals,
                     struct nodes *nodes, struct slice words, uint32_t most, struct reason *why)
{
    struct literals_search *s = memory_zero(1, sizeof(*s));
    words_view_open(&s->view, literals);
    arena_init(&s->arena, 0);
    buf_init(&s->text, SIZE_MAX / 2);
    s->tokenizer = tokenizer_new();
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

static void
groups_release(struct groups *groups)
{
    for (size_t g = 0; g < groups->count; g++) {
        words_union_release(&groups->at[g].all);
        free(groups->at[g].keys);
    }
    free(groups->at);
}

void
literals_search_close(struct literals_search *s)
{
    if (s == NULL) {
        return;
    }
    groups_release(&s->wanted);
    groups_release(&s->excluded);
    words_union_release(&s->rivals);
    words_view_close(&s->view);
    nodes_reader_free(s->nodes);
    tokenizer_free(s->tokenizer);
    buf_release(&s->text);
    arena_release(&s->arena);
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
