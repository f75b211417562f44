/* Files of RDF for import: plain, compressed or archives, by libarchive. */
#ifndef CLI_IMPORT_IMPORT_FILES_H
#define CLI_IMPORT_IMPORT_FILES_H

#include "base/buf.h"
#include "rdf/format.h"

struct import_source {
    const char *path;       /* "-": standard input */
    enum rdf_format format; /* NONE: by the names of file and members */
    struct slice base;      /* for relative IRIs; empty: the file's URI */
    bool lenient;           /* skip what is malformed, and count it */
    /* With several, N-Triples and N-Quads are parsed by as many threads, each into one of these;
     * other syntaxes go to the first. threads up to 1: none of
     * this, the sink of import_read. */
    const struct quad_sink *sinks;
    unsigned threads;
};

/* Parses each member of the file that has a known format. gzip, bzip2, xz, zstd, zip and tar are
 * undone. N-Triples, N-Quads, Turtle, TriG and RDF/XML stream; N3, TriX and JSON-LD are
 * read whole. *problems (may be NULL)
 * counts what was skipped; the first ones are printed on stderr. */
enum status import_read(const struct import_source *source, const struct quad_sink *sink,
                        uint64_t *problems, struct reason *why);
/* Before anything is made for them: whether a file, or a member of it, has a name that tells its
 * syntax (MISUSE if not). Anything but a regular file, and what cannot be read, is left to
 * import_read. */
enum status import_look(const char *path, struct reason *why);
/* "file:///..." of a path. */
void import_file_uri(const char *path, struct buf *uri);

#endif
