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
: >"$web_log"
crawl "$work/crawl"
awk -F'\t' '$4 ~ /^\/(rich|poor)\// { split($4, part, "/"); print part[2] }' "$web_log" >"$work/order"
[[ $(wc -l <"$work/order") -eq $((2 * (all - first))) ]] || fail "not all were fetched: $(cat "$work/order")"
[[ $(uniq "$work/order" | xargs) == "rich poor" ]] || fail "the order is $(uniq -c "$work/order" | xargs)"
