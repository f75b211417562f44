#!/usr/bin/env bash
# A web of hosts that do to a crawler what they can, each in a way of its own (tests/web/hostile_web.py):
# the crawl ends, no process takes much memory, what is good of these hosts is indexed exactly, nothing
# private is asked for, no header line of a server comes back, and the archive is valid.
. "$(dirname "$0")/lib.sh"
server=$root/tests/web/hostile_web.py
most_kb=200000 # of any process, sandboxed workers included
tls=()
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=h2.example \
        -addext "subjectAltName=$(python3 "$server" --hosts | sed -n 's/^\(h2-[^ ]*\) .*/DNS:\1/p' | paste -sd,)" \
        -keyout "$work/key.pem" -out "$work/ca.pem" 2>"$work/openssl.log" || fail "openssl: $(cat "$work/openssl.log")"
    tls=(--tls "$work/ca.pem" "$work/key.pem")
fi
python3 "$server" "${tls[@]}" "$work/ports" "$work/log" 2>"$work/web.out" &
web_pid=$!
for _ in $(seq "$patience"); do
    [[ -s $work/ports ]] && break
    sleep 0.05
done
port=$(awk '$1 == "port" { print $2 }' "$work/ports") || fail "the server does not start: $(cat "$work/web.out")"
python3 "$server" --hosts >"$work/names"
{
    awk '{ print "127.0.0.1", $1 }' "$work/names"
    echo "127.0.0.1 hop.example"
    echo "127.0.0.2 inner.example"
} >"$work/hosts"
awk -v port="$port" '{ print "http://" $1 ":" port "/" }' "$work/names" >"$work/seeds"
awk -v port="$port" '{ for (i = 1; i <= $2; i++) { u = "<http://" $1 ":" port "/good" i ">"
    print u, "<http://vocab.example/name> \"good" i, "of", $1 "\"", u, "." } }' "$work/names" | LC_ALL=C sort >"$work/expected"
: >"$work/peaks"
( # the peaks of all processes, those that end, too
    while [[ ! -e $work/over ]]; do
        peaks_of "--dir $work/crawl" >>"$work/peaks"
        sleep 0.3
    done
) &
watcher=$!
began=$SECONDS
"$bin/quadrille" crawl --dir "$work/crawl" --seeds "$work/seeds" --quiet --set "scope.hosts=*" --set scope.depth=2 \
    --set "fetch.hosts_file=$work/hosts" --set fetch.allow_address=127.0.0.1 --set "fetch.ca_file=$work/ca.pem" \
    --set fetch.delay=0 --set fetch.backoff=0 --set fetch.retry=0.1 --set fetch.retry_maximum=0.5 --set fetch.attempts=2 \
    --set fetch.timeout=12 --set fetch.connect_timeout=6 --set fetch.patience=6 \
    --set fetch.size=1M --set fetch.memory=64M --set queue.group_parallel=1000 \
    --set queue.group_delay=0 --set queue.host_patience=0 --set fetch.crawl_delay_maximum=0.5 --set traps.queries=20 --set sitemaps.files=10 \
    --set transform.cpu=2 --set transform.memory=256M \
    --set transform.wait=2 --set processes.web=0 >"$work/out" 2>&1 || fail "crawl: $(tail -n 5 "$work/out")"
took=$((SECONDS - began))
touch "$work/over"
wait "$watcher"
dump_and_verify "$work/crawl" "$work/dump"
grep -F '<http://vocab.example/name>' "$work/dump" >"$work/found" || true
same "$work/expected" "$work/found" 'good pages of hostile hosts'
! grep -E '^!' "$work/log" >"$work/breaches" || fail "what must not be done: $(sort "$work/breaches" | uniq -c | head -n 5)"
! grep -q 'root:' "$work/dump" || fail 'a file was read'
python3 "$root/tests/pipeline/warc_check.py" "$work"/crawl/warc/*.warc.gz >"$work/warc.out" || fail "archive: $(tail -n 2 "$work/warc.out")"
"$bin/quadrille" queue buried --dir "$work/crawl" >"$work/buried" || fail "buried: $(cat "$work/buried")"
for what in header-endless header-folded interim-endless interim-continue trailers-endless; do
    grep -A3 -F "//$what.example" "$work/buried" | grep -q 'response header larger' ||
        fail "$what ended by no limit of bytes: $(grep -A3 -F "//$what.example" "$work/buried")"
done
for what in map-nested:20 map-self:20 map-wide:20 redirect-chain:20 robots-chain:20 robots-maps:25; do
    asked=$(grep -c "^${what%:*}.example"$'\t' "$work/log")
    ((asked <= ${what#*:})) || fail "${what%:*} was asked $asked times"
done
peak=$(awk '$1 > most { most = $1; name = $2 } END { print most + 0, name }' "$work/peaks")
((${peak% *} < most_kb)) || fail "a process took ${peak% *} KB: ${peak#* }"
((${peak% *} > 0)) || fail 'no process was watched'
echo "hostile web: $(wc -l <"$work/names") hosts, $(wc -l <"$work/log") requests in $took s; most memory ${peak% *} KB (${peak#* })"
