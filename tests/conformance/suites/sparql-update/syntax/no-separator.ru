PREFIX : <http://example.org/>
CLEAR ALL CLEAR ALL
