#!/usr/bin/env bash
# A web of many hosts with traps and faults of every kind (tests/web), crawled to its end while the
# fetch process is killed once. From the server's log: no host and no address was asked too often or
# too early, nothing that robots.txt forbids, nothing twice, every good page once. From the metadata:
# every page, faulty ones included, ended as docs/FETCH.md says. Without options it is done again with
# few hosts and no delay, so that jobs of a host are handed out in bursts. From the log of the
# index: documents gathered for the next batch as long as they should.
#
# usage: tests/pipeline/synthetic.sh [--hosts N] [--seed N] [--delay MS]
. "$(dirname "$0")/lib.sh"
hosts=200 seed=7 delay=50 options=$#
while (($# > 0)); do
    case $1 in
        --hosts) hosts=$2 ;;
        --seed) seed=$2 ;;
        --delay) delay=$2 ;;
        *) echo "usage: synthetic.sh [--hosts N] [--seed N] [--delay MS]" >&2; exit 100 ;;
    esac
    shift 2
done
server=$root/build/tests/synthetic_web
shape=(--hosts "$hosts" --seed "$seed" --pages-least 3 --pages-most 10)
: >"$work/server.out" # before the server's shell has made it
"$server" --serve "${shape[@]}" --log "$work/log" >"$work/server.out" &
web_pid=$!
port=
for _ in $(seq "$patience"); do
    port=$(sed -n 's/^port //p' "$work/server.out")
    [[ -n $port ]] && break
    sleep 0.05
done
[[ -n $port ]] || fail "the server does not start"
shape+=(--port "$port")
"$server" --hosts-file "${shape[@]}" >"$work/hosts"
"$server" --rules "${shape[@]}" >"$work/rules"
"$server" --pages "${shape[@]}" >"$work/pages"
awk -v port="$port" '{ print "http://" $2 ":" port "/" }' "$work/hosts" >"$work/seeds"

settings=(--set "fetch.hosts_file=$work/hosts" --set fetch.allow_address=127.0.0.0/8
    --set log.level=debug --set "fetch.delay=${delay}ms" --set queue.group_parallel=3 --set processes.web=0 --set scope.depth=1
    --set fetch.backoff=0.1 --set fetch.backoff_maximum=1
    --set fetch.delay_maximum=0.3 --set fetch.retry=0.2 --set fetch.timeout=8 --set fetch.patience=4 --set fetch.size=1M
    --set 'scope.include=^http://h[0-9]+\.web\.example')
# Started before the crawl, so that on a busy machine it is there when the first request comes.
python3 - "$work" >"$work/killed" <<'P' &
import glob, os, signal, sys, time
work = sys.argv[1]
def moment(): return time.monotonic_ns() // 1000
def words(process):
    try:
        return open(process, "rb").read().split(b"\0")
    except OSError: # it has ended
        return []
while not os.path.exists(work + "/ended"):
    if os.path.exists(work + "/log") and os.path.getsize(work + "/log") > 0:
        for process in glob.glob("/proc/[0-9]*/cmdline"):
            if words(process)[:3] == [b"quadrille-fetch", b"--dir", work.encode() + b"/data"]:
                begin = moment()
                os.kill(int(process.split("/")[2]), signal.SIGKILL)
                print(f"{begin}-{moment()}")
                sys.exit(0)
    time.sleep(0.01)
sys.exit(1)
P
killer=$!
"$bin/quadrille" crawl --dir "$work/data" --seeds "$work/seeds" --quiet "${settings[@]}" \
    >"$work/crawl.out" 2>&1 || crawled=$?
touch "$work/ended"
wait $killer || fail "no fetch to kill: $(cat "$work/crawl.out")"
killed=$(cat "$work/killed")
((${crawled:-0} == 0)) || fail "crawl: $(cat "$work/crawl.out")"
kill $web_pid && wait $web_pid
web_pid=

# What may be fetched again is what the queue took back.
back=$(sed -n 's/.* event=leases_ended worker=fetch.1 jobs=\([0-9]*\).*/\1/p' "$work/data/log/queue.log" | awk '{ n += $1 } END { print n + 0 }')
((back > 0)) || fail "fetch was killed with nothing under way"
echo "fetch killed with $back jobs under way"
"$root/tests/web/check_politeness" --log "$work/log" --rules "$work/rules" --pages "$work/pages" \
    --delay "$delay" --parallel 3 --repeats "$back" --killed "$killed" || fail "the crawler was not polite, or missed pages"

# ---- batches of the index ----
# By the index's own clock, between the end of a commit and the beginning of the next: a machine that is busy can only
# make a rest longer.
sed -n -e 's/.* event=flushed jobs=\([0-9]*\) ms=[0-9]* rest_ms=\([0-9]*\).*/flushed \1 \2/p' \
    -e 's/.* event=rested ms=\([0-9]*\) of=\([0-9]*\) full=\([01]\) stopping=\([01]\).*/rested \1 \2 \3 \4/p' \
    "$work"/data/log/index.1.log | awk '
    $1 == "rested" {
        rests++
        if ($3 != due) { print "a rest of " $3 " ms after one of " due " was promised"; wrong = 1 }
        if (!$4 && !$5 && $2 < $3) { print "rested " $2 " ms of " $3; wrong = 1 } }
    $1 == "flushed" {
        batches++
        due = 4 * $2 > 500 ? 500 : 4 * $2 < 250 ? 250 : 4 * $2
        if ($3 != due) { print "after a batch of " $2 " documents a rest of " $3 " ms"; wrong = 1 } }
    END { print batches " batches of the index, " rests " rests"; exit rests < 1 || wrong }' ||
    fail "the index did not let documents gather"

# ---- hosts whose robots.txt cannot be had are set aside, and no others ----
awk -F'\t' '$3 == "waits" { split($1, part, "/"); print "http://" part[3] }' "$work/pages" | sort >"$work/broken"
"$bin/quadrille" queue --dir "$work/data" hosts | awk -F'\t' '$2 == "aside" { print $1 }' | sort >"$work/aside"
diff "$work/broken" "$work/aside" || fail "other hosts were set aside"
aside=$(wc -l <"$work/aside")
((aside == 0)) || grep -q "^hosts set aside: $aside," "$work/crawl.out" || fail "no word of $aside hosts: $(cat "$work/crawl.out")"

# ---- ends ----
# Of a page that waits for its host nothing need be known: the host may have been set aside before its turn came. A page
# that refuses twice before it answers well refuses twice more when the fetch that had its good answer was killed.
awk -F'\t' '$3 != "unseen" && $3 != "waits" { print $1 }' "$work/pages" >"$work/uris"
xargs -d '\n' -a "$work/uris" -n 2000 "$bin/quadrille" meta --dir "$work/data" >"$work/meta" ||
    fail "there is no metadata of some page"
awk -F'\t' '$3 == "waits" { print $1 }' "$work/pages" |
    while read -r uri; do "$bin/quadrille" meta --dir "$work/data" "$uri" 2>/dev/null || true; done >>"$work/meta"
awk '/^<http/ { uri = substr($1, 2, length($1) - 2) }
    /creativeWorkStatus/ { gsub(/[";]/, "", $2); print uri "\t" $2 }' "$work/meta" >"$work/states"
awk -F'\t' 'FILENAME ~ /log$/ { if ($5 == 200) { well["http://h" $3 ".web.example:" port $8] = 1 } next }
    FILENAME ~ /states$/ { state[$1] = $2; next }
    $3 == "unseen" { next }
    { n[$2]++
      fine = $3 == state[$1] || ($3 == "waits" && state[$1] == "") || ($3 == "cut" && state[$1] ~ /^(fetched|indexed)$/) || ($3 == "fetched" && (state[$1] == "indexed" || $2 == "bomb")) ||
          ($2 ~ /^(storm|busy)$/ && state[$1] == "failed" && well[$1])
      if (!fine) { print $2 " " $1 ": " state[$1] ", not " $3; wrong = 1 } }
    END { for (kind in n) kinds++; print kinds " kinds of pages ended as they should"
          exit wrong }' port="$port" "$work/log" "$work/states" "$work/pages" || fail "pages ended otherwise"

# ---- a body that flows without end is asked for once more, and not again ----
awk -F'\t' 'NR == FNR { asked["http://h" $3 ".web.example:" port $8]++; next }
    $2 == "endless" && asked[$1] > 0 { n++; if (least == 0 || asked[$1] < least) { least = asked[$1] } }
    END { if (n > 2 && least != 2) { print n " pages without end, each asked for at least " least " times"; exit 1 } }' \
    port="$port" "$work/log" "$work/pages" || fail "pages without end were asked for too often"

((options > 0)) || "$0" --hosts 30 --seed 9 --delay 0
