/* Dumps of others: unpacked and parsed in the sandbox, by a process that has nothing but the file
 * and a pipe; what comes out of it are N-Quads, parsed strictly. */
#ifndef CLI_SHARED_DUMP_READER_H
#define CLI_SHARED_DUMP_READER_H

#include "rdf/format.h"

struct dump_file {
    const char *path;
    struct slice uri;       /* base of its relative IRIs; its name tells the syntax */
    enum rdf_format format; /* when the name does not; may be NONE */
};

/* All statements go to the sink; malformed ones are left out. BAD_INPUT: it is damaged, or in no
 * known syntax. */
enum status dump_read(const struct dump_file *file, const struct quad_sink *sink,
                      struct reason *why);

#endif
