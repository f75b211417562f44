/* This part finds what properties and classes mean, from their own documents and those of the
 * context alone. A document is believed about a term only in the direction that changes what the
 * term itself implies; so nobody changes what others mean by theirs. */
#ifndef IDENTITY_MEANING_H
#define IDENTITY_MEANING_H

#include "base/map.h"
#include "identity/identity.h"

enum { CLOSURE_MOST = 256 }; /* properties or classes that one leads to */

/* A property that another implies where that is used: each statement with it implies one with each
 * of these, its subject and object exchanged if inverted. */
struct implied {
    oid property;
    bool inverted, functional, inverse_functional;
    oid functional_by, inverse_functional_by; /* the documents that say so */
};
/* A class of the statement's subject or object, by domain or range. */
struct implied_class {
    oid class;
    bool of_object;
};
struct meaning {
    struct implied *implied;
    size_t count;
    struct implied_class *classes;
    size_t class_count;
    bool undefined;  /* nothing in the index defines it */
    bool restricted; /* what it implies may be by some class */
    bool cut;
};
/* Members of a class have at most one value of the property; inverted: are the value of one. */
struct restriction {
    oid property;
    bool inverted;
    oid by;
};
struct restrictions {
    struct restriction *at;
    size_t count;
};

/* The meanings and restrictions that were found, in each context. meaning.c fills it. */
struct meanings {
    struct context_places {
        struct map properties, classes; /* in the lists below */
    } * contexts;
    size_t context_count;
    struct meaning *list;
    struct restrictions *restrictions;
    size_t count, restriction_count;
};
void meanings_release(struct meanings *meanings);

/* Both find what a property or class means in a context; the result lives as long as the identity.
 */
enum status meaning_of(struct identity *identity, uint32_t context, oid property,
                       struct meaning *meaning, struct reason *why);
enum status restrictions_of(struct identity *identity, uint32_t context, oid class,
                            struct restrictions *restrictions, struct reason *why);

#endif
