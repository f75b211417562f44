/* Requests to the query service: verbs and bytes. PROTOCOL.md has the grammar and the states. */
#ifndef INDEX_PROTOCOL_SERVICE_PROTOCOL_H
#define INDEX_PROTOCOL_SERVICE_PROTOCOL_H

#include "base/codec.h"
#include "index/terms/oid.h"
#include "rdf/core/term.h"

enum index_verb {
    INDEX_VERB_STATS = 1,
    INDEX_VERB_LINKS = 2,
    INDEX_VERB_ESTIMATE = 3,
    INDEX_VERB_OPEN = 4,
    INDEX_VERB_NEXT = 5,
    INDEX_VERB_CLOSE = 6,
    INDEX_VERB_CHANGE = 7,
    INDEX_VERB_END = 8,
    INDEX_VERB_POSITION = 9,
    INDEX_VERB_STAR = 10
};

/* The kinds of answers that a cursor streams. */
enum index_stream {
    INDEX_STREAM_QUERY = 1,        /* an answer in the format asked for */
    INDEX_STREAM_PATTERN = 2,      /* N-Quads lines */
    INDEX_STREAM_SEARCH = 3,       /* lines of index_search */
    INDEX_STREAM_LITERALS = 4,     /* literals that match: score TAB literal */
    INDEX_STREAM_DUMP = 5,         /* N-Quads lines, sorted */
    INDEX_STREAM_VERIFY = 6,       /* report lines */
    INDEX_STREAM_BACKUP = 7,       /* frames of index/maintenance/backup.h */
    INDEX_STREAM_COMPACT = 8,      /* report lines */
    INDEX_STREAM_COUNTS = 9,       /* lines of partition_counts */
    INDEX_STREAM_ROWS = 10,        /* rows of many patterns */
    INDEX_STREAM_CHANGES = 11,     /* lines of index/serve/change_lines.h */
    INDEX_STREAM_SHARE = 12,       /* rows of a part of a query */
    INDEX_STREAM_FIND = 13,        /* statements of a lookup */
    INDEX_STREAM_DESCRIBE = 14,    /* what little is said of each of many resources */
    INDEX_STREAM_TRIPLES = 15,     /* how many triples match, and which others may have */
    INDEX_STREAM_LAST_CHANGE = 16, /* of one document, as CHANGES has it */
    INDEX_STREAM_KEYS = 17         /* hashes of the nodes, to find those of several partitions */
};

/* Flags of a piece. */
enum { INDEX_PIECE_END = 1 };

enum { INDEX_PIECE_BYTES = 512 << 10 }; /* most bytes of one piece */
enum { INDEX_STAR_PARTS = 1000 };       /* numbers of a STAR are in thousandths */

/* The flags of the stream ROWS; below, what may stand for a term in its patterns, and how its rows
 * name terms. */
enum { INDEX_ROWS_BEGIN = 1, INDEX_ROWS_NO_GRAPHS = 2, INDEX_ROWS_KEYS = 4 };
enum { INDEX_PLACE_OID = 4, INDEX_PLACE_AS_BEFORE = 5, INDEX_PLACE_SHARED = 6 };
enum { INDEX_NAME_NEW = 0, INDEX_NAME_FORGET = 1, INDEX_NAME_FIRST = 2 };

/* The kinds of the stream FIND; scores are in so many parts of 1. */
enum { INDEX_FIND_PATTERNS = 0, INDEX_FIND_WORDS = 1 };
enum { INDEX_SCORE_PARTS = 10000 };
/* Most predicates of the stream DESCRIBE. */
enum { INDEX_DESCRIBED_PREDICATES = 64 };

/* Returns whether a name is followed by its term: those of identifiers that are stored, or that
 * stand for what a query computed. Others are inline, or OID_NONE, which is nothing. */
static inline bool
index_name_has_term(oid id)
{
    return oid_is_stored(id) || id >= OID_LOCAL;
}

void index_put_term(struct buf *out, const struct term *term);
/* False when it is malformed; slices point into the request. */
bool index_get_term(struct codec_reader *in, struct term *term);
void index_put_pattern(struct buf *out, const struct quad *pattern);
bool index_get_pattern(struct codec_reader *in, struct quad *pattern);

#endif
