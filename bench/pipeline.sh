#!/usr/bin/env bash
# Pages per second of every stage alone, fed from a full queue, and of the whole pipeline, on a
# fixed set of real pages; beside a chain of stock tools that does each step page by page.
#
# usage: bench/pipeline.sh [--pages N] [--chain N]
# Prints a table; writes build/bench/pipeline.json. Ratios are what counts: both sides are
# measured on this machine, one after the other, with two processes at a time.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin
shared=${QUADRILLE_SHARED:-$here/../shared}
out=$here/build/bench
pages=2500 per_host=150 copies=5 chain=150
while [[ $# -gt 0 ]]; do
    case $1 in
        --pages) pages=$2; shift 2 ;;
        --chain) chain=$2; shift 2 ;;
        *) echo "usage: bench/pipeline.sh [--pages N] [--chain N]" >&2; exit 100 ;;
    esac
done
. "$here/bench/servers.sh"
need_miniweb
"$here/bench/build"
mkdir -p "$out"
work=$(mktemp -d "$out/work.XXXXXX")
cleanup() {
    "$bin/quadrille" down --dir "$work/data" >/dev/null 2>&1 || true
    "$bin/quadrille" down --dir "$work/whole" >/dev/null 2>&1 || true
    "$shared/miniweb/serve" stop --run "$work/web" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap cleanup EXIT

# ---- the fixed set: HTML, RDF and feed files, mixed, at most so many of one host. Each host is
# served under several names, so that a run is long beside the start of its processes. ----
hosts=$("$shared/miniweb/serve" unpack)
(cd "$hosts" && find . -type f -size -512k \( -name '*.html' -o -name '*.rdf' -o -name '*.ttl' \
    -o -name '*.nt' -o -name '*.rss' -o -name '*.atom' \) -printf '%P\n') |
    grep -v '[^A-Za-z0-9./_-]' | LC_ALL=C sort |
    awk -F/ '{ h = 0; for (i = 1; i <= length($0); i++) h = (h * 31 + index("abcdefghijklmnopqrstuvwxyz0123456789./_-", tolower(substr($0, i, 1)))) % 1000003; print h "\t" $0 }' |
    LC_ALL=C sort -n | cut -f2 | awk -F/ -v most="$per_host" 'n[$1]++ < most' |
    head -n "$pages" >"$work/files"
pages=$(wc -l <"$work/files")
mkdir "$work/hosts"
for copy in $(seq "$copies"); do
    for host in $(cut -d/ -f1 "$work/files" | sort -u); do
        mkdir "$work/hosts/copy$copy.$host"
        ln -s "$hosts/$host"/* "$work/hosts/copy$copy.$host/"
    done
    sed "s,^,http://copy$copy.," "$work/files"
done >"$work/seeds"
bytes=$(cd "$hosts" && xargs -d '\n' -a "$work/files" stat -c %s | awk '{s += $1} END {print s}')
start_miniweb "$work/web" --hosts "$work/hosts"
settings+=(--set scope.depth=0 --set scope.include=^http://copy --set queue.high_water=1000000
    --set log.level=warning --set processes.web=0)
per_stage=(--set processes.fetch=2 --set processes.transform=2)

now() { date +%s.%N; }
# Of a stage: how many are done, and how many are ready or leased; what waits for another try
# is not waited for.
counts() { # stage
    "$bin/quadrille" queue stats --dir "$work/data" | awk -v s="$1" '$1 == s { print $2, $4 + $5 }'
}

# Runs one stage until its queue is empty; prints pages per second from the first seen done.
run_stage() { # stage, parts
    local idle first done_now left start
    "$bin/quadrille" up --dir "$work/data" --background --only "$2" "${settings[@]}" \
        "${per_stage[@]}"
    read -r idle left < <(counts "$1")
    while read -r first left < <(counts "$1") && [[ $first -eq $idle ]]; do :; done
    start=$(now)
    while read -r done_now left < <(counts "$1") && [[ $left -gt 0 ]]; do sleep 0.05; done
    awk -v n="$((done_now - first))" -v s="$start" -v e="$(now)" \
        'BEGIN { printf "%.1f\n", n / (e - s) }'
    "$bin/quadrille" down --dir "$work/data" >/dev/null
}

declare -A ours theirs limit
"$bin/quadrille" init --dir "$work/data" >/dev/null
"$bin/quadrille" add --dir "$work/data" --seeds "$work/seeds" "${settings[@]}"
ours[fetch]=$(run_stage fetch queue,metastore,fetch)
ours[detect]=$(run_stage detect queue,metastore,detect)
ours[transform]=$(run_stage transform queue,metastore,transform)
ours[index]=$(run_stage index queue,metastore,index)
ours[extract]=$(run_stage extract queue,metastore,index,extract)

start=$(now)
"$bin/quadrille" crawl --dir "$work/whole" --seeds "$work/seeds" --quiet "${settings[@]}" >/dev/null
ours[pipeline]=$(awk -v n="$((pages * copies))" -v s="$start" -v e="$(now)" 'BEGIN { printf "%.1f\n", n / (e - s) }')

# ---- the chain of stock tools, page by page, two at a time ----
head -n "$chain" "$work/files" >"$work/sample"
mkdir "$work/chain"
cat >"$work/links.xsl" <<'X'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:h="http://www.w3.org/1999/xhtml">
<xsl:output method="text"/>
<xsl:template match="/"><xsl:for-each select="//h:title">&lt;urn:d&gt; &lt;urn:t&gt; "<xsl:value-of select="translate(normalize-space(.),'&quot;\','')"/>" .
</xsl:for-each><xsl:for-each select="//h:a[@href]">&lt;urn:d&gt; &lt;urn:l&gt; &lt;http://x.example/<xsl:value-of select="translate(@href,' &lt;&gt;&quot;{}|\^`','')"/>&gt; .
</xsl:for-each></xsl:template></xsl:stylesheet>
X
cat >"$work/step" <<'X'
#!/bin/sh
# step WORK PORT STAGE FILE
w=$1 f=$4 n=$(printf %s "$4" | tr '/' '_')
case $3 in
fetch) curl -s --connect-to "::127.0.0.1:$2" -o "$w/chain/$n" "http://copy1.$f" ;;
detect) file -b --mime-type "$w/chain/$n" >"$w/chain/$n.type" ;;
transform)
    case $n in
    *.rdf) rapper -q -i rdfxml -o ntriples "$w/chain/$n" "http://$f" >"$w/chain/$n.triples" 2>/dev/null ;;
    *.ttl|*.nt) rapper -q -i turtle -o ntriples "$w/chain/$n" "http://$f" >"$w/chain/$n.triples" 2>/dev/null ;;
    *) tidy -q -asxml --force-output y --numeric-entities y --doctype omit "$w/chain/$n" 2>/dev/null |
        xsltproc --nonet "$w/links.xsl" - >"$w/chain/$n.triples" 2>/dev/null ;;
    esac ;;
index) rdfproc -q -s hashes -t "hash-type='bdb',dir='$w'" store parse "file:$w/chain/$n.triples" ntriples >/dev/null 2>&1 ;;
extract) rdfproc -q -s hashes -t "hash-type='bdb',dir='$w'" store find - urn:l - >/dev/null 2>&1 ;;
esac
true
X
chmod +x "$work/step"
chain_rate() { # stage, processes, pages
    local start
    start=$(now)
    head -n "$3" "$work/sample" | xargs -d '\n' -P "$2" -n 1 "$work/step" "$work" $port "$1"
    awk -v n="$3" -v s="$start" -v e="$(now)" 'BEGIN { printf "%.1f\n", n / (e - s) }'
}
have() { command -v "$1" >/dev/null; }
have curl && theirs[fetch]=$(chain_rate fetch 2 "$chain")
have file && theirs[detect]=$(chain_rate detect 2 "$chain")
have tidy && have xsltproc && have rapper && theirs[transform]=$(chain_rate transform 2 "$chain")
if have rdfproc; then
    (cd "$work" && rdfproc -q -n -s hashes -t "hash-type='bdb',dir='$work'" store parse \
        "file:$work/chain/$(head -n1 "$work/sample" | tr / _).triples" ntriples >/dev/null 2>&1) || true
    theirs[index]=$(chain_rate index 1 "$chain") # one writer: the store locks
    theirs[extract]=$(chain_rate extract 2 "$((chain / 3 + 1))")
fi
theirs[pipeline]=$(for s in fetch detect transform index extract; do echo "${theirs[$s]:-0}"; done |
    awk '$1 > 0 { t += 1 / $1 } END { if (t > 0) printf "%.1f\n", 1 / t; else print 0 }')

limit[fetch]="one connection per host, WARC compression"
limit[detect]="reading and inflating the WARC record"
limit[transform]="parsing, canonicalisation, WARC compression"
limit[index]="the six trees of one partition, one writer"
limit[extract]="queries over each graph, URI-seen lookups"
limit[pipeline]="transform and index share two cores with all else"
printf '%d pages under %d hosts each, mean %d bytes, %d in the chain; pages per second on %d cores\n' \
    "$pages" "$copies" "$((bytes / pages))" "$chain" "$(nproc)"
printf '%-10s %12s %12s %8s  %s\n' stage quadrille 'stock tools' ratio 'what limits us'
json=
for s in fetch detect transform index extract pipeline; do
    t=${theirs[$s]:-0}
    r=$(awk -v a="${ours[$s]}" -v b="$t" 'BEGIN { if (b > 0) printf "%.1f", a / b; else print "-" }')
    printf '%-10s %12s %12s %8s  %s\n' "$s" "${ours[$s]}" "$t" "$r" "${limit[$s]}"
    json+="${json:+,}\"$s\":{\"quadrille\":${ours[$s]},\"stock\":$t}"
done
printf '{"pages":%d,"mean_bytes":%d,"stages":{%s}}\n' "$pages" "$((bytes / pages))" "$json" \
    >"$out/pipeline.json"
