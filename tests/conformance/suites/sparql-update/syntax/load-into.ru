PREFIX : <http://example.org/>
LOAD <http://a.example/> INTO GRAPH :g
