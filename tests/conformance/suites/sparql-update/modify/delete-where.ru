PREFIX : <http://example.org/>
DELETE WHERE { :a :p ?o }
