/* Plans of queries over partitions, and what comes of them. */
#include "tests/unit/query_parts/parted_source.h"

struct query *
parted_query(const char *text)
{
    struct query *query;
    struct reason why = {{0}};
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", text) > 0);
    if (query_prepare(&query, slice_string(whole), SLICE(""), &why) != STATUS_OK) {
        fail_msg("%s: %s", whole, why.text);
    }
    free(whole);
    return query;
}

static int
compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Lines in an order of their own, since rows may come in any. */
static void
sort_lines(struct buf *text)
{
    static char *lines[PARTED_MOST];
    struct buf sorted;
    size_t count = 0;
    (void)buf_append_string(text, "");
    for (char *line = strtok(text->data, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(count < PARTED_MOST);
        lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    buf_init(&sorted, PARTED_ANSWER);
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(&sorted, "%s\n", lines[i]);
    }
    buf_release(text);
    *text = sorted;
}

static void
answer(const struct query *query, const struct quad_source *source,
       const struct query_options *options, struct query_report *report, struct buf *out)
{
    struct result_writer *writer;
    struct reason why = {{0}};
    result_writer_open(&writer, RESULT_TSV, query_case_piece, out);
    if (query_run(query, source, options, result_writer_sink(writer), report, &why) != STATUS_OK ||
        result_writer_finish(writer, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    result_writer_free(writer);
}

/* What stands for the beginning of a name, and the rest as it is. */
static void
abridge_names(struct slice line, struct buf *out)
{
    static const struct {
        const char *from, *to;
    } names[] = {{"<http://example.org/", ":"},
                 {"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "a"},
                 {"^^<http://www.w3.org/2001/XMLSchema#integer>", ""}};
    bool in_name = false;
    while (line.length > 0) {
        size_t i = 0;
        while (i < 3 && !slice_starts(line, slice_string(names[i].from))) {
            i++;
        }
        const size_t length = i < 3 ? strlen(names[i].from) : 1;
        if (i < 3) {
            (void)buf_append_string(out, names[i].to);
            in_name = in_name || i == 0;
        } else if (!in_name || line.at[0] != '>') {
            (void)buf_append_char(out, line.at[0]);
        } else {
            in_name = false;
        }
        line = slice_of(line.at + length, line.length - length);
    }
}

/* One line of the plan after another, > for a step further inside, ~ for how many rows it is
 * thought to give. */
static void
abridge(const char *plan, struct buf *out)
{
    for (const char *line = strchr(plan, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *about = strstr(line, " (about ");
        assert_non_null(about);
        while (line[0] == ' ') {
            (void)buf_append_char(out, '>');
            line += 2;
        }
        abridge_names(slice_of(line, (size_t)(about - line)), out);
        about += strlen(" (about ");
        (void)buf_printf(out, " ~%.*s; ", (int)strcspn(about, " "), about);
    }
}

static bool
is_other(const char *wanted, const struct buf *said)
{
    return strcmp(wanted, said->length ? said->data : "") != 0;
}

void
parted_check(const struct shared_plan *wanted, const struct query_options *options)
{
    struct query *query = parted_query(wanted->query);
    struct query_report report = {0};
    struct reason why = {{0}};
    struct buf plan, shape, said, expected;
    buf_init(&plan, 1 << 16);
    buf_init(&shape, 1 << 16);
    buf_init(&said, PARTED_ANSWER);
    buf_init(&expected, PARTED_ANSWER);
    assert_int_equal(query_explain(query, &here.source, options, false, &plan, &why), STATUS_OK);
    abridge(plan.data, &shape);
    buf_reset(&here.requests);
    answer(query, &here.source, options, &report, &said);
    answer(query, here.plain, options, NULL, &expected);
    /* LIMIT alone says how many rows there are, not which. */
    if (!strstr(wanted->query, "LIMIT") || strstr(wanted->query, "ORDER")) {
        sort_lines(&said);
        sort_lines(&expected);
        if (strcmp(said.data, expected.data) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", wanted->query, said.data, expected.data);
        }
    }
    if (is_other(wanted->plan, &shape) || is_other(wanted->requests, &here.requests) ||
        report.rows != wanted->rows || report.scanned != wanted->scanned ||
        report.scans != wanted->scans) {
        print_error("{\"%s\",\n\"%s\",\n\"%s\", %lu, %lu, %lu},\n", wanted->query, shape.data,
                    here.requests.length ? here.requests.data : "", (unsigned long)report.rows,
                    (unsigned long)report.scanned, (unsigned long)report.scans);
        fail();
    }
    query_free(query);
    buf_release(&plan);
    buf_release(&shape);
    buf_release(&said);
    buf_release(&expected);
}
