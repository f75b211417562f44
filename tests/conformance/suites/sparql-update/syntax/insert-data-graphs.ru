PREFIX : <http://example.org/>
INSERT DATA { :a :p 1 . GRAPH :g { } :b :p 2 GRAPH :h { :c :p 3 . } . :d :p 4 . }
