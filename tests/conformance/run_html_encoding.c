/* The suite "html-encoding": which encoding an HTML document without Content-Type is in. */
#include "base/buf.h"
#include "tests/conformance/row.h"
#include "transforms/common/encoding.h"

static const char *suite_folder;

static void
run_case(struct row *row, char *line)
{
    char *fields[3], path[PATH_MAX];
    static char bytes[1 << 20];
    if (row_fields(line, fields, 3) < 3 || strcmp(fields[0], "id") == 0) {
        return;
    }
    snprintf(path, sizeof path, "%s/%s", suite_folder, fields[1]);
    FILE *in = fopen(path, "rb");
    const size_t n = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    if (in) {
        fclose(in);
    }
    const char *found = encoding_of_html(slice_of(bytes, n), (struct slice){0}, NULL);
    row_case(row, fields[0], in && strcmp(found, fields[2]) == 0, "got %s, expected %s", found,
             fields[2]);
}

int
main(int argc, char **argv)
{
    char folder[PATH_MAX - 64];
    struct row row;
    if (argc != 3) {
        fprintf(stderr, "usage: %s SUITES OUTPUT\n", argv[0]);
        return 100;
    }
    snprintf(folder, sizeof folder, "%s/html-encoding", argv[1]);
    suite_folder = folder;
    row_open(&row, "html-encoding", argv[2]);
    row_lines(&row, folder, "cases.tsv", run_case);
    row_close(&row);
    return 0;
}
