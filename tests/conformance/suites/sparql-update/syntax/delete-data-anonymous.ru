PREFIX : <http://example.org/>
DELETE DATA { :a :p [] }
