#!/usr/bin/env bash
# Who is the same, over three partitions, of what was crawled: the ontology is a link of the documents that use it and
# is found behind a 303; reasons go with their document and with what the ontology says, an index that is killed loses
# none of them, and what an operator decides holds.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
web=$work/hosts
mkdir -p "$web"/{a,b,c,vocab}.example/ns
prefixes='@prefix v: <http://vocab.example/ns/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .'
echo "$prefixes <#x> v:mail <mailto:x@a.example> ; v:name 'Ann' ." >"$web/a.example/index.ttl"
echo "$prefixes <#x> v:mail <mailto:x@a.example> ; v:name 'Anne' ." >"$web/b.example/index.ttl"
echo "$prefixes v:name a owl:InverseFunctionalProperty .
    <#x> owl:sameAs <http://b.example/index.ttl#x> ; v:name 'Ann' ." >"$web/c.example/index.ttl"
echo "$prefixes v:mail a owl:InverseFunctionalProperty . v:name owl:versionInfo 1 ." >"$web/vocab.example/spec.ttl"
printf 'redirect /ns/mail http://vocab.example/spec.ttl\nredirect /ns/name http://vocab.example/spec.ttl\n' \
    >"$web/vocab.example/.faults"
printf 'http://%s.example/index.ttl\n' a b c >"$work/seeds"
printf 'policy vocabularies\n' >"$work/queries"
start_faulty_web "$web"

dir=$work/d
crawl "$dir" --set index.partitions=3 --set extract.queries="$work/queries" \
    --set scope.domains=a.example,b.example,c.example,vocab.example >"$work/out" || fail "crawl: $(cat "$work/out")"
[[ $(grep -c 'spec.ttl' "$web_log") -eq 1 ]] || fail "fetches of the ontology: $(cat "$web_log")"
mapfile -t settings < <(web_settings)
quadrille up --dir "$dir" --background --only metastore,index "${settings[@]}"

a=http://a.example/index.ttl b=http://b.example/index.ttl c=http://c.example/index.ttl
members() { # resource: the others, sorted
    quadrille identity --dir "$dir" --json "$1" >"$work/identity.json" || fail "identity $1"
    python3 -c 'import json, sys; print(*(m[8] for m in json.load(open(sys.argv[1]))["members"]), sep="")' \
        "$work/identity.json"
}
is() { # expected, resource, when
    local found
    found=$(members "$2")
    [[ $found == "$1" ]] || fail "$3: $2 is the same as $found instead of $1: $(cat "$work/identity.json")"
}
is abc "$a#x" 'after the crawl'
is abc "$c#x" 'after the crawl'
python3 - "$work/identity.json" <<'EOP' || fail "the reasons: $(cat "$work/identity.json")"
import json, sys
found = json.load(open(sys.argv[1]))
assert found["setAside"] == found["undefined"] == [], found
assert {r.get("ontology") for r in found["reasons"]} == {None, "<http://vocab.example/spec.ttl>"}, found
assert {r["document"][8] for r in found["reasons"]} == {"a", "b", "c"}, found
EOP
# The values that several share, also of a property that only a stranger calls identifying; and one that is refused.
echo '<http://e.example/1> <http://vocab.example/ns/mail> "n/a" .
<http://e.example/2> <http://vocab.example/ns/mail> "n/a" .
<http://e.example/3> <http://vocab.example/ns/mail> "n/a" .' >"$work/filler.nt"
quadrille import --dir "$dir" "$work/filler.nt" >"$work/out" 2>&1 || fail "import: $(cat "$work/out")"
quadrille identity --dir "$dir" >"$work/shared" || fail "what is shared"
v=http://vocab.example/ns
{
    printf '3\t<%s/mail>\t"n/a"\t<http://e.example/1>\trefused\n' "$v"
    printf '2\t<%s/mail>\t<mailto:x@a.example>\t<%s#x>\t\n' "$v" "$a"
    printf '2\t<%s/name>\t"Ann"\t<%s#x>\t\n' "$v" "$a"
} >"$work/expected"
cmp "$work/expected" "$work/shared" || fail "what is shared: $(cat "$work/shared")"

names=$(quadrille query --dir "$dir" --format tsv "SELECT ?n { GRAPH q:identity { <$a#x> owl:sameAs ?x }
    ?x <http://vocab.example/ns/name> ?n } ORDER BY ?n" | tail -n +2 | paste -sd ' ')
[[ $names == '"Ann" "Ann" "Anne"' ]] || fail "the names of all: $names"

# What an operator says holds, also after kill -9, and until it is taken back.
quadrille identity --dir "$dir" --split "$b#x" "$c#x"
pkill -KILL -f -- "quadrille-index --dir $dir"
is c "$c#x" 'split'
is ab "$b#x" 'split'
quadrille identity --dir "$dir" --forget "$b#x" "$c#x"
is abc "$b#x" 'taken back'

# A document that goes takes its reasons, an ontology that says less those of all who use it.
quadrille update --dir "$dir" "CLEAR GRAPH <$c>" >/dev/null
is ab "$a#x" 'after a document went'
is c "$c#x" 'after it went'
quadrille update --dir "$dir" "DELETE DATA { GRAPH <http://vocab.example/spec.ttl> {
    <http://vocab.example/ns/mail> a owl:InverseFunctionalProperty } }" >/dev/null
is a "$a#x" 'after the ontology changed'
prints 'query#\(decisions\|identity\)' quadrille dump --dir "$dir" && fail "the dump has what nobody said"
true
