/* What a batch does to the statistics (index/statistics/census.c), beside plain arrays: sets of
 * predicates, predicates, hosts. */
#include "tests/unit/index_parts/index_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/statistics/census.h"

/* A subject has up to so many rows with each of these predicates; a set of predicates is a mask. */
enum { PREDICATES = 5, ROWS_MOST = 3, SETS = 1 << PREDICATES, SUBJECTS = 400 };

static oid
predicate_of(unsigned number)
{
    return 100 + 7 * number;
}

struct model {
    int64_t subjects[SETS], rows[SETS][PREDICATES];
};

static void
count_subject(struct model *model, bool there[PREDICATES][ROWS_MOST], int sign)
{
    unsigned set = 0;
    for (unsigned p = 0; p < PREDICATES; p++) {
        for (unsigned i = 0; i < ROWS_MOST; i++) {
            set |= there[p][i] ? 1u << p : 0;
        }
    }
    model->subjects[set] += sign;
    for (unsigned p = 0; p < PREDICATES; p++) {
        for (unsigned i = 0; i < ROWS_MOST; i++) {
            model->rows[set][p] += there[p][i] ? sign : 0;
        }
    }
}

/* Shows the census a subject whose rows change by chance, one in `one_in` of them. */
static void
show_subject(struct census *census, struct model *model, int one_in, unsigned *seed)
{
    bool there[PREDICATES][ROWS_MOST];
    struct row old[PREDICATES * ROWS_MOST];
    struct quad_change changes[PREDICATES * ROWS_MOST];
    size_t old_count = 0, count = 0;
    for (unsigned p = 0; p < PREDICATES; p++) {
        for (unsigned i = 0; i < ROWS_MOST; i++) {
            const struct quad_oids quad = {9, predicate_of(p), 1 + i, 3};
            there[p][i] = rand_r(seed) % 3 == 0;
            if (there[p][i]) {
                old[old_count++] = row_of(&quad, ORDER_CSPO);
            }
        }
    }
    count_subject(model, there, -1);
    for (unsigned p = 0; p < PREDICATES; p++) {
        for (unsigned i = 0; i < ROWS_MOST; i++) {
            if (rand_r(seed) % one_in == 0) {
                changes[count++] = (struct quad_change){.quad = {9, predicate_of(p), 1 + i, 3},
                                                        .removed = there[p][i]};
                there[p][i] = !there[p][i];
            }
        }
    }
    count_subject(model, there, 1);
    census_subject(census, old, old_count, changes, count);
}

static void
check_sets(const struct census *census, const struct model *model)
{
    for (unsigned mask = 1; mask < SETS; mask++) {
        oid predicates[PREDICATES];
        size_t count = 0;
        for (unsigned p = 0; p < PREDICATES; p++) {
            if (mask >> p & 1) {
                predicates[count++] = predicate_of(p);
            }
        }
        const struct predicate_set *set = predicate_sets_find(&census->sets, predicates, count);
        assert_int_equal(set != NULL ? set->subjects : 0, model->subjects[mask]);
        for (unsigned p = 0; set != NULL && p < PREDICATES; p++) {
            const int64_t *rows = predicate_set_rows(&census->sets, set, predicate_of(p));
            assert_int_equal(rows != NULL, mask >> p & 1);
            assert_int_equal(rows != NULL ? *rows : 0, model->rows[mask][p]);
        }
    }
}

static void
check_predicates(const struct census *census, const struct model *model)
{
    for (unsigned p = 0; p < PREDICATES; p++) {
        const oid predicate = predicate_of(p);
        int64_t subjects = 0;
        for (unsigned mask = 1; mask < SETS; mask++) {
            subjects += mask >> p & 1 ? model->subjects[mask] : 0;
        }
        const struct predicate_set *one = predicate_sets_find(&census->predicates, &predicate, 1);
        assert_int_equal(one != NULL ? one->subjects : 0, subjects);
    }
}

void
subjects_are_counted_by_their_predicates(void **state)
{
    static const int one_in[] = {1, 2, 10, 1000000};
    unsigned seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof one_in / sizeof *one_in; i++) {
        struct census census;
        struct model model = {0};
        census_init(&census);
        for (unsigned subject = 0; subject < SUBJECTS; subject++) {
            show_subject(&census, &model, one_in[i], &seed);
        }
        check_sets(&census, &model);
        census_finish(&census);
        check_predicates(&census, &model);
        if (one_in[i] > SUBJECTS * PREDICATES * ROWS_MOST) { /* nothing has changed */
            assert_int_equal(census.predicates.count, 0);
        }
        census_release(&census);
    }
}

/* Of more predicates than there is room for at first. */
void
a_subject_has_many_predicates(void **state)
{
    enum { MANY = 1000 };
    static struct quad_change changes[MANY];
    static oid predicates[MANY];
    struct census census;
    (void)state;
    census_init(&census);
    for (size_t i = 0; i < MANY; i++) {
        predicates[i] = 10 + i;
        changes[i].quad = (struct quad_oids){1, predicates[i], 2, 3};
    }
    census_subject(&census, NULL, 0, changes, MANY);
    census_subject(&census, NULL, 0, NULL, 0); /* that is none */
    const struct predicate_set *set = predicate_sets_find(&census.sets, predicates, MANY);
    assert_non_null(set);
    assert_int_equal(set->subjects, 1);
    assert_int_equal(census.sets.count, 1);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(*predicate_set_rows(&census.sets, set, predicates[i]), 1);
    }
    census_finish(&census);
    assert_int_equal(census.predicates.count, MANY);
    census_release(&census);
}

static struct host_count
host_count(const struct census *census, const char *host)
{
    const struct term term = term_iri(slice_string(host)), normal = term_normal(&term);
    const struct set_term *found = term_set_find(&census->hosts, &normal, term_hash(&normal));
    return found != NULL ? census->host_counts[found - census->hosts.terms]
                         : (struct host_count){INT64_MIN, INT64_MIN};
}

void
documents_are_counted_by_their_hosts(void **state)
{
    static char long_host[2][HOST_MAXIMUM + 32];
    static const struct {
        const char *uri;
        int64_t documents, quads;
    } rows[] = {{"http://www.a.example.com/x", 1, 10},
                {"http://www.a.example.com/y", 1, 20},
                {"https://b.example.com:8443/", 1, 300},
                {"http://user@example.com/", -1, -5},
                {"http://u:p@x@b.example.com/", 1, 7},
                {"http://example.co.uk/a", 2, 1},
                {"http://[2001:db8::1]:80/a", 1, 4},
                {"http://[2001:db8::1]/b", 1, 5},
                {"http://[2001:db8::1", 3, 30},
                {"urn:x:y", 1, 2},
                {"http:///nobody", 1, 3},
                {"http://127.0.0.1:81/", 5, 6},
                {"http://127.0.0.1/", 5, 6}};
    struct census census;
    (void)state;
    census_init(&census);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        census_document(&census, slice_string(rows[i].uri), rows[i].documents, rows[i].quads);
    }
    for (size_t i = 0; i < 2; i++) { /* the longest that is a host, and one more */
        char host[HOST_MAXIMUM + 2];
        memset(host, 'h', sizeof host);
        host[HOST_MAXIMUM + i] = '\0';
        snprintf(long_host[i], sizeof long_host[i], "http://%s/", host);
        census_document(&census, slice_string(long_host[i]), 1, 1);
        assert_int_equal(host_count(&census, host).documents, i == 0 ? 1 : INT64_MIN);
    }
    const struct host_count example = host_count(&census, "example.com");
    assert_int_equal(example.documents, 3);
    assert_int_equal(example.quads, 332);
    assert_int_equal(host_count(&census, "example.co.uk").documents, 2);
    assert_int_equal(host_count(&census, "[2001:db8::1]").quads, 9);
    assert_int_equal(host_count(&census, "127.0.0.1").quads, 12);
    assert_int_equal(host_count(&census, "").documents, 3);
    census_release(&census);
}

/* The numbers of a host stay while others come. */
void
hosts_are_many(void **state)
{
    enum { HOSTS = 300 };
    static char uris[HOSTS][40];
    struct census census;
    (void)state;
    census_init(&census);
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < HOSTS; i++) {
            snprintf(uris[i], sizeof uris[i], "http://h%d.example/", i);
            census_document(&census, slice_string(uris[i]), 1, i);
        }
    }
    for (int i = 0; i < HOSTS; i++) {
        char host[40];
        snprintf(host, sizeof host, "h%d.example", i);
        assert_int_equal(host_count(&census, host).documents, 2);
        assert_int_equal(host_count(&census, host).quads, 2 * i);
    }
    census_release(&census);
}
