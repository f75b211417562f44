PREFIX : <http://example.org/>
INSERT DATA { :n :p 5 } ; DELETE WHERE { :n :p ?o } ; INSERT DATA { :m :p 6 } ;
