/* The evaluator: operators that hand rows of identifiers upwards in batches.
 *
 * A row has one identifier for each slot of the query, and some hidden columns behind them that
 * the planner adds. Every pipeline begins with a leaf: `unit` gives one row, the run's base row
 * (empty but for the graph that a loop over graphs is in); `seed` gives rows that an operator
 * around it hands in, one batch at a time, so that a right side runs with the left side's values
 * already bound. operator_reset starts a pipeline anew.
 *
 *    pipeline      filter <- scan <- scan <- unit
 *    left_join     input, and an inner pipeline over a seed; hash_join: input, and a built table
 *
 * A batch belongs to the operator that returned it until it is called again; the caller may
 * change it in place.
 */
#ifndef INDEX_QUERY_OPERATORS_OPERATOR_H
#define INDEX_QUERY_OPERATORS_OPERATOR_H

#include "index/query/functions/expression.h"
#include "index/query/memory/deadline.h"
#include "index/query/memory/key_filter.h"
#include "index/query/memory/row_set.h"

enum { BATCH_ROWS = 256 };

struct batch {
    oid *rows;
    size_t count;
};

/* Tells which graphs a set of quads is in. */
enum graph_kind {
    GRAPHS_ALL,
    GRAPHS_ONE,    /* ids[0] */
    GRAPHS_SET,    /* any of ids */
    GRAPHS_ALL_BUT /* all but ids[0] */
};
struct graphs {
    enum graph_kind kind;
    const oid *ids;
    size_t count;
};

struct operator;
struct star_estimate;
struct helping; /* index/query/operators/ranges.h */
/* What is done by who helps with a run: all of it, and closing its run. */
struct run_help {
    void (*begin)(struct helping *helping, const struct quad_source *source);
    void (*close)(struct helping *helping);
};
struct run {
    const struct query *query;
    const struct quad_source *source;
    const struct query_options *options;
    struct arena arena; /* of the plan */
    struct dictionary dictionary;
    struct memory_account account;
    struct spill spill;
    struct evaluation evaluation;
    oid *constants;
    struct value *values;
    struct graphs default_graphs, named_graphs;
    size_t width; /* columns of a row */
    oid *base_row;
    struct star_estimate *stars; /* known when planning (index/query/plan/cost.c) */
    struct operator** exists;    /* plans of EXISTS, made when planning */
    struct operator* all;        /* every operator, for closing */
    struct deadline deadline;
    uint64_t now_ms;
    uint32_t search_most;
    struct query_report report;
    const struct run_help *help;
    bool helps;    /* it is the run of who helps with another */
    bool measured; /* operators count rows and time */
    bool shares;   /* the source evaluates parts of the query (index/query/plan/share_parts.h) */
};

struct operator_kind {
    const char *name;
    size_t size;
    /* An empty batch is the end, also when called again before a reset. */
    enum status (*next)(struct operator* operator, struct batch ** batch, struct reason *why);
    void (*reset)(struct operator* operator); /* own state; NULL: nothing */
    void (*close)(struct operator* operator); /* own memory; NULL: nothing */
};

struct operator
{
    const struct operator_kind *kind;
    struct run *run;
    struct operator* input;  /* rows come from here; NULL for leaves */
    struct operator** inner; /* other pipelines */
    size_t inner_count;
    struct operator* only;      /* room for one in `inner` */
    struct operator* following; /* in run->all */
    struct batch batch;         /* own rows; made when first used */
    size_t batch_rows;          /* how many of them */
    double estimate;            /* rows */
    struct slice note;          /* what it does, for explaining */
    uint64_t rows, time_us;     /* given so far, and in what time, inputs included; run->measured */
};

/* Zeroed, of the kind's size, in the run's arena. */
struct operator* operator_new(struct run *run, const struct operator_kind *kind,
                              struct operator* input, size_t batch_rows);
enum status operator_next(struct operator* operator, struct batch ** batch, struct reason *why);
void operator_reset(struct operator* operator);
/* Makes a pipeline the only inner one. */
void operator_contain(struct operator* operator, struct operator* inner);
void operators_close(struct run *run);
/* Own batch with memory, emptied. */
enum status operator_batch(struct operator* operator, struct batch ** batch, struct reason *why);
static inline oid *
batch_row(const struct run *run, const struct batch *batch, size_t at)
{
    return batch->rows + at * run->width;
}
/* Copies a row; most are so short that a call of memcpy takes longer. */
static inline void
row_copy(const struct run *run, oid *to, const oid *from)
{
    for (size_t i = 0; i < run->width; i++) {
        to[i] = from[i];
    }
}
/* deadline_check of the run. */
enum status run_check(const struct run *run, struct reason *why);
bool graphs_have(const struct graphs *graphs, oid graph);

/* ---- constructors; each fills what the planner knows ---- */

struct operator* unit_new(struct run *run);
struct operator* seed_new(struct run *run);
/* The rows that the seed gives next; copied. ordinal: hidden column that gets their number. */
enum status seed_give(struct operator* seed, const struct batch *batch, uint32_t ordinal,
                      struct reason *why);

/* Identifiers of one type that a filter above lets through: those from first to last that lie from
 * low to high. first 0: all. */
struct id_range {
    oid first, low, high, last;
};
/* The place of a pattern whose nodes are parted by partitions (index/query/plan/share_parts.h). */
enum scan_key { SCAN_KEY_NONE, SCAN_KEY_SUBJECT, SCAN_KEY_OBJECT };
/* A triple or quad pattern. */
struct scan_spec {
    struct pattern pattern;
    struct graphs graphs;  /* when graph is not a slot */
    struct place graph;    /* SLOT: bound by it, or binds it */
    struct graphs allowed; /* for a graph that gets bound */
    bool duplicates;       /* the same triple in several graphs may give several rows */
    /* ORDER_COUNT: the one that is best for each lookup. Else that of a scan that begins a
     * pipeline; any_predicate: of that order's rows those with the pattern's predicate are picked
     * out. */
    enum quad_order order;
    bool any_predicate;
    /* The column for the number of rows that are equal in the slots needed and come as one;
     * NUMBER_NONE: each comes. */
    uint32_t weight;
    struct slots needed;
    struct id_range objects; /* others of their type may be left out */
    /* Quads with a node there that is in `shared` are left out; or, where that is NULL, all but
     * those whose node several partitions have. */
    enum scan_key key;
    const struct oid_set *shared;
    enum key_places places;
};
/* Returns how many rows a row stands for. */
static inline uint64_t
row_weight(const oid *row, uint32_t weight)
{
    return weight == NUMBER_NONE || row[weight] == 0 ? 1 : row[weight];
}
struct operator* scan_new(struct run *run, struct operator* input, const struct scan_spec *spec,
                          size_t batch_rows);
/* Of a scan, or of one that begins a pipeline; NULL of anything else. */
const struct scan_spec *scan_spec_of(const struct operator* operator);
const struct scan_spec *scan_first(const struct operator* operator);
/* Its rows that have there a value from `from` on and before `to`; OID_NONE: no bound. */
struct scan_range {
    unsigned place; /* as in struct quad_cuts */
    oid from, to;
};
/* From the next reset on. */
void scan_set_range(struct operator* scan, const struct scan_range *range);
/* Where the scan's rows can be cut, by the values of the slot (NUMBER_NONE: they have no variable),
 * cuts->count at most: 0, where they cannot or it begins no pipeline. What each range gives is, one
 * after the other, what the scan gives. */
enum status scan_divide(const struct operator* scan, struct quad_cuts *cuts, uint32_t *slot,
                        struct reason *why);
/* Returns whether patterns are handed to the source many at a time; rows then have no order. */
bool scans_many(const struct quad_source *source, struct place graph, const struct graphs *graphs);
/* Makes a scan that has not begun one in this order. */
void scan_set_order(struct operator* scan, enum quad_order order, bool any_predicate);
/* Tells whether the operator is a scan whose subject or object is the slot: then it can leave out
 * quads that the filter (NULL: none) says have no match there. The filter stays the caller's. */
bool scan_can_filter(const struct operator* operator, uint32_t slot);
void scan_set_filter(struct operator* scan, const struct key_filter *filter, uint32_t slot);
/* Tells whether the operator is a scan that begins a pipeline and reads a predicate's triples in
 * the order of their objects, which are the slot: then it can leave out what a sort above does not
 * want. */
bool scan_can_narrow(const struct operator* operator, uint32_t slot);
/* From now on, until a reset; what it may leave out already stays so. */
void scan_narrow(struct operator* scan, const struct id_range *objects);
/* For such a scan: what is asked once for each object that it comes to, of which the rows are left
 * out when it is set to true; they are neither remembered nor made. Kept until the scan is closed;
 * the context stays the caller's. */
struct scan_sieve {
    enum status (*leaves_out)(void *context, oid object, bool *out, struct reason *why);
    void *context;
};
void scan_set_sieve(struct operator* scan, const struct scan_sieve *sieve);
/* For such a scan: its predicate, if it gives all rows of that; else OID_NONE. */
oid scan_whole(const struct operator* scan);
/* For such a scan: reads no more than the rows of these objects, which ascend and stay the
 * caller's. */
void scan_keep_objects(struct operator* scan, const struct triple_count *objects, size_t count);
/* For such a scan: an object of the span behind which, with it, at least `most` others that are
 * different stand; NONE: none was found. */
enum status scan_last_objects(const struct operator* scan, const struct oid_span *span,
                              uint64_t most, oid *from, struct reason *why);
/* last_objects.c: as scan_last_objects, of a predicate of all graphs. */
enum status last_objects(const struct run *run, oid predicate, const struct oid_span *span,
                         uint64_t most, oid *from, struct reason *why);
/* The order of counts by value, and with pairs by what stands in place of the number. */
static inline bool
count_is_before(const struct triple_count *a, const struct triple_count *b, bool pairs)
{
    return a->value < b->value || (pairs && a->value == b->value && a->triples < b->triples);
}
/* Returns the first place of an ascending list, from `from` to before `to`, that is not before the
 * key, else `to`. */
size_t counts_find(const struct triple_count *list, size_t from, size_t to,
                   const struct triple_count *key, bool pairs);
/* In place of the scan: what the pattern binds to slot (NUMBER_NONE: nothing is asked), each value
 * once with its number of different triples; of PAIRS each subject with each of its objects, of
 * GRAPHS with the graph of each of its quads, both in the column `object`. again:
 * as in struct count_request. */
struct counts_spec {
    struct quad_oids pattern;
    enum triple_place by;
    uint32_t slot, object, weight;
    bool again, quads;       /* quads: of all graphs, instead of triples */
    struct id_range objects; /* by objects: others of their type may be left out */
    /* Only triples with a term of this kind in this place, which the scan binds to the slot;
     * TERM_NONE: any. */
    enum term_kind kind;
    enum triple_place of;
    uint32_t of_slot;
};
struct operator* counts_new(struct run *run, struct operator* scan, const struct counts_spec *spec,
                            size_t batch_rows);
/* Whether these are counts of a scan that begins a pipeline; *slot: of what values. */
bool counts_first(const struct operator* operator, uint32_t * slot);
/* Counts, and says where the list of values can be cut, by places in it, cuts->count times at most;
 * 0: nowhere, since the source does not count them, or that is not worth it. */
enum status counts_divide(struct operator* counts, struct quad_cuts *cuts, struct reason *why);
/* Once they were divided: from the next reset on, the values from one place in the list to before
 * another, 0: its end. */
void counts_set_range(struct operator* counts, const struct scan_range *range);
/* Once they were divided: another run's operator has the same counts, as long as this one. */
void counts_lend(const struct operator* counts, struct operator* to);
/* The values of the slot, which ascend, with their numbers or the objects of pairs, if the operator
 * is one that has them from the source, `again`; else *list = NULL. They live as long as the
 * operator. */
enum status counts_kept(struct operator* counts, uint32_t slot, const struct triple_count **list,
                        size_t *count, struct reason *why);
/* Tells whether the operator is one that gives each value of the slot once, counted by the source.
 */
enum status counts_are_by(struct operator* operator, uint32_t slot, bool *are, struct reason *why);
/* The slot of the objects or graphs of pairs; NUMBER_NONE of other counts and operators. */
uint32_t counts_object(const struct operator* counts);
/* Leaves out, until a reset, what has other values than the list has, which ascends, where the
 * operator is one of which counts_kept gave a list. */
void counts_keep_beside(struct operator* counts, const struct triple_count *list, size_t count);
/* As of a scan, which the operator then hands the filter to. */
bool counts_can_filter(const struct operator* operator, uint32_t slot);
void counts_set_filter(struct operator* counts, const struct key_filter *filter, uint32_t slot);
/* In place of the scan: what is listed of the node that the input has bound, with numbers of
 * triples. */
struct lists_spec {
    struct node_listing listing;
    uint32_t node, listed; /* slots; listed NUMBER_NONE: how many there are is asked */
    uint32_t weight;       /* NUMBER_NONE: rows come one by one; then each number is 1 */
    /* Input rows that are equal in these slots may make rows together. */
    bool adds_up;
    const uint32_t *above;
    size_t above_count;
};
struct operator* lists_new(struct run *run, struct operator* scan, const struct lists_spec *spec,
                           size_t batch_rows);
struct operator* path_new(struct run *run, struct operator* input, const struct scan_spec *spec,
                          size_t batch_rows);
struct operator*
    filter_new(struct run *run, struct operator* input, const struct expression *expression);
struct operator* extend_new(struct run *run, struct operator* input,
                            const struct slot_expression *items, size_t count);
struct operator* values_new(struct run *run, struct operator* input, const struct algebra *values,
                            size_t batch_rows);
struct operator* text_new(struct run *run, struct operator* input, struct place literal,
                          struct slice words, uint32_t score, size_t batch_rows);
/* branches: pipelines over seeds[i]. */
struct operator* union_new(struct run *run, struct operator* input, struct operator** branches,
                           struct operator** seeds, size_t count);
/* Slots that a match of an OPTIONAL binds, where it is not asked to what. */
struct marks {
    uint32_t *slots;
    size_t count;
    oid value; /* of them all */
};
/* False: no memory. */
bool marks_init(struct marks *marks, struct run *run, const struct slots *slots);
static inline void
marks_set(const struct marks *marks, oid *row)
{
    for (size_t i = 0; i < marks->count; i++) {
        row[marks->slots[i]] = marks->value;
    }
}
/* bound: as in a hash_spec. */
struct operator* left_join_new(struct run *run, struct operator* input, struct operator* inner,
                               struct operator* seed, uint32_t ordinal, const struct slots *bound,
                               size_t batch_rows);
/* SEMI: input rows that have a match, each once. */
enum hash_mode { HASH_JOIN, HASH_LEFT_JOIN, HASH_MINUS, HASH_SEMI };
struct hash_spec {
    enum hash_mode mode;
    struct slots keys;                   /* bound in all rows of both sides */
    struct slots shared;                 /* other columns that both sides may bind */
    struct slots built;                  /* all columns that the built side may bind */
    const struct expression *expression; /* LEFT_JOIN; may be NULL */
    bool rebuild;                        /* the built side changes with each reset */
    uint32_t weight;                     /* the column of a row's number; NUMBER_NONE */
    struct slots bound;                  /* LEFT_JOIN: a match binds them, nobody asks to what */
};
struct operator* hash_join_new(struct run *run, struct operator* input, struct operator* built,
                               const struct hash_spec *spec, size_t batch_rows);
/* Tells whether the operator does nothing but leave out rows of its input and change their numbers.
 */
bool hash_join_sifts(const struct operator* operator);
/* Whether the operator joins by a table that was made and stays as it is; and the same table for
 * another run's operator, as long as this one: false where that is another join. */
bool hash_join_can_lend(const struct operator* operator);
bool hash_join_borrow(struct operator* to, const struct operator* from);
/* Joins the first `most` rows of input by ways[0], the others by ways[1]; both are pipelines over
 * seeds of their own. */
struct operator* lookup_first_new(struct run *run, struct operator* input,
                                  struct operator* const ways[2], struct operator* const seeds[2],
                                  uint64_t most);
/* Both sides have their rows in the order of slot; columns: of the right one. weight as above. */
struct operator* merge_join_new(struct run *run, struct operator* input, struct operator* right,
                                const struct slots *columns, uint32_t slot, uint32_t weight,
                                size_t batch_rows);
/* The row that two make stands for as many as both multiplied. */
enum status row_multiply(oid *row, uint32_t weight, uint64_t other, struct reason *why);
/* GRAPH ?g {}: the graph names, or the one that is bound. */
struct operator*
    graph_names_new(struct run *run, struct operator* input, struct place graph, size_t batch_rows);
/* Joins rows with the graph that is in a column of its own: it is the value of slot. */
struct operator*
    graph_join_new(struct run *run, struct operator* input, uint32_t hidden, uint32_t slot);
/* Runs inner once for each named graph, which it finds in the hidden column. */
struct operator*
    graph_loop_new(struct run *run, struct operator* inner, uint32_t hidden, uint32_t slot);
struct operator* project_new(struct run *run, struct operator* input, const struct slot_pair *pairs,
                             size_t count);
struct operator* distinct_new(struct run *run, struct operator* input, const uint32_t *slots,
                              size_t count, size_t batch_rows);
struct operator*
    slice_new(struct run *run, struct operator* input, uint64_t offset, uint64_t limit);
/* most: rows that are needed of the beginning; UINT64_MAX: all. */
struct operator* order_new(struct run *run, struct operator* input, const struct order_key *keys,
                           size_t count, uint64_t most, size_t batch_rows);
/* Tells whether the objects of the scan that come first in an order with so many rows were asked
 * for since the index changed last. The next time they are known, if the scan then is read whole.
 */
bool order_was_asked(const struct operator* scan, bool descending, uint64_t most);
struct operator* group_new(struct run *run, struct operator* input, const struct algebra *group,
                           uint32_t weight, size_t batch_rows);

/* Sets the slots of each row to numbers; both lists live as long as the run. */
struct operator* tally_new(struct run *run, struct operator* input, const uint32_t *slots,
                           const int64_t *numbers, size_t count);

/* Rows that the partitions of the source give; columns: where they go. */
struct operator* share_new(struct run *run, const struct share_request *request,
                           const uint32_t *columns, size_t batch_rows);

#endif
