# Shared by the pipeline tests: a web on loopback, crawls of it, comparisons. Source it.
# Every test works in a folder of its own and removes it; on failure it is kept if KEEP=1. It lies in
# memory where there is room: kills are survived there as on a disk, and a crawl of a few pages
# spends most of its time waiting for disks. All processes are ended by the trap.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$root/build/bin
hooked=$root/build/tests/bin # the same programs, some of which can be made to fail: tests/hooks/
shared=${QUADRILLE_SHARED:-$root/../shared}
mkdir -p "$root/build/tests"
scratch=${QUADRILLE_SCRATCH:-} # of the whole run
if [[ -z $scratch ]]; then
    scratch=$root/build/tests
    [[ -w /dev/shm && $(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1) -gt 2000000 ]] && scratch=/dev/shm
fi
work=$(mktemp -d "$scratch/quadrille-$(basename "$0" .sh).XXXXXX")
patience=2400 # how often a condition is looked for before a test gives up: minutes, which only end what hangs
# The first three numbers of loopback addresses that no other test has, for who needs ports that he knows before.
loopback=127.$((64 + $$ / 256 % 64)).$(($$ % 256))
web_pid=
web_stop=() # a command that ends a web that is not ours

end_all() {
    local code=${1:-$?} # given where a trap does something else first
    trap - EXIT INT TERM
    local d
    for d in "$work"/*/run; do
        [[ -d $d ]] && timeout -k 1 10 "$bin/quadrille" down --dir "$(dirname "$d")" >/dev/null 2>&1 || true
    done
    pkill -KILL -f -- "--dir $work/" 2>/dev/null || true
    "${web_stop[@]:-true}" 2>/dev/null || true
    if [[ -n $web_pid ]] && kill "$web_pid" 2>/dev/null; then
        wait "$web_pid" 2>/dev/null || true # its code is that of a process that was killed
    fi
    if [[ $code -ne 0 && $code -ne 77 && -n ${KEEP:-} ]]; then
        echo "kept: $work"
    else
        rm -rf "$work"
    fi
    exit $code
}
trap end_all EXIT
trap 'exit 130' INT TERM

fail() {
    tail -n 5 "$work"/*/log/*.log >&2 2>/dev/null || true
    echo "FAIL: $*" >&2 # last, where whoever reads the end of the output looks for the reason
    exit 1
}
skip() {
    echo "SKIP: $*"
    exit 77
}

# Serves a folder of hosts; sets web_port and web_log (time, host, method, uri, status).
start_web() { # folder of hosts
    web_log=$work/access.tsv
    : >"$work/web.out" # before the server's shell has made it
    "$bin/quadrille-example-web" --hosts "$1" --port 0 --log "$web_log" >"$work/web.out" 2>&1 &
    web_pid=$!
    for _ in $(seq "$patience"); do
        web_port=$(sed -nE 's/.*127\.0\.0\.1:([0-9]+).*/\1/p' "$work/web.out" | head -n 1)
        [[ -n $web_port ]] && return
        sleep 0.05
    done
    fail "the web server does not start: $(cat "$work/web.out")"
}

# The same with ranges, validators, endpoints and faults: tests/web/faulty_web.py. The log's first six
# fields are time, host, method, URI, status, bytes.
start_faulty_web() { # folder of hosts
    web_log=$work/access.tsv
    python3 "$root/tests/web/faulty_web.py" "$1" "$work/port" "$web_log" >"$work/web.out" 2>&1 &
    web_pid=$!
    for _ in $(seq "$patience"); do
        [[ -s $work/port ]] && break
        sleep 0.05
    done
    web_port=$(cat "$work/port") || fail "the web server does not start: $(cat "$work/web.out")"
}

# Whether a command succeeds and its output has a line. All of it is read: grep -q in a pipe ends at the
# first such line, and a command that then writes more is ended by SIGPIPE.
prints() { # regular expression, command...
    local printed
    printed=$("${@:2}") && grep -q -- "$1" <<<"$printed"
}

# Kills fetch whenever a dump that it downloads has come so far; sets kills, how often.
kill_downloads() { # data directory, bytes...
    local dir=$1 part n
    shift
    kills=0
    for part; do
        for _ in $(seq "$patience"); do
            n=$(stat -c %s "$dir"/dumps/*.part 2>/dev/null | head -n 1) || n=0
            [[ ${n:-0} -ge $part ]] && break
            sleep 0.02
        done
        pkill -KILL -f -- "quadrille-fetch --dir $dir" && kills=$((kills + 1))
        sleep 0.3
    done
}

# Waits until processes are idle: a tenth of a processor at most, for half a second.
await_rest() { # command that prints their processor time in ticks
    local before
    for _ in $(seq 1200); do
        before=$("$1")
        sleep 0.5
        (($("$1") - before <= 5)) && return
    done
    return 1
}

seeds_of() { # folder of hosts: the root of each
    local h
    for h in "$1"/*/; do echo "http://$(basename "$h")/"; done
}

# The document of resource i of $count, as N-Triples: itself, a neighbour, a part that is a blank node.
thing_triples() { # host, i
    printf '<http://%s/id/%d> <http://vocab.example/name> "thing %d" .
<http://%s/id/%d> <http://vocab.example/next> <http://%s/id/%d> .
<http://%s/id/%d> <http://vocab.example/part> _:p%d .
_:p%d <http://vocab.example/weight> "%d" .\n' \
        "$1" "$2" "$2" "$1" "$2" "$1" $(($2 % count + 1)) "$1" "$2" "$2" "$2" "$2"
}

# The settings of a crawl of the web that start_web serves.
web_settings() {
    printf '%s\n' --set "fetch.connect_to=127.0.0.1:$web_port" \
        --set fetch.allow_address=127.0.0.0/8 --set fetch.delay="${delay:-0}" \
        --set processes.web=0
}

# The most memory that each process ever held whose command line matches: KiB, name.
peaks_of() { # pattern of pgrep
    cat $(pgrep -f -- "$1" | sed 's,.*,/proc/&/status,') 2>/dev/null </dev/null |
        awk '/^Name:/ { name = $2 } /^VmHWM:/ { print $2, name }' || true
}

# How much a test tries: all of it by hand and by `make check-whole`, less by `make check` (tests/unit/brief.h).
brief() { # usual, less
    [[ -n ${QUADRILLE_BRIEF:-} ]] && echo "$2" || echo "$1"
}

crawl() { # directory, further arguments
    local dir=$1 web
    shift
    mapfile -t web < <(web_settings) # local: the caller may have settings of its own
    "$bin/quadrille" crawl --dir "$dir" --seeds "$work/seeds" --quiet "${web[@]}" "$@"
}

dump_and_verify() { # directory, file; further arguments are settings
    local dir=$1 file=$2
    shift 2
    "$bin/quadrille" dump --dir "$dir" --output "$file" "$@" || fail "dump of $dir"
    "$bin/quadrille" verify --dir "$dir" "$@" >"$work/verify.out" || {
        cat "$work/verify.out" >&2
        fail "verify of $dir"
    }
    LC_ALL=C sort -c "$file" || fail "$file is not sorted"
    [[ -s $file ]] || fail "$file is empty"
}

same() { # file, file, what
    cmp -s "$1" "$2" && return
    diff "$1" "$2" | head -n 20 >&2 || true
    fail "$3: the dumps differ"
}

# Documents requested more than once, without robots.txt; as "count host uri".
repeated() { # log
    awk -F'\t' '$3 == "GET" && $4 != "/robots.txt" { n[$2 " " $4]++ }
        END { for (u in n) if (n[u] > 1) print n[u], u }' "$1" | LC_ALL=C sort
}
