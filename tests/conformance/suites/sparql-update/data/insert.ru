PREFIX : <http://example.org/>
INSERT DATA { :n :p 5 . GRAPH :g1 { :n :p 6 } }
