#include "web/web_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "base/system/threads.h"
#include "config/run_lock.h"
#include "stages/skeleton/services.h"

/* For one more query, of the client that has most of them the youngest that has taken more than a
 * second is cut off; while there is none such, the newcomer is answered 503. Half of what a
 * partition answers at a time, so that others reach it beside. */
enum { QUERIES = 32, IDLE_THREADS = 4 };
/* An index that has answered so lately is not looked for before it is asked again. */
enum { LIVES_MS = 1000 };
static const uint64_t RESULT_MOST = 256 << 20; /* of one that has to be whole before it is sent */

enum status
web_service_open(struct web_service **opened, const char *directory, const struct opt_set *options,
                 const struct cluster *cluster, struct reason *why)
{
    *opened = NULL;
    struct web_service *service = memory_new(sizeof *service);
    service->directory = directory;
    service->options = options;
    service->cluster = cluster;
    service->most = QUERIES;
    service->result_most = RESULT_MOST;
    service->idle = memory_zero(service->most, sizeof(struct index_client *));
    service->queries = web_queries_new(service->most);
    service->threads = threads_new(IDLE_THREADS, 0);
    (void)pthread_mutex_init(&service->lock, NULL);
    service->archive = -1;
    enum status status = services_metastores(cluster, directory, &service->metastores, why);
    if (status == STATUS_OK) {
        status = services_queues(cluster, directory, &service->queues, why);
    }
    if (status == STATUS_OK) {
        status = services_all_indexes(cluster, directory, options, &service->indexes, why);
    }
    if (status != STATUS_OK) {
        web_service_close(service);
        return status;
    }
    *opened = service;
    return STATUS_OK;
}

void
web_service_close(struct web_service *service)
{
    if (service == NULL) {
        return;
    }
    for (size_t i = 0; i < service->idle_count; i++) {
        index_client_close(service->idle[i]);
    }
    file_close(service->archive);
    cluster_services_release(&service->metastores);
    cluster_services_release(&service->queues);
    cluster_services_release(&service->indexes);
    (void)pthread_mutex_destroy(&service->lock);
    web_queries_free(service->queries);
    threads_free(service->threads);
    free(service->idle);
    free(service);
}

struct web_query *
web_query_take(struct web_service *service, const struct web_request *request,
               struct web_reply *reply)
{
    struct web_query *query =
        web_queries_take(service->queries, web_client(request), clock_monotonic_ms());
    if (query == NULL) {
        web_reply_error(reply, 503, "Too many queries at a time; try again soon.");
        web_reply_header(reply, "Retry-After", "1");
    }
    return query;
}

void
web_query_give(struct web_service *service, struct web_query *query)
{
    web_queries_give(service->queries, query);
}

/* ---- parts that nobody runs ---- */

/* Tells whether no process of this machine listens at "ipc://PATH". */
static bool
is_deserted(const char *endpoint)
{
    static const char scheme[] = "ipc://";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strncmp(endpoint, scheme, sizeof scheme - 1) != 0) {
        return false;
    }
    const char *path = endpoint + sizeof scheme - 1;
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0 || strlen(path) >= sizeof address.sun_path) {
        file_close(probe);
        return false;
    }
    strcpy(address.sun_path, path);
    const bool deserted = connect(probe, (const struct sockaddr *)&address, sizeof address) != 0 &&
                          (errno == ECONNREFUSED || errno == ENOENT);
    (void)close(probe);
    return deserted;
}

/* A supervisor starts it, or a process of its name recovers before it listens. */
static bool
is_awaited(const char *directory, const char *part)
{
    char name[32];
    pid_t owner;
    const bool numbered = strcmp(part, "index") == 0;
    snprintf(name, sizeof name, "%s%s.lock", part, numbered ? ".1" : "");
    return run_lock_held(directory, SUPERVISOR_LOCK, &owner) ||
           run_lock_held(directory, name, &owner);
}

enum status
web_check_part(const struct web_service *service, const char *part, struct reason *why)
{
    const struct cluster_services *services = strcmp(part, "index") == 0   ? &service->indexes
                                              : strcmp(part, "queue") == 0 ? &service->queues
                                                                           : &service->metastores;
    for (size_t i = 0; i < services->count; i++) {
        if (!is_deserted(services->endpoints[i])) {
            return STATUS_OK;
        }
    }
    if (services->count == 0 || is_awaited(service->directory, part)) {
        return STATUS_OK;
    }
    return status_fail(why, STATUS_AGAIN,
                       "the %s of %s does not run: quadrille serve --dir %s runs what searches and "
                       "queries need, quadrille up --dir %s the whole pipeline",
                       part, service->directory, service->directory, service->directory);
}

void
web_tell_missing(const struct web_service *service)
{
    static const char *const parts[] = {"queue", "metastore", "index"};
    struct reason why;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (web_check_part(service, parts[i], &why) != STATUS_OK) {
            log_warning("missing", "part=%s reason=%s", parts[i], why.text);
        }
    }
}

static enum status
open_index(const struct web_service *service, struct index_client **client, struct reason *why)
{
    const struct metastore_client_options metastore = {.endpoints = service->metastores.endpoints,
                                                       .endpoint_count = service->metastores.count,
                                                       .owner_of_partition =
                                                           service->metastores.owner_of_partition,
                                                       .name = "web",
                                                       .keys = service->metastores.keys};
    const struct index_client_options options = {
        .endpoints = service->indexes.endpoints,
        .count = service->indexes.count,
        .owner_of_partition = service->indexes.owner_of_partition,
        .name = "web",
        .keys = service->indexes.keys,
        .silence_ms = (uint32_t)opt_duration_ms(service->options, "index.silence"),
        .timeout_ms = (uint32_t)opt_duration_ms(service->options, "web.query_timeout") + 2000,
        .metastore = &metastore};
    return index_client_open(client, &options, why);
}

enum status
web_index_take(struct web_service *service, struct index_client **client, struct reason *why)
{
    *client = NULL;
    if (clock_monotonic_ms() - atomic_load(&service->answered_ms) >= LIVES_MS) {
        TRY(web_check_part(service, "index", why));
    }
    (void)pthread_mutex_lock(&service->lock);
    if (service->idle_count > 0) {
        *client = service->idle[--service->idle_count];
    }
    (void)pthread_mutex_unlock(&service->lock);
    return *client != NULL ? STATUS_OK : open_index(service, client, why);
}

void
web_index_give(struct web_service *service, struct index_client *client, bool healthy)
{
    if (healthy) {
        atomic_store(&service->answered_ms, clock_monotonic_ms());
    }
    (void)pthread_mutex_lock(&service->lock);
    if (healthy && service->idle_count < service->most) {
        service->idle[service->idle_count++] = client;
        client = NULL;
    }
    (void)pthread_mutex_unlock(&service->lock);
    index_client_close(client);
}

void
web_reply_failure(struct web_reply *reply, enum status status, const struct reason *why)
{
    static const struct {
        enum status status;
        unsigned http;
    } table[] = {{STATUS_BAD_INPUT, 400}, {STATUS_MISUSE, 400},  {STATUS_UNSUPPORTED, 400},
                 {STATUS_NOT_FOUND, 404}, {STATUS_LIMIT, 413},   {STATUS_FULL, 507},
                 {STATUS_AGAIN, 503},     {STATUS_TIMEOUT, 504}, {STATUS_CANCELLED, 503}};
    unsigned http = 500;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].status == status) {
            http = table[i].http;
        }
    }
    web_reply_error(reply, http, "%s", why->text);
}

bool
web_partial(const struct web_request *request, struct web_reply *reply, bool *warn)
{
    const char *partial = web_parameter(request, "partial", NULL);
    partial = partial != NULL ? partial : "error";
    *warn = strcmp(partial, "warn") == 0;
    if (!*warn && strcmp(partial, "error") != 0) {
        web_reply_error(reply, 400, "partial is error or warn.");
        return false;
    }
    return true;
}

void
web_reply_missing(struct web_reply *reply, const struct index_client *client)
{
    struct reason which;
    size_t partition = 0;
    while (index_client_missing(client, &partition, &which)) {
        web_reply_header(reply, "Quadrille-Partial", "%s", which.text);
    }
}

void
web_add_line(void *context, const char *value)
{
    (void)buf_append_string(context, value);
    (void)buf_append_char(context, '\n');
}
