PREFIX : <http://example.org/>
DELETE WHERE { ?s ?p ?o GRAPH ?g { ?s ?p ?o } }
