PREFIX : <http://example.org/>
INSERT { ?s :one _:n } WHERE { ?s :q :b } ; INSERT { ?s :two _:n } WHERE { ?s :q :b } ; INSERT { ?s :same true } WHERE { ?s :one ?n ; :two ?n }
