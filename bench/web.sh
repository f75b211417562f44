#!/usr/bin/env bash
# Pages per second fetched and archived from a synthetic web (tests/web): many hosts, each at its
# address, links, sizes, faults; the server shares the cores. Beside it wget2, wget, httrack and Scrapy on
# the same pages in the same run. What counts is pages per CPU second, and the ratio. Pages are counted in
# the server's log: answers 200, sent whole, each URI once, robots.txt and sitemaps apart.
#
# usage: bench/web.sh [--hosts N] [--peers-hosts N] [--delay SECONDS] [--window N] [--work DIR]
#            [--list-hosts N] [--pages-most N] [--parts "polite web list crawl"] [--beside "wget2 wget httrack scrapy"]
# --pages-most: those of the largest host (40; the smallest has 12). Prints tables; writes
# build/bench/web.json.
#
# polite: fetch, queue and metadata store take all good pages of the web from a list, robots.txt and
#    sitemaps besides, fetch.delay between the requests to a host (default: 1 s, as Quadrille's own
#    default), at most 16 requests at an address; the server's log is checked for it. Commits are synced.
# web: all of the same web without delay, beside the peers: a list of its pages of all kinds, with those that are slow,
#    silent, broken, huge, without end, or come after errors, redirects and loops; without those that robots.txt
#    forbids and those that traps make. None of the peers can be told to leave a host alone for a
#    second and go on with others at this rate (Scrapy has DOWNLOAD_DELAY, and slows down with it), so they have all
#    speed their settings allow. They ask for no robots.txt here. wget writes a WARC file, wget2 and httrack keep
#    files, Scrapy one file of bodies. All give a page up when nothing comes for five seconds; Quadrille
#    and Scrapy take the first megabyte of a page, for which the others have no setting.
# list: the same with only the good pages of a web of --list-hosts.
# crawl: crawls of a web of --peers-hosts. The seeds are all hosts, links are followed one step, robots.txt is obeyed but
#    for its Crawl-delay, which only Quadrille knows. Quadrille's links come out of its index, so it runs all
#    five stages and can be searched afterwards; the peers find links in the page at hand.
# In web, list and crawl CPU seconds are those of all processes of a program from its start to its end, and a
# program is stopped after 60 seconds (Quadrille's crawl: 200; the web: 150 for all). The peers read the
# server as a proxy, which spares them the DNS and most connections; Quadrille has fetch.hosts_file. What a peer
# keeps is removed at the end: ext4 looks long for places of new files where many have just been removed.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin
server=$here/build/tests/synthetic_web
out=$here/build/bench
usage="usage: bench/web.sh [--hosts N] [--list-hosts N] [--peers-hosts N] [--delay SECONDS] [--window N] [--work DIR] [--pages-most N] [--parts LIST] [--beside LIST]"
hosts=10000 list_hosts=3000 peers_hosts=1000 delay=1 window=8000 pages_most=40 seed=1 listed='$2 == "good" && $3 == "fetched"' place=$out parts="polite web list crawl" beside="wget2 wget httrack scrapy"
while [[ $# -gt 1 ]]; do
    case $1 in
        --hosts) hosts=$2 ;;
        --list-hosts) list_hosts=$2 ;;
        --peers-hosts) peers_hosts=$2 ;;
        --delay) delay=$2 ;;
        --window) window=$2 ;;
        --work) place=$2 ;;
        --pages-most) pages_most=$2 ;;
        --parts) parts=$2 ;;
        --beside) beside=$2 ;;
        *) echo "$usage" >&2; exit 100 ;;
    esac
    shift 2
done
[[ $# -eq 0 ]] || { echo "$usage" >&2; exit 100; }
"$here/bench/build"
mkdir -p "$out"
work=$(mktemp -d "$place/work.XXXXXX")
server_pid='' json=''
cleanup() {
    local data
    for data in "$work/data" "$work/peer/data"; do
        "$bin/quadrille" down --dir "$data" >/dev/null 2>&1 || true
    done
    [[ -n $server_pid ]] && kill "$server_pid" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
ulimit -n "$(ulimit -Hn)"

now() { date +%s.%N; }
calc() { awk "BEGIN { printf \"$1\", $2 }"; }
hz=$(getconf CLK_TCK)
cpu_of() { # process ids: seconds of processor time, user and system
    local pid
    for pid; do cat "/proc/$pid/stat" 2>/dev/null; done |
        awk -v hz="$hz" '{ sub(/.*\) /, ""); t += $12 + $13 } END { printf "%.2f\n", t / hz }'
}
cpu_of_ended() { # process id: of all that it has started and that has ended
    awk -v hz="$hz" '{ sub(/.*\) /, ""); print ($14 + $15) / hz }' "/proc/$1/stat"
}
memory_of() { awk '/^RssAnon/ { printf "%d\n", $2 / 1024 }' "/proc/$1/status" 2>/dev/null; }
# The server's log is by the monotonic clock, as is the time since the machine's start.
last_page_in_log() { # seconds since the start of the machine: seconds from then to the last of the pages
    awk -F'\t' -v began="$1" '$5 == 200 && $7 == "whole" && $8 !~ "^/(robots.txt|sitemap.xml)$" && !seen[$3, $8]++ && $2 > t { t = $2 }
        END { printf "%.1f", t / 1000000 - began }' "$work/log"
}
pages_in_log() {
    awk -F'\t' '$5 == 200 && $7 == "whole" && $8 !~ "^/(robots.txt|sitemap.xml)$" && !seen[$3, $8]++ { n++ }
        END { print n + 0 }' "$work/log"
}

start_server() { # hosts
    shape=(--hosts "$1" --seed "$seed" --pages-least 12 --pages-most "$pages_most" --faults 60)
    : >"$work/server.out"
    "$server" --serve "${shape[@]}" --log "$work/log" >"$work/server.out" &
    server_pid=$!
    port=
    until port=$(sed -n 's/^port //p' "$work/server.out") && [[ -n $port ]]; do
        kill -0 "$server_pid" || exit 111
        sleep 0.05
    done
    shape+=(--port "$port")
    "$server" --hosts-file "${shape[@]}" >"$work/hosts"
    "$server" --rules "${shape[@]}" >"$work/rules"
    "$server" --pages "${shape[@]}" >"$work/pages"
    awk -F'\t' "$listed"' { print $1 }' "$work/pages" >"$work/list"
    awk -v port="$port" '{ print "http://" $2 ":" port "/" }' "$work/hosts" >"$work/seeds"
}
stop_server() {
    [[ -z $server_pid ]] && return
    kill "$server_pid"
    wait "$server_pid" || true
    server_pid=
}

common=(--set 'scope.hosts=*' --set fetch.allow_address=127.0.0.0/8 --set fetch.backoff=2 --set fetch.backoff_maximum=4
    --set fetch.retry=2 --set fetch.timeout=5 --set fetch.size=1M --set queue.cache=256M
    --set log.level=warning --set processes.web=0)
# Puts the list into the queue of a new store.
fill() { # store, list, options
    local dir=$1 list=$2
    shift 2
    "$bin/quadrille" init --dir "$dir" >/dev/null
    "$bin/quadrille" up --dir "$dir" --background --only queue,metastore "$@"
    "$bin/quadrille" add --dir "$dir" --seeds "$list" "$@" >/dev/null
    "$bin/quadrille" down --dir "$dir" >/dev/null
}
# Jobs of fetch done, and not yet ended.
jobs_of_fetch() { # store
    "$bin/quadrille" queue stats --dir "$1" | awk '$1 == "fetch" { print $2, $4 + $5 + $6 }'
}

# ---- politely ----
pid_of() { # program: waits until it is there
    local pid
    for _ in $(seq 200); do
        pid=$(pgrep -f -- "^quadrille-$1 --dir $work/data( |$)" | head -n 1) && [[ -n $pid ]] && break
        sleep 0.05
    done
    echo "$pid"
}
polite() {
    local options pids due begin seconds samples='' done_now left cpus archived requests pages steady ours
    start_server "$hosts"
    options=("${common[@]}" --set "fetch.hosts_file=$work/hosts" --set "fetch.delay=$delay" --set scope.depth=0
        --set "fetch.window=$window" --set "fetch.connections=$((hosts + hosts / 4))" --set queue.high_water=100000000)
    fill "$work/data" "$work/list" "${options[@]}"
    "$bin/quadrille" up --dir "$work/data" --background --only queue,metastore,fetch "${options[@]}"
    pids=("$(pid_of fetch)" "$(pid_of queue)" "$(pid_of metastore)" "$server_pid")
    due=$(wc -l <"$work/list")
    begin=$(now)
    while kill -0 "${pids[0]}"; do
        sleep 1
        read -r done_now left < <(jobs_of_fetch "$work/data") || continue
        samples+="$(now) $done_now $(memory_of "${pids[0]}") $(memory_of "${pids[1]}") $(memory_of "${pids[2]}")"$'\n'
        [[ $left -eq 0 ]] && break
    done
    seconds=$(calc %.1f "$(now) - $begin")
    cpus=("$(cpu_of "${pids[0]}")" "$(cpu_of "${pids[1]}")" "$(cpu_of "${pids[2]}")" "$(cpu_of "${pids[3]}")")
    archived=$(du -sb "$work/data/warc" | cut -f1)
    "$bin/quadrille" down --dir "$work/data" >/dev/null
    stop_server
    requests=$(wc -l <"$work/log")
    pages=$(pages_in_log)
    # The rate while most of the work was there: of the time from the first tenth to nine tenths.
    steady=$(awk -v n="$pages" 'NF == 5 { if (!a && $2 > n / 10) { a = $1; p = $2 } if ($2 <= n * 0.9) { b = $1; q = $2 } }
        END { if (b > a) printf "%.0f", (q - p) / (b - a); else print "-" }' <<<"$samples")
    ours=$(calc %.2f "${cpus[0]} + ${cpus[1]} + ${cpus[2]}")
    printf '%d hosts, %d pages due, %d fetched whole, %d requests in %s s: %s pages/s, %s between the first and last tenth\n' \
        "$hosts" "$due" "$pages" "$requests" "$seconds" "$(calc %.0f "$pages / $seconds")" "$steady"
    printf 'CPU seconds: fetch %s, queue %s, metadata store %s, server %s; %s pages per CPU second of ours\n' \
        "${cpus[@]}" "$(calc %.0f "$pages / $ours")"
    printf 'anonymous memory, MiB, at each tenth of the pages and at the end:\n'
    awk -v n="$due" 'NF == 5 { last = $0; while ($2 >= tenth * n / 10 && tenth < 10) { tenth++; row() } } END { $0 = last; row();
            for (i = 3; i <= 5; i++) printf "  %-15s%s\n", name[i], text[i] }
        function row() { for (i = 3; i <= 5; i++) text[i] = text[i] sprintf("%5d", $i) }
        BEGIN { tenth = 1; name[3] = "fetch"; name[4] = "queue"; name[5] = "metadata store" }' <<<"$samples"
    printf 'archive %s MB, %s bytes a request\n' "$((archived / 1000000))" "$((archived / requests))"
    printf 'politeness (%s s a host, 16 requests an address): ' "$delay"
    "$here/tests/web/check_politeness" --log "$work/log" --rules "$work/rules" \
        --delay "$(calc %d "$delay * 1000")" --parallel 16 --summary 2>"$out/web.breaches" | tail -n 1
    json+=",\"polite\":{\"hosts\":$hosts,\"pages\":$pages,\"seconds\":$seconds,\"steady\":\"$steady\",\"cpu\":$ours}"
    rm -rf "$work/data" "$work/log"
}

# ---- beside the peers ----
measured_hosts=$peers_hosts # of the web that a part takes
measured_seconds=60         # after which a program is stopped
measure() { # key in the JSON, name, command: prints pages, seconds, CPU
    local key=$1 name=$2 began up cpu_before used took fetched last rate
    shift 2
    stop_server
    start_server "$measured_hosts" # its log begins anew, so that each program's pages are counted alone
    mkdir -p "$work/peer"
    echo 0 >"$work/looks"
    began=$(now)
    read -r up _ </proc/uptime
    cpu_before=$(cpu_of_ended $$)
    (cd "$work/peer" && "$@" >"$out/web.$key.log" 2>&1) || true
    used=$(calc %.2f "$(cpu_of_ended $$) - $cpu_before - $(cat "$work/looks") + 0.001")
    took=$(calc %.1f "$(now) - $began")
    sleep 0.6 # the server writes its log twice a second
    fetched=$(pages_in_log)
    rate=$(calc %.0f "$fetched / $used")
    ours=${ours:-$rate}
    last=$(last_page_in_log "$up")
    printf '%-12s %7d pages in %6.1f s, the last after %6.1f s, %7.2f CPU s: %6d pages per CPU second, %4s MB kept; ours %s times\n' \
        "$name" "$fetched" "$took" "$last" "$used" "$rate" "$(du -sm "$work/peer" | cut -f1)" \
        "$(calc %.2f "$ours / ($rate + 0.001)")"
    json+=",\"$key\":{\"pages\":$fetched,\"last\":$last,\"cpu\":$used}"
    mv "$work/peer" "$work/ended.$key"
}
missing() { echo "$1: not measured, it is not installed (apt-get install $2)"; }

# Waits until fetch has nothing to do; what looking costs is left out.
await_fetch() { # store, seconds at most
    local before left looks=0 until=$((SECONDS + $2))
    while [[ $SECONDS -lt $until ]]; do
        sleep 0.2
        before=$(cpu_of_ended "$BASHPID")
        read -r _ left < <(jobs_of_fetch "$1") || left=1
        looks=$(calc %.2f "$looks + $(cpu_of_ended "$BASHPID") - $before")
        [[ $left -eq 0 ]] && break
    done
    echo "$looks" >"$work/looks"
}
quick() {
    printf -- '--set fetch.delay=0 --set fetch.window=1000 --set fetch.crawl_delay_maximum=0 --set %s --set %s\n' \
        "fetch.connections=$((measured_hosts + measured_hosts / 4))" "fetch.hosts_file=$work/hosts"
}
# Fetch alone takes the list while it is being added, then everything is stopped.
fetch_list() {
    local dir=$work/peer/data
    local -a options
    read -ra options < <(quick)
    options+=("${common[@]}" --set scope.depth=0 --set queue.high_water=100000000)
    "$bin/quadrille" init --dir "$dir" >/dev/null
    "$bin/quadrille" up --dir "$dir" --only queue,metastore,fetch "${options[@]}" &
    until [[ -S $dir/run/queue.sock && -S $dir/run/metastore.sock ]]; do sleep 0.02; done
    "$bin/quadrille" add --dir "$dir" --seeds "$work/list" "${options[@]}" >/dev/null
    await_fetch "$dir" "$measured_seconds"
    "$bin/quadrille" down --dir "$dir"
    wait
}
crawl_all() {
    local -a options
    read -ra options < <(quick)
    timeout 200 "$bin/quadrille" crawl --dir "$work/peer/data" --quiet --seeds "$work/seeds" "${common[@]}" \
        "${options[@]}" --set scope.depth=1
}

cat >"$work/spider.py" <<'P'
import scrapy
from scrapy.linkextractors import LinkExtractor

class Spider(scrapy.Spider):
    """Fetches a list; with follow also what its pages link to on their own hosts."""
    name = "list"
    links = LinkExtractor()

    def start_requests(self):
        self.out = open("bodies", "wb")
        with open(self.list) as lines:
            for line in lines:
                yield scrapy.Request(line.strip(), meta={"proxy": self.proxy}, callback=self.parse)

    def parse(self, response):
        self.out.write(response.body)
        if self.follow == "no" or not hasattr(response, "text"):
            return
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, meta={"proxy": self.proxy}, callback=self.parse)
P
run_scrapy() { # list, follow, robots
    timeout --kill-after=5 "$measured_seconds" scrapy runspider "$work/spider.py" -a list="$1" -a follow="$2" -a proxy="http://127.0.0.1:$port" \
        -s CONCURRENT_REQUESTS=100 -s CONCURRENT_REQUESTS_PER_DOMAIN=100 -s ROBOTSTXT_OBEY="$3" -s DEPTH_LIMIT=1 \
        -s DOWNLOAD_MAXSIZE=1048576 -s LOG_LEVEL=ERROR -s RETRY_ENABLED=False -s TELNETCONSOLE_ENABLED=False -s DOWNLOAD_TIMEOUT=5
}
run_wget2() { # list, more options
    timeout --kill-after=5 "$measured_seconds" wget2 --quiet --max-threads=50 --tries=1 --timeout=5 --http-proxy="127.0.0.1:$port" \
        --force-directories --input-file="$1" "${@:2}"
}
run_wget() { # list, more options
    timeout --kill-after=5 "$measured_seconds" wget --quiet --tries=1 --timeout=5 -e "http_proxy=127.0.0.1:$port" --no-verbose \
        --warc-file=pages --delete-after --force-directories --input-file="$1" "${@:2}"
}
run_httrack() { # list, depth, robots
    timeout --kill-after=5 "$measured_seconds" httrack --list "$1" --path "$work/peer" --proxy "127.0.0.1:$port" --depth="$2" --robots="$3" \
        --sockets=50 --timeout=5 --retries=0 --disable-security-limits --max-rate=0 --connection-per-second=0 \
        --quiet --do-not-log --cache=0
}
list_with_wget2() { run_wget2 "$work/list" --no-robots; }
list_with_wget() { run_wget "$work/list" -e robots=off; }
list_with_httrack() { run_httrack "$work/list" 1 0; }
list_with_scrapy() { run_scrapy "$work/list" no False; }
crawl_with_wget2() { run_wget2 "$work/seeds" --recursive --level=1; }
crawl_with_wget() { run_wget "$work/seeds" --recursive --level=1; }
crawl_with_httrack() { run_httrack "$work/seeds" 2 2; }
crawl_with_scrapy() { run_scrapy "$work/seeds" yes True; }
peers() { # key in the JSON, list or crawl
    local name package
    for name in $beside; do
        package=$name
        [[ $name == scrapy ]] && package=python3-scrapy
        if command -v "$name" >/dev/null; then
            measure "$1_$name" "$name" "$2_with_$name"
        else
            missing "$name" "$package"
        fi
    done
}
of_list() { # key in the JSON, hosts, seconds, what is listed
    local measured_hosts=$2 measured_seconds=$3 ours=''
    start_server "$measured_hosts"
    printf '\n%s: %d pages of %d hosts, without delay:\n' "$4" "$(wc -l <"$work/list")" "$measured_hosts"
    measure "$1" quadrille fetch_list
    peers "$1" list
    stop_server
}
web() {
    local listed='$2 != "private"'
    of_list web "$hosts" 150 'All of the web, a list of all kinds'
}
list() { of_list list "$list_hosts" 60 'A list of good pages'; }
crawl() {
    measured_hosts=$peers_hosts
    printf '\nA crawl from %d hosts, links of the first pages followed, robots.txt obeyed, without delay:\n' "$peers_hosts"
    ours=
    measure crawl quadrille crawl_all
    peers crawl crawl
    stop_server
}

for part in $parts; do
    case $part in
        polite | web | list | crawl) "$part" ;;
        *) echo "$usage" >&2; exit 100 ;;
    esac
done
printf '{%s}\n' "${json#,}" >"$out/web.json"
