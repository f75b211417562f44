#!/usr/bin/env python3
"""The W3C suites of the SPARQL 1.1 Protocol, the Graph Store Protocol and the Service Description, and a graph read in
every syntax that the service writes.

http_suites.py SUITES OUTPUT PORT: prints a row for each and writes OUTPUT/NAME.failures. Graphs are compared by their
canonical form (build/tests/rdfcat -k). What a service's description is held against is the domains and ranges of the
vocabulary for the properties that it uses (SD_CLASSES).
"""
import csv
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree as ElementTree

SD = "http://www.w3.org/ns/sparql-service-description#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
PATHS = {"http-sparql-protocol": ("/sparql/", "/sparql"), "http-graph-store": ("/gsp", "/graph"),
         "http-service-description": ("/sparql/", "/sparql")}
FORMATS = {"text/turtle": "turtle", "application/n-triples": "ntriples", "application/rdf+xml": "rdfxml",
           "application/ld+json": "jsonld", "application/trig": "trig", "application/n-quads": "nquads"}
# property: classes of its subject and of its object; None: a resource of any class, which need not be told
SD_CLASSES = {"endpoint": ("Service", None), "supportedLanguage": ("Service", None), "feature": ("Service", None),
              "resultFormat": ("Service", None), "inputFormat": ("Service", None),
              "propertyFeature": ("Service", "Feature"), "extensionFunction": ("Service", "Function"),
              "defaultDataset": ("Service", "Dataset"), "availableGraphs": ("Service", "GraphCollection"),
              "defaultGraph": ("Dataset", "Graph"), "namedGraph": ("Dataset", "NamedGraph"),
              "name": ("NamedGraph", None), "graph": ("NamedGraph", "Graph"),
              "defaultEntailmentRegime": ("Service", None), "languageExtension": ("Service", "Feature")}


class Failure(Exception):
    pass


class Server:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method, path, headers=(), body=b""):
        self.connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        self.connection.putheader("Host", "www.example")
        for name, value in headers:
            self.connection.putheader(name, value)
        if body or method in ("POST", "PUT"):
            self.connection.putheader("Content-Length", str(len(body)))
        self.connection.endheaders(body or None)
        reply = self.connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()


def triples(bytes_, media_type, base):
    """The canonical N-Triples, as lines."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes_)
        file.flush()
        done = subprocess.run(["build/tests/rdfcat", "-k", FORMATS[media_type], file.name, base], capture_output=True)
    if done.returncode:
        raise Failure(f"no {media_type}: {done.stderr.decode()[:200]}")
    return sorted(done.stdout.decode().splitlines())


def media_type_of(headers):
    return headers.get("content-type", "").split(";")[0].strip()


def boolean_of(headers, body):
    if media_type_of(headers) == "application/sparql-results+json":
        return json.loads(body)["boolean"]
    return ElementTree.fromstring(body).findtext("{http://www.w3.org/2005/sparql-results#}boolean") == "true"


def check_status(status, expected):
    if not any(str(status) == one or (one.endswith("xx") and str(status)[0] == one[0]) for one in expected.split()):
        raise Failure(f"status {status} instead of {expected}")


def check_schema(lines):
    """Each sd: property's subject and object say that they are what the vocabulary has there."""
    statements = [re.match(r"(\S+) <([^>]*)> (.*) \.$", line).groups() for line in lines]
    classes = {(s, o) for s, p, o in statements if p == RDF_TYPE}
    for subject, predicate, object_ in statements:
        if not predicate.startswith(SD):
            continue
        if predicate[len(SD):] not in SD_CLASSES:
            raise Failure(f"{predicate} is no property of the vocabulary")
        for term, wanted in zip((subject, object_), SD_CLASSES[predicate[len(SD):]]):
            if term.startswith('"') or (wanted and (term, f"<{SD}{wanted}>") not in classes):
                raise Failure(f"{predicate}: {term} is not said to be a {wanted or 'resource'}")


def check_graph(case, headers, body, url):
    lines = triples(body, media_type_of(headers), url)
    if case["expect_graph"] == "has-triple":
        if not any(line.endswith(f"<{SD}endpoint> <{url}> .") for line in lines):
            raise Failure(f"no sd:endpoint <{url}>: {lines}")
    elif case["expect_graph"] == "schema":
        check_schema(lines)


def run_step(server, case, folder, variables):
    old, new = PATHS[os.path.basename(folder)]

    def moved(bytes_):
        return bytes_.replace(b"http://www.example/gsp", b"http://www.example/graph")

    path = case["path"]
    for name, value in variables.items():
        quoted = urllib.parse.quote(value, safe="")
        path = re.sub(re.escape(f"/gsp?graph={name}"), f"/gsp?graph={quoted}", path).replace(name, value)
    path = path.replace(old, new, 1) if path.startswith(old) else path
    path = path.replace("http%3A%2F%2Fwww.example%2Fgsp", "http%3A%2F%2Fwww.example%2Fgraph")
    path = path.replace("http://www.example/gsp", "http://www.example/graph")
    headers = [tuple(header.split(": ", 1)) for header in case["headers"].split(" | ") if header]
    body = b""
    if case.get("body"):
        with open(os.path.join(folder, case["body"]), "rb") as file:
            body = moved(file.read())
    status, got, answer = server.ask(case["method"], path, headers, body)
    check_status(status, case["expect_status"])
    if case["expect_content_types"] and media_type_of(got) not in case["expect_content_types"].split():
        raise Failure(f"type {media_type_of(got)}")
    if case.get("expect_boolean") and boolean_of(got, answer) != (case["expect_boolean"] == "true"):
        raise Failure(f"not {case['expect_boolean']}: {answer[:200]}")
    url = "http://www.example" + path
    if case.get("expect_body"):
        with open(os.path.join(folder, case["expect_body"]), "rb") as file:
            wanted = triples(moved(file.read()), "text/turtle", url)
        if triples(answer, media_type_of(got), url) != wanted:
            raise Failure(f"another graph: {answer.decode()[:500]}")
    if case.get("expect_graph"):
        check_graph(case, got, answer, url)
    if case.get("expect_location"):
        if "location" not in got:
            raise Failure("no Location")
        variables[case["expect_location"]] = urllib.parse.urljoin(url, got["location"])


def load(server, case, folder):
    for pair in case.get("dataset", "").split():
        graph, file = pair.rsplit("=", 1)
        with open(os.path.join(folder, file), "rb") as data:
            status, _, answer = server.ask("PUT", "/graph?graph=" + urllib.parse.quote(graph, safe=""),
                                           [("Content-Type", "application/n-triples")], data.read())
        if status not in (201, 204):
            raise Failure(f"{graph}: {status} {answer}")


def run_suite(suites, output, port, name):
    folder = os.path.join(suites, name)
    if not os.path.exists(os.path.join(folder, "cases.tsv")):
        return
    with open(os.path.join(folder, "cases.tsv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    cases = {}
    for row in rows:
        cases.setdefault(row["id"], []).append({key: value or "" for key, value in row.items()})
    failures = []
    for case, steps in cases.items():
        variables = {}
        server = Server(port)
        try:
            status, _, answer = server.ask("POST", "/sparql", [("Content-Type", "application/sparql-update")],
                                           b"CLEAR ALL")
            if status != 200:
                raise Failure(f"CLEAR ALL: {status} {answer}")
            load(server, steps[0], folder)
            for number, step in enumerate(steps, 1):
                try:
                    run_step(server, step, folder, variables)
                except Failure as failure:
                    raise Failure(f"step {number}: {failure}") from failure
        except (Failure, OSError, http.client.HTTPException, ValueError) as failure:
            failures.append(f"{case}\t{failure}".replace("\n", " "))
    with open(os.path.join(output, f"{name}.failures"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in failures)
    print(name, len(cases) - len(failures), len(failures), 0, sep="\t")


AWKWARD = """@prefix x: <http://x.example/ns#> .
<> a x:Thing, [] ; x:a "<&>\\"'\\r\\n\\t\\u00e9"@de-at ; x:a 1, 1.5e0, true, "", "2020-01-01"^^x:d ; x:_b.c-d <#a&b?x=1&y=2> .
_:a x:b _:b, _:a . _:b x:b _:a . <s> a "no class" . <s> <http://x.example/p/1a> (1 2) .
<urn:z> x:a <s> . <> x:a "again" .
"""


def run_formats(output, port):
    """What is put is read again, in each syntax."""
    server, failures = Server(port), []
    path, url = "/graph?graph=http%3A%2F%2Fx.example%2Fg", "http://x.example/g"
    wanted = triples(AWKWARD.encode(), "text/turtle", url)
    server.ask("PUT", path, [("Content-Type", "text/turtle")], AWKWARD.encode())
    for media_type in FORMATS:
        try:
            status, headers, body = server.ask("GET", path, [("Accept", media_type)])
            check_status(status, "200")
            if media_type_of(headers) != media_type or triples(body, media_type, url) != wanted:
                raise Failure(f"another graph: {body.decode()}")
        except Failure as failure:
            failures.append(f"{media_type}\t{failure}".replace("\n", " "))
    with open(os.path.join(output, "http-graph-formats.failures"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in failures)
    print("http-graph-formats", len(FORMATS) - len(failures), len(failures), 0, sep="\t")


if __name__ == "__main__":
    for suite in PATHS:
        run_suite(sys.argv[1], sys.argv[2], int(sys.argv[3]), suite)
    run_formats(sys.argv[2], int(sys.argv[3]))
