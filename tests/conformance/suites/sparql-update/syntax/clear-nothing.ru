PREFIX : <http://example.org/>
CLEAR
