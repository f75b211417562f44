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
start_web "$work/hosts"
echo http://shop.example/ >"$work/seeds"
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
assert "<h1>Report of shop.example</h1>" in text and text.count("<section") == 15, text.count("<section")
at = next(i for i, cell in enumerate(reader.cells) if cell == "jsonld" and reader.cells[i + 1] == "6")
assert reader.cells[at - 1] == "error" and "JSON validator" in reader.cells[at + 2], reader.cells
P

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
