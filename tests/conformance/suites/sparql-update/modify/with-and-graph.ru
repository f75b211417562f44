PREFIX : <http://example.org/>
WITH :g1 DELETE { :a :p ?o } INSERT { GRAPH :g2 { :a :p ?o } } WHERE { :a :p ?o . GRAPH :g2 { :a :p 4 } }
