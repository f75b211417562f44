/* An identity that is being found: what each part of the reasoner keeps of what it has read. The
 * files that the parts are named for own them; others call their functions. identity.c owns the
 * rest. */
#ifndef IDENTITY_IDENTITY_STATE_H
#define IDENTITY_IDENTITY_STATE_H

#include "identity/authority.h"
#include "identity/meaning.h"
#include "identity/reading.h"
#include "identity/schema.h"
#include "identity/vocabulary.h"
#include "index/query/memory/deadline.h"

struct identity {
    struct identity_settings settings; /* with defaults filled in; constant */
    struct deadline deadline;
    struct arena arena;
    struct map term_places; /* terms that were resolved */
    struct term *terms;
    size_t term_count;
    struct vocabulary vocabulary;
    struct schemas schemas;
    struct authorities authorities;
    struct meanings meanings;
    struct identity_counts counts; /* each by the part that does what is counted */
};

#endif
