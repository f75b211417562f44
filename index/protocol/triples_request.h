/* The request of the stream TRIPLES: SEVERAL.md, "Counts of triples". */
#ifndef INDEX_PROTOCOL_TRIPLES_REQUEST_H
#define INDEX_PROTOCOL_TRIPLES_REQUEST_H

/* Says what is wanted of the triples that match. Below TRIPLES_FINGERPRINTS: their number by an
 * enum triple_place. */
enum triples_form {
    TRIPLES_FINGERPRINTS = 4,
    TRIPLES_ROWS = 5,
    TRIPLES_VALUES = 6,   /* the values of a place by their digests, with their numbers */
    TRIPLES_OF_VALUES = 7 /* digests of the triples that have some of these values */
};
enum { TRIPLES_UNKNOWN = 0, TRIPLES_KNOWN = 1 }; /* the first byte of an answer */

#endif
