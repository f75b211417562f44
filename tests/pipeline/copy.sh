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
    "$bin/quadrille" stats --dir "$dir" --json | sed -nE 's/.*"documents":([0-9]+).*/\1/p'
}
reach() { # so many documents
    for _ in $(seq "$patience"); do
        (($(documents) >= $1)) && return
        sleep 0.1
    done
    fail "the crawl does not reach $1 documents"
}
reach 10
"$bin/quadrille" down --dir "$dir"
cp -a "$dir" "$work/copy"
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
for copy in copy mixed; do
    crawl "$work/$copy" >"$work/out" || fail "crawl in $copy: $(cat "$work/out")"
    dump_and_verify "$work/$copy" "$work/$copy.nq"
    same "$work/peace.nq" "$work/$copy.nq" "$copy"
done
echo "copy: a copied crawl goes on; an older queue with younger effects, too"
