PREFIX : <http://example.org/>
CREATE DEFAULT
