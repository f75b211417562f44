#!/usr/bin/env bash
# A file system that really gets full (a small tmpfs in a mount namespace of this test's own): an
# import and a crawl stop with a clear message before anything breaks, the index answers queries all
# the time by the same process, and when there is room again the crawl goes on by itself and the
# import when it is repeated: nothing lost, nothing doubled.
if [[ -z ${QUADRILLE_NAMESPACE:-} ]]; then
    if ! unshare -Urm true 2>/dev/null; then
        echo "SKIP: no user namespaces here (unshare -Urm)"
        exit 77
    fi
    QUADRILLE_NAMESPACE=1 exec unshare -Urm "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
mkdir "$work/disk"
mount -t tmpfs -o size=256m tmpfs "$work/disk" || skip "cannot mount a tmpfs"
web_stop=(umount -l "$work/disk")
dir=$work/disk/crawl
start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
mapfile -t web < <(web_settings)
small=(--set index.disk_reserve=56M --set queue.min_free=12M --set metastore.disk_reserve=0
    --set index.memory=16M --set queue.cache=2M)
room() { # leaves so many MiB, and never more on the way there
    local free ballast=$work/disk/ballast
    free=$(df -m --output=avail "$work/disk" | tail -n 1)
    if ((free > $1)); then
        head -c $(((free - $1) << 20)) /dev/zero >>"$ballast"
    elif ((free < $1)); then
        truncate -c -s "-$((($1 - free) << 20))" "$ballast"
    fi
}
wait_for() { # what, command...
    local until=$((SECONDS + 1200))
    until "${@:2}"; do
        ((SECONDS < until)) || fail "$1 did not happen: $(cat "$work/out" 2>/dev/null)"
        sleep 0.5
    done
}
status_says() { quadrille status --dir "$dir" >"$work/out" 2>&1 && grep -q "$1" "$work/out"; }
count() { # of quads
    quadrille query --dir "$dir" --format csv 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }' |
        tr -d '\r' | sed -n 2p
}
index_process() { pgrep -f -- "quadrille-index --dir $dir( |$)"; }

# ---- a crawl ----

crawl "$work/peace" >/dev/null || fail "crawl in peace"
dump_and_verify "$work/peace" "$work/peace.nq"
: >"$web_log"
quadrille init --dir "$dir" >/dev/null
quadrille scope --dir "$dir" set 'scope.hosts=*'
quadrille up --dir "$dir" --background "${web[@]}" "${small[@]}"
printf '<http://e.example/a> <http://e.example/p> "there before" <http://e.example/g> .\n' >"$work/one.nq"
quadrille import --dir "$dir" "$work/one.nq" >"$work/out" 2>&1 || fail "import: $(cat "$work/out")"
process=$(index_process)
room 44
quadrille add --dir "$dir" --seeds "$work/seeds" >"$work/out" 2>&1 || fail "add: $(cat "$work/out")"
wait_for "waiting for room" status_says 'wait for room on the disk'
grep -q writing_waits "$dir"/log/*index* || fail "the log does not say that it waits"
[[ $(count) == 1 ]] || fail "queries do not go on: $(count)"
prints before quadrille search --dir "$dir" there || fail "searches do not go on"
room 6
wait_for "the stop of intake" status_says 'Intake is stopped'
if quadrille add --dir "$dir" http://another.example/ >"$work/out" 2>&1; then fail "taken though full"; fi
grep -q 'queue.min_free' "$work/out" || fail "add says $(cat "$work/out")"
[[ $(count) == 1 ]] || fail "queries do not go on: $(count)"
rm "$work/disk/ballast"
exhausted() { quadrille status --dir "$dir" --json >"$work/out" && grep -q '"exhausted":true' "$work/out"; }
wait_for "the end of the crawl" exhausted
status_says 'wait for room' && fail "still waiting: $(cat "$work/out")"
grep -q writing_goes_on "$dir"/log/*index* || fail "the log does not say that it goes on"
[[ $(index_process) == "$process" ]] || fail "the index was started again"
LC_ALL=C sort -u "$work/peace.nq" "$work/one.nq" >"$work/expected"
quadrille dump --dir "$dir" --output "$work/crawled.nq"
same "$work/expected" "$work/crawled.nq" "a crawl that met a full disk"
[[ -z $(repeated "$web_log") ]] || fail "fetched again: $(repeated "$web_log")"

# ---- an import ----

awk 'BEGIN { for (d = 0; d < 9000; d++) for (i = 0; i < 20; i++)
    printf "<http://h%d.example/%d#%d> <http://p.example/%d> \"value %d of %d\" <http://h%d.example/%d> .\n",
        d % 9, d, i, i % 5, i * d % 977, d, d % 9, d }' >"$work/many.nq"
room 80
if quadrille import --dir "$dir" --memory 16 "$work/many.nq" >"$work/out" 2>&1; then
    fail "there was room for the import"
fi
grep -q 'index.disk_reserve' "$work/out" || fail "import says $(cat "$work/out")"
between=$(count)
status_says 'wait for room on the disk' || fail "status says $(cat "$work/out")"
[[ $(index_process) == "$process" ]] || fail "the index was started again"
rm "$work/disk/ballast"
quadrille import --dir "$dir" --memory 16 "$work/many.nq" >"$work/out" 2>&1 ||
    fail "import with room: $(cat "$work/out")"
[[ $(index_process) == "$process" ]] || fail "the index was started again"
quadrille down --dir "$dir"
dump_and_verify "$dir" "$work/imported.nq"
LC_ALL=C sort -u "$work/expected" "$work/many.nq" >"$work/all"
same "$work/all" "$work/imported.nq" "an import that met a full disk"
echo "full_disk: crawled and imported ($between quads when the disk was full), one index process"
