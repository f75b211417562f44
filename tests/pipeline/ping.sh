#!/usr/bin/env bash
# Publishers tell of their pages: POST, XML-RPC and IndexNow, before stages run; the web service is killed; then
# stages run, and receipts are followed to the end. ping_check.py asks.
. "$(dirname "$0")/lib.sh"
site=$work/hosts/pub.example
mkdir -p "$site/sub"
printf '<#me> <http://xmlns.com/foaf/0.1/name> "Zwetschgendatschi" .\n' >"$site/a.ttl"
printf '<#me> <http://xmlns.com/foaf/0.1/name> "Quetschekuche" .\n' >"$site/b.ttl"
printf '<#me> <http://xmlns.com/foaf/0.1/name> "Prummetaat" .\n' >"$site/sub/c.ttl"
printf 'User-agent: *\nDisallow: /private\n' >"$site/robots.txt"
printf '0123456789abcdef\n' >"$site/0123456789abcdef.txt"
printf 'something else\n' >"$site/fedcba9876543210.txt"
printf '%s\n' 'status /busy.ttl 503 1' 'status /sub/busy.ttl 503 1' >"$site/.faults"
printf '<#me> <http://xmlns.com/foaf/0.1/name> "Quetschekuche" .\n' | tee "$site/busy.ttl" >"$site/sub/busy.ttl"
start_faulty_web "$work/hosts"
mapfile -t settings < <(web_settings)
settings+=(--set web.listen=127.0.0.1:0 --set processes.web=1 --set web.ping_limit=50 --set fetch.retry=0.1
    --set fetch.backoff=0.1)
"$bin/quadrille" init --dir "$work/d" >/dev/null
"$bin/quadrille" scope --dir "$work/d" set scope.hosts=pub.example >/dev/null

await_service() {
    for _ in $(seq "$patience"); do
        url=$(cat "$work/d/run/web.address" 2>/dev/null) || url=
        [[ -n $url ]] && curl -sf "${url%/}/health" >/dev/null && return
        sleep 0.05
    done
    fail "the service does not start: $(cat "$work/$1" 2>/dev/null)"
}
"$bin/quadrille" serve --dir "$work/d" "${settings[@]}" >"$work/serve.out" 2>&1 &
serve=$!
await_service serve.out
python3 "$root/tests/pipeline/ping_check.py" tell "${url%/}" "$work/receipts" || fail "telling"
pkill -KILL -f -- "quadrille-web --dir $work/d" || fail "no web service to kill"
kill "$serve" 2>/dev/null || true
wait "$serve" 2>/dev/null || true
rm -f "$work/d/run/web.address"

"$bin/quadrille" up --dir "$work/d" "${settings[@]}" >"$work/up.out" 2>&1 &
await_service up.out
python3 "$root/tests/pipeline/ping_check.py" follow "${url%/}" "$work/receipts" || fail "following"
# The key files were asked for once each, by the name that robots.txt knows, and robots.txt before them.
[[ $(grep -c $'\t/0123456789abcdef.txt\t' "$web_log") -eq 1 ]] || fail "the key file: $(cat "$web_log")"
# A stranger's page that fails is dropped at once; one for which a key was proved is tried again.
[[ $(grep -c $'\t/busy.ttl\t' "$web_log") -eq 1 ]] || fail "what a stranger named was retried: $(cat "$web_log")"
[[ $(grep -c $'\t/sub/busy.ttl\t' "$web_log") -eq 2 ]] || fail "it was not retried: $(cat "$web_log")"
grep -q $'\t/private/x\t' "$web_log" && fail "robots.txt was not obeyed"
grep -q $'\t/never.ttl\t' "$web_log" && fail "a URL without a proved key was fetched"
exit 0
