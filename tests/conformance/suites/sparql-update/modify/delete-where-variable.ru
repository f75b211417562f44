PREFIX : <http://example.org/>
DELETE WHERE { GRAPH ?g { :a ?p ?o } }
