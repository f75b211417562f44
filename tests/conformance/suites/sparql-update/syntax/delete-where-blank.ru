PREFIX : <http://example.org/>
DELETE WHERE { :a :p _:x }
