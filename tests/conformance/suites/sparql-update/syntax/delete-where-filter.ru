PREFIX : <http://example.org/>
DELETE WHERE { :a :p ?x FILTER(?x > 1) }
