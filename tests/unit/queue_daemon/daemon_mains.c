#include "tests/unit/queue_daemon/daemon_mains.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "queue/cluster/daemon_main.h"

int __real_main(int argc, char **argv);

char directory[SCRATCH_SIZE];
char said[SAID_BYTES];

int
directory_make(void **state)
{
    char run[SCRATCH_SIZE + 8];
    (void)state;
    if (!scratch_folder(directory, "test_daemon_main")) {
        return -1;
    }
    (void)snprintf(run, sizeof run, "%s/run", directory);
    return mkdir(run, 0700);
}

int
directory_remove(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int
call_main(const char *program, const char *const *arguments)
{
    char *argv[ARGUMENTS_MOST + 2] = {strdup(program)}, *all[ARGUMENTS_MOST + 2];
    int argc = 1;
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    for (; arguments[argc - 1] != NULL; argc++) {
        const char *text = arguments[argc - 1];
        assert_true(argc < ARGUMENTS_MOST);
        argv[argc] = strdup(strcmp(text, "DIR") == 0 ? directory : text);
    }
    memcpy(all, argv, sizeof all); /* main may move them */
    const int count = argc;
    (void)fflush(stderr);
    (void)dup2(fileno(file), STDERR_FILENO);
    const int code = __real_main(count, argv);
    (void)fflush(stderr);
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    const ssize_t n = pread(fileno(file), said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    (void)fclose(file);
    while (argc > 0) {
        free(all[--argc]);
    }
    return code;
}

void
assert_path(const char *path, const char *name)
{
    char wanted[2 * SCRATCH_SIZE];
    (void)snprintf(wanted, sizeof wanted, "%s/%s", directory, name);
    assert_string_equal(path, wanted);
}

void
assert_socket(const char *endpoint, const char *name)
{
    assert_int_equal(strncmp(endpoint, "ipc://", 6), 0);
    assert_path(endpoint + 6, name);
}

void
assert_phase(const char *name, enum process_phase phase, const char *why)
{
    struct process_state found;
    assert_true(process_state_read(directory, name, &found));
    assert_int_equal(found.phase, phase);
    assert_non_null(strstr(found.why.text, why));
}

void
tell_ready(int descriptor)
{
    daemon_tell_ready(descriptor);
}

void
check_ends(const char *program, enum status *loop_ends)
{
    static const struct {
        enum status status;
        int code;
        enum process_phase phase;
    } ends[] = {{STATUS_OK, EXIT_DONE, PROCESS_ENDED},
                {STATUS_SYSTEM, EXIT_SYSTEM, PROCESS_FAILED},
                {STATUS_MISUSE, EXIT_MISUSE, PROCESS_FAILED}};
    static const struct {
        const char *arguments[6];
        const char *text;
    } refused[] = {{{"--dir", "DIR", "more"}, "takes no operands: more"},
                   {{"--dir", "DIR", "--none"}, "--none"},
                   {{"--dir", "DIR", "--set", "none.such=1"}, "none.such"},
                   {{"--dir", "/nonexistent/directory"}, "/nonexistent/directory"}};
    const char *name = strchr(program, '-') + 1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        *loop_ends = ends[i].status;
        assert_int_equal(call_main(program, (const char *const[]){"--dir", "DIR", NULL}),
                         ends[i].code);
        const bool fails = ends[i].status != STATUS_OK;
        assert_phase(name, ends[i].phase, fails ? "the loop ended" : "");
        assert_int_equal(strstr(said, ": the loop ended\n") != NULL, fails);
        assert_int_equal(strncmp(said, program, strlen(program)) == 0, fails);
    }
    *loop_ends = STATUS_OK;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const int code = call_main(program, refused[i].arguments);
        assert_true(code == EXIT_MISUSE || (i == 3 && code == EXIT_SYSTEM));
        assert_non_null(strstr(said, refused[i].text));
    }
}

void
check_ready(const char *program)
{
    int ends[2];
    char number[16], bytes[4];
    assert_int_equal(pipe(ends), 0);
    (void)snprintf(number, sizeof number, "%d", ends[1]);
    const char *const arguments[] = {"--dir", "DIR", "--ready-fd", number, NULL};
    assert_int_equal(call_main(program, arguments), EXIT_DONE);
    assert_int_equal(fcntl(ends[1], F_GETFD), -1);
    assert_int_equal(read(ends[0], bytes, sizeof bytes), 1);
    assert_int_equal(bytes[0], '\n');
    (void)close(ends[0]);
    assert_int_equal(call_main(program, (const char *const[]){"--dir", "DIR", NULL}), EXIT_DONE);
    assert_string_equal(said, ""); /* without the flag nobody is told, and nobody minds */
    assert_int_equal(pipe(ends), 0);
    (void)snprintf(number, sizeof number, "%d", ends[0]); /* which nobody can write to */
    assert_int_equal(call_main(program, arguments), EXIT_DONE);
    assert_non_null(strstr(said, "event=ready_not_told"));
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
    (void)close(ends[1]);
}

void
check_access(const char *program)
{
    static const struct {
        const char *setting;
        mode_t mask;
    } cases[] = {{"files.readers=owner", 0077}, {"files.readers=group", 0027}};
    const mode_t before = umask(0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)umask(0);
        const char *const arguments[] = {"--dir", "DIR", "--set", cases[i].setting, NULL};
        assert_int_equal(call_main(program, arguments), EXIT_DONE);
        assert_int_equal(umask(before), cases[i].mask);
    }
}
