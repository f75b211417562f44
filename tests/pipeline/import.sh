#!/usr/bin/env bash
# Import: every syntax and packing gives the same quads; blank nodes are told apart by what is said of
# them, so a dump that is imported changes nothing, its labels renamed or not; what is
# malformed stops with file and line, or is left out when asked; an import that is killed goes on,
# with the same bytes in the end, with one partition and with three.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH

cat >"$work/a.ttl" <<'TURTLE'
@prefix : <urn:a:> .
:s :p 1 , "text"@en ; :q [ :r :s ] .
:t :p <relative> .
TURTLE
triples() { # directory, graph: its triples without labels
    quadrille dump --dir "$1" | grep -F " <$2> ." | sed -E "s/ <[^ ]*> \.$//; s/_:[^ ]*/_:x/g" | LC_ALL=C sort
}

# ---- syntaxes and packings ----

dir=$work/formats
quadrille init --dir "$dir" >/dev/null
quadrille import --dir "$dir" --quiet --graph urn:g:ttl --base http://b.example/ "$work/a.ttl" || fail "Turtle"
triples "$dir" urn:g:ttl >"$work/expected"
[[ $(wc -l <"$work/expected") -eq 5 ]] || fail "Turtle: $(cat "$work/expected")"
grep -q 'http://b.example/relative' "$work/expected" || fail "no base: $(cat "$work/expected")"
quadrille dump --dir "$dir" | sed 's/ <urn:g:ttl> \.$/ ./' >"$work/a.nt"
gzip -k "$work/a.nt"
bzip2 -k "$work/a.nt"
xz -k "$work/a.nt"
mkdir "$work/packed"
cp "$work/a.nt" "$work/packed/a.nt"
echo 'not RDF' >"$work/packed/README"
tar -C "$work" -czf "$work/a.tar.gz" packed
python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z: z.write(sys.argv[2], "a.nt")' "$work/a.zip" "$work/a.nt"
for file in a.nt a.nt.gz a.nt.bz2 a.nt.xz a.tar.gz a.zip; do
    quadrille import --dir "$dir" --quiet --graph "urn:g:$file" "$work/$file" || fail "$file"
    triples "$dir" "urn:g:$file" | diff "$work/expected" - || fail "$file gives other triples"
done
quadrille import --dir "$dir" --quiet --format ntriples --graph urn:g:stdin - <"$work/a.nt" || fail "standard input"
triples "$dir" urn:g:stdin | diff "$work/expected" - || fail "standard input gives other triples"
before=$(quadrille dump --dir "$dir" | sha256sum)
quadrille import --dir "$dir" --quiet --graph urn:g:a.zip "$work/a.zip" || fail "again"
[[ $(quadrille dump --dir "$dir" | sha256sum) == "$before" ]] || fail "importing twice is not the same as once"

# ---- blank nodes: isomorphic graphs are the same graph ----

echo '<urn:s> <urn:p> _:b <urn:labels> .' >"$work/one.nq"
printf '<urn:s> <urn:p> _:b <urn:labels> .\n_:b <urn:q> "other" <urn:labels> .\n' >"$work/two.nq"
echo '<urn:s> <urn:p> _:c <urn:labels> .' >"$work/three.nq"
quadrille import --dir "$dir" --quiet "$work/one.nq" "$work/two.nq" "$work/three.nq" || fail "labels"
[[ $(quadrille dump --dir "$dir" | grep -c 'urn:labels') -eq 3 ]] ||
    fail "labels of two files are one node, or isomorphic graphs are two: $(quadrille dump --dir "$dir")"
quadrille update --dir "$dir" 'INSERT DATA { GRAPH <urn:labels> { [] <urn:new> [ <urn:q> 1 ] } }' >/dev/null

same() { # what was done, directory, expected dump
    quadrille dump --dir "$2" --output "$work/now.nq"
    cmp "$3" "$work/now.nq" || fail "$1: the dump is another"
}
quadrille dump --dir "$dir" --output "$work/dump.nq"
awk '{ out = ""; line = $0
    while (match(line, /_:[A-Za-z0-9]+/)) {
        name = substr(line, RSTART + 2, RLENGTH - 2)
        if (!(name in names)) names[name] = "other" (100000 - ++count)
        out = out substr(line, 1, RSTART - 1) "_:" names[name]
        line = substr(line, RSTART + RLENGTH)
    }
    print out line }' "$work/dump.nq" | sort -R >"$work/renamed.nq"
! cmp -s "$work/dump.nq" "$work/renamed.nq" || fail "nothing was renamed"
for file in dump renamed; do
    quadrille import --dir "$dir" --quiet "$work/$file.nq" || fail "$file"
    same "import of $file" "$dir" "$work/dump.nq"
done
mkdir "$work/pieces"
split -l 3 "$work/dump.nq" "$work/pieces/piece."
for way in whole pieces; do
    quadrille init --dir "$work/$way-copy" >/dev/null
    case $way in whole) files=("$work/dump.nq") ;; *) files=("$work"/pieces/piece.*) ;; esac
    quadrille import --dir "$work/$way-copy" --quiet --format nquads "${files[@]}" || fail "$way"
    same "import of $way into an empty directory" "$work/$way-copy" "$work/dump.nq"
done

# ---- malformed ----

printf '<urn:s> <urn:p> "good" <urn:bad> .\n<urn:s> <urn:p> bad <urn:bad> .\n<urn:s> <urn:p> "too" <urn:bad> .\n' >"$work/bad.nq"
code=0
quadrille import --dir "$dir" --quiet "$work/bad.nq" >"$work/out" 2>&1 || code=$?
[[ $code -ne 0 ]] && grep -q 'bad.nq: line 2' "$work/out" || fail "malformed: exit $code, $(cat "$work/out")"
quadrille import --dir "$dir" --quiet --lenient "$work/bad.nq" >"$work/out" 2>&1 || fail "lenient: $(cat "$work/out")"
[[ $(quadrille dump --dir "$dir" | grep -c 'urn:bad') -eq 2 ]] && grep -q '1 statements were malformed' "$work/out" ||
    fail "lenient: $(cat "$work/out")"
code=0
quadrille import --dir "$dir" "$work/packed/README" >"$work/out" 2>&1 || code=$?
[[ $code -eq 100 ]] && grep -q 'tells no RDF syntax' "$work/out" || fail "unknown syntax: exit $code, $(cat "$work/out")"
quadrille verify --dir "$dir" >"$work/out" || fail "verify: $(cat "$work/out")"

# ---- killed, and graphs whose quads lie apart ----

awk -v quads="$(brief 180000 90000)" 'BEGIN { for (i = 0; i < quads; i++)
    printf "<urn:s:%d> <urn:p> \"value %d of many, long enough to fill requests %060d\" <urn:graph:%d> .\n", i, i, i, (i * 7919) % 3000 }' |
    tee "$work/many.nq" | LC_ALL=C sort >"$work/sorted.nq"
for partitions in 1 3; do
    dir=$work/p$partitions
    quadrille init --dir "$dir" >/dev/null
    set=(--set index.partitions=$partitions --set index.memory=16M)
    for pause in 0.3 0.6 0.9; do
        timeout -s KILL "$pause" quadrille import --dir "$dir" --quiet --memory 16 "${set[@]}" "$work/many.nq" 2>/dev/null || true
        pkill -KILL -f -- "--dir $dir" || true
        sleep 0.2
    done
    quadrille import --dir "$dir" --quiet "${set[@]}" "$work/many.nq" || fail "after kills"
    quadrille dump --dir "$dir" --output "$work/dump.nq"
    cmp "$work/sorted.nq" "$work/dump.nq" || fail "the index holds something else than the file"
    quadrille verify --dir "$dir" >"$work/out" || fail "verify: $(cat "$work/out")"
    [[ -z $(ls "$dir/import") ]] || fail "notes are left behind"
done
