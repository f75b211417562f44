#!/usr/bin/env python3
"""service_check.py PORT SUITES: asks the service what clients of its contracts ask, and checks the replies.

Puts a small web of three documents. Ends with a line, or with the first reply that is wrong.
"""
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

BASE = f"http://127.0.0.1:{sys.argv[1]}"
FOAF = "http://xmlns.com/foaf/0.1/"
DOCUMENTS = {
    "http://a.example/anna": f"""@prefix foaf: <{FOAF}> .
<http://a.example/anna#me> a foaf:Person ; foaf:name "Anna Karenina"@en ; foaf:mbox <mailto:anna@a.example> .""",
    "http://b.example/people": f"""@prefix foaf: <{FOAF}> .
<http://b.example/p1> a foaf:Person ; foaf:name "Anna K <script>" ; foaf:mbox <mailto:anna@a.example> ;
    foaf:knows <http://a.example/anna#me>, [ foaf:nick "Anna's friend" ] .
<http://b.example/book> a <http://x.example/Book> ; <http://purl.org/dc/terms/title> "Anna Karenina, a novel" .""",
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
    for wrong in ("/lookup", "/lookup?uri=none", "/lookup?property=a&object=b", "/lookup?q=a&page=x"):
        assert json.loads(ask(wrong, status=400)[0])["status"] == 400
    assert ask("/lookup?q=a&format=gif", status=406)


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
    page = ask(address, Accept="text/html,*/*;q=0.8")[0]
    assert "<script>" not in page and "Anna K &lt;script&gt;" in page


def check_documents():
    document = ask_json("/v3/cache?url=http://a.example/anna&output=json&pretty=true")["http://a.example/anna"]
    assert len(document["explicit_content"]) == 3 and document["truncated"] is False
    assert f'<http://a.example/anna#me> <{FOAF}name> "Anna Karenina"@en .' in document["explicit_content"]
    live = ask_json("/v2/live?url=http://a.example/anna&output=json")
    assert {b["o"]["value"] for b in live["extractorResults"]["metadata"]["explicit"]["bindings"]} == {
        "Anna Karenina", "mailto:anna@a.example", FOAF + "Person"}
    ask("/v3/cache?url=http://a.example/none", status=404)
    ask("/v3/cache?url=none", status=400)


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
    assert "quadrille_index_quads" in names
    assert ask_json("/health")["status"] == "pass"


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


def main():
    for graph, turtle in DOCUMENTS.items():
        ask(query("/graph", graph=graph), "PUT", turtle.encode(), 201, Content_Type="text/turtle")
    checks = [check_lookup, check_sindice, check_formats, check_documents, check_watching, check_description]
    for check in checks:
        check()
    print(f"service: {len(checks)} contracts kept")


if __name__ == "__main__":
    main()
