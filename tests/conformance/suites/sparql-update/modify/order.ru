PREFIX : <http://example.org/>
INSERT { ?s :p ?n } WHERE { ?s :p ?o BIND(?o + 1 AS ?n) }
