PREFIX : <http://example.org/>
DELETE { ?s :p 1 } WHERE { ?s :q _:any }
