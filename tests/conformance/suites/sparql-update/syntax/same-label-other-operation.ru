PREFIX : <http://example.org/>
INSERT { _:x :p 1 } WHERE { } ; INSERT { _:x :p 2 } WHERE { }
