#!/usr/bin/env bash
# What publishers say of single pages: noindex, nofollow, reservations; obeyed, honoured or noted.
. "$(dirname "$0")/lib.sh"
hosts=$work/hosts
page() { # path, head, links
    mkdir -p "$hosts/$(dirname "$1")"
    {
        printf '<!DOCTYPE html><html><head><title>%s</title>%s</head><body>' "$1" "$2"
        local link
        for link in $3; do printf '<p><a href="%s">%s</a></p>' "$link" "$link"; done
        printf '</body></html>\n'
    } >"$hosts/$1"
}
page said.example/index.html '' '/kept.html /hidden.html /dead-end.html /reserved.html'
page said.example/kept.html '<meta name="googlebot" content="none">' ''
page said.example/hidden.html '<meta name="robots" content="noindex">' '/behind-hidden.html'
page said.example/dead-end.html '<meta name="quadrille" content="nofollow">' '/behind-dead-end.html'
page said.example/reserved.html '<meta name="tdm-reservation" content="1">' ''
page said.example/behind-hidden.html '' ''
page said.example/behind-dead-end.html '' ''
page train.example/index.html '' ''
printf 'User-agent: *\nContent-Signal: search=no, ai-train=no\nDisallow:\n' >"$hosts/train.example/robots.txt"
start_web "$hosts"
printf "http://%s/\n" said.example train.example >"$work/seeds"

indexed() { grep -cF " <http://$1> ." "$2" || true; }
expect() { # file, page, 0 or 1, what
    local n
    n=$(indexed "$2" "$1")
    [[ $((n > 0)) -eq $3 ]] || fail "$4: $2 has $n quads"
}

crawl "$work/obeying" >/dev/null || fail "crawl"
dump_and_verify "$work/obeying" "$work/obeying.nq"
expect "$work/obeying.nq" said.example/kept.html 1 "another crawler's tag"
expect "$work/obeying.nq" said.example/hidden.html 0 noindex
expect "$work/obeying.nq" said.example/behind-hidden.html 0 "links of what is not indexed"
expect "$work/obeying.nq" said.example/dead-end.html 1 nofollow
expect "$work/obeying.nq" said.example/behind-dead-end.html 0 nofollow
expect "$work/obeying.nq" said.example/reserved.html 1 "a reservation that is only noted"
expect "$work/obeying.nq" train.example/ 1 "a signal that is only noted"
"$bin/quadrille" meta --dir "$work/obeying" http://said.example/hidden.html >"$work/hidden.ttl"
grep -q '"noindex"' "$work/hidden.ttl" || fail "no state noindex: $(cat "$work/hidden.ttl")"

crawl "$work/noting" --set fetch.robots_tags=note --set fetch.robots_signals=honour >/dev/null ||
    fail "crawl"
dump_and_verify "$work/noting" "$work/noting.nq"
expect "$work/noting.nq" said.example/hidden.html 1 "fetch.robots_tags=note"
expect "$work/noting.nq" said.example/behind-hidden.html 1 "fetch.robots_tags=note"
expect "$work/noting.nq" said.example/behind-dead-end.html 1 "fetch.robots_tags=note"
expect "$work/noting.nq" said.example/reserved.html 0 "fetch.robots_signals=honour"
expect "$work/noting.nq" train.example/ 0 "fetch.robots_signals=honour"

# The order of work decides nothing.
crawl "$work/many" --set processes.fetch=2 --set processes.transform=2 --set fetch.window=1 \
    >/dev/null || fail "crawl"
dump_and_verify "$work/many" "$work/many.nq"
same "$work/obeying.nq" "$work/many.nq" "more processes"

# What became of a URI, and why.
explained() { "$bin/quadrille" explain --dir "$work/obeying" "$@"; }
explained http://said.example/hidden.html >"$work/explained" || fail "explain"
for line in 'state  *noindex' 'via  *http://said.example/' 'verdict  *in$' 'says  *meta: noindex' \
    'jobs  *none that waits' 'status  *200'; do
    grep -Eq "^  $line" "$work/explained" || fail "explain does not say $line: $(cat "$work/explained")"
done
explained --json http://train.example/ >"$work/explained" || fail "explain --json"
python3 - "$work/explained" <<'P' || fail "explain --json: $(cat "$work/explained")"
import json, sys
said = json.load(open(sys.argv[1]))
assert said["robots"]["verdict"] == "allowed" and said["robots"]["reserved"]
assert said["robots"]["rule"] == "none matches"
assert said["yield"]["quads"] > 0 and said["seen"]["known"] == "as a seed"
P
explained http://elsewhere.example/a/b/a/b/a/b >"$work/explained" || fail "explain"
grep -q 'traps.cycles' "$work/explained" || fail "no trap: $(cat "$work/explained")"
