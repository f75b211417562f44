PREFIX : <http://example.org/>
# nothing
CLEAR ALL # all

