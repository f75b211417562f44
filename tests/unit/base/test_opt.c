#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/options/opt.h"
#include "tests/unit/base/opt_texts.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/scratch.h"

static const struct opt fetch_table[] = {
    {"fetch.delay", OPT_DURATION, "1", 0, 3600, NULL, "Least time between two requests."},
    {"fetch.window", OPT_INTEGER, "256", 1, 1024, NULL, "Jobs in flight."},
    {"fetch.maximum", OPT_SIZE, "10M", 1, 0, NULL, "Largest body."},
    {"fetch.http2", OPT_BOOL, "yes", 0, 0, NULL, "Speak HTTP/2."},
    {.name = NULL}};
static const struct opt log_table[] = {
    {"log.level", OPT_CHOICE, "info", 0, 0, "error|warning|info", "Least important level."},
    {"log.words", OPT_LIST, "a, b", 0, 0, NULL, "Some words."},
    {"log.name", OPT_STRING, "", 0, 0, NULL, "A name.\n\nWith a second paragraph."},
    {.name = NULL}};
static const struct opt *const tables[] = {fetch_table, log_table, NULL};

static int
set_make(void **state)
{
    *state = opt_set_new(tables);
    return 0;
}

static int
set_free(void **state)
{
    opt_set_free(*state);
    return 0;
}

static void
defaults(void **state)
{
    struct opt_set *set = *state;
    const char *const *items;
    bool changed = true;
    assert_int_equal(opt_duration_ms(set, "fetch.delay"), 1000);
    assert_int_equal(opt_integer(set, "fetch.window"), 256);
    assert_int_equal(opt_integer(set, "fetch.maximum"), 10 << 20);
    assert_true(opt_bool(set, "fetch.http2"));
    assert_string_equal(opt_string(set, "log.level"), "info");
    assert_int_equal(opt_list(set, "log.words", &items), 2);
    assert_string_equal(items[0], "a");
    assert_string_equal(items[1], "b");
    assert_string_equal(opt_string(set, "log.name"), "");
    assert_string_equal(opt_text(set, "fetch.maximum", &changed), "10M");
    assert_false(changed);
}

static void
values_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t ms;
    } durations[] = {{"0", 0},       {"1.5", 1500},  {"200ms", 200},
                     {"0.25s", 250}, {"2m", 120000}, {"1h", 3600000}};
    struct opt_set *set = *state;
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        char assignment[64];
        (void)snprintf(assignment, sizeof assignment, "fetch.delay=%s", durations[i].text);
        assert_int_equal(opt_set_assign(set, assignment, NULL), STATUS_OK);
        assert_int_equal(opt_duration_ms(set, "fetch.delay"), durations[i].ms);
    }
    assert_int_equal(opt_set_assign(set, "fetch.maximum = 1.5G", NULL), STATUS_OK);
    assert_true(opt_integer(set, "fetch.maximum") == (INT64_C(3) << 29));
    assert_int_equal(opt_set_assign(set, "log.name=a = b # c", NULL), STATUS_OK);
    assert_string_equal(opt_string(set, "log.name"), "a = b # c");
    assert_int_equal(opt_set_assign(set, "log.words=", NULL), STATUS_OK);
    const char *const *items;
    assert_int_equal(opt_list(set, "log.words", &items), 0);
    assert_int_equal(opt_set_assign(set, "log.words=,x,, y\tz,", NULL), STATUS_OK);
    assert_int_equal(opt_list(set, "log.words", &items), 3);
    assert_string_equal(items[2], "z");
}

static void
wrong_values_say_what_would_be_right(void **state)
{
    static const struct {
        const char *assignment, *reason;
    } cases[] = {
        {"fetch.window=0", "--set: fetch.window: 0 is less than 1"},
        {"fetch.window=1025", "--set: fetch.window: 1025 is more than 1024"},
        {"fetch.window=1.5", "--set: fetch.window: \"1.5\" is not a whole number"},
        {"fetch.window=0x10", "--set: fetch.window: \"0x10\" is not a whole number"},
        {"fetch.window=", "--set: fetch.window: \"\" is not a whole number"},
        {"fetch.window=nan", "--set: fetch.window: \"nan\" is not a whole number"},
        {"fetch.window=1e999", "--set: fetch.window: \"1e999\" is not a whole number"},
        {"fetch.delay=1e999", "--set: fetch.delay: \"1e999\" is not a duration such as 1.5, 200ms, "
                              "5m or 1d"},
        {"fetch.delay=1e-999", "--set: fetch.delay: \"1e-999\" is not a duration such as 1.5, "
                               "200ms, 5m or 1d"},
        {"fetch.maximum=1e999", "--set: fetch.maximum: \"1e999\" is not a size such as 4096, 64K "
                                "or 1.5G"},
        {"fetch.delay=2h", "--set: fetch.delay: 2h is more than 3600 seconds"},
        {"fetch.delay=-1", "--set: fetch.delay: \"-1\" is not a duration such as 1.5, 200ms, 5m "
                           "or 1d"},
        {"fetch.maximum=5Q", "--set: fetch.maximum: \"5Q\" is not a size such as 4096, 64K or "
                             "1.5G"},
        {"fetch.maximum=99999999T", "--set: fetch.maximum: \"99999999T\" is not a size such as "
                                    "4096, 64K or 1.5G"},
        {"fetch.http2=maybe", "--set: fetch.http2: \"maybe\" is not yes or no"},
        {"log.level=inf", "--set: log.level: \"inf\" is not one of error|warning|info"},
        {"log.level=", "--set: log.level: \"\" is not one of error|warning|info"},
        {"fetch.wimdow=1", "--set: no option is named \"fetch.wimdow\"; is it fetch.window?"},
        {"zzz=1", "--set: no option is named \"zzz\""},
        {"fetch.window", "--set: \"fetch.window\" is not \"name = value\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reason why;
        assert_int_equal(opt_set_assign(*state, cases[i].assignment, &why), STATUS_MISUSE);
        assert_string_equal(why.text, cases[i].reason);
    }
    assert_int_equal(opt_integer(*state, "fetch.window"), 256); /* untouched by failures */
}

static void
files_and_their_errors(void **state)
{
    struct opt_set *set = *state;
    struct reason why;
    char path[SCRATCH_SIZE];
    const int descriptor = scratch_file(path, "test_opt");
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    (void)fputs("# comment\n\n  fetch.window = 7 \r\nfetch.window=8\nlog.name = no newline at end",
                file);
    (void)fclose(file);
    assert_int_equal(opt_set_load_file(set, path, &why), STATUS_OK);
    assert_int_equal(opt_integer(set, "fetch.window"), 8);
    assert_string_equal(opt_string(set, "log.name"), "no newline at end");
    (void)unlink(path);
    assert_int_equal(opt_set_load_file(set, path, &why), STATUS_NOT_FOUND);
    assert_int_equal(opt_set_load_file(set, "/", &why), STATUS_SYSTEM);
    assert_int_equal(opt_set_load_text(set, SLICE("\n#\nfetch.window = many\n"), "a.conf", &why),
                     STATUS_MISUSE);
    assert_string_equal(why.text, "a.conf:3: fetch.window: \"many\" is not a whole number");
    assert_int_equal(opt_set_load_text(set, SLICE("log.name=a\0b"), "a.conf", &why), STATUS_MISUSE);
    assert_string_equal(why.text, "a.conf:1: log.name: a value must not hold a NUL byte");
}

static char *
printed(void (*print)(const struct opt_set *, FILE *), const struct opt_set *set)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(set, out);
    (void)fclose(out);
    return text;
}

static void
sample_is_complete_and_loads(void **state)
{
    struct opt_set *set = *state;
    struct reason why;
    char *sample = printed(opt_set_print_sample, set);
    assert_non_null(strstr(sample, "\n# Jobs in flight.\n# (1 to 1024)\n#fetch.window = 256\n"));
    assert_non_null(strstr(sample, "\n# A name.\n#\n# With a second paragraph.\n# (text)\n"
                                   "#log.name =\n"));
    for (char *at = sample; (at = strstr(at, "\n#")); at += 2) {
        at[1] = at[2] == ' ' || at[2] == '\n' ? '#' : ' '; /* take the comment off options */
    }
    assert_int_equal(opt_set_load_text(set, slice_string(sample), "sample", &why), STATUS_OK);
    free(sample);
    char *manual = printed(opt_set_print_mdoc, set);
    assert_non_null(strstr(manual, ".Ss fetch\n.Bl -tag -width Ds\n.It \\&fetch.delay = \\&1\n"));
    free(manual);
}

static void
make_a_set(void)
{
    struct opt_set *set = opt_set_new(tables);
    (void)opt_set_assign(set, "log.words=c d e", NULL);
    (void)opt_set_assign(set, "log.name=another", NULL);
    opt_set_free(set);
}

static void
sets_leave_nothing(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(make_a_set));
}

/* ---- flags ---- */

static bool json;
static const char *seeds;
static int64_t count;
static struct flag_list assignments;
static const struct flag flags[] = {
    {"json", 'j', FLAG_SWITCH, NULL, &json, "Print JSON."},
    {"seeds", 's', FLAG_STRING, "FILE", &seeds, "Read URIs from FILE."},
    {"count", 'n', FLAG_INTEGER, "N", &count, "At most N."},
    {"set", 0, FLAG_REPEATED, "NAME=VALUE", &assignments, "Set an option."},
    {.name = NULL}};
static const struct program program = {
    .name = "quadrille crawl",
    .synopsis = "[FLAG]... [URI]...",
    .summary = "crawl until nothing is left",
    .description = "First paragraph.\n\n  literal -line\n.second",
    .examples = "# a comment\nquadrille crawl --dir d",
    .flags = flags,
    .tables = tables,
};

static enum status
parse(char **argv, char ***operands, int *operand_count, struct reason *why)
{
    int argc = 0;
    json = false;
    seeds = NULL;
    count = 0;
    assignments.count = 0;
    while (argv[argc]) {
        argc++;
    }
    return program_parse(&program, argc, argv, operands, operand_count, why);
}

static void
flags_are_parsed(void **state)
{
    (void)state;
    char **operands;
    int operand_count;
    char *argv[] = {(char *)"p",          (char *)"one",   (char *)"--json", (char *)"-sfile",
                    (char *)"--count=-3", (char *)"--set", (char *)"a=b",    (char *)"-",
                    (char *)"--set=c=d",  (char *)"--",    (char *)"--json", NULL};
    assert_int_equal(parse(argv, &operands, &operand_count, NULL), STATUS_OK);
    assert_true(json);
    assert_string_equal(seeds, "file");
    assert_int_equal(count, -3);
    assert_int_equal(assignments.count, 2);
    assert_string_equal(assignments.items[1], "c=d");
    assert_int_equal(operand_count, 3);
    assert_string_equal(operands[0], "one");
    assert_string_equal(operands[1], "-");
    assert_string_equal(operands[2], "--json");
}

static void
clustered_letters(void **state)
{
    (void)state;
    char **operands;
    int operand_count;
    char *argv[] = {(char *)"p", (char *)"-jn", (char *)"5", NULL};
    assert_int_equal(parse(argv, &operands, &operand_count, NULL), STATUS_OK);
    assert_true(json);
    assert_int_equal(count, 5);
    assert_int_equal(operand_count, 0);
}

static void
wrong_flags(void **state)
{
    (void)state;
    static const struct {
        const char *argument, *reason;
    } cases[] = {
        {"--nothing=1", "unknown flag --nothing; see quadrille crawl --help"},
        {"--sedes=x", "unknown flag --sedes; is it --seeds? See quadrille crawl --help"},
        {"--jso", "unknown flag --jso; is it --json? See quadrille crawl --help"},
        {"--manual", "unknown flag --manual; see quadrille crawl --help"},
        {"-x", "unknown flag -x; see quadrille crawl --help"},
        {"--seeds", "--seeds needs a value: FILE"},
        {"--json=yes", "--json takes no value"},
        {"--count=5x", "--count: \"5x\" is not a whole number"},
        {"--count=99999999999999999999", "--count: \"99999999999999999999\" is not a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char **operands;
        int operand_count;
        struct reason why;
        char *argv[] = {(char *)"p", (char *)cases[i].argument, NULL};
        assert_int_equal(parse(argv, &operands, &operand_count, &why), STATUS_MISUSE);
        assert_string_equal(why.text, cases[i].reason);
    }
}

static void
too_many_repetitions(void **state)
{
    (void)state;
    char *argv[FLAG_LIST_MAXIMUM + 3];
    char **operands;
    int operand_count;
    struct reason why;
    argv[0] = (char *)"p";
    for (int i = 1; i <= FLAG_LIST_MAXIMUM + 1; i++) {
        argv[i] = (char *)"--set=a=b";
    }
    argv[FLAG_LIST_MAXIMUM + 2] = NULL;
    assert_int_equal(parse(argv, &operands, &operand_count, &why), STATUS_MISUSE);
    assert_string_equal(why.text, "--set is given more than 64 times");
}

static void
help_and_manual(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    program_print_help(&program, out);
    (void)fclose(out);
    assert_non_null(strstr(text, "Usage: quadrille crawl [FLAG]... [URI]...\n"));
    assert_non_null(strstr(text, "  -s, --seeds FILE\n          Read URIs from FILE.\n"));
    assert_non_null(strstr(text, "  # a comment\n  quadrille crawl --dir d\n"));
    free(text);
    out = open_memstream(&text, &size);
    program_print_mdoc(&program, out);
    (void)fclose(out);
    assert_non_null(strstr(text, ".Dt QUADRILLE-CRAWL 1\n"));
    assert_non_null(strstr(text, ".Nm quadrille-crawl\n"));
    assert_non_null(strstr(text, ".Sh CONFIGURATION\n"));
    assert_non_null(strstr(text, ".It Fl s , Fl \\-seeds Ar \\&FILE\nRead URIs from FILE.\n"));
    assert_non_null(strstr(text, ".Bd -literal -offset indent\n  literal \\-line\n.Ed\n"
                                 "\\&.second\n"));
    free(text);
}

/* Returns what a program prints for a flag that every program has. Where `full`, it prints to a
 * device that has no room, and the result is empty. */
static char *
printed_by(const char *flag, bool full, enum status *status, struct reason *why)
{
    char path[SCRATCH_SIZE];
    static char text[1 << 16];
    char *argv[] = {(char *)"p", (char *)(uintptr_t)flag, (char *)"--unknown", NULL};
    char **operands;
    int operand_count;
    const int file = scratch_file(path, "test_opt");
    const int kept = dup(STDOUT_FILENO), out = full ? open("/dev/full", O_WRONLY) : dup(file);
    assert_true(file >= 0 && kept >= 0 && out >= 0);
    (void)fflush(stdout);
    assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
    *status = parse(argv, &operands, &operand_count, why);
    (void)fflush(stdout);
    clearerr(stdout);
    assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
    const ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    (void)close(out);
    (void)close(kept);
    (void)close(file);
    (void)unlink(path);
    return text;
}

static void
common_flags_end_the_parse(void **state)
{
    char *help = NULL, *manual = NULL, version[64];
    size_t size;
    enum status status;
    struct reason why = {""};
    (void)state;
    FILE *out = open_memstream(&help, &size);
    program_print_help(&program, out);
    (void)fclose(out);
    out = open_memstream(&manual, &size);
    program_print_mdoc(&program, out);
    (void)fclose(out);
    snprintf(version, sizeof version, "quadrille crawl %s\n", QUADRILLE_VERSION);
    const struct {
        const char *flag, *text;
    } cases[] = {{"--help", help}, {"-h", help}, {"--version", version}, {"--man", manual}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(printed_by(cases[i].flag, false, &status, &why), cases[i].text);
        assert_int_equal(status, STATUS_END); /* what is behind it is not looked at */
        (void)printed_by(cases[i].flag, true, &status, &why);
        assert_int_equal(status, STATUS_SYSTEM);
        assert_string_equal(why.text, "cannot write the output: No space left on device");
    }
    free(help);
    free(manual);
}

/* Numbers are decimal, and as large as they may be. */
static void
numbers_of_flags(void **state)
{
    static const struct {
        const char *argument;
        int64_t number; /* 0: refused */
    } cases[] = {{"--count=19", 19}, {"--count=0x10", 0},
                 {"--count=1a", 0},  {"--count=9223372036854775807", INT64_MAX},
                 {"--count=", 0},    {"--count=9223372036854775808", 0},
                 {"--count=-7", -7}, {"-n12", 12}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *argv[] = {(char *)"p", (char *)(uintptr_t)cases[i].argument, NULL};
        char **operands;
        int operand_count;
        struct reason why = {""};
        assert_int_equal(parse(argv, &operands, &operand_count, &why),
                         cases[i].number != 0 ? STATUS_OK : STATUS_MISUSE);
        assert_true(count == cases[i].number);
    }
}

/* So many repetitions as there may be are kept, in order. */
static void
repetitions_are_kept(void **state)
{
    (void)state;
    char *argv[FLAG_LIST_MAXIMUM + 2], texts[FLAG_LIST_MAXIMUM][16];
    char **operands;
    int operand_count;
    argv[0] = (char *)"p";
    for (int i = 0; i < FLAG_LIST_MAXIMUM; i++) {
        snprintf(texts[i], sizeof texts[i], "--set=a=%d", i);
        argv[i + 1] = texts[i];
    }
    argv[FLAG_LIST_MAXIMUM + 1] = NULL;
    assert_int_equal(parse(argv, &operands, &operand_count, NULL), STATUS_OK);
    assert_int_equal(assignments.count, FLAG_LIST_MAXIMUM);
    assert_string_equal(assignments.items[FLAG_LIST_MAXIMUM - 1], "a=63");
}

/* Tables that contradict themselves, and questions for options that are not there, are bugs: the
 * program ends at once. */
static void
ask_for_a_flag(void)
{
    (void)opt_bool(opt_set_new(tables), "fetch.delay");
}

static void
ask_for_nothing_known(void)
{
    (void)opt_text(opt_set_new(tables), "fetch.none", NULL);
}

static void
make_one_twice(void)
{
    static const struct opt *const twice[] = {fetch_table, fetch_table, NULL};
    (void)opt_set_new(twice);
}

static void
make_a_wrong_default(void)
{
    static const struct opt wrong_table[] = {{"w.number", OPT_INTEGER, "0", 1, 2, NULL, "?"},
                                             {.name = NULL}};
    static const struct opt *const wrong[] = {wrong_table, NULL};
    (void)opt_set_new(wrong);
}

static void
bugs_of_tables_end_the_program(void **state)
{
    static const struct {
        void (*does)(void);
        const char *said;
    } cases[] = {{ask_for_a_flag, "option table: fetch.delay\n"},
                 {ask_for_nothing_known, "option table: fetch.none\n"},
                 {make_one_twice, "option table: fetch.delay\n"},
                 {make_a_wrong_default, "option table: w.number: 0 is less than 1\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int ends[2], how;
        char said[8192] = "";
        assert_int_equal(pipe(ends), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            (void)signal(SIGABRT, SIG_DFL);
            (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            (void)dup2(ends[1], STDERR_FILENO);
            cases[i].does();
            _exit(0);
        }
        (void)close(ends[1]);
        size_t length = 0;
        for (ssize_t n = 1; n > 0; length += (size_t)n) {
            n = read(ends[0], said + length, sizeof said - 1 - length);
            assert_true(n >= 0);
        }
        assert_int_equal(waitpid(pid, &how, 0), pid);
        assert_false(WIFEXITED(how) && WEXITSTATUS(how) == 0);
        assert_non_null(strstr(said, cases[i].said));
        (void)close(ends[0]);
    }
}

static const struct opt bound_table[] = {{"b.size", OPT_SIZE, "1", 1, 0, NULL, "?"},
                                         {"b.integer", OPT_INTEGER, "0", -2, 2, NULL, "?"},
                                         {"b.free", OPT_INTEGER, "0", -9e15, 0, NULL, "?"},
                                         {"b.while", OPT_DURATION, "1", 0.5, 86400, NULL, "?"},
                                         {"b.flag", OPT_BOOL, "no", 0, 0, NULL, "?"},
                                         {"b.choice", OPT_CHOICE, "a", 0, 0, "a|bc|d", "?"},
                                         {"b.list", OPT_LIST, "", 0, 0, NULL, "?"},
                                         {.name = NULL}};
static const struct opt *const bound_tables[] = {bound_table, NULL};

static void
values_at_their_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int64_t value; /* -99: refused */
    } cases[] = {
        {"b.size", "1", 1},
        {"b.size", "0", -99},
        {"b.size", "2K", 2048},
        {"b.size", "3M", 3 << 20},
        {"b.size", "1G", 1 << 30},
        {"b.size", "1T", INT64_C(1) << 40},
        {"b.size", "0.5K", 512},
        {"b.size", "1k", -99},
        {"b.size", "8192T", INT64_C(1) << 53},
        {"b.size", "8193T", -99},
        {"b.integer", "-2", -2},
        {"b.integer", "-3", -99},
        {"b.integer", "2", 2},
        {"b.integer", "3", -99},
        {"b.integer", "+1", -99},
        {"b.integer", "-", -99},
        {"b.integer", "1K", -99},
        {"b.integer", "1.0", 1},
        {"b.integer", "0X1", -99},
        {"b.integer", "-0x1", -99},
        {"b.integer", " 1 ", 1},
        {"b.integer", "1 1", -99},
        {"b.free", "-9007199254740993", -99},
        {"b.free", "9007199254740992", INT64_C(1) << 53},
        {"b.free", "9007199254740994", -99},
        {"b.while", "0.5", 500},
        {"b.while", "499ms", -99},
        {"b.while", "500ms", 500},
        {"b.while", "24h", 86400000},
        {"b.while", "1d", 86400000},
        {"b.while", "86400.001", -99},
        {"b.while", "1.0004s", 1000},
        {"b.while", "1.0006", 1001},
        {"b.while", "1M", -99},
        {"b.while", "5s", 5000},
        {"b.while", "0s", -99},
        {"b.flag", "true", 1},
        {"b.flag", "1", 1},
        {"b.flag", "yes", 1},
        {"b.flag", "false", 0},
        {"b.flag", "0", 0},
        {"b.flag", "no", 0},
        {"b.flag", "Yes", -99},
        {"b.choice", "a", 'a'},
        {"b.choice", "bc", 'b'},
        {"b.choice", "d", 'd'},
        {"b.choice", "b", -99},
        {"b.choice", "c", -99},
        {"b.choice", "a|bc", -99},
        {"b.choice", "bcd", -99},
    };
    struct opt_set *set = opt_set_new(bound_tables);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char assignment[64];
        bool changed;
        const char *name = cases[i].name;
        (void)snprintf(assignment, sizeof assignment, "%s=%s", name, cases[i].text);
        if (cases[i].value == -99) {
            char before[32];
            (void)snprintf(before, sizeof before, "%s", opt_text(set, name, NULL));
            if (opt_set_assign(set, assignment, NULL) != STATUS_MISUSE) {
                fail_msg("%s is accepted", assignment);
            }
            assert_string_equal(opt_text(set, name, NULL), before);
            continue;
        }
        assert_int_equal(opt_set_assign(set, assignment, NULL), STATUS_OK);
        const int64_t value = strcmp(name, "b.while") == 0    ? (int64_t)opt_duration_ms(set, name)
                              : strcmp(name, "b.flag") == 0   ? opt_bool(set, name)
                              : strcmp(name, "b.choice") == 0 ? *opt_string(set, name)
                                                              : opt_integer(set, name);
        assert_true(value == cases[i].value);
        const char *text = opt_text(set, name, &changed);
        const struct opt *opt = bound_table;
        while (strcmp(opt->name, name) != 0) {
            opt++;
        }
        assert_int_equal(changed, strcmp(text, opt->default_value) != 0);
    }
    const char *const *items;
    assert_int_equal(opt_set_assign(set, "b.list=a", NULL), STATUS_OK);
    assert_int_equal(opt_list(set, "b.list", &items), 1);
    assert_int_equal(opt_set_assign(set, "b.list=a b,c", NULL), STATUS_OK);
    assert_int_equal(opt_list(set, "b.list", &items), 3);
    assert_string_equal(items[1], "b");
    opt_set_free(set);
    opt_set_free(NULL);
}

/* A descriptor that the caller closed is taken, so that no file gets it. */
static void
one_operand_and_standard_descriptors(void **state)
{
    (void)state;
    char *operand = NULL;
    struct reason why;
    char *none[] = {(char *)"p", (char *)"--json", NULL};
    char *one[] = {(char *)"p", (char *)"a", (char *)"-j", NULL};
    char *two[] = {(char *)"p", (char *)"a", (char *)"b", NULL};
    assert_int_equal(program_parse_one(&program, 2, none, "one, please", &operand, &why),
                     STATUS_MISUSE);
    assert_string_equal(why.text, "one, please");
    assert_int_equal(program_parse_one(&program, 3, two, "one, please", &operand, &why),
                     STATUS_MISUSE);
    json = false;
    assert_int_equal(program_parse_one(&program, 3, one, "one, please", &operand, &why), STATUS_OK);
    assert_string_equal(operand, "a");
    assert_true(json);
    char *unknown[] = {(char *)"p", (char *)"--none", NULL};
    assert_int_equal(program_parse_one(&program, 2, unknown, "one, please", &operand, &why),
                     STATUS_MISUSE);
    assert_non_null(strstr(why.text, "--none"));
    char **operands;
    int count_of_operands = -1;
    char *nothing[] = {NULL};
    assert_int_equal(program_parse(&program, 0, nothing, &operands, &count_of_operands, &why),
                     STATUS_OK);
    assert_int_equal(count_of_operands, 0);
    assert_ptr_equal(operands, nothing);
    (void)fflush(stdout);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        const int kept = fcntl(i, F_DUPFD_CLOEXEC, 10);
        (void)close(i);
        const enum status status =
            program_parse(&program, 1, none, &operands, &count_of_operands, &why);
        const int mode = fcntl(i, F_GETFL);
        if (kept >= 0) {
            (void)dup2(kept, i);
            (void)close(kept);
        }
        assert_int_equal(status, STATUS_OK);
        assert_true(mode >= 0); /* it is taken, for what nobody does there */
        assert_int_equal(mode & O_ACCMODE, i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults, set_make, set_free),
        cmocka_unit_test_setup_teardown(values_are_read, set_make, set_free),
        cmocka_unit_test_setup_teardown(wrong_values_say_what_would_be_right, set_make, set_free),
        cmocka_unit_test_setup_teardown(files_and_their_errors, set_make, set_free),
        cmocka_unit_test_setup_teardown(sample_is_complete_and_loads, set_make, set_free),
        cmocka_unit_test(sets_leave_nothing),
        cmocka_unit_test(flags_are_parsed),
        cmocka_unit_test(clustered_letters),
        cmocka_unit_test(wrong_flags),
        cmocka_unit_test(too_many_repetitions),
        cmocka_unit_test(help_and_manual),
        cmocka_unit_test(common_flags_end_the_parse),
        cmocka_unit_test(numbers_of_flags),
        cmocka_unit_test(repetitions_are_kept),
        cmocka_unit_test(bugs_of_tables_end_the_program),
        cmocka_unit_test(texts_are_printed_whole),
        cmocka_unit_test(values_at_their_bounds),
        cmocka_unit_test(one_operand_and_standard_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
