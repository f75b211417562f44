/* The Reconciliation Service API (https://www.w3.org/community/reports/reconciliation/), version
 * 0.2 at /reconcile and 1.0-draft below /reconcile/1.0: which of the index's resources a name and
 * values may mean. Identifiers of entities, types and properties are IRIs.
 *
 * A candidate is found by the words of its name, all of them or else any, or by a value of a
 * property. Its score is from 0 to 100: the mean of how alike the names are (words in common: twice
 * their number by the number of all) and of 0 or 100 for each property that was asked for. The
 * parts are told as features. A match is certain when its score is 90 or more and no other's is. */
#ifndef WEB_API_RECONCILE_H
#define WEB_API_RECONCILE_H

#include "web/api/find.h"

enum {
    RECONCILE_QUERIES = 100,
    RECONCILE_PROPERTIES = 16,
    RECONCILE_LIMIT = 10,
    RECONCILE_LIMIT_MOST = 50
};

/* A question in either version's terms. */
struct reconcile_value {
    struct slice property; /* IRI or name with a usual prefix */
    const json_t *values;  /* a value or an array of them */
    bool required;
};
struct reconcile_query {
    struct slice name;
    const json_t *types; /* a string, or an array of them; NULL: any */
    struct reconcile_value values[RECONCILE_PROPERTIES];
    size_t value_count, limit;
};

/* Fills *candidates with an array of candidates, the best first. features_named: they have names,
 * as version 1.0 wants. */
enum status reconcile_run(struct web_service *service, const struct web_query *query,
                          const struct reconcile_query *asked, bool features_named,
                          json_t **candidates, struct reason *why);
/* The name at the end of an IRI, as text. */
struct slice reconcile_local_name(struct slice iri);
/* Takes the object; NULL: nothing is sent. */
void reconcile_reply(struct web_reply *reply, json_t *object);

#endif
