#!/usr/bin/env bash
# What a sitemap says of changes is believed as far as it proved true: where lastmod always said
# truly that nothing had changed most visits are left out; a host that lies is visited like one
# without a sitemap; and what a sitemap says has changed is visited at once.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
count=10
document() { # host, number, value
    printf '<http://%s/%d> <http://vocab.example/value> "%s" .\n' "$1" "$2" "$3" >"$work/new"
    mv "$work/new" "$work/hosts/$1/$2.nt"
}
sitemap() { # host, lastmod of the first, lastmod of the others
    local i
    {
        echo '<urlset>'
        for ((i = 0; i < count; i++)); do
            echo "<url><loc>http://$1/$i.nt</loc><lastmod>$([[ $i == 0 ]] && echo "$2" || echo "$3")</lastmod></url>"
        done
        echo '</urlset>'
    } >"$work/new"
    mv "$work/new" "$work/hosts/$1/map.xml"
}
for host in honest.example lying.example silent.example; do
    mkdir -p "$work/hosts/$host"
    [[ $host == silent.example ]] || echo "Sitemap: http://$host/map.xml" >"$work/hosts/$host/robots.txt"
    [[ $host == silent.example ]] || sitemap $host 2020-01-02 2020-01-02
    for ((i = 0; i < count; i++)); do
        document $host $i 0
        echo "http://$host/$i.nt"
    done
done >"$work/seeds"
start_web "$work/hosts"
mapfile -t settings < <(web_settings)
quadrille crawl --continuous --dir "$work/crawl" --seeds "$work/seeds" --quiet "${settings[@]}" \
    --set recrawl.least=200ms --set recrawl.most=500ms --set recrawl.first=200ms --set recrawl.worth=50ms \
    --set recrawl.budget=1e6 >"$work/out" 2>&1 &
crawling=$!
of_host() { # host, what: nothing as long as nothing is known of the host
    { quadrille meta --dir "$work/crawl" --host "http://$1/" 2>/dev/null || true; } |
        sed -nE "s/.*meta:$2 ([0-9]+) .*/\1/p"
}
visits() { # host: of its documents
    awk -F'\t' -v host="$1" '$2 == host && $4 ~ /nt$/' "$web_log" | wc -l
}

# The liar's documents change all the time, and their lastmod does not.
version=0
for _ in $(seq "$patience"); do
    version=$((version + 1))
    for ((i = 0; i < count; i++)); do document lying.example $i $version; done
    sleep 0.2
    held=$(of_host honest.example unchangedHeld)
    ((${held:-0} >= 30)) && break
done
((${held:-0} >= 30)) || fail "lastmod held ${held:-0} times: $(quadrille meta --dir "$work/crawl" --host http://honest.example/)"
honest=$(visits honest.example) lying=$(visits lying.example) silent=$(visits silent.example)
for _ in $(seq "$patience"); do # until there is enough to compare, at whatever pace
    version=$((version + 1))
    for ((i = 0; i < count; i++)); do document lying.example $i $version; done
    sleep 0.2
    (($(visits silent.example) - silent >= 60)) && break
done
honest=$(($(visits honest.example) - honest)) lying=$(($(visits lying.example) - lying))
silent=$(($(visits silent.example) - silent))
echo "visits: $honest where lastmod proved true, $silent without a sitemap, $lying where it lied"
((honest > 0 && 2 * honest < silent)) || fail 'visits were not put off'
((2 * lying > silent)) || fail 'a sitemap that lies had visits put off'
[[ -z $(of_host honest.example unchangedBroken) ]] || fail 'a true lastmod was found broken'
broken=$(of_host lying.example unchangedBroken)
((${broken:-0} > 0)) || fail 'a false lastmod was not found broken'

# A later lastmod overcomes that.
document honest.example 0 new
sitemap honest.example "$(date -u +%Y-%m-%dT%H:%M:%SZ)" 2020-01-02
is_new() {
    quadrille dump --dir "$work/crawl" --output "$work/dump" && grep -q '<http://honest.example/0> .*"new"' "$work/dump"
}
for _ in $(seq "$patience"); do
    is_new && break
    sleep 0.5
done
is_new || fail 'what the sitemap says has changed was not visited'
kill -INT "$crawling"
wait "$crawling" || fail "the crawl: $(cat "$work/out")"
