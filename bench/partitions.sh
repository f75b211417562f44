#!/usr/bin/env bash
# The same generated quads in one partition and in several: what queries cost when the graphs they
# read lie apart.
#
#   bench/partitions.sh [QUADS [PARTITIONS]]     1000000 quads, 3 partitions; or a file of N-Quads
#
# Prints a table of milliseconds, the best of three over HTTP, all warm, and the ratio to one
# partition; writes it to build/bench/partitions.tsv. Fails when answers differ.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin out=$here/build/bench
. "$here/bench/servers.sh"
quads=${1:-1000000} partitions=${2:-3}
"$here/bench/build"
file=$quads
[[ -f $file ]] || file=$("$here/bench/data.sh" "$quads") || exit 0
mkdir -p "$out"
work=$(mktemp -d "$out/work.XXXXXX")
end() {
    local d
    for d in "$work"/*/run; do
        [[ -d $d ]] && "$bin/quadrille" down --dir "$(dirname "$d")" >/dev/null 2>&1
    done
    rm -rf "$work"
}
trap end EXIT

class='<http://schema.example.org/class/Annoyance>' foaf='<http://xmlns.com/foaf/0.1/'
label='<http://www.w3.org/2000/01/rdf-schema#label>' dc='<http://purl.org/dc/terms/'
queries=(
    'count, all' "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    'count, a predicate' "SELECT (COUNT(*) AS ?n) { ?s $label ?o }"
    'count, a class' "SELECT (COUNT(?s) AS ?n) { ?s a $class }"
    'count, distinct' "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }"
    'count, in graphs' "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"
    'group, classes' "SELECT ?c (COUNT(*) AS ?n) { ?s a ?c } GROUP BY ?c ORDER BY DESC(?n) ?c LIMIT 10"
    'group, predicates' "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) ?p"
    'group, graphs' "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY DESC(?n) ?g LIMIT 10"
    'group, star in graphs' "SELECT ?c (COUNT(*) AS ?n) (MIN(?l) AS ?m) { GRAPH ?g { ?s a ?c ; $label ?l } } GROUP BY ?c ORDER BY DESC(?n) ?c LIMIT 10"
    'count, star' "SELECT (COUNT(*) AS ?n) { ?s a $class ; $label ?l }"
    'count, chain' "SELECT (COUNT(*) AS ?n) { ?a ${foaf}knows> ?b . ?b ${foaf}name> ?l }"
    'count, optional' "SELECT (COUNT(?d) AS ?n) { ?s a $class OPTIONAL { ?s ${dc}description> ?d } }"
    'distinct predicates' "SELECT DISTINCT ?p { ?s ?p ?o } ORDER BY ?p"
    'order, first ten' "SELECT ?s ?l { ?s $label ?l } ORDER BY ?l ?s LIMIT 10"
    'order, star in graphs' "SELECT ?s ?l { GRAPH ?g { ?s a $class ; $label ?l } } ORDER BY ?l ?s LIMIT 10"
    'filter, in graphs' "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s $label ?l FILTER(CONTAINS(?l, 'ab')) } }"
    'chain, limit' "SELECT ?a ?l { ?a ${foaf}knows> ?b . ?b ${foaf}name> ?l } LIMIT 100"
    'star, limit' "SELECT ?s ?l { ?s a $class ; $label ?l } LIMIT 1000"
    'optional, limit' "SELECT ?s ?l ?d { ?s a $class OPTIONAL { ?s $label ?l } OPTIONAL { ?s ${dc}description> ?d } } LIMIT 1000"
    'chain, all' "SELECT ?a ?l { ?a ${foaf}knows> ?b . ?b ${foaf}name> ?l }"
)

ports=()
for count in 1 "$partitions"; do
    serve_quadrille "$work/p$count" "$file" "$out/partitions.log" --set index.partitions="$count"
    ports+=("$port")
done

ask() { # port, query: the milliseconds of the best of three; the answer is in $work/answer
    for _ in 1 2 3; do
        curl -sS --max-time 300 -o "$work/answer" -w '%{time_total} %{http_code}\n' -H 'Accept: text/tab-separated-values' \
            --data-urlencode "query=$2" "http://127.0.0.1:$1/sparql"
    done | awk '$2 != 200 { bad = $2 } NR == 1 || $1 < best { best = $1 }
        END { if (bad) print "failed:" bad; else printf("%.1f\n", best * 1000) }'
}
failed=0
printf 'query\tone, ms\t%s, ms\tratio\n' "$partitions" | tee "$out/partitions.tsv"
for ((i = 0; i < ${#queries[@]}; i += 2)); do
    name=${queries[i]} query=${queries[i + 1]}
    one=$(ask "${ports[0]}" "$query")
    if [[ $query == *LIMIT\ 1*[0-9] && $query != *ORDER* ]]; then
        wc -l <"$work/answer" >"$work/expected" # which rows these are is open; a row is a line
        several=$(ask "${ports[1]}" "$query")
        wc -l <"$work/answer" >"$work/got"
    else
        LC_ALL=C sort "$work/answer" >"$work/expected"
        several=$(ask "${ports[1]}" "$query")
        LC_ALL=C sort "$work/answer" >"$work/got"
    fi
    cmp -s "$work/expected" "$work/got" || { failed=1; name="$name (answers differ)"; }
    awk -v n="$name" -v a="$one" -v b="$several" \
        'BEGIN { printf("%s\t%s\t%s\t%.1f\n", n, a, b, a > 0 ? b / a : 0) }'
done | tee -a "$out/partitions.tsv"
grep -q differ "$out/partitions.tsv" && failed=1
exit $failed
