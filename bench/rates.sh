#!/usr/bin/env bash
# Lookups over HTTP: URIs and words of generated quads, each taken as often as it stands there, so the common ones
# most. First alone, then while quads are loaded beside; the same questions to Virtuoso, as DESCRIBE and bif:contains.
# cpu_us is the processor time of the servers for each; with the loader beside it has the loader's in the index, too.
#
# usage: bench/rates.sh [--count N] [--seconds N] [--connections N]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin
. "$here/bench/servers.sh"
out=$here/build/bench
count=1000000 seconds=10 connections=4
while [[ $# -gt 1 ]]; do
    case $1 in
        --count) count=$2 ;;
        --seconds) seconds=$2 ;;
        --connections) connections=$2 ;;
        *) echo "usage: bench/rates.sh [--count N] [--seconds N] [--connections N]" >&2; exit 100 ;;
    esac
    shift 2
done
mkdir -p "$out"
"$here/bench/build"
file=$("$here/bench/data.sh" "$count") || exit $(($? == 77 ? 0 : 111))
work=$(mktemp -d "$out/work.XXXXXX")
trap 'end_servers "$work"' EXIT
awk 'BEGIN { srand(7) } rand() < 0.01 && match($0, /"[^"]*"/) {
    n = split(substr($0, RSTART + 1, RLENGTH - 2), w, " "); v = w[1 + int(rand() * n)]
    if (v ~ /^[a-z]+$/) print v }' "$file" | head -n 5000 >"$work/words"
awk 'BEGIN { srand(8) } $1 ~ /^</ && rand() < 0.01 { print substr($1, 2, length($1) - 2) }' "$file" |
    head -n 5000 >"$work/uris"
sed 's,#,%23,g; s,^,/lookup?format=json\&uri=,' "$work/uris" >"$work/ours.uris"
sed 's,^,/lookup?format=json\&q=,' "$work/words" >"$work/ours.words"
sparql='/sparql?format=application%2Fsparql-results%2Bjson\&query='
sed "s,#,%23,g; s,.*,${sparql}DESCRIBE%20%3C&%3E," "$work/uris" | sed 's,sparql-results%2Bjson,ld%2Bjson,' >"$work/virtuoso.uris"
sed "s,.*,${sparql}SELECT%20*%20%7B%20GRAPH%20%3Fg%20%7B%20%3Fs%20%3Fp%20%3Fo%20.%20%3Fo%20bif:contains%20%22%27&%27%22%20%7D%20%7D%20LIMIT%2010," \
    "$work/words" >"$work/virtuoso.words"
ask() { # name, port, what, Accept
    printf '%-12s %-6s ' "$1" "$3"
    "$out/bench_http" "$2" "$work/${1%%+*}.$3" "connections=$connections" "seconds=$seconds" \
        "accept=${4:-application/json}" "servers=$servers" || true
}

serve_quadrille "$work/quadrille" "$file" "$work/import.log" --set log.level=info
servers=$(pgrep -d, -f "^quadrille-(web|index) --dir $work/quadrille ")
ask ours "$port" uris
ask ours "$port" words
ask ours "$port" words # what is asked for again is kept until the next commit
(while :; do "$bin/quadrille" import --dir "$work/quadrille" --quiet <(head -n 200000 "$file" | sed "s,\.example,.example$RANDOM,g") || exit; done) \
    >"$work/writer.log" 2>&1 &
writer=$!
ask ours+writer "$port" uris
ask ours+writer "$port" words
kill "$writer" 2>/dev/null || true
"$bin/quadrille" down --dir "$work/quadrille" >/dev/null 2>&1 || true

command -v virtuoso-t >/dev/null || { echo "virtuoso     not measured: not installed (package virtuoso-opensource)"; exit 0; }
port=$((20000 + RANDOM % 10000)) # below the ports of outgoing connections
mkdir -p "$work/virtuoso"
{
    virtuoso_settings "$work/virtuoso" "$file" "$port"
    printf '[HTTPServer]\nServerPort = 127.0.0.1:%s\nServerThreads = 16\nServerRoot = %s\n' "$((port + 1))" "$work/virtuoso"
} >"$work/virtuoso/virtuoso.ini"
start_virtuoso "$work/virtuoso" "$port"
isql-vt "127.0.0.1:$port" dba dba exec="ld_dir('$(dirname "$file")', '$(basename "$file")', 'urn:default');
    rdf_loader_run(); DB.DBA.RDF_OBJ_FT_RULE_ADD(null, null, 'all'); DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ(); checkpoint;" >"$work/load.out" 2>&1
servers=$(cat "$work/virtuoso/pid")
ask virtuoso "$((port + 1))" uris "*/*"
ask virtuoso "$((port + 1))" words "*/*"
