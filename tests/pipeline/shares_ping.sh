#!/usr/bin/env bash
# The web service of a cluster, which runs no share: publishers tell it of pages of hosts whose shares run elsewhere,
# and their receipts are followed to the end. A ping for a share that is down is not taken, and is when it is back.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_cluster.sh"
hosts=(a b c d e f g h)
for h in "${hosts[@]}"; do
    mkdir -p "$work/hosts/$h.example"
    printf '<#me> <http://xmlns.com/foaf/0.1/name> "page of %s" .\n' "$h" >"$work/hosts/$h.example/page.ttl"
done
start_web "$work/hosts"
cluster init --shares 2 --lease 2 >/dev/null || fail "cluster init"
mapfile -t web < <(web_settings | grep -v '^--set$')
printf '%s\n' "${web[@]}" web.listen=127.0.0.1:0 web.ping_limit=0 web.update_token=secret >>"$ROOT/quadrille.conf"
"$bin/quadrille" scope --dir "$ROOT" set scope.hosts="$(printf '%s.example,' "${hosts[@]}")" >/dev/null || fail "scope"
run_machine alpha --address "$loopback.10:20000" --shares 0
run_machine beta --address "$loopback.11:20000" --shares 1
all_run() { [[ $(cluster status | grep -cE '^[01] +(alpha|beta) .* runs$') -eq 2 ]]; }
await "both shares run" all_run
"$bin/quadrille" serve --dir "$ROOT" >"$work/serve.out" 2>&1 &
serve=$!
disown
served() { url=$(cat "$ROOT/run/web.address" 2>/dev/null) && [[ -n $url ]]; }
await "the service" served
url=${url%/}
for page in / /status /status.json '/search?q=page' /health; do
    curl -sf "$url$page" >"$work/page" && [[ -s $work/page ]] || fail "$page: $(cat "$work/page")"
done
tell() { # hosts: sets code, answer in $work/answer
    for h; do echo "http://$h.example/page.ttl"; done >"$work/urls"
    code=$(curl -s -o "$work/answer" -w '%{http_code}' -H 'Authorization: Bearer secret' -H 'Content-Type: text/plain' \
        --data-binary "@$work/urls" "$url/v2/ping")
}
tell "${hosts[@]}"
[[ $code -eq 202 ]] || fail "told: $code, $(cat "$work/answer"), $(cat "$work/serve.out")"
receipt=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["receipt"])' "$work/answer")
is_indexed() { # how many
    curl -s -H 'Accept: application/json' "$url$receipt" >"$work/receipt" && python3 - "$work/receipt" "$1" <<'P'
import json, sys
found = json.load(open(sys.argv[1]))["found"]
lost = [one for one in found if one["state"] == "lost"]
if lost:
    sys.exit(f"lost: {lost}")
sys.exit(not (len(found) == int(sys.argv[2]) and all(one["state"] == "indexed" and one["final"] for one in found)))
P
}
await "all pages are indexed" is_indexed "${#hosts[@]}"
# Both shares had some of them, or this has shown nothing.
with=0
for share in 0 1; do ls "$ROOT/shares/$share"/warc/*fetch*.warc.gz >/dev/null 2>&1 && with=$((with + 1)); done
[[ $with -eq 2 ]] || fail "one share fetched all"
curl -s "$url/sparql?query=SELECT%20%3Fn%20%7B%20%3Fs%20%3Chttp%3A%2F%2Fxmlns.com%2Ffoaf%2F0.1%2Fname%3E%20%3Fn%20%7D" \
    -H 'Accept: text/tab-separated-values' >"$work/names"
[[ $(grep -c 'page of' "$work/names") -eq ${#hosts[@]} ]] || fail "queries over the shares: $(cat "$work/names")"

kill -TERM "${machine[beta]}"
beta_is_gone() { cluster status | grep -qE '^1 .* free$'; }
await "share 1 is given back" beta_is_gone
for h in "${hosts[@]}"; do printf '<#me> <http://xmlns.com/foaf/0.1/name> "new page of %s" .\n' "$h" >"$work/hosts/$h.example/page.ttl"; done
tell "${hosts[@]}"
[[ $code -eq 503 ]] || fail "told of hosts of a share that is down: $code, $(cat "$work/answer")"
run_machine beta --address "$loopback.11:20000" --shares 1
await "both shares run" all_run
tell "${hosts[@]}"
[[ $code -eq 202 ]] || fail "told again: $code, $(cat "$work/answer")"
receipt=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["receipt"])' "$work/answer")
await "all new pages are indexed" is_indexed "${#hosts[@]}"
kill -TERM "${machine[alpha]}" "${machine[beta]}" "$serve"
echo "shares_ping: ${#hosts[@]} pages of hosts of two shares, told and followed to the index, twice"
