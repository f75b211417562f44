/* Parts of the microformats parser. Private to this folder. */
#ifndef TRANSFORMS_MICROFORMATS_MICROFORMATS_PARSER_H
#define TRANSFORMS_MICROFORMATS_MICROFORMATS_PARSER_H

#include "base/buf.h"
#include "transforms/html/ids.h"
#include "transforms/microformats/microformats.h"

enum { INCLUDE_DEPTH = 8, PART_DATE = 24, PART_TIME = 40, PART_ZONE = 8 };

struct microformat_parser {
    const struct html_tree *tree;
    const struct html_node *nodes;
    struct arena *arena;
    struct slice base;
    struct microformats *found;
    struct html_ids ids;
    struct buf text, url;
    uint64_t work; /* what may still be done, in nodes and bytes */
    bool full;     /* the arena is */
    bool classic;  /* inside of a classic item: includes are followed */
    uint32_t included[INCLUDE_DEPTH];
    size_t include_count;
};

enum { MICROFORMAT_NAMES = 16 /* properties of one element; more are not seen */ };

struct microformat_name {
    enum microformat_kind kind;
    struct slice name;
};
/* The classes of one element. */
struct microformat_classes {
    struct slice roots[MICROFORMAT_TYPES];
    size_t root_count;
    bool classic; /* the roots are */
    struct microformat_name names[MICROFORMAT_NAMES];
    size_t name_count;
};

/* ---- microformats_classes.c ---- */

bool microformat_attribute(const struct microformat_parser *p, uint32_t node, const char *name,
                           struct slice *value);
bool microformat_has_class(const struct microformat_parser *p, uint32_t node, const char *name);
/* Returns whether an element begins an item, or is a property of any. */
bool microformat_is_root(const struct microformat_parser *p, uint32_t node);
bool microformat_is_property(const struct microformat_parser *p, uint32_t node);
/* Fills in what the list of class names says: items that begin, then properties of the item that
 * the element is in (with its rel, where that is classic). */
void microformat_read_roots(struct slice list, struct microformat_classes *classes);
void microformat_read_names(struct microformat_parser *p, uint32_t node, struct slice list,
                            const struct microformat_item *item,
                            struct microformat_classes *classes);
/* False: no more work may be done. */
bool microformat_spend(struct microformat_parser *p, uint64_t amount);
bool microformat_is(const struct html_node *node, enum html_element element);
bool microformat_is_named(const struct html_node *node,
                          const char *name); /* elements without number */

/* ---- microformats_children.c ---- */

/* Children of a node in order, with what a classic item includes: for (microformat_children...;
 * microformat_next;) */
struct microformat_children {
    uint32_t node, at, end;
    struct slice references; /* ids still to be included at the end */
    bool included;           /* leave before the next */
};
struct microformat_children microformat_children_of(struct microformat_parser *p, uint32_t node);
/* 0: no more. What is begun must be walked to its end. */
uint32_t microformat_next(struct microformat_parser *p, struct microformat_children *children);

/* ---- microformats_values.c ---- */

/* Fills text, alt, html of a value for an element. item: whose earlier dates complete a time. */
void microformat_read_value(struct microformat_parser *p, uint32_t node,
                            const struct microformat_item *item, struct microformat_value *value);
/* Text of an element with images as their alt, trimmed, in the arena. */
struct slice microformat_plain_text(struct microformat_parser *p, uint32_t node);
struct slice microformat_resolve(struct microformat_parser *p, struct slice reference);
/* Image with its alternative text. */
void microformat_read_image(struct microformat_parser *p, uint32_t node, struct slice source,
                            struct microformat_value *value);

/* An e-mail address that stands as text where a URL is expected: it is no relative URL. */
bool microformat_is_mailbox(struct slice text);

/* ---- microformats_implied.c ---- */

void microformat_imply(struct microformat_parser *p, struct microformat_item *item);

/* ---- microformats_dates.c ---- */

/* Date, time and zone gathered from pieces; the first of each counts. */
struct microformat_moment {
    char date[PART_DATE], time[PART_TIME], zone[PART_ZONE];
};
void microformat_moment_add(struct microformat_moment *moment, struct slice piece);
/* The date at the start of a text, as long as it is; empty: none. */
struct slice microformat_date_of(struct slice text);
/* Returns whether a text is a time of day alone. */
bool microformat_is_time(struct slice text);

/* ---- microformats_classic.c ---- */

/* The microformats2 type of a classic root class; empty: none. */
struct slice microformat_classic_root(struct slice word);
/* The property that a classic class (or rel, when relation) is in an item. */
bool microformat_classic_property(const struct microformat_item *item, struct slice word,
                                  bool relation, struct microformat_name *name);
/* Returns whether a class is an item of its own without a root class of its own: `item` of reviews.
 */
bool microformat_classic_is_item(const struct microformat_item *item, struct slice word);
/* Returns whether any format has such a property. */
bool microformat_classic_is_property(struct slice word);

/* ---- microformats_vocabulary.c ---- */

/* NULL: the profile's own. A predicate that begins with '^' is said the other way round. */
const char *microformat_class_of(struct slice type);
const char *microformat_property_of(struct slice type, struct slice property);

#endif
