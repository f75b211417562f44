/* Where IRIs and strings end, sixteen bytes at a time where the processor can. */
#ifndef RDF_CORE_SCAN_H
#define RDF_CORE_SCAN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "rdf/core/lexical.h"

#ifdef __SSE2__
static inline __m128i
scan_equal(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

static inline __m128i
scan_iri_stops(__m128i bytes)
{
    const __m128i two = _mm_set1_epi8(2), space = _mm_set1_epi8(' ');
    const __m128i from_brace = _mm_sub_epi8(bytes, _mm_set1_epi8('{'));
    const __m128i blanks = _mm_cmpeq_epi8(_mm_max_epu8(bytes, space), space);
    const __m128i braces = _mm_cmpeq_epi8(_mm_min_epu8(from_brace, two), from_brace); /* { | } */
    const __m128i angles = scan_equal(_mm_or_si128(bytes, two), '>');                 /* < > */
    const __m128i slashes = scan_equal(_mm_or_si128(bytes, two), '^');                /* \ ^ */
    const __m128i quotes = _mm_or_si128(scan_equal(bytes, '"'), scan_equal(bytes, '`'));
    return _mm_or_si128(_mm_or_si128(_mm_or_si128(blanks, braces), _mm_or_si128(angles, slashes)),
                        quotes);
}

static inline __m128i
scan_string_stops(__m128i bytes)
{
    return _mm_or_si128(_mm_or_si128(scan_equal(bytes, '"'), scan_equal(bytes, '\\')),
                        _mm_or_si128(scan_equal(bytes, '\n'), scan_equal(bytes, '\r')));
}

/* " \ DEL, controls, and the first byte of U+FFFE. */
static inline __m128i
scan_escape_stops(__m128i bytes)
{
    const __m128i last = _mm_set1_epi8(0x1f);
    return _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(bytes, last), last), scan_equal(bytes, 0x7f)),
        _mm_or_si128(_mm_or_si128(scan_equal(bytes, '"'), scan_equal(bytes, '\\')),
                     scan_equal(bytes, (char)0xEF)));
}
#endif

/* The first byte of the class, which must be there; stops: LEXICAL_IRI_STOP or LEXICAL_STRING_STOP,
 * a constant. Before end bytes may be read. *any gets 0x80 if what is before it is not ASCII. */
static inline const char *
scan_to(const char *at, const char *end, unsigned stops, unsigned char *any)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const unsigned high = (unsigned)_mm_movemask_epi8(bytes);
        const unsigned found = (unsigned)_mm_movemask_epi8(
            stops == LEXICAL_IRI_STOP ? scan_iri_stops(bytes) : scan_string_stops(bytes));
        if (found != 0) {
            *any |= (high & (found ^ (found - 1))) != 0 ? 0x80 : 0;
            return at + __builtin_ctz(found);
        }
        *any |= high != 0 ? 0x80 : 0;
    }
#endif
    while (!lexical_is(*at, stops)) {
        *any |= (unsigned char)*at++;
    }
    return at;
}

/* Searches as above in a text that may have none; returns its length then. */
static inline size_t
scan_within(struct slice text, unsigned stops, unsigned char *any)
{
    const char *at = text.at, *end = text.at + text.length;
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const __m128i found =
            stops == LEXICAL_IRI_STOP ? scan_iri_stops(bytes) : scan_string_stops(bytes);
        if (_mm_movemask_epi8(found) != 0) {
            break;
        }
        *any |= _mm_movemask_epi8(bytes) != 0 ? 0x80 : 0;
    }
#endif
    while (at < end && !lexical_is(*at, stops)) {
        *any |= (unsigned char)*at++;
    }
    return (size_t)(at - text.at);
}

/* Returns whether the text has these two bytes, one behind the other. */
static inline bool
scan_has_pair(struct slice text, char first, char second)
{
    size_t at = 0;
#ifdef __SSE2__
    for (unsigned before = 0; text.length - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text.at + at));
        const unsigned firsts = (unsigned)_mm_movemask_epi8(scan_equal(bytes, first));
        const unsigned seconds = (unsigned)_mm_movemask_epi8(scan_equal(bytes, second));
        if (((firsts << 1 | before) & seconds) != 0) {
            return true;
        }
        before = firsts >> 15;
    }
    at -= at > 0 ? 1 : 0;
#endif
    for (; at + 1 < text.length; at++) {
        if (text.at[at] == first && text.at[at + 1] == second) {
            return true;
        }
    }
    return false;
}

/* Returns how many bytes at the front need no escape in a string: a multiple of 16, perhaps not
 * all. */
static inline size_t
scan_plain(struct slice text)
{
    size_t at = 0;
#ifdef __SSE2__
    for (; text.length - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text.at + at));
        if (_mm_movemask_epi8(scan_escape_stops(bytes)) != 0) {
            break;
        }
    }
#else
    (void)text;
#endif
    return at;
}

#endif
