PREFIX : <http://example.org/>
CREATE SILENT GRAPH :g1
