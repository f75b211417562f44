/* quadrille prefixes: the names that need no declaration. */
#include <stdio.h>

#include "cli/shared/cli.h"
#include "index/query/parser/prefixes.h"

int
command_prefixes(int argc, char **argv)
{
    bool json = false;
    const struct flag flags[] = {
        {"json", 'j', FLAG_SWITCH, NULL, &json, "Prints one JSON object, as a JSON-LD context."},
        {0},
    };
    const struct program program = {
        .name = "quadrille prefixes",
        .synopsis = "[--json]",
        .summary = "list the prefixes that queries need not declare",
        .description =
            "Prints the prefixes that quadrille query, update and explain, the search page and "
            "/sparql know without a declaration, each as a line of SPARQL that declares it for "
            "others. What a query declares itself goes before.",
        .examples = "quadrille prefixes\n"
                    "quadrille prefixes --json",
        .flags = flags,
    };
    struct reason why = {""};
    const enum status status = cli_parse(&program, argc, argv, &why);
    for (size_t i = 0; status == STATUS_OK && known_prefixes[i].prefix != NULL; i++) {
        const struct known_prefix *known = &known_prefixes[i];
        printf(json ? "%s\"%s\": \"%s\"" : "%sPREFIX %s: <%s>\n",
               !json    ? ""
               : i == 0 ? "{\"@context\": {"
                        : ", ",
               known->prefix, known->iri);
    }
    if (status == STATUS_OK && json) {
        puts("}}");
    }
    return cli_end(&program, status, &why);
}
