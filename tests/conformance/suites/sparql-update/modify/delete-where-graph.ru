PREFIX : <http://example.org/>
DELETE WHERE { :a :p ?o . GRAPH :g1 { :a :p ?o } }
