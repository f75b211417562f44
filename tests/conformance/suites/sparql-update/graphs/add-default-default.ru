PREFIX : <http://example.org/>
ADD DEFAULT TO DEFAULT
