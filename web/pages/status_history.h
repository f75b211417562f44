/* The crawl's figures over time: rings of samples in a small file, DIR/status-history, so that they
 * outlast the page that shows them and the process that takes them. docs/PAGES.md, "Figures over
 * time". Any thread. */
#ifndef WEB_PAGES_STATUS_HISTORY_H
#define WEB_PAGES_STATUS_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum { STATUS_SAMPLE_FIGURES = 13, STATUS_SPANS = 3, STATUS_SPAN_SAMPLES = 360 };
#define STATUS_UNKNOWN UINT64_MAX

struct status_sample {
    uint64_t wall_ms;
    uint64_t figures[STATUS_SAMPLE_FIGURES]; /* STATUS_UNKNOWN: the part did not answer */
};

/* Says how far back a ring reaches, and how far apart its samples are. */
struct status_span {
    const char *name;
    uint64_t period_ms;
};
extern const struct status_span status_spans[STATUS_SPANS];

struct status_history;
/* Never fails: where the file cannot be used, samples are in memory alone, and the log says so. */
struct status_history *status_history_open(const char *directory);
void status_history_close(struct status_history *history); /* NULL is allowed */
/* A ring takes the first sample of each of its periods. */
void status_history_add(struct status_history *history, const struct status_sample *sample);
/* Those of a span that ends now, in the order of time; how many. */
size_t status_history_read(struct status_history *history, size_t span, uint64_t now_ms,
                           struct status_sample samples[STATUS_SPAN_SAMPLES]);

#endif
