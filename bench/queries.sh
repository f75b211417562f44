#!/usr/bin/env bash
# SPARQL queries of many shapes over generated and real quads, warm over HTTP, beside Virtuoso.
#
#   bench/queries.sh [--count N] [--runs N] [--only NAME] [--queries FILE] [--data FILE]
#                    [--alone] [--at OURS,VIRTUOSO]
#
#   --count  generated quads (1000000); a million real ones come besides
#   --runs   of each query after one that warms up; the median counts (5)
#   --only   queries whose names contain NAME
#   --queries  a file like queries.txt beside this instead
#   --data   a file of N-Quads instead
#   --alone  without Virtuoso
#   --at     SPARQL endpoints that have the data already
#
# queries.txt has the queries. Both stores run at the same time and are asked in turns. Virtuoso
# counts a triple in two graphs twice, and we once; so quads whose triple came before are left out,
# and so are the quads that Virtuoso brings along; then answers can be compared. A name in
# queries.txt that ends with # is of a query whose rows are open: their number is compared. A query
# that takes Virtuoso longer than half a minute has no ratio. Prints a table and the geometric mean
# of Virtuoso's time to ours; writes it to build/bench/queries.tsv. Fails when answers differ.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin out=$here/build/bench
. "$here/bench/servers.sh"
count=1000000 runs=5 only='' queries=$here/bench/queries.txt data='' at='' peer=1
while [[ $# -gt 0 ]]; do
    case $1 in
        --count) count=$2 ;;
        --runs) runs=$2 ;;
        --only) only=$2 ;;
        --queries) queries=$2 ;;
        --data) data=$2 ;;
        --at) at=$2 ;;
        --alone) peer=0; set -- "$1" "$@" ;;
        *) sed -n '4,14s/^# *//p' "$0" >&2; exit 100 ;;
    esac
    shift 2
done
"$here/bench/build"
mkdir -p "$out"
work=$(mktemp -d "$out/work.XXXXXX")
trap 'end_servers "$work"' EXIT
if ((peer)) && ! { command -v virtuoso-t && command -v isql-vt; } >/dev/null; then
    echo 'not measured beside Virtuoso: not installed (package virtuoso-opensource)'
    peer=0
fi

if [[ -z $data && -z $at ]]; then
    generated=$("$here/bench/data.sh" "$count") || exit 0
    real=$("$here/bench/data.sh" real) || exit 0
    data=$work/all.nq
    # The graph is what follows the last space but one.
    cat "$generated" "$real" | LC_ALL=C awk '{ t = $0; sub(/ <[^>]*> \.$/, "", t) } !seen[t]++' >"$data"
fi
[[ -n $at ]] || data=$(realpath "$data")

# ---- the stores ----

start_ours() {
    serve_quadrille "$work/quadrille" "$data" "$out/queries.log"
    ours=http://127.0.0.1:$port/sparql
}
start_peer() {
    local dir=$work/virtuoso sql=$((20000 + RANDOM % 5000))
    mkdir -p "$dir"
    {
        virtuoso_settings "$dir" "$data" "$sql"
        cat <<INI
[HTTPServer]
ServerPort = 127.0.0.1:$((sql + 5000))
ServerThreads = 4
[SPARQL]
ResultSetMaxRows = 1000000
MaxQueryExecutionTime = 30
INI
    } >"$dir/virtuoso.ini"
    start_virtuoso "$dir" "$sql" || exit 1
    isql-vt "127.0.0.1:$sql" dba dba verbose=off banner=off prompt=off exec="
        log_enable(3, 1); delete from DB.DBA.RDF_QUAD;
        ld_dir('$(dirname "$data")', '$(basename "$data")', 'urn:default'); rdf_loader_run(); checkpoint;" >"$dir/load"
    peers=http://127.0.0.1:$((sql + 5000))/sparql
}

# ---- asking ----

prefixes='PREFIX c: <http://schema.example.org/class/> PREFIX s: <http://schema.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX dct: <http://purl.org/dc/terms/> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>'

ask() { # address, query, file, name: the median of the milliseconds, on one connection
    local urls=() n
    for ((n = 0; n < runs; n++)); do urls+=(-o "$3" "$1"); done
    local accept=text/csv
    [[ $4 == *'#' || $2 == ASK* ]] && accept=application/sparql-results+xml
    local send=(curl -sS --max-time 30 -w '%{time_total} %{http_code}\n' -G -H "Accept: $accept"
        --data-urlencode "query=$prefixes $2")
    [[ $("${send[@]}" -o "$3" "$1" 2>&1) == *' 200' ]] || { echo failed; return; }
    "${send[@]}" "${urls[@]}" 2>&1 | sort -n |
        awk '$2 != 200 { bad = 1 } { t[NR] = $1 } END { if (bad) print "failed"; else printf("%.2f\n", t[int((NR + 1) / 2)] * 1000) }'
}
plain() { # file, name: what is comparable of an answer
    case $2 in
        *'#') grep -o '<result>' "$1" | wc -l ;;
        # Virtuoso says it by rows that are 1 or 0.
        ask*) grep -oE '>(true|false|0|1)<' "$1" | sed 's/>1</>true</; s/>0</>false</' ;;
        *) tr -d '"\r' <"$1" | tail -n +2 | LC_ALL=C sort ;;
    esac
}

if [[ -n $at ]]; then
    ours=${at%%,*} peers=${at##*,}
else
    start_ours
    ((peer)) && start_peer
fi
failed=0
printf 'query\tours, ms\tVirtuoso, ms\tratio\tanswers\n' | tee "$out/queries.tsv"
while IFS=$'\t' read -r name query; do
    [[ $name == '#'* || $name != *"$only"* ]] && continue
    mine=$(ask "$ours" "$query" "$work/mine" "$name")
    theirs=- same=-
    if ((peer)); then
        theirs=$(ask "$peers" "$query" "$work/theirs" "$name")
        same=same
        cmp -s <(plain "$work/mine" "$name") <(plain "$work/theirs" "$name") || same=differ
        [[ $theirs == failed ]] && same=-
    fi
    [[ $mine == failed || $same == differ ]] && failed=1
    awk -v n="${name%#}" -v a="$mine" -v b="$theirs" -v s="$same" \
        'BEGIN { printf("%s\t%s\t%s\t%s\t%s\n", n, a, b, a + 0 && b + 0 ? sprintf("%.2f", b / a) : "-", s) }' | tee -a "$out/queries.tsv"
    [[ $same == differ ]] && cp "$work/mine" "$out/queries.mine" && cp "$work/theirs" "$out/queries.theirs"
done <"$queries"
awk -F'\t' '$4 + 0 > 0 { n++; sum += log($4); if (!least || $4 < least) { least = $4; at = $1 } }
    END { if (n) printf("geometric mean of Virtuoso / ours over %d queries: %.2f; least %.2f (%s)\n", n, exp(sum / n), least, at) }' "$out/queries.tsv"
exit $failed
