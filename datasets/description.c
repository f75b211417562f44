#include "datasets/description.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/url/url.h"

enum { NOTE_SIZE = 1024 };

const char *
access_kind_name(enum access_kind kind)
{
    static const char *const names[] = {
        [ACCESS_LINKED_DATA] = "linked data",
        [ACCESS_DUMP] = "dump",
        [ACCESS_FRAGMENT_DUMP] = "fragment dump",
        [ACCESS_SPARQL] = "endpoint",
        [ACCESS_SAMPLE] = "sample",
    };
    return names[kind];
}

struct slice
description_folder(struct slice uri)
{
    struct iri_parts parts;
    iri_split(uri, &parts);
    if (parts.path.at == NULL) {
        return uri;
    }
    const char *slash =
        parts.path.length > 0 ? memrchr(parts.path.at, '/', parts.path.length) : NULL;
    return slash != NULL ? slice_of(uri.at, (size_t)(slash + 1 - uri.at))
                         : slice_of(uri.at, (size_t)(parts.path.at - uri.at));
}

/* Room for one more of `size` bytes, zeroed; full arrays, those of a power of two, are doubled. */
static void *
grow(void *items, size_t *count, size_t size, size_t most, struct arena *arena)
{
    char **array = items;
    if (*count >= most) {
        return NULL;
    }
    if ((*count & (*count - 1)) == 0) {
        char *larger = arena_alloc(arena, (*count > 0 ? 2 * *count : 1) * size);
        if (larger == NULL) {
            return NULL;
        }
        if (*count > 0) {
            memcpy(larger, *array, *count * size);
        }
        *array = larger;
    }
    return memset(*array + (*count)++ * size, 0, size);
}

struct dataset *
description_add_dataset(struct description *description, struct arena *arena)
{
    struct dataset *dataset = grow(&description->datasets, &description->dataset_count,
                                   sizeof *dataset, DESCRIPTION_DATASETS, arena);
    description->limited |= dataset == NULL;
    return dataset;
}

struct dataset_access *
dataset_add_access(struct dataset *dataset, struct arena *arena)
{
    return grow(&dataset->accesses, &dataset->access_count, sizeof *dataset->accesses,
                DESCRIPTION_ACCESSES, arena);
}

struct slice *
description_add_sitemap(struct slice **sitemaps, size_t *count, struct arena *arena)
{
    return grow(sitemaps, count, sizeof **sitemaps, DESCRIPTION_SITEMAPS, arena);
}

void
description_note(struct description *description, struct arena *arena, enum note_kind kind,
                 unsigned line, const char *format, ...)
{
    char text[NOTE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct description_note *note =
        grow(&description->notes, &description->note_count, sizeof *note, DESCRIPTION_NOTES, arena);
    if (note != NULL) {
        *note = (struct description_note){kind, line, arena_copy(arena, slice_string(text))};
    }
}
