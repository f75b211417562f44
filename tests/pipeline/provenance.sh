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
    /^## In queries/ { on = 1 }
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
q up --dir "$work/two" --background --set index.partitions=2 --set processes.web=1 \
    --set web.listen=127.0.0.1:0 >/dev/null 2>&1 || true
for query in "$work/queries"/*; do
    one=$(rows_of "$work/one" "$query")
    two=$(rows_of "$work/two" "$query" --set index.partitions=2)
    [[ $one -gt 0 ]] || fail "no answers: $(cat "$query")"
    [[ $one -eq $two ]] || fail "$one rows with one partition, $two with two: $(cat "$query")"
done
q down --dir "$work/two" >/dev/null 2>&1 || true

# ---- what meta prints, a query gives ----
total() { # name; the query on standard input
    q query --dir "$work/one" --format csv --file - | sed -n '2{s/\r//;p}'
}
while read -r uri; do
    printed=$(q meta --dir "$work/one" "$uri" >"$work/record.ttl" &&
        q transform --type text/turtle --uri http://t.example/ "$work/record.ttl" 2>/dev/null | wc -l)
    file=$(sed -n 's/.*dcterms:title "\([^"]*warc.gz\)".*/\1/p' "$work/record.ttl" | head -n 1)
    found=$(q query --dir "$work/one" --format csv "SELECT (COUNT(*) AS ?n) {
        GRAPH q:provenance { <$uri> (<x:none>|!<x:none>)* ?s FILTER (isBlank(?s) || ?s = <$uri> ||
        STRSTARTS(STR(?s), 'urn:uuid:')) ?s ?p ?o } }" | sed -n '2{s/\r//;p}')
    [[ -n $file && $printed -gt 50 ]] || fail "the record of $uri"
    [[ $found -ge 1 ]] || fail "$uri: nothing found"
done < <(q query --dir "$work/one" --format csv 'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } LIMIT 3' |
    sed -n '2,${s/\r//;p}')

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
echo "provenance: $(ls "$work/queries" | wc -l) examples, with one partition and two"
