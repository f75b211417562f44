/* Transfers by FTP against tests/web/ftp_server.py, which misbehaves as each test says. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/system/file.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stages/fetch_client.h"
#include "warc/warc.h"

static char folder[SCRATCH_SIZE], connect_to[64];
static unsigned port;
static pid_t server;

static void
write_to(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void
faults(const char *lines)
{
    write_to("root/.faults", lines);
}

static int
start_server(void **state)
{
    char root[96], ports[96], log[96];
    FILE *file = NULL;
    (void)state;
    if (!scratch_folder(folder, "fetch-ftp")) {
        return -1;
    }
    snprintf(root, sizeof root, "%s/root", folder);
    snprintf(ports, sizeof ports, "%s/port", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    mkdir(root, 0755);
    server = fork();
    if (server == 0) {
        execlp("python3", "python3", "tests/web/ftp_server.py", root, ports, log, NULL);
        _exit(127);
    }
    for (int i = 0; i < 6000 && file == NULL; i++) {
        usleep(20000);
        file = fopen(ports, "r");
    }
    if (file == NULL || fscanf(file, "%u", &port) != 1) {
        return -1;
    }
    fclose(file);
    snprintf(connect_to, sizeof connect_to, "fetch.connect_to=ftp=127.0.0.1:%u", port);
    mkdir(strcat(root, "/pub"), 0755);
    write_to("root/pub/d.nt", "0123456789");
    return 0;
}

static int
stop_server(void **state)
{
    char command[SCRATCH_SIZE + 32];
    (void)state;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct client *
open_ftp(const char *more)
{
    const char *const assignments[] = {"fetch.allow_address=127.0.0.0/8",
                                       "fetch.from=crawler@q.example",
                                       "fetch.patience=600",
                                       "fetch.timeout=600",
                                       "fetch.connect_timeout=600",
                                       connect_to,
                                       more,
                                       NULL};
    return open_client(assignments);
}

static _Atomic unsigned told_by_others; /* of descriptors, by a thread that does not own the loop */
static pthread_t owner;

void __real_fetch_http_forget(struct fetch_http *http, int descriptor);
void __wrap_fetch_http_forget(struct fetch_http *http, int descriptor);
void
__wrap_fetch_http_forget(struct fetch_http *http, int descriptor)
{
    if (pthread_equal(pthread_self(), owner)) {
        __real_fetch_http_forget(http, descriptor);
    } else {
        told_by_others++;
    }
}

static struct {
    unsigned begun, failing; /* threads of transfers; the one that cannot be had, 0: none */
    bool masked;             /* each was begun with all signals blocked */
} threads;

typedef void *thread_work(void *context);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_work *work,
                          void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_work *work,
                          void *context);
int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_work *work,
                      void *context)
{
    sigset_t blocked;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    threads.masked &= sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGINT) == 1 &&
                      sigismember(&blocked, SIGPROF) == 1 && sigismember(&blocked, SIGUSR2) == 1;
    return ++threads.begun == threads.failing
               ? EAGAIN
               : __real_pthread_create(thread, attributes, work, context);
}

/* A sink saw these. */
static struct {
    unsigned status;
    char header[512], body[4096];
    size_t length;
} poured;

static bool
begin(void *context, uint16_t status, struct slice header)
{
    (void)context;
    poured.status = status;
    snprintf(poured.header, sizeof poured.header, "%.*s", SLICE_PRINT(header));
    return true;
}

static bool
take(void *context, struct slice bytes)
{
    (void)context;
    if (poured.length + bytes.length < sizeof poured.body) {
        memcpy(poured.body + poured.length, bytes.at, bytes.length);
    }
    poured.length += bytes.length;
    return true;
}

static void
ask(struct client *client, const char *path, uint64_t from, bool head, size_t size)
{
    static const struct fetch_sink sink = {begin, take, NULL};
    char url[200];
    memset(&poured, 0, sizeof poured);
    snprintf(url, sizeof url, "ftp://ftp.example%s", path);
    const struct fetch_request request = {.url = slice_string(url),
                                          .size = size,
                                          .head = head,
                                          .sink = head ? NULL : &sink,
                                          .range_from = from,
                                          .done = done,
                                          .context = client};
    client->waiting++;
    fetch_http_start(client->http, &request);
    run(client);
}

static void
get(struct client *client, const char *path, uint64_t from)
{
    ask(client, path, from, false, 1 << 20);
}

static struct slice
field(const char *name)
{
    return warc_http_header(slice_string(poured.header), name);
}

static void
a_file_is_fetched(void **state)
{
    struct client *client = open_ftp(NULL);
    (void)state;
    faults("");
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_int_equal(client->status, 200);
    assert_int_equal(client->reply, 226);
    assert_int_equal(poured.status, 200);
    assert_string_equal(poured.body, "0123456789");
    assert_true(slice_is(field("Content-Length"), "10"));
    assert_true(slice_starts(field("ETag"), SLICE("\"10-")));
    assert_true(field("Last-Modified").length == 29);
    assert_string_equal(client->ip, "127.0.0.1");
    /* The dialogue: who we are, in binary, passive, one file, farewell. */
    assert_non_null(strstr(client->request.data, "USER anonymous\r\n331 "));
    assert_non_null(strstr(client->request.data, "PASS crawler@q.example\r\n230 "));
    assert_non_null(strstr(client->request.data, "TYPE I\r\n"));
    assert_non_null(strstr(client->request.data, "EPSV\r\n229 "));
    assert_null(strstr(client->request.data, "PORT"));
    assert_non_null(strstr(client->request.data, "RETR d.nt\r\n150 "));
    close_client(client);
}

static void
its_size_and_time_are_asked_for(void **state)
{
    struct client *client = open_ftp(NULL);
    char tag[64];
    (void)state;
    faults("");
    get(client, "/pub/d.nt", 0);
    snprintf(tag, sizeof tag, "%.*s", SLICE_PRINT(field("ETag")));
    ask(client, "/pub/d.nt", 0, true, 0);
    assert_int_equal(client->status, 200);
    assert_int_equal(client->body.length, 0);
    const struct slice header = buf_slice(&client->header);
    assert_true(slice_is(warc_http_header(header, "Content-Length"), "10"));
    assert_true(slice_is(warc_http_header(header, "ETag"), tag));
    assert_null(strstr(client->request.data, "RETR"));
    assert_null(strstr(client->request.data, "EPSV"));
    /* What libcurl says of the file was not said by the server. */
    assert_null(strstr(client->request.data, "Content-Length"));
    assert_null(strstr(client->request.data, "Last-Modified"));
    assert_null(strstr(client->request.data, "Accept-ranges"));
    assert_non_null(strstr(client->request.data, "213 10"));
    faults("reply * SIZE 502 99\nreply * MDTM 500 99\n");
    ask(client, "/pub/d.nt", 0, true, 0);
    assert_int_equal(client->status, 200);
    assert_null(warc_http_header(buf_slice(&client->header), "ETag").at);
    close_client(client);
}

static void
a_download_goes_on(void **state)
{
    struct client *client = open_ftp(NULL);
    (void)state;
    faults("");
    get(client, "/pub/d.nt", 6);
    assert_int_equal(client->status, 206);
    assert_string_equal(poured.body, "6789");
    assert_true(slice_is(field("Content-Range"), "bytes 6-9/10"));
    assert_true(slice_starts(field("ETag"), SLICE("\"10-")));
    assert_true(slice_is(field("Content-Length"), "4"));
    get(client, "/pub/d.nt", 60); /* it has become smaller */
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_int_equal(client->status, 416);
    faults("reply * REST 502 99\n");
    get(client, "/pub/d.nt", 6);
    assert_int_equal(client->status, 416);
    close_client(client);
}

static void
replies_are_statuses(void **state)
{
    static const struct {
        const char *faults;
        unsigned reply, status;
    } cases[] = {
        {"greet 421 99\n", 421, 503},        {"greet 500 99\n", 500, 403},
        {"reply * USER 421 99\n", 421, 503}, {"reply * PASS 530 99\n", 530, 401},
        {"reply * PASS 430 99\n", 430, 401}, {"reply /pub CWD 550 99\n", 550, 404},
        {"reply * SIZE 550 99\n", 550, 404}, {"reply * RETR 550 99\n", 550, 404},
        {"reply * RETR 425 99\n", 425, 503}, {"reply * RETR 450 99\n", 450, 503},
        {"reply * RETR 451 99\n", 451, 503}, {"reply * RETR 504 99\n", 504, 403},
    };
    struct client *client = open_ftp(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[FETCH_WORDS_SIZE];
        faults(cases[i].faults);
        get(client, "/pub/d.nt", 0);
        fetch_answer_words(0, (uint16_t)cases[i].reply, words);
        assert_int_equal(client->end, FETCH_ANSWERED);
        assert_int_equal(client->reply, cases[i].reply);
        assert_int_equal(client->status, cases[i].status);
        assert_string_equal(client->problem, words);
        assert_int_equal(poured.length, 0);
    }
    close_client(client);
}

static void
broken_downloads_are_cut(void **state)
{
    struct client *client = open_ftp(NULL);
    static const char *const kinds[] = {"break * 4 99\n", "drop * 4 99\n", "size * 50\n"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        faults(kinds[i]);
        get(client, "/pub/d.nt", 0);
        assert_int_equal(client->end, FETCH_CUT_CONNECTION);
        assert_int_equal(client->status, 200);
        assert_true(poured.length <= 10);
    }
    faults("size * 5\n"); /* it grows: as much as was said is taken */
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_string_equal(poured.body, "01234");
    faults("endless *\nsize * 3000000000\n");
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_CUT_LENGTH);
    faults("endless *\nreply * SIZE 502 99\n");
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_CUT_LENGTH);
    close_client(client);
    client = open_ftp("fetch.patience=2");
    faults("slow * 20\nreply * SIZE 502 99\nendless *\n"); /* under the rate that is no silence */
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_CUT_TIME);
    close_client(client);
}

static void
hostile_replies_are_bounded(void **state)
{
    static const char *const kinds[] = {"noise * line\n", "noise * lines\n", "noise * binary\n",
                                        "silent *\n"};
    struct client *client = open_ftp("fetch.patience=5");
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const uint64_t before = clock_monotonic_ms();
        faults(kinds[i]);
        get(client, "/pub/d.nt", 0);
        assert_true(client->end == FETCH_FAILED || client->end == FETCH_REFUSED_HEADER);
        assert_int_equal(client->status, 0);
        assert_true(client->problem[0] != '\0');
        assert_true(client->request.length <= 64 << 10);
        assert_true(clock_monotonic_ms() - before < 60000);
    }
    close_client(client);
}

/* What holds up a transfer by FTP holds up no other, nor the end of the process for long. */
static void
nobody_waits_for_a_silent_server(void **state)
{
    struct client *client = open_ftp(NULL);
    static const struct fetch_sink sink = {begin, take, NULL};
    (void)state;
    faults("unended /pub/d.nt\n");
    const struct fetch_request silent = {
        .url = SLICE("ftp://ftp.example/pub/d.nt"), .sink = &sink, .done = done, .context = client};
    const uint64_t before = clock_monotonic_ms();
    for (int i = 0; i < 40; i++) { /* more than there are threads */
        fetch_http_start(client->http, &silent);
    }
    get_url(client, "http://127.0.0.1:1/");
    assert_int_equal(client->end,
                     FETCH_FAILED); /* nothing listens there, and that is known at once */
    assert_true(clock_monotonic_ms() - before < 300000);
    usleep(300000);
    close_client(client);
    assert_true(clock_monotonic_ms() - before < 500000); /* not ten minutes for each reply */
}

static void
many_wait_for_a_thread(void **state)
{
    struct client *client = open_ftp(NULL);
    (void)state;
    faults("");
    for (int i = 0; i < 100; i++) {
        const struct fetch_request request = {.url = SLICE("ftp://ftp.example/pub/d.nt"),
                                              .head = true,
                                              .done = done,
                                              .context = client};
        client->waiting++;
        fetch_http_start(client->http, &request);
    }
    run(client);
    assert_int_equal(client->status, 200);
    close_client(client);
}

/* The signals of this process are those of the thread that owns the loop, which has afterwards
 * those blocked that it had before, also when there is no thread. */
static void
threads_take_no_signals(void **state)
{
    sigset_t mine, before, after;
    (void)state;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &mine, &before), 0);
    struct client *client = open_ftp(NULL);
    faults("");
    for (unsigned failing = 0; failing < 2; failing++) {
        memset(&threads, 0, sizeof threads);
        threads.masked = true;
        threads.failing = failing;
        get(client, "/pub/d.nt", 0);
        assert_true(threads.masked && threads.begun == 1);
        assert_int_equal(client->end, failing ? FETCH_FAILED : FETCH_ANSWERED);
        assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
        assert_int_equal(sigismember(&after, SIGUSR1), 1);
        assert_int_equal(sigismember(&after, SIGTERM), 0);
        assert_int_equal(sigismember(&after, SIGUSR2), 0);
    }
    threads.failing = 0;
    close_client(client);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

/* That it has none is told of it; those that wait behind it and those that come later have one. */
static void
a_transfer_without_a_thread_fails_alone(void **state)
{
    char wanted[128];
    struct client *client = open_ftp(NULL);
    (void)state;
    faults("");
    memset(&threads, 0, sizeof threads);
    threads.failing = 1;
    snprintf(wanted, sizeof wanted, "no thread: %s", strerror(EAGAIN));
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_FAILED);
    assert_int_equal(client->status, 0);
    assert_int_equal(poured.length, 0);
    assert_non_null(strstr(client->problem, wanted));
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_string_equal(client->problem, "");
    assert_string_equal(poured.body, "0123456789");
    assert_int_equal(threads.begun, 2);
    /* Of many the first fails, the others do not wait for it. */
    threads.begun = 0;
    for (int i = 0; i < 40; i++) {
        const struct fetch_request request = {.url = SLICE("ftp://ftp.example/pub/d.nt"),
                                              .head = true,
                                              .done = done,
                                              .context = client};
        client->waiting++;
        fetch_http_start(client->http, &request);
    }
    run(client);
    assert_int_equal(client->waiting, 0);
    assert_int_equal(threads.begun, 40);
    threads.failing = 0;
    get(client, "/pub/d.nt", 0);
    assert_string_equal(poured.body, "0123456789");
    close_client(client);
}

/* A handle that served HTTP before says no more to the loop than a new one. */
static void
the_loop_is_told_of_no_socket_of_a_thread(void **state)
{
    struct client *client = open_ftp(NULL);
    (void)state;
    faults("");
    get_url(client, "http://127.0.0.1:1/");
    for (int i = 0; i < 3; i++) {
        get(client, "/pub/d.nt", 0);
        assert_int_equal(client->status, 200);
    }
    close_client(client);
    assert_int_equal(told_by_others, 0);
}

static void
only_allowed_addresses_are_connected_to(void **state)
{
    const char *const assignments[] = {connect_to, NULL};
    struct client *client = open_client(assignments);
    (void)state;
    faults("");
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->end, FETCH_REFUSED_ADDRESS);
    assert_int_equal(poured.length, 0);
    close_client(client);
    /* A server that names another address for its data is not followed there. */
    client = open_ftp(NULL);
    faults("foreign *\n");
    get(client, "/pub/d.nt", 0);
    assert_string_equal(poured.body, "0123456789");
    assert_non_null(strstr(client->request.data, "PASV\r\n227 here (127,0,0,2,"));
    close_client(client);
}

static void
credentials_go_to_their_origin_and_nowhere_else(void **state)
{
    char option[160];
    (void)state;
    write_to("credentials", "ftp://ftp.example basic me:secret\n");
    snprintf(option, sizeof option, "%s/credentials", folder);
    chmod(option, 0600);
    snprintf(option, sizeof option, "fetch.credentials=%s/credentials", folder);
    struct client *client = open_ftp(option);
    faults("");
    get(client, "/pub/d.nt", 0);
    assert_int_equal(client->status, 200);
    assert_non_null(strstr(client->request.data, "USER [withheld]\r\n331 [withheld]\r\n"));
    assert_non_null(strstr(client->request.data, "PASS [withheld]\r\n230 [withheld]\r\n"));
    assert_null(strstr(client->request.data, "secret"));
    get_url(client, "ftp://other.example/pub/d.nt");
    assert_string_equal(client->body.data, "0123456789");
    assert_non_null(strstr(client->request.data, "USER anonymous\r\n"));
    close_client(client);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_fetched),
        cmocka_unit_test(its_size_and_time_are_asked_for),
        cmocka_unit_test(a_download_goes_on),
        cmocka_unit_test(replies_are_statuses),
        cmocka_unit_test(broken_downloads_are_cut),
        cmocka_unit_test(hostile_replies_are_bounded),
        cmocka_unit_test(nobody_waits_for_a_silent_server),
        cmocka_unit_test(many_wait_for_a_thread),
        cmocka_unit_test(threads_take_no_signals),
        cmocka_unit_test(a_transfer_without_a_thread_fails_alone),
        cmocka_unit_test(the_loop_is_told_of_no_socket_of_a_thread),
        cmocka_unit_test(only_allowed_addresses_are_connected_to),
        cmocka_unit_test(credentials_go_to_their_origin_and_nowhere_else),
    };
    signal(SIGPIPE, SIG_IGN);
    owner = pthread_self();
    return cmocka_run_group_tests_name("fetch_ftp", tests, start_server, stop_server);
}
