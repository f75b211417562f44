PREFIX : <http://example.org/>
WITH :g INSERT DATA { :a :p 1 }
