#include "rdf/rdfxml/xml_line.h"

#include <string.h>

const xmlChar *
xml_line_tag(const xmlParserInput *input, uint32_t *line)
{
    const xmlChar *at = input->cur;
    *line = input->line > 0 ? (uint32_t)input->line : 0;
    while (at > input->base && *at != '<') {
        at--;
        *line -= *at == '\n' && *line > 1;
    }
    return at;
}

void
xml_line_pass(const xmlChar **at, const xmlChar *to, uint32_t *line)
{
    while (*at < to) {
        const xmlChar *end = memchr(*at, '\n', (size_t)(to - *at));
        *line += end != NULL;
        *at = end != NULL ? end + 1 : to;
    }
}
