/* Lines of N-Quads, made from the grammar, cut anywhere; a part of test_nquads. */
#ifndef TESTS_UNIT_RDF_NQUADS_LINES_H
#define TESTS_UNIT_RDF_NQUADS_LINES_H

int nquads_lines_run(void);

#endif
