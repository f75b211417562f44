PREFIX : <http://example.org/>
INSERT DATA { :a :p 1 }
