/* The heap beside an array that is searched: elements come and go anywhere, and each knows its
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/heap.h"

enum { ITEMS = 200, STEPS = 100000, VALUES = 50, GONE = -1 };

struct queue {
    int items[ITEMS];  /* the heap */
    int values[ITEMS]; /* of each item */
    int places[ITEMS]; /* of each item in the heap, or GONE */
    size_t count;
};

static bool
is_before(const void *heap, size_t a, size_t b)
{
    const struct queue *queue = heap;
    assert_true(a < queue->count && b < queue->count);
    return queue->values[queue->items[a]] < queue->values[queue->items[b]];
}

static void
swap(void *heap, size_t a, size_t b)
{
    struct queue *queue = heap;
    const int item = queue->items[a];
    queue->items[a] = queue->items[b];
    queue->items[b] = item;
    queue->places[queue->items[a]] = (int)a;
    queue->places[item] = (int)b;
}

static void
put(struct queue *queue, size_t place, int item)
{
    queue->items[place] = item;
    queue->places[item] = (int)place;
    place = heap_rise(queue, place, is_before, swap);
    assert_int_equal(queue->places[item], place);
    heap_sink(queue, queue->count, place, is_before, swap);
}

static void
take_out(struct queue *queue, int item)
{
    const size_t place = (size_t)queue->places[item];
    queue->places[item] = GONE;
    if (place < --queue->count) {
        put(queue, place, queue->items[queue->count]);
    }
}

static void
check(const struct queue *queue)
{
    int least = VALUES;
    size_t present = 0;
    for (int i = 0; i < ITEMS; i++) {
        if (queue->places[i] != GONE) {
            assert_int_equal(queue->items[queue->places[i]], i);
            least = queue->values[i] < least ? queue->values[i] : least;
            present++;
        }
    }
    assert_int_equal(present, queue->count);
    if (present > 0) {
        assert_int_equal(queue->values[queue->items[0]], least);
    }
}

static void
test_heap_against_an_array(void **state)
{
    static struct queue queue;
    unsigned seed = 1;
    (void)state;
    for (int i = 0; i < ITEMS; i++) {
        queue.places[i] = GONE;
    }
    for (int step = 0; step < STEPS; step++) {
        const int item = (int)((unsigned)rand_r(&seed) % ITEMS);
        const bool present = queue.places[item] != GONE;
        if (present && rand_r(&seed) % 2 == 0) {
            take_out(&queue, item);
        } else {
            queue.values[item] = (int)((unsigned)rand_r(&seed) % VALUES);
            put(&queue, present ? (size_t)queue.places[item] : queue.count++, item);
        }
        check(&queue);
    }
    assert_true(queue.count > 0);
}

static void
test_all_come_out_in_order(void **state)
{
    static struct queue queue;
    int latest = 0;
    (void)state;
    for (int i = 0; i < ITEMS; i++) {
        queue.values[i] = i * 37 % VALUES;
        put(&queue, queue.count++, i);
    }
    for (int left = ITEMS; left > 0; left--) {
        const int first = queue.items[0];
        assert_true(queue.values[first] >= latest);
        latest = queue.values[first];
        take_out(&queue, first);
    }
    assert_int_equal(queue.count, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_against_an_array),
        cmocka_unit_test(test_all_come_out_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
