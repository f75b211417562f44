PREFIX : <http://example.org/>
INSERT { :all :has ?o } USING :g1 USING :g2 WHERE { ?s :p ?o }
