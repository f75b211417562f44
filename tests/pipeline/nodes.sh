#!/usr/bin/env bash
# Two nodes in network namespaces give the same dump and report as one, and no host is fetched by both.
. "$(dirname "$0")/lib.sh"
[[ $(id -u) -eq 0 ]] || skip "network namespaces need root"
command -v ip >/dev/null || skip "ip is missing; install iproute2"
hosts=$root/examples/web/hosts
tag=q$$
end_nodes() {
    local code=$?
    set +e # else the line with the code ends it all
    ip netns pids "${tag}a" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns pids "${tag}b" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns del "${tag}a" 2>/dev/null || true
    ip netns del "${tag}b" 2>/dev/null || true
    (exit $code)
    end_all
}
trap end_nodes EXIT
ip netns add "${tag}a" 2>/dev/null || skip "network namespaces cannot be made here"
ip netns add "${tag}b"
ip netns exec "${tag}a" true 2>/dev/null || skip "network namespaces cannot be entered here"
ip link add "${tag}a" netns "${tag}a" type veth peer name "${tag}b" netns "${tag}b"
ip -n "${tag}a" addr add 10.73.0.1/24 dev "${tag}a"
ip -n "${tag}b" addr add 10.73.0.2/24 dev "${tag}b"
for n in a b; do
    ip -n "$tag$n" link set lo up
    ip -n "$tag$n" link set "$tag$n" up
done

seeds_of "$hosts" >"$work/seeds"
declare -A log
serve_in() { # namespace
    web_log=$work/access.$1.tsv
    ip netns exec "$tag$1" "$bin/quadrille-example-web" --hosts "$hosts" --port 8480 \
        --log "$web_log" >"$work/web.$1.out" 2>&1 &
    disown # so that bash does not report its end
}
serve_in a
serve_in b
for n in a b; do
    for _ in $(seq "$patience"); do
        grep -q :8480 "$work/web.$n.out" && break
        sleep 0.05
    done
done
mkdir -p "$work/a" "$work/b"
"$bin/quadrille" init --dir "$work/a" >/dev/null
"$bin/quadrille" init --dir "$work/b" >/dev/null
curve=$("$bin/quadrille" init --dir "$work/a" --keys)
cp -p "$work/a/curve.secret" "$work/b/curve.secret"
for n in a b; do
    cat >"$work/$n/cluster.conf" <<C
node a host=10.73.0.1 queue=tcp://10.73.0.1:7001 metastore=tcp://10.73.0.1:7002 index=tcp://10.73.0.1:7010 web=http://10.73.0.1:7080
node b host=10.73.0.2 queue=tcp://10.73.0.2:7001 metastore=tcp://10.73.0.2:7002 index=tcp://10.73.0.2:7010 web=http://10.73.0.2:7080
$curve
C
done
settings=(--set fetch.connect_to=127.0.0.1:8480 --set fetch.allow_address=127.0.0.0/8
    --set fetch.delay=0 --set warc.size=64K)
node_settings() { printf '%s\n' "${settings[@]}" --set "cluster.node=$1" --set "web.listen=10.73.0.$2:7080"; }
mapfile -t of_a < <(node_settings a 1)
mapfile -t of_b < <(node_settings b 2)
hosts_scope=scope.hosts=$(sed 's,http://,,; s,/$,,' "$work/seeds" | paste -sd,)
ip netns exec "${tag}b" "$bin/quadrille" up --dir "$work/b" --background "${of_b[@]}" --set "$hosts_scope"
ip netns exec "${tag}a" "$bin/quadrille" crawl --dir "$work/a" --seeds "$work/seeds" --quiet \
    "${of_a[@]}" --set "$hosts_scope" >"$work/two.out" || fail "crawl: $(cat "$work/two.out")"
ip netns exec "${tag}a" "$bin/quadrille" up --dir "$work/a" --background "${of_a[@]}" --set "$hosts_scope"
ip netns exec "${tag}a" "$bin/quadrille" dump --dir "$work/a" --output "$work/two.nq" "${of_a[@]}" ||
    fail "dump over two nodes"
ip netns exec "${tag}a" "$bin/quadrille" verify --dir "$work/a" "${of_a[@]}" >/dev/null ||
    fail "verify over two nodes"
# What is known of documents of either node, asked on one.
metadata='SELECT (COUNT(*) AS ?n) { GRAPH q:provenance { ?doc
    <http://www.w3.org/2011/http#statusCodeValue> 200 ; <http://www.w3.org/ns/prov#alternateOf> ?r }
    GRAPH ?doc { ?s a ?type } }'
ip netns exec "${tag}a" "$bin/quadrille" query --dir "$work/a" --format csv "${of_a[@]}" \
    "$metadata" >"$work/two.csv" || fail "metadata of two nodes"
ip netns exec "${tag}a" "$bin/quadrille" explain --dir "$work/a" --limit 1000 --extractor \
    "${of_a[@]}" '? dcterms:title ?' >"$work/two.explained" || fail "explain over two nodes"
outcomes() { # of what status --json printed
    python3 -c 'import json, sys
told = json.load(open(sys.argv[1]))["outcomes"]
print(sorted((s, o, n) for s in told for o, n in told[s].items() if n and o != "beside"))' "$1"
}
ip netns exec "${tag}a" "$bin/quadrille" status --json --dir "$work/a" "${of_a[@]}" >"$work/two.json" || fail "status of two nodes"
grep -q 'node a$' "$work/two.explained" && grep -q 'node b$' "$work/two.explained" ||
    fail "explain: $(cat "$work/two.explained")"
# With keys the archive goes over the encrypted links alone: whoever has none gets nothing of it.
file=$(basename "$(find "$work/b/warc" -name '*.warc.gz' | head -n 1)")
code=$(ip netns exec "${tag}a" curl -s -o "$work/stolen" -w '%{http_code}' "http://10.73.0.2:7080/warc/$file")
[[ $code == 403 ]] && ! grep -q WARC "$work/stolen" || fail "the archive is served to everybody: $code"
mapfile -t sites < <(sed 's,http://,,; s,/$,,' "$work/seeds")
ip netns exec "${tag}a" "$bin/quadrille" report --dir "$work/a" --format tsv "${of_a[@]}" \
    "${sites[@]}" >"$work/two.tsv" || fail "report over two nodes"
# Each node keeps its own archive within bounds; what is current stays readable from either.
archived() { find "$work/$1/warc" -name '*.warc.gz' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }
sources() { # what every archived document gives, read on node a
    local uri
    while read -r uri; do
        echo "== $uri"
        ip netns exec "${tag}a" "$bin/quadrille" transform --dir "$work/a" "${of_a[@]}" --uri "$uri" 2>&1
    done <"$work/seeds"
}
sources >"$work/sources.before"
retain=(--set warc.keep_bytes=1 --set warc.keep_least=0)
for n in a b; do
    before=$(archived $n)
    other=$([[ $n == a ]] && echo b || echo a)
    of_other=$(archived "$other")
    declare -n of=of_$n
    ip netns exec "$tag$n" "$bin/quadrille" retain --dir "$work/$n" "${of[@]}" "${retain[@]}" \
        >"$work/retain.out" 2>&1 || fail "retain on node $n: $(cat "$work/retain.out")"
    echo "node $n: archive of $before bytes, then $(archived $n); $(cat "$work/retain.out")"
    (($(archived $n) < before)) || fail "retain on node $n removed nothing"
    [[ $(archived "$other") == "$of_other" ]] || fail "retain on node $n changed the archive of node $other"
done
sources >"$work/sources.after"
same "$work/sources.before" "$work/sources.after" 'retain on two nodes'
ip netns exec "${tag}a" "$bin/quadrille" down --dir "$work/a"
ip netns exec "${tag}b" "$bin/quadrille" down --dir "$work/b"

start_web "$hosts"
crawl "$work/one" >/dev/null || fail "crawl with one node"
dump_and_verify "$work/one" "$work/one.nq"
same "$work/one.nq" "$work/two.nq" "two nodes"
"$bin/quadrille" status --json --dir "$work/one" >"$work/one.json"
outcomes "$work/one.json" >"$work/one.outcomes" && outcomes "$work/two.json" >"$work/two.outcomes" || fail "status --json: $(cat "$work/two.json")"
same "$work/one.outcomes" "$work/two.outcomes" "outcomes of two nodes, added up"
"$bin/quadrille" query --dir "$work/one" --format csv "$metadata" >"$work/one.csv"
same "$work/one.csv" "$work/two.csv" "metadata of two nodes"
"$bin/quadrille" explain --dir "$work/one" --limit 1000 --extractor '? dcterms:title ?' \
    >"$work/one.explained" || fail explain
for n in one two; do
    grep -E '^    by|^  says' "$work/$n.explained" | LC_ALL=C sort >"$work/$n.said"
done
same "$work/one.said" "$work/two.said" "explain over two nodes"
"$bin/quadrille" report --dir "$work/one" --format tsv "${sites[@]}" >"$work/one.tsv" || fail "report"
same "$work/one.tsv" "$work/two.tsv" "report over two nodes"
[[ -s $work/one.tsv ]] || fail "the report is empty"
both=$(comm -12 <(cut -f2 "$work/access.a.tsv" | LC_ALL=C sort -u) \
    <(cut -f2 "$work/access.b.tsv" | LC_ALL=C sort -u))
[[ -z $both ]] || fail "hosts that both nodes fetched from: $both"
[[ -s $work/access.a.tsv && -s $work/access.b.tsv ]] || fail "one node did all the work"
echo "nodes: two nodes, $(wc -l <"$work/two.nq") quads, the same bytes as one, the same report"
