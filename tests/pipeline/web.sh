#!/usr/bin/env bash
# quadrille-web after a crawl: status, search, SPARQL by every method and format, metadata, ranges
# of WARC files; and what it refuses.
. "$(dirname "$0")/lib.sh"
hosts=$root/examples/web/hosts
start_web "$hosts"
seeds_of "$hosts" | grep -v trap >"$work/seeds"
scope=(--set 'scope.exclude=^http://trap')
crawl "$work/d" "${scope[@]}" >"$work/d.out" || fail "crawl: $(cat "$work/d.out")"

"$bin/quadrille" up --dir "$work/d" --set web.listen=127.0.0.1:0 --set processes.web=1 \
    >"$work/up.out" 2>&1 &
for _ in $(seq 100); do
    port=$(sed -nE 's/.*event=listening.*port=([0-9]+).*/\1/p' "$work"/d/log/web*.log 2>/dev/null |
        tail -n 1) || true
    [[ -n $port ]] && break
    sleep 0.1
done
[[ -n ${port:-} ]] || fail "quadrille-web does not start: $(cat "$work/up.out")"
url=http://127.0.0.1:$port

status() { # arguments of curl
    curl -s -o "$work/reply" --max-time 20 -w '%{http_code} %{content_type}' "$@"
}
expect() { # what, arguments of curl
    local wanted=$1 got
    shift
    got=$(status "$@")
    [[ $got == "$wanted"* ]] || fail "$*: '$got' instead of '$wanted': $(head -c 300 "$work/reply")"
}
has() { grep -qF -- "$1" "$work/reply" || fail "not in the reply: $1: $(head -c 600 "$work/reply")"; }

for _ in $(seq 50); do # the daemons may still be starting
    [[ $(status "$url/status.json") == 200* ]] && grep -q '"index"' "$work/reply" &&
        grep -q '"stages"' "$work/reply" && break
    sleep 0.2
done
expect '200 application/json' "$url/status.json"
has '"fetch":{"ready":0'
has '"quads":'
expect '200 text/html' "$url/"
has 'Status of the crawl'

for path in void .well-known/void; do
    expect '200 text/turtle' "$url/$path"
    rapper -q -i turtle -o ntriples "$work/reply" "$url/$path" >"$work/void.nt" || fail "/$path"
    grep -qF "<$url/void#index> <http://rdfs.org/ns/void#sparqlEndpoint> <$url/sparql>" \
        "$work/void.nt" || fail "/$path: $(head -c 600 "$work/void.nt")"
done

query='SELECT (COUNT(*) AS ?n) { GRAPH <http://people.example/bela.ttl> { ?s ?p ?o } }'
expect '200 application/sparql-results+json' -G "$url/sparql" --data-urlencode "query=$query"
has '"25"'
expect '200 text/csv' -G "$url/sparql" --data-urlencode "query=$query" -H 'Accept: text/csv'
has 25
expect '200 application/sparql-results+xml' "$url/sparql" --data-urlencode "query=$query" \
    -H 'Accept: application/sparql-results+xml, */*;q=0.1'
has '<literal datatype="http://www.w3.org/2001/XMLSchema#integer">25</literal>'
expect '200 text/tab-separated-values' "$url/sparql" -H 'Content-Type: application/sparql-query' \
    --data-binary "$query" -H 'Accept: text/tab-separated-values'
construct='CONSTRUCT { ?s ?p ?o } { GRAPH <http://people.example/bela.ttl> { ?s ?p ?o } }'
expect '200 application/n-triples' -G "$url/sparql" --data-urlencode "query=$construct" \
    -H 'Accept: application/n-triples'
[[ $(wc -l <"$work/reply") -eq 25 ]] || fail "CONSTRUCT gave $(wc -l <"$work/reply") lines"
expect '200 text/csv' -G "$url/sparql" -H 'Accept: text/csv' --data-urlencode 'query=SELECT ?status {
    GRAPH q:provenance { <http://bookshop.example/>
        <http://www.w3.org/2011/http#statusCodeValue> ?status } }'
has 200
expect 406 -G "$url/sparql" --data-urlencode "query=$query" -H 'Accept: image/png'
expect 400 -G "$url/sparql" --data-urlencode "query=SELECT nonsense"
expect 400 "$url/sparql?query=a&query=b"
expect 400 "$url/sparql?query=ASK%7B%7D&default-graph-uri=http://a/"
expect 403 "$url/sparql" --data-urlencode 'query=DELETE WHERE { ?s ?p ?o }'
expect 415 "$url/sparql" -H 'Content-Type: text/plain' --data-binary x
expect 405 -X PUT "$url/sparql"
expect '200 text/html' "$url/sparql"

expect '200 text/html' "$url/search?q=apple"
has 'class="hit"'
expect '200 application/json' "$url/search?q=apple&limit=2" -H 'Accept: application/json'
[[ $(grep -c '"score"' "$work/reply") -eq 2 ]] || fail "limit=2: $(cat "$work/reply")"
expect '200 text/html' -G "$url/search" --data-urlencode 'q="<script>alert(1)</script>'
grep -q '<script>' "$work/reply" && fail "the words come back as markup"

expect '200 text/turtle' "$url/meta?uri=http://people.example/bela.ttl"
has 'prov:Activity'
has 'schema:creativeWorkStatus "indexed"'
if command -v rapper >/dev/null; then
    rapper -q -c -i turtle "$work/reply" http://a/ || fail "not Turtle: $(cat "$work/reply")"
fi
expect 404 "$url/meta?uri=http://people.example/never-heard-of"
expect 400 "$url/meta?uri=nonsense"

file=$(basename "$(find "$work/d/warc" -name '*.gz' | LC_ALL=C sort | head -n 1)")
expect 206 -r 0-99 "$url/warc/$file"
cmp -s "$work/reply" <(head -c 100 "$work/d/warc/$file") || fail "other bytes than the file's"
expect 416 -r 99999999999- "$url/warc/$file"
expect 404 --path-as-is "$url/warc/../quadrille.conf"
expect 413 "$url/sparql" --data-binary @<(head -c 2000000 /dev/zero | tr '\0' 'a')
expect 404 "$url/nothing"
"$bin/quadrille" down --dir "$work/d" >/dev/null || fail "down"
echo "web: all replies as they should be"
