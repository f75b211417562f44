#include "rdf/core/term.h"

#include "rdf/core/vocabulary.h"
#include "rdf/core/writer.h"

/* The datatype that the N-Quads form shows: none for xsd:string and language-tagged strings. */
static struct slice
shown_datatype(const struct term *term)
{
    if (term->language.length > 0 || slice_is(term->datatype, XSD_STRING)) {
        return (struct slice){NULL, 0};
    }
    return term->datatype;
}

bool
term_equal(const struct term *a, const struct term *b)
{
    if (a->kind != b->kind || !slice_equal(a->value, b->value)) {
        return false;
    }
    return a->kind != TERM_LITERAL || (slice_equal(a->language, b->language) &&
                                       slice_equal(shown_datatype(a), shown_datatype(b)));
}

/* Order of the strings a + end and b + end, where end occurs in neither. */
static int
compare_ended(struct slice a, struct slice b, unsigned char end)
{
    const size_t common = a.length < b.length ? a.length : b.length;
    const int order = common == 0 ? 0 : memcmp(a.at, b.at, common);
    if (order != 0 || a.length == b.length) {
        return order;
    }
    const unsigned char next_a = a.length > common ? (unsigned char)a.at[common] : end;
    const unsigned char next_b = b.length > common ? (unsigned char)b.at[common] : end;
    return next_a < next_b ? -1 : 1;
}

/* Compares the escaped forms, as compare_ended does with '"'. */
static int
compare_strings(struct slice a, struct slice b)
{
    const size_t common = a.length < b.length ? a.length : b.length;
    size_t i = 0;
    while (i < common && a.at[i] == b.at[i]) {
        i++;
    }
    if (i == common && a.length == b.length) {
        return 0;
    }
    /* A sequence past ASCII that is escaped starts with EF as its neighbours do: step back. */
    while (i > 0 && i < a.length && ((unsigned char)a.at[i] & 0xC0) == 0x80) {
        i--;
    }
    char form_a[NQUADS_ESCAPE_SIZE] = "\"", form_b[NQUADS_ESCAPE_SIZE] = "\"";
    if (i < a.length) {
        nquads_escape(slice_of(a.at + i, a.length - i), form_a);
    }
    if (i < b.length) {
        nquads_escape(slice_of(b.at + i, b.length - i), form_b);
    }
    return strcmp(form_a, form_b);
}

static int
compare_literals(const struct term *a, const struct term *b)
{
    const int order = compare_strings(a->value, b->value);
    if (order != 0) {
        return order;
    }
    /* After the quote: nothing (a blank), '@', '^'. */
    const struct slice type_a = shown_datatype(a), type_b = shown_datatype(b);
    const int rank_a = a->language.length > 0 ? 1 : type_a.length > 0 ? 2 : 0;
    const int rank_b = b->language.length > 0 ? 1 : type_b.length > 0 ? 2 : 0;
    if (rank_a != rank_b) {
        return rank_a - rank_b;
    }
    return rank_a == 1 ? compare_ended(a->language, b->language, ' ')
                       : compare_ended(type_a, type_b, '>');
}

int
term_compare(const struct term *a, const struct term *b)
{
    /* First characters: none, '"', '<', '_'. */
    static const int ranks[] = {
        [TERM_NONE] = 0, [TERM_LITERAL] = 1, [TERM_IRI] = 2, [TERM_BLANK] = 3};
    if (a->kind != b->kind) {
        return ranks[a->kind] - ranks[b->kind];
    }
    switch (a->kind) {
    case TERM_IRI:
        return compare_ended(a->value, b->value, '>');
    case TERM_BLANK:
        return compare_ended(a->value, b->value, ' ');
    case TERM_LITERAL:
        return compare_literals(a, b);
    default:
        return 0;
    }
}

int
quad_compare(const struct quad *a, const struct quad *b)
{
    int order = term_compare(&a->subject, &b->subject);
    if (order == 0) {
        order = term_compare(&a->predicate, &b->predicate);
    }
    if (order == 0) {
        order = term_compare(&a->object, &b->object);
    }
    return order != 0 ? order : term_compare(&a->graph, &b->graph);
}

static bool
slice_copy(struct arena *arena, struct slice from, struct slice *to)
{
    if (from.length == 0) {
        *to = (struct slice){NULL, 0};
        return true;
    }
    *to = arena_copy(arena, from);
    return to->at != NULL;
}

bool
term_copy(struct arena *arena, const struct term *from, struct term *to)
{
    to->kind = from->kind;
    return slice_copy(arena, from->value, &to->value) &&
           slice_copy(arena, from->datatype, &to->datatype) &&
           slice_copy(arena, from->language, &to->language);
}

bool
quad_copy(struct arena *arena, const struct quad *from, struct quad *to)
{
    return term_copy(arena, &from->subject, &to->subject) &&
           term_copy(arena, &from->predicate, &to->predicate) &&
           term_copy(arena, &from->object, &to->object) &&
           term_copy(arena, &from->graph, &to->graph);
}
