#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/options/nearest.h"
#include "base/options/opt.h"
#include "base/options/text_print.h"

const char QUADRILLE_VERSION[] = "0.1.0";
static const char MANUAL_DATE[] = "November 21, 2026";

/* These are the flags that every program has. value is set by find_flag's caller. */
enum common { COMMON_HELP, COMMON_VERSION, COMMON_MAN, COMMON_COUNT };
static const struct flag common_flags[COMMON_COUNT + 1] = {
    [COMMON_HELP] = {"help", 'h', FLAG_SWITCH, NULL, NULL, "Print this help."},
    [COMMON_VERSION] = {"version", 0, FLAG_SWITCH, NULL, NULL, "Print the version."},
    [COMMON_MAN] = {"man", 0, FLAG_SWITCH, NULL, NULL, "Print the manual page, as mdoc."},
};
static const struct flag no_flags[] = {{.name = NULL}};

/* Own flags first, then the common ones. */
static const struct flag *
flags_of(const struct program *program, int table)
{
    if (table == 1) {
        return common_flags;
    }
    return program->flags ? program->flags : no_flags;
}

/* ---- parsing ---- */

/* By its name, or by its letter when that is not 0. */
static const struct flag *
flag_find(const struct program *program, struct slice name, char letter)
{
    for (int table = 0; table < 2; table++) {
        for (const struct flag *flag = flags_of(program, table); flag->name; flag++) {
            if (letter ? flag->letter == letter : slice_is(name, flag->name)) {
                return flag;
            }
        }
    }
    return NULL;
}

static enum status
flag_store(const struct flag *flag, const char *text, struct reason *why)
{
    switch (flag->type) {
    case FLAG_SWITCH:
        *(bool *)flag->value = true;
        return STATUS_OK;
    case FLAG_STRING:
        *(const char **)flag->value = text;
        return STATUS_OK;
    case FLAG_INTEGER: {
        char *end;
        errno = 0;
        const long long number = strtoll(text, &end, 10);
        if (errno != 0 || end == text || *end != '\0') {
            return status_fail(why, STATUS_MISUSE, "--%s: \"%s\" is not a whole number", flag->name,
                               text);
        }
        *(int64_t *)flag->value = number;
        return STATUS_OK;
    }
    case FLAG_REPEATED: {
        struct flag_list *list = flag->value;
        if (list->count == FLAG_LIST_MAXIMUM) {
            return status_fail(why, STATUS_MISUSE, "--%s is given more than %d times", flag->name,
                               FLAG_LIST_MAXIMUM);
        }
        list->items[list->count++] = text;
        return STATUS_OK;
    }
    }
    return STATUS_OK;
}

static void
print_about(const struct program *program, enum common wanted)
{
    if (wanted == COMMON_HELP) {
        program_print_help(program, stdout);
    } else if (wanted == COMMON_MAN) {
        program_print_mdoc(program, stdout);
    } else {
        (void)printf("%s %s\n", program->name, QUADRILLE_VERSION);
    }
}

/* One argument that begins with '-'. value: what follows '=' or the letter, or NULL; next: the
 * argument after it, or NULL. *taken tells whether next was used. */
static enum status
flag_apply(const struct program *program, const struct flag *flag, const char *value,
           const char *next, bool *taken, struct reason *why)
{
    *taken = false;
    if (flag >= common_flags && flag < common_flags + COMMON_COUNT) {
        print_about(program, (enum common)(flag - common_flags));
        return fflush(stdout) == 0 ? STATUS_END : status_fail_errno(why, "cannot write the output");
    }
    if (flag->type == FLAG_SWITCH && value) {
        return status_fail(why, STATUS_MISUSE, "--%s takes no value", flag->name);
    }
    if (flag->type != FLAG_SWITCH && !value) {
        if (!next) {
            return status_fail(why, STATUS_MISUSE, "--%s needs a value: %s", flag->name,
                               flag->argument);
        }
        value = next;
        *taken = true;
    }
    return flag_store(flag, value, why);
}

static enum status
flag_unknown(const struct program *program, struct slice name, struct reason *why)
{
    struct nearest nearest = nearest_to(name);
    char near[NEAREST_TEXT_SIZE];
    for (int table = 0; table < 2; table++) {
        for (const struct flag *flag = flags_of(program, table); flag->name; flag++) {
            nearest_offer(&nearest, flag->name);
        }
    }
    const bool known = *nearest_text(&nearest, "--", near) != '\0';
    return status_fail(why, STATUS_MISUSE, "unknown flag --%.*s%s %s %s --help", SLICE_PRINT(name),
                       known ? near : ";", known ? "See" : "see", program->name);
}

/* "--name", "--name=value", "-x", "-xvalue", "-xyz" (switches) */
static enum status
argument_parse(const struct program *program, const char *argument, const char *next, bool *taken,
               struct reason *why)
{
    if (argument[1] == '-') {
        const char *name = argument + 2;
        const size_t length = strcspn(name, "=");
        const struct flag *flag = flag_find(program, slice_of(name, length), 0);
        if (!flag) {
            return flag_unknown(program, slice_of(name, length), why);
        }
        return flag_apply(program, flag, name[length] ? name + length + 1 : NULL, next, taken, why);
    }
    for (const char *letter = argument + 1; *letter; letter++) {
        const struct flag *flag = flag_find(program, SLICE(""), *letter);
        if (!flag) {
            return status_fail(why, STATUS_MISUSE, "unknown flag -%c; see %s --help", *letter,
                               program->name);
        }
        const bool with_value = flag->type != FLAG_SWITCH && letter[1] != '\0';
        TRY(flag_apply(program, flag, with_value ? letter + 1 : NULL, next, taken, why));
        if (flag->type != FLAG_SWITCH) {
            break;
        }
    }
    return STATUS_OK;
}

/* A standard descriptor that the caller closed would be given to the next file that is opened, and
 * what is printed would go there. One that can only be used the other way takes its place: what is
 * printed fails and is told. */
static void
occupy_standard_descriptors(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) < 0 && errno == EBADF) {
            (void)!open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

enum status
program_parse(const struct program *program, int argc, char **argv, char ***operands,
              int *operand_count, struct reason *why)
{
    int kept = 1;
    bool flags_end = false;
    occupy_standard_descriptors();
    for (int i = 1; i < argc; i++) {
        char *argument = argv[i];
        if (flags_end || argument[0] != '-' || argument[1] == '\0') {
            argv[kept++] = argument; /* kept <= i */
        } else if (strcmp(argument, "--") == 0) {
            flags_end = true;
        } else {
            bool taken = false;
            TRY(argument_parse(program, argument, i + 1 < argc ? argv[i + 1] : NULL, &taken, why));
            i += taken;
        }
    }
    *operands = argv + (argc > 0 ? 1 : 0);
    *operand_count = kept - 1;
    return STATUS_OK;
}

enum status
program_parse_one(const struct program *program, int argc, char **argv, const char *wanted,
                  char **operand, struct reason *why)
{
    char **operands;
    int count;
    TRY(program_parse(program, argc, argv, &operands, &count, why));
    if (count != 1) {
        return status_fail(why, STATUS_MISUSE, "%s", wanted);
    }
    *operand = operands[0];
    return STATUS_OK;
}

/* ---- --help ---- */

static void
print_flag(const struct flag *flag, FILE *out)
{
    if (flag->letter) {
        (void)fprintf(out, "  -%c, --%s", flag->letter, flag->name);
    } else {
        (void)fprintf(out, "      --%s", flag->name);
    }
    (void)fprintf(out, "%s%s\n", flag->argument ? " " : "", flag->argument ? flag->argument : "");
    text_wrap(out, "          ", flag->help);
}

void
program_print_help(const struct program *program, FILE *out)
{
    (void)fprintf(out, "Usage: %s %s\n\n", program->name, program->synopsis);
    text_wrap(out, "", program->summary);
    if (program->description && *program->description) {
        (void)fputc('\n', out);
        text_wrap(out, "", program->description);
    }
    (void)fputs("\nFlags:\n", out);
    for (int table = 0; table < 2; table++) {
        for (const struct flag *flag = flags_of(program, table); flag->name; flag++) {
            print_flag(flag, out);
        }
    }
    if (program->examples && *program->examples) {
        (void)fputs("\nExamples:\n", out);
        for (const char *line = program->examples; *line;) {
            const size_t length = strcspn(line, "\n");
            (void)fprintf(out, "%s%.*s\n", length ? "  " : "", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
}

/* ---- the manual page ---- */

static void
mdoc_flags(const struct program *program, FILE *out)
{
    (void)fputs(".Bl -tag -width Ds\n", out);
    for (int table = 0; table < 2; table++) {
        for (const struct flag *flag = flags_of(program, table); flag->name; flag++) {
            (void)fputs(".It ", out);
            if (flag->letter) {
                (void)fprintf(out, "Fl %c , ", flag->letter);
            }
            (void)fprintf(out, "Fl \\-%s", flag->name);
            if (flag->argument) {
                (void)fputs(" Ar ", out);
                text_mdoc_word(out, flag->argument);
            }
            (void)fputc('\n', out);
            text_mdoc(out, flag->help);
        }
    }
    (void)fputs(".El\n", out);
}

static void
mdoc_examples(const char *examples, FILE *out)
{
    (void)fputs(".Sh EXAMPLES\n.Bd -literal -offset indent\n", out);
    for (const char *line = examples; *line;) {
        const size_t length = strcspn(line, "\n");
        char *copy = memory_string_n(line, length);
        text_mdoc_word(out, copy);
        (void)fputc('\n', out);
        free(copy);
        line += length + (line[length] == '\n');
    }
    (void)fputs(".Ed\n", out);
}

/* Commands for people are in section 1, "quadrille-queue" and other services in 8. */
static int
manual_section(const struct program *program)
{
    return strchr(program->name, '-') && !strchr(program->name, ' ') ? 8 : 1;
}

static const char configuration_text[] =
    "The file quadrille.conf in the data directory holds lines \"name = value\". Lines that begin "
    "with # are comments, a later line overrides an earlier one, and --set name=value on a command "
    "line overrides the file. The values here are the defaults.";

void
program_print_mdoc(const struct program *program, FILE *out)
{
    (void)fprintf(out, ".Dd %s\n.Dt ", MANUAL_DATE);
    for (const char *at = program->name; *at; at++) {
        (void)fputc(*at == ' ' ? '-' : *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, out);
    }
    (void)fprintf(out, " %d\n.Os\n.Sh NAME\n.Nm ", manual_section(program));
    for (const char *at = program->name; *at; at++) {
        (void)fputc(*at == ' ' ? '-' : *at, out);
    }
    (void)fputs("\n.Nd ", out);
    text_mdoc_word(out, program->summary);
    (void)fprintf(out, "\n.Sh SYNOPSIS\n%s ", program->name);
    text_mdoc_word(out, program->synopsis);
    (void)fputs("\n.Sh DESCRIPTION\n", out);
    text_mdoc(out, program->description && *program->description ? program->description
                                                                 : program->summary);
    (void)fputs(".Sh OPTIONS\n", out);
    mdoc_flags(program, out);
    if (program->tables) {
        struct opt_set *options = opt_set_new(program->tables);
        (void)fputs(".Sh CONFIGURATION\n", out);
        text_mdoc(out, configuration_text);
        opt_set_print_mdoc(options, out);
        opt_set_free(options);
    }
    (void)fprintf(out,
                  ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It %d\nDone.\n.It %d\nWrong use: flags, "
                  "options or operands.\n.It %d\nAnything else that failed; the reason is on "
                  "standard error.\n.El\n",
                  EXIT_DONE, EXIT_MISUSE, EXIT_SYSTEM);
    if (program->examples && *program->examples) {
        mdoc_examples(program->examples, out);
    }
    if (strcmp(program->name, "quadrille") != 0) {
        (void)fputs(".Sh SEE ALSO\n.Xr quadrille 1\n", out);
    }
}
