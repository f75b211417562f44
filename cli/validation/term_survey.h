/* The properties and classes of a document or of a site, of the documents that define them, and so
 * on to the end, each judged by the rules. One thread. */
#ifndef CLI_VALIDATION_TERM_SURVEY_H
#define CLI_VALIDATION_TERM_SURVEY_H

#include "cli/shared/cli.h"
#include "cli/validation/document_facts.h"
#include "cli/validation/term_rules.h"

enum {
    SURVEY_TERMS = 2000,      /* of all documents together */
    SURVEY_VOCABULARIES = 64, /* whose own terms are looked at */
    SURVEY_PAGES = 1000       /* of a site that are read */
};

struct surveyed_term {
    struct term_facts facts;
    uint64_t uses, line;   /* statements; of the first one, 0: unknown */
    struct slice document; /* the first that uses it */
    unsigned depth; /* 0: the document or site itself uses it; else so many vocabularies on */
    struct rule_verdict verdicts[TERM_RULES];
    enum report_severity severity; /* the worst of what failed or is untold */
    bool untold;                   /* it is not known whether its address is right */
};

struct term_survey {
    struct arena arena;
    struct facts_reader reader;
    struct surveyed_term *terms; /* after term_survey_judge: worst first, then by IRI */
    size_t count;
    struct map places;
    size_t documents; /* that use terms, vocabularies among them */
    bool cut;         /* by one of the limits */
    /* NULL: servers are not asked, all is what the crawl has seen. */
    struct web_client *client;
    const struct offline_settings *settings; /* of the documents that they answer with */
};

void term_survey_init(struct term_survey *survey, struct metastore_client *metastore,
                      struct index_client *index);
void term_survey_release(struct term_survey *survey);

/* A statement of a document whose terms are to be judged; line 0: unknown. */
void term_survey_statement(struct term_survey *survey, const struct quad *quad,
                           struct slice document, uint64_t line, unsigned depth);
/* One term that is to be judged whoever uses it. */
void term_survey_add(struct term_survey *survey, struct slice iri);
/* All statements that the index has of a document. */
enum status term_survey_document(struct term_survey *survey, struct slice document, unsigned depth,
                                 struct reason *why);
/* Looks everything up, also the terms of the vocabularies, and judges. */
enum status term_survey_judge(struct term_survey *survey, struct reason *why);

#endif
