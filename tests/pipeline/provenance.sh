#!/usr/bin/env bash
# What is known of documents in queries: every example of docs/METADATA.md gives answers, with one
# partition and with two, by command line and web; a query says what `quadrille meta` says.
. "$(dirname "$0")/lib.sh"
q() { "$bin/quadrille" "$@"; }
start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
crawl "$work/one" >"$work/one.out" 2>&1 || fail "$(cat "$work/one.out")"
crawl "$work/two" --set index.partitions=2 >"$work/two.out" 2>&1 || fail "$(cat "$work/two.out")"

# ---- the examples: blocks of indented lines after "## In queries"; the first are prefixes ----
mkdir "$work/queries"
awk -v folder="$work/queries" '
    /^## / { on = /^## In queries/ }
    !on || !/^    / { if (inside && $0 !~ /^    /) inside = 0; next }
    { if (!inside) { n++; inside = 1 } print substr($0, 5) > (folder "/" n) }
' "$root/docs/METADATA.md"
mv "$work/queries/1" "$work/prefixes"
[[ $(ls "$work/queries" | wc -l) -ge 7 ]] || fail "examples are missing: $(ls "$work/queries")"
rows_of() { # directory, file of the query; further arguments are settings
    local format=csv less=1
    grep -q '^DESCRIBE' "$2" && format=nt less=0
    cat "$work/prefixes" "$2" | q query --dir "$1" "${@:3}" --format "$format" --file - \
        >"$work/answer" 2>"$work/said" || fail "$(cat "$work/said"): $(cat "$2")"
    echo $(($(wc -l <"$work/answer") - less))
}
# Rows without what differs from crawl to crawl: times, identifiers of records, places in files.
comparable() {
    sed -E 's/[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT/TIME/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/g; s/urn:uuid:[0-9a-f-]+/RECORD/g
        s/[^ ,"<]*\.warc\.gz/FILE/g; s/_:[^ ,]+/NODE/g; s/"[0-9]+"\^\^[^ ]*/NUMBER/g' "$1" | LC_ALL=C sort
}
for query in "$work/queries"/*; do
    one=$(rows_of "$work/one" "$query")
    comparable "$work/answer" >"$work/answer.one"
    two=$(rows_of "$work/two" "$query" --set index.partitions=2)
    comparable "$work/answer" >"$work/answer.two"
    [[ $one -gt 0 ]] || fail "no answers: $(cat "$query")"
    # Which ones is the engine's choice, and which of two documents was read first that of the crawl.
    grep -qE 'LIMIT|isReferencedBy' "$query" && [[ $one -eq $two ]] && continue
    cmp -s "$work/answer.one" "$work/answer.two" ||
        fail "with two partitions: $(diff "$work/answer.one" "$work/answer.two"): $(cat "$query")"
done

# ---- what meta prints of a document, a query gives ----
while read -r uri; do
    q meta --dir "$work/one" "$uri" >"$work/record.ttl" || fail "meta $uri"
    q transform --type text/turtle --uri http://t.example/ "$work/record.ttl" 2>/dev/null |
        sed -n "s|^<$uri> <\([^>]*\)> .*|\1|p" | LC_ALL=C sort >"$work/printed"
    q query --dir "$work/one" --format csv \
        "SELECT ?p { GRAPH q:provenance { <$uri> ?p ?o } }" | sed '1d; s/\r//' |
        LC_ALL=C sort >"$work/found"
    [[ -s $work/printed ]] && cmp -s "$work/printed" "$work/found" ||
        fail "$uri: $(diff "$work/printed" "$work/found")"
done < <(q query --dir "$work/one" --format csv \
    'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } LIMIT 5' | sed '1d; s/\r//')

# ---- it keeps apart ----
q dump --dir "$work/one" --output "$work/one.nq"
grep -q 'query#provenance' "$work/one.nq" && fail "the dump has metadata"
q update --dir "$work/one" 'INSERT DATA { GRAPH q:provenance { <urn:a> <urn:b> <urn:c> } }' \
    >"$work/said" 2>&1 && fail "metadata was changed"
grep -q 'cannot be changed' "$work/said" || fail "$(cat "$work/said")"
q update --dir "$work/one" 'INSERT { GRAPH <urn:mine> { ?doc <urn:status> ?s } } WHERE {
    GRAPH q:provenance { ?doc <http://www.w3.org/2011/http#statusCodeValue> ?s } }' >/dev/null ||
    fail "an update from metadata"
n=$(q query --dir "$work/one" --format csv \
    'SELECT (COUNT(*) AS ?n) { GRAPH <urn:mine> { ?s <urn:status> 200 } }' | sed -n '2{s/\r//;p}')
[[ $n -gt 100 ]] || fail "an update from metadata made $n quads"
# ---- explain ----
explain() { # arguments; the output in $work/out
    q explain --dir "$work/one" "$@" >"$work/out" 2>"$work/said" || fail "explain $*: $(cat "$work/said")"
}
has() { grep -qE -- "$1" "$work/out" || fail "no $1 in: $(cat "$work/out")"; }
explain --extractor '?dish dcterms:title ?title http://vocab.example/terms.ttl'
has '^  fetched .*status 200'
has '^  because +redirect http://vocab.example/[a-z]+, depth 1'
has '^  redirected +http://vocab.example/terms, status 303'
has '^  archived .*-fetch.*record urn:uuid:.* node local'
has '^  converted .*-detect.*record urn:uuid:'
has '^  transforms +turtle/[0-9]+ [0-9]+'
has '^    by +turtle/[0-9]+ from line [1-9]'
explain '? a ? http://bookshop.example/'
has '^  because +seed, depth 0'
via=$(q query --dir "$work/one" --format csv 'SELECT ?d { GRAPH q:provenance {
    ?d <http://purl.org/dc/terms/isReferencedBy> ?via . ?via <http://purl.org/dc/terms/format>
    "application/x-sitemap+xml" } GRAPH ?d { ?s ?p ?o } } LIMIT 1' | sed -n '2{s/\r//;p}')
explain --limit 1 "? ? ? $via"
has '^  because +sitemap http'
explain '?doc <urn:status> ?s'
has 'not crawled'
q update --dir "$work/one" 'INSERT DATA { GRAPH <http://bookshop.example/> { <urn:a> <urn:b> 5 } }' >/dev/null
explain --extractor '<urn:a> <urn:b> "5"^^xsd:integer'
has 'no transform, as they are now'
explain --limit 1 '?x ?p ?x'
grep -q "says" "$work/out" || fail "the same variable twice"
awk '$1 == "says" && $2 != $4 { exit 1 }' "$work/out" || fail "not the same: $(cat "$work/out")"
explain --limit 100000 '? a ?'
grep says "$work/out" | LC_ALL=C sort >"$work/whole"
: >"$work/pages"
pages=$((($(wc -l <"$work/whole") + 99) / 100))
for ((page = 0; page < pages; page++)); do
    explain --limit 100 --offset $((100 * page)) '? a ?'
    grep says "$work/out" >>"$work/pages"
done
LC_ALL=C sort "$work/pages" | cmp -s - "$work/whole" || fail "pages are not the whole"
q explain --dir "$work/one" --offset 100000 '? a ?' 2>/dev/null && fail "past the end"
q explain --dir "$work/one" '? nonsense:type ?' >/dev/null 2>"$work/said" && fail "an unknown prefix"
grep -q 'prefix of nonsense:type is not known' "$work/said" || fail "$(cat "$work/said")"
explain --json --extractor --limit 3 '? dc:creator "Ada Quist"'
python3 - "$work/out" <<'P' || fail "explain --json: $(cat "$work/out")"
import json, sys
documents = json.load(open(sys.argv[1]))
for d in documents:
    assert d["status"] == 200 and d["response"]["length"] > 0 and d["because"]["reason"], d
    for s in d["statements"]:
        assert "Ada Quist" in s["triple"] and s["by"][0]["line"] > 0, s
assert sum(len(d["statements"]) for d in documents) == 3
P
statements() { # the output of explain: the statements, by document
    awk '/^http/ { d = $0 } $1 == "says" { print d, $0 }' | LC_ALL=C sort
}
q explain --dir "$work/one" --limit 1000 '? dcterms:title ?' | statements >"$work/of.one"
q explain --dir "$work/two" --set index.partitions=2 --limit 1000 '? dcterms:title ?' |
    statements >"$work/of.two"
[[ -s $work/of.one ]] && cmp -s "$work/of.one" "$work/of.two" || fail "explain over two partitions"
echo "provenance: $(ls "$work/queries" | wc -l) examples, with one partition and two"
