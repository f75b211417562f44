#include "web/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/system/clock.h"
#include "config/config.h"
#include "config/pass_settings.h"
#include "web/http/accept.h"

enum { HOSTS = 64, TURN_MS = 200, ERROR_BYTES = 4096, PIECE = 64 << 10, FIRST_DESCRIPTOR = 3 };

/* ---- who may ---- */

struct host_turn {
    char name[256];
    uint64_t rested_ms; /* monotonic: not before; UINT64_MAX: it is being asked */
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t clients[WEB_COMMAND_PLACES];  /* 0: the place is free */
static uint64_t began_ms[WEB_COMMAND_PLACES]; /* monotonic */
static uint64_t usual_ms = 2000;              /* what commands took lately, about */
static struct host_turn hosts[HOSTS];

/* The host's place, else that of a host that has rested; NULL: the host has not. */
static struct host_turn *
turn_of(struct slice host, uint64_t now_ms)
{
    struct host_turn *free_turn = NULL;
    for (size_t i = 0; i < HOSTS; i++) {
        if (slice_is(host, hosts[i].name)) {
            return hosts[i].rested_ms <= now_ms ? &hosts[i] : NULL;
        }
        free_turn = hosts[i].rested_ms <= now_ms ? &hosts[i] : free_turn;
    }
    return free_turn;
}

static bool
enter(uint64_t client, struct slice host, struct host_turn **turn, size_t *place)
{
    const uint64_t now_ms = clock_monotonic_ms();
    bool may = host.length < sizeof hosts[0].name;
    *place = WEB_COMMAND_PLACES;
    *turn = NULL;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < WEB_COMMAND_PLACES; i++) {
        may = may && clients[i] != client;
        *place = clients[i] == 0 ? i : *place;
    }
    may = may && *place < WEB_COMMAND_PLACES;
    if (may && host.length > 0) {
        *turn = turn_of(host, now_ms);
        may = *turn != NULL;
    }
    if (may) {
        clients[*place] = client;
        began_ms[*place] = now_ms;
    }
    if (may && *turn != NULL) {
        snprintf((*turn)->name, sizeof(*turn)->name, "%.*s", SLICE_PRINT(host));
        (*turn)->rested_ms = UINT64_MAX;
    }
    (void)pthread_mutex_unlock(&lock);
    return may;
}

static uint64_t
left_of(uint64_t end_ms, uint64_t now_ms)
{
    return end_ms > now_ms ? end_ms - now_ms : 0;
}

/* In how many seconds who was refused may expect a place and a host that has rested; 1 at least. */
static uint64_t
seconds_to_wait(uint64_t client, struct slice host, uint64_t delay_ms)
{
    const uint64_t now_ms = clock_monotonic_ms();
    uint64_t wait_ms = UINT64_MAX, own_ms = 0;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < WEB_COMMAND_PLACES; i++) {
        const uint64_t left_ms = clients[i] == 0 ? 0 : left_of(began_ms[i] + usual_ms, now_ms);
        own_ms = clients[i] == client ? left_ms : own_ms;
        wait_ms = left_ms < wait_ms ? left_ms : wait_ms;
    }
    wait_ms = own_ms > wait_ms ? own_ms : wait_ms;
    for (size_t i = 0; i < HOSTS && host.length > 0; i++) {
        if (slice_is(host, hosts[i].name)) {
            const uint64_t rest_ms = hosts[i].rested_ms == UINT64_MAX
                                         ? usual_ms + delay_ms
                                         : left_of(hosts[i].rested_ms, now_ms);
            wait_ms = rest_ms > wait_ms ? rest_ms : wait_ms;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return wait_ms / 1000 + 1;
}

static void
leave(struct host_turn *turn, size_t place, uint64_t delay_ms)
{
    (void)pthread_mutex_lock(&lock);
    usual_ms = (3 * usual_ms + clock_monotonic_ms() - began_ms[place]) / 4;
    clients[place] = 0;
    if (turn != NULL) {
        turn->rested_ms = clock_monotonic_ms() + delay_ms;
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- the process ---- */

/* The settings that this service was given and the command has not by itself. Credentials are no
 * part of them: who reaches the service is not to see what is shown to us alone. */
static enum status
pass_settings(const struct web_service *service, char argument[SETTINGS_ARGUMENT_SIZE],
              struct reason *why)
{
    static const char none[] = "fetch.credentials=";
    struct flag_list list = {.items = {none}, .count = 1};
    struct arena arena;
    bool changed;
    arena_init(&arena, 0);
    for (size_t t = 0; config_tables[t] != NULL; t++) {
        for (const struct opt *opt = config_tables[t]; opt->name != NULL; opt++) {
            const bool of_documents =
                strncmp(opt->name, "fetch.", 6) == 0 || strncmp(opt->name, "transform.", 10) == 0;
            const char *value = of_documents ? opt_text(service->options, opt->name, &changed) : "";
            if (of_documents && changed && strcmp(opt->name, "fetch.credentials") != 0 &&
                list.count < FLAG_LIST_MAXIMUM) {
                list.items[list.count++] = arena_printf(&arena, "%s=%s", opt->name, value).at;
            }
        }
    }
    const enum status status = settings_pass(&list, argument, why);
    arena_release(&arena);
    return status;
}

struct running {
    pid_t process;
    int input, output, error; /* our ends; -1: closed */
    int settings;
};

/* In the child: nothing but system calls, for other threads may have held locks. */
static void
become_command(const int ends[3], int settings, const char *path, char *const *argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 0; i < FIRST_DESCRIPTOR; i++) {
        dup2(ends[i], i);
    }
    if (settings > FIRST_DESCRIPTOR) {
        close_range(FIRST_DESCRIPTOR, (unsigned)settings - 1, 0);
    }
    close_range((unsigned)settings + 1, ~0U, 0);
    setpgid(0, 0);
    execv(path, argv);
    _exit(EXIT_SYSTEM);
}

static enum status
start(const struct web_command *command, const char *directory, char *settings,
      struct running *running, struct reason *why)
{
    const char *argv[WEB_COMMAND_ARGUMENTS + 10] = {"quadrille", command->name, "--dir",
                                                    directory,   "--set",       settings};
    size_t n = 6;
    char path[4096];
    int pipes[3][2];
    for (size_t i = 0; i < WEB_COMMAND_ARGUMENTS && command->arguments[i] != NULL; i++) {
        argv[n++] = command->arguments[i];
    }
    argv[n++] = "--";
    argv[n++] = command->operand;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    strcpy(slash != NULL ? slash + 1 : path, "quadrille");
    for (size_t i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0) {
            while (i-- > 0) {
                (void)close(pipes[i][0]);
                (void)close(pipes[i][1]);
            }
            return status_fail_errno(why, "cannot make a pipe");
        }
    }
    const int ends[3] = {pipes[0][0], pipes[1][1], pipes[2][1]};
    running->process = fork();
    if (running->process == 0) {
        become_command(ends, running->settings, path, (char *const *)argv);
    }
    running->input = pipes[0][1];
    running->output = pipes[1][0];
    running->error = pipes[2][0];
    for (size_t i = 0; i < 3; i++) {
        (void)close(ends[i]);
    }
    (void)fcntl(running->input, F_SETFL, O_NONBLOCK);
    return running->process > 0 ? STATUS_OK : status_fail_errno(why, "cannot start a process");
}

static void
close_one(int *descriptor)
{
    if (*descriptor >= 0) {
        (void)close(*descriptor);
        *descriptor = -1;
    }
}

/* Reads what one end gives, and closes it at its end. LIMIT: the buffer is full. */
static enum status
take(int *descriptor, struct buf *out)
{
    char *room = buf_reserve(out, PIECE);
    if (room == NULL) {
        return STATUS_LIMIT;
    }
    const ssize_t n = read(*descriptor, room, PIECE);
    if (n > 0) {
        buf_commit(out, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        close_one(descriptor);
    }
    return STATUS_OK;
}

static void
give(int *descriptor, struct slice *input)
{
    const ssize_t n = input->length > 0 ? write(*descriptor, input->at, input->length) : 0;
    if (n > 0) {
        *input = slice_of(input->at + n, input->length - (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        *input = slice_of(NULL, 0);
    }
    if (input->length == 0) {
        close_one(descriptor);
    }
}

static enum status
converse(struct running *running, struct slice input, const struct web_query *query,
         uint64_t end_ms, struct buf *out, struct buf *error, struct reason *why)
{
    while (running->output >= 0 || running->error >= 0) {
        struct pollfd ends[] = {{.fd = running->output, .events = POLLIN},
                                {.fd = running->error, .events = POLLIN},
                                {.fd = running->input, .events = POLLOUT}};
        (void)poll(ends, sizeof ends / sizeof ends[0], TURN_MS);
        if (clock_monotonic_ms() > end_ms) {
            return status_fail(why, STATUS_TIMEOUT,
                               "It took longer than web.query_timeout allows.");
        }
        if (atomic_load(&query->cancelled)) {
            return status_fail(why, STATUS_AGAIN, "Others wait to be answered; try again.");
        }
        if (ends[0].revents != 0 && take(&running->output, out) != STATUS_OK) {
            return status_fail(why, STATUS_LIMIT, "The answer is longer than %zu bytes.",
                               out->maximum);
        }
        if (ends[1].revents != 0 && take(&running->error, error) != STATUS_OK) {
            buf_reset(error); /* only its last line is told */
        }
        if (ends[2].revents != 0) {
            give(&running->input, &input);
        }
    }
    return STATUS_OK;
}

static int
end_process(struct running *running, bool kill_it)
{
    int how = 0;
    close_one(&running->input);
    close_one(&running->output);
    close_one(&running->error);
    close_one(&running->settings);
    if (running->process <= 0) {
        return EXIT_SYSTEM;
    }
    if (kill_it) {
        (void)kill(running->process, SIGKILL);
    }
    while (waitpid(running->process, &how, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_SYSTEM;
}

/* ---- the reply ---- */

/* "quadrille inspect: reason" without its begin, and without what the log said before. */
static struct slice
reason_of(const struct buf *error, const char *name)
{
    struct slice text = slice_trim(buf_slice(error));
    const char *last = text.length > 0 ? memrchr(text.at, '\n', text.length) : NULL;
    if (last != NULL) {
        text = slice_of(last + 1, text.length - (size_t)(last + 1 - text.at));
    }
    char begin[64];
    const int n = snprintf(begin, sizeof begin, "quadrille %s: ", name);
    return slice_starts(text, slice_string(begin)) ? slice_of(text.at + n, text.length - (size_t)n)
                                                   : text;
}

static bool
run(struct web_service *service, const struct web_query *query, const struct web_command *command,
    struct buf *out, struct web_reply *reply)
{
    struct running running = {.input = -1, .output = -1, .error = -1, .settings = -1};
    const uint64_t end_ms =
        clock_monotonic_ms() + opt_duration_ms(service->options, "web.query_timeout");
    char settings[SETTINGS_ARGUMENT_SIZE];
    struct reason why = {""};
    struct buf error;
    buf_init(&error, ERROR_BYTES + PIECE);
    enum status status = pass_settings(service, settings, &why);
    if (status == STATUS_OK) {
        running.settings = atoi(strrchr(settings, '/') + 1);
        status = start(command, service->directory, settings, &running, &why);
    }
    if (status == STATUS_OK) {
        status = converse(&running, command->input, query, end_ms, out, &error, &why);
    }
    const int code = end_process(&running, status != STATUS_OK);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (code != EXIT_DONE) {
        const struct slice reason = reason_of(&error, command->name);
        web_reply_error(reply, code == EXIT_MISUSE ? 400 : 422, "%.*s",
                        (int)(reason.length < ERROR_BYTES ? reason.length : ERROR_BYTES),
                        reason.length > 0 ? reason.at : "It failed.");
    }
    buf_release(&error);
    return status == STATUS_OK && code == EXIT_DONE;
}

bool
web_command_run(struct web_service *service, const struct web_request *request,
                const struct web_command *command, struct buf *out, struct web_reply *reply)
{
    const uint64_t delay_ms = opt_duration_ms(service->options, "fetch.delay");
    struct host_turn *turn;
    size_t place;
    if (!enter(web_client(request), command->host, &turn, &place)) {
        web_reply_error(reply, 429,
                        "You, or others with the same host, are being answered: try "
                        "again soon.");
        web_reply_header(
            reply, "Retry-After", "%llu",
            (unsigned long long)seconds_to_wait(web_client(request), command->host, delay_ms));
        return false;
    }
    struct web_query *query = web_query_take(service, request, reply);
    bool done = false;
    if (query != NULL) {
        done = run(service, query, command, out, reply);
        web_query_give(service, query);
    }
    leave(turn, place, delay_ms);
    return done;
}

/* ---- the form of an answer ---- */

static const struct web_command_format formats[] = {
    {"json", "application/json"},
    {"html", "text/html", true},
    {"ttl", "text/turtle"},
    {"nt", "application/n-triples"},
    {"nq", "application/n-quads"},
    {"rdf", "application/rdf+xml"},
    {"jsonld", "application/ld+json"},
    {"svg", "image/svg+xml"},
    {"tsv", "text/tab-separated-values"},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct web_command_format *
find_format(const char *name)
{
    const struct web_command_format *found = formats;
    while (strcmp(found->name, name) != 0) {
        found++;
    }
    return found;
}

const struct web_command_format *
web_command_format(const struct web_request *request, const char *const *names, const char *told,
                   struct web_reply *reply)
{
    const char *asked = web_parameter(request, "format", NULL);
    const char *types[FORMATS];
    int count = 0, chosen = -1;
    for (; names[count] != NULL; count++) {
        types[count] = find_format(names[count])->type;
        chosen = asked != NULL && strcmp(asked, names[count]) == 0 ? count : chosen;
    }
    if (asked == NULL || asked[0] == '\0') {
        chosen = web_accept_choose(web_header(request, "Accept"), types, (size_t)count);
    }
    if (chosen < 0) {
        web_reply_error(reply, asked != NULL ? 400 : 406, "%s", told);
        return NULL;
    }
    return find_format(names[chosen]);
}

const char *
web_command_format_flag(const struct web_command_format *format)
{
    return format->page ? "content" : format->name;
}

const char *
web_command_format_type(const struct web_command_format *format)
{
    return format->page ? "text/html; charset=utf-8" : format->type;
}
