/* quadrille identity: who is the same as a resource, why, and what an operator decides of it. */
#include <jansson.h>

#include "cli/shared/cli.h"
#include "search/find.h"

enum { TIMEOUT_SECONDS = 60 };

struct wishes {
    bool json, join, split, forget;
};

static enum status
decide(struct index_client *index, const struct wishes *wishes, const struct term terms[2],
       struct reason *why)
{
    return index_identity_decide(index,
                                 wishes->join    ? INDEX_DECISION_JOIN
                                 : wishes->split ? INDEX_DECISION_SPLIT
                                                 : INDEX_DECISION_NONE,
                                 &terms[0], &terms[1], why);
}

static void
print_member(const json_t *value, const char *name)
{
    printf("%s\t", json_string_value(json_object_get(value, name)));
}

/* Resources, property, value, one of the resources, why it is set aside; or JSON. */
static enum status
print_shared(struct index_client *index, bool as_json, struct reason *why)
{
    const struct find_access access = {.index = index, .timeout_ms = TIMEOUT_SECONDS * 1000};
    json_t *shared;
    TRY(find_shared_values(&access, &shared, why));
    const json_t *values = json_object_get(shared, "values");
    if (as_json) {
        (void)json_dumpf(shared, stdout, JSON_INDENT(1));
        (void)putchar('\n');
    }
    for (size_t i = 0; i < json_array_size(values) && !as_json; i++) {
        const json_t *value = json_array_get(values, i);
        const char *aside = json_string_value(json_object_get(value, "setAside"));
        printf("%" JSON_INTEGER_FORMAT "\t",
               json_integer_value(json_object_get(value, "resources")));
        print_member(value, "property");
        print_member(value, "value");
        print_member(value, "one");
        puts(aside != NULL ? aside : "");
    }
    if (json_array_size(values) == 0) {
        fputs("quadrille identity: no value of an inverse functional property is shared\n", stderr);
    } else if (json_is_true(json_object_get(shared, "more"))) {
        fputs("quadrille identity: there are more\n", stderr);
    }
    json_decref(shared);
    return STATUS_OK;
}

static enum status
answer(struct cli *cli, struct index_client **index, const struct cli_common *common,
       const struct wishes *wishes, char **operands, int n, struct reason *why)
{
    const bool decides = wishes->join || wishes->split || wishes->forget;
    struct term terms[2] = {{.kind = TERM_NONE}, {.kind = TERM_NONE}};
    struct arena arena;
    enum status status = STATUS_OK;
    arena_init(&arena, 8 * CLI_TERM_MAXIMUM);
    for (int i = 0; i < n && i < 2 && status == STATUS_OK; i++) {
        status = cli_parse_term(operands[i], &arena, &terms[i], why);
    }
    if (status == STATUS_OK) {
        status = decides ? cli_open(cli, common, why) : cli_open_reading(cli, common, why);
    }
    if (status == STATUS_OK) {
        status = cli_serve(cli, "index,metastore", why);
    }
    if (status == STATUS_OK) {
        status = cli_index(cli, index, why);
    }
    if (status == STATUS_OK) {
        status = cli_interruptible(NULL, *index, why);
    }
    if (status == STATUS_OK && decides) {
        status = decide(*index, wishes, terms, why);
    } else if (status == STATUS_OK && n == 0) {
        status = print_shared(*index, wishes->json, why);
    } else if (status == STATUS_OK) {
        status = index_identity(*index, &terms[0], wishes->json, TIMEOUT_SECONDS * 1000,
                                cli_print_piece, stdout, why);
    }
    arena_release(&arena);
    return status;
}

int
command_identity(int argc, char **argv)
{
    struct cli_common common = {0};
    struct cli cli = {0};
    struct index_client *index = NULL;
    struct wishes wishes = {false};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"json", 'j', FLAG_SWITCH, NULL, &wishes.json, "Prints one JSON object."},
        {"join", 0, FLAG_SWITCH, NULL, &wishes.join, "Decides that both resources are the same."},
        {"split", 0, FLAG_SWITCH, NULL, &wishes.split,
         "Decides that they are not: no chain of reasons brings them together any more."},
        {"forget", 0, FLAG_SWITCH, NULL, &wishes.forget,
         "Takes back what was decided about the two."},
        {0},
    };
    const struct program program = {
        .name = "quadrille identity",
        .synopsis = "--dir DIR [--json] [RESOURCE] | --join|--split|--forget RESOURCE OTHER",
        .summary = "say what is the same as a resource, and why",
        .description =
            "Prints what else the resource is called, and each reason: by which rule, property and "
            "value, in which document, and which ontology says that the property identifies. "
            "Reasons are owl:sameAs and the properties that an ontology in the index calls "
            "inverse functional, functional or of cardinality one, also by way of other properties "
            "and classes; each document is read by the ontologies of its own terms and by itself "
            "alone.\n\n"
            "Without a RESOURCE it lists values of properties that a document calls inverse "
            "functional and that several resources have: how many have it, property, value, one "
            "of the resources, and why it is set aside (refused, shared) if it is.\n\n"
            "Values that identify nothing, or that too many have, are set aside and told. What "
            "you decide with --join and --split stands in the graph "
            "<urn:x-quadrille:query#decisions>. Queries find the same as GRAPH "
            "<urn:x-quadrille:query#identity> { ?a owl:sameAs ?b }.",
        .examples = "quadrille identity --dir DIR http://example.org/#me\n"
                    "quadrille identity --dir DIR --split http://a.example/#i http://b.example/#i",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    const int decisions = wishes.join + wishes.split + wishes.forget;
    if (status == STATUS_OK && (decisions > 1 || (decisions > 0 ? n != 2 : n > 1))) {
        status =
            status_fail(&why, STATUS_MISUSE,
                        "one resource at most, or two with one of --join, --split and --forget; "
                        "see --help");
    }
    if (status == STATUS_OK) {
        status = answer(&cli, &index, &common, &wishes, operands, n, &why);
    }
    const int code = cli_answered(&program, index, status, &why);
    index_client_close(index);
    cli_close(&cli);
    return code;
}
