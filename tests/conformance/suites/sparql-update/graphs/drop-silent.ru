PREFIX : <http://example.org/>
DROP SILENT GRAPH :g3
