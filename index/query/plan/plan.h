/* From algebra to operators.
 *
 * A node is planned onto a pipeline: it extends the rows that come from the left. That is the
 * join of the two only if the node means the same with the left side's values put in, which is
 * so for patterns, but not, say, for a group whose filter uses a variable that the group does
 * not bind (see plan_is_safe). Where it is not, the node is planned on its own and hash-joined.
 * In EXISTS putting values in is what the language asks for, so those are `substituted`.
 *
 * Filters are applied as soon as all their variables are certainly bound.
 */
#ifndef INDEX_QUERY_PLAN_PLAN_H
#define INDEX_QUERY_PLAN_PLAN_H

#include "index/query/operators/ranges.h"
#include "index/query/plan/share_parts.h"

struct planner {
    struct run *run;
    struct place graph;   /* SLOT: patterns are within GRAPH ?slot */
    struct graphs graphs; /* else: the graphs they look at */
    struct slots substituted;
    size_t batch_rows;
    uint64_t first;      /* rows that are wanted, of which more may come; 0: all */
    bool weighted;       /* only how often rows come is asked: equal ones may come as one, */
    uint32_t weight;     /* with their number in this column, where 0 means 1, */
    struct slots needed; /* and equal are rows with the same values of these */
    struct slots bound;  /* it is only asked of these slots whether they are bound */
    struct slots above;  /* of them those that are needed when the present item is joined */
    bool in_loop;        /* within a loop over graphs */
    bool duplicates;     /* equal solutions need not be counted right */
    /* Rows that bind this slot to nodes of one partition only (shared is set), or of several
     * (client's side); NUMBER_NONE: all. */
    uint32_t key;
    enum key_places places;
    const struct oid_set *shared;
    bool notes; /* for explaining */
    bool apart; /* what a partition evaluates: it has no partitions */
    struct reason *why;
};

/* The properties that are known of the rows of a pipeline. */
struct known {
    struct slots maybe, certain;
    bool unit; /* one row with nothing bound */
    double rows;
};

/* Filters that wait for their variables, innermost first. */
struct pending {
    const struct expression **filters;
    bool *done;
    size_t count;
    struct pending *outer;
};

/* One of what a join joins. */
struct plan_item {
    const struct algebra *node; /* or */
    const struct pattern *pattern;
    uint32_t score; /* of a keyword search: slot of the score */
    double rows;    /* without any variable bound */
    struct slots slots;
    bool search, done;
    struct id_range objects; /* what filters let through */
};
struct plan_items {
    struct plan_item *list;
    size_t count;
};

/* A scan that yields a pattern's rows in the order of one variable, and how many it reads. */
struct plan_sorted {
    enum quad_order order;
    bool any_predicate;
    double rows;
};

enum join_method {
    JOIN_LOOKUP,     /* one scan for each row of input */
    JOIN_HASH,       /* the pattern's rows in a table */
    JOIN_HASH_INPUT, /* the input in a table */
    JOIN_MERGE
};

/* The query's pipeline; run->exists is filled as well. notes: for query_explain. */
enum status plan_query(struct run *run, bool notes, struct operator** root, struct reason *why);

/* The pipeline of what a partition is asked for, and the columns of its rows. PROTOCOL: there is no
 * such part of the query. */
enum status plan_part(struct run *run, const struct share_request *request, struct operator** root,
                      const uint32_t **columns, struct reason *why);

/* ---- between the parts ---- */

enum status plan_node(struct planner *planner, const struct algebra *node,
                      struct operator** pipeline, struct known *known, struct pending *pending);
/* Plans a node as plan_node does, or by a hash join where that would give a wrong answer. */
enum status plan_joined(struct planner *planner, const struct algebra *node,
                        struct operator** pipeline, struct known *known, struct pending *pending);
enum status plan_standalone(struct planner *planner, const struct algebra *node,
                            struct operator** root, struct known *known);
enum status plan_hash(struct planner *planner, enum hash_mode mode, struct operator* built,
                      const struct known *right, const struct expression *expression,
                      struct operator** pipeline, struct known *known);
/* PATTERNS and JOIN: all that they join, in the order that seems cheapest. */
enum status plan_join(struct planner *planner, const struct algebra *node,
                      struct operator** pipeline, struct known *known, struct pending *pending);
enum status plan_filters(struct planner *planner, struct operator** pipeline,
                         const struct known *known, struct pending *pending);
/* Plans the EXISTS inside an expression. */
enum status plan_expression(struct planner *planner, const struct expression *expression,
                            const struct known *known);
bool plan_is_safe(const struct planner *planner, const struct algebra *node,
                  const struct known *known);
/* The planner for a node above which `more` is mentioned besides. */
struct planner plan_needing(const struct planner *planner, const struct slots *more);
/* The group with COUNT of the rows in place of COUNT of what each has; NULL: no memory. */
const struct algebra *plan_count_rows(struct planner *planner, const struct algebra *group);
/* Returns the planner for a node whose rows come one by one. */
struct planner plan_unweighted(const struct planner *planner);
/* Returns the planner for a node of whose rows it is only asked which values of these there are. */
struct planner plan_existing(struct planner *planner, const struct slots *shared);
/* Lets rows below the group stand for several, where it can count them. */
void plan_weigh(struct planner *planner, const struct algebra *group);
/* plan_standalone for what is read whole in advance. */
enum status plan_built(struct planner *planner, const struct algebra *node, struct operator** root,
                       struct known *known);
/* Guess of rows; bound: variables that have values already. */
enum status plan_estimate(struct planner *planner, const struct algebra *node,
                          const struct slots *bound, double *rows);
enum status plan_estimate_pattern(struct planner *planner, const struct pattern *pattern,
                                  double *rows);
/* Rows for each row of input; items: those that are done were joined; may be NULL. */
double plan_fan_out(struct planner *planner, const struct plan_items *items,
                    const struct plan_item *item, const struct slots *bound);
/* By what the next item is chosen, the least first: its rows for each row of input; *joined: it has
 * a variable that is bound. A list of values is worth what it makes of the pattern that it leads
 * to: a predicate's rows are many, or few where the subject is known. Where nothing is bound yet
 * these are read one after the other, while others' rows are looked up. */
double plan_score(struct planner *planner, const struct plan_items *items,
                  const struct plan_item *item, const struct slots *bound, bool *joined);
/* False when there is no such scan. */
bool plan_sorted_scan(const struct planner *planner, const struct plan_item *item, uint32_t slot,
                      struct plan_sorted *sorted);
/* Returns how to join a pattern that shares a variable to `input` rows. rooted: the input may be
 * read whole in advance. merge: rows read by a merge join more than the input, INFINITY: not
 * possible. */
enum join_method plan_join_method(const struct planner *planner, const struct plan_item *item,
                                  double input, bool rooted, double merge);
/* Returns whether looking `input` rows up in a table of `rows` costs less than a scan for each. */
bool plan_table_pays(double input, double rows);
/* Rows to be looked up before a table of `rows` is made; 0: none. */
uint64_t plan_lookups_first(const struct planner *planner, double rows);
/* A filter that waits and tells a variable of a pattern by what kind of term it is. */
struct kind_filter {
    enum term_kind kind;
    uint32_t slot;
    bool *done;          /* NULL: there is none */
    struct slots needed; /* beside the pattern, without the filter */
};
struct kind_filter plan_kind_filter(const struct plan_item *item, struct pending *pending);
/* Lets the source count what the scan on top of the pipeline would give. again: only if the count
 * was asked for before, since a scan does as well. last: all is joined then. kind: a filter above
 * that has to be applied as well, NULL: none. */
enum status plan_counts(struct planner *planner, const struct plan_item *item, bool again,
                        bool last, const struct kind_filter *kind, struct operator** pipeline,
                        const struct known *known);
/* Goes through lists of nodes instead of the scan on top of the pipeline, which looks the pattern
 * up for the rows before it, if the pattern asks for what is listed; and does what the filter does.
 * rooted: these rows differ in nothing but what is mentioned. */
enum status plan_lists(struct planner *planner, const struct pattern *pattern, bool rooted,
                       const struct kind_filter *kind, const struct known *before,
                       struct operator** pipeline, const struct known *known);
/* The identifier of a constant, OID_NONE of another place. */
oid plan_constant(const struct run *run, struct place place);
bool plan_is_property(const struct planner *planner, const struct pattern *pattern,
                      const char *iri);
/* most: rows that are needed. */
enum status plan_order(struct planner *planner, const struct algebra *node, uint64_t most,
                       struct operator** pipeline, struct known *known);
/* If the partitions can evaluate the node, or for `most` < UINT64_MAX its first rows: their rows in
 * place of the pipeline. */
enum status plan_share(struct planner *planner, const struct algebra *node, uint64_t most,
                       struct operator** pipeline, struct known *known, bool *shared);
/* Where partitions may be asked: at the beginning of a pipeline, outside of any GRAPH. */
bool plan_may_share(const struct planner *planner, const struct operator* pipeline,
                    const struct known *known);
/* Counts a GROUP over all partitions by digests of values, if it can be counted so. */
enum status plan_tally(struct planner *planner, const struct algebra *group,
                       struct operator** pipeline, struct known *known, bool *tallied);
/* Plans a GROUP over all partitions, whose rows are put together from those of each. */
enum status plan_share_group(struct planner *planner, const struct algebra *node,
                             struct operator** pipeline, struct known *known, bool *shared);
/* One range's or one partition's own: rows, different values or parts of aggregates; columns: of
 * its rows. */
enum status plan_each(struct planner *planner, const struct algebra *node, enum share_form form,
                      uint64_t most, uint32_t hidden, const uint32_t *columns, size_t count,
                      struct operator** root, struct known *known);
/* The planning as it was before what was planned instead of ranges. */
struct plan_before {
    struct operator* pipeline;
    struct known known;
    size_t width;
};
static inline struct plan_before
plan_before(const struct planner *planner, struct operator* pipeline, const struct known *known)
{
    return (struct plan_before){pipeline, *known, planner->run->width};
}
/* In place of the pipeline, that of a GROUP's rows, the group over ranges of its scan, if somebody
 * could help and that pays. */
enum status plan_ranges_group(struct planner *planner, const struct algebra *node,
                              const struct plan_before *before, struct operator** pipeline,
                              struct known *known, bool *done);
/* The same of the node's first rows; the pipeline is that of an ORDER's rows, or of the node's.
 * What it gives is still to be sorted and cut. */
enum status plan_ranges_first(struct planner *planner, const struct algebra *node, uint64_t most,
                              const struct plan_before *before, struct operator** pipeline,
                              struct known *known, bool *done);
/* The pipeline that a helping run evaluates for each range, as the run that is helped does. */
enum status plan_help(struct run *run, const struct ranges_spec *helped, struct ranges_spec *own,
                      struct reason *why);
/* The identifiers of the slot's values that filters let through which wait. */
struct id_range plan_range(const struct planner *planner, uint32_t slot,
                           const struct pending *pending);
/* One filter on top of the pipeline. */
enum status plan_add_filter(struct planner *planner, const struct expression *expression,
                            struct operator** pipeline, const struct known *known);
enum status plan_filter(struct planner *planner, const struct algebra *node,
                        struct operator** pipeline, struct known *known, struct pending *outer);
/* IRIs are equal when they are the same term, so a filter that lists those of a variable which the
 * node certainly binds is inline data, which can come first and be looked up: it is joined to the
 * node. The filter itself stays. */
enum status plan_listed(struct planner *planner, const struct expression *expression,
                        struct algebra **node);
/* optional.c */
enum status plan_left_join(struct planner *planner, const struct algebra *node,
                           struct operator** pipeline, struct known *known,
                           struct pending *pending);
/* OPTIONAL below filters one of which wants a variable of it unbound: what has no match, if reading
 * the optional pattern once costs less than looking it up. *done false: it is planned as others. */
enum status plan_unbound(struct planner *planner, const struct algebra *node,
                         struct pending *pending, struct operator** pipeline, struct known *known,
                         bool *done);
enum status plan_minus(struct planner *planner, const struct algebra *node,
                       struct operator** pipeline, struct known *known, struct pending *pending);
enum status plan_union(struct planner *planner, const struct algebra *node,
                       struct operator** pipeline, struct known *known);
enum status plan_graph(struct planner *planner, const struct algebra *node,
                       struct operator** pipeline, struct known *known, struct pending *pending);
enum status plan_too_large(struct planner *planner);
/* Sets the operator in place; LIMIT when it is NULL. note: may be NULL. */
enum status plan_set(struct planner *planner, struct operator* operator, struct operator** pipeline,
                     const struct known *known, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
struct slice plan_pattern_text(struct planner *planner, const struct pattern *pattern);

#endif
