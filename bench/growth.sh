#!/usr/bin/env bash
# How the index's size and rates grow with the number of quads: loads each size anew, then replaces
# documents without readers, then looks up, and draws the figures against the size.
#
#   bench/growth.sh [QUADS]...     300000 1000000 3000000
#
#   QUADRILLE_BENCH_CACHE    MiB of pages in memory (1024)
#   QUADRILLE_BENCH_IMPORT   MiB for imported quads (1024)
#
# Prints a table and the fits; writes build/bench/growth.tsv and growth.svg (growth.awk). The fit
# is a power of the size, by least squares over logarithms; it holds as far as what is read stays in
# memory, see docs/GROWTH.md.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
out=$here/build/bench
cache=${QUADRILLE_BENCH_CACHE:-1024}
import=${QUADRILLE_BENCH_IMPORT:-1024}
[[ $# -gt 0 ]] || set -- 300000 1000000 3000000
"$here/bench/build"
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
value() { # name: of the last line of standard input that has it
    grep -oE "\b$1=[0-9.]+" | tail -n 1 | cut -d= -f2
}
disk() { # glob in the folder: bytes
    find "$work/index" -name "$1" -printf '%s\n' | awk '{ n += $1 } END { printf "%.0f", n }'
}

columns='quads stored bytes_per_quad tree_bytes_per_quad term_bytes_per_quad word_bytes_per_quad log_bytes_per_quad quads_per_cpu_s peak_mib documents_per_s subject_us document_us word_us'
tr ' ' '\t' <<<"$columns" >"$out/growth.tsv"
for quads in "$@"; do
    file=$("$here/bench/data.sh" "$quads") || exit 0
    rm -rf "$work/index"
    "$out/bench_index" "$work/index" "$file" lookups=0 "cache=$cache" "import=$import" >"$work/load"
    stored=$(value quads <"$work/load")
    log=$(find "$work/index" -name 'log.*' -printf '%f\n' | sed 's/^log\.0*//' | sort -n | tail -n 1)
    log_size=$(find "$work/index" -name 'log.*' -printf '%s\n' | sort -n | tail -n 1)
    trees=$(disk 'quads-*.db') terms=$(($(disk 'terms*.db') + $(disk 'nodes.db'))) words=$(disk 'words*.db')
    bytes=$(($(disk '*') - $(disk 'log.*') - $(disk changes.db)))
    "$out/bench_lookups" "$work/index" each=500 cold=0 "cache=$cache" >"$work/lookups"
    "$out/bench_incremental" "$work/index" readers=0 seconds=10 rate=0 "cache=$cache" >"$work/replace"
    awk -v OFS='\t' -v q="$quads" -v s="$stored" -v b="$bytes" -v t="$trees" -v n="$terms" \
        -v w="$words" -v l="$((log * log_size))" -v c="$(value quads_per_cpu_s <"$work/load")" \
        -v m="$(value peak_mib <"$work/load")" -v d="$(value documents_per_s <"$work/replace")" \
        -v us="$(grep 'kind=S---' "$work/lookups" | value p50_us)" -v ud="$(grep 'kind=---G' "$work/lookups" | value p50_us)" \
        -v uw="$(grep 'kind=1-word' "$work/lookups" | value p50_us)" \
        'BEGIN { print q, s, sprintf("%.1f", b / s), sprintf("%.1f", t / s), sprintf("%.1f", n / s), sprintf("%.1f", w / s), sprintf("%.0f", l / q), c, m, d, us, ud, uw }' \
        >>"$out/growth.tsv"
    tail -n 1 "$out/growth.tsv" >&2
done
column -t -s $'\t' "$out/growth.tsv"
awk -f "$here/bench/growth.awk" -v svg="$out/growth.svg" -v last=9 -v panels='bytes_per_quad=bytes per quad on disk without the logs;quads_per_cpu_s=quads loaded per CPU second;documents_per_s=documents of 20 quads replaced per second;document_us=quads of a document, median microseconds in the service;subject_us=quads of a subject (100 at most), median microseconds;word_us=keyword, ten best, median microseconds' "$out/growth.tsv"
echo "plot: $out/growth.svg"
