PREFIX : <http://example.org/>
DELETE { ?s :p ?o } USING NAMED :g1 WHERE { ?s :p ?o }
