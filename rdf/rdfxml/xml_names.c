#include "rdf/rdfxml/xml_names.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"

enum { FIRST_SLOTS = 128 };

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
    *names = (struct xml_names){.size = FIRST_SLOTS};
    names->slots = memory_zero(names->size, sizeof *names->slots);
    arena_init(&names->arena, maximum);
}

void
xml_names_release(struct xml_names *names)
{
    free(names->slots);
    arena_release(&names->arena);
}

static struct xml_name *
find(const struct xml_names *names, const xmlChar *space, const xmlChar *local)
{
    const uint64_t key =
        (uint64_t)(uintptr_t)space * UINT64_C(0xC2B2AE3D27D4EB4F) ^ (uint64_t)(uintptr_t)local;
    size_t slot = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (names->size - 1);
    while (names->slots[slot].local != NULL &&
           (names->slots[slot].local != local || names->slots[slot].space != space)) {
        slot = (slot + 1) & (names->size - 1);
    }
    return &names->slots[slot];
}

static void
grow(struct xml_names *names)
{
    struct xml_name *old = names->slots;
    const size_t size = names->size;
    names->size *= 2;
    names->slots = memory_zero(names->size, sizeof *names->slots);
    for (size_t i = 0; i < size; i++) {
        if (old[i].local != NULL) {
            *find(names, old[i].space, old[i].local) = old[i];
        }
    }
    free(old);
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
    struct xml_name *name = find(names, space, local);
    if (name->local != NULL) {
        return name;
    }
    if (names->count * 2 >= names->size) {
        grow(names);
        name = find(names, space, local);
    }
    const struct slice iri =
        arena_printf(&names->arena, "%s%s", space ? (const char *)space : "", (const char *)local);
    if (iri.at == NULL) {
        return NULL;
    }
    *name = (struct xml_name){.space = space, .local = local};
    name->iri = lexical_iri_valid(iri) ? iri : (struct slice){NULL, 0};
    classify(name);
    names->count++;
    return name;
}
