# Draws columns of a table against its first one (a number of things), one panel each, as SVG in the file
# named by the variable svg; prints the fit of each, value = a * things^b, with what it says for 10^last.
# panels: COLUMN=TITLE;... in the order of drawing.
function log10(x) { return log(x) / log(10) }
function fit(power) { return exp((a + b * power) * log(10)) }
function panel(column, title,    i, x, y, sx, sy, sxx, sxy, most, ox, oy, points, label) {
    most = sx = sy = sxx = sxy = 0
    for (i = 1; i <= n; i++) {
        x = log10(v[i, things]); y = log10(v[i, column] > 0 ? v[i, column] : 1)
        sx += x; sy += y; sxx += x * x; sxy += x * y
        if (v[i, column] > most) most = v[i, column]
    }
    b = n * sxx - sx * sx
    b = n > 1 && b ? (n * sxy - sx * sy) / b : 0
    a = (sy - b * sx) / n
    if (fit(last) > most) most = fit(last)
    most *= 1.1
    printf("fit      %-22s = %.4g * %s^%.3f; at 10^%d: %.4g\n", column, fit(0), things, b, last, fit(last))
    ox = drawn % 2 * 400 + 60; oy = int(drawn / 2) * 220 + 30; drawn++
    printf("<text x='%d' y='%d' font-weight='bold'>%s</text>\n", ox, oy - 8, title) >svg
    printf("<rect x='%d' y='%d' width='300' height='150' fill='none' stroke='#999'/>\n", ox, oy) >svg
    for (i = first; i <= last; i++) {
        label = i >= 9 ? 10 ^ (i - 9) " G" : i >= 6 ? 10 ^ (i - 6) " M" : 10 ^ (i - 3) " k"
        printf("<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", ox + place(i), oy + 166, label) >svg
    }
    printf("<text x='%d' y='%d' text-anchor='end'>%.3g</text><text x='%d' y='%d' text-anchor='end'>0</text>\n", ox - 4, oy + 10, most, ox - 4, oy + 150) >svg
    for (x = first; x <= last + 0.001; x += 0.125)
        points = points (x > first ? "L" : "M") sprintf("%.1f %.1f", ox + place(x), height(oy, fit(x), most))
    printf("<path d='%s' stroke='#999' stroke-dasharray='4' fill='none'/>\n", points) >svg
    points = ""
    for (i = 1; i <= n; i++) {
        x = ox + place(log10(v[i, things])); y = height(oy, v[i, column], most)
        points = points (i > 1 ? "L" : "M") sprintf("%.1f %.1f", x, y)
        printf("<circle cx='%.1f' cy='%.1f' r='3' fill='#036'/><text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", x, y, x, y - 6, v[i, column]) >svg
    }
    printf("<path d='%s' stroke='#036' fill='none'/>\n", points) >svg
}
function place(power) { return 10 + 280 * (power - first) / (last - first) }
function height(oy, y, most) { return oy + 150 - 150 * (y < 0 ? 0 : y) / most }
NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; things = name[1]; next }
{ n++; for (i = 1; i <= NF; i++) v[n, name[i]] = $i }
END {
    first = int(log10(v[1, things]))
    printf("<svg xmlns='http://www.w3.org/2000/svg' width='800' height='%d' font-family='sans-serif' font-size='10'>\n<rect width='800' height='100%%' fill='#fff'/>\n", 30 + 220 * int((split(panels, list, ";") + 1) / 2)) >svg
    count = split(panels, list, ";")
    for (k = 1; k <= count; k++) {
        split(list[k], pair, "=")
        panel(pair[1], pair[2])
    }
    printf("</svg>\n") >svg
}
