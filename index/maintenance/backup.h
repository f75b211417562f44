/* A copy of a partition as a stream of frames, and the folder that it becomes.
 *
 *   frame:  u8 kind and, by kind,
 *     1 FILE   s name      what follows are the bytes of this file
 *     2 BYTES  s bytes
 *     3 END                of the file
 *     4 WHOLE              of the copy; without it the copy is not one
 *
 * with s as in PROTOCOL.md. A backup's folder holds one folder for each partition, the settings,
 * and MANIFEST with a line for each file: SHA-256 in hexadecimal, TAB, bytes, TAB, path. The
 * manifest is written last. docs/BACKUP.md describes the whole procedure. */
#ifndef INDEX_MAINTENANCE_BACKUP_H
#define INDEX_MAINTENANCE_BACKUP_H

#include <stdio.h>

#include "base/buf.h"
#include "base/status.h"

enum backup_frame { BACKUP_FILE = 1, BACKUP_BYTES = 2, BACKUP_END = 3, BACKUP_WHOLE = 4 };

/* Takes a stream apart into a folder, which it makes. One thread. */
struct backup_receiver;
/* folder: for its files; name: how the manifest, which is open for writing, calls it. */
struct backup_receiver *backup_receiver_new(const char *folder, const char *name, FILE *manifest);
/* An index_piece. PROTOCOL when the stream is malformed. */
enum status backup_receive(void *receiver, struct slice bytes, struct reason *why);
/* OK when the copy is whole and on the disk. *bytes (may be NULL): how many it has. */
enum status backup_receiver_end(struct backup_receiver *receiver, uint64_t *bytes,
                                struct reason *why);
void backup_receiver_free(struct backup_receiver *receiver);

/* Copies a file, synced; adds its line to the manifest unless that is NULL. digest (may be NULL)
 * gets the SHA-256 in hexadecimal. */
enum status backup_copy_file(const char *from, const char *to, const char *name, FILE *manifest,
                             char digest[65], uint64_t *bytes, struct reason *why);

#endif
