PREFIX : <http://example.org/>
DELETE DATA { GRAPH :g2 { :a :p 4 } }
