#include "search/group.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/memory.h"

const struct find_weights find_usual_weights = {.label = 2, .rest = 0.5, .host = 1.5};

static const struct term *
key_of(const struct find_row *row, enum find_group group)
{
    return group == FIND_BY_DOCUMENT ? &row->quad.graph : &row->quad.subject;
}

static int
compare_triples(const struct quad *a, const struct quad *b)
{
    const int subject = term_compare(&a->subject, &b->subject);
    const int predicate = subject != 0 ? subject : term_compare(&a->predicate, &b->predicate);
    return predicate != 0 ? predicate : term_compare(&a->object, &b->object);
}

static int
compare_rows(const void *a, const void *b, void *group)
{
    const struct find_row *left = a, *right = b;
    const enum find_group by = *(const enum find_group *)group;
    const int order = term_compare(key_of(left, by), key_of(right, by));
    if (order != 0) {
        return order;
    }
    if (left->band != right->band) {
        return left->band < right->band ? -1 : 1;
    }
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    const int triples = compare_triples(&left->quad, &right->quad);
    return triples != 0 ? triples : term_compare(&left->quad.graph, &right->quad.graph);
}

static int
compare_entries(const void *a, const void *b)
{
    const struct find_entry *left = a, *right = b;
    if (left->band != right->band) {
        return left->band < right->band ? -1 : 1;
    }
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    const int order = slice_compare(left->document, right->document);
    return order != 0 ? order : term_compare(&left->resource, &right->resource);
}

static void
weigh(struct find_entry *entry, const struct find_row *rows, const struct find_weights *weights)
{
    double share = 1;
    for (size_t i = 0; i < entry->statements; i++) {
        if (i == 0 || compare_triples(&rows[i - 1].quad, &rows[i].quad) != 0) {
            entry->score += rows[i].score * share;
            share *= weights->rest;
        }
    }
    const struct slice host = find_host(entry->document);
    if (entry->resource.kind == TERM_IRI && host.length > 0 &&
        slice_equal_nocase(find_host(entry->resource.value), host)) {
        entry->score *= weights->host;
    }
}

/* ---- syntaxes of one document ---- */

/* Host and name of a document without what tells its syntax; empty: it has no name. */
static struct slice
name_of(struct slice document, struct arena *arena)
{
    enum { ENDING_MOST = 8 };
    struct slice path = slice_of(document.at, slice_find(document, '#'));
    struct slice query = path;
    path = slice_take(&query, '?');
    struct slice name = find_local_name(path);
    size_t end = name.length;
    while (end > 0 && ascii_is_letter(name.at[end - 1])) {
        end--;
    }
    if (end > 1 && name.at[end - 1] == '.' && name.length - end <= ENDING_MOST) {
        name.length = end - 1;
    }
    if (name.length == 0 || slice_is(name, "index")) {
        return slice_of(NULL, 0);
    }
    const bool syntax =
        slice_starts(query, SLICE("format=")) || slice_starts(query, SLICE("output="));
    const struct slice host = find_host(document);
    return arena_printf(arena, "%.*s %.*s %.*s", SLICE_PRINT(host), SLICE_PRINT(name),
                        SLICE_PRINT(syntax ? slice_of(NULL, 0) : query));
}

/* A number for the triples found in a document, whatever blank nodes are called there. */
static uint64_t
digest_of(const struct find_row *rows, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct term *terms[] = {&rows[i].quad.subject, &rows[i].quad.predicate,
                                      &rows[i].quad.object};
        uint64_t triple = 1;
        for (size_t k = 0; k < 3; k++) {
            const bool blank = terms[k]->kind == TERM_BLANK;
            triple = triple * 31 + (blank ? 1 : digest_local(terms[k]->value)) * (k + 2);
        }
        sum += triple;
    }
    return sum;
}

/* Holds what an entry is compared by. Its name is made only where the triples are the same as
 * another's, which is seldom. */
struct syntax {
    uint64_t digest;
    struct slice name;
    bool named;
};

static bool
same_document(struct syntax *a, struct slice document_a, struct syntax *b, struct slice document_b,
              struct arena *arena)
{
    if (a->digest != b->digest) {
        return false;
    }
    a->name = a->named ? a->name : name_of(document_a, arena);
    b->name = b->named ? b->name : name_of(document_b, arena);
    a->named = b->named = true;
    return a->name.length > 0 && slice_equal(a->name, b->name);
}

static void
merge_syntaxes(struct find_results *results)
{
    struct syntax *seen = memory_zero(results->count + 1, sizeof *seen);
    size_t kept = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct find_entry *entry = &results->entries[i];
        struct syntax syntax = {.digest =
                                    digest_of(&results->rows[entry->first_row], entry->statements)};
        size_t at = 0;
        while (at < kept && !same_document(&seen[at], results->entries[at].document, &syntax,
                                           entry->document, &results->arena)) {
            at++;
        }
        if (at < kept) {
            struct find_entry *first = &results->entries[at];
            first->alternates =
                arena_printf(&results->arena, "%.*s%.*s\n", SLICE_PRINT(first->alternates),
                             SLICE_PRINT(entry->document));
        } else {
            seen[kept] = syntax;
            results->entries[kept++] = *entry;
        }
    }
    results->count = kept;
    free(seen);
}

void
find_group_rows(struct find_results *results, enum find_group group,
                const struct find_weights *weights)
{
    struct find_row *rows = results->rows;
    qsort_r(rows, results->row_count, sizeof *rows, compare_rows, &group);
    results->entries = memory_zero(results->row_count + 1, sizeof *results->entries);
    for (size_t i = 0; i < results->row_count;) {
        const struct find_row *first = &rows[i];
        struct find_entry *entry = &results->entries[results->count++];
        *entry = (struct find_entry){.document = first->quad.graph.value,
                                     .resource = first->quad.subject,
                                     .predicate = first->quad.predicate,
                                     .object = first->quad.object,
                                     .same = first->same,
                                     .band = first->band,
                                     .first_row = i};
        while (i < results->row_count &&
               term_equal(key_of(&rows[i], group), key_of(first, group))) {
            entry->statements += rows[i].band == first->band;
            i++;
        }
        weigh(entry, first, weights);
    }
    qsort(results->entries, results->count, sizeof *results->entries, compare_entries);
    if (group == FIND_BY_DOCUMENT) {
        merge_syntaxes(results);
    }
}
