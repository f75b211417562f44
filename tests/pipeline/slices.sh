#!/usr/bin/env bash
# Documents cut out of a dump are in the index the bytes that crawling them one by one gives, without
# a request; a slicing that was killed and repeated makes no difference, nor does a crawl before it.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/data.example
mkdir -p "$site/r"
count=400
for i in $(seq $count); do
    printf '@prefix v: <http://vocab.example/> .
<#it> v:name "thing %d" ; v:like <%d.ttl#it> ; v:part [ v:name "part" ; v:of [ v:weight %d ] ] .\n' \
        "$i" $((i % count + 1)) "$i" >"$site/r/$i.ttl"
    echo "http://data.example/r/$i.ttl"
done >"$work/seeds"
# The dump, in another order, with blank nodes of its own: parts of a resource far from it.
for i in $(seq $count -1 1); do
    printf '<http://data.example/r/%d.ttl#it> <http://vocab.example/name> "thing %d" .
<http://data.example/r/%d.ttl#it> <http://vocab.example/like> <http://data.example/r/%d.ttl#it> .
_:p%d <http://vocab.example/of> _:w%d .\n' "$i" "$i" "$i" $((i % count + 1)) "$i" "$i"
done >"$work/all.nt"
for i in $(seq $count); do
    printf '_:w%d <http://vocab.example/weight> "%d"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://data.example/r/%d.ttl#it> <http://vocab.example/part> _:p%d .
_:p%d <http://vocab.example/name> "part" .\n' "$i" "$i" "$i" "$i" "$i"
done | gzip >>"$work/all.nt.gz"
gzip <"$work/all.nt" | cat "$work/all.nt.gz" - >"$work/dump.nt.gz"
start_web "$work/hosts"

crawl "$work/crawled" >"$work/out" || fail "crawl: $(cat "$work/out")"
quadrille dump --dir "$work/crawled" >"$work/expected"
[[ $(wc -l <"$work/expected") == $((6 * count)) ]] || fail "the crawl has $(wc -l <"$work/expected") quads"

requests() { wc -l <"$web_log"; }
slice() { # directory
    quadrille slice --dir "$1" --source http://data.example/dump.nt.gz --slicing cbd \
        --prefix http://data.example/r/ "$work/dump.nt.gz"
}
index_all() { # directory: until nothing is left to do
    quadrille up --dir "$1" --background --only queue,metastore,index,extract "${settings[@]}"
    for _ in $(seq "$patience"); do
        quadrille status --dir "$1" | awk '$1 == "index" && NF > 5 { exit $4 + $5 + $6 > 0 }' && break
        sleep 0.5
    done
    quadrille down --dir "$1"
}
mapfile -t settings < <(web_settings)

# Nothing was crawled: no request is needed at all.
quadrille init --dir "$work/sliced" >/dev/null
asked=$(requests)
slice "$work/sliced" 2>"$work/out" || fail "slice: $(cat "$work/out")"
grep -q "^$count documents of $((6 * count)) quads on their way" "$work/out" || fail "$(cat "$work/out")"
index_all "$work/sliced"
quadrille dump --dir "$work/sliced" >"$work/dump"
cmp "$work/expected" "$work/dump" || fail 'slices differ from crawled documents'
quadrille verify --dir "$work/sliced" >"$work/out" || fail "verify: $(cat "$work/out")"
quadrille meta --dir "$work/sliced" http://data.example/r/7.ttl >"$work/out"
grep -q 'prov:wasDerivedFrom <http://data.example/dump.nt.gz>' "$work/out" || fail "$(cat "$work/out")"
grep -q 'meta:slicing "cbd"' "$work/out" || fail "$(cat "$work/out")"

# Killed in the middle, again and again, then once to its end; over documents that were crawled.
for delay in 0.02 0.05 0.1; do
    slice "$work/crawled" >/dev/null 2>&1 &
    sleep "$delay"
    pkill -KILL -f -- "slice --dir $work/crawled" || true
    wait $! || true
done
slice "$work/crawled" 2>"$work/out" || fail "slice: $(cat "$work/out")"
index_all "$work/crawled"
quadrille dump --dir "$work/crawled" >"$work/dump"
cmp "$work/expected" "$work/dump" || fail 'slices over crawled documents changed them'
quadrille verify --dir "$work/crawled" >"$work/out" || fail "verify: $(cat "$work/out")"
[[ $(requests) == "$asked" ]] || fail "slicing asked the web"
