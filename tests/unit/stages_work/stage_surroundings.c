/* What surrounds a stage process: its folder, its signals, the watchdog, who may read its files,
 * the keys of the cluster, and what it says when it cannot begin. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/stages_work/stage_process.h"

enum { TEXT = 512 };

static void
write_file(const char *name, mode_t mode, const char *text)
{
    char path[SCRATCH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", process.folder, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

/* ---- signals ---- */

static void
interrupt(void)
{
    assert_int_equal(raise(SIGINT), 0); /* it is blocked */
    process.signal_ready(process.signal_context, 1);
}

static void
pipes_are_not_fatal(void)
{
    const __sighandler_t before = signal(SIGPIPE, SIG_IGN);
    assert_true(before == SIG_IGN);
}

static void
interrupts_end_it_and_broken_pipes_do_not(void **state)
{
    static const struct turn script[] = {
        {16, pipes_are_not_fatal, READY}, {-1, interrupt, ASKED}, {0, NULL, NULL}};
    (void)state;
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_int_equal(process.told, STATUS_OK);
    assert_trace(ENDED);
}

/* ---- the watchdog ---- */

static void
fed_once(void)
{
    assert_int_equal(process.fed, 1);
}

static void
fed_twice(void)
{
    assert_int_equal(process.fed, 2);
    end_by_signal();
}

static void
not_yet_fed(void)
{
    assert_int_equal(process.fed, 0);
}

static void
the_watchdog_is_fed_in_each_turn(void **state)
{
    static const struct turn script[] = {
        {16, not_yet_fed, READY}, {-1, fed_once, ASKED}, {-1, fed_twice, ""}, {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_int_equal(process.fed, 3);
    assert_trace(ENDED);
}

/* ---- the end ---- */

static void
two_in_hand(size_t *one, size_t *other)
{
    (*one)++;
    (*other)++;
}

static void
waiting_and_running(void)
{
    end_by_signal();
    two_in_hand(&process.running->reserving.waiting_count, &process.running->jobs.running);
}

static void
waiting_and_ended(void)
{
    process.running->jobs.running--;
    process.running->batches.ended_count++;
}

static void
waiting_and_under_way(void)
{
    process.running->batches.ended_count--;
    process.running->batches.under_way++;
}

static void
only_under_way(void)
{
    process.running->reserving.waiting_count--;
}

static void
none_in_hand(void)
{
    process.running->batches.under_way--;
}

/* It ends when no job waits, none is worked on, none waits to leave, and none is leaving. */
static void
it_ends_when_nothing_is_in_hand(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, waiting_and_running, ASKED},
                                         {50, waiting_and_ended, ""},
                                         {50, waiting_and_under_way, ""},
                                         {50, only_under_way, ""},
                                         {50, none_in_hand, ""},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
}

/* ---- files ---- */

static void
folders_of_others_are_left_alone(void **state)
{
    (void)state;
    write_file("letter.txt", 0600, "of somebody else");
    assert_int_not_equal(run_main(NULL, NULL), EXIT_DONE);
    assert_trace("begins detect.1\n");
    assert_null(process.running);
    assert_true(process.told != STATUS_OK && process.told != STATUS_COUNT);
}

static mode_t denied;

static void
look_at_denied(void)
{
    denied = umask(0);
    end_by_signal();
}

static void
files_are_for_whom_the_settings_name(void **state)
{
    static const struct {
        const char *setting;
        mode_t denied;
    } cases[] = {{"files.readers=owner", 0077},
                 {"files.readers=group", 0027},
                 {"files.readers=everyone", 0022}};
    static const struct turn script[] = {{16, look_at_denied, READY}, {0, NULL, NULL}};
    const mode_t before = umask(0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const more[] = {"--set", cases[i].setting, NULL};
        assert_int_equal(run_main(script, more), EXIT_DONE);
        assert_trace(ENDED);
        assert_int_equal(denied, cases[i].denied);
    }
    (void)umask(before);
}

/* ---- what it says ---- */

static void
the_reason_is_printed(void **state)
{
    char text[TEXT] = "";
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    process.open_status = STATUS_FULL;
    const int before = dup(STDERR_FILENO);
    fflush(stderr);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    const int code = run_main(NULL, NULL);
    fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    assert_int_equal(code, status_exit_code(STATUS_FULL));
    assert_int_equal(process.told, STATUS_FULL);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "quadrille-test: cannot open\n");
    buf_reset(&process.trace);
}

/* ---- settings ---- */

static void
look_at_batch(void)
{
    assert_int_equal(process.running->batches.most, 1);
    end_by_signal();
}

static void
batches_of_one_are_possible(void **state)
{
    static const struct turn script[] = {{16, look_at_batch, READY}, {0, NULL, NULL}};
    (void)state;
    process.spec.batch = 1;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
}

#define KEY "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

/* Whoever works for a node of another machine shows it the cluster's keys, and the queue here needs
 * none. */
static void
keys_are_for_other_machines(void **state)
{
    static const struct {
        const char *helper, *wanted;
    } cases[] = {{"helper m2\n", "open queue tcp://127.0.0.1:7 as detect.1@m2 with keys\n"},
                 {"", "open queue /queue.sock as detect.1\n"}};
    (void)state;
    process.open_status = STATUS_SYSTEM; /* that is far enough */
    for (size_t i = 0; i < 2; i++) {
        char text[TEXT];
        snprintf(text, sizeof text,
                 "node a queue=tcp://127.0.0.1:7 metastore=tcp://127.0.0.1:8\n%s"
                 "curve public=%s secret_file=curve.secret\n",
                 cases[i].helper, KEY);
        write_cluster(text);
        write_file("curve.secret", 0600, KEY "\n");
        assert_int_equal(run_main(NULL, NULL), EXIT_SYSTEM);
        assert_true(process.trace.length > 0);
        assert_non_null(strstr(process.trace.data, cases[i].wanted));
        buf_reset(&process.trace);
    }
}

int
stage_surroundings_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, process_set_up, process_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(interrupts_end_it_and_broken_pipes_do_not),
        CASE(the_watchdog_is_fed_in_each_turn),
        CASE(it_ends_when_nothing_is_in_hand),
        CASE(folders_of_others_are_left_alone),
        CASE(files_are_for_whom_the_settings_name),
        CASE(the_reason_is_printed),
        CASE(batches_of_one_are_possible),
        CASE(keys_are_for_other_machines),
    };
    return cmocka_run_group_tests_name("stage_surroundings", tests, NULL, NULL);
}
