PREFIX : <http://example.org/>
INSERT DATA { 1 :p 1 }
