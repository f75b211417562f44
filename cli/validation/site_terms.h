/* The terms of a whole site, for the validation and for reports. */
#ifndef CLI_VALIDATION_SITE_TERMS_H
#define CLI_VALIDATION_SITE_TERMS_H

#include "cli/validation/term_survey.h"

/* Surveys the first SURVEY_PAGES indexed pages whose URIs begin with one of the prefixes, each of
 * which is "http://..." or the like. */
enum status term_survey_prefixes(struct term_survey *survey, const char *const *prefixes,
                                 size_t count, struct reason *why);
/* site: a host, or the begin of URIs without their scheme. NOT_FOUND: nothing is indexed of it. */
enum status term_survey_site(struct term_survey *survey, const char *site, struct reason *why);

#endif
