/* The steps of slicing as programs from standard input to standard output (dumps/streaming.h). */
#include "cli/datasets/slice_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/file.h"
#include "cli/datasets/slice_spaces.h"
#include "cli/shared/cli.h"
#include "dumps/streaming.h"
#include "rdf/nquads/nquads.h"

#include <xxhash.h>

enum { INPUT_BYTES = 1 << 18, OUTPUT_BYTES = 1 << 18, RECORD_MAXIMUM = 1 << 28 };

struct step {
    struct streaming streaming;
    struct buf out, key;
    uint64_t line, problems; /* of the input */
};

typedef enum status step_group(struct streaming *streaming, struct slice key, struct reason *why);

static enum status
write_out(struct step *step, struct reason *why)
{
    if (!file_write_all(STDOUT_FILENO, buf_slice(&step->out))) {
        return status_fail_errno(why, "cannot write records");
    }
    buf_reset(&step->out);
    return STATUS_OK;
}

/* ---- map ---- */

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct step *step = context;
    TRY(streaming_map(&step->streaming, quad, why));
    return step->out.length < OUTPUT_BYTES ? STATUS_OK : write_out(step, why);
}

static void
report(void *context, const struct parse_problem *problem)
{
    struct step *step = context;
    if (step->problems++ < 5) {
        fprintf(stderr, "line %llu: %s\n", (unsigned long long)problem->line, problem->text);
    }
}

static enum status
map(struct step *step, bool lenient, struct reason *why)
{
    const struct parse_options options = {.lenient = lenient, .problems = {report, step}};
    const struct quad_sink sink = {take, step};
    struct nquads_reader *reader = nquads_reader_new(&options, false, &sink);
    const enum status status = nquads_reader_descriptor(reader, STDIN_FILENO, why);
    nquads_reader_free(reader);
    return status;
}

/* ---- follow, reduce ---- */

static enum status
end_group(struct step *step, step_group *group, struct reason *why)
{
    if (step->key.length > 0) {
        TRY(group(&step->streaming, buf_slice(&step->key), why));
    }
    return step->out.length < OUTPUT_BYTES ? STATUS_OK : write_out(step, why);
}

static enum status
take_record(struct step *step, struct slice record, step_group *group, struct reason *why)
{
    const size_t tab = slice_find(record, '\t');
    const struct slice key = slice_of(record.at, tab);
    step->line++;
    if (tab == 0 || tab == record.length) {
        return status_fail(why, STATUS_BAD_INPUT, "line %llu: a record is KEY, a tab, VALUE",
                           (unsigned long long)step->line);
    }
    if (!slice_equal(key, buf_slice(&step->key))) {
        TRY(end_group(step, group, why));
        buf_reset(&step->key);
        buf_append_slice(&step->key, key);
    }
    return streaming_value(&step->streaming, slice_of(record.at + tab + 1, record.length - tab - 1),
                           why);
}

/* Takes whole lines off the front. */
static enum status
take_records(struct step *step, struct buf *input, step_group *group, struct reason *why)
{
    struct slice rest = buf_slice(input);
    for (size_t length; (length = slice_find(rest, '\n')) < rest.length;
         rest = slice_of(rest.at + length + 1, rest.length - length - 1)) {
        TRY(take_record(step, slice_of(rest.at, length), group, why));
    }
    memmove(input->data, rest.at, rest.length);
    input->length = rest.length;
    return STATUS_OK;
}

static enum status
read_records(struct step *step, struct buf *input, step_group *group, struct reason *why)
{
    for (;;) {
        char *room = buf_reserve(input, INPUT_BYTES);
        if (room == NULL) {
            return status_fail(why, STATUS_LIMIT, "line %llu is longer than %d bytes",
                               (unsigned long long)step->line + 1, RECORD_MAXIMUM);
        }
        const ssize_t n = read(STDIN_FILENO, room, INPUT_BYTES);
        if (n < 0 && errno != EINTR) {
            return status_fail_errno(why, "cannot read records");
        }
        if (n > 0) {
            buf_commit(input, (size_t)n);
            TRY(take_records(step, input, group, why));
        } else if (n == 0) {
            break;
        }
    }
    if (input->length > 0) {
        return status_fail(why, STATUS_BAD_INPUT, "line %llu is cut off",
                           (unsigned long long)step->line + 1);
    }
    return end_group(step, group, why);
}

static enum status
group_records(struct step *step, step_group *group, struct reason *why)
{
    struct buf input;
    buf_init(&input, RECORD_MAXIMUM);
    const enum status status = read_records(step, &input, group, why);
    buf_release(&input);
    return status;
}

/* ---- programs ---- */

struct step_flags {
    struct slice_space_flags spaces;
    const char *file;
    bool lenient;
};

/* "f", the file's number or a hash of its name, "x". */
static void
name_file(const char *file, struct buf *label)
{
    if (file == NULL) {
        file = getenv("mapreduce_map_input_file");
    }
    if (file == NULL) {
        file = getenv("map_input_file");
    }
    if (file == NULL || (strlen(file) < 10 && strspn(file, "0123456789") == strlen(file))) {
        buf_printf(label, "f%sx", file == NULL || *file == '\0' ? "1" : file);
    } else {
        buf_printf(label, "f%016llux", (unsigned long long)XXH3_64bits(file, strlen(file)));
    }
}

static enum status
run(const char *name, const struct step_flags *flags, struct reason *why)
{
    struct slice_space spaces[SLICE_SPACES_MAXIMUM];
    struct step step = {0};
    struct buf label;
    size_t count;
    TRY(slice_spaces_read(&flags->spaces, spaces, &count, why));
    buf_init(&label, 64);
    name_file(flags->file, &label);
    buf_init(&step.out, SIZE_MAX / 2);
    buf_init(&step.key, RECORD_MAXIMUM);
    streaming_init(&step.streaming, &step.out);
    step.streaming.spaces = spaces;
    step.streaming.count = count;
    step.streaming.label = buf_slice(&label);
    enum status status;
    if (strcmp(name, "map") == 0) {
        status = map(&step, flags->lenient, why);
    } else {
        status = group_records(
            &step, strcmp(name, "follow") == 0 ? streaming_follow : streaming_reduce, why);
    }
    if (status == STATUS_OK) {
        status = write_out(&step, why);
    }
    if (status == STATUS_OK && strcmp(name, "follow") == 0) {
        fprintf(stderr, "reporter:counter:quadrille,wanted,%llu\n",
                (unsigned long long)step.streaming.wanted);
    }
    streaming_release(&step.streaming);
    buf_release(&step.out);
    buf_release(&step.key);
    buf_release(&label);
    return status;
}

bool
slice_step_is(const char *name)
{
    return strcmp(name, "map") == 0 || strcmp(name, "follow") == 0 || strcmp(name, "reduce") == 0;
}

int
slice_step(int argc, char **argv)
{
    struct step_flags step = {0};
    const struct flag map_flags[] = {
        SLICE_SPACE_FLAGS(step.spaces),
        {"file", 0, FLAG_STRING, "NAME", &step.file,
         "The file that the lines are of: blank nodes of different files are different. By default "
         "what Hadoop says, or 1."},
        {"lenient", 0, FLAG_SWITCH, NULL, &step.lenient,
         "Leaves malformed statements out instead of stopping at the first."},
        {0},
    };
    static const struct flag no_flags[] = {{0}};
    const bool maps = strcmp(argv[0], "map") == 0, follows = strcmp(argv[0], "follow") == 0;
    const struct program program = {
        .name = maps      ? "quadrille slice map"
                : follows ? "quadrille slice follow"
                          : "quadrille slice reduce",
        .synopsis = "[OPTION]...",
        .summary = maps      ? "the documents that each statement of a dump belongs to"
                   : follows ? "descriptions on through blank nodes, by one step"
                             : "the triples of each document together",
        .description =
            maps ? "Reads N-Triples or N-Quads, writes a line DOCUMENT, tab, TRIPLE for each "
                   "document that a statement belongs to, and what cbd, scbd and msg want of blank "
                   "nodes. Any lines of a dump may be read by any process."
            : follows
                ? "Reads what map or follow wrote, sorted by key, and writes it with what was "
                  "wanted of blank nodes. To be done again, sorted, until the counter "
                  "quadrille,wanted, written to standard error, is 0 for all processes."
                : "Reads what map or follow wrote, sorted by key, and writes N-Quads whose "
                  "graph is the document.",
        .examples = "quadrille slice map <dump.nt | LC_ALL=C sort | quadrille slice reduce",
        .flags = maps ? map_flags : no_flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && n > 0) {
        status =
            status_fail(&why, STATUS_MISUSE, "reads standard input; %s is not wanted", operands[0]);
    }
    if (status == STATUS_OK) {
        status = run(argv[0], &step, &why);
    }
    return cli_end(&program, status, &why);
}
