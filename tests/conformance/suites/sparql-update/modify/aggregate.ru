PREFIX : <http://example.org/>
INSERT { :all :sum ?n } WHERE { SELECT (SUM(?o) AS ?n) { ?s :p ?o } }
