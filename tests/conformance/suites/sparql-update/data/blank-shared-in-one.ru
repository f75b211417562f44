PREFIX : <http://example.org/>
INSERT DATA { :n :p _:x . _:x :q 1 . GRAPH :g3 { _:x :q 2 } } ;
DELETE { ?x :q 1 } INSERT { ?x :same true } WHERE { ?x :q 1 . GRAPH :g3 { ?x :q 2 } }
