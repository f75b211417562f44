PREFIX : <http://example.org/>
COPY SILENT :g3 TO :g1 ; INSERT DATA { :n :p 5 }
