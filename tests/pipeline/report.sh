#!/usr/bin/env bash
# What publishers are told: broken and mended JSON-LD, wrong types, missing contexts, bare pages.
. "$(dirname "$0")/lib.sh"
site=$work/hosts/shop.example
mkdir -p "$site"
cat >"$site/index.html" <<'H'
<!DOCTYPE html><html lang="en"><title>Shop</title><link rel="canonical" href="http://shop.example/">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Store", "name": "Shop",}</script>
<p><a href="bare.html">a</a> <a href="data">b</a> <a href="lost.html">c</a> <a href="bad.ttl">d</a> <a href="gone">e</a>
H
echo '<!DOCTYPE html><html><p>Nothing is said here.</p>' >"$site/bare.html"
echo '<> <http://xmlns.com/foaf/0.1/name> "a" .' >"$site/data"
printf '<> <http://xmlns.com/foaf/0.1/name> "a" .\n<> <no such thing> "b" .\n' >"$site/bad.ttl"
cat >"$site/lost.html" <<'H'
<!DOCTYPE html><html><title>Lost</title>
<script type="application/ld+json">{"@context": "http://nowhere.example/c", "name": "x"}</script>
H
echo 'type /data text/plain' >"$site/.serve"
start_web "$work/hosts"
seeds_of "$work/hosts" >"$work/seeds"
crawl "$work/one" >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
report() { "$bin/quadrille" report --dir "$work/one" "$@"; }

report shop.example >"$work/text" || fail "report"
has() { grep -qE -- "$1" "$work/text" || fail "the report has no '$1': $(cat "$work/text")"; }
has '^shop.example: 6 documents, 3 with structured data'
has '^states: .*indexed [0-9]'
has '^documents by transform: .*html 3 \('
has 'repaired: jsonld: .*comma'
has 'unused: no structured data'
has 'unused: no canonical link'
has 'unused: no title'
has 'unused: it is sent as text/plain, but is text/turtle'
has 'mend: send Content-Type: text/turtle'
has 'problem: .*nowhere.example/c'
has 'mend: serve the context'
has 'problem: turtle: line 2'
grep -A 2 '^http://shop.example/gone' "$work/text" | grep -q 'from http://shop.example/' ||
    fail "a dead link is not told"

report --format tsv http://shop.example/ >"$work/tsv" || fail "report --format tsv"
[[ $(awk -F'\t' '{print NF}' "$work/tsv" | sort -u) == 6 ]] || fail "rows of different width"
report --format json shop.example >"$work/json" || fail "report --format json"
python3 - "$work/json" <<'P' || fail "JSON: $(cat "$work/json")"
import json, sys
site = json.load(open(sys.argv[1]))
assert site["documents"] == len(site["pages"]) == 6, site["documents"]
assert any(f["kind"] == "repaired" for p in site["pages"] for f in p["findings"])
P
code=0
report nobody.example >/dev/null 2>&1 || code=$?
[[ $code -eq 111 ]] || fail "a site that is not known: exit $code"
code=0
report --format xml shop.example >/dev/null 2>&1 || code=$?
[[ $code -eq 100 ]] || fail "an unknown format: exit $code"
echo "report: $(grep -cE 'problem|repaired|unused|advice' "$work/text") findings in six documents, told as text, tsv and JSON"
