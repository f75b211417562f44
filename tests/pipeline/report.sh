#!/usr/bin/env bash
# What publishers are told of their pages: the exact findings with lines, in all formats, whether
# the metadata store runs, was stopped or was killed.
. "$(dirname "$0")/lib.sh"
export PATH=$bin:$PATH
site=$work/hosts/shop.example
mkdir -p "$site/good" "$work/hosts/other.example"
cat >"$site/index.html" <<'H'
<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Shop</title>
<script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Store",
 "name": "Shop",}
</script>
<p><a href="bare.html">a</a> <a href="data">b</a> <a href="lost.html">c</a> <a href="bad.rdf">d</a>
<a href="broken.html">e</a> <a href="gone.html">f</a> <a href="bad.ttl">g</a> <a href="latin.html">h</a>
<a href="moved">i</a> <a href="good/1.html">j</a> <a href="typeless">k</a> <a href="cut.jsonld">l</a>
<a href="http://other.example/">m</a> <a href="away">n</a>
H
for i in 1 2; do
    cat >"$site/good/$i.html" <<H
<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Good $i</title><a href="2.html">next</a>
<a href="?PHPSESSID=0123456789abcdef0123456789abcdef">again</a>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Thing", "name": "$i"}</script>
H
done
sed -i 's,https://schema.org,http://other.example/context.jsonld,' "$site/good/2.html"
echo '{"@context": {"@vocab": "http://schema.org/"}}' >"$work/hosts/other.example/context.jsonld"
echo '<!DOCTYPE html><html><p>Nothing is said here.</p>' >"$site/bare.html"
echo '<> <http://xmlns.com/foaf/0.1/name> "a" .' | tee "$site/data" >"$site/typeless"
printf '<> <http://xmlns.com/foaf/0.1/name> "a" .\n<> foaf:name "b" .\n' >"$site/bad.ttl"
cat >"$site/bad.rdf" <<'X'
<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/terms/">
 <rdf:Description rdf:about="">
  <dc:title>A title</dc:title>
  <dc:creator rdf:about="http://shop.example/ann"/>
 </rdf:Description>
</rdf:RDF>
X
cat >"$site/broken.html" <<'H'
<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Broken</title>
<script type="application/ld+json">
{
 "@context": "https://schema.org",
 "name": "x",
 "author" ; "y"
}
</script>
H
cat >"$site/lost.html" <<'H'
<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Lost</title>

<script type="application/ld+json">{"@context": "http://nowhere.example/c", "name": "x"}</script>
H
printf '<!DOCTYPE html><html lang="de"><meta charset="iso-8859-1"><title>K\xe4se</title>\n' \
    >"$site/latin.html"
printf '{"@context": "https://schema.org", "@type": "Thing",\n "name": "cut' >"$site/cut.jsonld"
echo '<!DOCTYPE html><html lang="en"><title>Other</title>' >"$work/hosts/other.example/index.html"
cat >"$site/.serve" <<'S'
type /data text/plain
type /typeless none
redirect /moved 301 /good/1.html
status /away 403
S
# Vocabularies: one that is as it should be, and some that are not.
fine=$work/hosts/fine.example vocab=$work/hosts/vocab.example
mkdir -p "$fine" "$vocab" "$work/hosts/use.example"
prefixes='@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .'
cat >"$fine/ns.ttl" <<V
$prefixes
<http://fine.example/ns> foaf:page <http://fine.example/ns.html> .
<http://fine.example/ns#Thing> a rdfs:Class ; rdfs:label "thing" ; rdfs:comment "Anything." .
<http://fine.example/ns#name> a rdf:Property ; rdfs:label "name" ; rdfs:comment "What it is called." ;
    rdfs:domain <http://fine.example/ns#Thing> .
<http://fine.example/see/other> a rdf:Property ; rdfs:label "other" ; rdfs:comment "Something else." ;
    rdfs:subPropertyOf <http://vocab.example/deep> .
V
echo '<!DOCTYPE html><html lang="en"><title>The vocabulary</title>' >"$fine/ns.html"
printf 'redirect /ns 303 /ns.ttl\nredirect /see/other 303 /ns.ttl\n' >"$fine/.serve"
for name in plain slash; do
    echo "$prefixes <http://vocab.example/$name> a rdf:Property ; rdfs:label \"$name\" ." >"$vocab/$name"
done
echo '<!DOCTYPE html><html lang="en"><title>No data</title>' >"$vocab/page.html"
printf '%s\n<http://vocab.example/hash#else> a rdfs:Class .\n<> nobody:declared "this" .\n' "$prefixes" >"$vocab/hash.ttl"
cat >"$vocab/.serve" <<'S'
type /plain text/plain
type /slash text/turtle
redirect /moved 302 /slash
redirect /hash 301 /hash.ttl
redirect /round 303 /round
S
cat >"$work/hosts/use.example/data.ttl" <<V
@prefix v: <http://vocab.example/> .
<#a> a <http://fine.example/ns#Thing> ;
    <http://fine.example/ns#name> "a" ; <http://fine.example/see/other> "b" ;
    v:gone "404" ;
    v:plain "text/plain" ; v:slash "200" ;
    v:page.html "no RDF" ; <http://vocab.example/hash#missing> "undefined" ;
    v:round "a circle" ; <urn:x:term> "no address" ; <http://never.example/asked> "unknown" ;
    a <http://vocab.example/hash#else>, v:plain ; v:moved "moved" .
V
start_web "$work/hosts"
{
    echo http://shop.example/
    echo http://use.example/data.ttl
    printf 'http://fine.example/%s\n' ns see/other ns.html
    printf 'http://vocab.example/%s\n' gone plain slash page.html hash moved round
} >"$work/seeds"
crawl "$work/one" >"$work/out" 2>&1 || fail "crawl: $(cat "$work/out")"
report() { quadrille report --dir "$work/one" "$@"; }

# ---- exact findings ----

# URI without its host, severity, transform, line, text: the advice is looked at apart.
sed 's/^ *//' >"$work/expected" <<'E'
    /away|error|fetch||the server answered 403
    /bad.rdf|error|rdfxml|5|rdf:about on a property element
    /bad.ttl|error|turtle|2|prefix is not declared
    /broken.html|error|jsonld|6|expected a colon behind a name
    /gone.html|error|fetch||the server answered 404
    /lost.html|error|jsonld|3|loading remote context failed: http://nowhere.example/c: failed: the server answered 421
    /|warning|jsonld||superfluous comma
    /cut.jsonld|warning|jsonld||missing end
    /data|warning|detect||Content-Type says text/plain, the content is text/turtle
    /typeless|warning|detect||no Content-Type is sent; the content is text/turtle
    /bare.html|advice|html||a page without a title
    /bare.html|advice|report||no structured data
    /latin.html|advice|html||Content-Type names another encoding than the page: utf-8, not windows-1252
    /latin.html|advice|html||the page is said to be UTF-8, but has bytes that are no UTF-8
    /latin.html|advice|report||no structured data
E
check_rows() { # when
    report --format tsv shop.example >"$work/tsv" || fail "$1: report --format tsv"
    [[ $(awk -F'\t' '{ print NF }' "$work/tsv" | sort -u) == 6 ]] || fail "$1: rows of other widths"
    cut -f 1-5 "$work/tsv" | sed 's#^http://shop.example##; s/\t/|/g' >"$work/got"
    diff "$work/expected" "$work/got" || fail "$1: other findings"
    [[ -z $(awk -F'\t' '$6 == ""' "$work/tsv") ]] || fail "$1: a finding without advice"
}

report shop.example >"$work/text" || fail "report"
has() { grep -qE -- "$1" "$work/text" || fail "the report has no '$1': $(cat "$work/text")"; }
has '^sites +shop.example$'
has '^pages +15: 6 with errors, 4 with warnings, 2 with advice, 3 good$'
has '^states +failed 1, gone 1, indexed 12, redirected 1$'
has '^(quads)? .* turtle 3$'
has '^no data on +4 of 7 HTML pages$'
has '^most frequent +2 pages: advice: report: no structured data$'
has '^ +example: http://shop.example/broken.html, line 6$'
has '^http://shop.example/moved$'
has '^  redirected, HTTP 301 .*, to http://shop.example/good/1.html$'
has '^  gone, HTTP 404 .*, linked from http://shop.example/$'
has '^  quads: turtle/1 1; [0-9]+ ms, [0-9.]+ MB$'
has '^  quads: html/[0-9]+ [0-9]+; none: jsonld/1, '
has '^  made with http://other.example/context.jsonld$'
has '^  error    rdfxml, line 5: '
long=$(LC_ALL=C.UTF-8 awk 'length > 100' "$work/text")
[[ -z $long ]] || fail "lines of more than 100 columns: $long"
[[ $(grep -c '^http://' "$work/text") -eq 15 ]] || fail "not all pages: $(cat "$work/text")"

# ---- one page, fetched now and not kept ----

mapfile -t settings < <(web_settings)
inspect() { quadrille inspect --dir "$work/one" "${settings[@]}" "$@"; }
inspect http://shop.example/broken.html >"$work/text" || fail "inspect"
has '^  error    jsonld, line 6: expected a colon behind a name$'
has '^html/[0-9]+.1.<http://shop.example/broken.html> <http://purl.org/dc/terms/title> "Broken"'
inspect --format json http://shop.example/moved | python3 -c '
import json, sys
found = json.load(sys.stdin)
assert found["asked"].endswith("/moved") and found["document"]["uri"].endswith("/good/1.html"), found
' || fail "inspect: a redirect"
inspect http://shop.example/gone.html >"$work/text" || fail "inspect: 404"
has '^  error    fetch: the server answered 404$'
head -c 9000000 /dev/zero | tr '\0' '#' >"$work/long.ttl"
inspect --content-type text/turtle - <"$work/long.ttl" >"$work/text" || fail "inspect: a long document"
has 'only the first 8388608 bytes'
before=$(quadrille dump --dir "$work/one" | sha256sum)
inspect http://shop.example/good/2.html >/dev/null || fail "inspect"
[[ $(quadrille dump --dir "$work/one" | sha256sum) == "$before" ]] || fail "an inspection is indexed"
quadrille inspect --dir "$work/one" --archived http://shop.example/broken.html >"$work/text" || fail "inspect --archived"
has '^html/[0-9]+.1.<http://shop.example/broken.html> <http://purl.org/dc/terms/title> "Broken"'
quadrille inspect --dir "$work/one" --archived http://shop.example/never >"$work/text" 2>&1 && fail "it is not archived"
has 'http://shop.example/never'
code=0
quadrille inspect --archived http://shop.example/ >"$work/text" 2>&1 || code=$?
[[ $code -eq 100 ]] || fail "whose archive?"

# ---- properties and classes ----

validate() { quadrille validate --dir "$work/one" "$@"; }
validate --json http://use.example/data.ttl >"$work/json" || fail "validate --json"
python3 - "$work/json" <<'P' || fail "validate --json: $(cat "$work/json")"
import json, sys
found = json.load(open(sys.argv[1]))
terms = {term["term"].replace("http://vocab.example/", "v:").replace("http://fine.example/", "f:"): term for term in found["terms"]}
def wrong(name):
    return {rule["rule"] for rule in terms[name]["rules"] if rule["outcome"] == "failed"}
def rule(name, of):
    return next(rule for rule in terms[name]["rules"] if rule["rule"] == of)
for name in "f:ns#Thing", "f:ns#name", "f:see/other":
    assert terms[name]["severity"] == "good" and not wrong(name), terms[name]
assert [hop["status"] for hop in terms["f:see/other"]["redirects"]] == [303]
expected = {"v:gone": {"resolves"}, "v:round": {"resolves"}, "v:page.html": {"rdf", "see-other"}, "v:slash": {"see-other", "described"},
            "v:plain": {"media-type", "see-other", "kind", "described"}, "v:hash#missing": {"defined", "well-formed"},
            "v:hash#else": {"described", "well-formed"}, "v:moved": {"defined", "see-other"}, "urn:x:term": {"web-address"},
            "http://never.example/asked": set(), "v:deep": {"resolves"}}
for name, rules in expected.items():
    assert wrong(name) == rules, (name, wrong(name))
assert {name: terms[name].get("line") for name in ("v:gone", "v:slash", "v:moved")} == {"v:gone": 4, "v:slash": 5, "v:moved": 8}
assert terms["v:gone"]["httpStatus"] == 404 and rule("v:gone", "resolves")["since"] and rule("v:gone", "resolves")["advice"]
assert rule("http://never.example/asked", "fetched")["outcome"] == "cantTell" and found["notFetched"] == 2, found["notFetched"]
assert "Redirect once" in rule("v:round", "resolves")["advice"]
assert terms["v:deep"]["depth"] == 1 and terms["v:deep"]["usedIn"] == "http://fine.example/ns.ttl", terms["v:deep"]
P
validate use.example >"$work/text" || fail "validate of a site"
has 'resolves: <http://vocab.example/gone> answers 404, since 20[0-9T:-]+Z$'
has 'is not fetched yet$'
validate http://fine.example/ns#name --all >"$work/text" || fail "validate of a term"
has '^<http://fine.example/ns#name>$'
validate --format ttl use.example >"$work/earl.ttl" || fail "validate --format ttl"
quadrille inspect --format nt "$work/earl.ttl" >"$work/earl.nt" || fail "EARL is no Turtle"
[[ $(grep -c 'ns/earl#outcome> <http://www.w3.org/ns/earl#failed>' "$work/earl.nt") -ge 14 ]] || fail "EARL: $(cat "$work/earl.ttl")"
validate --add --set scope.hosts=never.example http://use.example/data.ttl >/dev/null || fail "validate --add"
quadrille explain --dir "$work/one" http://never.example/asked >"$work/text" || fail "explain"
has 'waiting|fetch'

# ---- forms that a server chooses by Accept ----

python3 - "$work/forms.port" "$work/forms.log" <<'P' &
import http.server, sys
turtle = b'@prefix r: <http://www.w3.org/2000/01/rdf-schema#> . <> r:label "Terms" . <#a> r:label "A" ; r:seeAlso [ r:label "B" ] .'
rdfxml = b'''<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://www.w3.org/2000/01/rdf-schema#">
<r:Description r:about=""><label>Terms</label></r:Description>
<r:Description r:about="#a"><label>A</label><seeAlso r:parseType="Resource"><label>B</label></seeAlso></r:Description></r:RDF>'''
jsonld = b'{"@id": "#a", "http://www.w3.org/2000/01/rdf-schema#label": "A"}'
page = b"<!DOCTYPE html><title>Terms</title><p>About them."
class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        accept = self.headers["Accept"]
        name, host = self.path.split(".")[0], self.headers["Host"]
        with open(sys.argv[2], "a") as log:
            print(host + self.path, file=log)
        if host == "rules.example" and self.path == "/robots.txt":
            return self.tell_rules(accept)
        if host != "rules.example" and name in ("/moved", "/ns"): # what answers forbids to be asked
            self.send_response(303)
            self.send_header("Location", "http://rules.example/even")
            return self.end_headers()
        forms = {"text/turtle": ("ttl", turtle), "application/rdf+xml": ("rdf", rdfxml), "text/html": ("html", page)}
        if name == "/uneven":
            forms["application/ld+json"] = ("json", jsonld)
        type = next((type for type in forms if type in accept), None)
        if name not in ("/even", "/uneven"):
            self.send_error(404)
        elif type is None:
            self.send_error(406)
        elif self.path == name: # each form has an address
            self.send_response(303)
            self.send_header("Location", name + "." + forms[type][0])
            self.end_headers()
        else:
            body = next(body for ending, body in forms.values() if self.path.endswith("." + ending))
            self.send_response(200)
            self.send_header("Content-Type", type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    def tell_rules(self, accept): # to who asks for them as for any page
        if "*/*" not in accept:
            return self.send_error(406)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"User-agent: *\nDisallow: /\n")
    def log_message(self, *arguments):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_address[1]))
import os
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
P
forms=$!
web_stop=(kill "$forms") # also when this test fails
for _ in $(seq "$patience"); do
    [[ -s $work/forms.port ]] && break
    sleep 0.1
done
ask_servers() { # what is validated
    : >"$work/forms.log"
    validate "${settings[@]}" --set "fetch.connect_to=127.0.0.1:$(cat "$work/forms.port")" --ask --json "$1" >"$work/json" ||
        fail "validate --ask: $(cat "$work/json")"
}
ask() { # address: what the rule says of it
    ask_servers "$1"
    python3 -c 'import json, sys
rule = next((rule for rule in json.load(sys.stdin)["terms"][0]["rules"] if rule["rule"] == "negotiated"), None)
print(rule["outcome"] + " " + rule.get("text", "") if rule else "")' <"$work/json"
}
even=$(ask http://forms.example/even#a) uneven=$(ask http://forms.example/uneven#a)
moved=$(ask http://forms.example/moved#a)
grep -q 'rules.example/even' "$work/forms.log" && fail "asked in spite of robots.txt: $(cat "$work/forms.log")"
ask_servers http://use.example/data.ttl
asked=$(grep -c '^fine.example/ns$' "$work/forms.log" || true)
"${web_stop[@]}"
wait "$forms" || true
web_stop=()
[[ $even == passed* ]] || fail "the same in each form: $even"
[[ $uneven == 'failed asked for as application/ld+json it has other statements (1) than as text/turtle (4)' ]] ||
    fail "other statements: $uneven"
[[ -z $moved ]] || fail "what robots.txt forbids: $moved"
[[ $asked -eq 1 ]] || fail "a document of several terms was asked for $asked times: $(cat "$work/forms.log")"

# ---- which pages ----

pages() { report "$@" | grep -c '^http://' || true; }
[[ $(pages --limit 4 shop.example) -eq 4 ]] || fail "--limit 4"
report --limit 4 shop.example >"$work/text"
has '^11 more pages'
has '^pages  *15:'
[[ $(pages --problems shop.example) -eq 12 ]] || fail "--problems"
[[ $(pages http://shop.example/good/) -eq 2 ]] || fail "a prefix"
[[ $(pages http://shop.example/bad.ttl) -eq 1 ]] || fail "a URI"
[[ $(pages shop.example http://shop.example/good/) -eq 15 ]] ||
    fail "sites within each other are counted twice"
[[ $(pages shop.example/good/1.html shop.example/data) -eq 2 ]] || fail "URIs without schemes"

# ---- JSON ----

report --format json shop.example >"$work/json" || fail "report --format json"
python3 - "$work/json" <<'P' || fail "JSON: $(cat "$work/json")"
import json, sys
site = json.load(open(sys.argv[1]))
assert site["sites"] == ["shop.example"] and site["count"] == len(site["pages"]) == 15, site["count"]
assert site["severities"] == {"error": 6, "warning": 4, "advice": 2, "good": 3}
assert site["linksTrapped"] == 2 and site["pagesWithTraps"] == 2 and site["pagesTrapped"] == 0
assert site["htmlWithoutData"] == 4 and site["html"] == 7 and site["pagesLeftOut"] == 0
assert site["frequent"][0]["pages"] == 2 and site["frequent"][0]["text"] == "no structured data"
pages = {page["uri"].removeprefix("http://shop.example"): page for page in site["pages"]}
assert pages["/broken.html"]["findings"][0]["line"] == 6
assert pages["/good/2.html"]["resources"] == ["http://other.example/context.jsonld"]
assert {"name": "turtle", "version": "1", "quads": 1} in pages["/bad.ttl"]["transforms"]
assert pages["/data"]["contentType"] == "text/plain" and pages["/data"]["type"] == "text/turtle"
assert pages["/gone.html"]["httpStatus"] == 404 and pages["/gone.html"]["via"]
assert pages["/bad.ttl"]["memoryBytes"] > 0 and pages["/good/2.html"]["findings"] == []
P

# ---- a page ----

report --html shop.example >"$work/page" || fail "report --html"
python3 - "$work/page" <<'P' || fail "report --html: $(cat "$work/page")"
import html.parser, sys
text = open(sys.argv[1]).read()
class Reader(html.parser.HTMLParser):
    cells, cell = [], None
    def handle_starttag(self, tag, attributes): self.cell = "" if tag == "td" else self.cell
    def handle_data(self, data): self.cell = None if self.cell is None else self.cell + data
    def handle_endtag(self, tag): tag == "td" and (self.cells.append(self.cell), setattr(self, "cell", None))
reader = Reader()
reader.feed(text)
assert "<h1>Report of shop.example</h1>" in text and text.split("<h2>Properties")[0].count("<section") == 15
at = next(i for i, cell in enumerate(reader.cells) if cell == "jsonld" and reader.cells[i + 1] == "6")
assert reader.cells[at - 1] == "error" and "JSON validator" in reader.cells[at + 2], reader.cells
P

# ---- the same over HTTP ----

quadrille serve --dir "$work/one" --set web.listen=127.0.0.1:0 "${settings[@]}" >"$work/served" 2>&1 &
served=$!
for _ in $(seq "$patience"); do
    port=$(sed -nE 's,^http://127\.0\.0\.1:([0-9]+)/ serves.*,\1,p' "$work/served")
    [[ -n $port ]] && break
    sleep 0.1
done
python3 - "$port" <<'P' || fail "over HTTP: $(cat "$work/served")"
import json, sys, urllib.request
def ask(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}{path}", timeout=60) as reply:
        return reply.read().decode()
page = ask("/report?host=shop.example&format=html")
assert "<h1>Report of shop.example</h1>" in page and page.split("<h2>Properties")[0].count("<section") == 15 and "JSON validator" in page, page
assert json.loads(ask("/report?host=shop.example"))["severities"]["error"] == 6
page = ask("/report?host=use.example&format=html")
assert "<http://vocab.example/gone> answers 404, since 20".replace("<", "&lt;").replace(">", "&gt;") in page, page
page = ask("/validate?uri=use.example&format=html")
assert "answers 404, since 20" in page and "Nothing to mend." in page, page
found = json.loads(ask("/inspect?url=http://shop.example/broken.html&format=json"))
assert found["document"]["findings"][0]["line"] == 6, found
archived = json.loads(ask("/inspect?archived=http://shop.example/broken.html&format=json"))
assert archived["statements"] == found["statements"] and archived["statements"][0]["line"] > 0, archived
assert "/inspect?archived=http" in ask("/document?uri=http://shop.example/broken.html")
P
kill "$served"
wait "$served" 2>/dev/null || true

# ---- the metadata store stopped, running, killed ----

check_rows stopped
quadrille up --dir "$work/one" --background "${settings[@]}" >"$work/out" 2>&1 ||
    fail "up: $(cat "$work/out")"
check_rows running
pkill -KILL -f -- "quadrille-metastore --dir $work/one" || fail "no metadata store to kill"
check_rows "killed while running"
pkill -KILL -f -- "--dir $work/one" || fail "nothing to kill"
check_rows "all killed"

# ---- failures ----

code=0
report nobody.example >"$work/out" 2>&1 || code=$?
[[ $code -eq 111 ]] && grep -q nobody.example "$work/out" || fail "an unknown site: exit $code"
for misuse in '--format xml shop.example' '--limit -5 shop.example' '--limit many shop.example' \
    'ftp://shop.example/' ''; do
    code=0
    # shellcheck disable=SC2086
    report $misuse >"$work/out" 2>&1 || code=$?
    [[ $code -eq 100 && -s $work/out ]] || fail "report $misuse: exit $code: $(cat "$work/out")"
done
echo "report: $(wc -l <"$work/expected") findings on 15 pages with lines and advice, three formats," \
    "store running, stopped and killed"
