/* WARC 1.1 (ISO 28500:2017): the content store. docs/WARC.md says what we write and why.
 *
 * Every record is a gzip member of its own, so (file, offset, length) finds it without reading
 * what stands before. A writer owns its file: the name holds time, serial, node and process, it
 * is created exclusively, and after a restart a new one is begun; nothing is ever rewritten. A
 * writer that was killed leaves at worst a torn last member, which no location points to, and
 * which scanning reports as END with `torn` set.
 *
 * Nothing is durable before warc_sync returns: write many, sync once, then tell others.
 */
#ifndef WARC_WARC_H
#define WARC_WARC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/slice.h"
#include "base/status.h"

/* warc.size, warc.level, ... */
extern const struct opt warc_options[];

enum {
    WARC_FILE_SIZE = 200,           /* a file's name with NUL */
    WARC_ID_SIZE = 48,              /* "urn:uuid:…" with NUL */
    WARC_HEADER_MAXIMUM = 64 << 10, /* bytes of a record's own header */
    WARC_HTTP_HEADER_MAXIMUM = 1 << 20
};

/* ---- writing; one thread per writer ---- */

struct warc_writer;

struct warc_writer_options {
    const char *prefix;  /* "quadrille" */
    const char *node;    /* name in cluster.conf */
    const char *process; /* worker name: "fetch.1" */
    uint64_t size;       /* a file that has reached this many bytes is followed by another */
    int level;           /* zlib 0..9 */
    const char *operator_contact; /* warcinfo; "" or NULL: left out */
    const char *user_agent;       /* warcinfo; may be NULL */
};

/* Fills the options from warc_options and fetch.from; the strings belong to the set. */
void warc_writer_options_from(struct warc_writer_options *options, const struct opt_set *set);

/* Tells where a record went. */
struct warc_location {
    char file[WARC_FILE_SIZE]; /* name inside the directory */
    char id[WARC_ID_SIZE];     /* WARC-Record-ID without <> */
    uint64_t offset;
    uint64_t length; /* bytes of the gzip member */
};

/* Makes the directory when missing. A file is only created by the first record. */
enum status warc_writer_open(struct warc_writer **writer, const char *directory,
                             const struct warc_writer_options *options, struct reason *why);
/* Syncs and closes. NULL is allowed. */
enum status warc_writer_close(struct warc_writer *writer, struct reason *why);

struct warc_exchange {
    struct slice uri;             /* absolute */
    struct slice request;         /* request line and headers, CR LF CR LF at the end */
    struct slice response_header; /* status line and headers as received, CR LF CR LF at the end */
    struct slice body;            /* transfer-decoded, still content-encoded */
    struct slice ip;              /* "192.0.2.1"; empty: unknown */
    struct slice protocol;        /* "h2" when it was not HTTP/1.x; else empty */
    struct slice truncated;       /* "length", "time", "disconnect"; empty: whole */
    uint64_t date_ms;             /* wall time of the request */
};
/* Appends a response record, then its request record (concurrent to it). The location is the
 * response's, where it is after the next warc_sync, often not before. FULL when the disk is: the
 * file is then cut back to its last whole record, and this one is not in the archive. */
enum status warc_write_exchange(struct warc_writer *writer, const struct warc_exchange *exchange,
                                struct warc_location *location, struct reason *why);

/* A resource that came without HTTP: a file by FTP. */
struct warc_resource {
    struct slice uri;
    struct slice content_type; /* of the body */
    struct slice body;
    struct slice dialogue;  /* commands and replies, lines */
    struct slice ip;        /* as above */
    struct slice truncated; /* as above */
    uint64_t date_ms;
};
/* Appends a resource record, then its dialogue as a metadata record (concurrent to it). As above.
 */
enum status warc_write_resource(struct warc_writer *writer, const struct warc_resource *resource,
                                struct warc_location *location, struct reason *why);

/* A conversion of an earlier record: body of the given media type. */
struct warc_conversion {
    struct slice uri;
    struct slice refers_to;    /* WARC-Record-ID of the original without <>; may be empty */
    struct slice content_type; /* "application/n-quads" */
    struct slice body;
    uint64_t date_ms;
};
enum status warc_write_conversion(struct warc_writer *writer,
                                  const struct warc_conversion *conversion,
                                  struct warc_location *location, struct reason *why);

/* Makes the record as the one above does, and leaves it to the caller: *member, its bytes, lives
 * until the writer is used again. Nothing is written, so a writer that does nothing else has no
 * file. */
enum status warc_pack_conversion(struct warc_writer *writer,
                                 const struct warc_conversion *conversion, char id[WARC_ID_SIZE],
                                 struct slice *member, struct reason *why);
/* Appends a record that warc_pack_conversion of another process made. FULL as above; CORRUPT: it is
 * none. */
enum status warc_append_member(struct warc_writer *writer, struct slice member, struct slice id,
                               struct warc_location *location, struct reason *why);

/* Appends a record that another file of the directory has, byte for byte; id: its own. CORRUPT when
 * there is none. */
enum status warc_copy_record(struct warc_writer *writer, struct slice file, uint64_t offset,
                             uint64_t length, struct slice id, struct warc_location *location,
                             struct reason *why);

/* All records written so far are on disk when this returns OK. FULL: they wait in memory, nothing
 * is lost, and the call may be repeated when there is room. */
enum status warc_sync(struct warc_writer *writer, struct reason *why);

/* ---- reading; one thread per reader ---- */

struct warc_record {
    struct slice type;         /* "response", "conversion", ... */
    struct slice uri;          /* WARC-Target-URI */
    struct slice date;         /* as written */
    struct slice id;           /* without <> */
    struct slice refers_to;    /* without <>; conversion */
    struct slice content_type; /* of the block: "application/http;msgtype=response" */
    struct slice payload_digest;
    struct slice truncated;
    struct slice header;           /* the whole WARC header block */
    uint16_t http_status;          /* of a response; 0: none */
    struct slice http_header;      /* of a response or request: first line and headers */
    struct slice payload;          /* the block after the HTTP header, as stored */
    struct slice body;             /* payload after Content-Encoding is undone */
    struct slice encoding_problem; /* why body is short or still encoded; empty: none */
    bool body_truncated;           /* decoding stopped at the limit or at damage */
};

struct warc_limits {
    size_t record;  /* bytes of the record after the member's gzip; 0: 256 MiB */
    size_t body;    /* bytes of the decoded body; 0: as record */
    bool encoded;   /* the body stays as it is stored: Content-Encoding is not undone */
    uint32_t ratio; /* decoded body against its encoded bytes; 0: 1000; small bodies are exempt */
};

/* Keeps some files open between readings, also those that grow. */
struct warc_reader;
struct warc_reader *warc_reader_open(const char *directory, const struct warc_limits *limits);
void warc_reader_close(struct warc_reader *reader); /* NULL is allowed */
/* Closes the files that were not read from since the last call, so that the space of those that
 * were removed is free. False when none is open. */
bool warc_reader_rest(struct warc_reader *reader);

/* Reads one record. Its slices point into memory (a buf_init'ed buffer, which is reset) until
 * the buffer is used again. NOT_FOUND: no such file; CORRUPT: no whole record there; LIMIT: the
 * record is larger than allowed. An undecodable body is not an error: see encoding_problem. */
enum status warc_read(struct warc_reader *reader, struct slice file, uint64_t offset,
                      uint64_t length, struct buf *memory, struct warc_record *record,
                      struct reason *why);
/* Reads a record from bytes of its member that came another way (a Range request). Thread-safe. */
enum status warc_read_member(struct slice member, const struct warc_limits *limits,
                             struct buf *memory, struct warc_record *record, struct reason *why);

/* A value of an HTTP header block by name (any case), trimmed; {NULL, 0} when absent. */
struct slice warc_http_header(struct slice http_header, const char *name);

/* Undoes Content-Encoding: gzip, deflate (zlib or raw), br, zstd, identity, and chains of them.
 * Appends to out up to its maximum; what could be decoded stays there. LIMIT at the maximum or
 * ratio, CORRUPT on damage, UNSUPPORTED for a coding that is not known. */
enum status warc_decode(struct slice content_encoding, struct slice bytes, uint32_t ratio,
                        struct buf *out, struct reason *why);

#endif
