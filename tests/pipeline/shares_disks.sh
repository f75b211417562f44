#!/usr/bin/env bash
# Shares that lie on the disks of machines move by copying: a machine comes and gets some, a share is moved, one
# machine is drained, both sides of a move are killed at several points of it, copies fail and are broken. The dump
# is that of one machine, and nothing but what was under way is fetched again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_cluster.sh"
trap 'code=$?; set +e; touch "$work/go"; (exit $code); end_machines' EXIT # so that no copy is held

share_is() { # share, regular expression of "machine state"
    owners >"$work/owners" && [[ $(sed -n "$(($1 + 1))p" "$work/owners") =~ $2 ]]
}
is_there() { [[ -e $1 ]]; }
kill_machine() {
    local all
    mapfile -t all < <(tree "${machine[$1]}")
    kill -KILL "${all[@]}" 2>/dev/null || true
}

# In the place of rsync over ssh: all disks are seen from here. `orders` has, for each pass from now on, a word:
# what is to go wrong with it. A pass that is held says so, and waits.
cat >"$work/copy" <<'C'
#!/usr/bin/env bash
set -eu
work=$1 from=$2 to=$3
order=$(head -n 1 "$work/orders" 2>/dev/null || true)
[[ -n $order ]] && sed -i 1d "$work/orders"
case $order in
fail) echo "the copy fails as it was told" >&2; exit 12 ;;
lie) mkdir -p "$to"; exit 0 ;;
hold)
    mkdir -p "$to" && cp -a "$from"/* "$to" 2>/dev/null || true # a part of it
    touch "$work/held"
    while [[ ! -e $work/go ]]; do sleep 0.05; done
    ;;
esac
rm -rf "$to"
code=0
cp -a "$from" "$to" 2>/dev/null || code=24 # files come and go in the first pass
exit $code
C
chmod +x "$work/copy"
orders() { # one word for each pass
    rm -f "$work/held" "$work/go"
    printf '%s\n' "$@" >"$work/orders"
}

start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
crawl "$work/one" >/dev/null || fail "crawl with one machine"
dump_and_verify "$work/one" "$work/one.nq"
: >"$web_log"

delay=0.3
cluster init --shares 3 --lease 2 --own-disks >/dev/null || fail "cluster init"
"$bin/quadrille" cluster run --root "$ROOT" --machine alpha --address "$loopback.1:20000" 2>"$work/refused" && fail "a machine without a disk"
grep -q -- '--disk DIR is needed' "$work/refused" || fail "no disk: $(cat "$work/refused")"
slow_fetch "$delay" 8
echo "cluster.copy = $work/copy $work {from} {to}" >>"$ROOT/quadrille.conf"
run_disk_machine alpha 1
"$bin/quadrille" crawl --dir "$ROOT" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 &
crawl=$!
await "the first requests" requests_come 5

orders fail # it comes, and gets one; the first copy fails, and the share goes on
run_disk_machine beta 2
await "a copy fails" logged alpha 'share_not_moved.*ended with 12'
logged alpha 'the copy fails as it was told' || fail "the log has not what the command said"
await "beta has its part" all_run_by alpha beta

cluster drain beta # its only copy is refused by who got it, because it is none
orders lie lie
await "alpha does not take what is not whole" logged beta 'share_not_moved.*it says of the copy'
await "beta is drained" all_run_by alpha
[[ -z $(find "$work/disk-beta" -mindepth 1 -maxdepth 1 ! -name '*.part') ]] || await "beta has nothing left" \
    bash -c "! ls -d '$work/disk-beta'/* 2>/dev/null | grep -v part"

# Whoever is killed while a copy is made: the share goes on where it was.
orders hold
cluster move 0 beta
cluster drain --undo beta
await "the first pass of share 0 is under way" is_there "$work/held"
await "the first pass is told" share_is 0 '^alpha runs; is copied to beta$' # with the next renewal of the lease
kill_machine beta
await "share 0 stays, since beta is gone" share_is 0 '^alpha runs$'
orders ok hold # the last pass this time
run_disk_machine beta 2
await "the last pass is under way" is_there "$work/held"
owners >"$work/owners"
grep -q 'does not run' "$work/owners" || fail "state in the last pass: $(cat "$work/owners")"
kill_machine alpha
share_waits() { owners >"$work/owners" && grep -q '^.* lies on the disk of alpha, which is away for' "$work/owners"; }
await "shares wait for alpha" share_waits
! grep -q '^beta' <(sed -n 1p "$work/owners") || fail "beta runs what is not whole"
rm -f "$work/orders"
run_disk_machine alpha 1
await "share 0 is moved after all" share_is 0 '^beta runs$'
await "all is at work" all_run_by alpha beta

"$bin/quadrille" scope --dir "$ROOT" set scope.depth=32 || fail "scope"
"$bin/quadrille" status --dir "$ROOT" >/dev/null || fail "status"
"$bin/quadrille" backup --whole --dir "$ROOT" "$work/whole" 2>"$work/refused" && fail "a backup of disks that nobody sees"
grep -q 'lie on the disks of the machines' "$work/refused" || fail "backup: $(cat "$work/refused")"

wait "$crawl" || fail "crawl over the cluster: $(cat "$work/crawl.out")"
grep -q ' buried=0 ' "$work/crawl.out" || fail "something was buried: $(cat "$work/crawl.out")"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/shares.nq" || fail "dump of the cluster"
"$bin/quadrille" verify --dir "$ROOT" >/dev/null || fail "verify of the cluster"
same "$work/one.nq" "$work/shares.nq" "shares that were copied"
kills=$(cat "$work"/*.out | grep -c 'event=share_started .*clean=0')
again=$(repeated "$web_log" | wc -l)
((again <= kills * 12)) || fail "$again documents were fetched again, after $kills kills: $(repeated "$web_log")"

# A share comes back from its backup, on the disk of another machine; what it had before is never run again.
place() { cluster status --json | python3 -c 'import json, sys
s = json.load(sys.stdin)["shares"][0]; print(s["disk"], "0." + s["copy"])'; }
read -r _ lost < <(place)
"$bin/quadrille" backup --whole --dir "$work/disk-beta/$lost" "$work/share-0" >"$work/backup.out" 2>&1 ||
    fail "backup of a share: $(cat "$work/backup.out")"
"$bin/quadrille" restore --moved --root "$ROOT" --share 0 --machine alpha --disk "$work/disk-alpha" "$work/share-0" \
    2>"$work/refused" && fail "restore of a share that runs"
grep -q 'has an owner that lives' "$work/refused" || fail "restore: $(cat "$work/refused")"
cluster move 0 any
kill_machine beta
"$bin/quadrille" restore --moved --root "$ROOT" --share 0 --machine alpha --disk "$work/disk-alpha" "$work/share-0" \
    >"$work/restore.out" 2>&1 || fail "restore: $(cat "$work/restore.out")"
await "share 0 runs at alpha" share_is 0 '^alpha runs'
[[ -e $work/disk-beta/$lost/cluster.conf ]] || fail "the copy of beta is gone"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/back.nq" || fail "dump after a restore"
same "$work/one.nq" "$work/back.nq" "a share that came back from its backup"
run_disk_machine beta 2
await "beta says that its copy of share 0 is old" logged beta "event=old_copy share=0 path=$work/disk-beta/$lost "
for m in alpha beta; do kill -TERM "${machine[$m]}"; done
# An earlier process of alpha that was killed may still be listed as silent.
all_wait() { owners >"$work/owners" && ! grep -qvE '^- lies on the disk of alpha, which (does not run|is away for)' "$work/owners"; }
await "all shares wait for alpha" all_wait
echo "shares_disks: $(wc -l <"$work/shares.nq") quads, the same bytes as one machine's; $kills starts after kills, $again documents fetched again"
