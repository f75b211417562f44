PREFIX : <http://example.org/>
INSERT { ?s :node _:n . _:n :of ?o } WHERE { ?s :p ?o }
