#include "dumps/slicing.h"

#include "base/ascii.h"

static const char *const names[] = {
    [SLICING_NONE] = "",
    [SLICING_SUBJECT] = "subject",
    [SLICING_SUBJECT_OBJECT] = "subject-object",
    [SLICING_CBD] = "cbd",
    [SLICING_SCBD] = "scbd",
    [SLICING_MSG] = "msg",
};

/* Without what stands between words. */
static const struct {
    const char *name;
    enum slicing slicing;
} spellings[] = {
    {"subject", SLICING_SUBJECT},
    {"subjectobject", SLICING_SUBJECT_OBJECT},
    {"cbd", SLICING_CBD},
    {"concisebounded", SLICING_CBD},
    {"conciseboundeddescription", SLICING_CBD},
    {"scbd", SLICING_SCBD},
    {"symmetriccbd", SLICING_SCBD},
    {"symmetricconciseboundeddescription", SLICING_SCBD},
    {"msg", SLICING_MSG},
    {"minimalselfcontainedgraph", SLICING_MSG},
    {"minimalselfcontainedgraphs", SLICING_MSG},
};

enum { NAME_MAXIMUM = 64 };

const char *
slicing_name(enum slicing slicing)
{
    return names[slicing];
}

bool
slicing_of_name(struct slice name, enum slicing *slicing)
{
    char letters[NAME_MAXIMUM];
    size_t length = 0;
    for (size_t i = 0; i < name.length && length < sizeof letters; i++) {
        if (ascii_is_letter(name.at[i])) {
            letters[length++] = ascii_lower(name.at[i]);
        }
    }
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if (slice_is(slice_of(letters, length), spellings[i].name)) {
            *slicing = spellings[i].slicing;
            return true;
        }
    }
    return false;
}

const struct slice_space *
slice_space_of(const struct slice_space *spaces, size_t count, struct slice iri)
{
    const struct slice_space *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (slice_starts(iri, spaces[i].prefix) &&
            (best == NULL || spaces[i].prefix.length > best->prefix.length)) {
            best = &spaces[i];
        }
    }
    return best;
}

struct slice
slice_key(struct slice iri)
{
    return slice_of(iri.at, slice_find(iri, '#'));
}

void
slice_document(const struct slice_space *space, struct slice key, struct buf *document)
{
    const size_t skipped = key.length < space->prefix.length ? key.length : space->prefix.length;
    if (space->replaced) {
        buf_append_slice(document, space->replacement);
        buf_append_slice(document, slice_of(key.at + skipped, key.length - skipped));
    } else {
        buf_append_slice(document, key);
    }
    buf_append_slice(document, space->suffix);
}
