PREFIX : <http://example.org/>
INSERT { ?s :p/:q 1 } WHERE { ?s ?p ?o }
