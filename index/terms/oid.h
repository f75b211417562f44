/* Object identifiers: 64 bits that stand for a term. Layout in FORMAT.md, "Identifiers".
 *
 *   bit 63      1: the query evaluator's own (OID_LOCAL), never stored
 *   bit 62      1: stored, a term of the lexicon: bits 61..3 number, bits 2..0 kind
 *               0: inline: bits 61..56 enum oid_inline, bits 55..0 the value itself
 *
 * One counter numbers all kinds, so that the terms of one document are neighbours and every
 * tree grows at few places. An inline identifier gives its literal back byte by byte; a lexical
 * form that is not canonical is stored in the lexicon instead. Inline identifiers of one type
 * are ordered as their values (dateTimes: those with Z and those without apart).
 */
#ifndef INDEX_TERMS_OID_H
#define INDEX_TERMS_OID_H

#include "index/quad_source.h"

enum oid_kind {
    OID_KIND_NONE = 0,
    OID_KIND_IRI = 1,
    OID_KIND_BLANK = 2,
    OID_KIND_STRING = 3,   /* xsd:string */
    OID_KIND_TYPED = 4,    /* any other datatype */
    OID_KIND_LANGUAGE = 5, /* rdf:langString */
    OID_KIND_TRIPLE = 6,   /* reserved: triple terms of RDF 1.2 */
    OID_KIND_DIRECTION = 7 /* reserved: rdf:dirLangString of RDF 1.2 */
};

enum oid_inline {
    OID_INLINE_INTEGER = 1,     /* xsd:integer: value + 2^55 */
    OID_INLINE_BOOLEAN = 2,     /* xsd:boolean: 0, 1 */
    OID_INLINE_DATE = 3,        /* xsd:date: packed fields */
    OID_INLINE_DATETIME = 4,    /* xsd:dateTime without time zone: packed fields */
    OID_INLINE_DATETIME_UTC = 5 /* xsd:dateTime with Z */
};

#define OID_STORED ((oid)1 << 62)
#define OID_NUMBER_MAXIMUM (((uint64_t)1 << 56) - 1)
#define OID_INLINE_BITS 56
#define OID_INLINE_TYPE_MAXIMUM 63
#define OID_INLINE_MASK (((uint64_t)1 << OID_INLINE_BITS) - 1)

static inline oid
oid_stored(uint64_t number, enum oid_kind kind)
{
    return OID_STORED | number << 3 | (oid)kind;
}

static inline bool
oid_is_stored(oid id)
{
    return (id & (OID_STORED | OID_LOCAL)) == OID_STORED;
}

static inline uint64_t
oid_number(oid id)
{
    return (id & (OID_STORED - 1)) >> 3;
}

static inline enum oid_kind
oid_kind(oid id)
{
    return oid_is_stored(id) ? (enum oid_kind)(id & 7) : OID_KIND_NONE;
}

/* The kind a term would be stored as. A datatype that says xsd:string is a string. */
enum oid_kind oid_kind_of(const struct term *term);
/* Returns the kind of term that the identifier is of; inline ones are of literals. */
enum term_kind oid_term_kind(oid id);
/* Gives a literal's datatype; false when the identifier does not say it. */
bool oid_datatype(oid id, struct slice *iri);
/* OID_NONE when the term cannot be inline. */
oid oid_inline_of(const struct term *term);
/* The value of a is certainly before that of b: both are of one inline type and well-formed. */
bool oid_inline_before(oid a, oid b);
/* The identifiers of id's inline type, and of these those that may have its value. False when id is
 * not inline. */
bool oid_inline_span(oid id, struct oid_span *span);
/* The value of an inline integer, or of a date or dateTime with a day that there is in every year;
 * false of others. */
bool oid_inline_value(oid id, struct oid_value *value);
/* OID_NONE when the integer's literal is not inline. */
oid oid_inline_integer(int64_t integer);
/* Bytes the lexical form of an inline literal needs at most. */
enum { OID_INLINE_TEXT = 40 };
/* Fills term; its lexical form is written to text. False when id is no valid inline one. */
bool oid_inline_term(oid id, char text[OID_INLINE_TEXT], struct term *term);

#endif
