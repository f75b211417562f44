/* Nodes push each other away and edges pull their ends together (Fruchterman and Reingold, 1991),
 * from places on a circle and for a fixed number of steps, so that it takes the same short time for
 * every graph. */
#include "cli/inspection/graph_drawing.h"

#include <math.h>

#include "base/html_text.h"

enum {
    WIDTH = 960,
    HEIGHT = 640,
    MARGIN = 110, /* room for half a label */
    STEPS = 200,
    LABEL_BYTES = 26,
    TITLE_BYTES = 400 /* of what stands whole where one points */
};

struct node {
    const struct term *term;
    double x, y, dx, dy;
};
struct edge {
    size_t from, to;
    const struct term *predicate;
};
struct drawing {
    struct node nodes[DRAWING_NODES];
    struct edge edges[DRAWING_EDGES];
    size_t node_count, edge_count, left_out;
};

/* ---- what is drawn ---- */

/* DRAWING_NODES: there is no room for it. */
static size_t
node_of(struct drawing *drawing, const struct term *term)
{
    for (size_t i = 0; i < drawing->node_count; i++) {
        if (term_equal(drawing->nodes[i].term, term)) {
            return i;
        }
    }
    if (drawing->node_count == DRAWING_NODES) {
        return DRAWING_NODES;
    }
    drawing->nodes[drawing->node_count] = (struct node){.term = term};
    return drawing->node_count++;
}

static void
add_statement(struct drawing *drawing, const struct quad *quad)
{
    const size_t from = node_of(drawing, &quad->subject);
    const size_t to = node_of(drawing, &quad->object);
    for (size_t i = 0; i < drawing->edge_count; i++) {
        const struct edge *edge = &drawing->edges[i];
        if (edge->from == from && edge->to == to && term_equal(edge->predicate, &quad->predicate)) {
            return;
        }
    }
    if (from == DRAWING_NODES || to == DRAWING_NODES || drawing->edge_count == DRAWING_EDGES) {
        drawing->left_out++;
        return;
    }
    drawing->edges[drawing->edge_count++] = (struct edge){from, to, &quad->predicate};
}

/* ---- where ---- */

static void
push_apart(struct drawing *drawing, double ideal)
{
    for (size_t i = 0; i < drawing->node_count; i++) {
        struct node *a = &drawing->nodes[i];
        a->dx = a->dy = 0;
        for (size_t j = 0; j < drawing->node_count; j++) {
            const struct node *b = &drawing->nodes[j];
            const double x = a->x - b->x, y = a->y - b->y;
            const double square = fmax(x * x + y * y, 1);
            a->dx += i == j ? 0 : x / square * ideal * ideal;
            a->dy += i == j ? 0 : y / square * ideal * ideal;
        }
    }
}

static void
pull_together(struct drawing *drawing, double ideal)
{
    for (size_t i = 0; i < drawing->edge_count; i++) {
        struct node *a = &drawing->nodes[drawing->edges[i].from];
        struct node *b = &drawing->nodes[drawing->edges[i].to];
        const double x = a->x - b->x, y = a->y - b->y;
        const double pull = sqrt(x * x + y * y) / ideal;
        a->dx -= x * pull;
        a->dy -= y * pull;
        b->dx += x * pull;
        b->dy += y * pull;
    }
}

static void
place(struct drawing *drawing)
{
    const double ideal = sqrt((double)WIDTH * HEIGHT / (double)(drawing->node_count + 1)) * 0.8;
    for (size_t i = 0; i < drawing->node_count; i++) {
        const double angle = 2 * M_PI * (double)i / (double)drawing->node_count;
        drawing->nodes[i].x = WIDTH / 2.0 + cos(angle) * HEIGHT / 3;
        drawing->nodes[i].y = HEIGHT / 2.0 + sin(angle) * HEIGHT / 3;
    }
    for (int step = 0; step < STEPS; step++) {
        const double heat = HEIGHT / 8.0 * (STEPS - step) / STEPS;
        push_apart(drawing, ideal);
        pull_together(drawing, ideal);
        for (size_t i = 0; i < drawing->node_count; i++) {
            struct node *node = &drawing->nodes[i];
            const double length = fmax(sqrt(node->dx * node->dx + node->dy * node->dy), 0.01);
            node->x += node->dx / length * fmin(length, heat);
            node->y += node->dy / length * fmin(length, heat);
            node->x = fmin(fmax(node->x, MARGIN), WIDTH - MARGIN);
            node->y = fmin(fmax(node->y, MARGIN / 4.0), HEIGHT - MARGIN / 4.0);
        }
    }
}

/* ---- as SVG ---- */

/* The last part of an IRI, the begin of a literal. */
static void
append_label(struct buf *out, const struct term *term)
{
    struct slice text = term->value;
    if (term->kind == TERM_IRI) {
        size_t begin = text.length;
        while (begin > 0 && text.at[begin - 1] != '#' && text.at[begin - 1] != '/') {
            begin--;
        }
        text = begin < text.length ? slice_of(text.at + begin, text.length - begin) : text;
    }
    const struct slice shown = html_text_start(text, LABEL_BYTES);
    (void)buf_append_string(out, term->kind == TERM_BLANK ? "_:" : "");
    html_text(out, shown);
    (void)buf_append_string(out, shown.length < text.length ? "…" : "");
}

static void
append_title(struct buf *out, const struct term *term)
{
    const struct slice shown = html_text_start(term->value, TITLE_BYTES);
    (void)buf_append_string(out, "<title>");
    html_text(out, shown);
    (void)buf_append_string(out, shown.length < term->value.length ? "…</title>" : "</title>");
}

static void
append_edge(struct buf *out, const struct drawing *drawing, const struct edge *edge)
{
    const struct node *from = &drawing->nodes[edge->from], *to = &drawing->nodes[edge->to];
    (void)buf_printf(out,
                     "<g><path class=\"edge\" d=\"M%.0f %.0fL%.0f %.0f\" "
                     "marker-end=\"url(#tip)\"/><text class=\"soft\" text-anchor=\"middle\" "
                     "x=\"%.0f\" y=\"%.0f\">",
                     from->x, from->y, to->x, to->y, (from->x + to->x) / 2,
                     (from->y + to->y) / 2 - 3);
    append_label(out, edge->predicate);
    append_title(out, edge->predicate);
    (void)buf_append_string(out, "</text></g>\n");
}

static void
append_node(struct buf *out, const struct node *node)
{
    static const char *const classes[] = {
        [TERM_NONE] = "", [TERM_IRI] = "", [TERM_BLANK] = " blank", [TERM_LITERAL] = " literal"};
    (void)buf_printf(out,
                     "<g class=\"node%s\"><circle cx=\"%.0f\" cy=\"%.0f\" r=\"7\"/>"
                     "<text text-anchor=\"middle\" x=\"%.0f\" y=\"%.0f\">",
                     classes[node->term->kind], node->x, node->y, node->x, node->y - 11);
    append_label(out, node->term);
    (void)buf_append_string(out, "</text>");
    append_title(out, node->term);
    (void)buf_append_string(out, "</g>\n");
}

size_t
graph_drawing(struct buf *out, const struct quad *const *statements, size_t count)
{
    struct drawing drawing = {.node_count = 0};
    for (size_t i = 0; i < count; i++) {
        add_statement(&drawing, statements[i]);
    }
    place(&drawing);
    (void)buf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" role=\"img\" "
        "aria-label=\"The graph: %zu resources and values, %zu statements\" "
        "viewBox=\"0 0 %d %d\"><defs><marker id=\"tip\" viewBox=\"0 0 10 10\" "
        "refX=\"18\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" "
        "orient=\"auto\"><path class=\"tip\" d=\"M0 0L10 5L0 10z\"/></marker></defs>\n",
        drawing.node_count, drawing.edge_count, WIDTH, HEIGHT);
    for (size_t i = 0; i < drawing.edge_count; i++) {
        append_edge(out, &drawing, &drawing.edges[i]);
    }
    for (size_t i = 0; i < drawing.node_count; i++) {
        append_node(out, &drawing.nodes[i]);
    }
    (void)buf_append_string(out, "</svg>\n");
    return drawing.left_out;
}
