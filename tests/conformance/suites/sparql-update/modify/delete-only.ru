PREFIX : <http://example.org/>
DELETE { ?s ?p ?o } WHERE { ?s :p 1 . ?s ?p ?o }
