PREFIX : <http://example.org/>
INSERT { GRAPH :g3 { ?s :p ?o } } WHERE { ?s :p ?o }
