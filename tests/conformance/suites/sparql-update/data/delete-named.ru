PREFIX : <http://example.org/>
DELETE DATA { GRAPH :g1 { :a :p 1 . :c :p 99 } }
