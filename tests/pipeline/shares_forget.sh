#!/usr/bin/env bash
# A share of a cluster is given up for good in the middle of a crawl: what waited for it goes to the others, the
# crawl ends, and the dump is that of one machine, because the share had nothing yet that could be lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_cluster.sh"
refused() { # words of the reason, command...
    local code=0
    "${@:2}" >"$work/refused" 2>&1 || code=$?
    [[ $code -eq 100 ]] && grep -q -- "$1" "$work/refused" || fail "not refused with '$1': $code, $(cat "$work/refused")"
}

start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
crawl "$work/one" >/dev/null || fail "crawl with one machine"
dump_and_verify "$work/one" "$work/one.nq"

cluster init --shares 3 --lease 2 >/dev/null || fail "cluster init"
mapfile -t web < <(web_settings | grep -v '^--set$')
printf '%s\n' "${web[@]}" >>"$ROOT/quadrille.conf"
run_machine alpha --address "$loopback.1:20000" --shares 0,2
"$bin/quadrille" crawl --dir "$ROOT" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 &
crawl=$!
much_waits() { # for share 1
    cluster status --json | python3 -c 'import json, sys
shares = json.load(sys.stdin)["shares"]
sys.exit(not (shares[0]["answers"] and shares[2]["answers"] and shares[1]["outboxes"] > 9))'
}
await "jobs for a share that nobody runs" much_waits
refused 'has an owner' cluster forget 0
refused 'shares are 0 to 2' cluster forget 3
mkdir "$ROOT/shares/1/queue"
refused 'has its data' cluster forget 1
rmdir "$ROOT/shares/1/queue"
ln -s queue "$ROOT/shares/1/queue" # it can be neither seen nor missed
cluster forget 1 >"$work/refused" 2>&1 && fail "given up without a look at its data: $(cat "$work/refused")"
grep -q 'cannot see whether' "$work/refused" || fail "not refused: $(cat "$work/refused")"
rm "$ROOT/shares/1/queue"
kill -0 "$crawl" || fail "the crawl ended without a share: $(cat "$work/crawl.out")"
# One gives up a share at a time, so that none writes back what another has taken out.
exec 8>>"$ROOT/cluster"
flock 8
timeout 2 "$bin/quadrille" cluster forget 1 --root "$ROOT" >/dev/null 2>&1 8>&- && fail "two give up shares at once"
[[ ! -e $ROOT/forgotten/1 ]] || fail "a share was given up while another one was"
exec 8>&-

cluster forget 1 >"$work/forget.out" 2>&1 || fail "forget: $(cat "$work/forget.out")"
grep -qE 'given up: [1-9][0-9]* jobs that waited for it go elsewhere' "$work/forget.out" || fail "forget: $(cat "$work/forget.out")"
wait "$crawl" || fail "crawl after a share was given up: $(cat "$work/crawl.out")"
grep -q ' buried=0 ' "$work/crawl.out" || fail "something was buried: $(cat "$work/crawl.out")"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/two.nq" || fail "dump of the cluster"
same "$work/one.nq" "$work/two.nq" "a share that was given up"
"$bin/quadrille" verify --dir "$ROOT" >/dev/null || fail "verify of the cluster"
prints '^1 .* forgotten$' cluster status || fail "status: $(cluster status)"
cluster forget 1 >"$work/forget.out" || fail "forget again: $(cat "$work/forget.out")"
grep -q ' 0 jobs that waited' "$work/forget.out" || fail "forget again: $(cat "$work/forget.out")"

# A backup names the shares by their own numbers, also those behind the one that is given up.
"$bin/quadrille" backup --dir "$ROOT" "$work/saved" >/dev/null || fail "backup after a share was given up"
[[ $(cd "$work/saved" && echo share-*) == "share-0 share-2" ]] || fail "the backup has $(ls "$work/saved")"
for share in 0 2; do
    "$bin/quadrille" restore --dir "$work/restored-$share" "$work/saved/share-$share" >"$work/restore.out" 2>&1 ||
        fail "restore of share $share: $(cat "$work/restore.out")"
    "$bin/quadrille" dump --dir "$work/restored-$share" --output "$work/restored-$share.nq" || fail "dump of restored share $share"
    grep -q "^cluster.node = share-$share\$" "$work/restored-$share/quadrille.conf" ||
        fail "share $share was restored with $(grep cluster.node "$work/restored-$share/quadrille.conf")"
done
LC_ALL=C sort "$work"/restored-*.nq >"$work/restored.nq"
same "$work/two.nq" "$work/restored.nq" "shares that were restored from a backup"

# By force also one that has an owner, who ends its processes first.
cluster forget 0 --force >"$work/forget.out" || fail "forget by force: $(cat "$work/forget.out")"
prints '^0 .* forgotten$' cluster status || fail "status: $(cluster status)"
refused 'share 2 is the last one' cluster forget 2 --force

# What keeps a process of a share from working is told with the share.
dd if=/dev/zero of="$ROOT/shares/2/metastore/records.db" bs=4096 count=1 conv=notrunc status=none
kill -KILL $(pgrep -f "^quadrille-metastore --dir $ROOT/shares/2 ") || fail "no metadata store of share 2"
troubled() { prints '^2 .* runs; metastore \(failed\|starts again\): .*metastore' cluster status; }
await "the trouble of share 2 is told" troubled
echo "shares_forget: $(wc -l <"$work/two.nq") quads, the same bytes as one machine's, without one share of three"
