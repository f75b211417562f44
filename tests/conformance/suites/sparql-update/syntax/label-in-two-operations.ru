PREFIX : <http://example.org/>
INSERT DATA { _:x :p 1 } ; INSERT DATA { _:x :p 2 }
