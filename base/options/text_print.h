/* Text for people: wrapped to a terminal's width, or escaped as mdoc(7). */
#ifndef BASE_OPTIONS_TEXT_PRINT_H
#define BASE_OPTIONS_TEXT_PRINT_H

#include <stdio.h>

enum { TEXT_WIDTH = 80 };

/* Prints text in lines of at most TEXT_WIDTH columns, each after `prefix`. Paragraphs are parted
 * by blank lines; a line that begins with a blank is printed as it is. Bytes count as columns. */
void text_wrap(FILE *out, const char *prefix, const char *text);

/* Paragraphs as mdoc: .Pp between them, lines that begin with a blank as a literal display. */
void text_mdoc(FILE *out, const char *text);
/* One argument or piece of a line, quoted against being read as a macro. */
void text_mdoc_word(FILE *out, const char *text);

#endif
