PREFIX : <http://example.org/>

