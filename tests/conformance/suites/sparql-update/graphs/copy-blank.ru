PREFIX : <http://example.org/>
COPY DEFAULT TO :g1 ; DELETE { GRAPH :g1 { :a :p ?x } } INSERT { :same :node true } WHERE { :a :p ?x . GRAPH :g1 { :a :p ?x } }
