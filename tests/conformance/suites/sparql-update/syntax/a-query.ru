PREFIX : <http://example.org/>
SELECT * { ?s ?p ?o }
