PREFIX : <http://example.org/>
MOVE DEFAULT TO DEFAULT
