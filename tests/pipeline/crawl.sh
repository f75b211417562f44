#!/usr/bin/env bash
# A crawl of the bundled web: exit 0, every document once, the expected triples, the same dump a
# second time and with four processes of every stage, and queries that answer.
. "$(dirname "$0")/lib.sh"
hosts=$root/examples/web/hosts
start_web "$hosts"
seeds_of "$hosts" >"$work/seeds"

crawl "$work/one" >"$work/one.out" || fail "crawl: $(cat "$work/one.out")"
grep -q '^documents=[1-9]' "$work/one.out" || fail "no summary: $(cat "$work/one.out")"
dump_and_verify "$work/one" "$work/one.nq"
again=$(repeated "$web_log")
[[ -z $again ]] || fail "fetched more than once: $again"

# What was crawled is not crawled again by the same command.
: >"$web_log"
crawl "$work/one" >/dev/null || fail "crawl once more"
[[ $(awk -F'\t' '$4 != "/robots.txt"' "$web_log" | wc -l) -eq 0 ]] ||
    fail "a second run of the same command fetched: $(head -n 3 "$web_log")"

# Expected triples per document.
while IFS=$'\t' read -r uri count _; do
    [[ $uri == \#* || -z $uri ]] && continue
    got=$(grep -cF " <$uri> ." "$work/one.nq" || true)
    [[ $got -eq $count ]] || fail "$uri has $got quads instead of $count"
done <"$root/examples/web/expected"

crawl "$work/two" >/dev/null || fail "second crawl"
dump_and_verify "$work/two" "$work/two.nq"
same "$work/one.nq" "$work/two.nq" "second crawl"

four=(--set processes.fetch=4 --set processes.detect=4 --set processes.transform=4
    --set processes.extract=4 --set index.partitions=4)
crawl "$work/four" "${four[@]}" >/dev/null || fail "crawl with four processes"
dump_and_verify "$work/four" "$work/four.nq"
same "$work/one.nq" "$work/four.nq" "four processes of every stage"

count=$("$bin/quadrille" query --dir "$work/one" --format csv \
    'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }' | tail -n 1 | tr -d '\r')
[[ $count -eq $(wc -l <"$work/one.nq") ]] || fail "SPARQL counts $count quads"
prints '"exhausted":true' "$bin/quadrille" status --dir "$work/one" --json || fail "status --json"
echo "crawl: $(wc -l <"$work/one.nq") quads, the same bytes three times"
