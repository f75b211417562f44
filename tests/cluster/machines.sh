#!/bin/bash
# Machines that deploy/cluster installs, as root: each is a copy of a bare Debian 12 in a network namespace of its own, with ROOT
# mounted in all; the way in is a command that goes there. Two machines crawl the example web and are upgraded meanwhile, a
# third comes, the first goes. The index is that of one machine. Usage: machines.sh PACKAGE BARE_ROOT
set -euo pipefail
package=$(realpath "$1") bare=$(realpath "$2")
cd "$(dirname "$0")/../.."
# Words of the inventory are separated by spaces, so the path has none.
work=$(mktemp -d /var/tmp/quadrille-machines.XXXXXX)
names=(alpha beta gamma)
id=q$$
mounted=()
clean() {
    local code=$? at name
    set +e
    for name in switch "${names[@]}"; do
        # All that runs in a namespace is this test's.
        ip netns pids "$id-$name" 2>/dev/null | xargs -r kill -KILL
        while [[ -n $(ip netns pids "$id-$name" 2>/dev/null) ]]; do sleep 0.1; done
        ip netns del "$id-$name" 2>/dev/null
    done
    for at in "${mounted[@]}"; do umount "$at" || umount -l "$at"; done
    if ((code != 0)); then tail -n 30 "$work"/log* "$work"/*/var/log/quadrille-cluster.log; fi
    rm -rf --one-file-system "$work"
    exit $code
}
trap clean EXIT
fail() { echo "machines: $*" >&2; exit 1; }
bind() { # source, target
    mkdir -p "$2"
    mount --bind "$1" "$2"
    mounted=("$2" "${mounted[@]}")
}

# What a machine has besides Debian: a service that is a pid file instead of a unit, as where there is no systemd.
mkdir -p "$bare/usr/local/sbin" "$bare/usr/share/quadrille-examples"
cp -R examples/web "$bare/usr/share/quadrille-examples/"
cat >"$bare/usr/local/sbin/service-of-cluster" <<'SERVICE'
#!/bin/sh
# start, stop, is-active, enable, disable: as systemctl does them for quadrille-cluster.service.
file=/run/quadrille-cluster.pid
runs() { [ -s $file ] && kill -0 "$(cat $file)" 2>/dev/null; }
case $1 in
start)
    runs && exit 0
    . /etc/quadrille/cluster.env
    setsid runuser -u quadrille -- sh -c 'echo $$; exec quadrille cluster run --root "$0" --machine "$1" --address "$2" --weight "$3"' \
        "$ROOT" "$MACHINE" "$ADDRESS" "$WEIGHT" >$file 2>>/var/log/quadrille-cluster.log </dev/null &
    until runs; do sleep 0.1; done ;;
stop)
    ! runs || kill -TERM "$(cat $file)"
    while runs; do sleep 0.1; done
    rm -f $file ;;
is-active) if runs; then echo active; else echo inactive; exit 3; fi ;;
enable) touch /etc/quadrille/enabled ;;
disable) rm -f /etc/quadrille/enabled ;;
esac
SERVICE
chmod +x "$bare/usr/local/sbin/service-of-cluster"
cat >"$work/into" <<'INTO'
#!/bin/sh
# into ID FOLDER NAME COMMAND: runs a shell command on a machine, as ssh does.
exec nsenter --net="/run/netns/$1-$3" chroot "$2/$3" /usr/bin/env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "$4"
INTO
chmod +x "$work/into"

# What the package needs is asked of the mirror once.
cp "$package" "$bare/tmp/package.deb"
chroot "$bare" sh -c 'apt-get -q update && apt-get -q install --yes --no-install-recommends --download-only /tmp/package.deb' \
    >"$work/log" 2>&1 </dev/null || fail "the package's dependencies could not be had"
rm "$bare/tmp/package.deb"

mkdir "$work/shared"
ip netns add "$id-switch"
ip -n "$id-switch" link add bridge type bridge
ip -n "$id-switch" link set bridge up
number=0
for name in "${names[@]}"; do
    number=$((number + 1))
    cp -a "$bare" "$work/$name"
    bind /proc "$work/$name/proc"
    bind /sys "$work/$name/sys"
    for at in null zero full random urandom; do
        [[ -c $work/$name/dev/$at ]] || mknod -m 666 "$work/$name/dev/$at" c "$(stat -c %Hr /dev/$at)" "$(stat -c %Lr /dev/$at)"
    done
    mkdir -p "$work/$name/dev/shm"
    mount -t tmpfs tmpfs "$work/$name/dev/shm"
    mounted=("$work/$name/dev/shm" "${mounted[@]}")
    bind "$work/shared" "$work/$name/srv/cluster"
    ip netns add "$id-$name"
    ip -n "$id-$name" link set lo up
    ip -n "$id-switch" link add "to-$name" type veth peer name eth0 netns "$id-$name"
    ip -n "$id-switch" link set "to-$name" master bridge up
    ip -n "$id-$name" address add "10.77.0.$number/24" dev eth0
    ip -n "$id-$name" link set eth0 up
done
on() { "$work/into" "$id" "$work" "$@"; }

inventory() { # machines that it names
    cat <<INVENTORY
# The machines of a test.
root = /srv/cluster/root
shares = 4
lease = 5
wait = 120
login = $work/into $id $work {name}
service = service-of-cluster {action}
install = apt-get install --yes --no-install-recommends --reinstall -o Dpkg::Options::=--force-confold {package}
log = cat /var/log/quadrille-cluster.log
INVENTORY
    number=0
    for name in "${names[@]}"; do
        number=$((number + 1))
        [[ " $* " != *" $name "* ]] || echo "machine $name 10.77.0.$number:7000 weight=1"
    done
}
cluster() { deploy/cluster "$work/inventory" "$@"; }
part() { echo "machines: $* (${SECONDS} s)"; }

inventory alpha beta >"$work/inventory"
for bad in 'machine alpha 10.77.0.9:7000' 'machine delta 10.77.0.9' 'shares = many' 'colour = red' 'nonsense'; do
    { cat "$work/inventory"; echo "$bad"; } >"$work/wrong"
    code=0
    deploy/cluster "$work/wrong" status 2>"$work/log.wrong" || code=$?
    ((code == 100)) && grep -q "^cluster: $work/wrong:$(wc -l <"$work/wrong"): " "$work/log.wrong" || fail "'$bad' was taken"
done

part install
cluster install "$package" >"$work/log.install" 2>&1
cluster configure
cluster init
printf '%s\n' fetch.connect_to=127.0.0.1:8480 fetch.allow_address=127.0.0.0/8 fetch.delay=0.5 fetch.delay_factor=0 \
    fetch.delay_maximum=0.5 fetch.crawl_delay_maximum=0.5 fetch.timeout=3 >>"$work/shared/root/quadrille.conf"
for name in "${names[@]}"; do # each machine has the web at its own 127.0.0.1:8480
    nsenter --net="/run/netns/$id-$name" build/bin/quadrille-example-web --hosts examples/web/hosts --port 8480 \
        --log "$work/web.$name" >/dev/null 2>&1 &
    disown # its end is no news
done
for host in examples/web/hosts/*/; do echo "http://$(basename "$host")/"; done >"$work/shared/seeds"

part start
cluster start
on beta "runuser -u quadrille -- quadrille crawl --quiet --dir /srv/cluster/root --seeds /srv/cluster/seeds" >"$work/log.crawl" 2>&1 &
crawl=$!
requests() { cat "$work"/web.* 2>/dev/null | wc -l; }
until (($(requests) > 5)); do
    kill -0 $crawl 2>/dev/null || fail "the crawl ended: $(cat "$work/log.crawl")"
    ((SECONDS < 900)) || fail "no request came"
    sleep 0.1
done

began=$(requests)
part "upgrade, after $began requests"
cluster upgrade "$package" >"$work/log.upgrade" 2>&1
part "upgraded, after $(requests) requests; the crawl $(kill -0 $crawl 2>/dev/null && echo goes on || echo is done)"
inventory alpha beta gamma >"$work/inventory"
cluster status >"$work/status" && fail "status says nothing of a machine that does not run"
grep -q '^gamma .*inactive\|^gamma .*not found' "$work/status" || fail "status: $(cat "$work/status")"

part add
cluster add "$package" gamma >"$work/log.add" 2>&1
part remove
cluster remove alpha >"$work/log.remove" 2>&1
inventory beta gamma >"$work/inventory"
cluster status | tee "$work/status"
(($(grep -c '^\(beta\|gamma\)  *active$' "$work/status") == 2)) || fail "a machine does not run"
! grep -q '^[0-9]* *alpha ' "$work/status" || fail "alpha has shares"
[[ ! -e $work/alpha/etc/quadrille/enabled && -e $work/gamma/etc/quadrille/enabled ]] || fail "services at boot"

part "wait for the crawl"
wait $crawl || fail "crawl: $(cat "$work/log.crawl")"
grep -q ' buried=0 ' "$work/log.crawl" || fail "something was buried: $(cat "$work/log.crawl")"
cluster logs >"$work/logs"
(($(sed 's/: .*//' "$work/logs" | sort -u | xargs | wc -w) == 2)) || fail "logs: $(head "$work/logs")"
on gamma "runuser -u quadrille -- quadrille verify --dir /srv/cluster/root"
on gamma "runuser -u quadrille -- quadrille dump --dir /srv/cluster/root" | LC_ALL=C sort >"$work/cluster.nq"
on alpha "cd /tmp && quadrille crawl --quiet --dir one --seeds /srv/cluster/seeds --set fetch.connect_to=127.0.0.1:8480 \
    --set fetch.allow_address=127.0.0.0/8 --set fetch.delay=0 --set processes.web=0 && quadrille dump --dir one" >"$work/one" 2>"$work/log.one"
grep '^[<_]' "$work/one" | LC_ALL=C sort >"$work/one.nq"
[[ -s $work/one.nq ]] && cmp "$work/one.nq" "$work/cluster.nq" || fail "the index is not that of one machine"
part stop
cluster stop
[[ $(cluster status 2>/dev/null | grep -c inactive) == 2 ]] || fail "a machine goes on"

cluster manifests "$work/manifests" registry.example/quadrille:1
python3 - "$work/manifests/kubernetes.yaml" <<'P'
import sys, yaml
kinds = [document["kind"] for document in yaml.safe_load_all(open(sys.argv[1]))]
assert kinds == ["Service", "PersistentVolumeClaim"] + ["StatefulSet"] * 4, kinds
P
grep -q -- '--machine ${MACHINE}-%i .*--shares %i$' "$work/manifests/quadrille-share@.service" || fail "unit of a share"
part "$(wc -l <"$work/one.nq") quads of two machines, upgraded, with one added and one removed, are those of one"
