/* The Range header, RFC 9110 section 14.2: one range of bytes. Several ranges, other units and
 * bad syntax are ignored, as the RFC allows. */
#ifndef WEB_HTTP_RANGE_H
#define WEB_HTTP_RANGE_H

#include <stdint.h>

struct web_range {
    uint64_t offset, length;
};
enum web_range_kind {
    WEB_RANGE_NONE,   /* send everything; *range is untouched */
    WEB_RANGE_PART,   /* *range is inside the file, and not empty */
    WEB_RANGE_OUTSIDE /* 416 */
};
enum web_range_kind web_range_parse(const char *header, uint64_t size, struct web_range *range);

#endif
