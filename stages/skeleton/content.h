/* Archived records, wherever they are: this node's from DIR/warc, another node's over
 * the encrypted link to its metadata daemon, or in a cluster without keys from its quadrille-web by
 * one Range request. One thread per object. */
#ifndef STAGES_SKELETON_CONTENT_H
#define STAGES_SKELETON_CONTENT_H

#include "queue/cluster/cluster.h"
#include "stages/skeleton/document.h"
#include "warc/warc.h"

struct content;
struct stage_run;

/* cluster must outlive *content. */
enum status content_open(struct content **content, const char *directory,
                         const struct cluster *cluster, const struct warc_limits *limits,
                         struct reason *why);
void content_close(struct content *content); /* NULL is allowed */
/* For stages: WARC files that are not read from for some seconds are closed. */
void content_close_files(struct content *content, struct stage_run *run);
/* Says which record of its document a job will read: where the archive is another node's, those of
 * waiting jobs are then asked for by the same message. After content_close_files. */
typedef const struct document_record *content_wanted(const struct document *document);
void content_read_ahead(struct content *content, content_wanted *wanted);

/* *record points into memory (buf_init'ed; reset here). Statuses are those of warc_read; SYSTEM and
 * TIMEOUT are worth another try; UNAVAILABLE: the node that has it does not answer, which is found
 * out by waiting once, then known. */
enum status content_read(struct content *content, const struct document_record *where,
                         struct buf *memory, struct warc_record *record, struct reason *why);
struct stage_job;
/* Ends a job whose content was not read: it is put off, released, or buried, by the status. */
void content_refused(struct stage_job *job, enum status status, const struct reason *why);

#endif
