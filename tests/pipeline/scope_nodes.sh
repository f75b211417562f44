#!/usr/bin/env bash
# A scope that grows on one node of three grows on the others, too: hosts that are added on either, one
# after the other and at the same moment, by crawl and by `scope set` and `add`, give the dump of one
# crawl of all of them on one node.
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
names=(one.example two.example three.example four.example)
pages=6

page() { # host, name, links...
    local file=$work/hosts/$1/$2.html link
    shift 2
    echo "<!DOCTYPE html><title>Page</title>" >"$file"
    for link; do echo "<a rel='next' href='$link'>further</a>" >>"$file"; done
}
for h in 0 1 2 3; do
    folder=$work/hosts/${names[h]}
    mkdir -p "$folder"
    links=()
    for ((n = 1; n <= pages; n++)); do
        links+=("$n.html")
        to=()
        for o in 0 1 2 3; do # pages that nothing else leads to
            ((o != h)) || continue
            to+=("http://${names[o]}/from$h-$n.html" "http://${names[o]}/moved$h-$n")
            page "${names[h]}" "from$o-$n"
            page "${names[h]}" "target$o-$n"
            echo "redirect /moved$o-$n 302 http://${names[o]}/target$h-$n.html" >>"$folder/.serve"
        done
        page "${names[h]}" $n "${to[@]}"
    done
    page "${names[h]}" index "${links[@]}"
done
: >"$work/seeds"
start_web "$work/hosts"
crawl "$work/one" $(printf 'http://%s/ ' "${names[@]}") >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/one" "$work/one.nq"
(($(grep -c '"Page"' "$work/one.nq") == 4 * (1 + 7 * pages))) || fail "the crawl is not whole"

# ---- three nodes, of which one fetches only ----

for n in a b c; do "$bin/quadrille" init --dir "$work/$n" >/dev/null; done
curve=$("$bin/quadrille" init --dir "$work/a" --keys)
cp -p "$work/a/curve.secret" "$work/b/"
cp -p "$work/a/curve.secret" "$work/c/"
mapfile -t web < <(web_settings)
for n in c b a; do
    cat >"$work/$n/cluster.conf" <<C
node a host=127.0.0.1 queue=tcp://127.0.0.1:7001 metastore=tcp://127.0.0.1:7002 index=tcp://127.0.0.1:7010
node b host=127.0.0.1 queue=tcp://127.0.0.1:7101 metastore=tcp://127.0.0.1:7102 index=tcp://127.0.0.1:7110
node c host=127.0.0.1 queue=tcp://127.0.0.1:7201 metastore=tcp://127.0.0.1:7202 stages=fetch
$curve
C
    "$bin/quadrille" scope --dir "$work/$n" set scope.hosts=one.example --set cluster.node=$n
    "$bin/quadrille" up --dir "$work/$n" --background "${web[@]}" --set cluster.node=$n >"$work/up.$n" 2>&1 ||
        fail "up: $(cat "$work/up.$n")"
done
crawl "$work/a" --set cluster.node=a http://one.example/ >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
# At the same moment on both.
crawl "$work/b" --set cluster.node=b http://two.example/ >"$work/out.b" 2>&1 &
other=$!
crawl "$work/a" --set cluster.node=a http://three.example/ >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
wait $other || fail "crawl on the other node: $(cat "$work/out.b")"
hosts=$(sed -n 's/^scope.hosts *= *//p' "$work/b/scope.conf")
"$bin/quadrille" scope --dir "$work/b" --set cluster.node=b set "scope.hosts=$hosts" scope.prefixes=http://four.example/ 'scope.include=^http://four\.example/.*t.*-'
"$bin/quadrille" add --dir "$work/b" --set cluster.node=b http://four.example/ >"$work/out" 2>&1 || fail "add: $(cat "$work/out")"
crawl "$work/b" --set cluster.node=b >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
"$bin/quadrille" dump --dir "$work/a" --output "$work/three.nq" --set cluster.node=a || fail "dump over three nodes"
for n in a b c; do "$bin/quadrille" down --dir "$work/$n" & done
wait $(jobs -p | grep -vx "$web_pid")
same "$work/one.nq" "$work/three.nq" "three nodes"
for n in a b c; do
    grep '^scope\.' "$work/$n/scope.conf" | tr ',' '\n' | LC_ALL=C sort >"$work/scope.$n"
    [[ -n $(find "$work/$n/metastore" -type f) ]] || fail "node $n had nothing to do"
done
same "$work/scope.a" "$work/scope.b" "the scopes of two of them"
same "$work/scope.a" "$work/scope.c" "the scopes of two of them"
echo "scope_nodes: $(wc -l <"$work/three.nq") quads, the same bytes as one crawl on one node"
