"""Plots as SVG, with nothing but the standard library: bench/scaling, tests/soak.

A panel is a dict: title, and lines, a list of dicts with label, points (pairs, in order of x) and, if it is no
measured line, dashed. zero: whether the axis of y begins at 0 (yes unless it says no); log: both axes double at
equal distances.
"""
import html
import math

WIDTH, HEIGHT, LEFT, TOP, ACROSS, DOWN = 420, 250, 60, 40, 330, 160
COLOURS = ("#036", "#c60", "#282", "#a2a", "#888", "#b00", "#06c", "#770", "#0aa", "#555")


def short(value):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{value:.3g}"


def draw_panel(panel, left, top):
    points = [p for line in panel["lines"] for p in line["points"]]
    scale = math.log2 if panel.get("log") else float
    if panel.get("log"):
        points = [p for p in points if min(p) > 0]
    out = [f"<text x='{left}' y='{top - 24}' font-weight='bold'>{html.escape(panel['title'])}</text>",
           f"<rect x='{left}' y='{top}' width='{ACROSS}' height='{DOWN}' fill='none' stroke='#999'/>"]
    if not points:
        return out
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    low_x, high_x, high_y = min(xs), max(xs), max(ys)
    low_y = 0 if panel.get("zero", True) and not panel.get("log") else min(ys)
    across, up = scale(high_x) - scale(low_x) or 1, scale(high_y) - scale(low_y) or 1

    def place(point):
        return (left + ACROSS * (scale(point[0]) - scale(low_x)) / across,
                top + DOWN - DOWN * (scale(point[1]) - scale(low_y)) / up)

    out += [f"<text x='{left - 4}' y='{top + 8}' text-anchor='end'>{short(high_y)}</text>",
            f"<text x='{left - 4}' y='{top + DOWN}' text-anchor='end'>{short(low_y)}</text>",
            f"<text x='{left}' y='{top + DOWN + 14}'>{short(low_x)}</text>",
            f"<text x='{left + ACROSS}' y='{top + DOWN + 14}' text-anchor='end'>{short(high_x)}"
            f" {html.escape(panel.get('unit', ''))}</text>"]
    at = left
    for number, line in enumerate(panel["lines"]):
        colour = "#999" if line.get("dashed") else COLOURS[number % len(COLOURS)]
        dashes = " stroke-dasharray='4'" if line.get("dashed") else ""
        placed = [place(p) for p in line["points"] if not panel.get("log") or min(p) > 0]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
        if path:
            out.append(f"<path d='M{path}' stroke='{colour}' fill='none'{dashes}/>")
        if len(placed) <= 20 and not dashes:
            out += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.5' fill='{colour}'/>" for x, y in placed]
        label = line.get("label", "")
        out.append(f"<text x='{at}' y='{top - 8}' fill='{colour}' font-size='9'>{html.escape(label)}</text>")
        at += 5.2 * len(label) + 8
    return out


def draw(path, panels):
    rows = (len(panels) + 1) // 2
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{2 * WIDTH}' height='{rows * HEIGHT}' "
           "font-family='sans-serif' font-size='10'>", "<rect width='100%' height='100%' fill='#fff'/>"]
    for number, panel in enumerate(panels):
        out += draw_panel(panel, number % 2 * WIDTH + LEFT, number // 2 * HEIGHT + TOP)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")
