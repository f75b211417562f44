#!/usr/bin/env bash
# The care of an index: backups while it is written to hold whole documents and restore to a clean
# index with the same dump; compacting gives space back and leaves the same dump wherever it is
# killed; the VoID description has the numbers that SPARQL counts; explain finds what was crawled.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/one.example
mkdir -p "$site"
cat >"$site/index.html" <<'H'
<!DOCTYPE html><html lang="en"><title>The first page</title>
<a href="data.ttl">data</a>
H
cat >"$site/data.ttl" <<'T'
@prefix foaf: <http://xmlns.com/foaf/0.1/> .

<#ann> a foaf:Person ; foaf:name "Ann" .
<#bob> a foaf:Person .
T
echo 'type /data.ttl text/turtle' >"$site/.serve"
start_web "$work/hosts"
echo http://one.example/ >"$work/seeds"
name=http://xmlns.com/foaf/0.1/name
expect() { # what, pattern: in the last output
    grep -qE -- "$2" "$work/out" || fail "$1: no $2 in: $(cat "$work/out")"
}

# ---- explain and VoID, of one partition and of three ----

value() { # directory, query: the only value
    quadrille query --dir "$1" --format csv "$2" | tr -d '\r' | sed -n 2p
}
for partitions in 1 3; do
    dir=$work/crawl$partitions
    crawl "$dir" --set index.partitions=$partitions >"$work/out" || fail "crawl: $(cat "$work/out")"
    quadrille explain --dir "$dir" "? <$name> \"Ann\" ." >"$work/out" || fail "explain"
    expect document '^http://one.example/data.ttl$'
    expect time '^  fetched +2[0-9]{3}-.*status 200'
    expect archive '^  archived +[^ ]+\.warc[^ ]* offset [0-9]+ length [0-9]+ record .*uuid'
    expect transforms '^  transforms +rdf/|^  transforms +[a-z]+/[0-9]+'
    quadrille explain --dir "$dir" --extractor "? $name ? http://one.example/data.ttl" \
        >"$work/out" || fail "explain --extractor"
    expect statement '^  says +<http://one.example/data.ttl#ann> .*"Ann"'
    expect extractor '^    by +[a-z]+/[0-9]+ from line [0-9]+'
    [[ $(quadrille explain --dir "$dir" --limit 1 '? ? ?' | grep -c '^http') -eq 1 ]] ||
        fail "explain --limit"
    if quadrille explain --dir "$dir" '? <urn:none> ?' 2>/dev/null; then fail "explained nothing"; fi

    quadrille status --dir "$dir" --void >"$work/void.ttl" || fail "status --void"
    for pair in 'void#triples|SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }' \
        'void#properties|SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }' \
        'void#classes|SELECT (COUNT(DISTINCT ?c) AS ?n) { ?s a ?c }'; do
        # the dataset's own value: partitions are blank nodes
        got=$(rapper -q -i turtle -o ntriples "$work/void.ttl" http://void.example/ |
            grep -F '<urn:x-quadrille:index>' | grep -F "${pair%%|*}>" |
            sed -E 's/.* "([0-9]+)"\^\^.*/\1/')
        [[ $got == "$(value "$dir" "${pair#*|}")" ]] ||
            fail "VoID says ${pair%%|*} $got, SPARQL $(value "$dir" "${pair#*|}")"
    done
    grep -qF "void:property <$name> ; void:triples 1 " "$work/void.ttl" &&
        grep -qF 'void:class <http://xmlns.com/foaf/0.1/Person> ; void:entities 2 ' \
            "$work/void.ttl" || fail "VoID: $(cat "$work/void.ttl")"
done

# ---- backups while documents come in ----

make_quads() { # first document, last, value
    awk -v first="$1" -v last="$2" -v value="$3" 'BEGIN {
        for (d = first; d <= last; d++) for (i = 0; i < 15; i++)
            printf "<http://h%d.example/%d#%d> <http://p.example/%d> \"%s %d of %d\" " \
                "<http://h%d.example/%d> .\n", d % 9, d, i, i % 5, value, i * d % 977, d, d % 9, d
    }'
}
dir=$work/crawl3
documents=$(brief 7000 3000) # of 15 quads
first=$((documents * 2 / 7))
half=$((documents * 40 / 7)) # quads of the first half of what comes in during a backup
make_quads 1 "$first" first >"$work/first.nq"
make_quads $((first + 1)) "$documents" later >"$work/later.nq"
quadrille import --dir "$dir" "$work/first.nq" >"$work/out" 2>&1 || fail "import: $(cat "$work/out")"
mapfile -t settings < <(web_settings)
quadrille up --dir "$dir" --background "${settings[@]}"
quadrille dump --dir "$dir" --output "$work/before.nq"
# The import waits for its second half until a backup was made beside it.
mkfifo "$work/later"
quadrille import --dir "$dir" --format nquads - <"$work/later" >"$work/import.out" 2>&1 &
import=$!
exec 7>"$work/later"
head -n "$half" "$work/later.nq" >&7
for n in 1 2; do
    kill -0 $import || fail "the import has ended: $(cat "$work/import.out")"
    quadrille backup --dir "$dir" "$work/saved$n" >"$work/out" || fail "backup: $(cat "$work/out")"
    [[ ! -e $work/saved$n.partial && -f $work/saved$n/MANIFEST ]] || fail "an unfinished backup"
    if [[ $n -eq 1 ]]; then # the second is made while the rest comes in, or when it has
        tail -n +$((half + 1)) "$work/later.nq" >&7
        exec 7>&-
    fi
done
wait $import || fail "import: $(cat "$work/import.out")"
quadrille backup --dir "$dir" "$work/saved3" >"$work/out" || fail "backup: $(cat "$work/out")"
n=3
quadrille down --dir "$dir"
quadrille dump --dir "$dir" --output "$work/after.nq"
graphs() { grep -o '<[^>]*> \.$' "$1" | LC_ALL=C sort | uniq -c; }
graphs "$work/after.nq" >"$work/whole"
for ((i = 1; i <= n; i++)); do
    quadrille restore --dir "$work/restored$i" "$work/saved$i" >"$work/out" ||
        fail "restore $i: $(cat "$work/out")"
    dump_and_verify "$work/restored$i" "$work/restored$i.nq"
    # all that was there before, nothing that never was, each document whole
    [[ -z $(LC_ALL=C comm -23 "$work/before.nq" "$work/restored$i.nq" | head -n 1) ]] ||
        fail "backup $i lacks what was there before it"
    [[ -z $(LC_ALL=C comm -13 "$work/after.nq" "$work/restored$i.nq" | head -n 1) ]] ||
        fail "backup $i has what never was there"
    graphs "$work/restored$i.nq" >"$work/parts"
    [[ -z $(comm -23 <(sort "$work/parts") <(sort "$work/whole") | head -n 1) ]] ||
        fail "backup $i has a part of a document"
    if [[ $i -lt $n ]]; then rm -rf "$work/restored$i" "$work/saved$i"; fi
done
same "$work/after.nq" "$work/restored$n.nq" "the backup after the import"
(($(quadrille search --dir "$work/restored$n" --limit 3 later | wc -l) == 3)) ||
    fail "the restored index does not find words"

# What is damaged, unfinished or in the way is refused.
refuse() { # what, command...
    if "${@:2}" >"$work/out" 2>&1; then fail "$1 was taken"; fi
}
refuse "a full folder" quadrille restore --dir "$work/restored$n" "$work/saved$n"
refuse "a target that is there" quadrille backup --dir "$dir" "$work/saved$n"
cp -r "$work/saved$n" "$work/damaged"
damaged=$work/damaged/index-1/terms.db
was=$(dd if="$damaged" bs=1 skip=5000 count=1 status=none | tr '\0' -)
printf %s "$([[ $was == x ]] && echo y || echo x)" |
    dd of="$damaged" bs=1 seek=5000 conv=notrunc status=none
refuse "a damaged backup" quadrille restore --dir "$work/never" "$work/damaged"
grep -q 'terms.db is not what MANIFEST says' "$work/out" || fail "$(cat "$work/out")"
[[ ! -e $work/never ]] || fail "a damaged backup was restored"
rm -rf "$work/never.partial" "$work/damaged/MANIFEST"
refuse "an unfinished backup" quadrille restore --dir "$work/never" "$work/damaged"

# ---- compacting ----

rm -rf "$work"/restored* "$work"/saved* "$work/damaged"
quadrille update --dir "$dir" 'DELETE { GRAPH ?g { ?s ?p ?o } } WHERE {
    GRAPH ?g { ?s ?p ?o } FILTER(?p IN (<http://p.example/1>, <http://p.example/2>,
    <http://p.example/3>)) }' >"$work/out" || fail "update: $(cat "$work/out")"
quadrille dump --dir "$dir" --output "$work/before.nq"
killed=0
for at in torn:30 kill:300 torn:900; do
    rm -rf "$work/copy"
    cp -r "$dir" "$work/copy"
    if QUADRILLE_INDEX_FAULT=$at timeout -s INT 2 "$hooked/quadrille" compact --dir "$work/copy" \
        >"$work/out" 2>&1; then
        break
    fi
    killed=$((killed + 1))
    dump_and_verify "$work/copy" "$work/copy.nq"
    same "$work/before.nq" "$work/copy.nq" "compacting killed at write $at"
done
[[ $killed -ge 2 ]] || fail "compacting was killed $killed times only: $(cat "$work/out")"
bytes() { cat "$1"/index-*/quads-* | wc -c; }
before=$(bytes "$dir")
quadrille compact --dir "$dir" >"$work/out" || fail "compact: $(cat "$work/out")"
[[ $(grep -c '^all files: ' "$work/out") -eq 3 ]] || fail "compact says $(cat "$work/out")"
after=$(bytes "$dir")
((after * 4 < before * 3)) || fail "compacting made $after of $before bytes"
dump_and_verify "$dir" "$work/after.nq"
same "$work/before.nq" "$work/after.nq" "compacted"

# With batches coming in at the same time.
quadrille up --dir "$dir" --background "${settings[@]}"
make_quads 100 $((documents * 5 / 7)) last >"$work/last.nq"
quadrille import --dir "$dir" "$work/last.nq" >"$work/import.out" 2>&1 &
import=$!
for _ in 1 2 3; do quadrille compact --dir "$dir" >"$work/out" || fail "compact: $(cat "$work/out")"; done
wait $import || fail "import: $(cat "$work/import.out")"
quadrille down --dir "$dir"
dump_and_verify "$dir" "$work/last.dump"
LC_ALL=C sort -u "$work/before.nq" "$work/last.nq" >"$work/expected"
same "$work/expected" "$work/last.dump" "compacted during an import"
echo "backup: $n backups (the first two beside an import), compacting killed $killed times, $before to $after bytes"
