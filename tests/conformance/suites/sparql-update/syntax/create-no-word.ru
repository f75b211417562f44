PREFIX : <http://example.org/>
CREATE :g
