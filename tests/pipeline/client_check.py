#!/usr/bin/env python3
"""client_check.py PORT: asks the service by rdflib and SPARQLWrapper, as their users do. Needs the documents that
service_check.py puts, and an update that is allowed."""
import sys

import rdflib
import SPARQLWrapper
from rdflib.plugins.stores import sparqlstore

BASE = f"http://127.0.0.1:{sys.argv[1]}"
FOAF = rdflib.Namespace("http://xmlns.com/foaf/0.1/")
ANNA = rdflib.URIRef("http://a.example/anna#me")
GRAPH = rdflib.URIRef("http://client.example/graph")
NAMES = "PREFIX foaf: <http://xmlns.com/foaf/0.1/> "


def check_rdflib_queries():
    graph = rdflib.Graph(sparqlstore.SPARQLStore(BASE + "/sparql"))
    rows = list(graph.query(NAMES + "SELECT ?name { ?s a foaf:Person ; foaf:name ?name } ORDER BY ?name"))
    assert [str(row.name) for row in rows] == ["Anna K <script>", "Anna Karenina"], rows
    assert rows[1].name == rdflib.Literal("Anna Karenina", lang="en"), rows
    assert graph.query(NAMES + "ASK { ?s foaf:nick ?o }").askAnswer
    made = graph.query(NAMES + "CONSTRUCT { ?s a foaf:Agent } { ?s a foaf:Person }").graph
    assert (ANNA, rdflib.RDF.type, FOAF.Agent) in made and len(made) == 2, made.serialize()
    assert (ANNA, FOAF.name, None) in graph and graph.value(ANNA, FOAF.mbox) == rdflib.URIRef("mailto:anna@a.example")
    assert ANNA in set(graph.objects(rdflib.URIRef("http://b.example/p1"), FOAF.knows))
    assert len(graph) > 30
    one = rdflib.Graph(sparqlstore.SPARQLStore(BASE + "/sparql"), identifier="http://a.example/anna")
    assert len(list(one.query("SELECT * { ?s ?p ?o }"))) == 3
    sources = rdflib.ConjunctiveGraph(sparqlstore.SPARQLStore(BASE + "/sparql"))
    names = {str(getattr(context, "identifier", context)) for context in sources.contexts()}
    assert {"http://a.example/anna", "http://b.example/people"} <= names, names


def check_rdflib_updates():
    store = sparqlstore.SPARQLUpdateStore(BASE + "/sparql", BASE + "/sparql", autocommit=False)
    graph = rdflib.Graph(store, identifier=GRAPH)
    graph.add((GRAPH, FOAF.name, rdflib.Literal('quoted "here"\nand there', lang="de")))
    graph.add((GRAPH, FOAF.age, rdflib.Literal(7)))
    store.commit()
    assert graph.value(GRAPH, FOAF.name) == rdflib.Literal('quoted "here"\nand there', lang="de")
    assert graph.value(GRAPH, FOAF.age).toPython() == 7
    graph.remove((GRAPH, FOAF.age, None))
    store.commit()
    assert len(list(graph.triples((None, None, None)))) == 1


def check_rdflib_reads_formats():
    for name, format in (("ttl", "turtle"), ("nt", "nt"), ("rdf", "xml"), ("jsonld", "json-ld"), ("nq", "nquads"), ("trig", "trig")):
        graph = rdflib.ConjunctiveGraph()
        graph.parse(f"{BASE}/graph?graph=http%3A%2F%2Fb.example%2Fpeople&format={name}", format=format)
        assert len(graph) == 9, (name, len(graph), graph.serialize())


def ask(query, format, **more):
    client = SPARQLWrapper.SPARQLWrapper(BASE + "/sparql")
    client.setQuery(NAMES + query)
    client.setReturnFormat(format)
    for name, value in more.items():
        getattr(client, name)(value)
    return client.query()


def check_sparqlwrapper():
    select = "SELECT ?name { ?s a foaf:Person ; foaf:name ?name } ORDER BY ?name"
    for how in {}, {"setMethod": SPARQLWrapper.POST}, {"setMethod": SPARQLWrapper.POST, "setRequestMethod": "postdirectly"}:
        found = ask(select, SPARQLWrapper.JSON, **how).convert()["results"]["bindings"]
        assert [row["name"]["value"] for row in found] == ["Anna K <script>", "Anna Karenina"], found
    tree = ask(select, SPARQLWrapper.XML).convert()
    assert len(tree.getElementsByTagName("result")) == 2
    assert ask(select, SPARQLWrapper.CSV).convert().decode().split("\r\n")[0] == "name"
    assert ask(select, SPARQLWrapper.TSV).convert().decode().startswith("?name")
    assert ask("ASK { ?s foaf:nick ?o }", SPARQLWrapper.JSON).convert()["boolean"] is True
    construct = "CONSTRUCT { ?s a foaf:Agent } { ?s a foaf:Person }"
    assert len(ask(construct, SPARQLWrapper.RDFXML).convert()) == 2
    turtle = rdflib.Graph().parse(data=ask(construct, SPARQLWrapper.TURTLE).convert(), format="turtle")
    assert len(turtle) == 2
    try:
        ask("SELECT { wrong", SPARQLWrapper.JSON)
        raise AssertionError("a wrong query is answered")
    except SPARQLWrapper.SPARQLExceptions.QueryBadFormed:
        pass
    ask(f"DELETE WHERE {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}", SPARQLWrapper.JSON, setMethod=SPARQLWrapper.POST)
    assert not ask(f"ASK {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}", SPARQLWrapper.JSON).convert()["boolean"]


for check in check_rdflib_queries, check_rdflib_updates, check_rdflib_reads_formats, check_sparqlwrapper:
    check()
print(f"service: rdflib {rdflib.__version__} and SPARQLWrapper {SPARQLWrapper.__version__} are served")
