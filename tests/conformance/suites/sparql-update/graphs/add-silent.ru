PREFIX : <http://example.org/>
ADD SILENT :g3 TO :g1
