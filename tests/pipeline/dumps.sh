#!/usr/bin/env bash
# Dumps: each syntax in each packing gives the same documents; archives of several members; what is
# broken, encrypted or larger than it looks ends with a reason.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH TMPDIR=$work
command -v zstd >/dev/null || skip "packing dumps needs zstd"

python3 - "$work" <<'PYTHON'
import json, re, sys
folder = sys.argv[1]
node = lambda i: 'http://s.example/id/%d' % i
facts = [(i, 'q', '"text %d \u00e4"@en' % i) for i in range(40)] + [(i, 'r', i * 7 % 40) for i in range(40)]
line = lambda i, p, o: '<%s> <urn:p:%s> %s' % (node(i), p, o if isinstance(o, str) else '<%s>' % node(o))
def write(name, text): open(folder + '/' + name, 'w', encoding='utf-8').write(text)
lines = [line(*fact) for fact in facts]
write('d.nt', ''.join(l + ' .\n' for l in lines))
write('d.nq', ''.join(l + (' .\n' if n % 2 else ' _:none .\n') for n, l in enumerate(lines)))
write('d.ttl', '@prefix p: <urn:p:> .\n' + ''.join(re.sub('<urn:p:(.)>', r'p:\1', l) + ' .\n' for l in lines))
write('d.trig', '_:g {\n' + ' .\n'.join(lines[::2]) + '\n}\n' + ''.join(l + ' .\n' for l in lines[1::2]))
write('d.rdf', '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="urn:p:">\n' + ''.join(
    '<rdf:Description rdf:about="%s"><p:%s %s</rdf:Description>\n' % (node(i), p,
    'xml:lang="en">%s</p:%s>' % (o[1:-4], p) if isinstance(o, str) else 'rdf:resource="%s"/>' % node(o)) for i, p, o in facts) + '</rdf:RDF>\n')
write('d.jsonld', json.dumps([{'@id': node(i), 'urn:p:' + p: {'@value': o[1:-4], '@language': 'en'} if isinstance(o, str) else {'@id': node(o)}} for i, p, o in facts]))
PYTHON
zipped() { # archive, files
    python3 -c 'import sys, zipfile, os
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
    for path in sys.argv[2:]: z.write(path, "folder/" + os.path.basename(path))' "$@"
}
slice() {
    quadrille slice --quiet -m subject-object "$@" | LC_ALL=C sort
}

# ---- each syntax, each packing ----

slice "$work/d.nt" >"$work/expected"
[[ $(wc -l <"$work/expected") -gt 100 ]] || fail "$(wc -l <"$work/expected") lines"
cases=0
declare -A names=([nt]=ntriples [nq]=nquads [ttl]=turtle [trig]=trig [rdf]=rdfxml [jsonld]=jsonld)
for syntax in "${!names[@]}"; do
    file=$work/d.$syntax
    gzip -k "$file"
    bzip2 -k "$file"
    xz -k "$file"
    zstd -q "$file"
    tar -C "$work" -cf "$file.tar" "d.$syntax"
    tar -C "$work" -czf "$file.tgz" "d.$syntax"
    zstd -q "$file.tar"
    zipped "$file.zip" "$file"
    for packing in '' .gz .bz2 .xz .zst .tar .tgz .tar.zst .zip; do
        for threads in 1 2; do
            slice --threads $threads "$file$packing" | cmp -s - "$work/expected" ||
                fail "d.$syntax$packing with $threads threads gives other documents: $(quadrille slice "$file$packing" 2>&1 | tail -n 1)"
            cases=$((cases + 1))
        done
    done
    # Not even the name is needed.
    slice --format "${names[$syntax]}" - <"$file.gz" | cmp -s - "$work/expected" || fail "d.$syntax.gz from a pipe gives other documents"
done
[[ $cases -eq 108 ]] || fail "$cases cases"

slice --format ntriples --threads 2 <(cat "$work/d.nt") | cmp -s - "$work/expected" || fail 'a named pipe gives other documents'

# ---- several members: each by its own name, what is no RDF left out, each with its own blank nodes ----

head -n 40 "$work/d.nt" >"$work/one.nt"
tail -n +41 "$work/d.nt" | gzip >"$work/rest.nt.gz"
echo 'Read me, I am no RDF.' >"$work/README"
sed 's/^/# /' "$work/d.nt" >"$work/comments.ttl"
tar -C "$work" -czf "$work/mixed.tar.gz" README one.nt comments.ttl d.rdf d.jsonld
zipped "$work/mixed.zip" "$work/README" "$work/one.nt" "$work/comments.ttl" "$work/d.trig"
for file in mixed.tar.gz mixed.zip; do
    slice "$work/$file" | cmp -s - "$work/expected" || fail "$file gives other documents"
done
for name in one two; do
    echo '<http://s.example/x> <urn:p> _:n . _:n <urn:name> "'$name'" . <http://s.example/x> <urn:p> [] .' >"$work/$name.ttl"
    echo "<http://s.example/x> <urn:p> _:n ." >"$work/$name.nt"
done
zipped "$work/nodes.zip" "$work/one.ttl" "$work/two.ttl"
zipped "$work/lines.zip" "$work/one.nt" "$work/two.nt"
[[ $(slice "$work/nodes.zip" | grep -c _:) -eq 4 && $(slice --threads 2 "$work/lines.zip" | grep -c _:) -eq 2 ]] ||
    fail "members share blank nodes: $(slice "$work/nodes.zip" "$work/lines.zip")"
code=0
zipped "$work/useless.zip" "$work/README"
quadrille slice -q "$work/useless.zip" >"$work/out" 2>&1 || code=$?
[[ $code -eq 100 ]] && grep -q 'tells no RDF syntax' "$work/out" || fail "no RDF within: $code, $(cat "$work/out")"

# ---- broken, encrypted, larger than they look: a reason, never a crash or half a success ----

refused() { # file, pattern
    code=0
    (ulimit -v 4000000; exec quadrille slice --quiet --threads 2 "$1") >"$work/out" 2>&1 || code=$?
    [[ $code -eq 100 || $code -eq 111 ]] && grep -qE -- "$2" "$work/out" || fail "$1: exit $code, $(tail -c 300 "$work/out")"
}
for packing in gz bz2 xz zst tgz tar.zst zip; do
    size=$(stat -c %s "$work/d.nt.$packing")
    head -c $((size / 2)) "$work/d.nt.$packing" >"$work/half.nt.$packing"
    refused "$work/half.nt.$packing" 'half.nt|d.nt'
done
python3 - "$work" <<'PYTHON'
import sys
for packing in 'gz', 'bz2', 'xz', 'zst':
    data = bytearray(open(sys.argv[1] + '/d.nt.' + packing, 'rb').read())
    for at in range(len(data) // 3, len(data) // 3 + 40): data[at] ^= 0x5a
    open(sys.argv[1] + '/wrong.nt.' + packing, 'wb').write(data)
data = bytearray(open(sys.argv[1] + '/d.nt.zip', 'rb').read())
data[6] |= 1 # encrypted
data[data.rindex(b'PK\1\2') + 8] |= 1
open(sys.argv[1] + '/secret.zip', 'wb').write(data)
PYTHON
for packing in gz bz2 xz zst; do
    refused "$work/wrong.nt.$packing" 'wrong.nt'
done
refused "$work/secret.zip" 'd.nt|secret.zip'
# 200 MB of one line out of 200 KB, in packings within packings, and 200 MB of an entity.
head -c 200000000 /dev/zero | tr '\0' a | gzip -9 >"$work/line.nt.gz"
refused "$work/line.nt.gz" 'line 1 is longer than'
gzip -k -c "$work/line.nt.gz" >"$work/line.nt.gz.gz"
refused "$work/line.nt.gz.gz" 'line 1 is longer than|name tells no'
{
    echo '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaaaaaaaaaaaa">'
    echo '<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    echo '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">'
    echo '<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">'
    echo '<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;">]>'
    echo '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="urn:p:">'
    echo '<rdf:Description rdf:about="http://s.example/x"><p:q>&e;&e;&e;&e;</p:q></rdf:Description></rdf:RDF>'
} | zstd -q -o "$work/entities.rdf.zst"
refused "$work/entities.rdf.zst" 'entit'
python3 -c 'print("[" * 100000)' | bzip2 >"$work/deep.jsonld.bz2"
refused "$work/deep.jsonld.bz2" 'deep.jsonld'
