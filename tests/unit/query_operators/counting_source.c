#include "tests/unit/query_operators/counting_source.h"

#include <string.h>

#include "base/memory.h"

#define DATA                              \
    "@prefix : <http://example.org/> .\n" \
    ":a :p :b , \"c\" , :d . :e :p :b . :f :p 1 ; :q :a .\n"
#define TEXT "PREFIX : <http://example.org/> SELECT * { ?s :p ?o . ?x :q ?y }"

/* ---- a source that counts ---- */

struct counting counted;

static enum status
count_triples(void *context, const struct count_request *request, struct triple_count **counts,
              size_t *count, struct reason *why)
{
    (void)context;
    const int which = request->pattern.predicate != counted.first;
    counted.asked++;
    counted.request = *request;
    TRY(request->check(request->check_context, why));
    if (counted.status != STATUS_OK) {
        return status_fail(why, counted.status, "not counted");
    }
    *count = counted.counts[which];
    *counts = memory_alloc((*count + 1) * sizeof **counts);
    memcpy(*counts, counted.lists[which], *count * sizeof **counts);
    return STATUS_OK;
}

static void
release_counts(struct triple_count *counts)
{
    counted.released += counts != NULL;
    free(counts);
}

void
counted_add(int which, oid value, uint64_t number)
{
    counted.lists[which][counted.counts[which]++] = (struct triple_count){value, number};
}

const struct pattern *
counted_pattern(const struct stand *stand, size_t number)
{
    const struct algebra *algebra = stand->query->algebra;
    while (algebra->kind != ALGEBRA_PATTERNS) {
        algebra = algebra->left;
    }
    assert_int_equal(algebra->pattern_count, 2);
    return &algebra->patterns[number];
}

static oid
predicate_of(const struct stand *stand, size_t number)
{
    return stand->run.constants[counted_pattern(stand, number)->predicate.number];
}

void
open_counted(struct stand *stand, size_t memory)
{
    memset(&counted, 0, sizeof counted);
    stand_open(stand, DATA, TEXT, WIDTH, memory);
    stand->source.count_triples = count_triples;
    stand->source.release_counts = release_counts;
    counted.first = predicate_of(stand, 0);
    assert_true(counted.first != OID_NONE);
}

struct operator* counted_scan(struct stand *stand, size_t number, struct operator* input)
{
    struct scan_spec spec = {.pattern = *counted_pattern(stand, number),
                             .graphs = {.kind = GRAPHS_ALL},
                             .order = ORDER_COUNT,
                             .weight = NUMBER_NONE};
    return scan_new(&stand->run, input, &spec, BATCH_ROWS);
}

struct counts_spec
usual_counts(const struct stand *stand, size_t number)
{
    return (struct counts_spec){.pattern = {.predicate = predicate_of(stand, number)},
                                .by = TRIPLE_SUBJECT,
                                .slot = 0,
                                .object = NUMBER_NONE,
                                .weight = WEIGHT,
                                .again = true};
}

struct operator* counts_over(struct stand *stand, const struct counts_spec *spec,
                             struct operator* input, size_t batch_rows)
{
    const size_t number = spec->pattern.predicate == counted.first ? 0 : 1;
    struct operator* counts =
        counts_new(&stand->run, counted_scan(stand, number, input), spec, batch_rows);
    assert_non_null(counts);
    return counts;
}
