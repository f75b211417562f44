PREFIX : <http://example.org/>
INSERT { _:x :p ?o } WHERE { _:x :p ?o }
