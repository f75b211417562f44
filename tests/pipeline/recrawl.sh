#!/usr/bin/env bash
# A web that changes is followed: changed documents are replaced, those that stay cost little, those
# that are gone go after a second look, and a crawl that is not continuous ends in spite of schedules.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/data.example
mkdir -p "$site"
document() { # name, value
    printf '<http://data.example/%s> <http://vocab.example/value> "%s" .\n' "$1" "$2" >"$work/new"
    mv "$work/new" "$site/$1.nt"
}
names=(calm1 calm2 calm3 lively1 lively2 going)
for name in "${names[@]}"; do
    document "$name" 0
    echo "http://data.example/$name.nt"
done >"$work/seeds"
start_web "$work/hosts"
recrawling=(--set recrawl.least=300ms --set recrawl.most=8s --set recrawl.first=2s
    --set recrawl.worth=200ms --set fetch.robots=no)
now() { date +%s%N; }
says() { # name: what the index says
    quadrille dump --dir "$work/crawl" | sed -nE "s|.*/$1> .*value> \"([^\"]*)\".*|\1|p"
}
gets() { awk -F'\t' -v uri="/$1.nt" '$4 == uri' "$web_log"; }

mapfile -t settings < <(web_settings)
# Somebody uses the index already: a process of his does the crawl's jobs, by the crawl's settings.
quadrille init --dir "$work/crawl" >"$work/out"
quadrille changes --follow --dir "$work/crawl" >"$work/changes" &
following=$!
for _ in $(seq "$patience"); do
    grep -q event=ready "$work"/crawl/log/index.*.log 2>/dev/null && break
    sleep 0.1
done
quadrille crawl --continuous --dir "$work/crawl" --seeds "$work/seeds" --quiet "${settings[@]}" \
    "${recrawling[@]}" >"$work/out" 2>&1 &
crawling=$!
for _ in $(seq "$patience"); do
    [[ $(quadrille dump --dir "$work/crawl" 2>/dev/null | wc -l) == "${#names[@]}" ]] && break
    sleep 0.5
done

# Two documents change all the time; their copies follow.
shows() { # value: both documents, soon
    for _ in $(seq "$patience"); do
        [[ $(says lively1) == "$1" && $(says lively2) == "$1" ]] && return
        sleep 0.5
    done
    fail "change $1 is not in the index: $(says lively1), $(says lively2)"
}
for round in $(seq 6); do
    value=$(printf "%0$((round + 1))d" "$round") # of another length: the server's validators know seconds
    document lively1 "$value"
    document lively2 "$value"
    shows "$value"
done

rm "$site/going.nt"
for _ in $(seq "$patience"); do
    [[ -z $(says going) ]] && break
    sleep 0.5
done
[[ -z $(says going) ]] || fail 'what is gone is in the index'
n=$(gets going | awk -F'\t' '$5 == 404' | wc -l)
((n >= 2)) || fail "removed after $n times 404"
quadrille meta --dir "$work/crawl" http://data.example/going.nt >"$work/meta"
grep -q 'creativeWorkStatus "gone"' "$work/meta" || fail "$(cat "$work/meta")"
quadrille meta --dir "$work/crawl" http://data.example/lively1.nt >"$work/meta"
grep -q 'meta:nextVisit' "$work/meta" || fail "$(cat "$work/meta")"
kill -INT "$crawling"
wait "$crawling" || fail "the crawl: $(cat "$work/out")"

# A search dates a document by its last change, not by the last visit that found it as it was.
quadrille serve --dir "$work/crawl" --set web.listen=127.0.0.1:0 >"$work/served" 2>&1 &
serving=$!
for _ in $(seq "$patience"); do
    port=$(sed -nE 's,^http://127\.0\.0\.1:([0-9]+)/ serves.*,\1,p' "$work/served")
    [[ -n $port ]] && break
    sleep 0.1
done
[[ -n ${port:-} ]] || fail "quadrille serve does not start: $(cat "$work/served")"
dates=$(curl -fsS "http://127.0.0.1:$port/lookup?format=json&documents=1&uri=http://data.example/calm1" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["entries"][0]["updated"])')
changed=$(quadrille meta --dir "$work/crawl" http://data.example/calm1.nt | sed -nE 's/.*meta:changeSeen "([^"]*)".*/\1/p')
fetched=$(quadrille meta --dir "$work/crawl" http://data.example/calm1.nt | sed -nE 's/.*prov:generatedAtTime "([^"]*)".*/\1/p')
[[ $dates == "$changed" && $changed < $fetched ]] ||
    fail "dated $dates, changed $changed, fetched last $fetched"
kill -INT "$serving"
wait "$serving" || true
kill -INT "$following"
wait "$following" || true
[[ $(grep -c lively "$work/changes") -ge 14 ]] || fail "changes: $(cat "$work/changes")"

calm=$(gets calm1 | wc -l) lively=$(gets lively1 | wc -l)
unchanged=$(gets calm1 | awk -F'\t' '$5 == 304' | wc -l)
echo "calm: $calm requests, of which $unchanged 304; lively: $lively requests"
((calm > 1 && unchanged == calm - 1)) || fail 'an unchanged document was sent again'
((lively > calm)) || fail 'what changes is not visited more often'
[[ $(says calm1) == 0 ]] || fail 'an unchanged document is lost'

# Jobs in the future do not keep a crawl, nor --again from visiting now.
again=(calm2 lively1 lively2)
for name in "${again[@]}"; do
    document "$name" again
done
quadrille add --dir "$work/crawl" --again $(printf 'http://data.example/%s.nt ' "${again[@]}") ||
    fail 'add --again'
asked=$(wc -l <"$web_log")
timeout 600 "$bin/quadrille" crawl --dir "$work/crawl" --seeds "$work/seeds" --quiet "${settings[@]}" \
    "${recrawling[@]}" --set recrawl.enabled=yes --set recrawl.least=1h --set recrawl.most=1h \
    >"$work/out" || fail "the crawl does not end: $(cat "$work/out")"
echo "requests of a crawl that ends: $(($(wc -l <"$web_log") - asked))"
for name in "${again[@]}"; do
    [[ $(says "$name") == again ]] || fail "--again did not fetch $name: $(says "$name")"
done
quadrille verify --dir "$work/crawl" >"$work/out" || fail "$(cat "$work/out")"

# The archive within bounds: every start of a process began a file; what is current moves on.
quadrille dump --dir "$work/crawl" >"$work/before"
retain=(quadrille retain --dir "$work/crawl" --set warc.keep_age=1ms --set warc.keep_least=0)
sleep 0.1
count_files() { find "$work/crawl/warc" -name '*.warc.gz' | wc -l; }
before=$(count_files)
"${retain[@]}" --dry-run >"$work/out" || fail "retain: $(cat "$work/out")"
[[ $(count_files) == "$before" ]] || fail 'a dry run removed files'
for pause in 0.03 0.1 0.3; do
    "${retain[@]}" >/dev/null 2>&1 &
    sleep "$pause"
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
done 2>/dev/null
"${retain[@]}" >"$work/out" 2>&1 || fail "retain: $(cat "$work/out")"
"${retain[@]}" >"$work/out" 2>&1 || fail "retain: $(cat "$work/out")"
after=$(count_files)
echo "archive: $before files, then $after; $(cat "$work/out")"
((after < before)) || fail 'no file was removed'
for name in calm1 calm2 lively1; do
    quadrille transform --dir "$work/crawl" --uri "http://data.example/$name.nt" >"$work/out" ||
        fail "the archived response of $name is lost"
    grep -q "/$name> " "$work/out" || fail "transform: $(cat "$work/out")"
done
quadrille dump --dir "$work/crawl" >"$work/dump"
same "$work/before" "$work/dump" 'retain'
