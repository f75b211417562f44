PREFIX : <http://example.org/>
WITH :g DELETE { ?s ?p ?o } INSERT { ?s ?p _:x } USING :h USING NAMED :i WHERE { ?s ?p ?o }
