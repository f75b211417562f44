/* Tests what Turtle and TriG refuse; a part of test_turtle. */
#ifndef TESTS_UNIT_RDF_TURTLE_LIMITS_H
#define TESTS_UNIT_RDF_TURTLE_LIMITS_H

int turtle_limits_run(void);

#endif
