PREFIX : <http://example.org/>
DELETE { ?s :p _:x } WHERE { ?s :p 1 }
