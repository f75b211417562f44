#!/usr/bin/env bash
# Pages per second fetched and archived from a synthetic web (tests/web): many hosts, each at its
# address, links, sizes, faults; the server shares the cores. Beside it wget2, httrack and Scrapy on the
# same pages in the same run. What counts is pages per CPU second, and the ratio.
#
# usage: bench/web.sh [--hosts N] [--peers-hosts N] [--delay SECONDS] [--window N]
# Prints tables; writes build/bench/web.json.
#
# Ours: fetch, queue and metadata store, synced commits, robots.txt and sitemaps, fetch.delay between
# the requests to a host (default: 1 s, as Quadrille's own default), at most 16 requests at an
# address; the server's log is checked for it. Everyone gets the URIs of the good pages as a list. The
# peers have all speed their settings allow: no delay, since none of them can be told to leave a host
# alone for a second and go on with others at this rate (Scrapy has DOWNLOAD_DELAY, and slows down with
# it); wget2 and httrack read the server as a proxy, Scrapy too. None of the peers writes an archive
# with requests and digests; wget2 and httrack write files, Scrapy writes bodies to one file.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/bin
server=$here/build/tests/synthetic_web
out=$here/build/bench
hosts=10000 peers_hosts=1000 delay=1 window=2000 seed=1
while [[ $# -gt 0 ]]; do
    case $1 in
        --hosts) hosts=$2; shift 2 ;;
        --peers-hosts) peers_hosts=$2; shift 2 ;;
        --delay) delay=$2; shift 2 ;;
        --window) window=$2; shift 2 ;;
        *) echo "usage: bench/web.sh [--hosts N] [--peers-hosts N] [--delay SECONDS] [--window N]" >&2; exit 100 ;;
    esac
done
mkdir -p "$out"
work=$(mktemp -d "$out/work.XXXXXX")
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
cpu_of() { # process ids: seconds of processor time, user and system
    local pid
    for pid; do cat "/proc/$pid/stat" 2>/dev/null; done |
        awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); t += $12 + $13 } END { printf "%.2f\n", t / hz }'
}
memory_of() { awk '/^RssAnon/ { printf "%d\n", $2 / 1024 }' "/proc/$1/status" 2>/dev/null; }

start_server() { # hosts, log or nothing
    shape=(--hosts "$1" --seed "$seed" --pages-least 7 --pages-most 40 --faults 60)
    : >"$work/server.out"
    "$server" --serve "${shape[@]}" ${2:+--log "$2"} >"$work/server.out" &
    server_pid=$!
    port=
    until port=$(sed -n 's/^port //p' "$work/server.out") && [[ -n $port ]]; do sleep 0.05; done
    shape+=(--port "$port")
    "$server" --hosts-file "${shape[@]}" >"$work/hosts"
    "$server" --rules "${shape[@]}" >"$work/rules"
    "$server" --pages "${shape[@]}" >"$work/pages"
    awk -F'\t' '$2 == "good" && $3 == "fetched" { print $1 }' "$work/pages" >"$work/list"
}
stop_server() {
    kill "$server_pid"
    wait "$server_pid" || true
    server_pid=
}

# ---- ours ----
start_server "$hosts" "$work/log"
settings=(--set "fetch.hosts_file=$work/hosts" --set fetch.allow_address=127.0.0.0/8
    --set "fetch.delay=$delay" --set "fetch.window=$window" --set "fetch.connections=$((hosts + hosts / 4))"
    --set fetch.backoff=2 --set fetch.backoff_maximum=4 --set fetch.retry=2 --set fetch.timeout=5 --set fetch.size=1M --set scope.depth=0
    --set queue.high_water=100000000 --set queue.cache=256M --set log.level=warning --set processes.web=0)
"$bin/quadrille" init --dir "$work/data" >/dev/null
"$bin/quadrille" up --dir "$work/data" --background --only queue,metastore "${settings[@]}"
"$bin/quadrille" add --dir "$work/data" --seeds "$work/list" "${settings[@]}" >/dev/null
"$bin/quadrille" down --dir "$work/data" >/dev/null
"$bin/quadrille" up --dir "$work/data" --background --only queue,metastore,fetch "${settings[@]}"
pid_of() { # program: waits until it is there
    local pid
    until pid=$(pgrep -f -- "quadrille-$1 --dir $work/data( |$)" | head -n 1) && [[ -n $pid ]]; do sleep 0.05; done
    echo "$pid"
}
pids=("$(pid_of fetch)" "$(pid_of queue)" "$(pid_of metastore)" "$server_pid")
due=$(wc -l <"$work/list")
begin=$(now)
memory_early= samples=
while :; do
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
pages=$(awk -F'\t' '$5 == 200 && $7 == "whole" && $8 != "/robots.txt"' "$work/log" | wc -l)
# The rate while most of the work was there: of the time from the first tenth to nine tenths.
steady=$(awk -v n="$pages" 'NF == 2 { if (!a && $2 > n / 10) { a = $1; p = $2 } if ($2 <= n * 0.9) { b = $1; q = $2 } }
    END { if (b > a) printf "%.0f", (q - p) / (b - a); else print "-" }' <<<"$samples")
ours_cpu=$(calc %.2f "$fetch_cpu + $queue_cpu + $meta_cpu")
ours=$(calc %.0f "$pages / $ours_cpu")
printf '%d hosts, %d pages due, %d fetched whole, %d requests in %s s: %s pages/s, %s between the first and last tenth\n' \
    "$hosts" "$due" "$pages" "$requests" "$seconds" "$(calc %.0f "$pages / $seconds")" "$steady"
printf 'CPU seconds: fetch %s, queue %s, metadata store %s, server %s; %s pages per CPU second of ours\n' \
    "$fetch_cpu" "$queue_cpu" "$meta_cpu" "$server_cpu" "$ours"
printf 'anonymous memory of fetch: %s MiB after a third, %s MiB at the end; archive %s MB\n' \
    "$memory_early" "$memory_late" "$((archived / 1000000))"
printf 'politeness (%s s a host, 16 requests an address): ' "$delay"
"$here/tests/web/check_politeness" --log "$work/log" --rules "$work/rules" \
    --delay "$(calc %d "$delay * 1000")" --parallel 16 --summary 2>"$out/web.breaches" | tail -n 1
json="\"quadrille\":{\"pages\":$pages,\"seconds\":$seconds,\"cpu\":$ours_cpu}"
rm -rf "$work/data" "$work/log"

# ---- peers ----
start_server "$peers_hosts"
due=$(wc -l <"$work/list")
best=0
peer() { # name, command: prints pages, seconds, CPU
    local name=$1 began cpu_before cpu_after fetched
    shift
    mkdir -p "$work/peer"
    began=$(now)
    cpu_before=$(awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($14 + $15) / hz }' "/proc/$$/stat")
    (cd "$work/peer" && timeout 300 "$@" >"$out/web.$name.log" 2>&1) || true
    cpu_after=$(awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($14 + $15) / hz }' "/proc/$$/stat")
    fetched=$(pages_of_"$name")
    printf '%-10s %8d pages in %6.1f s, %7.1f CPU s: %6.0f pages per CPU second, ours %s times\n' "$name" \
        "$fetched" "$(calc %.1f "$(now) - $began")" "$(calc %.2f "$cpu_after - $cpu_before")" \
        "$(calc %.0f "$fetched / ($cpu_after - $cpu_before + 0.001)")" \
        "$(calc %.1f "$ours * ($cpu_after - $cpu_before) / ($fetched + 0.001)")"
    json+=",\"$name\":{\"pages\":$fetched,\"cpu\":$(calc %.2f "$cpu_after - $cpu_before")}"
    rm -rf "$work/peer"
}
pages_of_wget2() { find "$work/peer" -type f | wc -l; }
pages_of_httrack() { find "$work/peer" -path '*web.example*' -type f | wc -l; }
pages_of_scrapy() { wc -l <"$work/peer/fetched"; }
missing() { echo "$1: not measured, it is not installed (apt-get install $2)"; }

printf 'peers, %d hosts, %d pages due, all from a list, the server as their proxy, without any delay:\n' "$peers_hosts" "$due"
if command -v wget2 >/dev/null; then
    peer wget2 wget2 --quiet --no-robots -e robots=off --max-threads=50 --tries=1 --http-proxy="127.0.0.1:$port" \
        --force-directories --input-file="$work/list"
else
    missing wget2 wget2
fi
if command -v httrack >/dev/null; then
    peer httrack httrack --list "$work/list" --path "$work/peer" --proxy "127.0.0.1:$port" --depth=1 \
        --robots=0 --sockets=50 --disable-security-limits --max-rate=0 --connection-per-second=0 \
        --quiet --do-not-log --cache=0
else
    missing httrack httrack
fi
if command -v scrapy >/dev/null; then
    cat >"$work/spider.py" <<'P'
import scrapy
class Spider(scrapy.Spider):
    name = "list"
    def start_requests(self):
        self.out = open("bodies", "wb")
        self.done = open("fetched", "w")
        with open(self.list) as lines:
            for line in lines:
                yield scrapy.Request(line.strip(), meta={"proxy": self.proxy})
    def parse(self, response):
        self.out.write(response.body)
        self.done.write(response.url + "\n")
P
    peer scrapy scrapy runspider "$work/spider.py" -a list="$work/list" -a proxy="http://127.0.0.1:$port" \
        -s CONCURRENT_REQUESTS=100 -s CONCURRENT_REQUESTS_PER_DOMAIN=100 -s ROBOTSTXT_OBEY=False -s LOG_LEVEL=ERROR \
        -s RETRY_ENABLED=False -s TELNETCONSOLE_ENABLED=False
else
    missing scrapy python3-scrapy
fi
stop_server
printf '{"hosts":%d,"steady":"%s",%s}\n' "$hosts" "$steady" "$json" >"$out/web.json"
