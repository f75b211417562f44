/* Dates as people and feeds write them, to xsd:dateTime. */
#ifndef TRANSFORMS_COMMON_DATES_H
#define TRANSFORMS_COMMON_DATES_H

#include <stdbool.h>

#include "base/slice.h"

enum { DATE_TEXT_SIZE = 32 };

/* RFC 822/2822/5322 ("Sat, 07 Sep 2002 00:00:01 GMT", two-digit years, names of zones),
 * RFC 850, asctime, and ISO 8601/W3CDTF with any of its precisions. The offset is kept as
 * written; without one "Z" is taken. A date alone gives xsd:date's form in *text and *has_time
 * false. False: no date. */
bool date_parse(struct slice text, char result[DATE_TEXT_SIZE], bool *has_time);

#endif
