PREFIX : <http://example.org/>
DELETE { ?x :q 1 } WHERE { :a :p ?x . ?x :q 1 }
