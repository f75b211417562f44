web_OBJECTS := web/options.o web/server.o web/request.o web/form.o web/host.o web/places.o web/queries.o web/service.o web/range.o web/accept.o web/query_form.o \
	web/spool.o web/html.o web/archive.o web/meta.o web/sparql.o web/update.o web/stream.o web/search.o web/status.o web/void.o
PROGRAMS += quadrille-web
quadrille-web_OBJECTS := web/main.o
UNIT_TESTS += tests/unit/test_web tests/unit/test_web_query
FUZZERS += fuzz_web
