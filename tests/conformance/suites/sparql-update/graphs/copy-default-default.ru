PREFIX : <http://example.org/>
COPY DEFAULT TO DEFAULT
