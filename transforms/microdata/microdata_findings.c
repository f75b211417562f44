/* Findings that publishers are told, each kind once a page. */
#include <stdio.h>

#include "transforms/microdata/microdata_walk.h"

enum { EXAMPLE_LENGTH = 60 };

static const struct {
    bool lost; /* a problem; else advice */
    const char *text;
} finding_texts[MICRODATA_FINDINGS] = {
    [MICRODATA_FOUND_ORPHAN] =
        {true, "itemprop outside of any item: put it into an element with itemscope, "
               "or name its id in an itemref"},
    [MICRODATA_FOUND_ORPHAN_ITEM] = {false,
                                     "an item has itemprop but is inside of no other: take the "
                                     "itemprop away, or put it into the item that it belongs to"},
    [MICRODATA_FOUND_MISSING_ID] = {false, "itemref names an id that no element has"},
    [MICRODATA_FOUND_CIRCLE] = {false, "itemref leads an item into itself"},
    [MICRODATA_FOUND_RELATIVE_TYPE] = {false, "itemtype is not an absolute URL: write one such as "
                                              "https://schema.org/Person"},
    [MICRODATA_FOUND_NO_ADDRESS] = {false,
                                    "an element whose value is its address has none (href, src, "
                                    "data): its text was taken"},
    [MICRODATA_FOUND_BAD_ADDRESS] = {true, "the address of a property leads nowhere"},
    [MICRODATA_FOUND_BAD_TIME] =
        {false, "datetime is no date, time or duration as XML Schema writes them: "
                "2026-01-31, 2026-01-31T09:00:00+01:00, PT1H30M"},
    [MICRODATA_FOUND_REVERSE_TEXT] = {true,
                                      "itemprop-reverse needs an item or an address as value"},
    [MICRODATA_FOUND_LONG] = {true,
                              "properties around properties: their text together is too long"},
    [MICRODATA_FOUND_TOO_MUCH] = {true,
                                  "itemref leads to the same elements again and again; stopped"},
};

void
microdata_find(struct microdata *m, enum microdata_finding finding, uint32_t node,
               struct slice example)
{
    if (m->findings[finding].count++ == 0) {
        m->findings[finding].node = node;
        m->findings[finding].example = example;
    }
}

void
microdata_tell_findings(struct microdata *m)
{
    for (size_t i = 0; i < MICRODATA_FINDINGS; i++) {
        const struct problem_sink *sink =
            finding_texts[i].lost ? &m->options->problems : &m->options->advice;
        if (m->findings[i].count == 0 || !sink->problem) {
            continue;
        }
        struct slice example = m->findings[i].example;
        example.length = example.length > EXAMPLE_LENGTH ? EXAMPLE_LENGTH : example.length;
        while (example.length > 0 && ((uint8_t)example.at[example.length] & 0xC0) == 0x80 &&
               example.length == EXAMPLE_LENGTH) {
            example.length--;
        }
        char text[400];
        int length = snprintf(text, sizeof text, "%s", finding_texts[i].text);
        if (example.length > 0) {
            length += snprintf(text + length, sizeof text - (size_t)length, " (\"%.*s\")",
                               SLICE_PRINT(example));
        }
        if (m->findings[i].count > 1) {
            snprintf(text + length, sizeof text - (size_t)length, "; %u times on the page",
                     (unsigned)m->findings[i].count);
        }
        const struct parse_problem problem = {.line = html_line(m->tree, m->findings[i].node),
                                              .text = text};
        sink->problem(sink->context, &problem);
    }
}
