#!/usr/bin/env bash
# Dumps by FTP: sliced, the index is the bytes of a crawl of the documents one by one by HTTP.
# Downloads break, go on by REST, change in between, are killed; a visit again costs no download when
# nothing has changed. Servers that ask for patience get it, those that refuse are given up and the
# documents crawled. No host is asked by two connections, or before its rest is over.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
hosts=$work/hosts
pub=$work/ftp/pub
count=${COUNT:-200}

triples() { # host, first, last, word
    local i
    for ((i = $2; i <= $3; i++)); do
        printf '<http://%s/id/%d> <http://vocab.example/name> "%s %d" .
<http://%s/id/%d> <http://vocab.example/part> _:p%d .
_:p%d <http://vocab.example/note> "%0200d" .\n' "$1" "$i" "${4:-thing}" "$i" "$1" "$i" "$i" "$i" "$i"
    done
}
site() { # host, URIs of dumps
    local i
    mkdir -p "$hosts/$1/id"
    printf 'User-agent: *\nAllow: /\nSitemap: http://%s/sitemap.xml\n' "$1" >"$hosts/$1/robots.txt"
    printf '<html><title>%s</title></html>' "$1" >"$hosts/$1/index.html"
    {
        printf '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:sc="http://sw.deri.org/2007/07/sitemapextension"><sc:dataset>
<sc:linkedDataPrefix sc:slicing="cbd">http://%s/id/</sc:linkedDataPrefix>
<sc:sampleURI>http://%s/id/7</sc:sampleURI>' "$1" "$1"
        printf '<sc:dataDumpLocation>%s</sc:dataDumpLocation>' "${@:2}"
        printf '</sc:dataset>'
        for ((i = 1; i <= count; i++)); do printf '<url><loc>http://%s/id/%d</loc></url>' "$1" "$i"; done
        printf '</urlset>'
    } >"$hosts/$1/sitemap.xml"
    for ((i = 1; i <= count; i++)); do triples "$1" "$i" "$i" >"$hosts/$1/id/$i"; done
}
settings=()
run() { # directory, further settings
    crawl "$1" --set fetch.connect_to="$connect" --set fetch.retry=50ms --set fetch.attempts=20 \
        --set fetch.backoff=50ms --set fetch.from=crawler@quadrille.example --set transform.wait=20 \
        --set processes.transform=1 "${@:2}" >"$work/out" || fail "crawl: $(cat "$work/out")"
}
start_ftp() { # name, certificate or nothing; sets ftp_port, ftp_log, ftp_pid
    ftp_log=$work/$1.tsv
    python3 "$root/tests/web/ftp_server.py" "$work/ftp" "$work/$1.port" "$ftp_log" "${@:2}" >"$work/$1.out" 2>&1 &
    ftp_pid=$!
    for _ in $(seq "$patience"); do
        [[ -s $work/$1.port ]] && break
        sleep 0.05
    done
    ftp_port=$(cat "$work/$1.port") || fail "the FTP server does not start: $(cat "$work/$1.out")"
}
web_stop=(end_ftp)
ftp_pids=()
end_ftp() { kill "${ftp_pids[@]}"; }
dump_of() { # directory, host: its documents
    quadrille dump --dir "$1" | grep -E " <http://$2/id/[0-9]+> \.\$" || true
}
commands() { # verb, argument: as columns of the log
    awk -F'\t' -v v="$1" -v a="$2" '$4 == v && $5 == a' "$ftp_log"
}
got() { # host: bytes of its dump that were sent
    commands RETR "$1.nt" | awk -F'\t' '{ n += $7 } END { print n + 0 }'
}
faults() { printf '%s\n' "$@" >"$work/ftp/.faults"; }

mkdir -p "$pub" "$hosts"
names=(plain broken norest patient refused)
for h in "${names[@]}"; do
    site "$h.example" "ftp://ftp.example/pub/$h.nt"
    triples "$h.example" 1 "$count" >"$pub/$h.nt"
done
gzip -k "$pub/plain.nt"
site plain.example ftp://ftp.example/pub/plain.nt.gz
faults 'break /pub/broken.nt 30000 2' 'reply /pub/norest.nt REST 502 99' 'break /pub/norest.nt 30000 1' \
    'reply /pub/patient.nt RETR 450 2' 'greet 421 1' 'reply /pub/refused.nt SIZE 550 99'
start_faulty_web "$hosts"
start_ftp ftp
ftp_pids+=("$ftp_pid")
connect=ftp=127.0.0.1:$ftp_port,127.0.0.1:$web_port

# ---- the documents are those of HTTP, however the download went ----

seeds_of "$hosts" >"$work/seeds"
run "$work/dumps"
quadrille dump --dir "$work/dumps" --output "$work/dumps.nq"
pages_of() { # host: how many of its documents were fetched
    awk -F'\t' -v h="$1.example" '$2 == h && $4 ~ "^/id/"' "$web_log" | wc -l
}
for dump in plain.nt.gz broken.nt norest.nt patient.nt; do # the sample is fetched, the rest is the dump's
    h=${dump%%.*}
    fetched=$(pages_of "$h")
    [[ $fetched -ge 1 && $fetched -le $((count / 20)) ]] || fail "$fetched documents of $h were fetched beside the dump"
    quadrille meta --dir "$work/dumps" "http://$h.example/id/$count" >"$work/meta"
    grep -qF "wasDerivedFrom <ftp://ftp.example/pub/$dump>" "$work/meta" || fail "$h: $(cat "$work/meta")"
done
[[ $(pages_of refused) -ge $count ]] ||
    fail "what cannot be had by its dump is not crawled"
run "$work/pages" --set datasets.plan=no
quadrille dump --dir "$work/pages" --output "$work/pages.nq"
same "$work/pages.nq" "$work/dumps.nq" "by FTP and one by one"
[[ $(wc -l <"$work/dumps.nq") -gt $((5 * 3 * count)) ]] || fail "$(wc -l <"$work/dumps.nq") quads"
size=$(stat -c %s "$pub/broken.nt")
[[ $(commands RETR broken.nt | wc -l) -eq 3 && $(commands REST 29999 | wc -l) -ge 1 ]] || fail "not resumed: $(commands RETR broken.nt)"
[[ $(got broken) -lt $((size + 100)) ]] || fail "$(got broken) bytes for a dump of $size"
[[ $(commands RETR norest.nt | wc -l) -ge 2 && $(commands RETR norest.nt | tail -n 1 | cut -f8) -eq 0 ]] || fail "$(commands RETR norest.nt)"
awk -F'\t' '$4 == "USER" && $5 != "anonymous" || $4 == "PORT" || $4 == "EPRT"' "$ftp_log" | grep . && fail "not anonymous, or active"
[[ $(commands RETR robots.txt | wc -l) -le 1 && $(commands SIZE robots.txt | wc -l) -eq 1 ]] || fail "robots.txt: $(grep robots "$ftp_log")"
quadrille datasets --dir "$work/dumps" plain.example >"$work/out"
grep -q sliced "$work/out" || fail "$(cat "$work/out")"
echo "documents: $(wc -l <"$work/dumps.nq") quads, the same bytes; $(got broken) bytes for $size in three parts"

# ---- what is noted and archived ----

quadrille meta --dir "$work/dumps" ftp://ftp.example/pub/broken.nt >"$work/meta"
grep -qE 'ftpReply "?226' "$work/meta" && grep -q 'creativeWorkStatus "fetched"' "$work/meta" || fail "$(cat "$work/meta")"
quadrille explain --dir "$work/dumps" ftp://ftp.example/pub/broken.nt >"$work/explained"
grep -qE 'reply +226' "$work/explained" && grep -q 'no documents' "$work/explained" || fail "$(cat "$work/explained")"
quadrille explain --dir "$work/dumps" ftp://ftp.example/pub/refused.nt >"$work/explained"
grep -q 'the server replied 550' "$work/explained" || fail "$(cat "$work/explained")"
python3 "$root/tests/pipeline/warc_check.py" "$work"/dumps/warc/*.warc.gz >"$work/out" || fail "$(cat "$work/out")"
grep -q resource "$work/out" || fail "no resource: $(cat "$work/out")"
cat "$work"/dumps/warc/*fetch*.warc.gz | gunzip | tr -d '\r' >"$work/warc"
grep -A3 '^WARC-Type: resource' "$work/warc" | grep -q '^WARC-Target-URI: ftp://ftp.example/pub/broken.nt' || fail 'no resource record'
grep -q '^Content-Type: text/x-ftp-control' "$work/warc" && grep -q '^RETR plain.nt.gz' "$work/warc" || fail 'no dialogue'
quadrille verify --dir "$work/dumps" >"$work/out" || fail "verify: $(cat "$work/out")"

# ---- manners: one connection at a time, and a rest between ----

politely() { # log, seconds
    # By the times at which commands came, of which the client awaits the replies: that it has left may be noted late.
    # It rests from the end of a transfer on, and says QUIT meanwhile.
    LC_ALL=C sort -s -n -k 1,1 "$1" | awk -F'\t' -v least="$2" '
        $4 == "end" { next }
        $2 != number {
            if ($2 in seen) { print "two at a time: " $0; exit }
            if (told && $1 - told < least) { print "after " $1 - told " s: " $0; exit }
        }
        { number = $2; seen[$2] } $4 != "QUIT" { told = $1 }'
}
[[ -z $(politely "$ftp_log" 0) ]] || fail "$(politely "$ftp_log" 0)"
: >"$ftp_log"
faults 'break /pub/broken.nt 40000 9'
delay=400ms
echo http://broken.example/ >"$work/seeds"
run "$work/polite" --set scope.hosts=broken.example
unset delay
[[ $(grep -c "end" "$ftp_log") -ge 3 && -z $(politely "$ftp_log" 0.38) ]] || fail "$(politely "$ftp_log" 0.38), $(cat "$ftp_log")"

# ---- again ----

again() { # directory, host: its sitemap is visited again
    : >"$ftp_log"
    mapfile -t settings < <(web_settings)
    quadrille up --dir "$1" --background --only queue >/dev/null
    quadrille add --dir "$1" --again "http://$2/sitemap.xml" "${settings[@]}" >/dev/null
    quadrille down --dir "$1"
    echo "http://$2/" >"$work/seeds"
    run "$1"
}
faults
again "$work/dumps" broken.example
[[ $(commands SIZE broken.nt | wc -l) -eq 1 && $(awk -F'\t' '$4 == "RETR"' "$ftp_log" | wc -l) -eq 0 ]] || fail "unchanged: $(cat "$ftp_log")"
quadrille dump --dir "$work/dumps" --output "$work/is.nq"
same "$work/dumps.nq" "$work/is.nq" unchanged
triples broken.example 2 $((count + 3)) new >"$pub/broken.nt"
touch -d "+5 seconds" "$pub/broken.nt" # servers tell the time in seconds
triples broken.example 7 7 new >"$hosts/broken.example/id/7"
again "$work/dumps" broken.example
[[ $(commands RETR broken.nt | wc -l) -eq 1 ]] || fail "changed: $(cat "$ftp_log")"
dump_of "$work/dumps" broken.example >"$work/is"
[[ $(grep -c '"new ' "$work/is") -eq $((count + 2)) && $(grep -c /id/1\> "$work/is") -eq 0 ]] || fail "the new version is not in the index"
echo "again: unchanged without a download, changed by one"

# ---- it changes between two parts; it is killed ----

site moving.example ftp://ftp.example/pub/moving.nt
faults 'break /pub/moving.nt 40000 1'
triples moving.example 1 "$count" old >"$pub/moving.nt"
triples moving.example 1 $((count + 1)) >"$work/new.nt"
echo http://moving.example/ >"$work/seeds"
: >"$ftp_log"
run "$work/moving" --set fetch.retry=1500ms &
running=$!
for _ in $(seq "$patience"); do
    [[ -n $(commands RETR moving.nt) ]] && break
    sleep 0.05
done
mv "$work/new.nt" "$pub/moving.nt"
wait $running || fail "crawl of what moves"
[[ $(commands RETR moving.nt | awk -F'\t' '$8 == 0' | wc -l) -ge 2 ]] || fail "two versions in one file: $(commands RETR moving.nt)"
[[ $(dump_of "$work/moving" moving.example | grep -c '"old ') -eq 0 ]] || fail "the old version is in the index"
[[ $(dump_of "$work/moving" moving.example | grep -c '"thing ') -eq $((count + 1)) ]] || fail "not the new version"

site killed.example ftp://ftp.example/pub/killed.nt
triples killed.example 1 "$count" >"$pub/killed.nt"
faults 'slow /pub/killed.nt 40000'
echo http://killed.example/ >"$work/seeds"
: >"$ftp_log"
run "$work/killed" &
running=$!
kill_downloads "$work/killed" 1 30000
wait $running || fail "crawl with killed downloads"
dump_of "$work/killed" killed.example | sed 's/killed.example/plain.example/g; s/_:[A-Za-z0-9]*/_:b/g' | LC_ALL=C sort >"$work/is"
dump_of "$work/pages" plain.example | sed 's/_:[A-Za-z0-9]*/_:b/g' | LC_ALL=C sort >"$work/should"
same "$work/should" "$work/is" killed
[[ $(commands RETR killed.nt | awk -F'\t' '$8 > 0' | wc -l) -ge 1 ]] || fail "not resumed: $(commands RETR killed.nt)"
[[ -z $(find "$work"/*/dumps -type f) ]] || fail "files are left: $(ls "$work"/*/dumps)"
echo "downloads: changed in between, killed $kills times"

# ---- plan and validate; what no dump is ----

ask() { "$bin/quadrille" "$@" --set fetch.connect_to="$connect" --set fetch.allow_address=127.0.0.0/8 --set fetch.delay=0; }
faults
ask datasets plan plain.example >"$work/plan"
grep -qE '\* dump +2 requests, [0-9.]+ kB' "$work/plan" || fail "$(cat "$work/plan")"
ask datasets validate http://plain.example/sitemap.xml >"$work/out" || fail "$(cat "$work/out")"
site odd.example ftp://ftp.example/pub/ 'ftp://ftp.example/pub/*.nt' sftp://ftp.example/x.nt ftp://ftp.example/none.nt
ask datasets plan odd.example >"$work/plan"
grep -q '^    dump  *- ftp://ftp.example/pub/: a directory' "$work/plan" || fail "$(cat "$work/plan")"
code=0
ask datasets validate http://odd.example/sitemap.xml >"$work/out" 2>&1 || code=$?
[[ $code -eq 100 ]] || fail "validate of an odd sitemap: $code"
for reason in 'a directory; by FTP' 'a pattern; by FTP' 'SSH is not spoken' 'the server replied 550'; do
    grep -q "unreachable: .*$reason" "$work/out" || fail "no \"$reason\": $(cat "$work/out")"
done

# ---- TLS, credentials, robots.txt, links ----

command -v openssl >/dev/null || skip "apt-get install openssl"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ftp.example \
    -addext subjectAltName=DNS:ftp.example -keyout "$work/key.pem" -out "$work/ca.pem" 2>"$work/openssl.log" ||
    fail "openssl: $(cat "$work/openssl.log")"
cat "$work/ca.pem" "$work/key.pem" >"$work/both.pem"
start_ftp ftps "$work/both.pem"
ftp_pids+=("$ftp_pid")
echo 'ftps://ftp.example basic me:secret' >"$work/credentials"
chmod 600 "$work/credentials"
site secure.example ftps://ftp.example/pub/secure.nt
triples secure.example 1 "$count" >"$pub/secure.nt"
echo http://secure.example/ >"$work/seeds"
connect=ftp=127.0.0.1:$ftp_port,127.0.0.1:$web_port
run "$work/secure" --set fetch.ca_file="$work/ca.pem" --set fetch.credentials="$work/credentials"
[[ $(dump_of "$work/secure" secure.example | wc -l) -eq $((3 * count)) ]] || fail "by TLS: $(dump_of "$work/secure" secure.example | wc -l)"
[[ $(commands RETR secure.nt | awk -F'\t' '$3 == "me" && $7 > 0' | wc -l) -eq 1 ]] || fail "$(cat "$ftp_log")"
[[ $(zcat "$work"/secure/warc/*.warc.gz | grep -ca secret) == 0 ]] || fail 'the password is archived'
# robots.txt of the FTP host forbids it: the documents are crawled. A link to FTP is none.
printf 'User-agent: *\nDisallow: /pub/\n' >"$work/ftp/robots.txt"
printf '<html><a href="ftp://ftp.example/pub/secure.nt">x</a></html>' >"$hosts/secure.example/index.html"
: >"$ftp_log"
run "$work/forbidden" --set fetch.ca_file="$work/ca.pem" --set fetch.credentials="$work/credentials"
[[ $(commands RETR robots.txt | wc -l) -eq 1 && $(commands RETR secure.nt | wc -l) -eq 0 ]] || fail "robots.txt: $(cat "$ftp_log")"
[[ $(dump_of "$work/forbidden" secure.example | wc -l) -eq $((3 * count)) ]] || fail 'what robots.txt forbids is not crawled'
echo 'TLS, credentials, robots.txt'
