PREFIX : <http://example.org/>
INSERT DATA { :a :p ?x }
