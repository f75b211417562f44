#ifndef TESTS_UNIT_STAGES_FETCH_PROXIES_H
#define TESTS_UNIT_STAGES_FETCH_PROXIES_H

/* The tests of stages/fetch/http/fetch_proxy.c. */
int fetch_proxies_run(void);

#endif
