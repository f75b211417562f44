/* XML that is not well-formed, as people's programs write it, made well-formed: what libxml2's own
 * recovery would lose or nest wrongly. Text is only put in or taken out within lines, so numbers of
 * lines stay. Linear in the text's length; the result is not promised to be well-formed (names and
 * declarations are not looked at), only to be so for the usual mistakes. */
#ifndef TRANSFORMS_XML_XML_MEND_H
#define TRANSFORMS_XML_XML_MEND_H

#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

enum xml_mistake {
    XML_JUNK_BEFORE, /* something before the declaration or the root element */
    XML_AMPERSAND,   /* & that begins no reference */
    XML_REFERENCE,   /* a reference to a character that XML forbids, or &#X */
    XML_LESS_THAN,   /* < that begins no tag, or in an attribute */
    XML_CONTROL,     /* a character that XML forbids */
    XML_ATTRIBUTE,   /* an attribute without value or quotes, twice, or not separated by blanks */
    XML_NESTING,     /* an end tag that is missing, or ends nothing */
    XML_COMMENT,     /* -- in a comment */
    XML_CUT_OFF,     /* the document ends too soon */
    XML_MISTAKES
};
extern const char *const xml_mistake_names[XML_MISTAKES];

enum { XML_MEND_DEPTH = 240 /* libxml2 reads 256; deeper tags are left out */ };

/* text: UTF-8. out: reset first; overflows like any buf. */
void xml_mend(struct slice text, struct buf *out, uint64_t mistakes[XML_MISTAKES]);

#endif
