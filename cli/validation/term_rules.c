#include "cli/validation/term_rules.h"

#include <inttypes.h>

#include "base/digest.h"

enum { HTTP_NOT_ACCEPTABLE = 406 };

unsigned
document_says_of(const struct document_facts *document, struct slice iri)
{
    uint32_t place;
    for (uint64_t hash = digest_local(iri);
         (place = map_get(&document->places, hash)) != (uint32_t)MAP_NONE; hash++) {
        if (slice_equal(document->subjects[place].iri, iri)) {
            return document->subjects[place].said;
        }
    }
    return 0;
}

static void
fail(struct rule_verdict *verdict, struct slice text)
{
    verdict->outcome = RULE_FAILED;
    verdict->text = text;
}

static bool
is_hash(const struct term_facts *facts)
{
    return slice_find(facts->iri, '#') < facts->iri.length;
}

static bool
was_fetched(const struct document_facts *at)
{
    return at->web && at->known && !at->endless && !slice_is(at->state, "denied");
}

static bool
answers(const struct document_facts *at)
{
    return was_fetched(at) && at->http_status < 400 && !slice_is(at->state, "failed") &&
           !slice_is(at->state, "gone");
}

/* ---- the rules, in the order of the table ---- */

static void
judge_address(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    if (!facts->at->web) {
        fail(verdict, arena_printf(arena, "nobody can look up an address that begins with %.*s:",
                                   (int)slice_find(facts->iri, ':'), facts->iri.at));
    }
}

static void
judge_fetched(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (!at->web || at->endless) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (!at->known) {
        verdict->outcome = RULE_UNTOLD;
        verdict->text = arena_printf(arena, "<%.*s> is not fetched yet", SLICE_PRINT(at->document));
    } else if (slice_is(at->state, "denied")) {
        verdict->outcome = RULE_UNTOLD;
        verdict->severity = REPORT_WARNING;
        verdict->text = arena_printf(arena, "<%.*s> may not be fetched: %.*s",
                                     SLICE_PRINT(at->document), SLICE_PRINT(at->reason));
        verdict->remedy = "Let robots.txt allow the addresses of terms to all programs.";
    }
}

static void
judge_resolves(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (at->endless) {
        fail(verdict, SLICE("its redirects do not end"));
        verdict->remedy = "Redirect once, to the address of a document.";
    } else if (!was_fetched(at)) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (at->http_status >= 400) {
        fail(verdict, arena_printf(arena, "<%.*s> answers %" PRIu64, SLICE_PRINT(at->document),
                                   at->http_status));
        verdict->remedy = at->http_status >= 500 ? "Mend the server: its log says what failed."
                          : at->http_status == 401 || at->http_status == 403
                              ? "Let everybody read the documents of terms."
                              : verdict->remedy;
    } else if (!answers(at)) {
        fail(verdict, arena_printf(arena, "<%.*s> could not be had: %.*s",
                                   SLICE_PRINT(at->document), SLICE_PRINT(at->reason)));
        verdict->remedy = slice_find_slice(at->reason, SLICE("redirect")) < at->reason.length
                              ? "Redirect once, to the address of a document."
                              : "See that the host's name resolves and that its server answers.";
    }
}

static void
judge_rdf(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (!answers(at)) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (!at->has_data) {
        fail(verdict,
             arena_printf(arena, "<%.*s>, %.*s, has no RDF", SLICE_PRINT(at->document),
                          SLICE_PRINT(at->type.length > 0 ? at->type : SLICE("of unknown type"))));
    }
}

static void
judge_wellformed(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (!answers(at)) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (at->malformed.length > 0) {
        fail(verdict,
             arena_printf(arena, "<%.*s>, line %" PRIu64 ": %.*s%s", SLICE_PRINT(at->document),
                          at->malformed_line, SLICE_PRINT(at->malformed),
                          at->malformed_count > 1 ? ", and more" : ""));
        verdict->remedy = at->malformed_remedy != NULL ? at->malformed_remedy : verdict->remedy;
    }
}

static void
judge_media_type(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (!answers(at)) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (at->wrong_type.length > 0) {
        fail(verdict, arena_printf(arena, "<%.*s>: %.*s", SLICE_PRINT(at->document),
                                   SLICE_PRINT(at->wrong_type)));
        verdict->remedy = at->type_remedy != NULL ? at->type_remedy : verdict->remedy;
    }
}

static void
judge_defined(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (!answers(at) || !at->has_data || !at->indexed) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (document_says_of(at, facts->iri) == 0) {
        fail(verdict, arena_printf(arena, "<%.*s> says nothing of it", SLICE_PRINT(at->document)));
    }
}

static void
judge_kind(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const unsigned said = document_says_of(facts->at, facts->iri);
    const bool property = (said & SAID_PROPERTY) != 0, class = (said & SAID_CLASS) != 0;
    (void)arena;
    if (said == 0) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (facts->as_property && class && !property) {
        fail(verdict, SLICE("it is defined as a class and used as a property"));
    } else if (facts->as_class && property && !class) {
        fail(verdict, SLICE("it is defined as a property and used as a class"));
    } else if (!property && !class) {
        fail(verdict, SLICE("its document does not say whether it is a property or a class"));
        verdict->severity = REPORT_ADVICE;
    }
}

/* With a hash the fragment is cut off before anybody asks, so that the document has another
 * address than the term. Without one the answer itself has to say that it is about something else.
 */
static void
judge_see_other(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (!answers(at) || is_hash(facts)) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (at->hop_count == 0) {
        fail(verdict,
             arena_printf(arena,
                          "<%.*s> answers %" PRIu64 ", so it names the term and the document",
                          SLICE_PRINT(at->address), at->http_status));
    } else if (at->hops[0].status != 303 && at->hops[0].status != 0) {
        bool other = false; /* a moved address may lead to one that answers 303 */
        for (size_t i = 1; i < at->hop_count; i++) {
            other = other || at->hops[i].status == 303;
        }
        if (!other) {
            fail(verdict, arena_printf(arena, "<%.*s> redirects by %" PRIu64 ", not 303",
                                       SLICE_PRINT(at->address), at->hops[0].status));
            verdict->severity = REPORT_ADVICE;
        }
    }
}

static void
judge_described(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const unsigned said = document_says_of(facts->at, facts->iri);
    (void)arena;
    if (said == 0) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if ((said & SAID_LABEL) == 0) {
        fail(verdict, (said & SAID_TEXT) != 0
                          ? SLICE("it has no label for people")
                          : SLICE("it has neither a label nor a description for people"));
    } else if ((said & SAID_TEXT) == 0) {
        fail(verdict, SLICE("it has no description for people"));
    }
}

/* ---- what its server answers, by what is asked for ---- */

static bool
is_page(struct slice type)
{
    return slice_is(type, "text/html") || slice_is(type, "application/xhtml+xml");
}

static bool
is_answer(const struct negotiated_form *form)
{
    return form->http_status >= 200 && form->http_status < 300;
}

/* The first that has RDF by itself, as others may have it. */
static const struct negotiated_form *
first_with_data(const struct document_facts *at)
{
    for (size_t i = 0; i < NEGOTIATED_FORMS; i++) {
        if (is_answer(&at->negotiated[i]) && at->negotiated[i].digest.length > 0) {
            return &at->negotiated[i];
        }
    }
    return NULL;
}

static void
judge_form(const struct negotiated_form *form, const struct negotiated_form *first,
           struct arena *arena, struct rule_verdict *verdict)
{
    if (form->http_status == HTTP_NOT_ACCEPTABLE) {
        return; /* it is not offered, and says so */
    }
    if (!is_answer(form)) {
        fail(verdict, form->http_status == 0
                          ? arena_printf(arena, "who asks for %s gets no answer", form->asked)
                          : arena_printf(arena, "who asks for %s is answered %" PRIu64, form->asked,
                                         form->http_status));
    } else if (form->digest.length > 0 && !slice_equal(form->digest, first->digest)) {
        fail(verdict, arena_printf(arena,
                                   "asked for as %s it has other statements (%" PRIu64
                                   ") than as %s (%" PRIu64 ")",
                                   form->asked, form->statements, first->asked, first->statements));
    } else if (!slice_is(form->type, form->asked) &&
               !(is_page(form->type) && is_page(slice_string(form->asked)))) {
        verdict->severity = REPORT_ADVICE;
        fail(verdict, arena_printf(arena, "who asks for %s gets %.*s", form->asked,
                                   SLICE_PRINT(form->type.length > 0 ? form->type
                                                                     : SLICE("an unknown type"))));
    }
}

static void
judge_negotiation(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    const struct negotiated_form *first = at->negotiated != NULL ? first_with_data(at) : NULL;
    if (first == NULL) {
        verdict->outcome = RULE_INAPPLICABLE;
        return;
    }
    for (size_t i = 0; i < NEGOTIATED_FORMS; i++) {
        struct rule_verdict found = *verdict;
        found.outcome = RULE_PASSED;
        found.severity = REPORT_WARNING;
        judge_form(&at->negotiated[i], first, arena, &found);
        if (found.outcome == RULE_FAILED &&
            (verdict->outcome != RULE_FAILED || found.severity < verdict->severity)) {
            *verdict = found;
        }
    }
}

static bool
negotiates_page(const struct document_facts *at)
{
    for (size_t i = 0; at->negotiated != NULL && i < NEGOTIATED_FORMS; i++) {
        if (is_answer(&at->negotiated[i]) && is_page(at->negotiated[i].type)) {
            return true;
        }
    }
    return false;
}

static void
judge_page(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (!answers(at) || !at->has_data) {
        verdict->outcome = RULE_INAPPLICABLE;
    } else if (!at->has_page && !negotiates_page(at)) {
        /* Servers may have one for who prefers HTML; a crawl asks for data. */
        verdict->outcome = at->negotiated != NULL ? RULE_FAILED : RULE_UNTOLD;
        verdict->text = arena_printf(arena, "no page for people is seen beside <%.*s>",
                                     SLICE_PRINT(at->document));
    }
}

static void
judge_forms(const struct term_facts *facts, struct arena *arena, struct rule_verdict *verdict)
{
    const struct document_facts *at = facts->at;
    if (at->form_count == 0 || document_says_of(at, facts->iri) == 0) {
        verdict->outcome = RULE_INAPPLICABLE;
    }
    for (size_t i = 0; i < at->form_count && verdict->outcome == RULE_PASSED; i++) {
        const struct document_facts *form = at->forms[i];
        if (form->known && !answers(form)) {
            fail(verdict, arena_printf(arena, "<%.*s>, another form of its document, cannot be had",
                                       SLICE_PRINT(form->address)));
        } else if (form->indexed && document_says_of(form, facts->iri) == 0) {
            fail(verdict,
                 arena_printf(arena, "<%.*s>, another form of its document, says nothing of it",
                              SLICE_PRINT(form->document)));
        }
    }
}

const struct term_rule term_rules[TERM_RULES] = {
    {"web-address", "A term has an http or https address.", REPORT_WARNING,
     "Name the term by an http or https URI of a host that is yours.", judge_address},
    {"fetched", "The document of a term is known.", REPORT_ADVICE,
     "Have it fetched: `quadrille validate --add` puts it into the queue, and the line `policy "
     "vocabularies` in the file of extract.queries lets a crawl fetch all of them.",
     judge_fetched},
    {"resolves", "The address of a term leads to a document.", REPORT_ERROR,
     "Serve a document at this address, or answer 303 with the address of one; or use a term that "
     "is still published.",
     judge_resolves},
    {"rdf", "The document of a term has RDF.", REPORT_ERROR,
     "Answer with Turtle, RDF/XML or JSON-LD when Accept asks for it, or put RDFa or JSON-LD into "
     "the page.",
     judge_rdf},
    {"well-formed", "The document of a term has no errors.", REPORT_WARNING,
     "Look at the document with `quadrille inspect`.", judge_wellformed},
    {"media-type", "Content-Type says what the document is.", REPORT_WARNING,
     "Send the Content-Type of the syntax: text/turtle, application/rdf+xml, application/ld+json.",
     judge_media_type},
    {"defined", "The document of a term defines it.", REPORT_ERROR,
     "State there what it is: <term> a rdf:Property (or rdfs:Class) ; rdfs:label \"...\"; or mend "
     "the spelling of the term where it is used.",
     judge_defined},
    {"kind", "A term is used as what it is defined as.", REPORT_WARNING,
     "Declare it as rdf:Property or rdfs:Class (or their kin of OWL), and use it as that.",
     judge_kind},
    {"see-other", "A term without a hash redirects to its document by 303 See Other.",
     REPORT_WARNING,
     "Answer 303 See Other with the address of the document, or name terms with a hash.",
     judge_see_other},
    {"described", "A term has a label and a description for people.", REPORT_ADVICE,
     "Add rdfs:label and rdfs:comment, or skos:prefLabel and skos:definition.", judge_described},
    {"page", "There is a document for people beside the data.", REPORT_ADVICE,
     "Serve a page to who prefers HTML, and link to it from the data by foaf:page or "
     "rdfs:seeAlso, so that programs find it.",
     judge_page},
    {"forms", "All forms of a document define the same terms.", REPORT_WARNING,
     "Make all forms of the document from one source.", judge_forms},
    {"negotiated", "Who asks for a syntax gets it, or 406, and all of them say the same.",
     REPORT_WARNING,
     "Choose by Accept among forms that are made from one source, and answer 406 Not Acceptable "
     "when there is none.",
     judge_negotiation},
};

struct rule_verdict
term_judge(const struct term_rule *rule, const struct term_facts *facts, struct arena *arena)
{
    struct rule_verdict verdict = {
        .outcome = RULE_PASSED, .severity = rule->severity, .remedy = rule->remedy};
    rule->judge(facts, arena, &verdict);
    return verdict;
}
