/* Links of documents, as the extract stage asks for them. */
#include <poll.h>

#include "base/system/clock.h"
#include "tests/unit/index_service/service_world.h"

struct linked {
    struct buf text;
    bool done;
};

static void
take_links(void *context, enum status status, const struct index_link *found, size_t n,
           const struct reason *why)
{
    struct linked *linked = context;
    must(status, why);
    for (size_t i = 0; i < n; i++) {
        (void)buf_printf(&linked->text, "%u %.*s\n", found[i].query, SLICE_PRINT(found[i].target));
    }
    linked->done = true;
}

static void
find_links(struct linked *linked)
{
    struct service_world world;
    service_world_start(&world, 2);
    index_links(world.client, SLICE("http://host1.example/document/1"), take_links, linked);
    const uint64_t deadline = clock_monotonic_ms() + 60000;
    while (!linked->done && clock_monotonic_ms() < deadline) {
        index_client_process(world.client);
        usleep(1000);
    }
    assert_true(linked->done);
    service_world_stop(&world);
}

void
links_come_from_patterns_and_queries(void **state)
{
    (void)state;
    struct linked linked = {.done = false};
    buf_init(&linked.text, SERVICE_ANSWER);
    find_links(&linked);
    assert_non_null(strstr(linked.text.data, "0 http://t.example/1\n"));
    assert_non_null(strstr(linked.text.data, "1 http://t.example/2\n"));
    assert_non_null(strstr(linked.text.data, "2 http://t.example/3\n"));
    assert_null(strstr(linked.text.data, "plain"));
    buf_release(&linked.text);
}

void
vocabularies_are_links(void **state)
{
    (void)state;
    struct links *usual = service_links;
    struct linked linked = {.done = false};
    struct reason why = {""};
    must(links_open(&service_links, SLICE("policy vocabularies\n"), &why), &why);
    buf_init(&linked.text, SERVICE_ANSWER);
    find_links(&linked);
    links_close(service_links);
    service_links = usual;
    assert_non_null(strstr(linked.text.data, "0 http://www.w3.org/2000/01/rdf-schema#seeAlso\n"));
    assert_non_null(strstr(linked.text.data, "0 http://own.example/Thing\n"));
    assert_null(strstr(linked.text.data, "http://t.example/"));
    buf_release(&linked.text);
}

enum { ASKED = 200, LONG_DOCUMENTS = 3, LONG_LINKS = 8000, LONG_FIRST = 1000 };

struct counted {
    size_t links, answers;
    enum status status;
};

static void
count_links(void *context, enum status status, const struct index_link *found, size_t n,
            const struct reason *why)
{
    (void)found;
    (void)why;
    struct counted *counted = context;
    counted->links += n;
    counted->answers++;
    counted->status = status;
}

/* Documents with more links than one answer takes. */
static void
add_long_documents(struct service_world *world)
{
    struct index_batch *batch = index_batch_new(world->partitions[0]);
    struct reason why = {""};
    for (unsigned d = LONG_FIRST; d < LONG_FIRST + LONG_DOCUMENTS; d++) {
        struct buf text;
        char uri[64];
        buf_init(&text, SERVICE_ANSWER);
        fixture_uri(d, uri);
        for (unsigned i = 0; i < LONG_LINKS; i++) {
            (void)buf_printf(&text,
                             "<%s> <http://own.example/link> <http://t.example/%0100u> <%s> .\n",
                             uri, d * LONG_LINKS + i, uri);
        }
        (void)fixture_add(batch, d, 1, &text);
        buf_release(&text);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

void
links_of_many_documents_come_to_whom_they_belong(void **state)
{
    (void)state;
    struct service_world world;
    static struct counted counted[ASKED];
    size_t answers = 0;
    service_world_start(&world, 1);
    add_long_documents(&world);
    for (unsigned i = 0; i < ASKED; i++) {
        char uri[64];
        fixture_uri(i % 10 == 3 ? LONG_FIRST + i % LONG_DOCUMENTS : i % 2, uri);
        counted[i] = (struct counted){.status = STATUS_AGAIN};
        index_links(world.client, i % 7 == 5 ? SLICE("http://own.example/none") : slice_string(uri),
                    count_links, &counted[i]);
    }
    const uint64_t deadline = clock_monotonic_ms() + 60000;
    while (answers < ASKED && clock_monotonic_ms() < deadline) {
        index_client_process(world.client);
        usleep(1000);
        answers = 0;
        for (unsigned i = 0; i < ASKED; i++) {
            answers += counted[i].answers;
        }
    }
    for (unsigned i = 0; i < ASKED; i++) {
        assert_int_equal(counted[i].answers, 1);
        assert_int_equal(counted[i].status, STATUS_OK);
        if (i % 7 == 5) {
            assert_int_equal(counted[i].links, 0);
        } else if (i % 10 == 3) {
            assert_int_equal(counted[i].links, LONG_LINKS);
        } else if (i % 2 == 1) {
            assert_in_range(counted[i].links, 3, LONG_LINKS - 1);
        }
    }
    struct counted last = {.status = STATUS_OK};
    index_links(world.client, SLICE("http://own.example/none"), count_links, &last);
    service_world_stop(&world);
    assert_int_equal(last.answers, 1);
    assert_int_equal(last.status, STATUS_CANCELLED);
}
