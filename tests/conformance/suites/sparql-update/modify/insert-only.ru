PREFIX : <http://example.org/>
INSERT { ?s :sum ?n } WHERE { ?s :p ?o BIND(?o + 10 AS ?n) }
