#!/usr/bin/env bash
# Datasets had from SPARQL endpoints: ours, as it is and behind a server that misbehaves in the ways that
# real ones do. What comes is, byte for byte, what crawling one by one brings; the rules of robots.txt
# and of claims hold; a harvest that is killed goes on where it stood.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
hosts=$work/hosts
count=30
triples() { # host, i
    printf '<http://%s/id/%d> <http://vocab.example/name> "thing %d" .
<http://%s/id/%d> <http://vocab.example/next> <http://%s/id/%d> .
<http://%s/id/%d> <http://vocab.example/part> _:p%d .
_:p%d <http://vocab.example/of> _:w%d .
_:w%d <http://vocab.example/weight> "%d" .\n' \
        "$1" "$2" "$2" "$1" "$2" "$1" $(($2 % count + 1)) "$1" "$2" "$2" "$2" "$2" "$2" "$2"
    if [[ $1 == deep.* ]]; then # blank nodes four links away
        printf '_:w%d <http://vocab.example/in> _:px%d .\n_:px%d <http://vocab.example/in> _:py%d .\n_:py%d <http://vocab.example/id> "%d" .\n' \
            "$2" "$2" "$2" "$2" "$2" "$2"
    fi
}
site() { # host, how its endpoint behaves, its place; robots
    mkdir -p "$hosts/$1/id"
    for i in $(seq $count); do triples "$1" "$i" >"$hosts/$1/id/$i"; done
    printf 'User-agent: *\nDisallow: /private/\nSitemap: http://%s/sitemap.xml\n' "$1" >"$hosts/$1/robots.txt"
    printf '<html><title>%s</title><a href="/id/1">one</a></html>' "$1" >"$hosts/$1/index.html"
    printf '<urlset xmlns:sc="http://sw.deri.org/2007/07/sitemapextension"><sc:dataset>
<sc:linkedDataPrefix sc:slicing="cbd">http://%s/id/</sc:linkedDataPrefix><sc:sampleURI>http://%s/id/7</sc:sampleURI>
<sc:sparqlEndpoint>%s</sc:sparqlEndpoint></sc:dataset></urlset>' "$1" "$1" "${3:-http://$1/sparql}" \
        >"$hosts/$1/sitemap.xml"
    printf 'endpoint /sparql to=127.0.0.1:%s %s\nendpoint /private/sparql to=127.0.0.1:%s\n' "$sparql_port" "$2" "$sparql_port" \
        >"$hosts/$1/.faults"
}

# ---- our endpoint, which holds the documents of all hosts ----

taken=(plain capped late failing broken posting unordered uncounted patient lying deep moved)
crawled=(foreign forbidden refusing paper)
for h in "${taken[@]}" "${crawled[@]}"; do for i in $(seq $count); do
    triples "$h.example" "$i" | sed -E "s/_:([pw])/_:\1$h/g; s# \\.\$# <http://$h.example/id/$i> .#"
done; done >"$work/all.nq"
quadrille init --dir "$work/store" >/dev/null
quadrille import --dir "$work/store" "$work/all.nq" >/dev/null 2>&1 || fail "import"
quadrille up --dir "$work/store" --background --only index,metastore,web --set web.listen=127.0.0.1:0 >/dev/null ||
    fail "the endpoint does not start"
sparql_port=
for _ in $(seq "$patience"); do
    sparql_port=$(sed -nE 's/.*event=listening .*port=([0-9]+).*/\1/p' "$work"/store/log/web*.log 2>/dev/null |
        tail -n 1) || true
    [[ -n $sparql_port ]] && curl -sf "http://127.0.0.1:$sparql_port/sparql?query=ASK%7B%7D" >/dev/null && break
    sleep 0.1
done
[[ -n $sparql_port ]] || fail "the endpoint does not say where it listens"

site plain.example ''
site capped.example cap=60
site late.example late=20
site failing.example fail=3
site broken.example truncate=3
site posting.example post=yes
site unordered.example unordered=yes
site uncounted.example nocount=yes
site patient.example retry=1
site lying.example lie=7
site deep.example ''
site moved.example ''
printf 'endpoint /sparql move=/now/sparql\nendpoint /now/sparql to=127.0.0.1:%s\n' "$sparql_port" >"$hosts/moved.example/.faults"
site paper.example '' http://paper.example/
site foreign.example '' http://plain.example/sparql
site forbidden.example '' http://forbidden.example/private/sparql
site refusing.example unordered=yes
printf 'status /sparql 403 1000\n' >"$hosts/refusing.example/.faults"
start_faulty_web "$hosts"
rules=(--set scope.depth=100 --set traps.depth=100 --set fetch.retry=100ms --set fetch.backoff=100ms --set transform.wait=5)
for h in "$hosts"/*/; do
    h=$(basename "$h")
    echo "http://$h/"
    for i in $(seq $count); do echo "http://$h/id/$i"; done
done >"$work/seeds"
crawl "$work/single" "${rules[@]}" --set datasets.plan=no >"$work/out" || fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/single" "$work/single.nq"
: >"$web_log"
seeds_of "$hosts" >"$work/seeds"
crawl "$work/planned" "${rules[@]}" --set datasets.prefer=endpoint --set datasets.page=10 >"$work/out" ||
    fail "crawl: $(cat "$work/out")"
dump_and_verify "$work/planned" "$work/planned.nq"
quadrille datasets --dir "$work/planned" >"$work/told"
same "$work/single.nq" "$work/planned.nq" "one by one and from endpoints: $(cat "$work/told")"
asked() { awk -F'\t' -v h="$1.example" -v p="$2" '$2 == h && index($4, p) == 1' "$web_log" | wc -l; }
for h in "${taken[@]}"; do
    n=$(asked "$h" /id/)
    [[ $n -le 3 ]] || fail "$h: $n documents were fetched although its endpoint has them: $(cat "$work/told")"
    echo "$h: $(asked "$h" /sparql) queries"
done
for h in "${crawled[@]}"; do
    [[ $(asked "$h" /id/) -ge $count ]] || fail "$h: not crawled: $(cat "$work/told")"
done
[[ $(asked forbidden /private/) -eq 0 ]] || fail "robots.txt was not obeyed"
quadrille meta --dir "$work/planned" http://plain.example/id/9 >"$work/meta"
grep -q 'wasDerivedFrom <http://plain.example/sparql>' "$work/meta" || fail "no provenance: $(cat "$work/meta")"
grep -q "refused: endpoint http://plain.example/sparql: it is somebody else's" "$work/told" || fail "$(cat "$work/told")"

# What a plan says before: the endpoint is asked for its count.
mapfile -t ours < <(web_settings)
plan() { quadrille datasets plan "${ours[@]::6}" "$@" >"$work/plan" || fail "plan: $(cat "$work/plan")"; }
plan plain.example
grep -q '^  \* endpoint  *2 requests, about 13.5 kB' "$work/plan" || fail "no plan by endpoint: $(cat "$work/plan")"
plan paper.example
grep -q 'endpoint  *- .*a page for people answered' "$work/plan" || fail "not told why: $(cat "$work/plan")"
plan --prefer pages plain.example
grep -q '^  linked data: preferred' "$work/plan" || fail "not as preferred: $(cat "$work/plan")"

# Killed again and again.
: >"$web_log"
echo http://plain.example/ >"$work/seeds"
crawl "$work/killed" "${rules[@]}" --set datasets.prefer=endpoint --set datasets.page=2 \
    --set scope.hosts=plain.example >"$work/out" 2>&1 &
running=$!
for part in 3 6 9; do
    for _ in $(seq "$patience"); do
        [[ $(asked plain /sparql) -ge $part ]] && break
        sleep 0.02
    done
    pid=$(sed -nE 's/.*event=started name=fetch.1 pid=([0-9]+).*/\1/p' "$work/killed/log/supervisor.log" | tail -n 1)
    kill -KILL "$pid" 2>/dev/null || true
    sleep 0.2
done
wait $running || fail "the killed crawl: $(cat "$work/out")"
quadrille dump --dir "$work/killed" >"$work/is"
grep -E ' <http://plain.example/[^>]*> \.$' "$work/single.nq" >"$work/should"
grep -c event=died "$work/killed/log/supervisor.log" >"$work/deaths" || fail "nothing was killed"
same "$work/should" "$work/is" "a killed harvest"
n=$(asked plain /sparql)
[[ $n -le $((count / 2 + 2 + 6)) ]] || fail "$n queries for a killed harvest"
quadrille down --dir "$work/store" >/dev/null
echo "endpoint: ${#taken[@]} kinds of endpoints, killed and gone on with $n queries"
