#include "cli/shared/dump_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "cli/import/import_files.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "stages/sandbox/sandbox.h"

enum { OUTPUT_BYTES = 1 << 18 };
#define PARSER_MEMORY ((size_t)4 << 30)

static enum status
flush(struct buf *text, struct reason *why)
{
    if (!file_write_all(STDOUT_FILENO, buf_slice(text))) {
        return status_fail_errno(why, "nobody reads");
    }
    buf_reset(text);
    return STATUS_OK;
}

static enum status
write_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct buf *text = context;
    TRY(nquads_write(text, quad));
    return text->length < OUTPUT_BYTES ? STATUS_OK : flush(text, why);
}

/* The caged process: the file is its standard input, pipes are its output and its complaints. */
static void
parse(const struct dump_file *file, int input, int output, int complaints)
{
    struct reason why = {""};
    struct buf text;
    enum rdf_format format = rdf_format_of_file(file->uri);
    const struct quad_sink sink = {write_quad, &text};
    const struct import_source source = {.path = "-",
                                         .format =
                                             format != RDF_FORMAT_NONE ? format : file->format,
                                         .base = file->uri,
                                         .lenient = true};
    buf_init(&text, SIZE_MAX / 2);
    enum status status = dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                                 dup2(complaints, STDERR_FILENO) >= 0
                             ? sandbox_enter(SANDBOX_PARSER, PARSER_MEMORY, &why)
                             : status_fail_errno(&why, "no descriptors");
    if (status == STATUS_OK) {
        status = import_read(&source, &sink, NULL, &why);
    }
    if (status == STATUS_OK) {
        status = flush(&text, &why);
    }
    if (status != STATUS_OK) {
        dprintf(STDERR_FILENO, "%s\n", why.text);
    }
    _exit(status == STATUS_OK ? EXIT_DONE : EXIT_SYSTEM);
}

static enum status
read_quads(int descriptor, const struct quad_sink *sink, struct reason *why)
{
    struct nquads_reader *reader = nquads_reader_new(NULL, false, sink);
    const enum status status = nquads_reader_descriptor(reader, descriptor, why);
    nquads_reader_free(reader);
    return status;
}

/* The last line of what it complained of; it fits into the pipe. */
static void
read_complaint(int descriptor, char *line, size_t size)
{
    char text[4096];
    const ssize_t n = read(descriptor, text, sizeof text);
    struct slice said = slice_trim(slice_of(text, n > 0 ? (size_t)n : 0));
    const char *end = said.length > 0 ? memrchr(said.at, '\n', said.length) : NULL;
    if (end != NULL) {
        said = slice_of(end + 1, (size_t)(said.at + said.length - end - 1));
    }
    snprintf(line, size, "%.*s", SLICE_PRINT(said));
}

static enum status
run_parser(const struct dump_file *file, int input, const int quads[2], const int complaints[2],
           const struct quad_sink *sink, struct reason *why)
{
    char complaint[400];
    int exited = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(quads[0]);
        parse(file, input, quads[1], complaints[1]);
    }
    close(quads[1]);
    close(complaints[1]);
    enum status status =
        pid > 0 ? read_quads(quads[0], sink, why) : status_fail_errno(why, "no process");
    close(quads[0]); /* a parser that still writes ends by this */
    if (pid > 0 && waitpid(pid, &exited, 0) == pid && status == STATUS_OK && exited != 0) {
        read_complaint(complaints[0], complaint, sizeof complaint);
        status =
            status_fail(why, STATUS_BAD_INPUT, "%.*s cannot be read: %s", SLICE_PRINT(file->uri),
                        WIFSIGNALED(exited) ? strsignal(WTERMSIG(exited)) : complaint);
    }
    close(complaints[0]);
    return status;
}

enum status
dump_read(const struct dump_file *file, const struct quad_sink *sink, struct reason *why)
{
    int quads[2], complaints[2];
    const int input = open(file->path, O_RDONLY | O_CLOEXEC);
    if (input < 0) {
        return status_fail_errno(why, "cannot open %s", file->path);
    }
    enum status status =
        pipe2(quads, O_CLOEXEC) == 0 ? STATUS_OK : status_fail_errno(why, "no pipe");
    if (status == STATUS_OK && pipe2(complaints, O_CLOEXEC) != 0) {
        status = status_fail_errno(why, "no pipe");
        close(quads[0]);
        close(quads[1]);
    }
    if (status == STATUS_OK) {
        status = run_parser(file, input, quads, complaints, sink, why);
    }
    close(input);
    return status;
}
