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
# Sitemaps, of which one and one of an index are elsewhere, and one that nobody names.
for host in listed.example maps.example guess.example void.example; do
    mkdir -p "$work/hosts/$host/in" "$work/hosts/$host/out"
    for folder in in out; do
        for n in 1 2 3; do page "$host" "$folder/$n"; done
    done
done
urls() { printf '%s\n' "$@" >"$file"; }
file=$work/hosts/listed.example/robots.txt
urls 'User-agent: *' 'Sitemap: http://listed.example/in/index.xml' 'Sitemap: http://listed.example/out/all.txt' \
    'Sitemap: http://maps.example/in/all.txt'
echo "<sitemapindex><sitemap><loc>http://listed.example/in/some.xml</loc></sitemap>
    <sitemap><loc>http://listed.example/out/more.xml</loc></sitemap></sitemapindex>" >"$work/hosts/listed.example/in/index.xml"
echo "<urlset><url><loc>http://listed.example/in/1.html</loc></url>
    <url><loc>http://listed.example/out/1.html</loc></url></urlset>" >"$work/hosts/listed.example/in/some.xml"
echo "<urlset><url><loc>http://listed.example/in/2.html</loc></url></urlset>" >"$work/hosts/listed.example/out/more.xml"
file=$work/hosts/listed.example/out/all.txt
urls http://listed.example/out/2.html
file=$work/hosts/maps.example/in/all.txt # of another host, by whose robots.txt it is named
urls http://listed.example/out/3.html
echo "redirect /.well-known/void 302 /void.ttl" >"$work/hosts/void.example/.serve"
echo '<urn:example:dataset> <http://purl.org/dc/terms/title> "a description" .' >"$work/hosts/void.example/void.ttl"
echo "<urlset><url><loc>http://guess.example/out/1.html</loc></url></urlset>" >"$work/hosts/guess.example/sitemap.xml"
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

# ---- what sitemaps list, and sitemaps themselves, by prefix and by regular expression ----

rules() { "$bin/quadrille" scope --dir "$work/$1" set "${@:2}"; }
in_seeds=(http://listed.example/in/3.html http://guess.example/in/3.html http://void.example/in/3.html)
narrow=scope.prefixes=http://listed.example/in/,http://guess.example/in/,http://void.example/in/
asked=(--set datasets.well_known=yes)
wide='http://(listed|maps|guess|void)\.example/'
for dir in whole sown; do "$bin/quadrille" init --dir "$work/$dir" >/dev/null; done
rules whole "scope.include=$wide"
quiet "$work/whole" "${asked[@]}" "${in_seeds[@]}"
dump_of whole
(($(grep -c '"Page"' "$work/whole.nq") == 9)) || fail "sitemaps were not followed: $(cat "$work/whole.nq")"
grep -q '"a description"' "$work/whole.nq" || fail "the description was not asked for"
: >"$web_log"
rules sown "$narrow"
quiet "$work/sown" "${asked[@]}" "${in_seeds[@]}"
[[ -z $(grep -E '/out/|maps.example|guess.example.*sitemap' "$web_log") ]] || fail "it left its scope"
rules sown scope.prefixes=http://listed.example/,http://guess.example/in/,http://void.example/in/
quiet "$work/sown" "${asked[@]}" http://listed.example/in/3.html
grep -q '/out/2.html' "$web_log" || fail "a sitemap that came into scope was not read"
! grep -q 'maps.example' "$web_log" || fail "it left its scope"
rules sown "scope.include=$wide"
quiet "$work/sown" "${asked[@]}" http://listed.example/in/3.html
alike whole sown "what sitemaps list, and sitemaps"
twice=$(cut -f 2-4 "$web_log" | grep -v robots.txt | LC_ALL=C sort | uniq -d)
[[ -z $twice ]] || fail "asked for again: $twice"

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
