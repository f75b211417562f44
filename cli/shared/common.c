#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/outcome.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "cli/shared/cli.h"
#include "cli/shared/reading_copy.h"
#include "cli/supervisor/process_troubles.h"
#include "cli/supervisor/supervisor.h"
#include "config/config.h"
#include "datasets/dump_key.h"
#include "stages/skeleton/services.h"

enum { LONGEST_WAIT_MS = 100 };

enum status
cli_check_directory(const char *directory, struct reason *why)
{
    return directory != NULL && directory[0] != '\0'
               ? config_check_directory(directory, why)
               : status_fail(why, STATUS_MISUSE, "--dir DIR is needed: the data directory");
}

enum status
cli_check_files(char **paths, int n, struct reason *why)
{
    for (int i = 0; i < n; i++) {
        struct stat about;
        if (strcmp(paths[i], "-") == 0) {
            continue;
        }
        if (stat(paths[i], &about) != 0 || access(paths[i], R_OK) != 0) {
            return status_fail_errno(why, "cannot read %s", paths[i]);
        }
        if (S_ISDIR(about.st_mode)) {
            return status_fail(why, STATUS_MISUSE, "%s is a folder; name the files in it",
                               paths[i]);
        }
    }
    return STATUS_OK;
}

/* When cluster.conf was written; 0: there is none. */
static struct timespec
cluster_time(const struct cli *cli)
{
    struct stat info = {0};
    struct buf path;
    buf_init(&path, PATH_MAX);
    (void)buf_printf(&path, "%s/cluster.conf", cli->directory);
    (void)stat(path.data, &info);
    buf_release(&path);
    return info.st_mtim;
}

static enum status
open_any(struct cli *cli, const struct cli_common *common, bool reads, struct reason *why)
{
    *cli = (struct cli){0};
    TRY(cli_check_directory(common->directory, why));
    cli->reading = reading_copy_needed(common->directory);
    if (cli->reading && !reads) {
        return status_fail(why, STATUS_MISUSE, "%s may only be read, and this would write there",
                           common->directory);
    }
    cli->directory = memory_string(common->directory);
    cli->assignments = &common->assignments;
    TRY(config_load(cli->directory, &common->assignments, &cli->options, why));
    config_open_log(cli->options, "quadrille");
    process_troubles_end_waits(cli->directory, false);
    cli->cluster_time = cluster_time(cli);
    TRY(cluster_open(&cli->cluster, cli->directory, cli->options, why));
    return common->takes_root || !cluster_is_client(cli->cluster)
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE,
                             "%s is a cluster's, and this command works on one data directory; see "
                             "docs/CLUSTER.md",
                             common->directory);
}

enum status
cli_open(struct cli *cli, const struct cli_common *common, struct reason *why)
{
    return open_any(cli, common, false, why);
}

enum status
cli_open_reading(struct cli *cli, const struct cli_common *common, struct reason *why)
{
    return open_any(cli, common, true, why);
}

/* ---- processes that a command needs, docs/PROCESSES.md ---- */

/* In the child: runs what nobody else does until the parent says stop or is gone. */
static void
serve(const struct cli *cli, const char *only, pid_t parent, int staying)
{
    enum { STAYING = STDERR_FILENO + 1 };
    static const int ending[] = {SIGTERM, SIGINT, SIGHUP};
    struct supervisor *supervisor;
    struct reason why = {""};
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        (void)signal(ending[i], SIG_DFL);
    }
    /* Who reads what the command prints, or waits for the end of what it started, must see it. */
    const int null = open("/dev/null", O_RDWR);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup3(staying, STAYING, O_CLOEXEC);
    (void)close_range(STAYING + 1, UINT_MAX, 0);
    setpgid(0, 0); /* Ctrl-C is for the command, which then stops us in order */
    enum status status = getppid() == parent ? STATUS_OK : STATUS_CANCELLED;
    log_open("quadrille", LOG_LEVEL_ERROR, false);
    if (status == STATUS_OK) {
        const struct supervisor_settings settings = {.directory = cli->directory,
                                                     .options = cli->options,
                                                     .cluster = cli->cluster,
                                                     .assignments = cli->assignments,
                                                     .only = only,
                                                     .helper = true,
                                                     .staying = STAYING};
        status = supervisor_open(&supervisor, &settings, &why);
    }
    if (status == STATUS_OK) {
        status = supervisor_run(supervisor, &why);
    }
    if (status != STATUS_OK && status != STATUS_CANCELLED) {
        fprintf(stderr, "quadrille: %s\n", why.text);
    }
    reading_copy_remove(cli->copy); /* of a command that was killed nobody else does */
    _exit(status_exit_code(status));
}

static enum status
use_parts(struct cli *cli, const char *only, struct reason *why)
{
    char part[32];
    for (const char *at = only; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, at);
        const int use = cli->use_count < CLI_PARTS ? supervisor_use(cli->directory, part) : -1;
        if (use < 0) {
            return status_fail_errno(why, "cannot lock %s/run/%s.users", cli->directory, part);
        }
        cli->uses[cli->use_count++] = use;
        at += length + (at[length] == ',');
    }
    return STATUS_OK;
}

enum status
cli_serve(struct cli *cli, const char *only, struct reason *why)
{
    int staying[2];
    if (cli->helper > 0 || cluster_is_client(cli->cluster)) {
        return STATUS_OK;
    }
    if (cli->reading) {
        TRY(reading_copy_make(cli->directory, only, &cli->copy, why));
        free(cli->directory);
        cli->directory = memory_string(cli->copy);
        process_troubles_end_waits(cli->directory, false);
    }
    TRY(use_parts(cli, only, why));
    const pid_t self = getpid();
    const pid_t pid = pipe2(staying, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid == 0) {
        serve(cli, only, self, staying[1]);
    }
    if (pid < 0) {
        return status_fail_errno(why, "cannot start the processes of %s", cli->directory);
    }
    close(staying[1]);
    cli->helper = pid;
    cli->helper_stays = staying[0];
    return STATUS_OK;
}

/* It ends what it runs, or says that it stays for others. */
static void
leave_helper(struct cli *cli)
{
    char byte;
    for (size_t i = 0; i < cli->use_count; i++) {
        close(cli->uses[i]);
    }
    if (cli->helper <= 0) {
        return;
    }
    kill(cli->helper, SIGTERM);
    ssize_t n;
    while ((n = read(cli->helper_stays, &byte, 1)) < 0 && errno == EINTR) {
    }
    while (n == 0 && waitpid(cli->helper, NULL, 0) < 0 && errno == EINTR) {
    }
    close(cli->helper_stays);
}

void
cli_close(struct cli *cli)
{
    process_troubles_end_waits(NULL, false);
    leave_helper(cli);
    reading_copy_remove(cli->copy);
    cluster_close(cli->cluster);
    opt_set_free(cli->options);
    free(cli->directory);
    *cli = (struct cli){0};
}

size_t
cli_scope_places(const struct cli *cli)
{
    return cluster_is_client(cli->cluster) ? cluster_node_count(cli->cluster) : 1;
}

enum status
cli_follow_cluster(struct cli *cli, bool *changed, struct reason *why)
{
    const struct timespec now = cluster_time(cli);
    struct cluster *fresh;
    *changed = false;
    if (!cluster_is_client(cli->cluster) ||
        (now.tv_sec == cli->cluster_time.tv_sec && now.tv_nsec == cli->cluster_time.tv_nsec)) {
        return STATUS_OK;
    }
    TRY(cluster_open(&fresh, cli->directory, cli->options, why));
    cluster_close(cli->cluster);
    cli->cluster = fresh;
    cli->cluster_time = now;
    *changed = true;
    return STATUS_OK;
}

size_t
cli_share_number(const struct cli *cli, size_t node)
{
    static const char prefix[] = "share-";
    const char *name = cluster_node(cli->cluster, node)->name;
    return strncmp(name, prefix, sizeof prefix - 1) == 0
               ? strtoul(name + sizeof prefix - 1, NULL, 10)
               : SIZE_MAX;
}

void
cli_scope_place(const struct cli *cli, size_t number, char place[CLI_PLACE_SIZE])
{
    if (cluster_is_client(cli->cluster)) {
        (void)snprintf(place, CLI_PLACE_SIZE, "%s/shares/%zu", cli->directory,
                       cli_share_number(cli, number));
    } else {
        (void)snprintf(place, CLI_PLACE_SIZE, "%s", cli->directory);
    }
}

static enum status
share_queue(struct cli *cli, size_t share, struct queue_client **queue, struct reason *why)
{
    const struct queue_client_options options = {
        .endpoint = cluster_node(cli->cluster, share)->queue,
        .name = "cli",
        .keys = cluster_keys(cli->cluster),
    };
    return queue_client_open(queue, &options, why);
}

/* Asks the shares in turn: some may be down or moving. */
static enum status
answering_queue(struct cli *cli, struct queue_client **queue, struct reason *why)
{
    enum { TRY_MS = 1000 };
    const uint64_t until = clock_monotonic_ms() + CLI_ANSWER_MS;
    const size_t shares = cluster_node_count(cli->cluster);
    for (size_t i = 0; clock_monotonic_ms() < until; i++) {
        struct queue_stats stats;
        TRY(share_queue(cli, i % shares, queue, why));
        if (queue_stats_get(*queue, &stats, TRY_MS, why) == STATUS_OK) {
            return STATUS_OK;
        }
        queue_client_close(*queue);
        *queue = NULL;
    }
    return status_fail(why, STATUS_TIMEOUT,
                       "no share of %s answers; `quadrille cluster status --root %s` says who "
                       "runs them",
                       cli->directory, cli->directory);
}

enum status
cli_queue_of(struct cli *cli, struct slice uri, struct queue_client **queue, struct reason *why)
{
    return cluster_is_client(cli->cluster)
               ? share_queue(cli, cluster_owner(cli->cluster, STAGE_FETCH, uri), queue, why)
               : cli_queue(cli, queue, why);
}

enum status
cli_queue(struct cli *cli, struct queue_client **queue, struct reason *why)
{
    if (cluster_is_client(cli->cluster)) {
        return answering_queue(cli, queue, why);
    }
    struct buf endpoint;
    buf_init(&endpoint, 4096);
    config_endpoint(cli->directory, "queue", &endpoint);
    const struct queue_client_options options = {.endpoint = endpoint.data, .name = "cli"};
    const enum status status = queue_client_open(queue, &options, why);
    buf_release(&endpoint);
    return status;
}

/* services are to be released; options point into them. */
static enum status
find_metastores(struct cli *cli, struct cluster_services *services,
                struct metastore_client_options *options, struct reason *why)
{
    TRY(services_metastores(cli->cluster, cli->directory, services, why));
    *options = (struct metastore_client_options){
        .endpoints = services->endpoints,
        .endpoint_count = services->count,
        .owner_of_partition = services->owner_of_partition,
        .name = "cli",
        .keys = services->keys,
    };
    return STATUS_OK;
}

enum status
cli_metastore(struct cli *cli, struct metastore_client **metastore, struct reason *why)
{
    struct cluster_services services;
    struct metastore_client_options options;
    TRY(find_metastores(cli, &services, &options, why));
    const enum status status = metastore_client_open(metastore, &options, why);
    cluster_services_release(&services);
    return status;
}

enum status
cli_index(struct cli *cli, struct index_client **index, struct reason *why)
{
    struct cluster_services metastores, services;
    struct metastore_client_options metastore;
    TRY(find_metastores(cli, &metastores, &metastore, why));
    enum status status =
        services_all_indexes(cli->cluster, cli->directory, cli->options, &services, why);
    if (status == STATUS_OK) {
        const struct index_client_options options = {
            .endpoints = services.endpoints,
            .count = services.count,
            .owner_of_partition = services.owner_of_partition,
            .name = "cli",
            .keys = services.keys,
            /* An index that a helper has just started may have to recover first. */
            .silence_ms = cli->helper > 0 && supervisor_pid(cli->directory) == 0
                              ? 0
                              : (uint32_t)opt_duration_ms(cli->options, "index.silence"),
            .metastore = &metastore,
        };
        status = index_client_open(index, &options, why);
        cluster_services_release(&services);
    }
    cluster_services_release(&metastores);
    return status;
}

typedef enum status key_maker(struct slice uri, struct slice base, struct buf *key,
                              struct reason *why);

/* Returns the length of the scheme: 6 for "mailto:a@b.c", 0 for "example.org" and
 * "example.org:8080/", which lack one. */
static size_t
opaque_scheme(const char *text)
{
    const size_t name = strcspn(text, ":/?#");
    if (text[name] != ':' || name == 0) {
        return 0;
    }
    const char *rest = text + name + 1;
    const size_t digits = strspn(rest, "0123456789");
    return digits > 0 && strchr("/?#", rest[digits]) != NULL ? 0 : name;
}

static enum status
key_by(key_maker *make, const char *text, struct buf *key, struct reason *why)
{
    struct buf whole;
    buf_init(&whole, 2 * URL_MAXIMUM);
    if (strstr(text, "://") == NULL) {
        buf_append_string(&whole, "http://");
    }
    buf_append_string(&whole, text);
    enum status status = STATUS_OK;
    if (strstr(text, "://") == NULL && opaque_scheme(text) > 0) {
        status = status_fail(why, STATUS_MISUSE, "nothing is fetched by \"%.*s:\"",
                             (int)opaque_scheme(text), text);
    } else if (whole.overflowed) {
        status = status_fail(why, STATUS_LIMIT, "URI of more than %d bytes", URL_MAXIMUM);
    } else {
        status = make(buf_slice(&whole), (struct slice){NULL, 0}, key, why);
    }
    buf_release(&whole);
    if (status != STATUS_OK) { /* whatever is wrong with it, somebody typed it */
        status = status_prefix(why, STATUS_MISUSE, "%.200s", text);
    }
    return status;
}

enum status
cli_document_key(const char *text, struct buf *key, struct reason *why)
{
    return key_by(url_crawl_key, text, key, why);
}

enum status
cli_dump_key(const char *text, struct buf *key, struct reason *why)
{
    return key_by(dump_key, text, key, why);
}

enum status
cli_print_piece(void *file, struct slice bytes, struct reason *why)
{
    if (fwrite(bytes.at, 1, bytes.length, file) != bytes.length) {
        return status_fail_errno(why, "cannot write the output");
    }
    return STATUS_OK;
}

enum status
cli_parse(const struct program *program, int argc, char **argv, struct reason *why)
{
    char **operands;
    int n;
    TRY(program_parse(program, argc, argv, &operands, &n, why));
    return n == 0 ? STATUS_OK
                  : status_fail(why, STATUS_MISUSE, "what is %.200s for? See --help", operands[0]);
}

int
cli_end(const struct program *program, enum status status, const struct reason *why)
{
    if (status != STATUS_OK && status != STATUS_END) {
        const bool unhelped = status == STATUS_CORRUPT && strstr(why->text, "OPERATION.md") == NULL;
        fprintf(stderr, "%s: %s%s\n", program->name, why->text,
                unhelped ? " (docs/OPERATION.md says what can be done)" : "");
        if (status == STATUS_BAD_INPUT || status == STATUS_UNSUPPORTED) {
            return EXIT_MISUSE;
        }
        return status_exit_code(status);
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "%s: cannot write the output\n", program->name);
        return EXIT_SYSTEM;
    }
    return EXIT_DONE;
}

static void
wait_for_queue(struct queue_client *queue)
{
    struct pollfd descriptor = {.fd = queue_client_descriptor(queue), .events = POLLIN};
    const int wait = queue_client_wait_ms(queue);
    (void)poll(&descriptor, 1, wait < 0 || wait > LONGEST_WAIT_MS ? LONGEST_WAIT_MS : wait);
    queue_client_process(queue);
}

enum status
cli_put_patiently(struct queue_client *queue, const struct job *jobs, size_t n,
                  struct cli_patience *patience, struct reason *why)
{
    patience->outcome = (struct outcome){0};
    queue_put(queue, jobs, n, outcome_take, &patience->outcome);
    while (!patience->outcome.given) {
        wait_for_queue(queue);
        if (!patience->outcome.given && patience->look != NULL) {
            TRY(patience->look(patience->context, why));
        }
    }
    return outcome_status(&patience->outcome, why);
}

enum status
cli_put_and_wait(struct queue_client *queue, const struct job *jobs, size_t n, struct reason *why)
{
    struct cli_patience patience = {.look = NULL};
    return cli_put_patiently(queue, jobs, n, &patience, why);
}

enum status
cli_note_and_wait(struct metastore_client *metastore, const struct meta_put *puts, size_t n,
                  struct reason *why)
{
    struct outcome outcome = {0};
    metastore_put(metastore, puts, n, outcome_take, &outcome);
    while (!outcome.given) {
        metastore_wait(metastore, LONGEST_WAIT_MS);
    }
    return outcome_status(&outcome, why);
}
