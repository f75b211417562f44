/* What RDFa's parts add to: quads, blank nodes, the reports of the processor graph. */
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "rdf/core/vocabulary.h"
#include "transforms/rdfa/rdfa_processor.h"

struct slice
rdfa_keep(struct rdfa *rdfa, struct slice bytes)
{
    const struct slice copy = arena_copy(&rdfa->arena, bytes);
    rdfa->full |= !copy.at;
    return copy.at ? copy : (struct slice){"", 0};
}

struct term
rdfa_blank(struct rdfa *rdfa)
{
    const struct slice label = arena_printf(&rdfa->arena, "rdfa%u", rdfa->blanks++);
    rdfa->full |= !label.at;
    return term_blank(label.at ? label : SLICE("rdfa"));
}

static void
append(struct rdfa *rdfa, struct quad **quads, size_t *count, size_t *capacity,
       const struct quad *quad)
{
    const size_t most = rdfa->options->memory / sizeof *quad;
    if (rdfa->options->memory > 0 && *count >= most) {
        rdfa->full = true;
        return;
    }
    if (*count == *capacity) {
        *capacity = *capacity * 2 + 64;
        *quads = memory_resize(*quads, *capacity, sizeof **quads);
    }
    (*quads)[(*count)++] = *quad;
}

void
rdfa_add(struct rdfa *rdfa, const struct term *subject, struct slice predicate,
         const struct term *object)
{
    const struct quad quad = {.subject = *subject,
                              .predicate = term_iri(predicate),
                              .object = *object,
                              .line = rdfa->line};
    rdfa->copies |= slice_is(predicate, RDFA_NAMESPACE "copy");
    append(rdfa, &rdfa->quads, &rdfa->quad_count, &rdfa->quad_capacity, &quad);
}

/* ---- the processor graph ---- */

static void
add_report(struct rdfa *rdfa, const struct term *subject, const char *predicate, struct term object)
{
    const struct quad quad = {.subject = *subject,
                              .predicate = term_iri(slice_string(predicate)),
                              .object = object,
                              .line = rdfa->line};
    append(rdfa, &rdfa->reports, &rdfa->report_count, &rdfa->report_capacity, &quad);
}

void
rdfa_tell(struct rdfa *rdfa, enum rdfa_report report, const char *format, ...)
{
    static const char *const classes[] = {
        [RDFA_UNRESOLVED_TERM] = RDFA_NAMESPACE "UnresolvedTerm",
        [RDFA_UNRESOLVED_CURIE] = RDFA_NAMESPACE "UnresolvedCURIE",
        [RDFA_PREFIX_REDEFINITION] = RDFA_NAMESPACE "PrefixRedefinition",
        [RDFA_MALFORMED] = RDFA_NAMESPACE "Warning",
        [RDFA_TOO_MUCH] = RDFA_NAMESPACE "Warning",
    };
    const struct rdfa_options *options = rdfa->options;
    if (!options->processor_graph && !options->report) {
        return;
    }
    const uint32_t line = options->lines ? rdfa->line : html_line(rdfa->tree, rdfa->node);
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (options->report) {
        options->report(options->context, report, line, text);
    }
    if (options->processor_graph) {
        const struct term node = rdfa_blank(rdfa), document = term_iri(rdfa->base);
        add_report(rdfa, &node, RDF_TYPE, term_iri(slice_string(classes[report])));
        add_report(rdfa, &node, VOCABULARY_DCTERMS "description",
                   term_literal(rdfa_keep(rdfa, slice_string(text))));
        add_report(rdfa, &node, RDFA_NAMESPACE "context", document);
    }
}
