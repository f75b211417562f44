PREFIX : <http://example.org/>
INSERT { ?s :r ?x . ?o :r ?s . ?s :t true } WHERE { ?s :p ?o OPTIONAL { ?s :q ?x } }
