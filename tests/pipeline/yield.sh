#!/usr/bin/env bash
# What documents brought decides what is fetched first: a crawl learns it, the next one goes by it.
. "$(dirname "$0")/lib.sh"
hosts=$work/hosts
mkdir -p "$hosts/site.example/rich" "$hosts/site.example/poor"
first=12 all=24
: >"$work/first"
: >"$work/second"
for i in $(seq $all); do
    {
        printf '<!DOCTYPE html><title>%s</title><script type="application/ld+json">{"@id": "#it", "@context": {"@vocab": "http://schema.org/"}' "$i"
        for j in $(seq 60); do printf ', "p%s": "value %s of %s"' "$j" "$j" "$i"; done
        echo '}</script>'
    } >"$hosts/site.example/rich/$i.html"
    echo "words $i" >"$hosts/site.example/poor/$i.html"
    ((i <= first)) && list=$work/first || list=$work/second
    echo "http://site.example/poor/$i.html" >>"$list"
done
sed 's/poor/rich/' "$work/first" >"$work/seeds"
cat "$work/first" >>"$work/seeds"
start_web "$hosts"
crawl "$work/crawl"

# None of these is known yet, and the poor ones are put first, in one message.
cat "$work/second" >"$work/seeds"
sed 's/poor/rich/' "$work/second" >>"$work/seeds"
"$bin/quadrille" add --dir "$work/crawl" --seeds "$work/seeds" >"$work/add.out" || fail "add: $(cat "$work/add.out")"

# Why, as the queue tells it.
rank() { # rich, poor
    "$bin/quadrille" explain --dir "$work/crawl" "http://site.example/$1/$all.html" >"$work/told" || fail "explain"
    sed -nE 's/^  rank +([0-9]+), among those that links lead to.*/\1/p' "$work/told"
}
rich=$(rank rich) poor=$(rank poor)
grep -qE "^  before it +$((2 * (all - first) - 1)) jobs of the host$" "$work/told" || fail "not the last: $(cat "$work/told")"
[[ $rich -lt 176 && $poor -gt 176 ]] || fail "ranks: $rich of what is rich, $poor of the poor: $(cat "$work/told")"
grep -qE "data yield .* of its pattern \($first fetches\).*: \+[1-9]" "$work/told" || fail "no yield: $(cat "$work/told")"
grep -qE "^  speed +1 of 4, the fastest$" "$work/told" || fail "no speed: $(cat "$work/told")"
grep -qE "^  domain's budget +[0-9.]+ fetches of late, of 100000 " "$work/told" || fail "no budget: $(cat "$work/told")"
: >"$web_log"
crawl "$work/crawl"
awk -F'\t' '$4 ~ /^\/(rich|poor)\// { split($4, part, "/"); print part[2] }' "$web_log" >"$work/order"
[[ $(wc -l <"$work/order") -eq $((2 * (all - first))) ]] || fail "not all were fetched: $(cat "$work/order")"
[[ $(uniq "$work/order" | xargs) == "rich poor" ]] || fail "the order is $(uniq -c "$work/order" | xargs)"
