#include "cli/report/report_totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rdf/core/lexical.h"

/* Cut after a whole character. */
static void
keep(char *room, size_t size, struct slice text)
{
    size_t length = text.length < size ? text.length : size - 1;
    length = length > 0 ? lexical_utf8_prefix(text.at, length) : 0;
    if (length > 0) {
        memcpy(room, text.at, length);
    }
    room[length] = 0;
}

static void
tally(struct report_tallies *tallies, struct slice name, uint64_t quads)
{
    char text[sizeof tallies->of[0].name];
    keep(text, sizeof text, name);
    size_t i = 0;
    while (i < tallies->count && strcmp(tallies->of[i].name, text) != 0) {
        i++;
    }
    if (i == REPORT_NAMES) {
        i = REPORT_NAMES - 1;
        memcpy(tallies->of[i].name, "others", sizeof "others");
    } else if (i == tallies->count) {
        memcpy(tallies->of[tallies->count++].name, text, sizeof text);
    }
    tallies->of[i].pages++;
    tallies->of[i].quads += quads;
}

/* The text without digits and what stands in quotation marks: what complaints of a kind share. */
static void
shape_of(struct slice text, char *shape, size_t size)
{
    size_t n = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.length && n < size - 1; i++) {
        const char c = text.at[i];
        quoted ^= c == '"';
        if (!quoted && (c < '0' || c > '9')) {
            shape[n++] = c;
        }
    }
    shape[n] = 0;
}

static struct report_kind *
kind_of(struct report_totals *totals, const struct report_finding *finding)
{
    char shape[sizeof totals->kinds[0].shape];
    shape_of(finding->text, shape, sizeof shape);
    for (size_t i = 0; i < totals->kind_count; i++) {
        struct report_kind *kind = &totals->kinds[i];
        if (kind->severity == finding->severity && slice_is(finding->where, kind->where) &&
            kind->advice == finding->advice &&
            ((finding->advice != NULL && finding->advice->pattern[0] != 0) ||
             strcmp(kind->shape, shape) == 0)) {
            return kind;
        }
    }
    if (totals->kind_count == REPORT_KINDS) {
        return NULL;
    }
    struct report_kind *kind = &totals->kinds[totals->kind_count++];
    keep(kind->where, sizeof kind->where, finding->where);
    keep(kind->text, sizeof kind->text, finding->text);
    memcpy(kind->shape, shape, sizeof shape);
    kind->advice = finding->advice;
    kind->severity = finding->severity;
    return kind;
}

void
report_totals_add(struct report_totals *totals, const struct report_page *page)
{
    totals->pages++;
    totals->by_severity[page->severity]++;
    totals->html += page->is_html && page->transformed;
    totals->without_data += page->is_html && page->transformed && !page->has_data;
    totals->links_trapped += page->links_trapped;
    totals->with_traps += page->links_trapped > 0;
    totals->trapped += page->trapped;
    tally(&totals->states, page->state, 0);
    for (size_t i = 0; i < page->transform_count; i++) {
        tally(&totals->transforms, page->transforms[i].name, page->transforms[i].quads);
    }
    for (size_t i = 0; i < page->finding_count; i++) {
        struct report_kind *kind = kind_of(totals, &page->findings[i]);
        if (kind == NULL) {
            totals->uncounted++;
        } else if (kind->last != totals->pages) {
            kind->last = totals->pages;
            if (kind->pages++ == 0) {
                kind->example = memory_alloc(page->uri.length + 1);
                keep(kind->example, page->uri.length + 1, page->uri);
                kind->line = page->findings[i].line;
            }
        }
    }
}

static int
compare_kinds(const void *a, const void *b)
{
    const struct report_kind *first = a;
    const struct report_kind *second = b;
    if (first->pages != second->pages) {
        return first->pages < second->pages ? 1 : -1;
    }
    if (first->severity != second->severity) {
        return first->severity < second->severity ? -1 : 1;
    }
    return strcmp(first->text, second->text);
}

static int
compare_tallies(const void *a, const void *b)
{
    return strcmp(((const struct report_tally *)a)->name, ((const struct report_tally *)b)->name);
}

void
report_totals_sort(struct report_totals *totals)
{
    qsort(totals->kinds, totals->kind_count, sizeof totals->kinds[0], compare_kinds);
    qsort(totals->states.of, totals->states.count, sizeof totals->states.of[0], compare_tallies);
    qsort(totals->transforms.of, totals->transforms.count, sizeof totals->transforms.of[0],
          compare_tallies);
}

void
report_totals_release(struct report_totals *totals)
{
    for (size_t i = 0; i < totals->kind_count; i++) {
        free(totals->kinds[i].example);
    }
    totals->kind_count = 0;
}
