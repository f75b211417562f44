/* Parts of the microdata extractor. Private to this folder. */
#ifndef TRANSFORMS_MICRODATA_MICRODATA_WALK_H
#define TRANSFORMS_MICRODATA_MICRODATA_WALK_H

#include "transforms/html/ids.h"
#include "transforms/microdata/microdata.h"

struct microdata_item {
    uint32_t node;
    uint8_t state;
    struct slice type; /* inherited or own when it was done last */
};

/* The findings that publishers are told: each once per page, with the place of the first. */
enum microdata_finding {
    MICRODATA_FOUND_ORPHAN,
    MICRODATA_FOUND_ORPHAN_ITEM,
    MICRODATA_FOUND_MISSING_ID,
    MICRODATA_FOUND_CIRCLE,
    MICRODATA_FOUND_RELATIVE_TYPE,
    MICRODATA_FOUND_NO_ADDRESS,
    MICRODATA_FOUND_BAD_ADDRESS,
    MICRODATA_FOUND_BAD_TIME,
    MICRODATA_FOUND_REVERSE_TEXT,
    MICRODATA_FOUND_TOO_MUCH,
    MICRODATA_FOUND_LONG,
    MICRODATA_FINDINGS
};

struct microdata_job {
    uint32_t item; /* index; of `items` */
    bool finish;
    struct slice type; /* inherited */
};

struct microdata_pile {
    struct microdata_job *jobs;
    size_t count, capacity;
};

struct microdata {
    const struct html_tree *tree;
    const struct html_node *nodes;
    const struct html_attribute *attributes;
    struct links *links;
    const struct microdata_options *options;
    const struct microdata_registry *registry;
    struct emitter *emitter;

    uint32_t item_count, property_count, reference_count;
    struct microdata_item *items; /* by node */
    uint32_t *properties;         /* nodes with itemprop */
    bool *property_is_met;        /* beside properties */
    struct html_ids ids;
    uint32_t *crawled; /* of each node: which crawl met it last; only with references */
    uint32_t crawl;
    uint64_t visits, text_left;

    struct microdata_pile pile;
    struct buf text, predicate, object, base;

    /* of the item being crawled */
    struct term subject;
    struct slice type, vocabulary;
    const struct microdata_vocabulary *registered;

    struct {
        uint32_t count, node;
        struct slice example;
    } findings[MICRODATA_FINDINGS];
};

static inline bool
microdata_attribute(const struct microdata *m, uint32_t node, const char *name, struct slice *value)
{
    return html_attribute(m->tree, node, name, value);
}

static inline bool
microdata_is_template(const struct html_node *node)
{
    return node->element == HTML_TEMPLATE && node->space == HTML_SPACE_HTML;
}

/* ---- microdata_values.c ---- */

/* The value of a property that is no item. False: it has none that could be said. The term lives
 * until the next call. */
bool microdata_value_of(struct microdata *m, uint32_t node, struct term *value, char language[36]);

/* ---- microdata_findings.c ---- */

void microdata_find(struct microdata *m, enum microdata_finding finding, uint32_t node,
                    struct slice example);
void microdata_tell_findings(struct microdata *m);

#endif
