PREFIX : <http://example.org/>
LOAD SILENT <http://nowhere.invalid/none> ; LOAD SILENT <http://nowhere.invalid/none> INTO GRAPH :g1
