PREFIX : <http://example.org/>
INSERT DATA { _:x :q 1 } ; INSERT DATA { _:y :q 1 }
