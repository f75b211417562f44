PREFIX : <http://example.org/>
DELETE { ?s :p ?o } INSERT { ?s :r ?o . ?s :p 1 } WHERE { ?s :p ?o }
