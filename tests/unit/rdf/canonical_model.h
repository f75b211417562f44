/* Canonical graphs beside a second canonicaliser; a part of test_canonical. */
#ifndef TESTS_UNIT_RDF_CANONICAL_MODEL_H
#define TESTS_UNIT_RDF_CANONICAL_MODEL_H

int canonical_model_run(void);

#endif
