#!/usr/bin/env bash
# A crawl says what became of it: documents by outcome, each once, also after kill -9 of all its
# processes and over several crawls in one directory; seeds that brought nothing, with the reason;
# exit 111 if no seed could be fetched.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/one.example
mkdir -p "$site" "$work/hosts/two.example"
pages=30
for i in $(seq $pages); do
    echo "<!DOCTYPE html><title>Page $i</title><a href=$((i + 1)).html>next</a>" >"$site/$i.html"
done
echo '<!DOCTYPE html><title>First</title><a href=1.html>1</a><a href=shut/a.html>a</a>' >"$site/index.html"
printf 'User-agent: *\nDisallow: /shut/\n' >"$site/robots.txt"
echo 'redirect /away 301 http://www.one.example/' >"$site/.serve"
start_web "$work/hosts"
mapfile -t web < <(web_settings)
dir=$work/data

value() { # path of names in what --json printed
    python3 -c 'import json, sys
v = json.load(open(sys.argv[1]))
for name in sys.argv[2].split("."): v = v[name]
print(v)' "$work/json" "$1"
}
expect() { # path, value
    [[ $(value "$1") == "$2" ]] || fail "$1 is $(value "$1"), not $2: $(cat "$work/json")"
}

# All processes are killed again and again until a crawl comes to its end.
for requests in 1 8 16; do
    quadrille crawl --quiet --dir "$dir" "${web[@]}" http://one.example/ http://one.example/none.html >"$work/out" 2>&1 &
    command=$!
    until (($(wc -l <"$web_log") >= requests)) || ! kill -0 $command 2>/dev/null; do sleep 0.02; done
    kill -KILL $command 2>/dev/null || true
    wait $command 2>/dev/null || true
done
quadrille crawl --json --dir "$dir" "${web[@]}" http://one.example/ http://one.example/none.html \
    >"$work/json" || fail "crawl: $(cat "$work/json")"
expect outcomes.fetch.fetched $((pages + 1))
expect outcomes.fetch.gone 2 # none.html, and the link of the last page
expect outcomes.fetch.denied_by_robots 1
expect outcomes.detect.detected $((pages + 1))
expect outcomes.transform.transformed $((pages + 1))
expect index.documents $((pages + 1))
expect seeds.count 2
[[ $(value seeds.brought_nothing) == *none.html*404* ]] || fail "the seed: $(value seeds.brought_nothing)"

# Another crawl in the same directory adds to that, and fails: its only seed is not there.
code=0
quadrille crawl --quiet --dir "$dir" "${web[@]}" http://one.example/none2.html >"$work/out" 2>&1 || code=$?
[[ $code -eq 111 ]] || fail "exit $code without any seed: $(cat "$work/out")"
grep -q 'none2.html: gone: the server answered 404' "$work/out" || fail "no reason: $(cat "$work/out")"
code=0
quadrille crawl --json --dir "$dir" "${web[@]}" http://one.example/none3.html >"$work/json" 2>"$work/out" || code=$?
[[ $code -eq 111 ]] || fail "exit $code with --json without any seed: $(cat "$work/out")"
expect seeds.count 1
[[ $(value seeds.brought_nothing) == *none3.html*404* ]] || fail "the seed: $(value seeds.brought_nothing)"
code=0
quadrille crawl --quiet --dir "$dir" "${web[@]}" http://one.example/away >"$work/out" 2>&1 || code=$?
[[ $code -eq 111 ]] || fail "exit $code when the only seed leads out of scope: $(cat "$work/out")"
grep -q 'redirects to http://www.one.example/, which is out of scope.*quadrille crawl --dir' "$work/out" ||
    fail "no advice: $(cat "$work/out")"
quadrille status --json --dir "$dir" >"$work/json"
expect outcomes.fetch.gone 4
expect outcomes.fetch.redirected_out_of_scope 1
prints "fetch: $((pages + 1)) fetched (2xx)" quadrille status --dir "$dir" || fail "status tells no outcomes"
