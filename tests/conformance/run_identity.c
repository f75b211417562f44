/* The suite "identity": values with which others' consolidation identifies nobody. One that stands
 * for any blank node without a label cannot come up here. */
#include "identity/refused_values.h"
#include "tests/conformance/row.h"

static void
run_value(struct row *row, char *line)
{
    static const struct {
        const char *name;
        enum term_kind kind;
    } kinds[] = {{"literal", TERM_LITERAL}, {"iri", TERM_IRI}};
    char *rest = line;
    const char *property = strsep(&rest, "\t"), *kind = strsep(&rest, "\t");
    const char *value = rest != NULL ? strsep(&rest, "\t") : NULL;
    if (value == NULL || strcmp(property, "property") == 0) {
        return;
    }
    if (strcmp(kind, "bnode") == 0) {
        row->skipped++;
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind, kinds[i].name) == 0) {
            const struct term term = {.kind = kinds[i].kind, .value = slice_string(value)};
            const struct slice of = slice_string(strcmp(property, "*") == 0 ? "" : property);
            row_case(row, value, value_is_refused(of, &term), "the %s identifies", kind);
        }
    }
}

int
main(int argc, char **argv)
{
    struct row row;
    char folder[PATH_MAX - 64];
    if (argc != 3) {
        fprintf(stderr, "usage: run_identity SUITES OUTPUT\n");
        return 100;
    }
    snprintf(folder, sizeof folder, "%s/identity", argv[1]);
    row_open(&row, "identity-values", argv[2]);
    row_lines(&row, folder, "blacklist.tsv", run_value);
    row_close(&row);
    return 0;
}
