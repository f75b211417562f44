#!/usr/bin/env bash
# A scope that grows, before, during or after a crawl, with kill -9 or without, gives the dump of one
# crawl of all of it, and asks for no document twice.
#
# QUADRILLE_SCOPE_TRIALS: crawls of three hosts that begin at random moments 0 to 3 s apart (1).
. "$(dirname "$0")/lib.sh"
seed=${QUADRILLE_SEED:-$RANDOM}
trials=${QUADRILLE_SCOPE_TRIALS:-1}
RANDOM=$seed
names=(one.example two.example three.example)
pages=6

page() { # host, number, links...
    local file=$work/hosts/$1/$2.html link
    shift 2
    echo "<!DOCTYPE html><title>Page</title>" >"$file"
    for link; do echo "<a rel='next' href='$link'>further</a>" >>"$file"; done
}
for h in 0 1 2; do
    host=${names[h]} other=http://${names[(h + 1) % 3]} third=http://${names[(h + 2) % 3]}
    mkdir -p "$work/hosts/$host"
    for ((n = 1; n < pages; n++)); do
        page "$host" $n "$((n + 1)).html" "$other/aside$n.html" "$third/moved$n"
        page "$host" aside$n "$other/deep$n.html"
        page "$host" deep$n "$third/deeper$n.html"
        page "$host" deeper$n "$other/"
        echo "redirect /moved$n 302 $other/target$n.html" >>"$work/hosts/$host/.serve"
        page "$host" target$n
    done
    page "$host" $pages "$other/"
    page "$host" index 1.html
done
: >"$work/seeds"
start_web "$work/hosts"
quiet() { # data directory, arguments
    crawl "$@" >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
}
all=$(printf 'http://%s/ ' "${names[@]}")
dump_of() { "$bin/quadrille" dump --dir "$work/$1" --output "$work/$1.nq" || fail "dump of $1"; }
alike() { # directory, directory, what
    dump_of "$2"
    same "$work/$1.nq" "$work/$2.nq" "$3"
}

quiet "$work/reference" $all
dump_and_verify "$work/reference" "$work/reference.nq"
(($(grep -c '"Page"' "$work/reference.nq") == 3 * (5 * pages - 4 + 1))) || fail "the crawl is not whole"

# ---- after the end, killed while documents are considered again; none is fetched twice ----

: >"$web_log"
quiet "$work/after" http://one.example/
[[ -z $(grep -E '(two|three).example' "$web_log") ]] || fail "the crawl of one host left it"
cut -f 2-4 "$web_log" | grep -v robots.txt | LC_ALL=C sort -u >"$work/first"
for n in 1 2; do
    crawl "$work/after" http://two.example/ >"$work/out" 2>&1 &
    command=$!
    until grep -qs 'event=scope_sweep' "$work"/after/log/extract.1.log; do
        kill -0 $command 2>/dev/null || break
        sleep 0.01
    done
    sleep 0.0$((RANDOM % 10))
    kill -KILL $command 2>/dev/null || true
    pkill -KILL -f -- "--dir $work/after" || true
    wait $command 2>/dev/null || true
    rm -f "$work"/after/log/extract.1.log
done
quiet "$work/after" http://three.example/
alike reference after "seed $seed: a host after the other"
# What was under way at a kill may be; what the first crawl had ended may not.
twice=$(cut -f 2-4 "$web_log" | LC_ALL=C sort | uniq -d | LC_ALL=C comm -12 - "$work/first")
[[ -z $twice ]] || fail "fetched again: $twice"

# ---- the depth: what was cut is found again, and cut where one crawl would have cut ----

quiet "$work/shallow" --set scope.depth=4 $all
dump_of shallow
quiet "$work/deeper" --set scope.depth=1 $all
echo "scope.depth = 4" >>"$work/deeper/scope.conf" # as an editor would
quiet "$work/deeper" --set scope.depth=1
alike shallow deeper "a depth that grew"

# ---- at random moments; all at the same moment ----

together() { # directory, longest pause in ms
    local host command commands=()
    for host in "${names[@]}"; do
        crawl "$1" "http://$host/" >"$work/out.$host" 2>&1 &
        commands+=($!)
        sleep "$(awk -v n=$((RANDOM % ($2 + 1))) 'BEGIN { printf "%.3f", n / 1000 }')"
    done
    for command in "${commands[@]}"; do
        wait "$command" || fail "seed $seed: a crawl beside others failed: $(cat "$work"/out.*)"
    done
}
together "$work/moment" 0
alike reference moment "three crawls at one moment"
for ((trial = 1; trial <= trials; trial++)); do
    together "$work/trial$trial" 3000
    alike reference "trial$trial" "seed $seed: trial $trial"
    rm -rf "$work/trial$trial"
done
