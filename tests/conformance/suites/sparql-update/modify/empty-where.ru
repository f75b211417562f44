PREFIX : <http://example.org/>
INSERT { :n :p 5 } WHERE { }
