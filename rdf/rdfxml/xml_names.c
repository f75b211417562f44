#include "rdf/rdfxml/xml_names.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"

enum { FIRST_NAMES = 32 };

static const struct {
    const char *local;
    unsigned places;
} terms[XML_TERM_COUNT] = {
    [XML_TERM_RDF] = {"RDF", 0},
    [XML_TERM_DESCRIPTION] = {"Description", XML_NAME_NODE},
    [XML_TERM_LI] = {"li", XML_NAME_PROPERTY},
    [XML_TERM_TYPE] = {"type", XML_NAME_NODE | XML_NAME_PROPERTY | XML_NAME_ATTRIBUTE},
    [XML_TERM_ABOUT] = {"about", 0},
    [XML_TERM_ID] = {"ID", 0},
    [XML_TERM_NODE_ID] = {"nodeID", 0},
    [XML_TERM_RESOURCE] = {"resource", 0},
    [XML_TERM_DATATYPE] = {"datatype", 0},
    [XML_TERM_PARSE_TYPE] = {"parseType", 0},
    [XML_TERM_ABOUT_EACH] = {"aboutEach", 0},
    [XML_TERM_ABOUT_EACH_PREFIX] = {"aboutEachPrefix", 0},
    [XML_TERM_BAG_ID] = {"bagID", 0},
};

void
xml_names_init(struct xml_names *names, size_t maximum)
{
    *names = (struct xml_names){0};
    map_init(&names->places);
    arena_init(&names->arena, maximum);
}

void
xml_names_release(struct xml_names *names)
{
    free(names->items);
    map_release(&names->places);
    arena_release(&names->arena);
}

/* The name, or NULL; *key: under which it stands, or is to stand. */
static struct xml_name *
find(const struct xml_names *names, const xmlChar *space, const xmlChar *local, uint64_t *key)
{
    *key = (uint64_t)(uintptr_t)space * UINT64_C(0xC2B2AE3D27D4EB4F) ^ (uint64_t)(uintptr_t)local;
    for (;; ++*key) {
        const uint32_t place = map_get(&names->places, *key);
        if (place == (uint32_t)MAP_NONE) {
            return NULL;
        }
        struct xml_name *name = &names->items[place];
        if (name->local == local && name->space == space) {
            return name;
        }
    }
}

static void
classify(struct xml_name *name)
{
    name->places = XML_NAME_NODE | XML_NAME_PROPERTY | XML_NAME_ATTRIBUTE;
    if (name->space == NULL || strcmp((const char *)name->space, RDF_NAMESPACE) != 0) {
        return;
    }
    for (int term = XML_TERM_OTHER + 1; term < XML_TERM_COUNT; term++) {
        if (strcmp((const char *)name->local, terms[term].local) == 0) {
            name->term = (enum xml_term)term;
            name->places = terms[term].places;
        }
    }
}

const struct xml_name *
xml_names_get(struct xml_names *names, const xmlChar *space, const xmlChar *local)
{
    uint64_t key;
    struct xml_name *name = find(names, space, local, &key);
    if (name != NULL) {
        return name;
    }
    const struct slice iri =
        arena_printf(&names->arena, "%s%s", space ? (const char *)space : "", (const char *)local);
    if (iri.at == NULL) {
        return NULL;
    }
    if (names->count == names->capacity) {
        names->capacity = names->capacity > 0 ? 2 * names->capacity : FIRST_NAMES;
        names->items = memory_resize(names->items, names->capacity, sizeof *names->items);
    }
    map_set(&names->places, key, (uint32_t)names->count);
    name = &names->items[names->count++];
    *name = (struct xml_name){.space = space, .local = local};
    name->iri = lexical_iri_valid(iri) ? iri : (struct slice){NULL, 0};
    classify(name);
    return name;
}
