/* Partitions with the documents of index_fixture.h, their services and a client of them all, for
 * the parts of test_index_service. */
#ifndef TESTS_UNIT_INDEX_SERVICE_SERVICE_WORLD_H
#define TESTS_UNIT_INDEX_SERVICE_SERVICE_WORLD_H

#include "index/client/index_client.h"
#include "index/serve/index_service.h"
#include "tests/unit/index/index_fixture.h"

enum { SERVICE_PARTITIONS = 3, SERVICE_DOCUMENTS = 40, SERVICE_ANSWER = 1 << 26 };

extern char service_folder[SCRATCH_SIZE];
/* How links are found. */
extern struct links *service_links;
/* Their quads; those of the second have links, too. */
extern struct buf service_documents[SERVICE_DOCUMENTS];

struct service_world {
    size_t count;
    struct partition *partitions[SERVICE_PARTITIONS];
    struct service *services[SERVICE_PARTITIONS];
    char endpoints[SERVICE_PARTITIONS][128];
    struct index_client *client;
};

/* Of the whole program. */
int service_set_up(void **state);
int service_tear_down(void **state);

/* The documents are committed. count: of partitions. */
void service_world_start(struct service_world *world, size_t count);
void service_world_stop(struct service_world *world);
/* out is emptied before. */
void service_world_query(struct service_world *world, const char *sparql, const char *format,
                         struct buf *out);
bool service_owns(const struct service_world *world, size_t partition, unsigned document);
size_t service_lines(const struct buf *text);

/* ---- the parts of the test ---- */

/* service_shares.c */
void partitions_estimate_stars(void **state);
void partitions_evaluate_their_share(void **state);
void partition_of_the_graphs_answers_alone(void **state);
/* service_links.c */
void links_come_from_patterns_and_queries(void **state);
void vocabularies_are_links(void **state);
void links_of_many_documents_come_to_whom_they_belong(void **state);
/* service_readers.c */
void readers_see_old_or_new_never_a_mixture(void **state);
void unread_cursors_make_way(void **state);
void short_queries_pass_long_ones(void **state);

#endif
