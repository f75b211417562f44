#!/usr/bin/env bash
# The example web's server: statuses, types, redirects, traps, conditions, its log, what it hides.
. "$(dirname "$0")/lib.sh"
start_web "$root/examples/web/hosts"

ask() { # URI, further curl arguments: prints status, type, target
    curl -s -o /dev/null --max-time 60 --connect-to "::127.0.0.1:$web_port" \
        -w '%{http_code} %{content_type} %{redirect_url}\n' "$@" | sed 's/ *$//'
}
expect() { # what, URI, arguments
    local wanted=$1 got
    shift
    got=$(ask "$@")
    [[ $got == "$wanted" ]] || fail "$1: '$got' instead of '$wanted'"
}
html='text/html; charset=utf-8'
expect "200 $html" http://people.example/
expect '200 application/rdf+xml' http://people.example/ada.rdf
expect '200 text/turtle' http://people.example/bela.ttl
expect '200 application/trig' http://bookshop.example/catalogue.trig
expect '200 application/rss+xml' http://recipes.example/feeds/news.rss
expect "200 $html" http://recipes.example/2026/flatbread
expect "301 $html http://people.example/private/" http://people.example/private
expect "200 $html" http://people.example/archive/
expect "303 $html http://vocab.example/terms.ttl" http://vocab.example/terms
expect "410 $html" http://broken.example/gone.html
expect "404 $html" http://broken.example/missing.html
expect '200' http://broken.example/no-type.ttl
expect '200 text/html' http://broken.example/turtle-as-html.ttl
expect "421 $html" http://nowhere.example/
expect "404 $html" http://vocab.example/.serve
expect "404 $html" --path-as-is http://people.example/../vocab.example/.serve
expect "404 $html" http://people.example/%2e%2e/vocab.example/.serve
expect "405 $html" -d x=y http://people.example/
expect "302 $html http://trap.example/loop/b" http://trap.example/loop/a
expect "200 $html" http://trap.example/events/9998/12
expect "200 $html" http://trap.example/maze/a/b/c/
expect "404 $html" http://trap.example/events/2026/13
tag=$(curl -sI --connect-to "::127.0.0.1:$web_port" http://people.example/ada.rdf |
    tr -d '\r' | sed -n 's/^ETag: //p')
expect '304 application/rdf+xml' http://people.example/ada.rdf -H "If-None-Match: $tag"
expect '200 application/rdf+xml' http://people.example/ada.rdf -H 'If-None-Match: "other"'

bytes=$( (curl -s --max-time 60 --connect-to "::127.0.0.1:$web_port" \
    http://trap.example/endless.html || true) | head -c 5000000 | wc -c)
[[ $bytes -eq 5000000 ]] || fail "the endless page ended after $bytes bytes"

line=$(awk -F'\t' '$2 == "people.example" && $4 == "/ada.rdf" && $5 == 304' "$web_log")
[[ $(awk -F'\t' '{print NF, $3, $6}' <<<"$line") == "11 GET 0" ]] || fail "log line: $line"
[[ -n $(awk -F'\t' '$4 == "/%2e%2e/vocab.example/.serve" && $5 == 404' "$web_log") ]] ||
    fail "the log does not keep URIs as they were sent"

# What is listed as expected is what independent parsers count.
if command -v serdi >/dev/null && command -v rapper >/dev/null; then
    while IFS=$'\t' read -r uri count; do
        file=$root/examples/web/hosts/${uri#http://}
        case $file in
            *.rdf) triples=$(rapper -q -i rdfxml -o ntriples "$file" "$uri" | sort -u | wc -l) ;;
            *.ttl) triples=$(serdi -i turtle "$file" "$uri" | sort -u | wc -l) ;;
            *.trig) triples=$(serdi -i trig "$file" "$uri" | sort -u | wc -l) ;;
            *) triples=$(serdi -i nquads "$file" "$uri" | sort -u | wc -l) ;;
        esac
        [[ $triples -eq $count ]] || fail "$uri: $triples triples, $count expected"
    done < <(grep -v '^#' "$root/examples/web/expected")
fi
echo "example web: $(grep -vc '^#' "$root/examples/web/expected") RDF documents as listed"
