#include "tests/unit/index_service/service_world.h"

char service_folder[SCRATCH_SIZE];
struct buf service_documents[SERVICE_DOCUMENTS];
struct links *service_links;

static const char extra[] =
    "<http://s.example/a> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <http://t.example/1> "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://purl.org/rss/1.0/link> \"http://t.example/2\" "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://own.example/link> <http://t.example/3> "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://own.example/link> \"a plain text\" "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    "<http://own.example/Thing> <http://host1.example/document/1> .\n";

bool
service_owns(const struct service_world *world, size_t partition, unsigned document)
{
    char uri[64];
    fixture_uri(document, uri);
    return (size_t)partition_of(slice_string(uri)) * world->count / PARTITIONS == partition;
}

void
service_world_start(struct service_world *world, size_t count)
{
    struct reason why = {""};
    *world = (struct service_world){.count = count};
    const char *endpoints[SERVICE_PARTITIONS];
    for (size_t i = 0; i < count; i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s/%u-%u", service_folder, (unsigned)count, (unsigned)i);
        snprintf(world->endpoints[i], sizeof(world->endpoints[i]), "ipc://%s.sock", name);
        endpoints[i] = world->endpoints[i];
        world->partitions[i] = fixture_open(name, 4 << 20);
        const char *const own[] = {world->endpoints[i], NULL};
        const struct service_options options = {.endpoints = own,
                                                .scratch_folder = service_folder,
                                                .links = service_links,
                                                .query_threads = 2,
                                                .cursors = 64,
                                                .query_timeout_ms = 60000,
                                                .query_memory = 64 << 20,
                                                .answer_bytes = SERVICE_ANSWER,
                                                .sort_memory = 1 << 20,
                                                .answer_memory = 4 << 20};
        must(service_start(&world->services[i], world->partitions[i], &options, &why), &why);
    }
    const struct index_client_options options = {
        .endpoints = endpoints, .count = count, .name = "test"};
    must(index_client_open(&world->client, &options, &why), &why);
    for (size_t i = 0; i < count; i++) {
        struct index_batch *batch = index_batch_new(world->partitions[i]);
        for (unsigned d = 0; d < SERVICE_DOCUMENTS; d++) {
            if (service_owns(world, i, d)) {
                fixture_add(batch, d, 1, &service_documents[d]);
            }
        }
        must(index_batch_commit(batch, &why), &why);
        must(partition_settle(world->partitions[i], &why), &why);
        index_batch_free(batch);
    }
}

void
service_world_stop(struct service_world *world)
{
    index_client_close(world->client);
    for (size_t i = 0; i < world->count; i++) {
        if (world->services[i] != NULL) {
            service_stop(world->services[i]);
        }
        partition_close(world->partitions[i]);
    }
}

void
service_world_query(struct service_world *world, const char *sparql, const char *format,
                    struct buf *out)
{
    struct reason why = {""};
    buf_reset(out);
    must(index_query(world->client, slice_string(sparql), format, &(struct index_query_options){0},
                     fixture_append, out, &why),
         &why);
}

size_t
service_lines(const struct buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->length; i++) {
        n += text->data[i] == '\n';
    }
    return n;
}

int
service_set_up(void **state)
{
    (void)state;
    static const char queries[] =
        "# links\nSELECT ?uri WHERE { ?s <http://www.w3.org/2000/01/rdf-schema#seeAlso> ?uri }\n"
        "\n"
        "select distinct ?uri { ?s <http://purl.org/rss/1.0/link> ?uri . }\n"
        "\n"
        "PREFIX own: <http://own.example/>\n"
        "SELECT ?uri WHERE { ?s own:link ?uri . FILTER(isIRI(?uri)) }\n";
    struct reason why = {""};
    must(links_open(&service_links, slice_string(queries), &why), &why);
    assert_int_equal(links_count(service_links), 3);
    assert_true(scratch_folder(service_folder, "test_index_service"));
    for (unsigned d = 0; d < SERVICE_DOCUMENTS; d++) {
        buf_init(&service_documents[d], 1 << 20);
        if (d == 1) {
            (void)buf_append_string(&service_documents[d], extra);
        }
        fixture_document(d, 30, &service_documents[d]);
    }
    return 0;
}

int
service_tear_down(void **state)
{
    (void)state;
    for (unsigned d = 0; d < SERVICE_DOCUMENTS; d++) {
        buf_release(&service_documents[d]);
    }
    links_close(service_links);
    fixture_run("rm -r %s%s", service_folder, "");
    return 0;
}
