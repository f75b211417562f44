PREFIX : <http://example.org/>
WITH :g1 DELETE { ?s :p ?o } INSERT { ?s :r ?o } WHERE { ?s :p ?o }
