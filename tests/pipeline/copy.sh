#!/usr/bin/env bash
# The whole directory is copied in the middle of a crawl that was brought down; the crawl goes on in
# the copy and ends with the same dump as one in peace. So does one whose queue is older than the rest.
. "$(dirname "$0")/lib.sh"
start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
crawl "$work/peace" >/dev/null || fail "crawl in peace"
dump_and_verify "$work/peace" "$work/peace.nq"

mapfile -t settings < <(delay=0.3 web_settings) # so that it is far from its end
dir=$work/whole
"$bin/quadrille" init --dir "$dir" >/dev/null
"$bin/quadrille" scope --dir "$dir" set 'scope.hosts=*'
"$bin/quadrille" up --dir "$dir" --background "${settings[@]}"
"$bin/quadrille" add --dir "$dir" --seeds "$work/seeds" >/dev/null
documents() {
    "$bin/quadrille" status --dir "$dir" --json | sed -nE 's/.*"documents":([0-9]+).*/\1/p'
}
reach() { # so many documents
    for _ in $(seq "$patience"); do
        (($(documents) >= $1)) && return
        sleep 0.5
    done
    fail "the crawl does not reach $1 documents"
}
reach 5
# All of it is saved while the crawl runs: its processes rest meanwhile, and go on.
supervisor=$(cat "$dir/run/supervisor.lock")
began() { # processes of the queue so far
    grep -c 'event=started name=queue ' "$dir/log/supervisor.log" || true
}
queues=$(began)
"$bin/quadrille" backup --whole --dir "$dir" "$work/first" >"$work/out" || fail "backup: $(cat "$work/out")"
reach 10
[[ $(cat "$dir/run/supervisor.lock") == "$supervisor" && $(began) -gt queues ]] ||
    fail "the crawl did not rest, or did not go on: $(tail -n 20 "$dir/log/supervisor.log")"
"$bin/quadrille" backup --whole --since "$work/first" --dir "$dir" "$work/second" >"$work/out" ||
    fail "backup: $(cat "$work/out")"
"$bin/quadrille" down --dir "$dir"
# Who has it at rest keeps commands from starting processes, too, until he is gone, however he ends.
exec 8>"$dir/run/rest"
flock 8
"$bin/quadrille" status --dir "$dir" --json >"$work/stats" 2>&1 8>&- &
asking=$!
stands_by() { [[ -n $(pgrep -P "$(pgrep -P $asking | head -n 1)" 2>/dev/null) ]]; }
for _ in $(seq "$patience"); do stands_by && break; sleep 0.02; done
for l in "$dir"/run/{queue,metastore,index.1}.lock; do
    for _ in $(seq 100); do # it looks for a moment
        flock -n "$l" true && continue 2
        sleep 0.1
    done
    fail "a command started processes in a directory at rest"
done
exec 8>&-
wait $asking || fail "a command that came while the directory was at rest: $(cat "$work/stats")"
cp -a "$dir" "$work/copy"
# What is damaged is not saved as if it were whole, and what needs it says what can be done.
for file in queue/seen.db metastore/records.db index-0/quads-cspo.db; do
    rm -rf "$work/damaged" "$work/never.partial"
    cp -a "$dir" "$work/damaged"
    printf 'scribbled over' | dd of="$work/damaged/$file" bs=1 seek=4196 conv=notrunc status=none
    code=0
    "$bin/quadrille" backup --whole --dir "$work/damaged" "$work/never" >"$work/out" 2>&1 || code=$?
    [[ $code -eq 111 ]] && grep -q "$file: page [0-9]* is damaged.*docs/OPERATION.md" "$work/out" && [[ ! -e $work/never ]] ||
        fail "a backup of a damaged $file: exit $code, $(cat "$work/out")"
done
prints 'quads-cspo.db: page [0-9]* is damaged.*docs/OPERATION.md' bash -c "'$bin/quadrille' dump --dir '$work/damaged' 2>&1 >/dev/null; true" ||
    fail "a dump of what is damaged does not say what can be done"
rm -rf "$work/damaged"
"$bin/quadrille" up --dir "$dir" --background "${settings[@]}"
reach 40
"$bin/quadrille" down --dir "$dir"
cp -a "$dir" "$work/mixed"
rm -r "$work/mixed/queue"
cp -a "$work/copy/queue" "$work/mixed/queue" # older than the rest
graphs() { "$bin/quadrille" dump --dir "$1" | sed 's/.* <//' | sort -u | wc -l; }
first=$(graphs "$work/copy") second=$(graphs "$work/mixed")
all=$(sed 's/.* <//' "$work/peace.nq" | sort -u | wc -l)
((first >= 10 && second > first && all > second)) ||
    fail "of $all documents the copies have $first and $second: nothing is left to be done in them"
for n in first second; do
    "$bin/quadrille" restore --dir "$work/of-$n" "$work/$n" >"$work/out" || fail "restore: $(cat "$work/out")"
done
for f in "$work"/first/warc/*; do # what has not changed is one file
    o=$work/second/warc/${f##*/}
    if cmp -s "$f" "$o"; then [[ $f -ef $o ]] || fail "$f was copied again"; fi
done
printf x >>"$work/first/queue/jobs.db"
"$bin/quadrille" restore --dir "$work/never" "$work/first" 2>/dev/null && fail "a damaged backup was restored"
for copy in copy mixed of-first of-second; do
    crawl "$work/$copy" >"$work/out" || fail "crawl in $copy: $(cat "$work/out")"
    dump_and_verify "$work/$copy" "$work/$copy.nq"
    same "$work/peace.nq" "$work/$copy.nq" "$copy"
done
echo "copy: a copied crawl goes on, as do backups of one at work; an older queue with younger effects, too"
