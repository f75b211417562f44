PREFIX : <http://example.org/>
CREATE GRAPH :g ; CREATE SILENT GRAPH :g
