#!/usr/bin/env bash
# Crawls of real sites by machines that share a real CephFS. `make check-cluster` runs it; some minutes.
#
# usage: tests/cluster/ceph.sh [lost] [faults]     both without arguments
#   lost     a machine is destroyed with its file-system client and its OSD, another joins, a third is drained
#   faults   a monitor and the MDS are killed, a machine is cut off the file system and comes back, the
#            pool is full for a while, all machines are killed at once
#
# A machine is a network namespace with a file-system client of its own and a process namespace, so that it
# dies at once. Machines reach hosts over a second network, so that one that has lost the file system could go
# on fetching. Hosts know from the user agent which machine asks. Needs root, $QUADRILLE_SHARED/engine/cephfs,
# $QUADRILLE_SHARED/miniweb and what deploy/install-deps --cluster installs.
export QUADRILLE_SCRATCH=${QUADRILLE_SCRATCH:-${TMPDIR:-/var/tmp}} # OSDs need a disk
. "$(dirname "$0")/../pipeline/lib.sh"
tool=$shared/engine/cephfs miniweb=$shared/miniweb
[[ -x $tool && -x $miniweb/serve ]] || skip "no $tool or $miniweb: set QUADRILLE_SHARED"
[[ $(id -u) -eq 0 ]] || skip "only root makes network namespaces"
command -v ceph-fuse >/dev/null || skip "deploy/install-deps --cluster"
cases=("$@")
((${#cases[@]} > 0)) || cases=(lost faults)

ceph=$work/ceph hosts_net=qch delay=0.05 pause=0.5 timeout=5 lease=75
declare -A machine number
tidy() {
    local code=$? n
    trap - EXIT
    set +e
    kill -KILL "${machine[@]}" 2>/dev/null
    nsenter --net=/run/netns/$hosts_net "$miniweb/serve" stop --run "$work/web" 2>/dev/null
    for n in 1 2 3 4 5; do umount -l "$work/at/m$n" 2>/dev/null; done
    umount -l "$work/at" 2>/dev/null
    "$tool" down "$ceph" >/dev/null 2>&1
    ip netns del $hosts_net 2>/dev/null
    (exit $code)
    end_all
}
trap tidy EXIT

say() { echo "ceph: after $SECONDS s: $*"; }
cephfs() { "$tool" "$1" "$ceph" "${@:2}" >>"$work/cephfs.out" 2>&1; }
on() { nsenter --net="/run/netns/qc$1" "${@:2}"; } # machine's number, command
# In at/, where nothing that looks at a failed test goes: a machine that is cut off keeps it waiting for ever.
mount_at() { cephfs mount "$1" "$work/at/m$1" || fail "machine $1 cannot mount: $(tail -n 3 "$work/cephfs.out")"; }

# The network over which hosts are reached: machine N is 10.79.0.N, the web 10.79.0.100.
make_hosts_network() {
    ip netns add $hosts_net
    ip -n $hosts_net link set lo up
    ip -n $hosts_net link add br0 type bridge
    ip -n $hosts_net link set br0 up
    ip -n $hosts_net addr add 10.79.0.100/24 dev br0
    local n
    for n in 1 2 3 4 5; do
        ip link add e1 netns "qc$n" type veth peer name "p$n" netns $hosts_net
        ip -n $hosts_net link set "p$n" master br0 up
        ip -n "qc$n" addr add "10.79.0.$n/24" dev e1
        ip -n "qc$n" link set e1 up
    done
}

run_machine() { # name, number
    local program=("$bin/quadrille" cluster run --root "$work/at/m$2/$crawl_name" --machine "$1" --address "10.78.0.$2:7000"
        --set "fetch.user_agent=check-cluster/1 (on $1; mailto:nobody@example.org)")
    nsenter --net="/run/netns/qc$2" unshare --pid --fork --kill-child --mount-proc --propagation slave "${program[@]}" 2>>"$work/$1.out" &
    machine[$1]=$! number[$1]=$2
    disown
}
die() { # name: all its processes, at once
    kill -KILL "${machine[$1]}"
}
cluster() { on 4 "$bin/quadrille" cluster "$@" --root "$work/at/m4/$crawl_name"; }
owners() { # "machine state" of each share
    cluster status --json | python3 -c 'import json, sys
for s in json.load(sys.stdin)["shares"]: print(s["machine"] or "-", s["state"].split(";")[0])'
}
await() { # what, condition
    local what=$1 began=$SECONDS
    shift
    while ((SECONDS - began < 300)); do
        if "$@"; then
            say "$what ($((SECONDS - began)) s)"
            return
        fi
        kill -0 "$crawl" 2>/dev/null || fail "the crawl ended before: $what: $(tail -n 8 "$work/crawl.out")"
        sleep 0.5
    done
    owners >&2
    tail -n 5 "$work"/*.out >&2
    fail "in vain waited for: $what"
}
all_run_by() { # machines that have shares, exactly; all of them run
    owners >"$work/owners" || return 1
    ! grep -qv ' runs$' "$work/owners" && [[ $(cut -d' ' -f1 "$work/owners" | sort -u | xargs) == "$*" ]]
}
requests() { wc -l <"$web_log"; }
requests_come() { (($(requests) >= $1)); }
requests_of() { grep -c "(on $1;" "$web_log" || true; }
asks() { (($(requests_of "$1") > $2)); } # machine, more often than that
lost_leases() { grep -hc 'event=lease ' "$work/$1.out" || true; }

begin_crawl() { # name
    crawl_name=$1
    rm -f "$work"/*.out.old
    : >"$web_log"
    for m in "${!machine[@]}"; do mv "$work/$m.out" "$work/$m.out.old"; done
    on 4 "$bin/quadrille" cluster init --root "$work/at/m4/$1" --shares 6 --lease $lease >/dev/null || fail "cluster init"
    cat >>"$work/at/m4/$1/quadrille.conf" <<C
fetch.connect_to = http=10.79.0.100:8480,https=10.79.0.100:8443
fetch.ca_file = $work/web/ca.pem
fetch.allow_address = 10.79.0.0/24
fetch.delay = $delay
fetch.delay_factor = 0
fetch.delay_maximum = $pause
fetch.crawl_delay_maximum = $pause
fetch.timeout = $timeout
C
    run_machine alpha 1
    run_machine beta 2
    run_machine gamma 3
    on 4 "$bin/quadrille" crawl --dir "$work/at/m4/$1" --seeds "$work/seeds" --quiet >"$work/crawl.out" 2>&1 &
    crawl=$!
    began=$SECONDS
    await "three machines have their part" all_run_by alpha beta gamma
}

# How long a origin was left alone at least. Times in the log are those at which answers were sent, so that the
# difference between two is less than the pause by what the server took for the first of them.
check_politeness() {
    python3 - "$web_log" "$delay" <<'P' || fail "a host was not left alone"
import re, sys
last, breaches, across = {}, [], []
for line in open(sys.argv[1]):
    time, host, method, uri, status, size, scheme, agent = line.rstrip("\n").split("\t")[:8]
    now, owner = float(time), re.search(r"on (\w+);", agent)[1]
    host = scheme + "://" + host
    if host in last:
        gap = now - last[host][0]
        if gap < float(sys.argv[2]) - 0.02:
            breaches.append(f"{gap:.3f} s: {line.strip()}")
        if owner != last[host][1]:
            across.append(gap)
    last[host] = now, owner
print(f"ceph: {len(across)} hosts changed their owner; the shortest pause then was {min(across, default=0):.1f} s")
print("\n".join(breaches[:10]))
sys.exit(len(breaches) > 0)
P
}

end_crawl() {
    wait "$crawl" || fail "crawl over the cluster: $(tail -n 8 "$work/crawl.out")"
    say "the crawl has ended, $((SECONDS - began)) s after its begin"
    grep -q ' buried=0 ' "$work/crawl.out" || fail "something was buried: $(cat "$work/crawl.out")"
    on 4 "$bin/quadrille" dump --dir "$work/at/m4/$crawl_name" --output "$work/shares.nq" || fail "dump of the cluster"
    on 4 "$bin/quadrille" verify --dir "$work/at/m4/$crawl_name" >/dev/null || fail "verify of the cluster"
    same "$work/one.nq" "$work/shares.nq" "machines on CephFS"
    check_politeness
    # Fetched again is only what was under way when processes were killed: of each host one document, and
    # what a batch of ends held.
    local kills again
    kills=$(cat "$work"/*.out | grep -c 'event=share_started .*clean=0' || true)
    again=$(repeated "$web_log" | wc -l)
    ((again <= kills * 12)) || fail "$again documents were fetched again, after $kills kills: $(repeated "$web_log")"
    say "$(requests) requests, $(wc -l <"$work/shares.nq") quads, the same bytes as one machine's; $kills starts of shares" \
        "after kills, $again documents fetched again"
    local m
    for m in "${!machine[@]}"; do kill -KILL "${machine[$m]}" 2>/dev/null || true; done
    machine=()
}

# The death of one costs the others nothing but its shares.
case_lost() {
    begin_crawl lost
    await "a part of the crawl is done" requests_come 600
    die beta
    cephfs kill fuse2
    cephfs kill osd2
    umount -l "$work/at/m2"
    say "beta is destroyed, with its OSD"
    run_machine epsilon 5
    await "its shares run elsewhere" all_run_by alpha epsilon gamma
    (($(lost_leases alpha) + $(lost_leases gamma) == 0)) || fail "machines that live lost their leases: $(cat "$work"/{alpha,gamma}.out)"
    cluster drain gamma || fail "drain"
    await "gamma is drained" all_run_by alpha epsilon
    end_crawl
    cephfs start osd2
    mount_at 2
}

case_faults() {
    local before cut_at
    begin_crawl faults
    cephfs kill mon3
    say "a monitor is killed"
    before=$(requests)
    await "requests go on without it" requests_come $((before + 100))
    cephfs start mon3
    cephfs kill mds
    sleep 1
    cephfs start mds
    say "the MDS was killed and begins again"
    before=$(requests)
    await "requests go on with the new MDS" requests_come $((before + 100))

    cephfs cut 1
    cut_at=$(date +%s.%N)
    say "alpha is cut off the file system and the other machines, not off the hosts"
    await "its shares run elsewhere" all_run_by beta gamma
    python3 - "$web_log" "$cut_at" "$lease" <<'P' || fail "a machine that had lost its lease asked hosts"
import sys
late = [float(line.split("\t")[0]) - float(sys.argv[2]) for line in open(sys.argv[1]) if "(on alpha;" in line]
late = [time for time in late if time > 0]
print(f"ceph: alpha sent {len(late)} requests after it was cut off, the last after {max(late, default=0):.1f} s")
sys.exit(max(late, default=0) > float(sys.argv[3]))
P
    # What its client had not written yet must never be written: a client that was evicted is not to come back.
    cephfs mend 1
    cephfs kill fuse1
    umount -l "$work/at/m1"
    mount_at 1
    say "alpha has its network again, and a new client"
    await "alpha is back" all_run_by alpha beta gamma

    cephfs ceph osd set-full-ratio 0.001
    say "the pool is full"
    sleep 20
    before=$(requests)
    cephfs ceph osd set-full-ratio 0.95
    await "requests go on when there is room again" requests_come $((before + 50))

    die alpha
    die beta
    die gamma
    say "all machines are killed"
    run_machine alpha 1
    run_machine beta 2
    run_machine gamma 3
    before=$(requests)
    await "requests go on" requests_come $((before + 50))
    end_crawl
}

hosts=(chardet-tests.example dokie.li foafnaut.org heritrix-selftest.example obofoundry.org pcdm.org rdf-tests.example
    rdfviz.org rdfweb.org skarnet.org solid.github.io stormcrawler-sitemaps.example www.foaf-project.org xmlns.com)
printf 'http://%s/\n' "${hosts[@]}" >"$work/seeds"
"$tool" up "$ceph" >"$work/cephfs.out" 2>&1 || fail "no CephFS: $(tail -n 5 "$work/cephfs.out")"
# As docs/CLUSTER_STORAGE.md says: a dead client keeps others waiting for less than a lease.
cephfs ceph config set mds mds_cap_revoke_eviction_timeout 30
cephfs ceph config set mds mds_reconnect_timeout 20
cephfs ceph fs set fs session_timeout 90
make_hosts_network
# Machines see what is mounted later, as they would without namespaces of their own.
mkdir "$work/at"
mount --bind "$work/at" "$work/at"
mount --make-shared "$work/at"
for n in 1 2 3 4 5; do mount_at "$n"; done
web_log=$work/web/access.tsv
nsenter --net=/run/netns/$hosts_net "$miniweb/serve" start --bind 10.79.0.100 --port 8480 --tls-port 8443 --run "$work/web" \
    >"$work/serve.out" 2>&1 || fail "serve: $(cat "$work/serve.out")"
on 4 "$bin/quadrille" crawl --dir "$work/one" --seeds "$work/seeds" --quiet --set processes.web=0 --set fetch.delay=0 \
    --set "fetch.connect_to=http=10.79.0.100:8480,https=10.79.0.100:8443" --set "fetch.ca_file=$work/web/ca.pem" \
    --set fetch.allow_address=10.79.0.0/24 >"$work/one.out" || fail "crawl with one machine: $(cat "$work/one.out")"
dump_and_verify "$work/one" "$work/one.nq"
say "one machine's crawl: $(requests) requests, $(wc -l <"$work/one.nq") quads"
for c in "${cases[@]}"; do "case_$c"; done
