/* The next visit of a document: from what one visit found to a job in the future. docs/RECRAWL.md.
 *
 * Fetch reads what is known of a document and hands it on with the document (struct
 * document_visit); whichever stage finds out what became of it calls schedule_visit(), before or
 * while its batch is flushed. The job that it puts is an output of the job that ends, so there is
 * one, whatever crashes. */
#ifndef STAGES_SKELETON_VISIT_SCHEDULE_H
#define STAGES_SKELETON_VISIT_SCHEDULE_H

#include "stages/skeleton/stage.h"

extern const struct opt recrawl_options[];

/* When a document that is gone is asked for once more. */
uint64_t schedule_confirm_ms(const struct opt_set *options);

enum visit_outcome {
    VISIT_CHANGED,
    VISIT_UNCHANGED,
    VISIT_NOTHING,    /* it says nothing that could be kept */
    VISIT_FAILED,     /* not known: no answer, or not allowed */
    VISIT_PUT_OFF,    /* not made: its sitemap says that it has not changed */
    VISIT_GONE_MAYBE, /* to be confirmed */
    VISIT_GONE
};

/* data: of the next job, as struct job's. */
void schedule_visit(struct stage_job *job, const struct document_visit *visit,
                    enum visit_outcome outcome, struct slice data);

#endif
