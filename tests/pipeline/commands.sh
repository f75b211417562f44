#!/usr/bin/env bash
# The command line: misuse is exit 100 with a message, failures of the system are 111; Ctrl-C
# stops and the same command resumes; --json is JSON, meta is Turtle; the scope can be changed
# during a crawl; a recrawl asks with conditions, and what is gone is emptied.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/one.example
pages=12
mkdir -p "$site" "$work/hosts/two.example"
for i in $(seq $pages); do
    echo "<!DOCTYPE html><title>Page $i</title><a href=$((i + 1)).html>next</a>" \
        "<a href=http://two.example/$i.html>aside</a>" >"$site/$i.html"
    echo "<!DOCTYPE html><title>Aside $i</title>" >"$work/hosts/two.example/$i.html"
done
echo '<!DOCTYPE html><title>First</title><a href=1.html>one</a>' >"$site/index.html"
echo 'http://one.example/' >"$work/seeds"
start_web "$work/hosts"

# ---- misuse ----

crawl "$work/peace" >"$work/out" || fail "crawl: $(cat "$work/out")"
dir=$work/peace
refused() { # exit code, what the message must say, command...
    local code=0
    timeout 600 "${@:3}" >"$work/out" 2>&1 </dev/null || code=$?
    [[ $code -eq $1 ]] || fail "${*:3}: exit $code instead of $1: $(cat "$work/out")"
    grep -qF -- "$2" "$work/out" || fail "${*:3}: says no '$2': $(cat "$work/out")"
}
# What commands ask is there already, so that none of the many has to start it.
quadrille up --dir "$dir" --background --only queue,metastore,index || fail "up"
refused 100 Usage quadrille
refused 100 'no command nonsense' quadrille nonsense
refused 100 'is it search?' quadrille serch
refused 100 'is it --format?' quadrille query --dir "$dir" --fromat json 'ASK {}'
refused 100 'is it web.listen?' quadrille status --dir "$dir" --set web.listne=1
refused 111 no-such-file quadrille import --dir "$work/never" "$work/no-such-file"
refused 100 'tells no RDF syntax' quadrille import --dir "$work/never" "$root/Makefile"
mkdir "$work/foreign"
echo theirs >"$work/foreign/file"
for name in down status verify compact queue scope datasets changes dump retain 'replay --transform=html' \
    'meta http://one.example/' 'report one.example' 'query ASK{}' 'update CLEAR' 'search page' \
    'explain http://one.example/' "backup $work/never" 'add http://one.example/' 'transforms list' \
    'datasets plan one.example' 'datasets validate http://one.example/s.xml' "detect $work/seeds" "transform $work/seeds" \
    "inspect $work/seeds" 'validate one.example' \
    "slice --source http://one.example/ --format turtle $work/seeds"; do
    read -ra words <<<"$name"
    refused 100 'no data directory' quadrille "${words[0]}" --dir "$work/foreign" "${words[@]:1}"
done
for program in "$bin"/quadrille-*[a-z]; do
    [[ $program == *example-web ]] || refused 100 'no data directory' "$program" --dir "$work/foreign"
done
refused 111 'Is a directory' quadrille crawl --dir "$work/never" --seeds "$work/foreign"
refused 100 'is a folder' quadrille import --dir "$dir" "$work/foreign"
refused 100 'no backup' quadrille restore --dir "$work/never" "$work/foreign"
refused 100 'is it web?' quadrille up --dir "$dir" --only index,wbe
# Without a standard output: what is printed must not go to a file that was opened in its place.
for words in "query --dir $dir ASK{}" "search --dir $dir page" "changes --dir $dir" "status --dir $dir" --help; do
    refused 111 'cannot write' bash -c "exec quadrille $words >&-"
    refused 111 'cannot write' bash -c "exec quadrille $words >/dev/full"
done
refused 111 'cannot write' bash -c "exec quadrille status --dir '$dir' --follow --interval 1 >/dev/full" # and ends
refused 111 'cannot write' bash -c "exec quadrille-queue --help >/dev/full"
[[ ! -e $work/never && ! -e $work/never.partial ]] || fail "what was refused left something"
[[ $(ls -A "$work/foreign") == file ]] || fail "a foreign folder was filled: $(ls -A "$work/foreign")"
for name in init up down status add meta report query update import search dump verify \
    explain backup restore compact queue scope; do
    case $name in
        add | meta | report) refused 100 --dir quadrille $name http://one.example/ ;;
        query) refused 100 --dir quadrille $name 'ASK {}' ;;
        import) refused 100 --dir quadrille $name all.nq ;;
        update) refused 100 --dir quadrille $name 'CLEAR ALL' ;;
        search) refused 100 --dir quadrille $name page ;;
        explain) refused 100 --dir quadrille $name '? ? ?' ;;
        backup) refused 100 --dir quadrille $name "$work/never" ;;
        restore) refused 100 --dir quadrille $name "$dir" ;;
        *) refused 100 --dir quadrille $name ;;
    esac
    refused 100 --no-such quadrille $name --no-such
done
for name in init up down status dump verify compact; do
    refused 100 superfluous quadrille $name --dir "$dir" superfluous
done
for name in status dump verify compact queue scope down; do
    refused 100 nowhere quadrille $name --dir "$work/nowhere"
done
refused 100 --dir quadrille crawl http://one.example/
refused 100 ftp quadrille crawl --dir "$work/never" ftp://one.example/
for other in mailto:a@b.c urn:isbn:0451450523 javascript:void; do
    refused 100 "${other%%:*}" quadrille crawl --dir "$work/never" "$other"
done
refused 111 no-such-file quadrille crawl --dir "$work/never" --seeds "$work/no-such-file"
refused 100 no.such quadrille status --dir "$dir" --set no.such=1
refused 100 fetch.delay quadrille status --dir "$dir" --set fetch.delay=slow
refused 100 URI quadrille add --dir "$dir"
refused 100 URI quadrille meta --dir "$dir"
refused 111 two.example quadrille meta --dir "$dir" http://two.example/unheard-of
refused 100 site quadrille report --dir "$dir"
refused 100 xml quadrille report --dir "$dir" --format xml one.example
refused 100 --limit quadrille report --dir "$dir" --limit -5 one.example
refused 111 unheard.example quadrille report --dir "$dir" unheard.example
refused 100 nowhere quadrille report --dir "$work/nowhere" one.example
refused 100 - quadrille query --dir "$dir"
refused 100 'line 1' quadrille query --dir "$dir" 'SELECT nonsense'
refused 100 'line 1' quadrille update --dir "$dir" 'INSERT DATA { ?s <urn:p> 1 }'
refused 100 format quadrille query --dir "$dir" --format nonsense 'ASK {}'
refused 100 words quadrille search --dir "$dir"
refused 100 PATTERN quadrille explain --dir "$dir"
refused 100 'three or four' quadrille explain --dir "$dir" '? ? ? ? ?'
refused 100 'no term' quadrille explain --dir "$dir" '? ? "open'
refused 100 --limit quadrille explain --dir "$dir" --limit 0 '? ? ?'
refused 111 'no document' quadrille explain --dir "$dir" '? <urn:none> ?'
refused 100 TARGET quadrille backup --dir "$dir"
refused 100 'there already' quadrille backup --dir "$dir" "$work"
refused 111 cannot quadrille backup --dir "$dir" "$work/no-such-folder/saved"
refused 100 SOURCE quadrille restore --dir "$work/never"
refused 100 'not empty' quadrille restore --dir "$dir" "$work"
refused 111 no-such-file quadrille restore --dir "$work/never" "$work/no-such-file"
refused 100 alone quadrille status --dir "$dir" --json --void
refused 100 counters quadrille status --dir "$dir" --sets
refused 100 --counters quadrille status --dir "$dir" --follow --counters
refused 100 --interval quadrille status --dir "$dir" --follow --interval 0
refused 100 'plan HOST' quadrille datasets --dir "$dir" plan
refused 100 'validate URL' quadrille datasets --dir "$dir" validate
refused 100 --prefer quadrille datasets --dir "$dir" --prefer dump one.example
refused 100 'status --follow' quadrille top --dir "$dir"
refused 100 'status; its --counters' quadrille stats --dir "$dir"
refused 100 'datasets plan HOST' quadrille plan one.example
refused 100 'datasets validate URL' quadrille sitemap validate http://one.example/s.xml
refused 100 alone quadrille changes --dir "$dir" --start --follow
refused 100 position quadrille changes --dir "$dir" --since nonsense
refused 100 rdf-patch quadrille changes --dir "$dir" --format nonsense
refused 111 /nowhere quadrille dump --dir "$dir" --output /nowhere/all.nq
refused 100 kick quadrille queue --dir "$dir" nonsense
refused 100 'no stage' quadrille queue --dir "$dir" peek --stage nonsense
refused 100 nonsense quadrille queue --dir "$dir" peek --state nonsense
refused 100 'check URI' quadrille scope --dir "$dir" nonsense
refused 100 scope.nonsense quadrille scope --dir "$dir" set scope.nonsense=1
refused 100 scope.depth quadrille scope --dir "$dir" set scope.depth=deep
refused 100 FILE quadrille detect
refused 100 FILE quadrille transform
refused 100 'one FILE' quadrille transform "$site/1.html" "$site/2.html"
refused 111 no-such-file quadrille detect "$work/no-such-file"
# Nothing leaves this machine before somebody has said where it may go, and who crawls.
quadrille init --dir "$work/unsaid" >/dev/null
for command in up 'add http://one.example/' crawl; do
    read -ra words <<<"$command"
    refused 100 'scope.hosts=' quadrille "${words[0]}" --dir "$work/unsaid" --set fetch.user_agent=Test/1 "${words[@]:1}"
done
refused 100 fetch.user_agent quadrille crawl --dir "$work/unsaid" http://one.example/
refused 100 fetch.user_agent quadrille up --dir "$work/unsaid" # the crawl has said where
mkdir "$work/unlocked" && : >"$work/unlocked/run" # where a file has the name of the folder of locks
refused 111 'a file has its name' quadrille up --dir "$work/unlocked" --only queue
[[ ! -e $work/unsaid/log/fetch.1.log ]] || fail "a process that fetches was started"
mkdir "$work/broken"
quadrille init --dir "$work/broken" >/dev/null
echo 'scope.depth=deep' >"$work/broken/scope.conf"
seq -f 'http://h%.0f.example/' 20000 >"$work/many"
refused 100 'scope.conf:1' quadrille crawl --dir "$work/broken" --seeds "$work/many" \
    --set 'scope.hosts=*' --set fetch.user_agent=Test/1
mkdir "$work/narrow" # the queue has all its seeds to take when fetch refuses its settings
quadrille init --dir "$work/narrow" >/dev/null
(ulimit -n 1000 && refused 100 'refused its configuration' quadrille crawl --dir "$work/narrow" --set fetch.user_agent=Test/1 \
    --seeds "$work/many")
grep -q 'fetch.window.*need.*the limit is 1000' "$work/narrow/log/fetch.1.log" || fail "nothing of open files is said"
for program in "$bin"/quadrille-*[a-z]; do
    refused 100 '' "$program" --no-such
    refused 100 '' "$program" --dir "$dir" superfluous
done
[[ ! -e $work/never/run ]] || fail "what was refused began nevertheless"

# ---- what machines read ----

quadrille status --dir "$dir" --json --counters --sets | python3 -m json.tool >/dev/null ||
    fail "status --json --counters"
quadrille status --dir "$dir" --counters >"$work/counters" || fail "status --counters"
lines=$(quadrille dump --dir "$dir" | wc -l)
[[ $(awk -F'\t' '$1 == "predicate" { n += $2 } END { print n }' "$work/counters") -eq $lines &&
    $(awk -F'\t' '$1 == "host" { n += $2 } END { print n }' "$work/counters") -eq $lines ]] ||
    fail "counters of predicates or hosts do not add up to $lines"
quadrille status --dir "$dir" --json | python3 -m json.tool >/dev/null || fail "status --json"
quadrille query --dir "$dir" --json 'SELECT * { ?s ?p ?o } LIMIT 3' |
    python3 -m json.tool >/dev/null || fail "query --json"
quadrille inspect --json "$site/1.html" | python3 -m json.tool >/dev/null || fail "inspect --json"
for name in $(quadrille --help | sed -nE '/^Commands/,/^Flags/s/^  ([a-z]+) .*/\1/p'); do
    quadrille "$name" --help >"$work/out"
    ! grep -oiE 'json[-a-z]*' "$work/out" | grep -qix json || grep -q -- --json "$work/out" ||
        fail "$name has JSON, and no --json"
done
quadrille prefixes --json | python3 -m json.tool >/dev/null || fail "prefixes --json"
quadrille changes --dir "$dir" --json >"$work/changes" || fail "changes --json"
head -n 1 "$work/changes" | python3 -m json.tool >/dev/null || fail "changes --json is none"
quadrille report --dir "$dir" --json one.example | python3 -m json.tool >/dev/null ||
    fail "report --json"
# ---- what people read ----

long='CONSTRUCT { ?s foaf:name ?o } { ?s dcterms:title ?o }'
quadrille query --dir "$dir" "$long" >"$work/construct.ttl" || fail "CONSTRUCT without --format"
serdi -q "$work/construct.ttl" >"$work/construct.nt" && grep -q 'foaf/0.1/name' "$work/construct.nt" || fail "no Turtle: $(cat "$work/construct.ttl")"
text=$(printf 'x%.0s' {1..200})
quadrille query --dir "$dir" "SELECT (\"$text\" AS ?x) {}" >"$work/out"
grep -q "$text" "$work/out" || fail "a table is cut that nobody looks at"
script -qec "quadrille query --dir '$dir' 'SELECT (\"$text\" AS ?x) {}'" /dev/null >"$work/out" </dev/null || fail "no table for a terminal"
if grep -q "$text" "$work/out"; then fail "a table is not cut for a terminal"; fi
grep -q xxx…  "$work/out" || fail "no table for a terminal: $(cat "$work/out")"
quadrille search --dir "$dir" nothinglikethis >"$work/out" 2>&1
grep -q 'no literal' "$work/out" || fail "search without hits says nothing"
quadrille datasets --dir "$dir" >"$work/out"
grep -q 'no plan' "$work/out" || fail "datasets without any says nothing"
mapfile -t settings < <(web_settings)
quadrille datasets plan --dir "$dir" "${settings[@]}" one.example >"$work/out" || fail "plan: $(cat "$work/out")"
grep -q 'nothing to plan: neither robots.txt' "$work/out" || fail "plan without datasets says nothing: $(cat "$work/out")"
quadrille datasets plan --dir "$dir" "${settings[@]}" --json one.example >"$work/out" 2>"$work/said" || fail "plan --json: $(cat "$work/said")"
[[ ! -s $work/out ]] && grep -q 'nothing to plan' "$work/said" || fail "plan --json without datasets: $(cat "$work/out" "$work/said")"
quadrille meta --dir "$dir" http://one.example/ http://one.example/1.html >"$work/meta.ttl"
quadrille meta --dir "$dir" --host http://one.example/ >"$work/host.ttl"
for file in meta host; do
    serdi -q "$work/$file.ttl" >"$work/$file.nt" || fail "meta is no Turtle: $(cat "$work/$file.ttl")"
    [[ -s $work/$file.nt ]] || fail "meta says nothing"
done
dump_and_verify "$dir" "$work/peace.nq"
quadrille down --dir "$dir" || fail "down"

# ---- in a browser ----

quadrille serve --dir "$dir" --set web.listen=127.0.0.1:0 >"$work/serve" 2>"$work/serve.log" &
serve=$!
until grep -q '^http' "$work/serve"; do
    kill -0 $serve || fail "serve: $(cat "$work/serve.log")"
    sleep 0.05
done
url=$(cut -d' ' -f1 "$work/serve")
port=${url##*:} port=${port%/}
curl -sf -G "${url}sparql" --data-urlencode 'query=ASK { ?d dcterms:title ?t }' -H 'Accept: text/csv' >"$work/out" &&
    grep -q true "$work/out" || fail "serve answers no query: $(cat "$work/out")"
curl -sf "${url}search?q=page" >"$work/out" && grep -q '12 found' "$work/out" || fail "serve finds nothing: $(cat "$work/out")"
quadrille serve --dir "$dir" >"$work/out" && grep -qF "already: $url" "$work/out" || fail "a directory is served twice"
quadrille init --dir "$work/second" >/dev/null
for program in 'quadrille serve' quadrille-web; do
    refused 111 "cannot listen on 127.0.0.1:$port: Address already in use" $program --dir "$work/second" \
        --set web.listen=127.0.0.1:$port
done
kill -INT $serve && wait $serve || fail "serve: exit $?: $(cat "$work/serve.log")"
quadrille-web --dir "$work/second" --set web.listen=127.0.0.1:$port --set index.silence=300s 2>"$work/web.log" &
alone=$!
until grep -q 'event=missing part=index' "$work/web.log"; do
    kill -0 $alone || fail "quadrille-web: $(cat "$work/web.log")"
    sleep 0.05
done
code=$(curl -s -m 200 -o "$work/out" -w '%{http_code}' "${url}search?q=page") || true # it waits for no index
[[ $code == 503 ]] && grep -q 'quadrille serve' "$work/out" || fail "without an index: $code $(cat "$work/out")"
kill $alone && wait $alone || fail "quadrille-web: exit $?"

# ---- Ctrl-C, then the same command ----

mapfile -t settings < <(web_settings)
stopped=0
for turn in 1 2 3; do
    asked=$(wc -l <"$web_log")
    quadrille crawl --dir "$work/stopped" --seeds "$work/seeds" "${settings[@]}" --set fetch.delay=0.3 --set log.format=json \
        >"$work/out" &
    command=$!
    until (($(wc -l <"$web_log") >= asked + 2)) || ! kill -0 $command; do sleep 0.02; done
    kill -INT $command && wait $command || fail "Ctrl-C: exit $?: $(cat "$work/out")"
    grep -q '^stopped' "$work/out" && stopped=$((stopped + 1))
    if pgrep -f -- "--dir $work/stopped( |\$)" >"$work/left"; then
        fail "left running after Ctrl-C: $(cat "$work/left")"
    fi
done
[[ $stopped -eq 3 ]] || fail "the crawl was too fast to be stopped: $(cat "$work/out")"
python3 -c 'import json, sys
for name in sys.argv[1:]:
    for line in open(name): json.loads(line)' "$work"/stopped/log/*.log || fail "a log is not JSON"
crawl "$work/stopped" >"$work/out" || fail "resume: $(cat "$work/out")"
dump_and_verify "$work/stopped" "$work/stopped.nq"
same "$work/peace.nq" "$work/stopped.nq" "stopped and resumed"

# ---- the scope, while running ----

: >"$web_log"
quadrille crawl --dir "$work/scope" --seeds "$work/seeds" "${settings[@]}" --set fetch.delay=0.4 --set processes.web=1 \
    --set web.listen=127.0.0.1:0 >"$work/out" &
command=$!
until grep -q 'one.example.*/1.html' "$web_log"; do
    kill -0 $command || fail "crawl: $(cat "$work/out")"
    sleep 0.05
done
quadrille scope --dir "$work/scope" set scope.hosts=one.example,two.example || fail "scope set"
wait $command || fail "crawl: $(cat "$work/out")"
asides=$(grep -cE 'two\.example.*/[0-9]+\.html' "$web_log" || true)
[[ $asides -eq $pages ]] ||
    fail "$asides of $pages pages of a host that came into scope during the crawl"

grep -q '^its page, for a browser: http://127.0.0.1:[1-9]' "$work/out" || fail "a crawl names no page: $(cat "$work/out")"

# ---- once more, with conditions ----

kill $web_pid && wait $web_pid 2>/dev/null || true
rm "$site/3.html"
echo 'status /4.html 410' >"$site/.serve"
echo '<!DOCTYPE html><title>Page 5 anew</title>' >"$site/5.html"
start_web "$work/hosts"
: >"$web_log"
for name in 2 3 4 5; do echo "http://one.example/$name.html"; done >"$work/again"
quadrille add --dir "$dir" --again --seeds "$work/again" || fail "add --again"
crawl "$dir" >"$work/out" || fail "crawl: $(cat "$work/out")"
answer() { awk -F'\t' -v uri="/$1.html" '$4 == uri { print $5, $10 != "-", $11 != "-" }' "$web_log"; }
for expected in '2:304 1 1' '3:404 1 1' '4:410 1 1' '5:200 1 1'; do
    got=$(answer "${expected%%:*}")
    [[ $got == "${expected#*:}" ]] ||
        fail "page ${expected%%:*}: status, If-Modified-Since, If-None-Match: $got"
done
dump_and_verify "$dir" "$work/again.nq"
for name in 3 4; do
    if grep -qF "<http://one.example/$name.html> ." "$work/again.nq"; then
        fail "page $name is gone, but its graph is there"
    fi
    quadrille meta --dir "$dir" "http://one.example/$name.html" >"$work/meta.ttl"
    grep -q '"gone"' "$work/meta.ttl" || fail "page $name is not gone: $(cat "$work/meta.ttl")"
done
grep -qF '"Page 5 anew"' "$work/again.nq" || fail "a changed page was not indexed again"
if grep -qF '"Page 5"' "$work/again.nq"; then fail "a changed page has its old title"; fi
diff <(grep -F '/2.html> .' "$work/peace.nq") <(grep -F '/2.html> .' "$work/again.nq") ||
    fail "an unchanged page changed"
# ---- a command after one that was ended ----

for signal in KILL INT TERM KILL; do
    quadrille verify --dir "$dir" >"$work/ended" 2>&1 &
    sleep 0.03
    kill -s $signal $! 2>/dev/null || true
    timeout 600 quadrille dump --dir "$dir" --output "$work/after.nq" ||
        fail "no dump after a command that was ended by $signal"
    cmp "$work/after.nq" "$work/again.nq" || fail "another dump"
done
echo "commands: misuse, JSON, Turtle, Ctrl-C, scope and recrawl are as promised"
