/* Values that many give and that identify nobody. */
#ifndef IDENTITY_REFUSED_VALUES_H
#define IDENTITY_REFUSED_VALUES_H

#include <stdbool.h>

#include "rdf/core/term.h"

/* property: the IRI of the identifying property, empty for any. */
bool value_is_refused(struct slice property, const struct term *value);

#endif
