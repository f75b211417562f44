PREFIX : <http://example.org/>
COPY DEFAULT TO :g3
