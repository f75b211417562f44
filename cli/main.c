/* quadrille: the command line. Dispatches to subcommands; each is a file of its own. */
#include <stdio.h>
#include <string.h>

#include "base/options/nearest.h"
#include "cli/shared/cli.h"
#include "config/config.h"

struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
#define X(name, summary) {#name, summary, command_##name},
    CLI_COMMAND_MAP(X)
#undef X
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* Names that commands had before they were merged with others. */
static const struct {
    const char *name, *now;
} former[] = {
    {"top", "status --follow"},
    {"stats", "status; its --counters and --void are there"},
    {"plan", "datasets plan HOST"},
    {"sitemap", "datasets validate URL"},
};
enum { FORMER_COUNT = sizeof former / sizeof former[0] };

static char description[4096];

static const char examples[] = "# From nothing to an answer:\n"
                               "quadrille crawl --dir DIR https://example.org/\n"
                               "quadrille search --dir DIR example\n"
                               "quadrille query --dir DIR 'SELECT * { ?s ?p ?o } LIMIT 10'";

static const struct program program = {
    .name = "quadrille",
    .synopsis = "COMMAND [OPTION]... [ARGUMENT]...",
    .summary = "crawl the web for structured data into one index of RDF quads",
    .description = description,
    .examples = examples,
    .tables = config_tables,
};

static void
describe(void)
{
    size_t n =
        (size_t)snprintf(description, sizeof description, "Commands (each answers --help):\n\n");
    for (int i = 0; i < COMMAND_COUNT && n < sizeof description; i++) {
        n += (size_t)snprintf(description + n, sizeof description - n, "  %-10s %s\n",
                              commands[i].name, commands[i].summary);
    }
}

static int
no_command(const char *word)
{
    struct nearest nearest = nearest_to(slice_string(word));
    char near[NEAREST_TEXT_SIZE];
    for (int i = 0; i < FORMER_COUNT; i++) {
        if (strcmp(word, former[i].name) == 0) {
            fprintf(stderr, "quadrille: %s is now quadrille %s\n", word, former[i].now);
            return EXIT_MISUSE;
        }
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        nearest_offer(&nearest, commands[i].name);
    }
    fprintf(stderr, "quadrille: there is no command %s%s quadrille --help lists them\n", word,
            *nearest_text(&nearest, "", near) ? near : ";");
    return EXIT_MISUSE;
}

int
main(int argc, char **argv)
{
    struct reason why = {""};
    char **operands;
    int operand_count;
    describe();
    if (argc > 1 && argv[1][0] != '-') {
        for (int i = 0; i < COMMAND_COUNT; i++) {
            if (strcmp(argv[1], commands[i].name) == 0) {
                return commands[i].run(argc - 1, argv + 1);
            }
        }
        return no_command(argv[1]);
    }
    const enum status status = program_parse(&program, argc, argv, &operands, &operand_count, &why);
    if (status == STATUS_OK) {
        program_print_help(&program, stderr);
        return EXIT_MISUSE;
    }
    return cli_end(&program, status, &why);
}
