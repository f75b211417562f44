#include "cli/import/import_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "cli/import/import_lines.h"
#include "rdf/nquads/nquads.h"
#include "rdf/rdfxml/rdfxml.h"
#include "rdf/turtle/turtle.h"

enum { PIECE_BYTES = 1 << 18, PROBLEMS_SHOWN = 5 };

struct reading {
    const struct import_source *source;
    const struct quad_sink *sinks; /* one for each thread */
    unsigned threads;
    struct archive *archive;
    int plain; /* the file itself, if it is neither packed nor an archive; or -1 */
    char member[PATH_MAX];
    uint64_t problems;
    unsigned members;
};

void
import_file_uri(const char *path, struct buf *uri)
{
    char whole[PATH_MAX];
    buf_append_string(uri, "file://");
    if (strcmp(path, "-") == 0 || realpath(path, whole) == NULL) {
        buf_append_string(uri, "/stdin");
        return;
    }
    for (const char *at = whole; *at != '\0'; at++) {
        if (strchr(" <>\"{}|\\^`%#?", *at) != NULL || (unsigned char)*at < 0x20) {
            buf_printf(uri, "%%%02X", (unsigned)(unsigned char)*at);
        } else {
            buf_append_char(uri, *at);
        }
    }
}

static void
report(void *context, const struct parse_problem *problem)
{
    struct reading *reading = context;
    if (reading->problems++ < PROBLEMS_SHOWN) {
        fprintf(stderr, "%s: line %llu: %s\n", reading->member, (unsigned long long)problem->line,
                problem->text);
    }
}

static enum status
archive_failed(struct reading *reading, struct reason *why)
{
    const char *text = archive_error_string(reading->archive);
    return status_fail(why, STATUS_BAD_INPUT, "cannot read %s: %s", reading->member,
                       text != NULL ? text : "unknown error");
}

static enum status
fill(void *context, char *bytes, size_t size, size_t *length, struct reason *why)
{
    struct reading *reading = context;
    ssize_t n;
    do {
        n = reading->plain >= 0 ? read(reading->plain, bytes, size)
                                : archive_read_data(reading->archive, bytes, size);
    } while (n < 0 && reading->plain >= 0 && errno == EINTR);
    *length = n > 0 ? (size_t)n : 0;
    if (n < 0 && reading->plain >= 0) {
        return status_fail_errno(why, "cannot read it");
    }
    return n < 0 ? archive_failed(reading, why) : STATUS_OK;
}

static enum status
next_piece(struct reading *reading, char *piece, struct slice *bytes, struct reason *why)
{
    size_t length;
    TRY(fill(reading, piece, PIECE_BYTES, &length, why));
    *bytes = slice_of(piece, length);
    return length > 0 ? STATUS_OK : STATUS_END;
}

static enum status
read_lines(struct reading *reading, bool triples, const struct parse_options *options, char *piece,
           struct reason *why)
{
    struct nquads_reader *reader = nquads_reader_new(options, triples, reading->sinks);
    struct slice bytes;
    enum status status;
    while ((status = next_piece(reading, piece, &bytes, why)) == STATUS_OK &&
           (status = nquads_reader_feed(reader, bytes, why)) == STATUS_OK) {
    }
    if (status == STATUS_END) {
        status = nquads_reader_finish(reader, why);
    }
    nquads_reader_free(reader);
    return status;
}

static enum status
read_lines_by_threads(struct reading *reading, bool triples, const struct parse_options *options,
                      struct reason *why)
{
    const struct import_lines lines = {.fill = fill,
                                       .context = reading,
                                       .triples = triples,
                                       .options = options,
                                       .sinks = reading->sinks,
                                       .threads = reading->threads};
    return import_lines(&lines, why);
}

/* NULL: the format is read whole. */
static rdf_read_function *
streaming_reader(enum rdf_format format)
{
    switch (format) {
    case RDF_FORMAT_TURTLE:
        return turtle_read;
    case RDF_FORMAT_TRIG:
        return trig_read;
    case RDF_FORMAT_XML:
        return rdfxml_read;
    default:
        return NULL;
    }
}

static enum status
read_whole(struct reading *reading, enum rdf_format format, const struct parse_options *options,
           char *piece, struct reason *why)
{
    struct buf text;
    struct slice bytes;
    enum status status;
    buf_init(&text, RDF_WHOLE_MAXIMUM);
    while ((status = next_piece(reading, piece, &bytes, why)) == STATUS_OK) {
        buf_append_slice(&text, bytes);
    }
    if (text.overflowed) {
        status =
            status_fail(why, STATUS_LIMIT,
                        "%s has more than %d bytes, and documents of its syntax are read whole",
                        reading->member, RDF_WHOLE_MAXIMUM);
    } else if (status == STATUS_END) {
        status = rdf_parse(format, buf_slice(&text), options, reading->sinks, why);
    }
    buf_release(&text);
    return status;
}

static enum status
parse_member(struct reading *reading, enum rdf_format format, const struct parse_options *options,
             char *piece, struct reason *why)
{
    const bool triples = format == RDF_FORMAT_NTRIPLES;
    if (!triples && format != RDF_FORMAT_NQUADS) {
        const struct rdf_source input = {fill, reading};
        rdf_read_function *read = streaming_reader(format);
        return read != NULL ? read(&input, options, reading->sinks, why)
                            : read_whole(reading, format, options, piece, why);
    }
    return reading->threads > 1 ? read_lines_by_threads(reading, triples, options, why)
                                : read_lines(reading, triples, options, piece, why);
}

/* Labels of one document mean nothing in another: from an archive's second member on they are made
 * others. One for each sink. */
struct relabelled {
    const struct quad_sink *sink;
    unsigned member;
    struct buf labels;
};

static size_t
append_label(struct relabelled *relabelled, const struct term *term)
{
    const size_t from = relabelled->labels.length;
    if (term->kind == TERM_BLANK) {
        buf_printf(&relabelled->labels, "m%ux", relabelled->member);
        buf_append_slice(&relabelled->labels, term->value);
    }
    return relabelled->labels.length - from;
}

static enum status
take_relabelled(void *context, const struct quad *quad, struct reason *why)
{
    struct relabelled *relabelled = context;
    struct quad other = *quad;
    struct term *terms[] = {&other.subject, &other.object, &other.graph};
    size_t lengths[3];
    buf_reset(&relabelled->labels);
    for (size_t i = 0; i < 3; i++) {
        lengths[i] = append_label(relabelled, terms[i]);
    }
    const char *at = relabelled->labels.data;
    for (size_t i = 0; i < 3; i++) {
        terms[i]->value = lengths[i] > 0 ? slice_of(at, lengths[i]) : terms[i]->value;
        at += lengths[i];
    }
    return relabelled->sink->quad(relabelled->sink->context, &other, why);
}

static enum status
parse_relabelled(struct reading *reading, enum rdf_format format,
                 const struct parse_options *options, char *piece, struct reason *why)
{
    const unsigned count = reading->threads;
    const struct quad_sink *sinks = reading->sinks;
    struct relabelled *others = memory_zero(count, sizeof *others);
    struct quad_sink *wrapped = memory_zero(count, sizeof *wrapped);
    for (unsigned i = 0; i < count; i++) {
        others[i] = (struct relabelled){.sink = &sinks[i], .member = reading->members};
        buf_init(&others[i].labels, SIZE_MAX / 2);
        wrapped[i] = (struct quad_sink){take_relabelled, &others[i]};
    }
    reading->sinks = wrapped;
    const enum status status = parse_member(reading, format, options, piece, why);
    reading->sinks = sinks;
    for (unsigned i = 0; i < count; i++) {
        buf_release(&others[i].labels);
    }
    free(others);
    free(wrapped);
    return status;
}

static enum status
read_member(struct reading *reading, char *piece, struct reason *why)
{
    const struct import_source *source = reading->source;
    enum rdf_format format = source->format;
    struct buf base;
    if (format == RDF_FORMAT_NONE) {
        format = rdf_format_of_file(slice_string(reading->member));
    }
    if (format == RDF_FORMAT_NONE) {
        return STATUS_OK; /* a README in an archive */
    }
    reading->members++;
    buf_init(&base, 4 * PATH_MAX);
    import_file_uri(source->path, &base);
    const struct parse_options options = {.base = source->base.length > 0 ? source->base
                                                                          : buf_slice(&base),
                                          .lenient = source->lenient,
                                          .problems = {report, reading}};
    struct reason problem;
    const enum status status = reading->members > 1
                                   ? parse_relabelled(reading, format, &options, piece, &problem)
                                   : parse_member(reading, format, &options, piece, &problem);
    if (status != STATUS_OK) {
        status_fail(why, status, "%s: %s", reading->member, problem.text);
    }
    buf_release(&base);
    return status;
}

/* What is not packed need not pass through libarchive, which would copy it. */
static void
open_plain(struct reading *reading)
{
    const char *path = reading->source->path;
    if (archive_format(reading->archive) == ARCHIVE_FORMAT_RAW &&
        archive_filter_count(reading->archive) == 1 && strcmp(path, "-") != 0) {
        struct stat status;
        reading->plain = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (reading->plain >= 0 &&
            (fstat(reading->plain, &status) != 0 || !S_ISREG(status.st_mode))) {
            close(reading->plain); /* a pipe's beginning is read */
            reading->plain = -1;
        }
    }
}

/* The name of a member, or of the file where it is no archive. NULL: what is no file. */
static const char *
member_name(struct archive *archive, struct archive_entry *entry, const char *path)
{
    const char *name = archive_entry_pathname(entry);
    if (archive_format(archive) == ARCHIVE_FORMAT_RAW || name == NULL) {
        return path;
    }
    return archive_entry_filetype(entry) == AE_IFREG ? name : NULL;
}

static enum status
no_syntax(const char *path, struct reason *why)
{
    return status_fail(why, STATUS_MISUSE,
                       "%s: its name tells no RDF syntax; say --format turtle or the like", path);
}

static enum status
read_members(struct reading *reading, struct reason *why)
{
    const char *path = reading->source->path;
    struct archive_entry *entry;
    char *piece = malloc(PIECE_BYTES);
    enum status status = piece != NULL ? STATUS_OK : status_fail(why, STATUS_SYSTEM, "no memory");
    int code = ARCHIVE_OK;
    while (status == STATUS_OK) {
        code = archive_read_next_header(reading->archive, &entry);
        if (code == ARCHIVE_EOF) {
            break;
        }
        snprintf(reading->member, sizeof reading->member, "%s", path);
        if (code < ARCHIVE_WARN) {
            status = archive_failed(reading, why);
            break;
        }
        const char *name = member_name(reading->archive, entry, path);
        if (name == NULL) {
            continue;
        }
        snprintf(reading->member, sizeof reading->member, "%s", name);
        open_plain(reading);
        status = read_member(reading, piece, why);
    }
    file_close(reading->plain);
    free(piece);
    if (status == STATUS_OK && reading->members == 0) {
        status = no_syntax(path, why);
    }
    return status;
}

/* Standard input by no other calls than these two: they are all that a sandbox allows. */
static la_ssize_t
read_standard(struct archive *archive, void *context, const void **bytes)
{
    char *piece = context;
    ssize_t n;
    do {
        n = read(STDIN_FILENO, piece, PIECE_BYTES);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        archive_set_error(archive, errno, "%s", strerror(errno));
    }
    *bytes = piece;
    return n;
}

static la_int64_t
seek_standard(struct archive *archive, void *context, la_int64_t offset, int whence)
{
    (void)context;
    const off_t at = lseek(STDIN_FILENO, offset, whence);
    if (at < 0) {
        archive_set_error(archive, errno, "%s", strerror(errno));
    }
    return at < 0 ? ARCHIVE_FATAL : at;
}

static int
open_standard(struct archive *archive, char *piece)
{
    if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0) {
        archive_read_set_seek_callback(archive, seek_standard);
    }
    return archive_read_open(archive, piece, NULL, read_standard, NULL);
}

static struct archive *
archive_new(void)
{
    struct archive *archive = archive_read_new();
    archive_read_support_filter_all(archive);
    archive_read_support_format_raw(archive);
    archive_read_support_format_tar(archive);
    archive_read_support_format_zip(archive);
    archive_read_support_format_empty(archive);
    return archive;
}

enum status
import_read(const struct import_source *source, const struct quad_sink *sink, uint64_t *problems,
            struct reason *why)
{
    struct reading reading = {.source = source,
                              .sinks = source->threads > 1 ? source->sinks : sink,
                              .threads = source->threads > 1 ? source->threads : 1,
                              .archive = archive_new(),
                              .plain = -1};
    snprintf(reading.member, sizeof reading.member, "%s", source->path);
    char *piece = malloc(PIECE_BYTES);
    if (piece == NULL) {
        archive_read_free(reading.archive);
        return status_fail(why, STATUS_SYSTEM, "no memory");
    }
    const int opened = strcmp(source->path, "-") == 0
                           ? open_standard(reading.archive, piece)
                           : archive_read_open_filename(reading.archive, source->path, PIECE_BYTES);
    const enum status status =
        opened == ARCHIVE_OK ? read_members(&reading, why) : archive_failed(&reading, why);
    archive_read_free(reading.archive);
    free(piece);
    if (problems != NULL) {
        *problems += reading.problems;
    }
    return status;
}

enum status
import_look(const char *path, struct reason *why)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return STATUS_OK;
    }
    struct archive_entry *entry;
    struct archive *archive = archive_new();
    int code = archive_read_open_filename(archive, path, PIECE_BYTES);
    bool found = false;
    while (code >= ARCHIVE_WARN && code != ARCHIVE_EOF && !found) {
        code = archive_read_next_header(archive, &entry);
        const char *name =
            code >= ARCHIVE_WARN && code != ARCHIVE_EOF ? member_name(archive, entry, path) : NULL;
        found = name != NULL && rdf_format_of_file(slice_string(name)) != RDF_FORMAT_NONE;
    }
    archive_read_free(archive);
    return code == ARCHIVE_EOF && !found ? no_syntax(path, why) : STATUS_OK;
}
