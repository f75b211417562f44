# Rows of "method, triples, CPU seconds, peak MiB" as SVG: microseconds of CPU for each triple, and
# memory, against the number of triples.
BEGIN { FS = "\t"; split("#036 #a40 #393 #939 #888", colours, " ") }
function log10(x) { return log(x) / log(10) }
function across(triples) { return 60 + 300 * (log10(triples) - least) / (most - least) }
function panel(column, top, title,    high, m, i, path, x, y) {
    for (i = 1; i <= n; i++) high = value[i, column] > high ? value[i, column] : high
    high = high > 0 ? 1.15 * high : 1
    printf("<text x='60' y='%d' font-weight='bold'>%s</text>\n<rect x='60' y='%d' width='300' height='150' fill='none' stroke='#999'/>\n", top - 8, title, top)
    printf("<text x='56' y='%d' text-anchor='end'>%.3g</text><text x='56' y='%d' text-anchor='end'>0</text>\n", top + 10, high, top + 150)
    for (i = int(least + 0.999999); i <= most + 1e-6; i++) printf("<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", across(10 ^ i), top + 166, i < 6 ? 10 ^ (i - 3) " k" : 10 ^ (i - 6) " M")
    for (m = 1; m <= methods; m++) {
        path = ""
        for (i = 1; i <= n; i++) if (method[i] == names[m]) {
            x = across(triples[i]); y = top + 150 - 150 * value[i, column] / high
            path = path (path == "" ? "M" : "L") sprintf("%.1f %.1f", x, y)
            printf("<circle cx='%.1f' cy='%.1f' r='2.5' fill='%s'/>\n", x, y, colours[m])
        }
        printf("<path d='%s' stroke='%s' fill='none'/>\n", path, colours[m])
        if (top < 100) printf("<text x='370' y='%d' fill='%s'>%s</text>\n", top + 14 * m, colours[m], names[m])
    }
}
{
    n++; method[n] = $1; triples[n] = $2; value[n, "time"] = 1e6 * $3 / $2; value[n, "memory"] = $4
    if (!($1 in known)) { known[$1] = 1; names[++methods] = $1 }
    least = n == 1 || log10($2) < least ? log10($2) : least
    most = log10($2) > most ? log10($2) : most
}
END {
    if (most - least < 1) most = least + 1
    print "<svg xmlns='http://www.w3.org/2000/svg' width='480' height='410' font-family='sans-serif' font-size='10'>\n<rect width='480' height='410' fill='#fff'/>"
    panel("time", 30, "microseconds of CPU for each triple")
    panel("memory", 230, "peak memory, MiB")
    print "</svg>"
}
