#!/usr/bin/env bash
# Pages per second fetched and archived from a synthetic web (tests/web): many hosts, each at its
# address, links, sizes, faults; the server shares the cores. Beside it wget2, httrack and Scrapy on the
# same pages in the same run. What counts is pages per CPU second, and the ratio. Pages are counted in
# the server's log: answers 200, sent whole, robots.txt apart.
#
# usage: bench/web.sh [--hosts N] [--peers-hosts N] [--delay SECONDS] [--window N] [--work DIR]
# Prints tables; writes build/bench/web.json.
#
# 1. Politely: fetch, queue and metadata store take all good pages of the web from a list, robots.txt
#    and sitemaps besides, fetch.delay between the requests to a host (default: 1 s, as Quadrille's own
#    default), at most 16 requests at an address; the server's log is checked for it. Commits are synced.
# 2. The same on a smaller web without delay, beside the peers, who get the same list. None of the peers
#    can be told to leave a host alone for a second and go on with others at this rate (Scrapy has
#    DOWNLOAD_DELAY, and slows down with it), so they have all speed their settings allow. They obey no
#    robots.txt here.
# 3. Crawls of that web: the seeds are all hosts, links are followed one step, robots.txt is obeyed.
#    Quadrille does it with all five stages, so it also parses, indexes and can be searched; the peers keep
#    files, Scrapy one file of bodies.
# In 2 and 3 CPU seconds are those of all processes of a program from its start to its end. The peers
# read the server as a proxy, since its names are in no DNS; Quadrille has fetch.hosts_file.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin
server=$here/build/tests/synthetic_web
out=$here/build/bench
usage="usage: bench/web.sh [--hosts N] [--peers-hosts N] [--delay SECONDS] [--window N] [--work DIR]"
hosts=10000 peers_hosts=500 delay=1 window=4000 seed=1 place=$out
while [[ $# -gt 1 ]]; do
    case $1 in
        --hosts) hosts=$2 ;;
        --peers-hosts) peers_hosts=$2 ;;
        --delay) delay=$2 ;;
        --window) window=$2 ;;
        --work) place=$2 ;;
        *) echo "$usage" >&2; exit 100 ;;
    esac
    shift 2
done
[[ $# -eq 0 ]] || { echo "$usage" >&2; exit 100; }
mkdir -p "$out"
work=$(mktemp -d "$place/work.XXXXXX")
server_pid=
cleanup() {
    "$bin/quadrille" down --dir "$work/data" >/dev/null 2>&1 || true
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
cpu_of_ended() { # of all that this shell has started and that has ended
    awk -v hz="$hz" '{ sub(/.*\) /, ""); print ($14 + $15) / hz }' "/proc/$$/stat"
}
memory_of() { awk '/^RssAnon/ { printf "%d\n", $2 / 1024 }' "/proc/$1/status" 2>/dev/null; }
pages_in_log() { awk -F'\t' '$5 == 200 && $7 == "whole" && $8 != "/robots.txt"' "$work/log" | wc -l; }

start_server() { # hosts
    shape=(--hosts "$1" --seed "$seed" --pages-least 12 --pages-most 40 --faults 60)
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
    awk -F'\t' '$2 == "good" && $3 == "fetched" { print $1 }' "$work/pages" >"$work/list"
    awk -v port="$port" '{ print "http://" $2 ":" port "/" }' "$work/hosts" >"$work/seeds"
}
stop_server() {
    kill "$server_pid"
    wait "$server_pid" || true
    server_pid=
}
# The server's log begins anew, so that each program's pages are counted alone.
restart_server() {
    stop_server
    start_server "$1"
}

common=(--set fetch.allow_address=127.0.0.0/8 --set fetch.backoff=2 --set fetch.backoff_maximum=4
    --set fetch.retry=2 --set fetch.timeout=5 --set fetch.size=1M --set queue.cache=256M
    --set log.level=warning --set processes.web=0)

# ---- politely ----
start_server "$hosts"
settings=("${common[@]}" --set "fetch.hosts_file=$work/hosts" --set "fetch.delay=$delay" --set scope.depth=0
    --set "fetch.window=$window" --set "fetch.connections=$((hosts + hosts / 4))" --set queue.high_water=100000000)
"$bin/quadrille" init --dir "$work/data" >/dev/null
"$bin/quadrille" up --dir "$work/data" --background --only queue,metastore "${settings[@]}"
"$bin/quadrille" add --dir "$work/data" --seeds "$work/list" "${settings[@]}" >/dev/null
"$bin/quadrille" down --dir "$work/data" >/dev/null
"$bin/quadrille" up --dir "$work/data" --background --only queue,metastore,fetch "${settings[@]}"
pid_of() { # program: waits until it is there
    local pid
    for _ in $(seq 200); do
        pid=$(pgrep -f -- "^quadrille-$1 --dir $work/data( |$)" | head -n 1) && [[ -n $pid ]] && break
        sleep 0.05
    done
    echo "$pid"
}
pids=("$(pid_of fetch)" "$(pid_of queue)" "$(pid_of metastore)" "$server_pid")
due=$(wc -l <"$work/list")
begin=$(now)
memory_early='' samples=''
while kill -0 "${pids[0]}"; do
    sleep 1
    read -r done_now left < <("$bin/quadrille" queue stats --dir "$work/data" |
        awk '$1 == "fetch" { print $2, $4 + $5 + $6 }') || continue
    samples+="$(now) $done_now"$'\n'
    [[ -z $memory_early && $done_now -gt $((due / 3)) ]] && memory_early=$(memory_of "${pids[0]}")
    [[ $left -eq 0 ]] && break
done
seconds=$(calc %.1f "$(now) - $begin")
memory_late=$(memory_of "${pids[0]}")
fetch_cpu=$(cpu_of "${pids[0]}") queue_cpu=$(cpu_of "${pids[1]}") meta_cpu=$(cpu_of "${pids[2]}")
server_cpu=$(cpu_of "${pids[3]}")
archived=$(du -sb "$work/data/warc" | cut -f1)
"$bin/quadrille" down --dir "$work/data" >/dev/null
stop_server
requests=$(wc -l <"$work/log")
pages=$(pages_in_log)
# The rate while most of the work was there: of the time from the first tenth to nine tenths.
steady=$(awk -v n="$pages" 'NF == 2 { if (!a && $2 > n / 10) { a = $1; p = $2 } if ($2 <= n * 0.9) { b = $1; q = $2 } }
    END { if (b > a) printf "%.0f", (q - p) / (b - a); else print "-" }' <<<"$samples")
ours_cpu=$(calc %.2f "$fetch_cpu + $queue_cpu + $meta_cpu")
printf '%d hosts, %d pages due, %d fetched whole, %d requests in %s s: %s pages/s, %s between the first and last tenth\n' \
    "$hosts" "$due" "$pages" "$requests" "$seconds" "$(calc %.0f "$pages / $seconds")" "$steady"
printf 'CPU seconds: fetch %s, queue %s, metadata store %s, server %s; %s pages per CPU second of ours\n' \
    "$fetch_cpu" "$queue_cpu" "$meta_cpu" "$server_cpu" "$(calc %.0f "$pages / $ours_cpu")"
printf 'anonymous memory of fetch: %s MiB after a third, %s MiB at the end; archive %s MB\n' \
    "$memory_early" "$memory_late" "$((archived / 1000000))"
printf 'politeness (%s s a host, 16 requests an address): ' "$delay"
"$here/tests/web/check_politeness" --log "$work/log" --rules "$work/rules" \
    --delay "$(calc %d "$delay * 1000")" --parallel 16 --summary 2>"$out/web.breaches" | tail -n 1
json="\"polite\":{\"pages\":$pages,\"seconds\":$seconds,\"steady\":\"$steady\",\"cpu\":$ours_cpu}"
rm -rf "$work/data" "$work/log"

# ---- beside the peers ----
start_server "$peers_hosts"
ours=
measure() { # name, command: prints pages, seconds, CPU
    local name=$1 began cpu_before used took fetched rate
    shift
    restart_server "$peers_hosts"
    mkdir -p "$work/peer"
    began=$(now)
    cpu_before=$(cpu_of_ended)
    (cd "$work/peer" && "$@" >"$out/web.$name.log" 2>&1) || true
    used=$(calc %.2f "$(cpu_of_ended) - $cpu_before + 0.001")
    took=$(calc %.1f "$(now) - $began")
    sleep 0.6 # the server writes its log twice a second
    fetched=$(pages_in_log)
    rate=$(calc %.0f "$fetched / $used")
    ours=${ours:-$rate}
    printf '%-12s %7d pages in %6.1f s, %7.2f CPU s: %6d pages per CPU second, %4s MB kept; ours %s times\n' \
        "$name" "$fetched" "$took" "$used" "$rate" "$(du -sm "$work/peer" | cut -f1)" \
        "$(calc %.1f "$ours / ($rate + 0.001)")"
    json+=",\"$name\":{\"pages\":$fetched,\"cpu\":$used}"
    rm -rf "$work/peer"
}
quick=(--set fetch.delay=0 --set fetch.window=1000 --set "fetch.hosts_file=$work/hosts"
    --set "fetch.connections=$((peers_hosts + peers_hosts / 4))")
missing() { echo "$1: not measured, it is not installed (apt-get install $2)"; }
crawl_all() {
    timeout 200 "$bin/quadrille" crawl --dir "$work/peer/data" --quiet --seeds "$work/seeds" "${common[@]}" \
        "${quick[@]}" --set scope.depth=1
}
# Fetch alone: all that was put is fetched, then everything is stopped.
fetch_list() {
    local dir=$work/peer/data
    local -a options=("${common[@]}" "${quick[@]}" --set scope.depth=0 --set queue.high_water=100000000)
    "$bin/quadrille" init --dir "$dir"
    "$bin/quadrille" up --dir "$dir" --only queue,metastore "${options[@]}" &
    until "$bin/quadrille" queue stats --dir "$dir" >/dev/null 2>&1; do sleep 0.1; done
    "$bin/quadrille" add --dir "$dir" --seeds "$work/list" "${options[@]}"
    "$bin/quadrille" down --dir "$dir"
    wait
    "$bin/quadrille" up --dir "$dir" --only queue,metastore,fetch "${options[@]}" &
    until "$bin/quadrille" queue stats --dir "$dir" >/dev/null 2>&1; do sleep 0.1; done
    while "$bin/quadrille" queue stats --dir "$dir" | awk '$1 == "fetch" { exit $4 + $5 + $6 == 0 }'; do
        sleep 0.5
    done
    "$bin/quadrille" down --dir "$dir"
    wait
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
    timeout 200 scrapy runspider "$work/spider.py" -a list="$1" -a follow="$2" -a proxy="http://127.0.0.1:$port" \
        -s CONCURRENT_REQUESTS=100 -s CONCURRENT_REQUESTS_PER_DOMAIN=100 -s ROBOTSTXT_OBEY="$3" -s DEPTH_LIMIT=1 \
        -s LOG_LEVEL=ERROR -s RETRY_ENABLED=False -s TELNETCONSOLE_ENABLED=False -s DOWNLOAD_TIMEOUT=5
}
run_wget2() { # list, more options
    timeout 200 wget2 --quiet --max-threads=50 --tries=1 --timeout=5 --http-proxy="127.0.0.1:$port" \
        --force-directories --input-file="$1" "${@:2}"
}
run_httrack() { # list, depth, robots
    timeout 200 httrack --list "$1" --path "$work/peer" --proxy "127.0.0.1:$port" --depth="$2" --robots="$3" \
        --sockets=50 --timeout=5 --retries=0 --disable-security-limits --max-rate=0 --connection-per-second=0 \
        --quiet --do-not-log --cache=0
}
list_with_wget2() { run_wget2 "$work/list" --no-robots; }
list_with_httrack() { run_httrack "$work/list" 1 0; }
list_with_scrapy() { run_scrapy "$work/list" no False; }
crawl_with_wget2() { run_wget2 "$work/seeds" --recursive --level=1; }
crawl_with_httrack() { run_httrack "$work/seeds" 2 2; }
crawl_with_scrapy() { run_scrapy "$work/seeds" yes True; }
peers() { # list or crawl
    local name package
    for name in wget2 httrack scrapy; do
        package=$name
        [[ $name == scrapy ]] && package=python3-scrapy
        if command -v "$name" >/dev/null; then
            measure "$name" "$1_with_$name"
        else
            missing "$name" "$package"
        fi
    done
}

printf '\nA list of %d pages of %d hosts, without delay:\n' "$(wc -l <"$work/list")" "$peers_hosts"
measure quadrille fetch_list
peers list
printf '\nA crawl from %d hosts, links of the first pages followed, robots.txt obeyed, without delay:\n' "$peers_hosts"
ours=
measure quadrille crawl_all
peers crawl
stop_server
printf '{"hosts":%d,%s}\n' "$hosts" "$json" >"$out/web.json"
