#!/usr/bin/env bash
# Documents that need other documents: contexts on another host, contexts that import contexts,
# one that is not to be had, one whose host does not answer.
. "$(dirname "$0")/lib.sh"
hosts=$work/hosts
cp -R "$root/examples/web/hosts" "$hosts"
start_web "$hosts"
echo http://recipes.example/2026/menu.html >"$work/seeds"
menu='<http://recipes.example/2026/menu.html>'

count() { grep -cF -- "$1" "$2" || true; }
asked() { awk -F'\t' -v u="$1" '$2 " " $4 == u' "$web_log" | wc -l; }
meta() { "$bin/quadrille" meta --dir "$1" "$2"; }

# In scope are only the recipes; their contexts come all the same, and nothing else of that host.
one=$work/one
crawl "$one" --set scope.hosts=recipes.example >"$work/one.out" || fail "$(cat "$work/one.out")"
dump_and_verify "$one" "$work/one.nq"
[[ $(count 'terms#dish' "$work/one.nq") -eq 2 ]] || fail "the menu has not its dishes"
[[ $(count '"250"^^<http://www.w3.org/2001/XMLSchema#integer>' "$work/one.nq") -eq 1 ]] ||
    fail "the imported context was not used"
[[ $(count '<http://vocab.example/context/' "$work/one.nq") -eq 0 ]] ||
    fail "a context was indexed as a document"
for context in menu units; do
    [[ $(asked "vocab.example /context/$context.jsonld") -eq 1 ]] ||
        fail "$context.jsonld was not asked for once"
done
[[ $(asked 'vocab.example /') -eq 0 ]] || fail "the crawl left its scope"
[[ $(count 'schema.org/Event' "$work/one.nq") -eq 1 ]] || fail "a good block was lost with a bad one"
[[ $(count '<http://schema.org/startDate> "2026-02-03"^^<http://schema.org/Date>' \
    "$work/one.nq") -eq 1 ]] || fail "schema.org's context was not at hand"
[[ $(asked 'schema.org /') -eq 0 ]] || fail "a pinned context was fetched"
meta "$one" http://recipes.example/2026/menu.html >"$work/menu.ttl"
grep -q 'vocab.example/context/units.jsonld' "$work/menu.ttl" ||
    fail "the metadata do not name the contexts"
meta "$one" http://recipes.example/2026/guests.html >"$work/guests.ttl"
grep -q 'nowhere.example/guests.jsonld' "$work/guests.ttl" ||
    fail "the metadata do not name the context that is missing"

meta "$one" 'http://vocab.example/context/units.jsonld#resource' >"$work/units.ttl" ||
    fail "the context has no record"
grep -q 'application/ld+json' "$work/units.ttl" || fail "nobody asked for JSON-LD: $(cat "$work/units.ttl")"

# An old context is fetched again when a document needs it; nothing waits for that.
mapfile -t again < <(web_settings)
again+=(--set scope.hosts=recipes.example)
"$bin/quadrille" up --dir "$one" --background "${again[@]}" --set recrawl.most=0.2 \
    >/dev/null || fail "up"
"$bin/quadrille" replay --dir "$one" --transform jsonld >/dev/null 2>&1 || fail "replay"
for _ in $(seq "$patience"); do
    [[ $(asked 'vocab.example /context/units.jsonld') -ge 2 &&
        $(asked 'nowhere.example /guests.jsonld') -ge 2 ]] && break
    sleep 0.1
done
"$bin/quadrille" down --dir "$one" >/dev/null
for context in menu units; do
    [[ $(asked "vocab.example /context/$context.jsonld") -eq 2 ]] ||
        fail "an old $context.jsonld was not fetched again, once"
done
[[ $(asked 'nowhere.example /guests.jsonld') -eq 2 ]] || fail "an old failure got no other try"
dump_and_verify "$one" "$work/again.nq"
same "$work/one.nq" "$work/again.nq" "the same contexts fetched again"

# The same with more processes, and with nothing waited for.
two=$work/two
crawl "$two" --set scope.hosts=recipes.example --set processes.transform=3 \
    --set processes.fetch=2 >/dev/null || fail "crawl with more processes"
dump_and_verify "$two" "$work/two.nq"
same "$work/one.nq" "$work/two.nq" "more processes"
crawl "$work/never" --set scope.hosts=recipes.example --set transform.wait=0 >/dev/null ||
    fail "crawl without waiting"
dump_and_verify "$work/never" "$work/never.nq"
[[ $(count 'terms#dish' "$work/never.nq") -eq 0 ]] || fail "transform.wait=0 waits"
[[ $(count "$menu" "$work/never.nq") -gt 0 ]] || fail "a page without its context is lost"

# Context and document of the same URI are two things, whoever comes first.
{ cat "$work/seeds"; echo http://vocab.example/context/menu.jsonld; } >"$work/more"
mv "$work/more" "$work/seeds"
crawl "$work/both" --set scope.hosts=recipes.example,vocab.example --set scope.depth=1 \
    >/dev/null || fail "crawl of context and document"
dump_and_verify "$work/both" "$work/both.nq"
[[ $(count 'terms#dish' "$work/both.nq") -eq 2 ]] || fail "the context as a seed spoils the menu"

# A host that does not answer: the document waits so long and no longer.
echo http://recipes.example/2026/menu.html >"$work/seeds"
settings=(--set scope.hosts=recipes.example
    --set "fetch.connect_to=vocab.example:80:127.0.0.1:1,127.0.0.1:$web_port")
begin=$SECONDS
timeout 600 "$bin/quadrille" crawl --dir "$work/dead" --seeds "$work/seeds" --quiet \
    --set fetch.allow_address=127.0.0.0/8 --set fetch.delay=0 --set processes.web=0 \
    "${settings[@]}" --set fetch.retry=8 --set fetch.attempts=2 --set transform.wait=3 >"$work/dead.out" 2>&1 ||
    fail "the crawl does not end: $(cat "$work/dead.out")"
dump_and_verify "$work/dead" "$work/dead.nq"
same "$work/never.nq" "$work/dead.nq" "a dead host of contexts"

# By hand: with a crawl at hand, with a context in hand, with neither.
page=$hosts/recipes.example/2026/menu.html
by_hand() { "$bin/quadrille" transform --uri http://recipes.example/2026/menu.html "$@" "$page" 2>"$work/said"; }
by_hand --dir "$one" >"$work/hand.nq" || fail "transform --dir: $(cat "$work/said")"
grep -F "$menu ." "$work/one.nq" | cmp -s - "$work/hand.nq" || fail "transform by hand says another"
by_hand --context http://vocab.example/context/menu.jsonld="$hosts/vocab.example/context/menu.jsonld" \
    --context http://vocab.example/context/units.jsonld="$hosts/vocab.example/context/units.jsonld" \
    >"$work/hand.nq" || fail "transform --context: $(cat "$work/said")"
grep -F "$menu ." "$work/one.nq" | cmp -s - "$work/hand.nq" || fail "transform --context says another"
by_hand >"$work/hand.nq" || fail "transform: $(cat "$work/said")"
grep -q 'vocab.example/context/menu.jsonld' "$work/said" || fail "no word of the missing context"

# Own pinned contexts.
mkdir -p "$one/transforms/contexts"
echo '{"@context": {"@vocab": "http://mine.example/"}}' >"$one/transforms/contexts/mine"
printf 'context mine 2026-01-01 CC0 http://mine.example/\nat http://vocab.example/context/menu.jsonld\n' \
    >"$one/transforms/contexts/index"
by_hand --dir "$one" >"$work/hand.nq" || fail "own contexts: $(cat "$work/said")"
[[ $(count '<http://mine.example/grams>' "$work/hand.nq") -eq 2 ]] || fail "own contexts are not read"
echo "resources: contexts of another host came, were used, were waited for no longer than allowed ($((SECONDS - begin)) s)"
