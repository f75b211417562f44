/* This stands in the place of the rest of the fetch program, of the metadata store, of the archive
 * and of the parser's processes while a host's plan is made (test_host_plan.c, test_plan_rules.c).
 * What was asked of them is told as lines of a trace, in which the digits of a dataset's job are
 * left out. */
#ifndef TESTS_UNIT_STAGES_FETCH_HOST_PLANS_H
#define TESTS_UNIT_STAGES_FETCH_HOST_PLANS_H

#include "datasets/semantic_sitemap.h"
#include "stages/fetch/datasets/planning.h"

#define ORIGIN "http://data.example"
#define MAP ORIGIN "/sitemap.xml"
#define OTHER "http://other.example"
#define SITEMAP(inside)                                                                     \
    "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" " \
    "xmlns:sc=\"" SEMANTIC_SITEMAP_NAMESPACE "\">" inside "</urlset>"
#define SET(inside) "<sc:dataset>" inside "</sc:dataset>"
#define PREFIX(uri) "<sc:linkedDataPrefix>" uri "</sc:linkedDataPrefix>"
#define DUMP(uri) "<sc:dataDump>" uri "</sc:dataDump>"
#define SAMPLE_OF(uri) "<sc:sampleURI>" uri "</sc:sampleURI>"
#define QUERIED(uri) "<sc:sparqlEndpoint>" uri "</sc:sparqlEndpoint>"
#define VOID_NAME(name) "<http://rdfs.org/ns/void#" name ">"
#define VOID_SET(uri) \
    "<" uri "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> " VOID_NAME("Dataset") " .\n"
/* Of a trace. */
#define FEWEST "    why all of it in the fewest requests\n"
#define SLICED_HERE "  datasets:\n    " ORIGIN "/#slice\n"
#define ID_COVER "  cover:\n    " ORIGIN "/id/ " ORIGIN "/#slice\n"
#define HOST "meta h" ORIGIN "\n"
#define DONE "done planned: \n"
#define VOID_URI ORIGIN "/void.ttl"
#define VOID_FILE(subject, rest) VOID_SET(subject) "<" subject "> " rest " ."

enum { DEPTH = 4, WAIT_MS = 500, PATIENCE_MS = 60000, QUEUED_MS = 5000, TRACE = 1 << 18 };

/* Holds what was had of a URI: its record, and the files of the archive that it names. */
struct had {
    const char *key;
    const char *state, *descriptions, *to; /* of the record */
    const char *response, *conversion;     /* bodies; NULL: there is none */
    enum status status;                    /* of reading them */
    unsigned http_status;                  /* 0: 200 */
};
enum { HAD = 80 };

extern struct fetch fetch;
extern struct stage_job job;
extern struct host host;
extern struct task *task;
extern struct buf trace, words;
extern struct had had[HAD];
extern size_t had_count, gets, failing_get;
extern size_t most_keys; /* that were asked for at a time */
extern bool no_content, no_host, hold;
extern uint64_t now_ms;
extern char last_key[512];
struct held_reply {
    fetch_parsed *done;
    void *context;
    char *bytes;
};
extern struct held_reply held[8];
extern size_t held_count;

void know(struct had one);
void know_map(const char *body);
void new_task(const char *uri, const char *type);
void plan(const char *uri, const char *type);
void assert_trace(const char *text);
void assert_plan(const char *text);
bool was_said(const char *text);
void forget(void);
int set_up(void **state);
int tear_down(void **state);

#endif
