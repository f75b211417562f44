PREFIX : <http://example.org/>
DELETE DATA { :a :p _:x }
