/* These tests check what the tables of options and flags print, whole: the sample configuration,
 * the options and the manual page in mdoc, the help; and the wrapping of their texts. */
#include "tests/unit/base/opt_texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options/opt.h"
#include "base/options/text_print.h"

static const struct opt one_table[] = {
    {"one.choice", OPT_CHOICE, "b", 0, 0, "a|b", "Either."},
    {"one.flag", OPT_BOOL, "no", 0, 0, NULL, "Whether."},
    {"one.bound", OPT_INTEGER, "-3", -5, 9, NULL, "Between two."},
    {"one.least", OPT_INTEGER, "7", 7, 0, NULL, "No less."},
    {"one.number", OPT_INTEGER, "0", 0, 0, NULL, "Any."},
    {"oneself.size", OPT_SIZE, "4K", 1024, 65536, NULL, "A section whose name begins as another."},
    {"oneself.least", OPT_SIZE, "4K", 512, 0, NULL, ".A first dot and a \\ and a - are words."},
    {NULL}};
static const struct opt two_table[] = {
    {"two.free", OPT_SIZE, "0", 0, 0, NULL, "Size."},
    {"two.while", OPT_DURATION, "200ms", 0.1, 3600, NULL, "From to."},
    {"two.after", OPT_DURATION, "2m", 60, 0, NULL, "At least."},
    {"two.ever", OPT_DURATION, "0", 0, 0, NULL, "Any time."},
    {"two.text", OPT_STRING, "", 0, 0, NULL,
     "A paragraph that is long enough to be wrapped, since it has more than one hundred letters in "
     "it, which no line of the sample may have.\n\n  a line as it is\n\nThe last one."},
    {"two.list", OPT_LIST, "a, b", 1, 2, NULL, "Words."},
    {NULL}};
static const struct opt none_table[] = {{NULL}};
static const struct opt few_table[] = {{"few.text", OPT_STRING, "", 0, 0, NULL, "Text."}, {NULL}};
static const struct opt *const all_tables[] = {one_table, none_table, two_table, NULL};
static const struct opt *const few_tables[] = {few_table, NULL};

static bool given;
static const char *file;
static const struct flag flags[] = {{"given", 'g', FLAG_SWITCH, NULL, &given, "Is given."},
                                    {"file", 0, FLAG_STRING, "-FILE", &file, "Has a value."},
                                    {NULL}};
static const struct program command = {
    "quadrille do", "[FLAG]... -", "does it", "One.\n\nTwo.", "# how\n\nquadrille do -g\n.dotted",
    flags,          few_tables};
static const struct program service = {"quadrille-it", "", "serves", "", "", NULL, NULL};
static const struct program whole = {"quadrille", "COMMAND", "all", NULL, NULL, NULL, NULL};

static void
print_sample(FILE *out)
{
    struct opt_set *set = opt_set_new(all_tables);
    opt_set_print_sample(set, out);
    opt_set_free(set);
}

static void
print_options(FILE *out)
{
    struct opt_set *set = opt_set_new(all_tables);
    opt_set_print_mdoc(set, out);
    opt_set_free(set);
}

static void
print_help(FILE *out)
{
    program_print_help(&command, out);
}

static void
print_manual(FILE *out)
{
    program_print_mdoc(&command, out);
}

static void
print_service_help(FILE *out)
{
    program_print_help(&service, out);
}

static void
print_service_manual(FILE *out)
{
    program_print_mdoc(&service, out);
}

static void
print_whole_manual(FILE *out)
{
    program_print_mdoc(&whole, out);
}

/* Words that end at the width and one past it, alone and after others. */
static void
print_wrapped(FILE *out)
{
    char text[4 * TEXT_WIDTH];
    for (int length = TEXT_WIDTH - 1; length <= TEXT_WIDTH + 1; length++) {
        (void)snprintf(text, sizeof text, "%0*d", length - 2, 1);
        text_wrap(out, "# ", text);
        (void)snprintf(text, sizeof text, "%0*d ab\nc", length - 5, 2);
        text_wrap(out, "# ", text);
    }
    text_wrap(out, "> ",
              "  literal\n\tliteral, too\nwords\n  apart  \nmore \t words \n \n\n\nend\n");
    text_wrap(out, "  ", "\n");
    text_wrap(out, "", "");
    text_wrap(out, "", "\nx");
}

static void
print_escaped(FILE *out)
{
    text_mdoc(out, "\n\nfirst\n\n\n  literal\n\n  more\nthen\n'quoted \\ -");
    text_mdoc(out, "  only literal");
    text_mdoc(out, "");
    text_mdoc(out, "\n");
    text_mdoc_word(out, "");
    text_mdoc_word(out, ".x-");
    text_mdoc_word(out, "'");
}

static const struct {
    void (*print)(FILE *out);
    const char *text;
} prints[] = {
    {print_sample,
     "# Configuration of a data directory. Each line is the default; remove its # to\n"
     "# change it. The same can be given on a command line: --set name=value.\n"
     "\n"
     "# Either.\n"
     "# (a|b)\n"
     "#one.choice = b\n"
     "\n"
     "# Whether.\n"
     "# (yes|no)\n"
     "#one.flag = no\n"
     "\n"
     "# Between two.\n"
     "# (-5 to 9)\n"
     "#one.bound = -3\n"
     "\n"
     "# No less.\n"
     "# (at least 7)\n"
     "#one.least = 7\n"
     "\n"
     "# Any.\n"
     "# (number)\n"
     "#one.number = 0\n"
     "\n"
     "# A section whose name begins as another.\n"
     "# (1024 to 65536 bytes)\n"
     "#oneself.size = 4K\n"
     "\n"
     "# .A first dot and a \\ and a - are words.\n"
     "# (at least 512 bytes)\n"
     "#oneself.least = 4K\n"
     "\n"
     "# Size.\n"
     "# (size, suffix K, M, G or T)\n"
     "#two.free = 0\n"
     "\n"
     "# From to.\n"
     "# (0.1 to 3600 seconds)\n"
     "#two.while = 200ms\n"
     "\n"
     "# At least.\n"
     "# (at least 60 seconds)\n"
     "#two.after = 2m\n"
     "\n"
     "# Any time.\n"
     "# (seconds, or with suffix ms, s, m, h or d)\n"
     "#two.ever = 0\n"
     "\n"
     "# A paragraph that is long enough to be wrapped, since it has more than one\n"
     "# hundred letters in it, which no line of the sample may have.\n"
     "#\n"
     "#   a line as it is\n"
     "#\n"
     "# The last one.\n"
     "# (text)\n"
     "#two.text =\n"
     "\n"
     "# Words.\n"
     "# (list separated by commas or blanks)\n"
     "#two.list = a, b\n"},
    {print_options,
     ".Ss one\n"
     ".Bl -tag -width Ds\n"
     ".It \\&one.choice = \\&b\n"
     "Either.\n"
     "(a|b)\n"
     ".It \\&one.flag = \\&no\n"
     "Whether.\n"
     "(yes|no)\n"
     ".It \\&one.bound = \\&\\-3\n"
     "Between two.\n"
     "(-5 to 9)\n"
     ".It \\&one.least = \\&7\n"
     "No less.\n"
     "(at least 7)\n"
     ".It \\&one.number = \\&0\n"
     "Any.\n"
     "(number)\n"
     ".El\n"
     ".Ss oneself\n"
     ".Bl -tag -width Ds\n"
     ".It \\&oneself.size = \\&4K\n"
     "A section whose name begins as another.\n"
     "(1024 to 65536 bytes)\n"
     ".It \\&oneself.least = \\&4K\n"
     "\\&.A first dot and a \\e and a \\- are words.\n"
     "(at least 512 bytes)\n"
     ".El\n"
     ".Ss two\n"
     ".Bl -tag -width Ds\n"
     ".It \\&two.free = \\&0\n"
     "Size.\n"
     "(size, suffix K, M, G or T)\n"
     ".It \\&two.while = \\&200ms\n"
     "From to.\n"
     "(0.1 to 3600 seconds)\n"
     ".It \\&two.after = \\&2m\n"
     "At least.\n"
     "(at least 60 seconds)\n"
     ".It \\&two.ever = \\&0\n"
     "Any time.\n"
     "(seconds, or with suffix ms, s, m, h or d)\n"
     ".It \\&two.text = \\&\n"
     "A paragraph that is long enough to be wrapped, since it has more than one hundred"
     " letters in it, which no line of the sample may have.\n"
     ".Bd -literal -offset indent\n"
     "  a line as it is\n"
     ".Ed\n"
     ".Pp\n"
     "The last one.\n"
     "(text)\n"
     ".It \\&two.list = \\&a, b\n"
     "Words.\n"
     "(list separated by commas or blanks)\n"
     ".El\n"},
    {print_help, "Usage: quadrille do [FLAG]... -\n"
                 "\n"
                 "does it\n"
                 "\n"
                 "One.\n"
                 "\n"
                 "Two.\n"
                 "\n"
                 "Flags:\n"
                 "  -g, --given\n"
                 "          Is given.\n"
                 "      --file -FILE\n"
                 "          Has a value.\n"
                 "  -h, --help\n"
                 "          Print this help.\n"
                 "      --version\n"
                 "          Print the version.\n"
                 "      --man\n"
                 "          Print the manual page, as mdoc.\n"
                 "\n"
                 "Examples:\n"
                 "  # how\n"
                 "\n"
                 "  quadrille do -g\n"
                 "  .dotted\n"},
    {print_manual,
     ".Dt QUADRILLE-DO 1\n"
     ".Os\n"
     ".Sh NAME\n"
     ".Nm quadrille-do\n"
     ".Nd \\&does it\n"
     ".Sh SYNOPSIS\n"
     "quadrille do \\&[FLAG]... \\-\n"
     ".Sh DESCRIPTION\n"
     "One.\n"
     ".Pp\n"
     "Two.\n"
     ".Sh OPTIONS\n"
     ".Bl -tag -width Ds\n"
     ".It Fl g , Fl \\-given\n"
     "Is given.\n"
     ".It Fl \\-file Ar \\&\\-FILE\n"
     "Has a value.\n"
     ".It Fl h , Fl \\-help\n"
     "Print this help.\n"
     ".It Fl \\-version\n"
     "Print the version.\n"
     ".It Fl \\-man\n"
     "Print the manual page, as mdoc.\n"
     ".El\n"
     ".Sh CONFIGURATION\n"
     "The file quadrille.conf in the data directory holds lines \"name = value\". Lines that"
     " begin with # are comments, a later line overrides an earlier one, and \\-\\-set"
     " name=value on a command line overrides the file. The values here are the defaults.\n"
     ".Ss few\n"
     ".Bl -tag -width Ds\n"
     ".It \\&few.text = \\&\n"
     "Text.\n"
     "(text)\n"
     ".El\n"
     ".Sh EXIT STATUS\n"
     ".Bl -tag -width Ds\n"
     ".It 0\n"
     "Done.\n"
     ".It 100\n"
     "Wrong use: flags, options or operands.\n"
     ".It 111\n"
     "Anything else that failed; the reason is on standard error.\n"
     ".El\n"
     ".Sh EXAMPLES\n"
     ".Bd -literal -offset indent\n"
     "\\&# how\n"
     "\\&\n"
     "\\&quadrille do \\-g\n"
     "\\&\\&.dotted\n"
     ".Ed\n"
     ".Sh SEE ALSO\n"
     ".Xr quadrille 1\n"},
    {print_service_help, "Usage: quadrille-it \n"
                         "\n"
                         "serves\n"
                         "\n"
                         "Flags:\n"
                         "  -h, --help\n"
                         "          Print this help.\n"
                         "      --version\n"
                         "          Print the version.\n"
                         "      --man\n"
                         "          Print the manual page, as mdoc.\n"},
    {print_service_manual, ".Dt QUADRILLE-IT 8\n"
                           ".Os\n"
                           ".Sh NAME\n"
                           ".Nm quadrille-it\n"
                           ".Nd \\&serves\n"
                           ".Sh SYNOPSIS\n"
                           "quadrille-it \\&\n"
                           ".Sh DESCRIPTION\n"
                           "serves\n"
                           ".Sh OPTIONS\n"
                           ".Bl -tag -width Ds\n"
                           ".It Fl h , Fl \\-help\n"
                           "Print this help.\n"
                           ".It Fl \\-version\n"
                           "Print the version.\n"
                           ".It Fl \\-man\n"
                           "Print the manual page, as mdoc.\n"
                           ".El\n"
                           ".Sh EXIT STATUS\n"
                           ".Bl -tag -width Ds\n"
                           ".It 0\n"
                           "Done.\n"
                           ".It 100\n"
                           "Wrong use: flags, options or operands.\n"
                           ".It 111\n"
                           "Anything else that failed; the reason is on standard error.\n"
                           ".El\n"
                           ".Sh SEE ALSO\n"
                           ".Xr quadrille 1\n"},
    {print_whole_manual, ".Dt QUADRILLE 1\n"
                         ".Os\n"
                         ".Sh NAME\n"
                         ".Nm quadrille\n"
                         ".Nd \\&all\n"
                         ".Sh SYNOPSIS\n"
                         "quadrille \\&COMMAND\n"
                         ".Sh DESCRIPTION\n"
                         "all\n"
                         ".Sh OPTIONS\n"
                         ".Bl -tag -width Ds\n"
                         ".It Fl h , Fl \\-help\n"
                         "Print this help.\n"
                         ".It Fl \\-version\n"
                         "Print the version.\n"
                         ".It Fl \\-man\n"
                         "Print the manual page, as mdoc.\n"
                         ".El\n"
                         ".Sh EXIT STATUS\n"
                         ".Bl -tag -width Ds\n"
                         ".It 0\n"
                         "Done.\n"
                         ".It 100\n"
                         "Wrong use: flags, options or operands.\n"
                         ".It 111\n"
                         "Anything else that failed; the reason is on standard error.\n"
                         ".El\n"},
    {print_wrapped,
     "# 00000000000000000000000000000000000000000000000000000000000000000000000000001\n"
     "# 00000000000000000000000000000000000000000000000000000000000000000000000002 ab\n"
     "# c\n"
     "# 000000000000000000000000000000000000000000000000000000000000000000000000000001\n"
     "# 000000000000000000000000000000000000000000000000000000000000000000000000002 ab\n"
     "# c\n"
     "# 0000000000000000000000000000000000000000000000000000000000000000000000000000001\n"
     "# 0000000000000000000000000000000000000000000000000000000000000000000000000002\n"
     "# ab c\n"
     ">   literal\n"
     "> \tliteral, too\n"
     "> words\n"
     ">   apart  \n"
     "> more words\n"
     ">  \n"
     ">\n"
     ">\n"
     "> end\n"
     "\n"
     "\n"
     "x\n"},
    {print_escaped, "first\n"
                    ".Bd -literal -offset indent\n"
                    "  literal\n"
                    ".Ed\n"
                    ".Bd -literal -offset indent\n"
                    "  more\n"
                    ".Ed\n"
                    "then\n"
                    "\\&'quoted \\e \\-\n"
                    ".Bd -literal -offset indent\n"
                    "  only literal\n"
                    ".Ed\n"
                    "\\&\\&\\&.x\\-\\&\\&'"},
};

void
texts_are_printed_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        prints[i].print(out);
        (void)fclose(out);
        const bool dated = strncmp(text, ".Dd ", 4) == 0; /* a line that changes by itself */
        assert_string_equal(dated ? strchr(text, '\n') + 1 : text, prints[i].text);
        free(text);
    }
}
