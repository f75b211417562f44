PREFIX : <http://example.org/>
CLEAR SILENT GRAPH :g3
