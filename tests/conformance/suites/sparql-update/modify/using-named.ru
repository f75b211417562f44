PREFIX : <http://example.org/>
INSERT { ?g :has ?o } USING :g1 USING NAMED :g2 WHERE { GRAPH ?g { ?s :p ?o } }
