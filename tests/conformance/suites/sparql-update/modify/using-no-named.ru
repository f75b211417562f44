PREFIX : <http://example.org/>
INSERT { :all :has ?o } USING :g1 WHERE { GRAPH ?g { ?s :p ?o } }
