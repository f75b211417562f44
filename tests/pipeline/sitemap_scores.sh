#!/usr/bin/env bash
# sitemaps.score: the same site, the same sitemap that says that all has changed, and ranks that a report
# found; three settings, three orders of requests.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
hosts=$work/hosts
site=$hosts/order.example
mkdir -p "$site"
# Priorities: a far before b, c, d. Links, from hubs that no sitemap lists: most to d, then c, b; none to a. Both
# together: what is linked most still goes first, but a before b.
linked=(d d dc dcb) names=(a b c d) priorities=(1.0 0.2 0.15 0.1)
for name in "${names[@]}"; do printf '<!DOCTYPE html><title>%s</title>' "$name" >"$site/$name.html"; done
{
    echo '<!DOCTYPE html><title>Root</title>'
    for i in "${!linked[@]}"; do echo "<a href=hub$i.html>$i</a>"; done
} >"$site/index.html"
for i in "${!linked[@]}"; do
    printf '<!DOCTYPE html><title>Hub</title>' >"$site/hub$i.html"
    for name in $(fold -w 1 <<<"${linked[$i]}"); do printf '<a href=%s.html>%s</a>' "$name" "$name"; done >>"$site/hub$i.html"
done
sitemap() { # lastmod of all
    local i
    echo '<urlset>'
    for i in 1 3 0 2; do
        echo "<url><loc>http://order.example/${names[$i]}.html</loc><lastmod>$1</lastmod><priority>${priorities[$i]}</priority></url>"
    done
    echo '</urlset>'
}
sitemap 2020-01-01 >"$site/map.xml"
touch -d '1 hour ago' "$site/map.xml" # so that the next one has another time, whatever the clock's
echo 'Sitemap: /map.xml' >"$site/robots.txt"
start_web "$hosts"
echo http://order.example/ >"$work/seeds"
crawl "$work/crawl" >"$work/out" || fail "crawl: $(cat "$work/out")"
quadrille report sitemaps --dir "$work/crawl" --keep order.example >"$work/out" || fail "report: $(cat "$work/out")"
sitemap "$(date -u -d tomorrow +%F)" >"$site/map.xml"

declare -A orders
# A rest of the host, so that its pages are handed out one by one.
mapfile -t settings < <(delay=0.01 web_settings)
fetched() { awk -F'\t' '$4 ~ /^\/[a-d]\.html/ { printf "%s", substr($4, 2, 1) }' "$web_log"; }
for score in priority link both; do
    cp -r "$work/crawl" "$work/$score"
    : >"$web_log"
    quadrille add --dir "$work/$score" --again http://order.example/map.xml >/dev/null || fail "add"
    quadrille crawl --continuous --dir "$work/$score" --quiet "${settings[@]}" --set sitemaps.score=$score >"$work/out" 2>&1 &
    for _ in $(seq "$patience"); do
        orders[$score]=$(fetched)
        ((${#orders[$score]} >= ${#names[@]})) && break
        sleep 0.05
    done
    quadrille down --dir "$work/$score" >/dev/null
    wait $! || fail "crawl: $(cat "$work/out")"
done
told="by priority ${orders[priority]}, by links ${orders[link]}, by both ${orders[both]}"
[[ ${orders[priority]} == abcd ]] || fail "$told"
[[ ${orders[link]} == dcba ]] || fail "$told"
[[ ${orders[both]} == dcab ]] || fail "$told"
echo "$told"
