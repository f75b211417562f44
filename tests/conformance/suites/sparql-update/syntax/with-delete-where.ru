PREFIX : <http://example.org/>
WITH :g DELETE WHERE { :a :p ?o }
