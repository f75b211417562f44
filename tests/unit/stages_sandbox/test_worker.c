/* Workers: what hostile documents do to them stays with them. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages/parsing/document_worker.h"
#include "stages/sandbox/worker.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stages_sandbox/sandbox_steps.h"
#include "tests/unit/stages_sandbox/worker_pools.h"

static struct opt_set *options;

static int
set_up(void **state)
{
    (void)state;
    const struct opt *const tables[] = {transforms_options, NULL};
    static const char *const settings[] = {"transform.memory=128M", "transform.cpu=0.3",
                                           "transform.input=1M"};
    options = opt_set_new(tables);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        assert_int_equal(opt_set_assign(options, settings[i], NULL), STATUS_OK);
    }
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    opt_set_free(options);
    return 0;
}

struct answer {
    enum status status;
    bool died, done;
    uint64_t quads;
    char why[REASON_SIZE];
};

static void
take(void *context, const struct worker_answer *answer)
{
    struct answer *taken = context;
    struct document_outcome outcome;
    taken->status = answer->status;
    taken->died = answer->died;
    taken->done = true;
    snprintf(taken->why, sizeof taken->why, "%s", answer->why ? answer->why->text : "");
    if (answer->status == STATUS_OK && document_outcome_decode(answer->reply, &outcome)) {
        taken->quads = outcome.quads;
    }
}

static void
wait_for(struct worker_pool *pool, const struct answer *answers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        while (!answers[i].done) {
            struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
            poll(&wait, 1, 1000);
            assert_int_equal(worker_pool_process(pool, NULL), STATUS_OK);
        }
    }
}

static void
set_time(const char *cpu)
{
    assert_int_equal(opt_set_assign(options, cpu, NULL), STATUS_OK);
}

/* Every hook between two good documents: the good ones are done, the bad one has its reason. */
static void
test_bad_documents_harm_no_other(void **state)
{
    (void)state;
    if (!sandbox_is_complete()) {
        print_message("skipped: a sanitizer catches crashes and knows no limit of memory\n");
        skip();
    }
    static const struct {
        const char *hook, *why;
        enum status status;
    } cases[] = {
        {"crash", "the worker crashed: signal 11", STATUS_SYSTEM},
        {"abort", "the worker crashed: signal 6", STATUS_SYSTEM},
        {"sleep", "the worker took too long by the clock", STATUS_TIMEOUT},
        {"memory", "the worker ran out of memory", STATUS_LIMIT},
        {"open", "the worker tried a forbidden system call", STATUS_DENIED},
    };
    enum { CASES = sizeof cases / sizeof *cases, DOCUMENTS = 2 * CASES + 1 };
    struct answer answers[DOCUMENTS] = {0};
    struct buf headers[DOCUMENTS];
    struct document_workers *workers;
    struct reason why;
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    assert_int_equal(
        document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, &why),
        STATUS_OK);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        const bool good = i % 2 == 0;
        const struct transform_request request = {
            .uri = SLICE("http://a.example/"),
            .type = good ? SLICE("text/html") : SLICE("application/x-quadrille-hook"),
            .bytes = slice_string(good ? "<title>t</title>" : cases[i / 2].hook)};
        buf_init(&headers[i], 4096);
        document_submit_transform(workers, &request, &headers[i], take, &answers[i]);
    }
    wait_for(document_workers_pool(workers), answers, DOCUMENTS);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        if (i % 2 == 0) {
            assert_int_equal(answers[i].status, STATUS_OK);
            assert_int_equal(answers[i].quads, 2);
        } else {
            assert_true(answers[i].died);
            assert_int_equal(answers[i].status, cases[i / 2].status);
            assert_memory_equal(answers[i].why, cases[i / 2].why, strlen(cases[i / 2].why));
        }
        buf_release(&headers[i]);
    }
    document_workers_close(workers);
    fork_server_close(fork_server);
}

/* The processor time is so little that it is over long before the clock's limit of five seconds,
 * whatever else runs. */
static void
test_loop_ends_by_its_processor_time(void **state)
{
    (void)state;
    if (!sandbox_is_complete()) {
        print_message("skipped: a sanitizer takes its time, too\n");
        skip();
    }
    struct answer answer = {0};
    struct buf header;
    struct document_workers *workers;
    struct reason why;
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    const struct transform_request request = {.uri = SLICE("http://a.example/"),
                                              .type = SLICE("application/x-quadrille-hook"),
                                              .bytes = SLICE("loop")};
    set_time("transform.cpu=0.1");
    assert_int_equal(
        document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, &why),
        STATUS_OK);
    buf_init(&header, 4096);
    document_submit_transform(workers, &request, &header, take, &answer);
    wait_for(document_workers_pool(workers), &answer, 1);
    assert_true(answer.died);
    assert_int_equal(answer.status, STATUS_TIMEOUT);
    assert_string_equal(answer.why, "the worker used up its processor time");
    buf_release(&header);
    document_workers_close(workers);
    fork_server_close(fork_server);
    set_time("transform.cpu=0.3");
}

static void
test_document_longer_than_limit(void **state)
{
    (void)state;
    static char bytes[2 << 20];
    struct answer answer = {0};
    struct buf header;
    struct document_workers *workers;
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    assert_int_equal(
        document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, NULL),
        STATUS_OK);
    buf_init(&header, 4096);
    const struct transform_request request = {.uri = SLICE("http://a.example/"),
                                              .type = SLICE("text/html"),
                                              .bytes = slice_of(bytes, sizeof bytes)};
    document_submit_transform(workers, &request, &header, take, &answer);
    assert_true(answer.done);
    assert_int_equal(answer.status, STATUS_LIMIT);
    assert_false(answer.died);
    document_workers_close(workers);
    fork_server_close(fork_server);
    buf_release(&header);
}

/* Closing answers what is still waiting. */
static void
test_close_cancels(void **state)
{
    (void)state;
    struct answer answers[3] = {0};
    struct buf headers[3];
    struct document_workers *workers;
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    assert_int_equal(
        document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, NULL),
        STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct transform_request request = {.uri = SLICE("http://a.example/"),
                                                  .type = SLICE("application/x-quadrille-hook"),
                                                  .bytes = SLICE("loop")};
        buf_init(&headers[i], 4096);
        document_submit_transform(workers, &request, &headers[i], take, &answers[i]);
    }
    assert_int_equal(worker_pool_waiting(document_workers_pool(workers)), 3);
    document_workers_close(workers);
    document_workers_close(NULL);
    fork_server_close(fork_server);
    for (size_t i = 0; i < 3; i++) {
        assert_true(answers[i].done);
        assert_int_equal(answers[i].status, STATUS_CANCELLED);
        buf_release(&headers[i]);
    }
}

/* Small, so that Tidy, which descends into forms by recursion, soon is at its end. Returns what it
 * was. */
static struct rlimit
set_stack(rlim_t bytes)
{
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    small = before;
    small.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
    return before;
}

static void
use_tidy(bool yes)
{
    char assignment[4096] = "transform.registry=";
    struct registry *registry = registry_new();
    assert_int_equal(registry_read_default(registry, NULL), STATUS_OK);
    if (yes) {
        snprintf(assignment, sizeof assignment, "transform.registry=%s/tidy/registry",
                 registry_folder(registry));
    }
    registry_free(registry);
    assert_int_equal(opt_set_assign(options, assignment, NULL), STATUS_OK);
}

/* A page that ends the worker by way of Tidy is read without it; others have Tidy all the same. */
static void
test_page_that_kills_tidy(void **state)
{
    (void)state;
    enum { PAGES = 3, FORMS = 8000 };
    if (!sandbox_is_complete()) {
        print_message("skipped: a sanitizer catches crashes\n");
        skip();
    }
    struct buf page, header[PAGES], reply;
    struct answer answers[PAGES] = {0};
    struct document_outcome outcome;
    struct document_workers *workers;
    struct reason why;
    bool died = true;
    buf_init(&page, 1 << 20);
    buf_init(&reply, 1 << 20);
    buf_append_string(&page, "<h1>One<div>two</div></h1>");
    for (size_t i = 0; i < FORMS; i++) {
        buf_append_string(&page, "<form>");
    }
    use_tidy(true);
    const struct rlimit before = set_stack(512 << 10);
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    assert_int_equal(
        document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, &why),
        STATUS_OK);
    for (size_t i = 0; i < PAGES; i++) {
        const struct transform_request request = {
            .uri = SLICE("http://a.example/"),
            .type = SLICE("text/html"),
            .bytes = i == 1 ? buf_slice(&page) : SLICE("<h1>One<div>two</div></h1>")};
        buf_init(&header[i], 4096);
        document_submit_transform(workers, &request, &header[i], take, &answers[i]);
    }
    wait_for(document_workers_pool(workers), answers, PAGES);
    for (size_t i = 0; i < PAGES; i++) {
        assert_int_equal(answers[i].status, STATUS_OK);
        assert_int_equal(answers[i].quads, i == 1 ? 2 : 3); /* Tidy makes two headings of one */
        buf_release(&header[i]);
    }
    const struct transform_request request = {
        .uri = SLICE("http://a.example/"), .type = SLICE("text/html"), .bytes = buf_slice(&page)};
    assert_int_equal(document_transform(workers, &request, &reply, &outcome, &died, &why),
                     STATUS_OK);
    assert_false(died);
    assert_int_equal(outcome.problem_count, 1);
    assert_int_equal(outcome.quads, 2);
    document_workers_close(workers);
    fork_server_close(fork_server);
    assert_int_equal(setrlimit(RLIMIT_STACK, &before), 0);
    use_tidy(false);
    buf_release(&page);
    buf_release(&reply);
}

/* A registered program runs in a cage of its own, where parsers' workers could not start it. */
static void
test_external_program(void **state)
{
    (void)state;
    static const char registry[] = "transform echo 1 program /usr/bin/sed -e w/dev/null -e "
                                   "s/.*/<http:x>\\x20<http:p>\\x20\"&\"\\x20./\n"
                                   "transform none 1 program /nonexistent\n"
                                   "match text/x-echo -> echo\n"
                                   "match text/x-none -> none\n";
    static const struct {
        const char *type;
        uint64_t quads, problems;
    } cases[] = {{"text/x-echo", 2, 0}, {"text/x-none", 0, 1}, {"text/html", 1, 0}};
    char path[SCRATCH_SIZE], assignment[SCRATCH_SIZE + 32];
    const int file = scratch_file(path, "test_worker");
    assert_int_equal(write(file, registry, sizeof registry - 1), sizeof registry - 1);
    close(file);
    snprintf(assignment, sizeof assignment, "transform.registry=%s", path);
    assert_int_equal(opt_set_assign(options, assignment, NULL), STATUS_OK);
    struct buf reply;
    buf_init(&reply, 16 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct transform_request request = {.uri = SLICE("http://a.example/"),
                                                  .type = slice_string(cases[i].type),
                                                  .bytes = SLICE("one\ntwo\n")};
        struct document_outcome outcome;
        struct reason why = {""};
        bool died;
        struct document_workers *workers;
        struct fork_server *fork_server = fork_server_start(&document_worker_program);
        assert_int_equal(
            document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, &why),
            STATUS_OK);
        const enum status status =
            document_transform(workers, &request, &reply, &outcome, &died, &why);
        document_workers_close(workers);
        fork_server_close(fork_server);
        assert_string_equal(why.text, "");
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(outcome.quads, cases[i].quads);
        assert_int_equal(outcome.problem_count, cases[i].problems);
    }
    unlink(path);
    assert_int_equal(opt_set_assign(options, "transform.registry=", NULL), STATUS_OK);
    buf_release(&reply);
}

static void
report(void *context, const char *trial, bool stopped, const char *how)
{
    (void)context;
    if (!stopped) {
        print_error("%s: %s\n", trial, how);
    }
}

/* ---- what programs leave behind ---- */

/* The process of that command line, NULs as blanks; 0: there is none. */
static pid_t
find_process(const char *command)
{
    pid_t found = 0;
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes && !found && (entry = readdir(processes))) {
        char path[300], line[256];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *file = fopen(path, "re");
        const size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
        if (file) {
            fclose(file);
        }
        for (size_t i = 0; i < n; i++) {
            line[i] = line[i] ? line[i] : ' ';
        }
        line[n] = '\0';
        found = n > 0 && strcmp(line, command) == 0 ? atoi(entry->d_name) : 0;
    }
    if (processes) {
        closedir(processes);
    }
    return found;
}

static pid_t
parent_of(pid_t process)
{
    char path[64], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) && strrchr(line, ')')) {
        sscanf(strrchr(line, ')'), ") %*c %d", &parent);
    }
    if (file) {
        fclose(file);
    }
    return parent;
}

/* Documents of type text/x-shell are scripts. */
struct shell {
    struct fork_server *fork_server;
    struct document_workers *workers;
    char path[SCRATCH_SIZE];
    struct buf header;
    struct answer answer;
};

static void
open_shell(struct shell *shell)
{
    static const char registry[] =
        "transform shell 1 program /bin/sh\nmatch text/x-shell -> shell\n";
    char assignment[SCRATCH_SIZE + 32];
    struct reason why = {""};
    *shell = (struct shell){0};
    buf_init(&shell->header, 4096);
    const int file = scratch_file(shell->path, "test_worker");
    assert_int_equal(write(file, registry, sizeof registry - 1), sizeof registry - 1);
    close(file);
    snprintf(assignment, sizeof assignment, "transform.registry=%s", shell->path);
    assert_int_equal(opt_set_assign(options, assignment, NULL), STATUS_OK);
    shell->fork_server = fork_server_start(&document_worker_program);
    assert_int_equal(document_workers_open(&shell->workers, shell->fork_server, options, NULL,
                                           DOCUMENT_TRANSFORM, &why),
                     STATUS_OK);
}

static void
close_shell(struct shell *shell)
{
    document_workers_close(shell->workers);
    fork_server_close(shell->fork_server);
    unlink(shell->path);
    buf_release(&shell->header);
    assert_int_equal(opt_set_assign(options, "transform.registry=", NULL), STATUS_OK);
}

static void
begin_script(struct shell *shell, const char *script)
{
    const struct transform_request request = {.uri = SLICE("http://a.example/"),
                                              .type = SLICE("text/x-shell"),
                                              .bytes = slice_string(script)};
    shell->answer = (struct answer){0};
    document_submit_transform(shell->workers, &request, &shell->header, take, &shell->answer);
}

#define ONE_QUAD "echo '<http:x> <http:p> \"a\" .'\n"

static void
check_end(struct shell *shell, const char *format, const char *wanted)
{
    char script[256], command[32];
    const int seconds = 100000 + getpid();
    snprintf(command, sizeof command, "sleep %d ", seconds);
    snprintf(script, sizeof script, "%s%d%s", format, seconds, strchr(format, '\0') + 1);
    begin_script(shell, script);
    wait_for(document_workers_pool(shell->workers), &shell->answer, 1);
    assert_string_equal(shell->answer.why, wanted);
    if (find_process(command) != 0) {
        fail_msg("it goes on: %s", script);
    }
}

/* A session, a group or a background of its own, and what takes its time. */
static void
test_programs_end_with_their_document(void **state)
{
    (void)state;
    /* At the NUL stands the number of seconds. */
    static const char *const scripts[] = {"setsid -f sleep \0 >/dev/null\n" ONE_QUAD,
                                          "setsid sleep \0 >/dev/null &\n" ONE_QUAD,
                                          "(sleep \0 >/dev/null &) >/dev/null\n" ONE_QUAD,
                                          "set -m; sleep \0 >/dev/null &\n" ONE_QUAD};
    if (!sandbox_is_complete()) {
        print_message("skipped: the cage is not whole under a sanitizer\n");
        skip();
    }
    if (!sandbox_has_landlock()) {
        print_message("skipped: this kernel has no Landlock\n");
        skip();
    }
    struct shell shell;
    set_time("transform.cpu=60");
    open_shell(&shell);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        check_end(&shell, scripts[i], "");
    }
    close_shell(&shell);
    /* The worker itself has as much processor time: enough when it is slow under a sanitizer. */
    set_time("transform.cpu=2");
    open_shell(&shell);
    check_end(&shell, "sleep \0 &\n", "shell: the program took longer than 6000 ms");
    close_shell(&shell);
    set_time("transform.cpu=0.3");
}

/* Workers are killed while their programs have programs under way. */
static void
test_programs_end_with_their_worker(void **state)
{
    (void)state;
    if (!sandbox_has_landlock()) {
        print_message("skipped: this kernel has no Landlock\n");
        skip();
    }
    char script[256], command[32];
    struct shell shell;
    const int seconds = 200000 + getpid();
    set_time("transform.cpu=60");
    open_shell(&shell);
    snprintf(command, sizeof command, "sleep %d ", seconds);
    snprintf(script, sizeof script, "(sleep %d; true) &\nwait\n", seconds);
    begin_script(&shell, script);
    while (!shell.answer.done) { /* it is tried three times */
        struct pollfd wait = {.fd = worker_pool_descriptor(document_workers_pool(shell.workers)),
                              .events = POLLIN};
        poll(&wait, 1, 10);
        assert_int_equal(worker_pool_process(document_workers_pool(shell.workers), NULL),
                         STATUS_OK);
        const pid_t left = find_process(command); /* of a subshell, of the shell, of the worker */
        const pid_t worker = left > 0 ? parent_of(parent_of(parent_of(left))) : 0;
        if (worker > 1) {
            kill(worker, SIGKILL);
        }
        while (left > 0 && find_process(command) == left) {
            poll(NULL, 0, 1);
        }
    }
    assert_true(shell.answer.died);
    assert_int_equal(find_process(command), 0);
    close_shell(&shell);
    set_time("transform.cpu=0.3");
}

/* Fails as if the kernel did not know the call. */
static bool
forbid_landlock(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const int error =
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0);
    const bool forbidden = error == 0 && seccomp_load(filter) == 0 && !sandbox_has_landlock();
    seccomp_release(filter);
    return forbidden;
}

/* The exit code: 0, or what is not as it should be. */
static int
try_without_landlock(void)
{
    if (!forbid_landlock()) {
        return 1;
    }
    if (sandbox_selftest_program(report, NULL) != 0) {
        return 2;
    }
    for (int optional = 0; optional < 2; optional++) {
        struct shell shell;
        assert_int_equal(
            opt_set_assign(options,
                           optional ? "transform.landlock=optional" : "transform.landlock=required",
                           NULL),
            STATUS_OK);
        open_shell(&shell);
        begin_script(&shell, ONE_QUAD);
        wait_for(document_workers_pool(shell.workers), &shell.answer, 1);
        const bool as_wanted = optional
                                   ? shell.answer.status == STATUS_OK && shell.answer.quads == 1
                                   : shell.answer.status == STATUS_UNSUPPORTED &&
                                         strstr(shell.answer.why, "transform.landlock") != NULL;
        if (!as_wanted) {
            print_error("status %d: %s\n", (int)shell.answer.status, shell.answer.why);
            return 3;
        }
        close_shell(&shell);
    }
    return 0;
}

static void
test_without_landlock(void **state)
{
    (void)state;
    if (!sandbox_is_complete()) {
        print_message("skipped: this build has a sanitizer instead\n");
        skip();
    }
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        _exit(try_without_landlock());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A worker that somebody kills gives its document to the next one; the dead fork server is told. */
static pid_t slow_worker;

static enum status
prepare_slow(struct slice configuration, void **context, struct reason *why)
{
    (void)why;
    static int prepared;
    prepared = (int)configuration.length;
    *context = &prepared;
    return STATUS_OK;
}

static enum status
handle_slow(void *context, uint8_t verb, struct slice request, struct buf *reply,
            struct reason *why)
{
    (void)context, (void)why;
    const pid_t self = getpid();
    if (verb == 1) {
        buf_append(reply, &self, sizeof self);
    } else {
        poll(NULL, 0, 300);
        buf_append_slice(reply, request);
    }
    return STATUS_OK;
}

static const struct worker_program slow = {
    .name = "test-slow", .prepare = prepare_slow, .handle = handle_slow};

static void
take_reply(void *context, const struct worker_answer *answer)
{
    struct answer *taken = context;
    taken->status = answer->status;
    taken->done = true;
    snprintf(taken->why, sizeof taken->why, "%.*s", SLICE_PRINT(answer->reply));
}

static void
test_killed_from_outside_is_repeated(void **state)
{
    (void)state;
    const struct worker_limits limits = {.workers = 1,
                                         .request = 4096,
                                         .reply = 4096,
                                         .memory = 64 << 20,
                                         .cpu_ms = 1000,
                                         .wall_ms = 60000,
                                         .jobs = 3};
    struct worker_pool *pool;
    struct buf reply;
    struct answer answer = {0};
    struct fork_server *fork_server = fork_server_start(&slow);
    const struct slice text = SLICE("again");
    assert_int_equal(worker_pool_open(&pool, fork_server, &limits, SLICE("x"), NULL), STATUS_OK);
    buf_init(&reply, 4096);
    assert_int_equal(worker_call(pool, SANDBOX_PARSER, 1, NULL, 0, &reply, NULL, NULL), STATUS_OK);
    memcpy(&slow_worker, reply.data, sizeof slow_worker);
    worker_submit(pool, SANDBOX_PARSER, 2, &text, 1, take_reply, &answer);
    assert_int_equal(kill(slow_worker, SIGKILL), 0);
    wait_for(pool, &answer, 1);
    assert_int_equal(answer.status, STATUS_OK);
    assert_string_equal(answer.why, "again");
    for (int i = 0; i < 10; i++) { /* past the jobs after which a worker is replaced */
        assert_int_equal(worker_call(pool, SANDBOX_PARSER, 1, NULL, 0, &reply, NULL, NULL),
                         STATUS_OK);
    }
    worker_pool_close(pool);
    fork_server_close(fork_server);
    buf_release(&reply);
}

/* ---- many requests in one order ---- */

enum { ECHO_ORDER = 1, GROW, REFUSE, CRASH };

static enum status
handle_many(void *context, uint8_t verb, struct slice request, struct buf *reply,
            struct reason *why)
{
    (void)context;
    buf_append_slice(reply, request);
    if (verb == GROW) { /* so that few fit into the memory of an order */
        memset(buf_reserve(reply, 1400), 'x', 1400);
        buf_commit(reply, 1400);
    } else if (verb == REFUSE) {
        return status_fail(why, STATUS_BAD_INPUT, "no %.*s", SLICE_PRINT(request));
    } else if (verb == CRASH) {
        raise(SIGKILL); /* a sanitizer would catch others */
    }
    return STATUS_OK;
}

static const struct worker_program many = {
    .name = "test-many", .prepare = prepare_slow, .handle = handle_many};

struct one_of_many {
    enum status status;
    bool died, done;
    char text[32], reply[32], why[REASON_SIZE];
    size_t length;
};

static void
take_one_of_many(void *context, const struct worker_answer *answer)
{
    struct one_of_many *one = context;
    const size_t text = strlen(one->text);
    assert_false(one->done);
    one->done = true;
    one->status = answer->status;
    one->died = answer->died;
    one->length = answer->reply.length;
    snprintf(one->why, sizeof one->why, "%s", answer->why->text);
    if (answer->reply.length >= text) {
        memcpy(one->reply, answer->reply.at, text);
    }
}

/* Whatever an order is made of, each request has its own answer. */
static void
test_orders_of_many(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    static const uint8_t verbs[] = {ECHO_ORDER, GROW, REFUSE, ECHO_ORDER, GROW};
    static struct one_of_many all[COUNT];
    const struct worker_limits limits = {.workers = 1,
                                         .request = 4096,
                                         .reply = 4096,
                                         .memory = 64 << 20,
                                         .cpu_ms = 10000,
                                         .wall_ms = 60000};
    struct worker_pool *pool;
    struct fork_server *fork_server = fork_server_start(&many);
    assert_int_equal(worker_pool_open(&pool, fork_server, &limits, SLICE("x"), NULL), STATUS_OK);
    for (size_t i = 0; i < COUNT; i++) {
        const uint8_t verb = i == 70 ? CRASH : verbs[i % sizeof verbs];
        snprintf(all[i].text, sizeof all[i].text, "request %zu", i);
        const struct slice text = slice_string(all[i].text);
        const struct slice pieces[] = {slice_of(text.at, 3),
                                       slice_of(text.at + 3, text.length - 3)};
        worker_submit(pool, SANDBOX_PARSER, verb, pieces, 2, take_one_of_many, &all[i]);
    }
    while (worker_pool_waiting(pool) > 0) {
        struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
        poll(&wait, 1, 1000);
        assert_int_equal(worker_pool_process(pool, NULL), STATUS_OK);
    }
    for (size_t i = 0; i < COUNT; i++) {
        const uint8_t verb = verbs[i % sizeof verbs];
        assert_true(all[i].done);
        assert_int_equal(all[i].died, i == 70);
        if (i == 70) {
            assert_int_equal(all[i].status, STATUS_SYSTEM);
            assert_string_equal(all[i].why, "the worker was killed from outside 3 times");
            continue;
        }
        char why[64];
        snprintf(why, sizeof why, "no %s", all[i].text);
        assert_string_equal(all[i].reply, all[i].text);
        assert_int_equal(all[i].length, strlen(all[i].text) + (verb == GROW ? 1400 : 0));
        assert_int_equal(all[i].status, verb == REFUSE ? STATUS_BAD_INPUT : STATUS_OK);
        assert_string_equal(all[i].why, verb == REFUSE ? why : "");
    }
    worker_pool_close(pool);
    fork_server_close(fork_server);
}

static void
test_sandbox_stops_every_trial(void **state)
{
    (void)state;
    if (!sandbox_is_complete()) {
        print_message("skipped: this build has a sanitizer instead\n");
        skip();
    }
    assert_int_equal(sandbox_selftest(report, NULL), 0);
    /* Workers start also where the name of the temporary folder is too long for a socket's. */
    assert_int_equal(setenv("TMPDIR", "/tmp/a-folder-with-a-name-that-is-longer-than-most", 1), 0);
    assert_int_equal(sandbox_selftest_program(report, NULL), 0);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    worker_pool_close(NULL);
    fork_server_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_documents_harm_no_other),
        cmocka_unit_test(test_loop_ends_by_its_processor_time),
        cmocka_unit_test(test_document_longer_than_limit),
        cmocka_unit_test(test_close_cancels),
        cmocka_unit_test(test_page_that_kills_tidy),
        cmocka_unit_test(test_external_program),
        cmocka_unit_test(test_programs_end_with_their_document),
        cmocka_unit_test(test_programs_end_with_their_worker),
        cmocka_unit_test(test_without_landlock),
        cmocka_unit_test(test_killed_from_outside_is_repeated),
        cmocka_unit_test(test_orders_of_many),
        cmocka_unit_test(test_sandbox_stops_every_trial),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return worker_faults_run() + cmocka_run_group_tests(tests, set_up, tear_down) +
           sandbox_steps_run() + sandbox_rules_run() + worker_pools_run() + worker_orders_run();
}
