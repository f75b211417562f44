PREFIX : <http://example.org/>
DELETE { GRAPH ?g { ?s :p ?o } } INSERT { ?g :had ?o } WHERE { GRAPH ?g { ?s :p ?o FILTER(?o > 2) } }
