PREFIX : <http://example.org/>
INSERT DATA { GRAPH ?g { :a :p 1 } }
