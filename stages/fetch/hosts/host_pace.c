#include "stages/fetch/hosts/host_pace.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    SMOOTHING = 4,
    TROUBLES_MAXIMUM = 32,
    WORTH_NOTING_MS = 50,
    WAYS = 4,
    PATIENCE_FACTOR = 16,
    HALVINGS_MOST = 3
};

struct paces {
    struct pace *places; /* sets of WAYS; in each, who was not looked for the longest makes room */
    size_t sets;
    uint64_t clock; /* of looks */
};

struct paces *
paces_new(size_t places)
{
    struct paces *paces = memory_zero(1, sizeof *paces);
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

struct pace *
paces_find(struct paces *paces, uint64_t of)
{
    struct pace *const first = &paces->places[of % paces->sets * WAYS];
    struct pace *found = first;
    for (struct pace *pace = first; pace < first + WAYS; pace++) {
        if (pace->of == of) {
            found = pace;
            break;
        }
        found = pace->looked < found->looked ? pace : found;
    }
    if (found->of != of) {
        *found = (struct pace){.of = of};
    }
    found->looked = ++paces->clock;
    return found;
}

void
pace_answered(struct pace *pace, uint32_t milliseconds)
{
    const uint64_t before = pace->response_ms;
    const uint64_t now = milliseconds > 0 ? milliseconds : 1;
    pace->response_ms =
        (uint32_t)(before == 0 ? now : (before * (SMOOTHING - 1) + now) / SMOOTHING);
    pace->troubles /= 2;
    if (pace->troubles == 0) {
        pace->until_ms = 0;
    }
}

void
pace_troubled(struct pace *pace, const struct pace_rules *rules, uint64_t retry_after_ms,
              uint64_t now_ms)
{
    if (pace->troubles < TROUBLES_MAXIMUM) {
        pace->troubles++;
    }
    if (retry_after_ms > rules->retry_after_most_ms) {
        retry_after_ms = rules->retry_after_most_ms;
    }
    if (retry_after_ms > 0 && now_ms + retry_after_ms > pace->until_ms) {
        pace->until_ms = now_ms + retry_after_ms;
    }
}

void
pace_heard(struct pace *pace, bool answer)
{
    pace->failures = answer ? 0 : pace->failures + (pace->failures < UINT32_MAX);
    pace->answered |= answer;
}

bool
pace_blames_document(const struct pace *pace, unsigned attempt)
{
    return pace->answered && attempt > 1 && pace->failures < attempt - 1;
}

uint64_t
pace_backoff_ms(const struct pace *pace, const struct pace_rules *rules)
{
    if (pace->troubles == 0) {
        return 0;
    }
    uint64_t rest_ms = rules->backoff_ms;
    for (uint32_t i = 1; i < pace->troubles && rest_ms < rules->backoff_most_ms; i++) {
        rest_ms *= 2;
    }
    return rest_ms < rules->backoff_most_ms ? rest_ms : rules->backoff_most_ms;
}

uint64_t
pace_rest_ms(const struct pace *pace, const struct pace_rules *rules, uint64_t now_ms)
{
    uint64_t rest_ms = rules->least_ms > 0 ? rules->factor * pace->response_ms : 0;
    rest_ms = rest_ms < rules->most_ms ? rest_ms : rules->most_ms;
    rest_ms = rest_ms > rules->least_ms ? rest_ms : rules->least_ms;
    const uint64_t backoff_ms = pace_backoff_ms(pace, rules);
    const uint64_t asked_ms = pace->until_ms > now_ms ? pace->until_ms - now_ms : 0;
    rest_ms = rest_ms > backoff_ms ? rest_ms : backoff_ms;
    return rest_ms > asked_ms ? rest_ms : asked_ms;
}

uint64_t
pace_patience_ms(const struct pace *pace, uint64_t most_ms, unsigned attempt)
{
    if (pace->response_ms == 0) {
        return most_ms >> (pace->troubles < HALVINGS_MOST ? pace->troubles : HALVINGS_MOST);
    }
    uint64_t patience_ms = (uint64_t)PATIENCE_FACTOR * pace->response_ms;
    patience_ms = patience_ms > most_ms / 4 ? patience_ms : most_ms / 4;
    for (unsigned i = 1; i < attempt && patience_ms < most_ms; i++) {
        patience_ms *= 2;
    }
    return patience_ms < most_ms ? patience_ms : most_ms;
}

bool
pace_worth_noting(struct pace *pace)
{
    const uint64_t now = pace->response_ms;
    const uint64_t away = now > pace->noted_ms ? now - pace->noted_ms : pace->noted_ms - now;
    if (away < WORTH_NOTING_MS || away * 4 < pace->noted_ms) {
        return false;
    }
    pace->noted_ms = now;
    return true;
}
