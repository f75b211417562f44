#!/usr/bin/env bash
# Random and mutated messages through the real sockets of the daemons, and HTTP requests to the web
# service: none crashes, hangs or takes memory without bound, and others are served meanwhile and
# afterwards. MESSAGES and SEED in the environment: how many for each, and which.
. "$(dirname "$0")/lib.sh"
client=$root/build/tests/mutant_client
messages=${MESSAGES:-2000}
seed=${SEED:-1}
dir=$work/d
{ echo '<urn:s> <urn:p> "apple pear" <urn:g> .'; echo '<urn:s> <urn:q> <urn:o> <urn:g> .'; } >"$work/some.nq"
"$bin/quadrille" init --dir "$dir" >/dev/null
"$bin/quadrille" import --dir "$dir" "$work/some.nq" >"$work/out" 2>&1 || fail "import: $(cat "$work/out")"

"$bin/quadrille" up --dir "$dir" --only queue,metastore,index,web --background --set web.listen=127.0.0.1:0 \
    --set index.query_timeout=1s --set scope.hosts=a.example >"$work/out" 2>&1 || fail "up: $(cat "$work/out")"
pid_of() { # program
    pgrep -f -- "quadrille-$1 --dir $dir( |\$)" | head -n 1 || true
}
for _ in $(seq "$patience"); do
    port=$(sed -nE 's/.*event=listening.*port=([0-9]+).*/\1/p' "$dir"/log/web*.log 2>/dev/null | tail -n 1) || true
    [[ -n $port && -S $dir/run/queue.sock && -S $dir/run/metastore.sock && -S $dir/run/index-0.sock ]] && break
    sleep 0.05
done
[[ -n ${port:-} ]] || fail "they do not start"
declare -A pids addresses=([queue]=ipc://$dir/run/queue.sock [metastore]=ipc://$dir/run/metastore.sock
    [index]=ipc://$dir/run/index-0.sock [http]=127.0.0.1:$port)
for daemon in queue metastore index http; do
    for _ in $(seq "$patience"); do # the import's daemons have left their sockets
        pids[$daemon]=$(pid_of "${daemon/http/web}")
        [[ -n ${pids[$daemon]} ]] && break
        sleep 0.05
    done
    [[ -n ${pids[$daemon]} ]] || fail "$daemon does not run"
done
for daemon in queue metastore index http; do
    corpus=()
    [[ $daemon == queue ]] && corpus=("$root"/tests/fuzz/corpus/fuzz_queue_requests/*)
    "$client" "$daemon" "${addresses[$daemon]}" "${pids[$daemon]}" "$seed" "$messages" "${corpus[@]}" ||
        fail "$daemon, with SEED=$seed"
done
for daemon in queue metastore index http; do
    [[ $(pid_of "${daemon/http/web}") == "${pids[$daemon]}" ]] || fail "$daemon was restarted"
done
# What others have is as good as it was.
"$bin/quadrille" update --dir "$dir" 'INSERT DATA { GRAPH <urn:after> { <urn:s> <urn:p> "afterwards" } }' >"$work/out" 2>&1 ||
    fail "update: $(cat "$work/out")"
"$bin/quadrille" query --dir "$dir" --format csv 'SELECT ?o { GRAPH <urn:after> { ?s ?p ?o } }' >"$work/out" 2>&1 || fail "query: $(cat "$work/out")"
grep -q afterwards "$work/out" || fail "not found: $(cat "$work/out")"
"$bin/quadrille" status --dir "$dir" >"$work/out" 2>&1 || fail "status: $(cat "$work/out")"
"$bin/quadrille" verify --dir "$dir" >"$work/out" 2>&1 || fail "verify: $(cat "$work/out")"
"$bin/quadrille" down --dir "$dir" >/dev/null || fail "down"
echo "messages: $messages to each daemon"
