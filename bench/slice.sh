#!/usr/bin/env bash
# Slicing beside the method of Cyganiak et al. (Semantic Web Crawling: A Sitemap Extension, section
# 5.1): map each triple to the resources that it names, sort, reduce each bucket to a document; here
# by awk and LC_ALL=C sort with as much memory and as many threads as ours has.
#
#   bench/slice.sh [TRIPLES]...    1000000 3000000 10000000, for growth; the first also beside it
#
# Sizes of 20 M and more, multiples of 10 M, are the first 10 M again and again, each time with other
# digits, so that nearly all resources are others. They need no disk but what slicing takes.
#
#   QUADRILLE_BENCH_MEMORY   MiB for ours and for sort (512)
#   QUADRILLE_BENCH_BESIDE   sizes at which the other is run too (the first and 10000000)
#   QUADRILLE_BENCH_FILES    sizes at which the other also writes files (1000000)
#   QUADRILLE_BENCH_METHODS  methods for sizes of 20 M and more (subject)
#
# One row for each: method, triples, who, CPU seconds, seconds, peak MiB of the largest process, and
# how many times our CPU seconds and our seconds. "files" writes each bucket to a file of its own, as the paper does;
# "stream" writes N-Quads to one stream, as ours does, which spares making files. Sort and awk know
# no blank nodes: beside cbd they do subjects only. "map, sort, reduce" are our own steps for clusters
# (docs/SLICING.md) one after the other on this machine. Last, what the paper does first: RDF/XML to
# N-Triples, beside rapper (raptor2-utils), of at most 1 M triples. The growth of ours goes to
# build/bench/slice.svg.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
program=$here/build/bin/quadrille
memory=${QUADRILLE_BENCH_MEMORY:-512}
[[ $# -gt 0 ]] || set -- 1000000 3000000 10000000
beside=" ${QUADRILLE_BENCH_BESIDE:-$1 10000000} "
files=" ${QUADRILLE_BENCH_FILES:-1000000} "
read -ra large <<<"${QUADRILLE_BENCH_METHODS:-subject}"
"$here/bench/build"
work=$(mktemp -d "${QUADRILLE_BENCH_DATA:-$here/build/bench}/slice.XXXXXX")
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work LC_ALL=C

cat >"$work/map" <<'AWK'
{ if ($1 ~ /^</) print $1 "\t" $0
  if (both && $3 ~ /^</ && $3 != $1) print $3 "\t" $0 }
AWK
cat >"$work/stream" <<'AWK'
{ tab = index($0, "\t"); line = substr($0, tab + 1)
  if (line != last) print substr(line, 1, length(line) - 1) substr($0, 1, tab - 1) " ."
  last = line }
AWK
cat >"$work/files" <<'AWK'
{ tab = index($0, "\t"); key = substr($0, 1, tab - 1)
  if (key != last) { close(file); file = folder "/" int(n / 1000) "/" n++ ".nt"
                     if (n % 1000 == 1) system("mkdir " folder "/" int((n - 1) / 1000)) }
  last = key; print substr($0, tab + 1) > file }
AWK
cat >"$work/run" <<'SH'
awk -v both="$1" -f "$2/map" "$3" | sort -S "$5M" --parallel=2 -T "$2" | awk -v folder="$2/out" -f "$2/$4" >/dev/null
SH

measure() { # command: sets cpu, wall, peak
    local took
    took=$({ /usr/bin/time -f '%U %S %e %M' "$@" >/dev/null 2>"$work/error"; } 2>&1; tail -n 1 "$work/error")
    read -r cpu wall peak <<<"$(awk '{ printf "%.2f %.2f %.0f", $1 + $2, $3, $4 / 1024 }' <<<"$took")"
}
row() { # method, triples, who; ours comes first
    [[ $3 != quadrille ]] || own="$cpu $wall"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$cpu" "$wall" "$peak" \
        "$(awk -v cpu="$cpu" -v wall="$wall" '{ printf "%.1f\t%.1f", cpu / $1, wall / $2 }' <<<"$own")"
}

cat >"$work/steps" <<'SH'
"$1" slice map --slicing "$2" <"$3" | sort -S "$4M" --parallel=2 -T "$5" | "$1" slice reduce >/dev/null
SH
dump() { # the triples of the size
    local i digits=0123456789
    if [[ $triples -lt 20000000 ]]; then
        cat "$work/dump.nt"
        return
    fi
    for ((i = 0; i < triples / 10000000; i++)); do
        tr $digits "${digits:i}${digits:0:i}" <"$work/dump.nt"
    done
}
cat >"$work/ours" <<'SH'
exec "$1" slice --quiet --slicing "$2" --memory "$3" --threads 2 --format ntriples "$4"
SH

printf 'method\ttriples\twho\tCPU s\ts\tpeak MiB\ttimes our CPU s\ttimes our s\n'
: >"$work/growth"
for triples in "$@"; do
    quads=$("$here/bench/data.sh" "$((triples < 20000000 ? triples : 10000000))") || exit 0
    sed 's/ <[^ ]*> \.$/ ./' "$quads" >"$work/dump.nt"
    methods=(subject subject-object cbd scbd msg)
    [[ $triples -lt 20000000 ]] || methods=("${large[@]}")
    for method in "${methods[@]}"; do
        if [[ $triples -lt 20000000 ]]; then
            measure bash "$work/ours" "$program" "$method" "$memory" "$work/dump.nt"
        else
            measure bash "$work/ours" "$program" "$method" "$memory" - < <(dump)
        fi
        row "$method" "$triples" quadrille
        printf '%s\t%s\t%s\t%s\n' "$method" "$triples" "$cpu" "$peak" >>"$work/growth"
        [[ $beside == *" $triples "* && $method != scbd && $method != msg ]] || continue
        both=0
        [[ $method != subject-object ]] || both=1
        kinds=stream
        [[ $files != *" $triples "* || $method == cbd ]] || kinds='stream files'
        for kind in $kinds; do
            mkdir -p "$work/out"
            measure bash "$work/run" "$both" "$work" "$work/dump.nt" "$kind" "$memory"
            row "$method" "$triples" "awk, sort, awk: $kind"
            rm -rf "$work/out"
        done
        [[ $method != cbd ]] || continue
        measure bash "$work/steps" "$program" "$method" "$work/dump.nt" "$memory" "$work"
        row "$method" "$triples" 'quadrille: map, sort, reduce'
    done
    rm "$work/dump.nt"
done
if command -v rapper >/dev/null; then
    triples=$(($1 < 1000000 ? $1 : 1000000))
    quads=$("$here/bench/data.sh" "$triples")
    sed 's/ <[^ ]*> \.$/ ./' "$quads" >"$work/dump.nt"
    rapper -q -i ntriples -o rdfxml "$work/dump.nt" http://bench.example/ >"$work/dump.rdf"
    measure "$here/build/tests/rdfcat" rdfxml "$work/dump.rdf"
    row 'RDF/XML to N-Triples' "$triples" quadrille
    measure rapper -q -i rdfxml -o ntriples "$work/dump.rdf" http://bench.example/
    row 'RDF/XML to N-Triples' "$triples" rapper
fi
awk -f "$here/bench/slice.awk" "$work/growth" >"$here/build/bench/slice.svg"
