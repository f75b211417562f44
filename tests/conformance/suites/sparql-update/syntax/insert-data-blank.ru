PREFIX : <http://example.org/>
INSERT DATA { _:a :p [ :q ( 1 2 ) ] }
