/* Each rule of linked data, with facts that keep it, break it, and do not tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "cli/validation/term_rules.h"
#include "cli/validation/vocabulary_terms.h"

#define TERM "http://v.example/term"
#define HASH "http://v.example/ns#term"

static struct arena arena;
static struct document_facts at;
static struct spoken_of spoken;
static struct term_facts facts;

/* A term without a hash of which nothing is to be said. */
static void
good(void)
{
    map_release(&at.places);
    spoken = (struct spoken_of){.iri = SLICE(TERM),
                                .said = SAID_ANYTHING | SAID_PROPERTY | SAID_LABEL | SAID_TEXT};
    at = (struct document_facts){.address = SLICE(TERM),
                                 .document = SLICE("http://v.example/ns.ttl"),
                                 .hops = {{SLICE(TERM), 303}},
                                 .hop_count = 1,
                                 .web = true,
                                 .known = true,
                                 .state = SLICE("indexed"),
                                 .type = SLICE("text/turtle"),
                                 .http_status = 200,
                                 .has_data = true,
                                 .indexed = true,
                                 .has_page = true,
                                 .subjects = &spoken,
                                 .subject_count = 1};
    map_init(&at.places);
    map_set(&at.places, digest_local(spoken.iri), 0);
    facts = (struct term_facts){.iri = SLICE(TERM), .as_property = true, .at = &at};
}

static struct rule_verdict
verdict_of(const char *name)
{
    for (size_t i = 0; i < TERM_RULES; i++) {
        if (strcmp(term_rules[i].name, name) == 0) {
            return term_judge(&term_rules[i], &facts, &arena);
        }
    }
    fail_msg("there is no rule %s", name);
    return (struct rule_verdict){.outcome = RULE_PASSED};
}

/* Writes what fails or is untold, and nothing else, in the order of the table: "resolves
 * see-other?". */
static void
assert_wrong(const char *expected)
{
    char wrong[400] = "";
    for (size_t i = 0; i < TERM_RULES; i++) {
        const struct rule_verdict verdict = term_judge(&term_rules[i], &facts, &arena);
        if (verdict.outcome == RULE_FAILED || verdict.outcome == RULE_UNTOLD) {
            snprintf(wrong + strlen(wrong), sizeof wrong - strlen(wrong), "%s%s%s",
                     wrong[0] != '\0' ? " " : "", term_rules[i].name,
                     verdict.outcome == RULE_UNTOLD ? "?" : "");
            assert_true(verdict.text.length > 0);
            assert_true(verdict.remedy != NULL && verdict.remedy[0] != '\0');
        }
    }
    assert_string_equal(wrong, expected);
}

static void
assert_says(const char *rule, const char *piece)
{
    const struct rule_verdict verdict = verdict_of(rule);
    assert_int_not_equal(slice_find_slice(verdict.text, slice_string(piece)), verdict.text.length);
}

static void
test_good_term(void **state)
{
    (void)state;
    good();
    assert_wrong("");
    for (size_t i = 0; i < TERM_RULES; i++) {
        const enum rule_outcome outcome = term_judge(&term_rules[i], &facts, &arena).outcome;
        assert_true(outcome == RULE_PASSED || strcmp(term_rules[i].name, "forms") == 0 ||
                    strcmp(term_rules[i].name, "negotiated") == 0);
    }
}

static void
test_address(void **state)
{
    (void)state;
    good();
    at.web = at.known = at.has_data = at.indexed = false;
    facts.iri = SLICE("urn:x:term");
    assert_wrong("web-address");
    assert_says("web-address", "urn:");
}

static void
test_unknown_and_denied(void **state)
{
    (void)state;
    good();
    at.known = at.has_data = at.indexed = false;
    facts.iri = SLICE("http://v.example/other");
    assert_wrong("fetched?");
    assert_says("fetched", "not fetched yet");
    good();
    at.state = SLICE("denied");
    at.reason = SLICE("robots.txt");
    assert_wrong("fetched?");
    assert_says("fetched", "robots.txt");
}

static void
test_resolves(void **state)
{
    (void)state;
    static const uint64_t bad[] = {400, 401, 403, 404, 410, 500, 503};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char piece[16];
        good();
        at.http_status = bad[i];
        at.has_data = at.indexed = false;
        facts.iri = SLICE(HASH);
        assert_wrong("resolves");
        snprintf(piece, sizeof piece, "answers %lu", (unsigned long)bad[i]);
        assert_says("resolves", piece);
    }
    good();
    at.http_status = 0;
    at.state = SLICE("failed");
    at.reason = SLICE("no such host");
    at.has_data = at.indexed = false;
    facts.iri = SLICE(HASH);
    assert_wrong("resolves");
    assert_says("resolves", "no such host");
    good();
    at.endless = true;
    at.known = at.has_data = at.indexed = false;
    facts.iri = SLICE(HASH);
    assert_wrong("resolves");
    assert_says("resolves", "do not end");
}

static void
test_document(void **state)
{
    (void)state;
    good();
    at.has_data = at.indexed = false;
    at.type = SLICE("text/html");
    facts.iri = SLICE(HASH);
    assert_wrong("rdf");
    assert_says("rdf", "text/html");
    good();
    at.malformed = SLICE("prefix is not declared");
    at.malformed_line = 7;
    at.malformed_count = 2;
    assert_wrong("well-formed");
    assert_says("well-formed", "line 7: prefix is not declared, and more");
    good();
    at.wrong_type = SLICE("Content-Type says text/plain, the content is text/turtle");
    at.type_remedy = "Send text/turtle.";
    assert_wrong("media-type");
    assert_string_equal(verdict_of("media-type").remedy, "Send text/turtle.");
}

static void
test_definition(void **state)
{
    (void)state;
    good();
    facts.iri = SLICE(HASH); /* the document speaks of another one */
    assert_wrong("defined");
    good();
    spoken.said = SAID_ANYTHING | SAID_LABEL | SAID_TEXT;
    assert_wrong("kind");
    assert_int_equal(verdict_of("kind").severity, REPORT_ADVICE);
    good();
    facts.as_property = false;
    facts.as_class = true;
    assert_wrong("kind");
    assert_int_equal(verdict_of("kind").severity, REPORT_WARNING);
    good();
    spoken.said = SAID_ANYTHING | SAID_CLASS | SAID_LABEL | SAID_TEXT;
    assert_wrong("kind");
    spoken.said |= SAID_PROPERTY;
    facts.as_class = true;
    assert_wrong("");
    good();
    spoken.said &= ~(unsigned)SAID_LABEL;
    assert_wrong("described");
    spoken.said &= ~(unsigned)SAID_TEXT;
    assert_says("described", "neither");
    spoken.said |= SAID_LABEL;
    assert_says("described", "no description");
}

static void
test_redirects(void **state)
{
    (void)state;
    good();
    at.hop_count = 0;
    at.document = at.address;
    assert_wrong("see-other");
    assert_int_equal(verdict_of("see-other").severity, REPORT_WARNING);
    facts.iri = spoken.iri = SLICE(HASH); /* the fragment is no part of the address */
    map_clear(&at.places);
    map_set(&at.places, digest_local(spoken.iri), 0);
    assert_wrong("");
    static const uint64_t others[] = {301, 302, 307, 308};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        good();
        at.hops[0].status = others[i];
        assert_wrong("see-other");
        assert_int_equal(verdict_of("see-other").severity, REPORT_ADVICE);
        at.hops[1] = (struct fact_hop){SLICE("https://v.example/term"), 303};
        at.hop_count = 2; /* as https does, or PURLs */
        assert_wrong("");
    }
}

static void
test_people_and_forms(void **state)
{
    (void)state;
    good();
    at.has_page = false;
    assert_wrong("page?");
    good();
    struct document_facts form = {.address = SLICE("http://v.example/ns.rdf"),
                                  .document = SLICE("http://v.example/ns.rdf"),
                                  .web = true};
    map_init(&form.places);
    at.forms[0] = &form;
    at.form_count = 1;
    assert_wrong(""); /* not fetched yet */
    form.known = form.indexed = form.has_data = true;
    form.state = SLICE("indexed");
    form.http_status = 200;
    assert_wrong("forms");
    assert_says("forms", "ns.rdf");
    form.subjects = &spoken;
    form.subject_count = 1;
    map_set(&form.places, digest_local(spoken.iri), 0);
    assert_wrong("");
    form.http_status = 404;
    form.state = SLICE("gone");
    assert_wrong("forms");
    map_release(&form.places);
}

static void
test_negotiation(void **state)
{
    (void)state;
    const struct negotiated_form fine[NEGOTIATED_FORMS] = {
        {"text/turtle", 200, SLICE("text/turtle"), 3, SLICE("d1")},
        {"application/rdf+xml", 200, SLICE("application/rdf+xml"), 3, SLICE("d1")},
        {"application/ld+json", 406, SLICE("text/html"), 0, {NULL, 0}},
        {"text/html", 200, SLICE("application/xhtml+xml"), 0, {NULL, 0}}};
    struct negotiated_form forms[NEGOTIATED_FORMS];
    memcpy(forms, fine, sizeof forms);
    good();
    at.negotiated = forms;
    at.has_page = false; /* the server has one for who asks for it */
    assert_wrong("");
    assert_int_equal(verdict_of("negotiated").outcome, RULE_PASSED);
    forms[3].http_status = 406;
    assert_int_equal(verdict_of("page").outcome, RULE_FAILED);
    assert_wrong("page");
    memcpy(forms, fine, sizeof forms);
    forms[1].type = SLICE("text/html");
    forms[1].digest = SLICE("");
    assert_wrong("negotiated");
    assert_says("negotiated", "who asks for application/rdf+xml gets text/html");
    assert_int_equal(verdict_of("negotiated").severity, REPORT_ADVICE);
    /* What is worse is told. */
    forms[2].http_status = 500;
    assert_says("negotiated", "who asks for application/ld+json is answered 500");
    assert_int_equal(verdict_of("negotiated").severity, REPORT_WARNING);
    forms[2].http_status = 0;
    assert_says("negotiated", "who asks for application/ld+json gets no answer");
    memcpy(forms, fine, sizeof forms);
    forms[1].digest = SLICE("d2");
    forms[1].statements = 4;
    assert_says("negotiated", "other statements (4) than as text/turtle (3)");
    forms[0].digest = forms[1].digest = SLICE(""); /* nothing to compare */
    assert_int_equal(verdict_of("negotiated").outcome, RULE_INAPPLICABLE);
}

static void
test_vocabulary(void **state)
{
    (void)state;
    assert_int_equal(vocabulary_kind(SLICE("http://www.w3.org/2002/07/owl#ObjectProperty")),
                     SAID_PROPERTY);
    assert_int_equal(vocabulary_kind(SLICE("http://www.w3.org/2000/01/rdf-schema#Class")),
                     SAID_CLASS);
    assert_int_equal(vocabulary_kind(SLICE("http://xmlns.com/foaf/0.1/Person")), 0);
    assert_true(vocabulary_is_standard(SLICE("http://www.w3.org/2001/XMLSchema#string")));
    assert_false(vocabulary_is_standard(SLICE("http://purl.org/dc/terms/title")));
}

static int
release(void **state)
{
    (void)state;
    map_release(&at.places);
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_term),          cmocka_unit_test(test_address),
        cmocka_unit_test(test_unknown_and_denied), cmocka_unit_test(test_resolves),
        cmocka_unit_test(test_document),           cmocka_unit_test(test_definition),
        cmocka_unit_test(test_redirects),          cmocka_unit_test(test_people_and_forms),
        cmocka_unit_test(test_negotiation),        cmocka_unit_test(test_vocabulary),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
