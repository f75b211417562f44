/* The figures of the sitemaps' report as one SVG: dots in squares. After Schonfeld and Shivakumar
 * (WWW 2009), figures 4, 5(b) and 6. */
#ifndef CLI_REPORT_SITEMAP_PLOT_H
#define CLI_REPORT_SITEMAP_PLOT_H

#include <stdio.h>

#include "cli/report/sitemap_study.h"

struct plot_host {
    const char *name;
    struct study_measures measures;
};

struct plot_dot {
    double x, y; /* 0..1 */
    uint64_t weight;
};

/* hosts: by UniqueCoverage and Coverage, IndexCoverage and UniqueCoverage. study (may be NULL): of
 * one host, when links and sitemaps saw its URLs first. */
void plot_sitemaps(FILE *out, const struct plot_host *hosts, size_t count,
                   const struct study *study);

#endif
