#!/usr/bin/env bash
# The promise: whatever is killed with -9, nothing is lost and nothing doubled.
#
# usage: tests/pipeline/kill.sh [--kills N] [--hosts DIR] [--seed N]
# Crawls DIR (a folder of hosts; default: the bundled web) once in peace. Then crawls again, as
# often as needed, while every process of the crawl, daemons, supervisor and command line
# included, is killed at random moments, until N kills (default 50) have hit. After each crawl
# the dump must be the same bytes, verify clean, and no document fetched more than once but for
# those in flight at a kill.
. "$(dirname "$0")/lib.sh"
kills=50 hosts=$root/examples/web/hosts seed=$RANDOM
while [[ $# -gt 0 ]]; do
    case $1 in
        --kills) kills=$2; shift 2 ;;
        --hosts) hosts=$(cd "$2" && pwd); shift 2 ;;
        --seed) seed=$2; shift 2 ;;
        *) echo "usage: kill.sh [--kills N] [--hosts DIR] [--seed N]" >&2; exit 100 ;;
    esac
done
RANDOM=$seed
echo "kill.sh: seed $seed"
start_web "$hosts"
seeds_of "$hosts" >"$work/seeds"
lanes=$(wc -l <"$work/seeds")

crawl "$work/peace" >/dev/null || fail "crawl in peace"
dump_and_verify "$work/peace" "$work/peace.nq"

dir=$work/war
war() { # crawls, or goes on
    crawl "$dir" --set processes.fetch=2 --set processes.transform=2 >"$work/war.out" 2>&1
}

# A job whose worker is killed again and again while it does nothing else is set aside as a document that kills it.
# On a slow machine that happens to the page without end; nothing of it is lost, it only has to be kicked.
kick_buried() {
    local buried
    buried=$("$bin/quadrille" queue buried --dir "$dir") || fail "queue buried: $buried"
    grep -qE 'worker died or stalled|worker was killed from outside' <<<"$buried" || return 0
    echo "$buried"
    "$bin/quadrille" queue kick --dir "$dir" || fail "queue kick"
    war || fail "crawl of what was kicked: $(cat "$work/war.out")"
}

victim() { # prints the process id of a random process of the crawl in $1
    local pids
    mapfile -t pids < <(pgrep -f -- "--dir $1( |$)" || true)
    [[ ${#pids[@]} -gt 0 ]] && echo "${pids[RANDOM % ${#pids[@]}]}"
}

hit=0 round=0
declare -A by_name=()
while [[ $hit -lt $kills ]]; do
    round=$((round + 1))
    rm -rf "$dir"
    : >"$web_log"
    hit_before=$hit
    war &
    command=$!
    while :; do
        sleep "0.$(printf %03d $((RANDOM % 400 + 20)))"
        if ! kill -0 $command 2>/dev/null; then
            code=0
            wait $command || code=$?
            [[ $code -eq 0 ]] && break
            [[ $code -eq 137 ]] || fail "crawl ended with $code: $(cat "$work/war.out")"
            war &
            command=$!
            continue
        fi
        [[ $hit -ge $kills ]] && continue
        pid=$(victim "$dir") || continue
        [[ -n $pid ]] || continue
        name=$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | head -n 2 | paste -sd' ' || true)
        [[ -n $name ]] || continue # it has ended
        if kill -9 "$pid" 2>/dev/null; then
            hit=$((hit + 1))
            name=${name% --dir}
            by_name[${name##*/}]=$((${by_name[${name##*/}]:-0} + 1))
        fi
    done
    kick_buried
    dump_and_verify "$dir" "$work/war.nq"
    same "$work/peace.nq" "$work/war.nq" "round $round"
    extra=$(repeated "$web_log" | awk '{s += $1 - 1} END {print s + 0}')
    most=$(((hit - hit_before) * lanes))
    [[ $extra -le $most ]] ||
        fail "round $round: $extra fetches too many, at most $most can have been in flight"
    echo "round $round: $((hit - hit_before)) kills, $extra repeated fetches, dump identical"
done
for name in "${!by_name[@]}"; do echo "  ${by_name[$name]} x $name"; done | LC_ALL=C sort -k3
echo "kill: $hit kills in $round crawls, nothing lost, nothing doubled"
