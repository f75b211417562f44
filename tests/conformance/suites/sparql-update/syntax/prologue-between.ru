PREFIX : <http://example.org/>
CLEAR ALL ; PREFIX x: <http://x.example/> INSERT DATA { x:a x:b x:c }
