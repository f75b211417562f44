#!/usr/bin/env bash
# A changed transform over the archive: what would change, the change itself with nothing running,
# killed in between, and while everything runs; and never a request.
. "$(dirname "$0")/lib.sh"
start_web "$root/examples/web/hosts"
seeds_of "$root/examples/web/hosts" >"$work/seeds"
q() { "$bin/quadrille" "$@"; }

# Own transforms: a stylesheet, an external program, each with its example.
dir=$work/crawl
own=$dir/transforms
mkdir -p "$own/examples/dish" "$own/examples/shout"
write_dish() { # predicate
    cat >"$own/dish.xsl" <<X
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:q="https://quadrille.example/transform#" xmlns:h="http://www.w3.org/1999/xhtml"
    exclude-result-prefixes="q h">
  <xsl:output method="text"/>
  <xsl:template match="/">&lt;<xsl:value-of select="q:uri()"/>&gt; &lt;http://own.example/$1&gt; "<xsl:value-of select="normalize-space(//*[local-name()='title'])"/>" .
</xsl:template>
</xsl:stylesheet>
X
}
write_dish name
cat >"$own/registry" <<'R'
transform dish 1 xslt dish.xsl
transform shout 1 program /usr/bin/sed s/.*/<http:x>\x20<http:p>\x20"&"\x20./
match application/xhtml+xml -> dish
match text/x-shout -> shout
R
echo application/xhtml+xml >"$own/examples/dish/type"
echo '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Soup</title></head><body/></html>' \
    >"$own/examples/dish/input"
echo text/x-shout >"$own/examples/shout/type"
echo hello >"$own/examples/shout/input"
echo '<http:x> <http:p> "hello" <http://example.org/examples/shout> .' >"$own/examples/shout/expected.nq"
q transform --dir "$dir" --type application/xhtml+xml --uri http://example.org/examples/dish \
    "$own/examples/dish/input" >"$own/examples/dish/expected.nq" 2>"$work/said" || fail "$(cat "$work/said")"
grep -q '<http://own.example/name> "Soup"' "$own/examples/dish/expected.nq" || fail "the stylesheet did not run"
q transforms list --dir "$dir" >"$work/list" || fail "transforms list"
grep -qP '^dish\t1\ton\txslt\t.*dish.xsl\tapplication/xhtml\+xml$' "$work/list" || fail "$(grep dish "$work/list")"
grep -qP '^shout\t1\ton\tprogram\t' "$work/list" || fail "the list has no program"
q transforms test --dir "$dir" dish shout html >"$work/test" || fail "transforms test: $(cat "$work/test")"
[[ $(grep -c ^pass "$work/test") -eq 3 ]] || fail "$(cat "$work/test")"
write_dish title
code=0
q transforms test --dir "$dir" dish >"$work/test" 2>&1 || code=$?
[[ $code -eq 100 ]] && grep -q '^+ .*own.example/title' "$work/test" && grep -q '^- .*own.example/name' "$work/test" ||
    fail "a wrong example is not told: $code, $(cat "$work/test")"
write_dish name

crawl "$dir" >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
dump_and_verify "$dir" "$work/before.nq"
pages=$(grep -c '<http://own.example/name>' "$work/before.nq")
[[ $pages -gt 1 ]] || fail "the own stylesheet ran on $pages pages"
: >"$web_log"

# Nothing changed: nothing would.
q replay --dir "$dir" --transform dish --diff >"$work/diff" || fail "replay --diff"
grep -q " documents, 0 would change" "$work/diff" || fail "changes without a change: $(cat "$work/diff")"

# A changed transform.
write_dish title
q replay --dir "$dir" --transform dish --diff >"$work/diff" || fail "replay --diff"
[[ $(grep -c '^- .*own.example/name' "$work/diff") -eq $pages ]] || fail "$(cat "$work/diff")"
[[ $(grep -c '^+ .*own.example/title' "$work/diff") -eq $pages ]] || fail "$(cat "$work/diff")"
grep -q "^# http://people.example/ada.xhtml" "$work/diff" || fail "no heading: $(cat "$work/diff")"
dump_and_verify "$dir" "$work/same.nq"
same "$work/before.nq" "$work/same.nq" "--diff changed something"
sed 's#<http://own.example/name>#<http://own.example/title>#' "$work/before.nq" |
    LC_ALL=C sort >"$work/wanted.nq"

# Killed in between, twice; then to the end.
for after in 0.15 0.4; do
    q replay --dir "$dir" --transform dish >/dev/null 2>&1 &
    command=$!
    sleep $after
    kill -9 $command 2>/dev/null || true
    wait $command 2>/dev/null || true
    for _ in $(seq "$patience"); do [[ -z $(pgrep -f -- "--dir $dir( |$)") ]] && break; sleep 0.1; done
done
q replay --dir "$dir" --transform dish >"$work/out" 2>&1 || fail "replay: $(cat "$work/out")"
grep -q "$pages documents replayed" "$work/out" || fail "$(cat "$work/out")"
dump_and_verify "$dir" "$work/after.nq"
same "$work/wanted.nq" "$work/after.nq" "replay with nothing running"

# While everything runs, and only one host.
write_dish name
mapfile -t settings < <(web_settings)
q up --dir "$dir" --background "${settings[@]}" >/dev/null || fail "up"
q replay --dir "$dir" --transform dish --host people.example >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q 'sent to the transform stage' "$work/out" || fail "$(cat "$work/out")"
for _ in $(seq "$patience"); do
    prints '"exhausted":true' q status --dir "$dir" --json && break
    sleep 0.2
done
q down --dir "$dir" >/dev/null
dump_and_verify "$dir" "$work/host.nq"
awk '{g = $NF == "." ? $(NF-1) : $NF; if (g ~ /people\.example/) gsub("<http://own.example/title>", "<http://own.example/name>"); print}' \
    "$work/wanted.nq" | LC_ALL=C sort >"$work/wanted-host.nq"
same "$work/wanted-host.nq" "$work/host.nq" "replay of one host while running"

# A transform that was switched off: its quads go.
echo 'off dish' >>"$own/registry"
q replay --dir "$dir" --transform dish >"$work/out" 2>&1 || fail "replay of a transform that is off: $(cat "$work/out")"
dump_and_verify "$dir" "$work/off.nq"
[[ $(grep -c '<http://own.example/' "$work/off.nq") -eq 0 ]] || fail "quads of a transform that is off"
[[ $(wc -l <"$web_log") -eq 0 ]] || fail "a replay asked the web: $(head -n 3 "$web_log")"

# An index that cannot write, since a page is damaged, would be waited for without an end.
sed -i '/^off dish/d' "$own/registry"
write_dish heading
for file in "$dir"/index-0/quads-*.db; do
    last=$(($(stat -c %s "$file") / 4096))
    for ((page = 2; page < last; page++)); do
        printf scribbled | dd of="$file" bs=1 seek=$((page * 4096 + 2000)) conv=notrunc status=none
    done
done
code=0
timeout 300 "$bin/quadrille" replay --dir "$dir" --transform dish >"$work/out" 2>&1 || code=$?
[[ $code -eq 111 ]] && grep -q 'page [0-9]* is damaged.*docs/OPERATION.md' "$work/out" ||
    fail "a replay to a damaged index: exit $code, $(cat "$work/out")"
code=0
q replay --dir "$dir" >/dev/null 2>&1 || code=$?
[[ $code -eq 100 ]] || fail "replay without --transform: exit $code"
echo "replay: $pages pages changed as foretold, killed twice, without a request"
