#!/usr/bin/env bash
# Of two nodes one is killed in the middle of a crawl and comes back at its end: the other fetches all
# of its hosts meanwhile, says who is down and what waits, nothing is buried, no host is asked too
# fast, and the dump is that of one node.
if [[ -z ${QUADRILLE_NETWORK:-} ]]; then
    [[ $(id -u) -eq 0 ]] && unshare --net true 2>/dev/null || {
        echo "SKIP: network namespaces cannot be made here"
        exit 77
    }
    QUADRILLE_NETWORK=own exec unshare --net "$0" "$@" # so that the ports are ours
fi
. "$(dirname "$0")/lib.sh"
command -v ip >/dev/null || skip "ip is missing; install iproute2"
ip link set lo up
pages=12
delay=0.1
hosts=(h{1..8}.example)

for h in "${hosts[@]}"; do
    mkdir -p "$work/hosts/$h"
    for ((n = 1; n <= pages; n++)); do
        {
            echo "<!DOCTYPE html><title>Page $n of $h</title>"
            echo "<a rel='next' href='$((n % pages + 1)).html'>next</a>"
            # found by links only, some through a redirect
            [[ $n -gt 3 ]] || echo "<a rel='next' href='moved$n'>more</a>"
        } >"$work/hosts/$h/$n.html"
        echo "http://$h/$n.html" >>"$work/seeds"
    done
    for n in 1 2 3; do
        echo "<!DOCTYPE html><title>More $n of $h</title>" >"$work/hosts/$h/more$n.html"
        echo "redirect /moved$n 302 http://h$n.example/more$n.html" >>"$work/hosts/$h/.serve"
    done
done
start_web "$work/hosts"
other_web=$web_port
delay=0 crawl "$work/one" >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/one" "$work/one.nq"
kill "$web_pid" && wait "$web_pid" 2>/dev/null || true

# ---- two nodes, each with a view of the web of its own, so that the logs tell who asked ----

declare -A log port
serve() { # node, port
    log[$1]=$work/access.$1.tsv
    port[$1]=$2
    "$bin/quadrille-example-web" --hosts "$work/hosts" --port "$2" --log "${log[$1]}" >"$work/web.$1.out" 2>&1 &
    disown
}
end_nodes() {
    local code=$?
    pkill -KILL -f -- "--hosts $work/hosts" 2>/dev/null || true
    (exit $code)
    end_all
}
trap end_nodes EXIT
serve a 8481
serve b 8482
for n in a b; do "$bin/quadrille" init --dir "$work/$n" >/dev/null; done
curve=$("$bin/quadrille" init --dir "$work/a" --keys)
cp -p "$work/a/curve.secret" "$work/b/"
scope=scope.hosts=$(IFS=, && echo "${hosts[*]}")
for n in a b; do
    cat >"$work/$n/cluster.conf" <<C
node a host=127.0.0.1 queue=tcp://127.0.0.1:7001 metastore=tcp://127.0.0.1:7002 index=tcp://127.0.0.1:7010
node b host=127.0.0.1 queue=tcp://127.0.0.1:7101 metastore=tcp://127.0.0.1:7102 index=tcp://127.0.0.1:7110
$curve
C
done
settings() { # node
    web_port=${port[$1]} web_settings
    printf '%s\n' --set "cluster.node=$1" --set "$scope"
}
up() { # node
    mapfile -t of < <(settings "$1")
    "$bin/quadrille" up --dir "$work/$1" --background "${of[@]}" >"$work/up.$1" 2>&1 || fail "up: $(cat "$work/up.$1")"
}
until_true() { # what, command...
    local what=$1
    shift
    for _ in $(seq "$patience"); do
        "$@" && return
        sleep 0.05
    done
    fail "$what: $(cat "$work/crawl.out")"
}
requests() { wc -l <"${log[$1]}" 2>/dev/null || echo 0; }
pages_of() { cut -f 2,4 "${log[$1]}" | grep -E '[0-9]\.html$' | LC_ALL=C sort; } # with repetitions
b_is_busy() { (($(requests b) > 15)) && [[ -n $(ls "$work"/b/warc/*.warc.gz 2>/dev/null) ]]; }
a_has_all() {
    local hosts
    hosts=$(cut -f 2 "${log[a]}" | sort -u | wc -l)
    (($(pages_of a | grep -E '\s/?[0-9]+\.html$|/[0-9]+\.html$' | grep -vc more) >= hosts * pages))
}
up b
mapfile -t of_a < <(settings a)
"$bin/quadrille" crawl --dir "$work/a" --seeds "$work/seeds" --quiet "${of_a[@]}" >"$work/crawl.out" 2>&1 &
crawling=$!
until_true "node b does nothing" b_is_busy
pkill -KILL -f -- "--dir $work/b" || fail "nothing to kill"
at_kill=$(requests a)
until_true "node a stands still" a_has_all
status() { "$bin/quadrille" status --json --dir "$work/a" --set cluster.node=a 2>/dev/null >"$work/status.json"; }
told() {
    status && python3 - "$work/status.json" <<'P'
import json, sys
told = json.load(open(sys.argv[1]))
down = [n for n in told["nodes_in_trouble"] if n["node"] == "b" and n["state"] == "down"]
sys.exit(0 if down and down[0]["jobs"] > 0 and down[0]["since"] else 1)
P
}
until_true "status does not say that b is down: $(cat "$work/status.json" 2>/dev/null)" told
kill -0 $crawling || fail "the crawl ended without node b: $(cat "$work/crawl.out")"
grep -q "Node b is down since" "$work/crawl.out" || fail "crawl does not say what it waits for: $(cat "$work/crawl.out")"
up b
wait $crawling || fail "crawl: $(cat "$work/crawl.out")"
grep -q "buried=0" "$work/crawl.out" || fail "jobs were buried: $(cat "$work/crawl.out")"
"$bin/quadrille" up --dir "$work/a" --background "${of_a[@]}" >"$work/up.a" 2>&1 || fail "up: $(cat "$work/up.a")"
"$bin/quadrille" dump --dir "$work/a" --output "$work/two.nq" --set cluster.node=a || fail "dump over two nodes"
"$bin/quadrille" verify --dir "$work/a" --set cluster.node=a >"$work/out" || fail "verify: $(cat "$work/out")"
same "$work/one.nq" "$work/two.nq" "a node that was down"
[[ -z $(pages_of a | uniq -d) ]] || fail "fetched twice by the node that lived: $(pages_of a | uniq -d)"
[[ -z $(comm -12 <(cut -f 2 "${log[a]}" | sort -u) <(cut -f 2 "${log[b]}" | sort -u)) ]] || fail "a host is asked by both"
python3 - "$delay" "${log[a]}" "${log[b]}" <<'P' || fail "a host was asked too soon"
import sys
times = {}
for name in sys.argv[2:]:
    for line in open(name):
        field = line.split("\t")
        times.setdefault(field[1], []).append(float(field[0]))
# The log's times waver on a busy machine, one by one; two who ask take half of the time in all.
bad = [host for host, at in times.items() if max(at) - min(at) < 0.8 * (len(at) - 1) * float(sys.argv[1]) - 0.2]
print(*bad)
sys.exit(len(bad) > 0)
P
# By their numbers: a bare `wait` may go on to wait for the web servers, which are nobody's jobs.
downs=()
for n in a b; do
    "$bin/quadrille" down --dir "$work/$n" &
    downs+=($!)
done
wait "${downs[@]}" || fail "down"
echo "nodes_down: $at_kill requests of the other node at the kill, $(requests a) at the end, $(wc -l <"$work/two.nq") quads, the same bytes as one node"
