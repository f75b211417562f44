PREFIX : <http://example.org/>
CREATE GRAPH :g3 ; INSERT DATA { GRAPH :g3 { :n :p 5 } }
