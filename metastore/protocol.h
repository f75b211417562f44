/* Verbs and limits that daemon and client share: FORMAT.md, "Messages". */
#ifndef METASTORE_PROTOCOL_H
#define METASTORE_PROTOCOL_H

enum metastore_verb {
    METASTORE_PUT = 1,
    METASTORE_GET = 2,
    METASTORE_SCAN = 3,
    METASTORE_STATS = 4,
    METASTORE_ARCHIVE = 5,
    METASTORE_KEEP = 6
};

enum {
    METASTORE_ENTRIES_MAXIMUM = 65536,  /* in one request */
    METASTORE_REPLY_ENOUGH = 8 << 20,   /* a reply ends after the entry that passes this */
    METASTORE_REPLY_MAXIMUM = 48 << 20, /* and is never longer */
    /* bytes of a WARC file that one request reads, so that the daemon answers others in between */
    ARCHIVE_PIECE = 1 << 20,
    METASTORE_KEEP_MAXIMUM = 63 << 20 /* bytes of a record that is to be kept */
};

#endif
