PREFIX : <http://example.org/>
WITH :g1 DELETE { ?s :p 1 } INSERT { ?s :r ?o } USING :g2 WHERE { ?s :p ?o }
