#!/usr/bin/env bash
# Faults of downloads and of slicing: dumps broken off, resumed, changed in between, served with wrong
# ranges; processes killed in the middle of a download, and at every system call by which slicing
# makes something durable. The index is always the bytes of an undisturbed run. Then the dump changes:
# it is fetched anew, documents are replaced, come and go; when it has not, one conditional request.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
command -v strace >/dev/null || skip "no strace: apt-get install strace"
hosts=$work/hosts
count=${COUNT:-700}

triples() { # host, first, last, word
    for ((i = $2; i <= $3; i++)); do
        printf '<http://%s/id/%d> <http://vocab.example/name> "%s %d" .
<http://%s/id/%d> <http://vocab.example/part> _:p%d .
_:p%d <http://vocab.example/note> "%0200d" .\n' "$1" "$i" "${4:-thing}" "$i" "$1" "$i" "$i" "$i" "$i"
    done
}
document() { triples "$1" "$2" "$2" "${3:-thing}" >"$hosts/$1/id/$2"; } # host, number, word
site() { # host, lines of .faults
    mkdir -p "$hosts/$1/id"
    printf 'User-agent: *\nAllow: /\nSitemap: http://%s/sitemap.xml\n' "$1" >"$hosts/$1/robots.txt"
    printf '<html><title>%s</title></html>' "$1" >"$hosts/$1/index.html"
    printf '<urlset xmlns:sc="http://sw.deri.org/2007/07/sitemapextension"><sc:dataset>
<sc:linkedDataPrefix sc:slicing="cbd">http://%s/id/</sc:linkedDataPrefix>
<sc:sampleURI>http://%s/id/7</sc:sampleURI>%s</sc:dataset></urlset>' "$1" "$1" \
        "$(for d in "${@:3}"; do printf '<sc:dataDump>http://%s/%s</sc:dataDump>' "$1" "$d"; done)" \
        >"$hosts/$1/sitemap.xml"
    printf '%s' "$2" >"$hosts/$1/.faults"
    document "$1" 7
}
run() { # directory, further settings
    crawl "$1" --set fetch.retry=50ms --set fetch.attempts=20 --set fetch.backoff=50ms --set transform.wait=20 \
        --set processes.transform=1 "${@:2}" >"$work/out" || fail "crawl: $(cat "$work/out")"
}
dump_of() { # directory, host: its documents
    quadrille dump --dir "$1" | grep -F " <http://$2/id/" || true
}
expected() { # host, first, last, word
    triples "$@" >"$work/expected.nt"
}
# The documents of a host, with blank nodes left out, are what its dump says.
same_as_dump() { # directory, host
    dump_of "$1" "$2" | sed -E 's/_:[A-Za-z0-9]+/_:b/g; s# <[^>]*> \.$# .#' | LC_ALL=C sort >"$work/is"
    sed -E 's/_:[A-Za-z0-9]+/_:b/g' "$work/expected.nt" | LC_ALL=C sort >"$work/should"
    same "$work/should" "$work/is" "$2 in ${1##*/}"
}
gets() { awk -F'\t' -v h="$1" -v p="$2" '$2 == h && $4 == p' "$web_log"; } # host, path

# ---- downloads ----

faulty=(broken norange wrong untagged refused whole two)
site broken.example 'break /all.nt 100000 2
' all.nt
site norange.example 'break /all.nt 150000 1
ranges /all.nt no
' all.nt
site wrong.example 'break /all.nt 100000 1
ranges /all.nt wrong
' all.nt
site untagged.example 'break /all.nt 100000 2
etag /all.nt none
' all.nt
site refused.example 'status /all.nt 503 2
' all.nt
site whole.example '' all.nt
site two.example 'break /two.nt 50000 1
' one.nt two.nt
for h in "${faulty[@]}"; do triples "$h.example" 1 "$count" >"$hosts/$h.example/all.nt"; done
rm "$hosts/two.example/all.nt"
triples two.example 1 $((count / 2)) >"$hosts/two.example/one.nt"
triples two.example $((count / 2 + 1)) "$count" >"$hosts/two.example/two.nt"
start_faulty_web "$hosts"
seeds_of "$hosts" >"$work/seeds"
run "$work/faulty"
for h in "${faulty[@]}"; do
    expected "$h.example" 1 "$count"
    same_as_dump "$work/faulty" "$h.example"
done
gets broken.example /all.nt >"$work/gets"
[[ $(wc -l <"$work/gets") -eq 3 && $(awk -F'\t' '$5 == 206' "$work/gets" | wc -l) -eq 2 ]] ||
    fail "not resumed: $(cat "$work/gets")"
size=$(stat -c %s "$hosts/broken.example/all.nt")
sent=$(awk -F'\t' '{ n += $6 } END { print n }' "$work/gets")
[[ $sent -lt $((size + size / 10)) ]] || fail "$sent bytes for a dump of $size"
awk -F'\t' '$7 != "-" && $8 == "-"' "$web_log" | grep . && fail "a range without If-Range"
[[ $(gets untagged.example /all.nt | awk -F'\t' '$5 == 206' | wc -l) -eq 2 ]] || fail "not resumed by date"
dump_of "$work/faulty" whole.example >"$work/whole.nq"

# It changes between two parts of its download: the first part is of no use.
site moving.example 'break /all.nt 100000 1
slow /all.nt 400000
' all.nt
triples moving.example 1 "$count" old >"$hosts/moving.example/all.nt"
triples moving.example 1 "$count" new >"$work/new.nt"
echo http://moving.example/ >"$work/seeds"
: >"$web_log"
run "$work/moving" --set fetch.retry=1500ms &
running=$!
for _ in $(seq "$patience"); do
    [[ -n $(gets moving.example /all.nt) ]] && break
    sleep 0.05
done
document moving.example 7 new
mv "$work/new.nt" "$hosts/moving.example/all.nt"
wait $running || fail "crawl of what moves"
# Its sample was fetched before: either both are new, or the dumps are given up and documents crawled.
[[ $(gets moving.example /all.nt | awk -F'\t' '$5 == 200' | wc -l) -ge 2 ]] || fail "two versions in one file"
dump_of "$work/moving" moving.example | grep '"old ' | grep -v 'id/7>' && fail "the old version is in the index"

# ---- killed downloads ----

site killed.example 'slow /all.nt 200000
' all.nt
triples killed.example 1 "$count" >"$hosts/killed.example/all.nt"
echo http://killed.example/ >"$work/seeds"
: >"$web_log"
run "$work/killed" &
running=$!
kill_downloads "$work/killed" 1 60000 120000
wait $running || fail "crawl with killed downloads"
expected killed.example 1 "$count"
same_as_dump "$work/killed" killed.example
sent=$(gets killed.example /all.nt | awk -F'\t' '{ n += $6 } END { print n }')
size=$(stat -c %s "$hosts/killed.example/all.nt")
[[ $sent -lt $((2 * size)) ]] || fail "$sent bytes for a dump of $size"
echo "downloads: ${#faulty[@]} kinds of faults, $kills kills, $sent bytes for $size"

# ---- a download that a power failure ends ----

# Of what was not synced the file may have the size and other bytes; another boot is noted in the head.
site power.example 'slow /all.nt 100000
' all.nt
triples power.example 1 "$count" >"$hosts/power.example/all.nt"
echo http://power.example/ >"$work/seeds"
run "$work/power" 2>/dev/null &
running=$!
for _ in $(seq "$patience"); do
    n=$(stat -c %s "$work"/power/dumps/*.part 2>/dev/null) || n=0
    [[ ${n:-0} -ge 60000 ]] && break
    sleep 0.02
done
pkill -KILL -f -- "--dir $work/power"
wait $running && fail "the crawl ended before the power failed"
part=$(echo "$work"/power/dumps/*.part) head=$(echo "$work"/power/dumps/*.head)
n=$(stat -c %s "$part") # all but the last byte, which is compared with what comes
[[ $(stat -c %s "$head") -eq 512 && $n -ge 60000 ]] || fail "a head of $(stat -c %s "$head") bytes, $n of the dump"
head -c $((n - 1)) /dev/zero | dd of="$part" conv=notrunc status=none
sed -i -E 's/^([0-9]{20}) .{36} /\1 00000000-0000-0000-0000-000000000000 /' "$head"
run "$work/power"
expected power.example 1 "$count"
same_as_dump "$work/power" power.example
echo "downloads: whole after a power failure at $n bytes"

# ---- killed slicing: at each call that makes something durable ----

mapfile -t settings < <(web_settings)
echo http://whole.example/ >"$work/seeds"
dir=$work/points
run "$dir" --set datasets.plan=print
: >"$web_log"
quadrille up --dir "$dir" --background "${settings[@]}"
prepared() {
    prints 'dataset .*sliced' quadrille datasets --dir "$dir" whole.example
}
quadrille add --dir "$dir" --again http://whole.example/sitemap.xml "${settings[@]}" >/dev/null
for _ in $(seq "$patience"); do
    prepared && break
    sleep 0.5
done
prepared || fail "not sliced: $(quadrille datasets --dir "$dir")"
quadrille down --dir "$dir"
uri=$(sed -nE 's/.*event=dataset uri="([^"]*)".*/\1/p' "$dir"/log/*.log | head -n 1)
[[ -n $uri ]] || fail "no dataset in the log"
quadrille up --dir "$dir" --background --only queue,metastore,index,extract "${settings[@]}"
name=$(printf '%s' "$uri" | sed -E 's/.*=//')-all.nt
points=0
slower=$(brief 2 1)
for call in fdatasync fsync unlink sendto write pwrite64; do
    for ((n = 1; n < 2000; n += 1 + n / slower)); do # the first ones, then fewer and fewer
        cp "$hosts/whole.example/all.nt" "$dir/dumps/$name"
        code=0
        strace -f -qq -o /dev/null -e trace="$call" -e inject="$call":signal=KILL:when="$n" \
            quadrille datasets --dir "$dir" "${settings[@]}" --execute "$uri" >"$work/out" 2>&1 || code=$?
        [[ $code -eq 0 ]] && break
        points=$((points + 1))
    done
    echo "slicing: $call until the ${n}th"
done 2>/dev/null
cp "$hosts/whole.example/all.nt" "$dir/dumps/$name"
quadrille datasets --dir "$dir" "${settings[@]}" --execute "$uri" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
for _ in $(seq "$patience"); do
    quadrille status --dir "$dir" | awk '$1 == "index" && NF > 5 { exit $4 + $5 + $6 > 0 }' && break
    sleep 0.5
done
# Files are gone and all was done: nothing is done again, nothing is withdrawn.
quadrille datasets --dir "$dir" "${settings[@]}" --execute "$uri" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q '^done before' "$work/out" || fail "$(cat "$work/out")"
quadrille down --dir "$dir"
dump_of "$dir" whole.example >"$work/is"
same "$work/whole.nq" "$work/is" "slicing killed at $points points"
quadrille verify --dir "$dir" >"$work/out" || fail "verify: $(cat "$work/out")"
[[ $points -ge 10 ]] || fail "only $points points"
echo "slicing: killed at $points calls, the index is the same bytes"

# ---- again ----

again() { # directory, host: its sitemap is visited again
    : >"$web_log"
    quadrille up --dir "$1" --background --only queue >/dev/null
    quadrille add --dir "$1" --again "http://$2/sitemap.xml" "${settings[@]}" >/dev/null
    quadrille down --dir "$1"
    echo "http://$2/" >"$work/seeds"
    run "$1"
}
# Nothing has changed: one conditional request for the dump.
again "$work/faulty" whole.example
gets whole.example /all.nt >"$work/gets"
[[ $(wc -l <"$work/gets") -eq 1 && $(cut -f5 "$work/gets") == 304 ]] || fail "unchanged: $(cat "$work/gets")"
[[ $(grep -c /id/ "$web_log") -eq 0 ]] || fail "an unchanged dataset is fetched again: $(cat "$web_log")"
dump_of "$work/faulty" whole.example >"$work/is"
same "$work/whole.nq" "$work/is" "unchanged"
# Documents change, go and come.
sleep 1
document whole.example 7 new
triples whole.example 5 $((count + 5)) new >"$hosts/whole.example/all.nt"
again "$work/faulty" whole.example
expected whole.example 5 $((count + 5)) new
same_as_dump "$work/faulty" whole.example
quadrille meta --dir "$work/faulty" http://whole.example/id/2 >"$work/meta"
grep -q 'creativeWorkStatus "gone"' "$work/meta" || fail "$(cat "$work/meta")"
# One of two dumps changes: the other is needed again, too.
sleep 1
triples two.example 1 $((count / 2)) >"$hosts/two.example/one.nt"
triples two.example $((count / 2 + 1)) $((count - 1)) >"$hosts/two.example/two.nt"
touch -d '1 hour ago' "$hosts/two.example/one.nt"
again "$work/faulty" two.example
expected two.example 1 $((count - 1))
same_as_dump "$work/faulty" two.example
# It contradicts its samples: what is in the index stays, and nothing is covered any more.
sleep 1
triples whole.example 5 $((count + 5)) lie >"$hosts/whole.example/all.nt"
again "$work/faulty" whole.example
expected whole.example 5 $((count + 5)) new
same_as_dump "$work/faulty" whole.example
prints 'withdrawn: what the dumps say' quadrille datasets --dir "$work/faulty" whole.example ||
    fail "$(quadrille datasets --dir "$work/faulty" whole.example)"
again "$work/faulty" whole.example
document whole.example 9000 new
: >"$web_log"
echo http://whole.example/id/9000 >"$work/seeds"
run "$work/faulty"
[[ $(gets whole.example /id/9000 | wc -l) -eq 1 ]] || fail "a withdrawn dataset covers again"
quadrille verify --dir "$work/faulty" >"$work/out" || fail "verify: $(cat "$work/out")"
[[ -z $(find "$work"/faulty/dumps "$work"/killed/dumps -type f) ]] || fail "files are left: $(ls "$work"/*/dumps)"
echo "again: unchanged by one request; replaced, removed, new documents as in the dump"
