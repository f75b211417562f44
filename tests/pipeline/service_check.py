#!/usr/bin/env python3
"""service_check.py PORT SUITES: asks the service what clients of its contracts ask, and checks the replies.

Puts a small web of three documents. What the suites have JSON schemas for is held against them. Ends with a line, or with the first reply that is wrong.
"""
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
import warnings
import xml.etree.ElementTree as ElementTree

BASE = f"http://127.0.0.1:{sys.argv[1]}"
FOAF = "http://xmlns.com/foaf/0.1/"
DOCUMENTS = {
    "http://a.example/anna": f"""@prefix foaf: <{FOAF}> .
<http://a.example/anna#me> a foaf:Person ; foaf:name "Anna Karenina"@en ; foaf:mbox <mailto:anna@a.example> .""",
    "http://b.example/people": f"""@prefix foaf: <{FOAF}> .
<http://b.example/p1> a foaf:Person ; foaf:name "Anna K <script>" ; foaf:mbox <mailto:anna@a.example> ;
    foaf:knows <http://a.example/anna#me>, [ foaf:nick "Anna's friend" ] .
<http://b.example/book> a <http://x.example/Book> ; <http://purl.org/dc/terms/title> "Anna Karenina, a novel" ;
    <http://purl.org/dc/terms/subject> "literature" .""",
    "http://c.example/numbers": "".join(
        f'<http://c.example/{n}> <http://www.w3.org/2000/01/rdf-schema#label> "number {n}" .\n' for n in range(25)),
}


def ask(path, method="GET", body=None, status=200, **headers):
    """The reply's text and headers."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(BASE + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            got, text, fields = reply.status, reply.read().decode(), reply.headers
    except urllib.error.HTTPError as error:
        got, text, fields = error.code, error.read().decode(), error.headers
    assert got == status, f"{method} {path}: {got} instead of {status}: {text[:500]}"
    return text, fields


def query(path, **parameters):
    return f"{path}?{urllib.parse.urlencode(parameters)}"


def ask_json(path, **more):
    return json.loads(ask(path, **more)[0])


def links(reply):
    return [entry["link"] for entry in reply["entries"]]


def check_lookup():
    anna, people = "http://a.example/anna", "http://b.example/people"
    mbox = {"property": FOAF + "mbox", "object": "mailto:anna@a.example"}
    text, fields = ask(query("/query/v1/lookup", format="txt", **mbox))
    assert sorted(text.split()) == [anna, people], text
    assert fields["Content-Type"] == "text/plain; charset=utf-8" and fields["Access-Control-Allow-Origin"] == "*"
    # A name with a language, by the value alone and by a usual prefix; the whole value counts.
    assert ask(query("/query/v1/lookup", property="foaf:name", object="Anna Karenina", format="txt"))[0] == anna + "\n"
    assert ask(query("/query/v1/lookup", property="foaf:name", object="Anna", format="txt"))[0] == ""
    assert ask(query("/lookup", uri=anna + "#me", format="txt"))[0].split() == [anna, people]
    resources = ask_json(query("/lookup", q="anna", group="resource", format="json"))
    assert [entry.get("resource") for entry in resources["entries"]][0] == anna + "#me", resources
    assert resources["totalResults"] == 4 and resources["totalIsAtLeast"] is False
    # Pages of one entry, for which little is read at a time, have each entry once.
    for asked in ({"q": "anna", "group": "resource"}, {"uri": FOAF + "Person"}, {"q": "anna"}):
        whole = ask_json(query("/lookup", format="json", **asked))["entries"]
        pages = [ask_json(query("/lookup", format="json", per_page=1, page=page, **asked))["entries"]
                 for page in range(1, len(whole) + 2)]
        assert [len(page) for page in pages] == [1] * len(whole) + [0], pages
        names = [(page[0]["link"], page[0].get("resource", "")) for page in pages[:-1]]
        assert sorted(names) == sorted((entry["link"], entry.get("resource", "")) for entry in whole), names
    for wrong in ("/lookup", "/lookup?uri=none", "/lookup?property=a&object=b", "/lookup?q=a&page=x"):
        assert json.loads(ask(wrong, status=400)[0])["status"] == 400
    assert ask("/lookup?q=a&format=gif", status=406)


def check_spelling():
    for wrong, right in (("karenna", "karenina"), ("Karneina", "karenina"), ("karenin", "karenina"),
                         ("xarenina", "karenina"), ("karennina anna", "karenina anna")):
        found = ask_json(query("/lookup", q=wrong, format="json"))
        assert found["corrected"] == right and found["totalResults"] == 2, (wrong, found)
        found = ask_json(query("/search", q=wrong, format="json"))
        assert found["corrected"] == right and len(found["entries"]) == 2, (wrong, found)
    assert "<b>karenina</b>" in ask("/search?q=karenna", Accept="text/html")[0]
    # Two errors need nine letters, four letters are too few for one, and what is found is not corrected.
    for words in ("karnna", "nove", "anna", '"karenna"', "-karenna"):
        found = ask(query("/search", q=words, format="json"), status=400 if words[0] == "-" else 200)[0]
        assert "corrected" not in found, found
    assert ask_json(query("/lookup", q="literatuer", format="json"))["corrected"] == "literature"
    assert ask_json(query("/lookup", q="literadurre", format="json"))["corrected"] == "literature"
    assert ask_json("/suggest?q=anna+kar") == ["anna kar", ["anna karenina"]]
    assert ask_json("/suggest?q=n") == ["n", ["number", "novel"]]
    assert ask_json(query("/suggest", q='x"<')) == ['x"<', []]


def check_filters():
    anna, people = "http://a.example/anna", "http://b.example/people"
    for words, filters, documents in (
            ("anna class:foaf:Person", "", [people, anna]), ("anna class:person lang:en", "", [anna]),
            ("anna -domain:b.example", "", [anna]), ("anna predicate:dcterms:title", "", [people]),
            ("class:foaf:Person domain:b.example", "", [people]), ('"karenina anna"', "", []),
            ("anna -novel", "domain:b.example", [people]), ("anna date:2000..2001", "", []),
            ("anna", "lang:en", [anna]), ("anna lang:none", "", [people]),
            ("anna -lang:none", "", [anna]), ("anna", "lang:none", [people]), ("anna", "-lang:none", [anna])):
        found = links(ask_json(query("/search", q=words, fq=filters, format="json")))
        assert sorted(found) == sorted(documents), (words, filters, found)
    for wrong in ("anna date:soon", "domain:b.example", "anna class:"):
        ask(query("/search", q=wrong, format="json"), status=400)
    reply = ask_json(query("/search", q="anna", format="json", facets=1, documents=1))
    facets = {name: {value["value"]: value["count"] for value in facet["values"]}
              for name, facet in reply["facets"].items()}
    assert facets["domain"] == {"a.example": 1, "b.example": 1} and facets["lang"] == {"en": 1, "none": 1}, facets
    assert facets["class"] == {FOAF + "Person": 2, "http://x.example/Book": 1}, facets
    assert facets["predicate"][FOAF + "name"] == 2, facets
    entry = {entry["link"]: entry for entry in reply["entries"]}[anna]
    assert entry["snippet"] == "Anna Karenina" and entry["highlights"] == [[0, 4]], entry
    assert entry["content"] == "3 triples" and entry["language"] == "en", entry
    page = ask(query("/search", q="anna", fq="domain:a.example"), Accept="text/html")[0]
    assert "<mark>Anna</mark> Karenina" in page and "fq=lang%3Aen" in page and "<h1>1 found</h1>" in page, page
    same = ask_json(query("/lookup", uri=anna + "#me", same=1, format="json"))
    assert links(same) == [people, anna] or links(same) == [anna, people], same


def check_sindice():
    found = ask_json("/v2/search?q=anna&qt=term&page=1&format=json")
    assert found["totalResults"] == 2 and found["itemsPerPage"] == 10 and found["link"].startswith(BASE), found
    by_link = {entry["link"]: entry for entry in found["entries"]}  # the one with three statements is before the other
    assert list(by_link) == ["http://b.example/people", "http://a.example/anna"], found
    assert by_link["http://a.example/anna"]["title"] == ["Anna Karenina"], found
    assert by_link["http://a.example/anna"]["content"] == "3 triples", found
    found = ask_json(query("/v3/search", q="anna", fq="class:foaf:Person domain:b.example format:RDF", format="json"))
    assert links(found) == ["http://b.example/people"] and found["entries"][0]["title"][0]["value"] == "Anna K <script>"
    found = ask_json(query("/v3/search", nq='* <foaf:name> "Anna Karenina"', fq="", field="domain", format="json"))
    assert links(found) == ["http://a.example/anna"], found
    for pattern in ("* * <http://a.example/anna#me>", "(<http://a.example/anna#me> * *)"):
        found = ask_json(query("/v2/search", qt="advanced", q=pattern, format="json", sortbydate=1))
        assert len(found["entries"]) == 2, found
    pages = [ask_json(query("/v3/search", q="number", page=page, format="json")) for page in (1, 2, 3, 4)]
    assert [len(page["entries"]) for page in pages] == [1, 0, 0, 0]  # one document
    resources = [ask_json(query("/lookup", q="number", group="resource", page=page, format="json"))
                 for page in (1, 2, 3, 4)]
    assert [len(page["entries"]) for page in resources] == [10, 10, 5, 0], resources
    assert "next" in resources[0] and "next" not in resources[2] and "previous" in resources[2]
    names = {entry["resource"] for page in resources for entry in page["entries"]}
    assert len(names) == 25
    for wrong in ({"nq": "* <foaf:name> *"}, {"nq": "x"}, {"q": "a", "nq": "* * <x:y>"}, {"q": "a", "fq": "size:3"}):
        ask(query("/v3/search", **wrong), status=400)
    ask("/v2/search?q=a&qt=other", status=400)
    ask("/v2/search", status=400)


def check_formats():
    address = query("/v2/search", q="anna")
    rdf = ElementTree.fromstring(ask(address, Accept="application/rdf+xml")[0])
    link = "{http://sindice.com/vocab/search#}link"
    resource = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource"
    assert sorted(e.get(resource) for e in rdf.iter(link)) == sorted(d for d in DOCUMENTS if "numbers" not in d)
    atom = ElementTree.fromstring(ask(address, Accept="application/atom+xml")[0])
    assert len(atom.findall("{http://www.w3.org/2005/Atom}entry")) == 2
    for format_, type_ in (("ttl", "text/turtle"), ("jsonld", "application/ld+json"), ("nq", "application/n-quads"),
                           ("rdfxml", "application/rdf+xml"), ("html", "text/html; charset=utf-8")):
        assert ask(address + "&format=" + format_)[1]["Content-Type"] == type_
    # The names that SPARQLWrapper and others send.
    for format_, type_ in (("rdf+xml", "application/rdf+xml"), ("xml", "application/rdf+xml"), ("turtle", "text/turtle"),
                           ("json-ld", "application/ld+json"), ("n-triples", "application/n-triples")):
        text, fields = ask(query("/sparql", query="CONSTRUCT WHERE { ?s a ?c }", format=format_))
        assert fields["Content-Type"].startswith(type_), (format_, fields["Content-Type"])
    ask(query("/sparql", query="SELECT * { ?s a ?c }", format="rdf+xml"), status=406)
    page = ask(address, Accept="text/html,*/*;q=0.8")[0]
    assert "<script>" not in page and "<mark>Anna</mark> K &lt;script&gt;" in page


def check_resource():
    address = query("/resource", uri="http://a.example/anna#me")
    page = ask(address, Accept="text/html,application/xhtml+xml,*/*;q=0.8")[0]
    said, linked = page.split("What links to it")
    assert "Anna Karenina" in said and "http://a.example/anna" in said and FOAF + "mbox" in said
    assert "http://b.example/p1" in linked and FOAF + "knows" in linked
    for type_ in ("text/turtle", "application/rdf+xml", "application/ld+json"):
        text, fields = ask(address, Accept=type_)
        assert fields["Content-Type"] == type_ and "Anna Karenina" in text
    page = ask(query("/resource", uri="http://b.example/p1", format="html"))[0]
    assert "<script>" not in page and "Anna K &lt;script&gt;" in page
    ask(query("/resource", uri="http://a.example/none", format="html"), status=404)
    ask("/resource?uri=none", status=400)


def check_documents():
    document = ask_json("/v3/cache?url=http://a.example/anna&output=json&pretty=true")["http://a.example/anna"]
    assert len(document["explicit_content"]) == 3 and document["truncated"] is False
    assert f'<http://a.example/anna#me> <{FOAF}name> "Anna Karenina"@en .' in document["explicit_content"]
    live = ask_json("/v2/live?url=http://a.example/anna&output=json")
    assert {b["o"]["value"] for b in live["extractorResults"]["metadata"]["explicit"]["bindings"]} == {
        "Anna Karenina", "mailto:anna@a.example", FOAF + "Person"}
    ask("/v3/cache?url=http://a.example/none", status=404)
    ask("/v3/cache?url=none", status=400)


def check_changes():
    graph = query("/graph", graph="http://d.example/diary")
    turtle = '<http://d.example/day> <http://x.example/says> "%s" , "kept" , "two words <b>" .'
    for said, status in (("old", 201), ("new", 204)):
        ask(graph, "PUT", (turtle % said).encode(), status, Content_Type="text/turtle")
    change = ask_json(query("/changes", uri="http://d.example/diary", format="json"))
    quad = '<http://d.example/day> <http://x.example/says> "%s" <http://d.example/diary> .'
    assert change["known"] is True and change["cut"] is False, change
    assert change["added"] == [quad % "new"] and change["removed"] == [quad % "old"], change
    assert change["addedTotal"] == change["removedTotal"] == 1 and change["changed"].endswith("Z"), change
    ask(graph, "DELETE", status=204)
    page = ask(query("/changes", uri="http://d.example/diary"), Accept="text/html")[0]
    assert "removed 3" in page and "two words &lt;b&gt;" in page and "<h2>Added" not in page, page
    ask(query("/changes", uri="http://d.example/none"), status=404)
    ask("/changes", status=400)
    ask(query("/changes", uri="http://d.example/diary", format="gif"), status=400)


class Schemas:
    """The suites' JSON schemas, by python3-jsonschema where it is installed; else nothing is held against them."""

    def __init__(self, suites):
        self.suites, self.checked = suites, 0
        try:
            import jsonschema
            self.library = jsonschema
        except ImportError:
            self.library = None

    def reconciliation(self, version, name, value):
        folder = os.path.join(self.suites, "reconciliation", version, "schemas")
        if not self.library or not os.path.isdir(folder):
            return
        store = {}
        for file in os.listdir(folder):
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                schema = json.load(text)
            base = f"https://reconciliation-api.github.io/specs/{version}/schemas/"
            for place in (schema.get("$id", base + file), base + file,
                          f"https://reconciliation-api.github.io/specs/draft/schemas/{file}"):
                store[place] = schema
            if file == "openapi.json":
                store["http://swagger.io/v2/schema.json"] = schema
            if file == name + ".json":
                wanted = schema
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            resolver = self.library.RefResolver.from_schema(wanted, store=store)
            self.library.Draft7Validator(wanted, resolver=resolver).validate(value)
        self.checked += 1

    def mcp(self, version, type_, value):
        path = os.path.join(self.suites, "mcp", version, "schema.json")
        if not self.library or not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as text:
            schema = json.load(text)
        place = "definitions" if "definitions" in schema else "$defs"
        kind = self.library.Draft7Validator if place == "definitions" else self.library.Draft202012Validator
        kind({**schema, "$ref": f"#/{place}/{type_}"} if place == "$defs" else
             {"definitions": schema["definitions"], "$ref": f"#/definitions/{type_}"}).validate(value)
        self.checked += 1


SCHEMAS = Schemas(sys.argv[2])


def post_json(path, value, status=200, **headers):
    text = ask(path, "POST", json.dumps(value).encode(), status, Content_Type="application/json", **headers)[0]
    return json.loads(text) if text else None


def check_reconciliation_02():
    manifest = ask_json("/reconcile")
    SCHEMAS.reconciliation("0.2", "manifest", manifest)
    queries = {f"q{n}": {"query": f"number {n}", "limit": 3} for n in range(12)}
    queries["name"] = {"query": "Anna Karenina", "type": FOAF + "Person"}
    queries["mail"] = {"properties": [{"pid": FOAF + "mbox", "v": "mailto:anna@a.example"}]}
    queries["both"] = {"query": "karenina, ANNA", "properties": [{"pid": "foaf:mbox", "v": ["mailto:anna@a.example"]}]}
    queries["none"] = {"query": "qwertzuiop"}
    queries["error"] = {"query": "Kareninna", "type": FOAF + "Person"}
    queries["errors"] = {"query": "Anna Karennina", "type": FOAF + "Person"}
    SCHEMAS.reconciliation("0.2", "reconciliation-query-batch", queries)
    body = urllib.parse.urlencode({"queries": json.dumps(queries)}).encode()
    answers = json.loads(ask("/reconcile", "POST", body)[0])
    SCHEMAS.reconciliation("0.2", "reconciliation-result-batch", answers)
    assert set(answers) == set(queries)
    for n in range(12):
        best = answers[f"q{n}"]["result"][0]
        assert best["id"] == f"http://c.example/{n}" and best["match"] and best["score"] == 100, best
        assert len(answers[f"q{n}"]["result"]) <= 3
    names = [c["id"] for c in answers["name"]["result"]]
    assert names == ["http://a.example/anna#me"], answers["name"]  # the book is no foaf:Person
    assert answers["name"]["result"][0]["type"][0] == {"id": FOAF + "Person", "name": "Person"}
    mail = answers["mail"]["result"]
    assert {c["id"] for c in mail} == {"http://a.example/anna#me", "http://b.example/p1"}, mail
    assert not any(c["match"] for c in mail)  # two have it, so neither is certain
    assert {"id": FOAF + "mbox", "value": True} in mail[0]["features"]
    both = answers["both"]["result"]
    assert both[0]["id"] == "http://a.example/anna#me" and both[0]["match"] and both[0]["score"] == 100, both
    assert answers["none"]["result"] == []
    for name in "error", "errors":
        found = answers[name]["result"]
        assert found[0]["id"] == "http://a.example/anna#me" and 0 < found[0]["score"] < 90, (name, found)
        assert not any(c["match"] for c in found), found
    again = ask_json(query("/reconcile", queries=json.dumps({"q": {"query": "number 3"}})))
    assert again["q"]["result"][0]["id"] == "http://c.example/3"
    extension = {"ids": ["http://a.example/anna#me", "http://c.example/none"],
                 "properties": [{"id": "foaf:name"}, {"id": FOAF + "mbox"}]}
    SCHEMAS.reconciliation("0.2", "data-extension-query", extension)
    extended = ask_json(query("/reconcile", extend=json.dumps(extension)))
    SCHEMAS.reconciliation("0.2", "data-extension-response", extended)
    assert extended["rows"]["http://a.example/anna#me"]["foaf:name"] == [{"str": "Anna Karenina"}], extended
    assert extended["rows"]["http://c.example/none"] == {"foaf:name": [], FOAF + "mbox": []}
    for wrong in ("{", "[]", '{"q": {}}', '{"q": {"properties": [{"pid": "x y", "v": 1}]}}'):
        ask(query("/reconcile", queries=wrong), status=400)
    too_many = json.dumps({str(n): {"query": "x"} for n in range(101)})
    ask("/reconcile", "POST", urllib.parse.urlencode({"queries": too_many}).encode(), 400)


def check_reconciliation_10():
    SCHEMAS.reconciliation("1.0-draft", "manifest", ask_json("/reconcile/1.0"))
    batch = {"queries": [{"conditions": [{"matchType": "name", "propertyValue": f"number {n}"}]} for n in range(11)]}
    batch["queries"].append({"type": FOAF + "Person", "limit": 1, "conditions": [
        {"matchType": "name", "propertyValue": "Anna K"},
        {"matchType": "property", "propertyId": "foaf:mbox", "propertyValue": "mailto:anna@a.example",
         "required": True}]})
    batch["queries"].append({"conditions": [
        {"matchType": "name", "propertyValue": "number 7"},
        {"matchType": "property", "propertyId": "foaf:mbox", "propertyValue": "x", "required": True}]})
    SCHEMAS.reconciliation("1.0-draft", "reconciliation-query-batch", batch)
    results = post_json("/reconcile/1.0/match", batch)
    SCHEMAS.reconciliation("1.0-draft", "reconciliation-result-batch", results)
    results = [result["candidates"] for result in results["results"]]
    assert [r[0]["id"] for r in results[:11]] == [f"http://c.example/{n}" for n in range(11)]
    assert len(results[11]) == 1 and results[11][0]["id"] == "http://b.example/p1", results[11]
    assert results[12] == []
    extension = {"ids": ["http://b.example/p1"], "properties": [{"id": FOAF + "knows"}]}
    extended = post_json("/reconcile/1.0/extend", extension)
    SCHEMAS.reconciliation("1.0-draft", "data-extension-response", extended)
    assert extended["rows"][0]["properties"][0]["values"] == [{"id": "http://a.example/anna#me", "name": "me"}], extended
    post_json("/reconcile/1.0/match", {}, 400)
    post_json("/reconcile/1.0/match", {"queries": [{"conditions": []}]}, 400)


def check_suggestions():
    for version, base in (("0.2", "/reconcile"), ("1.0-draft", "/reconcile/1.0")):
        entities = ask_json(base + "/suggest/entity?prefix=karen")
        SCHEMAS.reconciliation(version, "suggest-entities-response", entities)
        assert {e["id"] for e in entities["result"]} == {"http://a.example/anna#me", "http://b.example/book"}, entities
        types = ask_json(base + "/suggest/type?prefix=pers")
        SCHEMAS.reconciliation(version, "suggest-types-response", types)
        assert types["result"][0]["id"] == FOAF + "Person", types
        properties = ask_json(base + "/suggest/property?prefix=mbox")
        SCHEMAS.reconciliation(version, "suggest-properties-response", properties)
        assert properties["result"][0]["id"] == FOAF + "mbox", properties
        propose = query(base + ("/properties" if version == "0.2" else "/extend/propose"), type=FOAF + "Person", limit=9)
        proposed = ask_json(propose)
        SCHEMAS.reconciliation(version, "data-extension-property-proposal", proposed)
        assert FOAF + "mbox" in [p["id"] for p in proposed["properties"]], proposed
        page, fields = ask(query(base + "/preview", id="http://b.example/p1"))
        assert "Anna K &lt;script&gt;" in page and "frame-ancestors *" in fields["Content-Security-Policy"]
        ask(base + "/preview?id=none", status=400)
    assert "frame-ancestors 'none'" in ask("/")[1]["Content-Security-Policy"]


NEWEST = "2026-07-28"


def mcp(method, params=None, status=200, newest=True, headers=None, id_=1):
    params = dict(params or {})
    fields = {"Accept": "application/json, text/event-stream"}
    if newest:
        params["_meta"] = {"io.modelcontextprotocol/protocolVersion": NEWEST,
                           "io.modelcontextprotocol/clientCapabilities": {}}
        fields.update({"MCP-Protocol-Version": NEWEST, "Mcp-Method": method})
        if method == "tools/call":
            fields["Mcp-Name"] = params["name"]
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if id_ is not None:
        message["id"] = id_
    fields.update(headers or {})
    return post_json("/mcp", message, status, **fields)


def check_mcp():
    SCHEMAS.mcp(NEWEST, "DiscoverResultResponse", mcp("server/discover", id_="d"))
    listed = mcp("tools/list")
    SCHEMAS.mcp(NEWEST, "ListToolsResultResponse", listed)
    names = [tool["name"] for tool in listed["result"]["tools"]]
    assert names == ["search", "lookup", "describe", "query", "explain", "report"]
    if SCHEMAS.library:
        for tool in listed["result"]["tools"]:
            SCHEMAS.library.Draft202012Validator.check_schema(tool["inputSchema"])

    def call(name, newest=True, **arguments):
        reply = mcp("tools/call", {"name": name, "arguments": arguments}, newest=newest)
        SCHEMAS.mcp(NEWEST if newest else "2025-11-25", "CallToolResult", reply["result"])
        assert not newest or reply["result"]["resultType"] == "complete"
        return reply["result"]

    found = call("search", words='"anna karenina" class:foaf:Person', limit=5)
    assert [r["resource"] for r in found["structuredContent"]["results"]] == ["http://a.example/anna#me"], found
    assert call("lookup", property="foaf:mbox", value="mailto:anna@a.example")["structuredContent"]["total"] == 2
    assert call("lookup", uri="http://a.example/anna#me")["structuredContent"]["total"] == 2
    assert "Anna Karenina" in call("describe", uri="http://a.example/anna#me")["content"][0]["text"]
    answer = call("query", sparql="SELECT (COUNT(*) AS ?n) { GRAPH <http://a.example/anna> { ?s ?p ?o } }")
    assert answer["structuredContent"]["results"]["bindings"][0]["n"]["value"] == "3", answer
    assert "<http://x.example/Book>" in call("query", sparql="CONSTRUCT WHERE { ?s a <http://x.example/Book> }",
                                             newest=False)["content"][0]["text"]
    assert call("explain", sparql="SELECT * { ?s ?p ?o }")["content"][0]["text"]
    for name, wrong in (("query", {"sparql": "SELECT nonsense"}), ("query", {"sparql": "CLEAR ALL"}), ("query", {}),
                        ("search", {"words": 1}), ("search", {"words": "a", "more": 1}), ("lookup", {"uri": "x"}),
                        ("report", {"document": "http://a.example/none"})):
        assert call(name, **wrong)["isError"], (name, wrong)
    # What is wrong with the message is told by the codes of the protocol.
    assert mcp("tools/call", {"name": "none"}, 400)["error"]["code"] == -32602
    assert mcp("prompts/list", status=404)["error"]["code"] == -32601
    mismatch = mcp("tools/list", status=400, headers={"Mcp-Method": "tools/call"})
    SCHEMAS.mcp(NEWEST, "HeaderMismatchError", mismatch)
    unknown = post_json("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {
        "_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}}}, 400)
    SCHEMAS.mcp(NEWEST, "UnsupportedProtocolVersionError", unknown)
    assert json.loads(ask("/mcp", "POST", b"{", 400)[0])["error"]["code"] == -32700
    assert post_json("/mcp", [], 400)["error"]["code"] == -32600
    ask("/mcp", status=405)
    # The older revisions: initialize, then as before without _meta.
    for version in ("2025-11-25", "2025-06-18"):
        begun = mcp("initialize", {"protocolVersion": version, "capabilities": {},
                                   "clientInfo": {"name": "t", "version": "1"}}, newest=False)
        SCHEMAS.mcp(version, "InitializeResult", begun["result"])
        assert begun["result"]["protocolVersion"] == version and "resultType" not in begun["result"]
        assert mcp("notifications/initialized", newest=False, id_=None, status=202) is None
        older = {"MCP-Protocol-Version": version}
        SCHEMAS.mcp(version, "ListToolsResult", mcp("tools/list", newest=False, headers=older)["result"])
        assert mcp("ping", newest=False, headers=older)["result"] == {}
        assert mcp("server/discover", newest=False, headers=older)["error"]["code"] == -32601


def check_watching():
    text, fields = ask("/metrics")
    assert fields["Content-Type"].startswith("text/plain; version=0.0.4")
    names = {}
    for line in text.splitlines():
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            names.setdefault(name, []).append((what, rest))
        else:
            name, value = re.fullmatch(r'([a-z_]+)(?:\{(?:[a-z]+="[^"]*",?)+\})? ([0-9.]+)', line).groups()
            float(value)
            assert [what for what, _ in names[name]] == ["HELP", "TYPE"], line
            assert (names[name][1][1] == "counter") == name.endswith("_total"), line
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    with open(os.path.join(root, "deploy/grafana-dashboard.json"), encoding="utf-8") as file:
        shown = {name for panel in json.load(file)["panels"] for target in panel["targets"]
                 for name in re.findall(r"quadrille_[a-z_]+", target["expr"])}
    assert shown and shown <= set(names), shown - set(names)
    assert ask_json("/health")["status"] == "pass"
    history = ask_json("/status/history?span=day")
    assert history["seconds"] == 240 and history["figures"][:3] == ["time", "documents", "quads"], history
    assert all(len(sample) == len(history["figures"]) == 14 for sample in history["samples"]), history
    ask("/status/history?span=year", status=400)


def check_description():
    described = ask_json("/openapi.json")
    assert described["openapi"] == "3.1.0"
    names = [operation["operationId"] for item in described["paths"].values() for operation in item.values()]
    assert len(names) == len(set(names))
    for path, item in described["paths"].items():
        for method, operation in item.items():
            required = {p["name"] for p in operation.get("parameters", []) if p["required"] and p["in"] == "query"}
            if method == "get" and required:
                ask(path, status=400)


def check_shared_values():
    ontology = f"<{FOAF}mbox> a <http://www.w3.org/2002/07/owl#InverseFunctionalProperty> .".encode()
    ask(query("/graph", graph="http://f.example/"), "PUT", ontology, 201, Content_Type="text/turtle")
    found = ask_json("/identity?format=json")
    shared = {value["value"]: value for value in found["values"]}
    assert shared["<mailto:anna@a.example>"]["resources"] == 2 and not found["more"], found
    assert shared["<mailto:anna@a.example>"]["property"] == f"<{FOAF}mbox>", found
    page = ask("/identity", Accept="text/html")[0]
    assert "<form" in page and "the evidence" in page, page


def check_inspection():
    turtle = f"""@prefix foaf: <{FOAF}> .
<#me> a foaf:Person ; foaf:name "<script>alert(1)</script>" .
<#me> nobody:declared "this" .
""".encode()
    address = query("/inspect", uri="http://a.example/pasted")
    found = json.loads(ask(address, "POST", turtle, Content_Type="text/turtle", Accept="application/json")[0])
    assert [(s["transform"].split("/")[0], s["line"]) for s in found["statements"]] == [("turtle", 2)] * 2, found
    problem, = found["document"]["findings"]
    assert problem["line"] == 3 and problem["severity"] == "error" and problem["advice"], problem
    form = urllib.parse.urlencode({"document": turtle, "uri": "http://a.example/pasted", "format": "html"}).encode()
    page, fields = ask("/inspect", "POST", form, Content_Type="application/x-www-form-urlencoded")
    assert "<svg" in page and "&lt;script&gt;" in page and "<script>" not in page and "text/html" in fields["Content-Type"]
    graph, fields = ask(address, "POST", turtle, Content_Type="text/turtle", Accept="text/turtle")
    assert "foaf:Person" in graph and fields["Content-Type"].startswith("text/turtle"), graph
    assert "<form" in ask("/inspect", Accept="text/html")[0]
    indexed = ask(query("/sparql", query="ASK { ?s a <http://xmlns.com/foaf/0.1/Person> FILTER(CONTAINS(STR(?s), 'pasted')) }"),
                  Accept="application/sparql-results+json")[0]
    assert not json.loads(indexed)["boolean"], "what was pasted is indexed"
    # The address filter is on, nothing but the web is asked, and no other site's page asks.
    assert "address" in ask(query("/inspect", url=BASE + "/"), status=422)[0]
    # A host that was asked rests: fetch.delay is an hour here.
    reply = ask(query("/inspect", url=BASE + "/other"), status=429)
    assert 3000 < int(reply[1]["Retry-After"]) <= 3601, reply[1]  # what is left of fetch.delay
    for url in "file:///etc/passwd", "--help", "/etc/passwd":
        ask(query("/inspect", url=url), status=400)
    ask(query("/inspect", url="http://a.example/"), status=403, Origin="http://evil.example")
    ask("/inspect", "POST", b"", status=400, Content_Type="text/turtle")
    ask(address, "POST", b"x" * ((1 << 20) + 1), status=413, Content_Type="text/turtle")


def check_validation():
    # Nothing was crawled here, so nothing is known of any term.
    found = ask_json(query("/validate", uri=FOAF + "name"))
    assert found["count"] == found["notFetched"] == 1 and found["terms"][0]["term"] == FOAF + "name", found
    assert 'ns/earl#' in ask(query("/validate", uri=FOAF + "name"), Accept="text/turtle")[0]
    page = ask(query("/validate", uri="http://a.example/<script>", format="html"), status=400, Accept="text/html")[0]
    assert "&lt;script&gt;" in page and "<script>" not in page
    assert "<form" in ask("/validate", Accept="text/html")[0] and "<form" in ask("/report", Accept="text/html")[0]
    for path in query("/validate", uri=FOAF, format="xml"), query("/report", host="a.example", format="ttl"), "/report", "/validate":
        ask(path, status=400)
    ask(query("/report", host="--help"), status=422)
    assert "nobody.example" in ask(query("/report", host="nobody.example"), status=422)[0]
    ask(query("/validate", uri=FOAF), "POST", b"", status=403, Origin="http://evil.example")


def main():
    for graph, turtle in DOCUMENTS.items():
        ask(query("/graph", graph=graph), "PUT", turtle.encode(), 201, Content_Type="text/turtle")
    checks = [check_lookup, check_spelling, check_filters, check_sindice, check_formats, check_resource, check_documents, check_changes, check_reconciliation_02,
              check_reconciliation_10, check_suggestions, check_mcp, check_watching, check_description, check_shared_values, check_inspection, check_validation]
    for check in checks:
        check()
    print(f"service: {len(checks)} contracts kept, {SCHEMAS.checked} replies held against schemas")
    if not SCHEMAS.library:
        print("service: python3-jsonschema is not installed, so nothing was held against the suites' schemas")


if __name__ == "__main__":
    main()
