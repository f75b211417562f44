/* Documents of Turtle and TriG that say what they mean; a part of test_turtle. */
#ifndef TESTS_UNIT_RDF_TURTLE_DOCUMENTS_H
#define TESTS_UNIT_RDF_TURTLE_DOCUMENTS_H

int turtle_documents_run(void);

#endif
