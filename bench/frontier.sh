#!/usr/bin/env bash
# How the frontier's rates, memory and disk grow with the number of URIs it knows (bench_frontier), with
# a plot against the size and its fits, which say what ten billion would take.
#
#   bench/frontier.sh [NAME=VALUE]... [URIS]...     300000 1000000 3000000
#
# One growing frontier: each size goes on from the one before. Prints a table and the fits; writes
# build/bench/frontier.tsv and frontier.svg (growth.awk).
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
out=$here/build/bench
[[ $# -gt 0 ]] || set -- 300000 1000000 3000000
"$here/bench/build"
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$out/bench_frontier" "$work" "$@" >"$out/frontier.tsv"
column -t -s $'\t' "$out/frontier.tsv"
awk -f "$here/bench/growth.awk" -v svg="$out/frontier.svg" -v last=10 -v panels='puts_per_cpu_s=URIs put, new and known, per CPU second;reserves_per_cpu_s=jobs reserved and done per CPU second;puts_per_s=URIs put per second;reserves_per_s=jobs reserved and done per second;peak_mib=peak of memory, MiB;disk_bytes_per_uri=bytes on disk per URI;run_memory_bits_per_uri=bits of memory per URI for runs;run_bytes_written_per_uri=bytes of runs written per URI' "$out/frontier.tsv"
echo "plot: $out/frontier.svg"
