#include "cli/report/sitemap_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { SIDE = 260, LEFT = 60, TOP = 40, PANEL_WIDTH = 360, HEIGHT = 350, GRID = 60 };

struct panel {
    const char *title, *across, *up;
    struct plot_dot *dots;
    size_t count;
};

static int
compare(const void *a, const void *b)
{
    const struct plot_dot *x = a, *y = b;
    if (x->x != y->x) {
        return x->x < y->x ? -1 : 1;
    }
    return x->y < y->y ? -1 : x->y > y->y;
}

/* Dots of equal places become one; returns how many are left. */
static size_t
plot_gather(struct plot_dot *dots, size_t count)
{
    size_t kept = 0;
    qsort(dots, count, sizeof *dots, compare);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare(&dots[kept - 1], &dots[i]) == 0) {
            dots[kept - 1].weight += dots[i].weight;
        } else {
            dots[kept++] = dots[i];
        }
    }
    return kept;
}

static void
draw(FILE *out, unsigned number, const struct panel *panel)
{
    const unsigned left = LEFT + number * PANEL_WIDTH;
    const unsigned bottom = TOP + SIDE;
    fprintf(out, "<text x='%u' y='%d' font-weight='bold'>%s</text>\n", left, TOP - 12,
            panel->title);
    fprintf(out, "<rect x='%u' y='%d' width='%d' height='%d' fill='none' stroke='#999'/>\n", left,
            TOP, SIDE, SIDE);
    fprintf(out, "<path d='M%u %uL%u %d' stroke='#999' stroke-dasharray='4'/>\n", left, bottom,
            left + SIDE, TOP);
    fprintf(out, "<text x='%u' y='%u' text-anchor='middle'>%s</text>\n", left + SIDE / 2,
            bottom + 30, panel->across);
    fprintf(out,
            "<text x='%u' y='%d' transform='rotate(-90 %u %d)' text-anchor='middle'>%s</text>\n",
            left - 14, TOP + SIDE / 2, left - 14, TOP + SIDE / 2, panel->up);
    for (size_t i = 0; i < panel->count; i++) {
        const struct plot_dot *dot = &panel->dots[i];
        fprintf(out,
                "<circle cx='%.1f' cy='%.1f' r='%.1f' fill='#036' fill-opacity='0.5'>"
                "<title>%" PRIu64 "</title></circle>\n",
                left + dot->x * SIDE, bottom - dot->y * SIDE, 2 + log2((double)dot->weight) / 2,
                dot->weight);
    }
}

static struct plot_dot *
dots_of_hosts(const struct plot_host *hosts, size_t count, bool indexed, size_t *n)
{
    struct plot_dot *dots = memory_zero(count + 1, sizeof *dots);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct study_measures *measures = &hosts[i].measures;
        const double x = indexed ? measures->unique_coverage : measures->coverage;
        const double y = indexed ? measures->index_coverage : measures->unique_coverage;
        if (x >= 0 && y >= 0) {
            dots[(*n)++] = (struct plot_dot){x, y, measures->seen.all};
        }
    }
    return dots;
}

/* Both axes have the same time; places are rounded, so that equal ones become one dot. */
static struct plot_dot *
dots_of_urls(const struct study *study, size_t *n)
{
    struct plot_dot *dots = memory_zero(study->count + 1, sizeof *dots);
    uint64_t first = UINT64_MAX, last = 0;
    *n = 0;
    for (size_t i = 0; i < study->count; i++) {
        const struct study_url *url = &study->urls[i];
        if (url->sitemap_ms > 0 && url->link_ms > 0) {
            const uint64_t least = url->sitemap_ms < url->link_ms ? url->sitemap_ms : url->link_ms;
            const uint64_t most = url->sitemap_ms < url->link_ms ? url->link_ms : url->sitemap_ms;
            first = least < first ? least : first;
            last = most > last ? most : last;
        }
    }
    const double span = last > first ? (double)(last - first) : 1;
    for (size_t i = 0; i < study->count; i++) {
        const struct study_url *url = &study->urls[i];
        if (url->sitemap_ms > 0 && url->link_ms > 0) {
            dots[(*n)++] =
                (struct plot_dot){floor((double)(url->link_ms - first) / span * GRID) / GRID,
                                  floor((double)(url->sitemap_ms - first) / span * GRID) / GRID, 1};
        }
    }
    *n = plot_gather(dots, *n);
    return dots;
}

void
plot_sitemaps(FILE *out, const struct plot_host *hosts, size_t count, const struct study *study)
{
    struct panel panels[3] = {
        {.title = "Hosts: unique pages", .across = "Coverage", .up = "UniqueCoverage"},
        {.title = "Hosts: pages in the index", .across = "UniqueCoverage", .up = "IndexCoverage"},
        {.title = "URLs: first seen, earliest to latest",
         .across = "by links",
         .up = "by sitemaps"}};
    const unsigned n = study != NULL ? 3 : 2;
    panels[0].dots = dots_of_hosts(hosts, count, false, &panels[0].count);
    panels[1].dots = dots_of_hosts(hosts, count, true, &panels[1].count);
    if (study != NULL) {
        panels[2].dots = dots_of_urls(study, &panels[2].count);
    }
    fprintf(
        out,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%d' font-family='sans-serif' "
        "font-size='11'>\n<rect width='100%%' height='100%%' fill='#fff'/>\n",
        n * PANEL_WIDTH, HEIGHT);
    for (unsigned i = 0; i < n; i++) {
        draw(out, i, &panels[i]);
        free(panels[i].dots);
    }
    fprintf(out, "</svg>\n");
}
