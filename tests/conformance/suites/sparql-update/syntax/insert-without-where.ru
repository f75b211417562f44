PREFIX : <http://example.org/>
INSERT { :a :p 1 }
