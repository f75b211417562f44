PREFIX : <http://example.org/>
MOVE SILENT :g3 TO :g1
