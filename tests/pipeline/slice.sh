#!/usr/bin/env bash
# quadrille slice: every syntax and packing gives the same documents; prefixes with methods of their
# own, names of documents, graphs; errors name file and line, and end with the right code.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH TMPDIR=$work

cat >"$work/a.nt" <<'TRIPLES'
<http://s.example/id/a> <urn:p> <http://s.example/id/b> .
<http://s.example/id/a> <urn:p> _:n .
_:n <urn:q> "of the node" .
<http://s.example/id/a#part> <urn:p> "fragment" .
<http://s.example/other/c> <urn:p> <http://s.example/id/a> .
<http://t.example/x> <urn:p> <http://s.example/id/b> .
<http://s.example/id/a> <urn:p> <http://s.example/id/b> .
TRIPLES

slice() { # options and files: the sorted result
    quadrille slice --quiet "$@" | sed 's/_:[^ ]*/_:n/g' | LC_ALL=C sort
}
expect() { # name; standard input: what must come
    diff - "$work/out" || fail "$1"
}

# ---- methods, prefixes, documents ----

slice --slicing subject --prefix http://s.example/id/ "$work/a.nt" >"$work/out"
expect subject <<'QUADS'
<http://s.example/id/a#part> <urn:p> "fragment" <http://s.example/id/a> .
<http://s.example/id/a> <urn:p> <http://s.example/id/b> <http://s.example/id/a> .
<http://s.example/id/a> <urn:p> _:n <http://s.example/id/a> .
QUADS
slice --prefix http://s.example/id/=CBD --prefix http://s.example/=subject-object \
    --suffix .rdf "$work/a.nt" >"$work/out"
expect 'two prefixes' <<'QUADS'
<http://s.example/id/a#part> <urn:p> "fragment" <http://s.example/id/a.rdf> .
<http://s.example/id/a> <urn:p> <http://s.example/id/b> <http://s.example/id/a.rdf> .
<http://s.example/id/a> <urn:p> _:n <http://s.example/id/a.rdf> .
<http://s.example/other/c> <urn:p> <http://s.example/id/a> <http://s.example/other/c.rdf> .
_:n <urn:q> "of the node" <http://s.example/id/a.rdf> .
QUADS
slice -m scbd --prefix http://s.example/id/b --replacement http://s.example/doc/ --suffix .html "$work/a.nt" \
    >"$work/out"
expect replacement <<'QUADS'
<http://s.example/id/a> <urn:p> <http://s.example/id/b> <http://s.example/doc/.html> .
<http://t.example/x> <urn:p> <http://s.example/id/b> <http://s.example/doc/.html> .
QUADS
printf '%s\n' '<urn:s> <urn:p> "in a graph" <http://g.example/d#it> .' '<http://s.example/id/a> <urn:p> "in none" .' \
    >"$work/g.nq"
slice "$work/g.nq" >"$work/out"
expect graphs <<'QUADS'
<http://s.example/id/a> <urn:p> "in none" <http://s.example/id/a> .
<urn:s> <urn:p> "in a graph" <http://g.example/d> .
QUADS

# ---- syntaxes, packings, threads, little memory ----

slice -m cbd "$work/a.nt" >"$work/expected"
[[ $(wc -l <"$work/expected") -eq 6 ]] || fail "cbd: $(cat "$work/expected")"
rapper -q -i ntriples -o rdfxml "$work/a.nt" >"$work/a.rdf" 2>/dev/null || cp "$work/a.nt" "$work/a.nt2"
cp "$work/a.nt" "$work/a.ttl"
gzip -k "$work/a.nt"
bzip2 -k "$work/a.nt"
xz -k "$work/a.nt"
tar -C "$work" -czf "$work/a.tar.gz" a.nt
python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z: z.write(sys.argv[2], "a.nt")' "$work/a.zip" "$work/a.nt"
for file in a.ttl a.rdf a.nt.gz a.nt.bz2 a.nt.xz a.tar.gz a.zip; do
    [[ -e $work/$file ]] || continue
    slice -m cbd "$work/$file" | diff "$work/expected" - || fail "$file gives other documents"
done
slice -m cbd --format ntriples - <"$work/a.nt" | diff "$work/expected" - || fail 'standard input'
slice -m cbd --threads 1 "$work/a.nt" | diff "$work/expected" - || fail 'one thread'
quadrille slice -m cbd -o "$work/written" "$work/a.nt" 2>"$work/told" || fail 'into a file'
sed 's/_:[^ ]*/_:n/g' "$work/written" | LC_ALL=C sort | diff "$work/expected" - || fail 'the file has something else'
grep -q '^7 triples, 0 of no resource here; 3 documents of 6 triples' "$work/told" || fail "told: $(cat "$work/told")"
# The same labels in two files are different nodes.
[[ $(quadrille slice -q -m cbd "$work/a.nt" "$work/a.ttl" | grep -c 'of the node') -eq 2 ]] || fail 'labels of two files'

# Many pieces and threads: line numbers and documents stay right.
python3 - >"$work/large.nt" <<'PYTHON'
for i in range(60000):
    print('<http://s.example/id/%d> <urn:p> <http://s.example/id/%d> .' % (i * 7919 % 10007, i % 30011))
PYTHON
slice -m subject-object "$work/large.nt" >"$work/out"
python3 - "$work/large.nt" <<'PYTHON' | LC_ALL=C sort -u | diff - "$work/out" || fail 'a larger dump'
import sys
for line in open(sys.argv[1]):
    s, p, o, dot = line.split()
    for document in {s, o}: print(s, p, o, document, ".")
PYTHON

# ---- the same in steps, by several processes that sort between ----

python3 - >"$work/nodes.nt" <<'PYTHON'
import random
random.seed(7)
iri = lambda: '<http://s.example/%s/%d%s>' % (random.choice(['id', 'other']), random.randrange(60), random.choice(['', '', '#part']))
node = lambda: '_:n%d' % random.randrange(200) if random.random() < .5 else iri()
for i in range(900):
    print(node(), '<urn:p:%d>' % random.randrange(5), random.choice([node(), node(), '"text\\t%d"' % random.randrange(9)]), '.')
PYTHON
split -n l/3 -d "$work/nodes.nt" "$work/split."
deal() { # sorted records to three parts, as a cluster would: all of a key to one
    LC_ALL=C sort -m "$work"/sorted.[0-9] | awk -F '\t' -v work="$work" '
        $1 != key { key = $1; part = (part + 1) % 3 } { print >(work "/part." part) }
        END { for (part = 0; part < 3; part++) printf "" >(work "/part." part) }'
}
steps() { # options of map
    local i round
    for i in 0 1 2; do
        quadrille slice map --file 1 "$@" <"$work/split.0$i" | LC_ALL=C sort >"$work/sorted.$i" &
    done
    wait
    for round in $(seq 50); do
        deal
        for i in 0 1 2; do
            quadrille slice follow <"$work/part.$i" 2>"$work/counter.$i" | LC_ALL=C sort >"$work/sorted.$i" &
        done
        wait
        cat "$work"/counter.[0-9] | grep -v 'reporter:counter:quadrille,wanted,0$' >"$work/more" || break
    done
    ((round > 1 && round < 50)) || [[ $* != *cbd* ]] || fail "steps $*: $round rounds"
    deal
    for i in 0 1 2; do
        quadrille slice reduce <"$work/part.$i" >"$work/reduced.$i" &
    done
    wait
    cat "$work"/reduced.[0-9]
}
for method in subject subject-object cbd scbd msg; do
    steps --slicing $method --prefix http://s.example/id/ --prefix http://s.example/other/=cbd --suffix .rdf |
        LC_ALL=C sort >"$work/out"
    quadrille slice --quiet --slicing $method --prefix http://s.example/id/ --prefix http://s.example/other/=cbd \
        --suffix .rdf "$work/nodes.nt" | LC_ALL=C sort | diff - "$work/out" >"$work/difference" ||
        fail "steps of $method: $(head -n 5 "$work/difference")"
    [[ $(wc -l <"$work/out") -gt 300 ]] || fail "steps of $method give little"
done
quadrille slice map "$work/nodes.nt" >"$work/out" 2>&1 && fail 'map takes no file'
for bad in 'no tab' $'key\tno triple' $'_:n\tX what'; do
    code=0
    if [[ $bad == _:* ]]; then step=follow; else step=reduce; fi
    quadrille slice $step <<<"$bad" >"$work/out" 2>&1 || code=$?
    [[ $code -eq 100 ]] || fail "$step of '$bad': exit $code, $(cat "$work/out")"
done

# ---- Turtle and RDF/XML stream ----

python3 - "$work" <<'PYTHON'
import sys
turtle = open(sys.argv[1] + '/stream.ttl', 'w')
xml = open(sys.argv[1] + '/stream.rdf', 'w')
lines = open(sys.argv[1] + '/stream.nt', 'w')
print('@prefix : <http://s.example/id/> .', file=turtle)
print('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="urn:p:">', file=xml)
for i in range(20000):
    print(':%d <urn:p:q> "text %d." ; # .\n\t<urn:p:r> :%d .' % (i, i, i + 1), file=turtle)
    print('<rdf:Description rdf:about="http://s.example/id/%d"><p:q>text %d.</p:q>'
          '<p:r rdf:resource="http://s.example/id/%d"/></rdf:Description>' % (i, i, i + 1), file=xml)
    print('<http://s.example/id/%d> <urn:p:q> "text %d." .' % (i, i), file=lines)
    print('<http://s.example/id/%d> <urn:p:r> <http://s.example/id/%d> .' % (i, i + 1), file=lines)
print('</rdf:RDF>', file=xml)
PYTHON
slice -m subject-object "$work/stream.nt" >"$work/expected"
for file in stream.ttl stream.rdf; do
    slice -m subject-object "$work/$file" | cmp - "$work/expected" || fail "$file gives other documents"
    gzip -c "$work/$file" >"$work/$file.gz"
    slice -m subject-object "$work/$file.gz" | cmp - "$work/expected" || fail "$file.gz gives other documents"
done

# ---- errors ----

refused() { # expected code, pattern, arguments
    local code=0 expected=$1 pattern=$2
    shift 2
    quadrille slice --quiet "$@" >"$work/out" 2>&1 || code=$?
    [[ $code -eq $expected ]] && grep -q -- "$pattern" "$work/out" || fail "slice $*: exit $code, $(cat "$work/out")"
}
{ cat "$work/large.nt"; echo '<urn:s> <urn:p> bad .'; cat "$work/large.nt"; } >"$work/bad.nt"
refused 100 'bad.nt: line 60001, column' "$work/bad.nt"
quadrille slice --quiet --lenient -m subject-object "$work/bad.nt" 2>"$work/told" | LC_ALL=C sort >"$work/out2"
slice -m subject-object "$work/large.nt" | diff - "$work/out2" || fail 'lenient gives other documents'
grep -q 'bad.nt: line 60001' "$work/told" && grep -q '1 statements were malformed' "$work/told" ||
    fail "lenient: $(cat "$work/told")"
{ cat "$work/stream.ttl"; echo ':s :p :o bad .'; } >"$work/broken.ttl"
refused 100 'broken.ttl: line 40002, column' "$work/broken.ttl"
refused 100 'which FILE'
refused 100 'no RDF syntax' --format postscript "$work/a.nt"
refused 100 'is not subject' --slicing sideways "$work/a.nt"
refused 100 'its name tells no RDF syntax' "$work/told"
refused 111 'missing.nt' "$work/missing.nt"
refused 111 'nowhere' --output /nowhere/at/all "$work/a.nt"
head -c 200 "$work/a.nt.gz" | head -c -40 >"$work/short.nt.gz"
refused 100 'short.nt.gz' "$work/short.nt.gz"
