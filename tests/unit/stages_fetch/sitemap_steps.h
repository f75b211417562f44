/* The rest of the fetch program in the tests of stages/fetch/sitemap_entries.c and sitemap_fetch.c,
 * and steps of these. */
#ifndef TESTS_UNIT_STAGES_FETCH_SITEMAP_STEPS_H
#define TESTS_UNIT_STAGES_FETCH_SITEMAP_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "datasets/sitemap_score.h"
#include "stages/fetch/sitemap_entries.h"

#define HOST "http://a.example"
#define MAP HOST "/dir/map.xml"
#define LOOK "look for h" HOST " u" MAP "\n"
/* Nothing was known of the submitter. */
#define SUBMITTER "note h" HOST " 1700000000000 0 0 read 0\n"
enum { TRACE = 1 << 20, RECORDS = 1200, CHUNK = 1000, VISITS_CHUNK = 100, TEXT = 512 };
static const uint64_t now_ms = 1700000000000, minute_ms = 60000, day_ms = 86400000;

extern struct fetch fetch;
extern struct stage_job job;
extern struct task task;
extern bool freed, quiet;
extern struct buf trace, reply, entries, host, naming, *records;
extern unsigned entry_count, too_deep;
extern metastore_got *got;
extern void *got_context;
extern size_t asked;
extern fetch_parsed *parsed;
extern void *parsed_context;

void assert_trace(const char *text);
void set_number(struct buf *of, enum meta_field field, uint64_t number);
void set_text(struct buf *of, enum meta_field field, const char *text);
void list(const char *location, uint64_t modified_ms, const char *frequency, uint8_t priority,
          const char *alternates, const char *facts);
void make_task(const char *uri, const char *type);
void answer(enum sitemap_kind kind, bool describes, const char *problem);
void begin(void);
void answer_records(size_t n);
void answer_host(void);
void clear_records(void);
int set_up(void **state);
int tear_down(void **state);
void assert_meta(enum meta_field field, const char *text, uint64_t number);

#endif
