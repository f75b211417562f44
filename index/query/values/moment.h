/* xsd:dateTime, xsd:date, xsd:time and durations as numbers.
 * Source: https://www.w3.org/TR/xmlschema11-2/ sections 3.3.6 to 3.3.9 and appendix E.3.
 */
#ifndef INDEX_QUERY_VALUES_MOMENT_H
#define INDEX_QUERY_VALUES_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "index/query/values/decimal.h"

struct moment {
    int64_t year;
    int month, day, hour, minute;
    struct decimal second;
    bool has_zone;
    int zone; /* minutes east of UTC */
};

enum moment_kind { MOMENT_DATE_TIME, MOMENT_DATE, MOMENT_TIME };
/* False when text is no value of the type. */
bool moment_parse(struct slice text, enum moment_kind kind, struct moment *out);
/* Seconds of a moment with a zone from a fixed time on, to some milliseconds; NaN without one. */
double moment_seconds(const struct moment *moment);
/* -1, 0, 1; 2 when one has no zone and the order depends on it. */
int moment_compare(const struct moment *a, const struct moment *b);

/* Months and seconds: yearMonthDuration has no seconds, dayTimeDuration no months. */
struct duration {
    int64_t months;
    struct decimal seconds;
};
bool duration_parse(struct slice text, struct duration *out);

#endif
