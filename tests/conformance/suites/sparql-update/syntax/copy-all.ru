PREFIX : <http://example.org/>
COPY ALL TO :g
