/* Characters, escapes and names that the RDF text syntaxes share.
 * Source: the terminals of https://www.w3.org/TR/n-triples/ and https://www.w3.org/TR/turtle/.
 */
#ifndef RDF_CORE_LEXICAL_H
#define RDF_CORE_LEXICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* Classes of bytes, or'ed in lexical_class[]. */
enum {
    LEXICAL_IRI_STOP = 1,    /* ends an IRIREF or makes it wrong: 00-20 < > " { } | ^ ` \ */
    LEXICAL_STRING_STOP = 2, /* " \ LF CR: ends or interrupts a "string" */
    LEXICAL_NAME = 4,        /* ASCII of PN_CHARS: letters, digits, _ and - */
    LEXICAL_NAME_START = 8,  /* ASCII of PN_CHARS_U: letters and _ */
    LEXICAL_HEX = 16,
    LEXICAL_SPACE = 32, /* space, tab, CR, LF */
    LEXICAL_LETTER = 64,
    LEXICAL_DIGIT = 128
};
extern const uint8_t lexical_class[256];

static inline bool
lexical_is(char c, unsigned classes)
{
    return (lexical_class[(unsigned char)c] & classes) != 0;
}

/* Well-formed UTF-8 as Unicode 15 table 3-7 has it: no surrogates, nothing past U+10FFFF. */
bool lexical_utf8_valid(const char *at, size_t length);
/* Length of the longest well-formed start. */
size_t lexical_utf8_prefix(const char *at, size_t length);

/* Decodes one code point of well-formed UTF-8; its length goes to *length. */
uint32_t lexical_decode(const char *at, int *length);
/* Writes code as UTF-8, returns the length, 1 to 4. */
int lexical_encode(uint32_t code, char *to);

/* The code point of the \uXXXX or \UXXXXXXXX at `at` (which points to the backslash), its
 * length in *length. UINT32_MAX when malformed, a surrogate or past U+10FFFF. */
uint32_t lexical_escape(const char *at, const char *end, int *length);

/* Copies text with \u escapes decoded to `to` (room for text.length). False on a bad escape
 * or one that stands for a character which an IRI must not have. */
bool lexical_unescape_iri(struct slice text, char *to, size_t *length);
/* Resolves the escapes of a string, ECHARs among them. Returns false on a bad escape, and where it
 * is in *bad. */
bool lexical_unescape_string(struct slice text, char *to, size_t *length, const char **bad);

/* PN_CHARS_BASE, PN_CHARS_U, PN_CHARS of Turtle, for code points past ASCII. */
bool lexical_name_start(uint32_t code);
/* Length of the name character (PN_CHARS) at `at`, 0 when it is none or not UTF-8. */
int lexical_name_length(const char *at, const char *end);
/* Length of the blank node label at `at` (behind "_:"), 0 when it is none. */
size_t lexical_blank_label(const char *at, const char *end);

/* A scheme and a colon at the start. */
bool lexical_has_scheme(struct slice iri);
/* Absolute, no character that an IRI must not have, valid UTF-8. */
bool lexical_iri_valid(struct slice iri);
/* letters ("-" letters or digits)* */
bool lexical_language_valid(struct slice tag);
/* Copies with ASCII letters lowered. */
void lexical_lower(struct slice text, char *to);

#endif
