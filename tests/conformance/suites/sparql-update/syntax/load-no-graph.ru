PREFIX : <http://example.org/>
LOAD <http://a.example/> INTO :g
