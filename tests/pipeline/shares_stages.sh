#!/usr/bin/env bash
# A machine that runs no share does detect and transform of shares elsewhere; it is killed with all its processes amid
# the work, another goes on, it comes back. The dump is that of one machine, nothing is buried, and all conversions lie
# in the shares' archives. Settings that cannot be read are told, and change nothing that runs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_cluster.sh"
refused() { # words of the reason, arguments of `cluster`
    local code=0
    timeout 300 "$bin/quadrille" cluster "${@:2}" --root "$ROOT" >"$work/refused" 2>&1 || code=$?
    [[ $code -ne 0 && $code -ne 124 ]] && grep -q -- "$1" "$work/refused" || fail "not refused with '$1': $code, $(cat "$work/refused")"
}

start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
crawl "$work/one" >/dev/null || fail "crawl with one machine"
dump_and_verify "$work/one" "$work/one.nq"
: >"$web_log"

cluster init --shares 2 --lease 2 >/dev/null || fail "cluster init"
mapfile -t web < <(web_settings | grep -v '^--set$')
printf '%s\n' "${web[@]}" >>"$ROOT/quadrille.conf"
refused 'not detect or transform' run --machine beta --stages detect,fetch
refused 'runs no share' run --machine beta --stages detect --shares 1

# The share's own machine leaves both stages to others.
run_machine alpha --address "$loopback.1:20000" --set processes.detect=0 --set processes.transform=0
"$bin/quadrille" crawl --dir "$ROOT" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 &
crawl=$!
waits_for_helpers() { # in both shares
    cluster status --json | python3 -c 'import json, sys
sys.exit(not all(share["answers"] and share["jobs"] > 0 for share in json.load(sys.stdin)["shares"]))'
}
await "jobs that wait for helpers" waits_for_helpers
run_machine beta --stages detect,transform
kept() { cat "$ROOT"/shares/*/warc/*-helpers.warc.gz 2>/dev/null | wc -c; }
keeps() { (($(kept) > $1)); }
await "beta's conversions" keeps 10000
mapfile -t all < <(tree "${machine[beta]}")
kill -KILL "${all[@]}" 2>/dev/null || true
((${#all[@]} > 8)) || fail "beta had few processes: ${all[*]}"
kill -0 "$crawl" || fail "the crawl ended before beta was killed: $(cat "$work/crawl.out")"
before=$(kept)
is_silent() { prints '^beta .*silent for' cluster status; }
await "beta is silent" is_silent
run_machine gamma --stages detect,transform
await "gamma's conversions" keeps "$before"
run_machine beta --stages transform --set processes.transform=2 # what it held comes back with its name

# What cannot be read is told with its line, and nothing ends for it.
both_help() { [[ $(cluster status | grep -cE '^(beta|gamma) .* helps 2 shares$') -eq 2 ]]; }
await "both help" both_help
refused 'beta helps already' run --machine beta --stages detect
shares_have() { # settings: each share runs with these
    [[ $(cluster status --json | python3 -c 'import json, sys
print(*{share["settings"] for share in json.load(sys.stdin)["shares"]})') == "$1" ]]
}
present() { cluster status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["settings"])'; }
settings=$(present)
await "shares run with the present settings" shares_have "$settings"
cp "$ROOT/quadrille.conf" "$work/good.conf"
lines=$(wc -l <"$ROOT/quadrille.conf")
echo 'fetch.delay = soon' >"$work/line"
cat "$work/good.conf" "$work/line" >"$work/bad.conf"
cp "$work/bad.conf" "$ROOT/.bad" && mv "$ROOT/.bad" "$ROOT/quadrille.conf"
all_tell() { [[ $(cluster status | grep -cE "^(alpha|beta|gamma) .*cannot use the settings: .*quadrille.conf:$((lines + 1)):") -eq 3 ]]; }
await "all tell what is wrong" all_tell
prints "^settings cannot be used, .*quadrille.conf:$((lines + 1)):" cluster status || fail "status: $(cluster status)"
[[ $(present) != "$settings" ]] || fail "other settings have the same version"
shares_have "$settings" || fail "settings that cannot be used have ended shares: $(cluster status)"
cp "$work/good.conf" "$ROOT/.good" && mv "$ROOT/.good" "$ROOT/quadrille.conf"
none_tells() { ! cluster status | grep -q 'cannot' && shares_have "$settings"; }
await "nothing is wrong any more" none_tells

wait "$crawl" || fail "crawl with helpers: $(cat "$work/crawl.out")"
grep -q ' buried=0 ' "$work/crawl.out" || fail "something was buried: $(cat "$work/crawl.out")"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/two.nq" || fail "dump of the cluster"
same "$work/one.nq" "$work/two.nq" "a crawl with helpers"
"$bin/quadrille" verify --dir "$ROOT" >/dev/null || fail "verify of the cluster"
[[ -z $(find "$ROOT/helpers" -name '*.warc.gz') ]] || fail "a helper has an archive"
[[ -z $(find "$ROOT/shares" '(' -name '*-transform*.warc.gz' -o -name '*-detect*.warc.gz' ')') ]] || fail "a share did its transforms itself"
[[ -z $(repeated "$web_log") ]] || fail "fetched again: $(repeated "$web_log")"

for m in gamma beta; do kill -TERM "${machine[$m]}"; done
no_helpers() { ! cluster status | grep -q '^helper '; }
await "helpers have ended in order" no_helpers
kill -TERM "${machine[alpha]}"
echo "shares_stages: $(wc -l <"$work/two.nq") quads, the same bytes as one machine's, by helpers of whom one was killed"
