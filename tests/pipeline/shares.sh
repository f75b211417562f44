#!/usr/bin/env bash
# Shares of a cluster move between machines that come, are drained, killed, stopped past their lease and
# continued; two claim one share; one is down until all other work is done. The dump is that of one machine,
# hosts are asked by one owner at a time.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_cluster.sh"

owners() { # "machine state" of each share, without what is told besides
    cluster status --json | python3 -c 'import json, sys
for s in json.load(sys.stdin)["shares"]: print(s["machine"] or "-", s["state"].split(";")[0])'
}
are_gone() { # processes: they are dead, whether or not somebody waited for them
    local p
    for p; do
        [[ ! -r /proc/$p/stat ]] || [[ $(sed 's/.*) //' "/proc/$p/stat" 2>/dev/null) =~ ^(Z|X|$) ]] || return 1
    done
}

start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
crawl "$work/one" >/dev/null || fail "crawl with one machine"
dump_and_verify "$work/one" "$work/one.nq"
: >"$web_log"

delay=0.3
"$bin/quadrille" cluster init --root "$ROOT" --shares 3 --lease 2 >/dev/null || fail "cluster init"
"$bin/quadrille" cluster init --root "$ROOT" --shares 4 2>/dev/null && fail "a cluster was made over a cluster"
"$bin/quadrille" compact --dir "$ROOT" 2>"$work/refused" && fail "compact takes a cluster"
grep -q 'works on one data directory' "$work/refused" || fail "compact: $(cat "$work/refused")"
slow_fetch "$delay" 10
run_machine alpha --address "$loopback.1:20000"
"$bin/quadrille" crawl --dir "$ROOT" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 &
crawl=$!
await "the first requests" requests_come 5

run_machine beta --address "$loopback.2:20000" # it comes, and gets half
await "beta has its part" all_run_by alpha beta

run_machine gamma --address "$loopback.3:20000" --shares 2 # two are told to run the same share
run_machine delta --address "$loopback.4:20000" --shares 2
share_2_is_bound() { owners >"$work/owners" && [[ $(sed -n 3p "$work/owners") =~ ^(gamma|delta)\ runs$ ]]; }
await "share 2 runs where it is bound to" share_2_is_bound
kill -TERM "${machine[gamma]}" "${machine[delta]}"

mapfile -t all < <(tree "${machine[beta]}") # it dies, with all its processes
kill -KILL "${all[@]}" 2>/dev/null || true
await "alpha takes over" all_run_by alpha

run_machine beta --address "$loopback.2:20000"
await "beta is back" all_run_by alpha beta
mapfile -t all < <(tree "${machine[alpha]}") # it hangs: all its processes are stopped, past the lease
kill -STOP "${all[@]}" 2>/dev/null || true
await "beta takes over" all_run_by beta
processes=()
for p in "${all[@]}"; do [[ $p != "${machine[alpha]}" ]] && processes+=("$p"); done
((${#processes[@]} > 10)) || fail "alpha had few processes: ${all[*]}"
are_gone "${processes[@]}" || fail "processes of a stopped machine outlived its lease: $(ps -o pid,stat,args -p "${processes[*]}")"
kill -CONT "${machine[alpha]}"
await "alpha is itself again" all_run_by alpha beta

"$bin/quadrille" cluster drain --root "$ROOT" beta
await "beta is drained" all_run_by alpha
"$bin/quadrille" cluster drain --root "$ROOT" --undo beta
"$bin/quadrille" cluster move --root "$ROOT" 0 beta
share_0_is_moved() { owners >"$work/owners" && [[ $(sed -n 1p "$work/owners") == "beta runs" ]]; }
await "share 0 is moved" share_0_is_moved

wait "$crawl" || fail "crawl over the cluster: $(cat "$work/crawl.out")"
grep -q ' buried=0 ' "$work/crawl.out" || fail "something was buried: $(cat "$work/crawl.out")"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/shares.nq" || fail "dump of the cluster"
"$bin/quadrille" verify --dir "$ROOT" >/dev/null || fail "verify of the cluster"
same "$work/one.nq" "$work/shares.nq" "shares that moved"
"$bin/quadrille" backup --dir "$ROOT" "$work/saved" >/dev/null || fail "backup of the cluster"
"$bin/quadrille" restore --dir "$work/restored" "$work/saved/share-1" >"$work/restore.out" 2>&1 ||
    fail "restore of a share: $(cat "$work/restore.out")"
"$bin/quadrille" dump --dir "$work/restored" --output "$work/restored.nq" || fail "dump of a restored share"
[[ -s $work/restored.nq && -e $work/saved/share-0/MANIFEST && -e $work/saved/share-2/MANIFEST ]] || fail "backup of the cluster"
[[ -z $(LC_ALL=C comm -23 "$work/restored.nq" "$work/one.nq") ]] || fail "what was restored is not what was crawled"
"$bin/quadrille" explain --dir "$ROOT" --limit 1 '? dcterms:title ?' | grep -q 'node share-' || fail "explain on the cluster"

# A host is left alone for its pause after each request, whoever sent it. Times are those at which the
# server began with requests; nobody waits less between two of them because the server is late.
python3 - "$web_log" "$delay" <<'P' || fail "a host was not left alone"
import sys
last, breaches = {}, []
for line in sorted(open(sys.argv[1]), key=lambda line: float(line.split("\t")[0])):
    time, host = line.split("\t")[:2]
    now = float(time)
    if now - last.get(host, 0) < float(sys.argv[2]) - 0.005:
        breaches.append(f"{now - last[host]:.3f} s: {line.strip()}")
    last[host] = now
print("\n".join(breaches[:10]))
sys.exit(len(breaches) > 0)
P
# Hosts rest before an owner begins: for a pause, and for the longest request, too, where processes of
# the last one were killed. Fetch starts so much later than the other processes of the share.
python3 - "$ROOT" "$work"/*.out <<'P' || fail "fetch did not wait"
import datetime, glob, re, sys
wrong = [line for file in sys.argv[2:] for line in open(file)
         for found in [re.search(r"share_started .*clean=(\d) fetch_after_ms=(\d+)", line)]
         if found and int(found[2]) < (300 if found[1] == "1" else 10300)]
fetches = 0
for file in glob.glob(sys.argv[1] + "/shares/*/log/supervisor.log"):
    for line in open(file):
        at = re.match(r"time=(\S+) .*event=started name=(\S+) .*deaths=0", line)
        if at:
            time = datetime.datetime.fromisoformat(at[1].replace("Z", "+00:00"))
            if at[2] == "queue":
                began = time
            if at[2] == "fetch.1":
                fetches += 1
                if (time - began).total_seconds() < 0.1: # the pause of 0.3 s begins before the queue's process
                    wrong.append(line)
print("".join(wrong))
sys.exit(len(wrong) > 0 or fetches == 0)
P
# Fetched again is only what was under way when processes were killed: of each host one document, and
# what a batch of ends held.
kills=$(cat "$work"/*.out | grep -c 'event=share_started .*clean=0')
again=$(repeated "$web_log" | wc -l)
((again <= kills * 12)) || fail "$again documents were fetched again, after $kills kills: $(repeated "$web_log")"
quads=$(wc -l <"$work/shares.nq")
for m in alpha beta; do kill -TERM "${machine[$m]}"; done
all_free() { owners >"$work/owners" && ! grep -qv '^- free$' "$work/owners"; }
await "all shares are given back" all_free

# A share is down while the crawl does all else; what is for it waits in the outboxes of the others.
ROOT=$work/down
"$bin/quadrille" cluster init --root "$ROOT" --shares 3 --lease 2 >/dev/null || fail "cluster init"
mapfile -t web < <(web_settings | grep -v '^--set$')
printf '%s\n' "${web[@]}" fetch.delay=0 >>"$ROOT/quadrille.conf"
run_machine alpha --address "$loopback.1:20000" --shares 0,2
"$bin/quadrille" crawl --dir "$ROOT" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 &
crawl=$!
waiting() { # jobs and what outboxes have, of each share
    "$bin/quadrille" cluster status --root "$ROOT" --json | python3 -c 'import json, sys
shares = json.load(sys.stdin)["shares"]
print(*([share["answers"], share["jobs"], share["outboxes"]] for share in shares))
sys.exit(not all(share["answers"] or share["outboxes"] > 9 for share in shares))'
}
nothing_changes() { # for a second; what needs to know of documents of the share is tried now and then
    local before
    before=$(waiting) && sleep 1 && [[ $(waiting) == "$before" ]]
}
await "all that can be done without share 1 is done" nothing_changes
kill -0 "$crawl" || fail "the crawl ended without a share: $(cat "$work/crawl.out")"
"$bin/quadrille" backup --whole --dir "$ROOT" "$work/whole" >"$work/backup.out" 2>&1 ||
    fail "backup of whole shares at work: $(cat "$work/backup.out")"
run_machine beta --address "$loopback.2:20000" --shares 1
wait "$crawl" || fail "crawl with a share that came late: $(cat "$work/crawl.out")"
grep -q ' buried=0 ' "$work/crawl.out" || fail "something was buried: $(cat "$work/crawl.out")"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/late.nq" || fail "dump of the cluster"
same "$work/one.nq" "$work/late.nq" "a share that came late"
for m in alpha beta; do kill -TERM "${machine[$m]}"; done
await "all shares are given back" all_free

# The cluster as it was saved in the middle goes on elsewhere, one of its shares from its own part of the backup.
ROOT=$work/again
"$bin/quadrille" restore --dir "$ROOT" "$work/whole" >"$work/restore.out" 2>&1 ||
    fail "restore of a cluster: $(cat "$work/restore.out")"
rm -r "$ROOT/shares/2"
run_machine alpha --address "$loopback.1:20000"
share_2_is_missed() { owners >"$work/owners" && grep -q 'its folder has no cluster.conf' "$work/owners"; }
await "share 2 is missed" share_2_is_missed
"$bin/quadrille" restore --moved --dir "$ROOT/shares/2" "$work/whole/share-2" >"$work/restore.out" 2>&1 ||
    fail "restore of a whole share: $(cat "$work/restore.out")"
await "the restored cluster is at work" all_run_by alpha
"$bin/quadrille" dump --dir "$ROOT" --output "$work/part.nq" || fail "dump of a restored cluster"
[[ -s $work/part.nq && $(wc -l <"$work/part.nq") -lt $quads ]] || fail "nothing was left to be done in the backup"
"$bin/quadrille" crawl --dir "$ROOT" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 ||
    fail "crawl over a restored cluster: $(cat "$work/crawl.out")"
"$bin/quadrille" dump --dir "$ROOT" --output "$work/again.nq" || fail "dump of a restored cluster"
"$bin/quadrille" verify --dir "$ROOT" >/dev/null || fail "verify of a restored cluster"
same "$work/one.nq" "$work/again.nq" "a cluster that was restored"
echo "shares: $quads quads, the same bytes as one machine's; $kills starts after kills, $again documents fetched again"
