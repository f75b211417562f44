#!/usr/bin/env bash
# quadrille-web after a crawl: status, search, SPARQL by every method and format, metadata, ranges
# of WARC files; and what it refuses.
. "$(dirname "$0")/lib.sh"
hosts=$root/examples/web/hosts
start_web "$hosts"
seeds_of "$hosts" | grep -v trap >"$work/seeds"
scope=(--set 'scope.exclude=^http://trap')
crawl "$work/d" "${scope[@]}" >"$work/d.out" || fail "crawl: $(cat "$work/d.out")"

"$bin/quadrille" up --dir "$work/d" --set fetch.connect_to="127.0.0.1:$web_port" --set web.listen=127.0.0.1:0 --set processes.web=1 \
    >"$work/up.out" 2>&1 &
for _ in $(seq "$patience"); do
    port=$(sed -nE 's/.*event=listening.*port=([0-9]+).*/\1/p' "$work"/d/log/web*.log 2>/dev/null |
        tail -n 1) || true
    [[ -n $port ]] && break
    sleep 0.1
done
[[ -n ${port:-} ]] || fail "quadrille-web does not start: $(cat "$work/up.out")"
url=http://127.0.0.1:$port

status() { # arguments of curl
    curl -s -o "$work/reply" --max-time 120 -w '%{http_code} %{content_type}' "$@"
}
expect() { # what, arguments of curl
    local wanted=$1 got
    shift
    got=$(status "$@")
    [[ $got == "$wanted"* ]] || fail "$*: '$got' instead of '$wanted': $(head -c 300 "$work/reply")"
}
has() { grep -qF -- "$1" "$work/reply" || fail "not in the reply: $1: $(head -c 600 "$work/reply")"; }

for _ in $(seq "$patience"); do # the daemons may still be starting
    [[ $(status "$url/status.json") == 200* ]] && grep -q '"index"' "$work/reply" &&
        grep -q '"stages"' "$work/reply" && break
    sleep 0.2
done
expect '200 application/json' "$url/status.json"
has '"fetch":{"ready":0'
has '"quads":'
has '"outcomes":{"fetch":{"fetched":'
has '"hosts":['
expect '200 text/html' "$url/status"
has 'Status of the crawl'
has '<dt>fetched (2xx)</dt><dd>'
expect '200 text/html' "$url/"
has 'documents with data'

# Each file of a page has an address that changes with it, and is asked for once.
style=$(grep -o '/assets/style.css?v=[0-9a-f]*' "$work/reply") || fail "no style: $(head -c 600 "$work/reply")"
expect '200 text/css' -D "$work/headers" "$url$style"
grep -qi '^Cache-Control: .*immutable' "$work/headers" || fail "not kept: $(cat "$work/headers")"
grep -qi "^Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " \
    "$work/headers" || fail "another policy: $(cat "$work/headers")"
expect 304 "$url$style" -H "If-None-Match: $(sed -nE 's/^ETag: ("[^"]*").*/\1/Ip' "$work/headers")"
expect '200 text/css' -D "$work/headers" "$url/assets/style.css?v=0"
grep -qi '^Cache-Control: no-cache' "$work/headers" || fail "an old version is kept: $(cat "$work/headers")"
expect 404 --path-as-is "$url/assets/../quadrille.conf"

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
expect 400 "$url/sparql" --data-urlencode 'query=DELETE WHERE { ?s ?p ?o }'
expect 403 "$url/sparql" --data-urlencode 'update=DELETE WHERE { ?s ?p ?o }'
expect 403 "$url/sparql" -H 'Content-Type: application/sparql-update' --data-binary 'CLEAR ALL'
all='SELECT (COUNT(*) AS ?n) { ?s ?p ?o }'
expect '200 text/csv' -G "$url/sparql" --data-urlencode "query=$all" -d format=csv \
    --data-urlencode 'default-graph-uri=http://people.example/bela.ttl'
has 25
expect '200 text/csv' "$url/sparql?default-graph-uri=http://people.example/bela.ttl" \
    -H 'Content-Type: application/sparql-query' -H 'Accept: text/csv;q=0.9, image/png' --data-binary "$all"
has 25
expect '200 text/csv' -G "$url/sparql" -d format=csv --data-urlencode \
    'query=SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }' \
    --data-urlencode 'named-graph-uri=http://people.example/bela.ttl' \
    --data-urlencode 'named-graph-uri=http://people.example/nowhere'
has 1
# Each row differs from all others in what is filtered, so that none stands for several.
products='SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i
    FILTER(CONCAT(STR(?a), STR(?c), STR(?d), STR(?f), STR(?g), STR(?i)) = "") }'
expect 504 -G "$url/sparql" -d timeout=10 --data-urlencode \
    "query=$products"
expect 400 -G "$url/sparql" -d partial=maybe --data-urlencode "query=$all"
expect '200 text/csv' -G "$url/sparql" -d partial=warn -d format=csv --data-urlencode "query=$all"

expect '200 text/turtle' "$url/sparql"
rapper -q -i turtle -o ntriples "$work/reply" "$url/sparql" >"$work/service.nt" || fail "no Turtle"
grep -qF "<http://www.w3.org/ns/sparql-service-description#endpoint> <$url/sparql>" "$work/service.nt" ||
    fail "the service is not described: $(cat "$work/service.nt")"

expect '200 application/n-triples' -G "$url/graph" -H 'Accept: application/n-triples' \
    --data-urlencode 'graph=http://people.example/bela.ttl'
[[ $(wc -l <"$work/reply") -eq 25 ]] || fail "/graph gave $(wc -l <"$work/reply") lines"
expect '200 text/turtle' -I "$url/graph?graph=http://people.example/bela.ttl"
expect 404 "$url/graph?graph=http://people.example/nowhere"
expect '200 application/n-triples' "$url/graph?default" -H 'Accept: application/n-triples'
expect 403 -X PUT "$url/graph?default" --data-binary x
expect 415 "$url/sparql" -H 'Content-Type: text/plain' --data-binary x
expect 405 -X PUT "$url/sparql"
expect '200 text/html' "$url/sparql" -H 'Accept: text/html'

expect '200 text/html' "$url/search?q=apple"
has 'class="hit"'
expect '200 application/json' "$url/search?q=apple&per_page=2" -H 'Accept: application/json'
[[ $(grep -c '"score"' "$work/reply") -eq 2 ]] || fail "limit=2: $(cat "$work/reply")"
expect '200 text/html' -G "$url/search" --data-urlencode 'q="<script>alert(1)</script>'
grep -q '<script>' "$work/reply" && fail "the words come back as markup"

expect '200 text/turtle' "$url/meta?uri=http://people.example/bela.ttl"
has 'prov:Activity'
has 'schema:creativeWorkStatus "indexed"'
if command -v rapper >/dev/null; then
    rapper -q -c -i turtle "$work/reply" http://a/ || fail "not Turtle: $(cat "$work/reply")"
fi
expect '200 text/html' -H 'Accept: text/html' "$url/document?uri=http://people.example/bela.ttl"
has 'turtle: 25 statements'
expect '200 text/turtle' -H 'Accept: text/turtle' "$url/document?uri=http://people.example/bela.ttl"
expect '200 text/plain' "$url/archived?uri=http://people.example/bela.ttl"
has 'HTTP/1.1 200'
has 'Béla Szöllősi'
expect '200 application/octet-stream' "$url/archived?as=file&uri=http://people.example/bela.ttl"
cmp -s "$work/reply" "$hosts/people.example/bela.ttl" || fail "another body than its server sent"
expect 404 "$url/archived?uri=http://people.example/never-heard-of"
expect '200 application/json' "$url/sparql/terms?q=foaf:kn"
has '["http://xmlns.com/foaf/0.1/knows",'
expect '200 application/json' -G "$url/identity" -H 'Accept: application/json' \
    --data-urlencode 'uri=http://people.example/bela.ttl#me'
has '"members":["<http://bookshop.example/authors.ttl#szollosi>","<http://people.example/bela.ttl#me>"]'
expect '400' -G "$url/identity" --data-urlencode 'uri=urn:a&<script>'
expect '200 text/html' -G "$url/identity" --data-urlencode 'uri=urn:a&b'
has '&lt;urn:a&amp;b&gt; is the same as nothing else'
expect 400 "$url/identity?uri=nonsense"
expect 404 "$url/meta?uri=http://people.example/never-heard-of"
expect 400 "$url/meta?uri=nonsense"

file=$(basename "$(find "$work/d/warc" -name '*.gz' | LC_ALL=C sort | head -n 1)")
expect 206 -r 0-99 "$url/warc/$file"
cmp -s "$work/reply" <(head -c 100 "$work/d/warc/$file") || fail "other bytes than the file's"
expect 416 -r 99999999999- "$url/warc/$file"
expect 404 --path-as-is "$url/warc/../quadrille.conf"
expect 413 "$url/sparql" --data-binary @<(head -c 2000000 /dev/zero | tr '\0' 'a')
expect 404 "$url/nothing"
# What is allowed only when it is asked for; and a client that goes away.
"$bin/quadrille" down --dir "$work/d" >/dev/null || fail "down"
: >"$work/d/log/web.log"
"$bin/quadrille" up --dir "$work/d" --background --set web.listen=127.0.0.1:0 --set processes.fetch=0 \
    --set web.update=loopback --set web.update_token=secret --set web.allow_origin='*'
port=
for _ in $(seq "$patience"); do
    port=$(sed -nE 's/.*event=listening.*port=([0-9]+).*/\1/p' "$work/d/log/web.log" | tail -n 1)
    [[ -n $port ]] && break
    sleep 0.1
done
url=http://127.0.0.1:$port
expect 204 -X OPTIONS "$url/sparql" -H 'Origin: http://elsewhere.example'
for _ in $(seq "$patience"); do
    [[ $(status -G "$url/sparql" --data-urlencode "query=$all") == 200* ]] && break
    sleep 0.2
done
curl -s -D "$work/headers" -o /dev/null -G "$url/sparql" --data-urlencode "query=$all"
grep -qi '^Access-Control-Allow-Origin: \*' "$work/headers" || fail "no CORS: $(cat "$work/headers")"
expect '200 text/plain' "$url/sparql" --data-urlencode 'update=INSERT DATA { GRAPH <urn:a> { <urn:s> <urn:p> 1, 2 } }'
has '1 operations done, 0 quads removed, 2 added'
expect '200 text/plain' "$url/sparql" -H 'Content-Type: application/sparql-update' \
    --data-binary 'DELETE DATA { GRAPH <urn:a> { <urn:s> <urn:p> 1 } }'
expect '200 text/plain' "$url/sparql" -H 'Origin: http://elsewhere.example' -H 'Authorization: Bearer secret' \
    --data-urlencode 'update=CLEAR GRAPH <urn:b>'
expect 403 "$url/sparql" -H 'Origin: http://elsewhere.example' --data-urlencode 'update=CLEAR ALL'
expect 400 "$url/sparql" --data-urlencode 'update=CLEAR NONSENSE'
expect 201 -X PUT "$url/graph?graph=urn:put" -H 'Content-Type: text/turtle' --data-binary '<urn:x> <urn:y> [], 1 .'
expect 204 -X PUT "$url/graph?graph=urn:put" -H 'Content-Type: text/turtle' --data-binary '<urn:x> <urn:y> [] .'
expect '200 application/rdf+xml' "$url/graph?graph=urn:put" -H 'Accept: application/rdf+xml'
expect 204 -X DELETE "$url/graph?graph=urn:put"
expect 404 -X DELETE "$url/graph?graph=urn:put"
expect '200 text/plain' "$url/metrics"
has 'quadrille_up{part="index"} 1'
has 'quadrille_outcomes_total{outcome="fetched"}'
expect '200 application/json' "$url/health"
expect '404 text/html' "$url/nothing" -H 'Accept: text/html'
expect '200 application/n-triples' "$url/graph?graph=urn:a" -H 'Accept: application/n-triples'
[[ $(cat "$work/reply") == '<urn:s> <urn:p> "2"^^<http://www.w3.org/2001/XMLSchema#integer> .' ]] ||
    fail "updates: $(cat "$work/reply")"
ticks() {
    cat $(pgrep -f -- "quadrille-(index|web) --dir $work/d( |\$)" | sed 's,.*,/proc/&/stat,') | awk '{ n += $14 + $15 } END { print n }'
}
curl -s --max-time 1 -o /dev/null -G "$url/sparql" --data-urlencode \
    "query=$products" && fail "that was quick"
await_rest ticks || fail "the query goes on when its client has gone"
"$bin/quadrille" down --dir "$work/d" >/dev/null || fail "down"
echo "web: all replies as they should be"
