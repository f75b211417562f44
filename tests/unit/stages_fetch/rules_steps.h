/* The rest of the fetch program in the tests of stages/fetch/rules.c, and steps of these. */
#ifndef TESTS_UNIT_STAGES_FETCH_RULES_STEPS_H
#define TESTS_UNIT_STAGES_FETCH_RULES_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/fetch_steps.h"

#define HOST "http://a.example"
#define PAGE HOST "/dir/page"
#define ROBOTS HOST "/robots.txt"
enum { TRACE = 1 << 16, NOW = 1700000000, DELAY_MS = 700, HOUR_MS = 3600000, DAY_MS = 86400000 };
static const uint64_t now_ms = (uint64_t)NOW * 1000;

extern struct fetch fetch;
extern struct stage_job job;
extern struct task task;
extern int64_t crawl_delay_ms; /* that the task was told */
extern struct no_rules {
    bool told, silent;
    uint16_t status;
    char reason[HOST_REASON_SIZE];
} no_rules;
extern bool freed, superseded, archive_full, elsewhere, spares;
extern struct buf trace, records[3], noted;
extern metastore_got *got;
extern void *got_context;
extern fetch_parsed *parsed;
extern void *parsed_context;

/* Makes a slice of what stands for good. */
#define LITERAL(text)            \
    {                            \
        (text), sizeof(text) - 1 \
    }

static const struct fetch_result good = {.end = FETCH_ANSWERED,
                                         .status = 200,
                                         .response_header = LITERAL("HTTP/1.1 200 OK\r\n\r\n"),
                                         .body = LITERAL("User-agent: *\nDisallow: /dir\n"),
                                         .address = 9,
                                         .problem = ""};

void assert_trace(const char *text);
void set_number(int of, enum meta_field field, uint64_t number);
void set_text(int of, enum meta_field field, const char *text);
void answer_records(size_t n);
uint64_t noted_number(enum meta_field field);
void assert_noted(enum meta_field field, const char *text);
void make_task(void);
void clear_records(void);
struct host *put_host(const char *rules);
void forget_hosts(void);
int set_up(void **state);
int tear_down(void **state);
void ask_robots(void);
void finish(const struct fetch_result *result);

#endif
