#!/usr/bin/env bash
# The index by itself, on generated quads: load in one process, lookups in the service, then
# documents replaced while readers ask, at a steady rate and as fast as they are taken.
#
#   bench/index.sh [QUADS [SECONDS]]     1000000 quads; 20 s of replacing at either rate
#
# Prints the lines of bench_index, bench_lookups, bench_incremental; writes build/bench/index.json.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
out=$here/build/bench
quads=${1:-1000000} seconds=${2:-20}
"$here/bench/build"
file=$("$here/bench/data.sh" "$quads") || exit 0
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
step() { # name, program, arguments
    local name=$1
    shift
    echo "== index, $name"
    "$@" 2>"$out/index.log" | tee "$work/lines" || { failed=1; tail -n 3 "$out/index.log"; }
    sed "s/^/$name /" "$work/lines" >>"$work/all"
}
step 'load' "$out/bench_index" "$work/index" "$file" lookups=0
step 'lookups' "$out/bench_lookups" "$work/index"
step 'steady' "$out/bench_incremental" "$work/index" "seconds=$seconds"
step 'fast' "$out/bench_incremental" "$work/index" "seconds=$seconds" rate=0
awk 'BEGIN { printf("[") }
    { printf("%s{\"step\":\"%s\",\"line\":\"%s\"", NR > 1 ? ",\n" : "", $1, $2)
      for (i = 3; i <= NF; i++) { at = index($i, "="); v = substr($i, at + 1)
          printf(",\"%s\":%s", substr($i, 1, at - 1), v ~ /^[0-9.]+$/ ? v : "\"" v "\"") }
      printf("}") }
    END { print "]" }' "$work/all" >"$out/index.json"
exit $failed
