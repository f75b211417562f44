PREFIX : <http://example.org/>
INSERT DATA { GRAPH :g3 { :n :p 6 } }
