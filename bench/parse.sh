#!/usr/bin/env bash
# Parsers beside serdi, rapper and those of the npm registry on the same statements: thousand
# statements per CPU second, one row for each syntax and parser. Ours reads from memory to a sink
# that does nothing, libserd's and libraptor's programs from a file to /dev/null, those of npm from
# a file to a counter; start-up is in all figures but ours.
#
#   bench/parse.sh [STATEMENTS]       of $QUADRILLE_SHARED/bench/real1m.nq.xz
#   QUADRILLE_NODE_MODULES            folder that has n3, rdfxml-streaming-parser, jsonld and
#                                     jsonld-streaming-parser
set -u
programs=$(dirname "$0")/../build/bench
data=${QUADRILLE_SHARED:-../shared}/bench/real1m.nq.xz
statements=${1:-200000}
modules=${QUADRILLE_NODE_MODULES:-${XDG_CACHE_HOME:-$HOME/.cache}/quadrille-node/node_modules}
"$(dirname "$0")/build" || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ ! -r $data ]] || ! command -v xz serdi rapper >/dev/null; then
    echo "not measured: needs $data, xz, serdi and rapper"
    exit 0
fi
xz -dc "$data" 2>/dev/null | head -n "$statements" >"$work/data.nq"
serdi -i nquads -o ntriples "$work/data.nq" http://bench.example/ >"$work/data.nt" 2>/dev/null
serdi -i ntriples -o turtle "$work/data.nt" http://bench.example/ >"$work/data.ttl" 2>/dev/null
rapper -q -i ntriples -o rdfxml "$work/data.nt" http://bench.example/ >"$work/data.rdf" 2>/dev/null

row() { # syntax, parser, rate
    printf '%s\t%s\t%s\n' "$@"
}
rate() { # syntax, parser, command...: CPU time of a whole process, the best of three
    local syntax=$1 parser=$2 best='' took TIMEFORMAT='%U %S'
    shift 2
    if ! command -v "$1" >/dev/null; then
        row "$syntax" "$parser" 'not installed'
        return
    fi
    for _ in 1 2 3; do
        took=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }')
        best=$(printf '%s\n' "$took" $best | sort -n | head -n 1)
    done
    row "$syntax" "$parser" "$(awk -v n="$statements" -v t="$best" 'BEGIN { printf "%.0f", n / t / 1000 }')"
}
ours() { # syntax, file
    row "$1" quadrille "$("$programs/bench_parse" "$1" "$2" | cut -f4)"
}
node_rate() { # syntax, package, file, script with `file` and `done`
    if [[ ! -d $modules/$2 ]] || ! command -v node >/dev/null; then
        row "$1" "$2 (npm)" 'not installed'
        return
    fi
    printf '%s\n' "$4" >"$work/run.cjs"
    NODE_PATH=$(realpath "$modules") rate "$1" "$2 (npm)" node "$work/run.cjs" "$3"
}

printf 'syntax\tparser\tk statements per CPU second\n'
ours nquads "$work/data.nq"
rate nquads serdi serdi -i nquads -o nquads "$work/data.nq" http://bench.example/
rate nquads rapper rapper -q -c -i nquads "$work/data.nq" http://bench.example/
node_rate nquads n3 "$work/data.nq" '
const n3 = require("n3"), fs = require("fs"); let n = 0;
new n3.Parser({format: "N-Quads"}).parse(fs.createReadStream(process.argv[2]), (e, q) => { if (q) n++; });'
row nquads 'wc -l' "$(rate x x wc -l "$work/data.nq" | cut -f3)"
ours turtle "$work/data.ttl"
rate turtle serdi serdi -i turtle -o ntriples "$work/data.ttl" http://bench.example/
rate turtle rapper rapper -q -c -i turtle "$work/data.ttl" http://bench.example/
node_rate turtle n3 "$work/data.ttl" '
const n3 = require("n3"), fs = require("fs"); let n = 0;
new n3.Parser().parse(fs.createReadStream(process.argv[2]), (e, q) => { if (q) n++; });'
ours rdfxml "$work/data.rdf"
rate rdfxml rapper rapper -q -c -i rdfxml "$work/data.rdf" http://bench.example/
node_rate rdfxml rdfxml-streaming-parser "$work/data.rdf" '
const {RdfXmlParser} = require("rdfxml-streaming-parser"), fs = require("fs"); let n = 0;
fs.createReadStream(process.argv[2]).pipe(new RdfXmlParser({baseIRI: "http://bench.example/"}))
  .on("data", () => n++).on("error", () => {});'
# The same statements as JSON-LD: a context with all predicates, nodes with compact names.
python3 - "$work/data.nt" >"$work/data.jsonld" <<'PYTHON'
import json, re, sys
context, nodes = {}, {}
names = {}
def value(text):
    if text[0] == '<': return {"@id": text[1:-1]}
    if text[0] == '_': return {"@id": text}
    body, tail = re.match(r'"((?:[^"\\]|\\.)*)"(.*)$', text, re.S).groups()
    body = json.loads('"' + re.sub(r'\\U(\w{8})', lambda m: json.dumps(chr(int(m[1], 16)))[1:-1], body) + '"')
    if tail.startswith('@'): return {"@value": body, "@language": tail[1:]}
    if tail: return {"@value": body, "@type": tail[3:-1]}
    return body
for line in open(sys.argv[1], encoding="utf-8"):
    subject, predicate, obj = line.rstrip()[:-1].rstrip().split(' ', 2)
    name = names.setdefault(predicate, "p%d" % len(names))
    context[name] = predicate[1:-1]
    node = nodes.setdefault(subject, {"@id": subject.strip('<>')})
    node.setdefault(name, []).append(value(obj))
json.dump({"@context": context, "@graph": list(nodes.values())}, sys.stdout)
PYTHON
ours jsonld "$work/data.jsonld"
node_rate jsonld jsonld "$work/data.jsonld" '
const jsonld = require("jsonld"), fs = require("fs");
jsonld.toRDF(JSON.parse(fs.readFileSync(process.argv[2], "utf8"))).then((quads) => quads.length);'
node_rate jsonld jsonld-streaming-parser "$work/data.jsonld" '
const {JsonLdParser} = require("jsonld-streaming-parser"), fs = require("fs"); let n = 0;
fs.createReadStream(process.argv[2]).pipe(new JsonLdParser()).on("data", () => n++).on("error", () => {});'
