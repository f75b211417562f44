/* Link relations as statements: rel and rev of HTML, and of Link headers (RFC 8288). */
#ifndef TRANSFORMS_COMMON_RELATIONS_H
#define TRANSFORMS_COMMON_RELATIONS_H

#include "transforms/common/emit.h"

struct link_relations {
    struct slice rel, rev; /* words separated by white space */
    struct slice type, language;
    struct slice title, title_language; /* as text: white space collapsed */
    /* NULL, or: whether somebody else makes a statement of this word */
    bool (*is_foreign)(void *context, struct slice word);
    void *context;
};

/* `from` has each relation of rel to `target`, target each of rev to `from`. If one of them is
 * about content (not stylesheets, icons, hints for loading), type, language and title are said of
 * the target. name: memory for predicates. */
void relations_emit(struct emitter *emitter, struct buf *name, const struct term *from,
                    const struct term *target, const struct link_relations *relations);

/* A BCP 47 tag as N-Quads allows it, in lower case; empty when malformed. */
enum { LANGUAGE_TAG_SIZE = 36 };
struct slice language_tag(struct slice tag, char text[LANGUAGE_TAG_SIZE]);

#endif
