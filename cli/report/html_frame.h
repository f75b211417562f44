/* HTML of the command line: a whole page with its style inside, or what stands in the frame of
 * another one, such as a page of the web service. */
#ifndef CLI_REPORT_HTML_FRAME_H
#define CLI_REPORT_HTML_FRAME_H

#include <stdio.h>

#include "base/buf.h"

void html_frame_begin(FILE *out, const char *title);
void html_frame_end(FILE *out);
/* Writes the buffer, which is then empty. */
void html_flush(struct buf *buf, FILE *out);

#endif
