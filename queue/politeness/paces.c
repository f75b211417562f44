#include "queue/politeness/paces.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { WAYS = 4 };

struct paces {
    struct known_pace *places; /* sets of WAYS */
    size_t sets;
    uint64_t clock; /* of looks */
};

struct paces *
paces_new(size_t places)
{
    struct paces *paces = memory_new(sizeof *paces);
    paces->sets = (places + WAYS - 1) / WAYS;
    paces->places = memory_zero(paces->sets * WAYS, sizeof *paces->places);
    return paces;
}

void
paces_free(struct paces *paces)
{
    if (paces != NULL) {
        free(paces->places);
        free(paces);
    }
}

struct known_pace *
paces_find(struct paces *paces, uint64_t of)
{
    struct known_pace *const first = &paces->places[of % paces->sets * WAYS];
    for (struct known_pace *place = first; place < first + WAYS; place++) {
        if (place->of == of) {
            place->looked = ++paces->clock;
            return place;
        }
    }
    return NULL;
}

struct known_pace *
paces_add(struct paces *paces, uint64_t of)
{
    struct known_pace *found = paces_find(paces, of);
    struct known_pace *const first = &paces->places[of % paces->sets * WAYS];
    if (found != NULL) {
        return found;
    }
    found = first;
    for (struct known_pace *place = first + 1; place < first + WAYS; place++) {
        found = place->looked < found->looked ? place : found;
    }
    *found = (struct known_pace){.of = of, .looked = ++paces->clock};
    return found;
}

void
paces_clear(struct paces *paces)
{
    memset(paces->places, 0, paces->sets * WAYS * sizeof *paces->places);
}
