#!/usr/bin/env bash
# Shares on local disks that move by the command of cluster.copy as it is if nothing is said: rsync over ssh. `make
# check-cluster` runs it; a minute. Machines are processes with a disk and a loopback address each, and one sshd
# answers at all addresses. A second machine comes, connections are cut in the middle of a copy, the first machine is
# drained and ends; the dump is that of one machine.
#
# usage: tests/cluster/rsync.sh
. "$(dirname "$0")/../pipeline/lib.sh"
. "$(dirname "$0")/../pipeline/lib_cluster.sh"
for program in rsync ssh ssh-keygen /usr/sbin/sshd; do
    command -v "$program" >/dev/null || skip "no $program: deploy/install-deps --cluster"
done
[[ $(id -u) -eq 0 ]] || skip "sshd separates privileges as root"

# ---- the way from machine to machine ----

port=$((20000 + RANDOM % 10000))
mkdir -p "$work/ssh" /run/sshd
chmod 700 "$work/ssh"
ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/user"
cp "$work/ssh/user.pub" "$work/ssh/allowed"
cat >"$work/ssh/config" <<C
ListenAddress 0.0.0.0:$port
HostKey $work/ssh/host
AuthorizedKeysFile $work/ssh/allowed
PidFile $work/ssh/pid
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
C
/usr/sbin/sshd -D -f "$work/ssh/config" -E "$work/ssh/log" &
serve=$!
disown
export RSYNC_RSH="ssh -q -p $port -i $work/ssh/user -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
reaches() { $RSYNC_RSH "$loopback.1" true; }

copies_are_under_way() { pgrep -f "rsync .*$work/disk-" >/dev/null; }

start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
crawl "$work/one" >/dev/null || fail "crawl with one machine"
dump_and_verify "$work/one" "$work/one.nq"
: >"$web_log"
await "sshd answers" reaches

delay=0.3
cluster init --shares 3 --lease 3 --own-disks >/dev/null || fail "cluster init"
slow_fetch "$delay" 8
run_disk_machine alpha 1
"$bin/quadrille" crawl --dir "$ROOT" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 &
crawl=$!
await "the first requests" requests_come 5

run_disk_machine beta 2
await "a copy is under way" copies_are_under_way
pkill -KILL -f "rsync --server" || true # the connection is lost; where the copy was quicker, another one is made
await "beta has its part" all_run_by alpha beta
cluster drain alpha
await "alpha is drained" all_run_by beta
[[ -z $(find "$work/disk-alpha" -mindepth 1 -maxdepth 1) ]] || await "alpha has nothing left" \
    bash -c "! ls '$work/disk-alpha'/* >/dev/null 2>&1"
kill -TERM "${machine[alpha]}"

wait "$crawl" || fail "crawl over the cluster: $(cat "$work/crawl.out")"
grep -q ' buried=0 ' "$work/crawl.out" || fail "something was buried: $(cat "$work/crawl.out")"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/shares.nq" || fail "dump of the cluster"
"$bin/quadrille" verify --dir "$ROOT" >/dev/null || fail "verify of the cluster"
same "$work/one.nq" "$work/shares.nq" "shares that rsync copied"
again=$(repeated "$web_log" | wc -l)
((again == 0)) || fail "$again documents were fetched again, and nobody was killed"
echo "rsync: $(wc -l <"$work/shares.nq") quads, the same bytes as one machine's"
