web_OBJECTS := $(addprefix web/,archive_content.o graph_store.o html.o meta_record.o queries.o query_form.o routes.o sparql.o \
	sparql_update.o void.o web_options.o web_service.o)
web_OBJECTS += $(addprefix web/http/,accept.o body_spool.o form.o host.o compress.o places.o range.o reply.o request.o server.o \
	stream.o)
web_OBJECTS += $(addprefix web/api/,answer.o answer_page.o answer_parts.o find_text.o lookup.o mcp.o openapi.o reconcile.o \
	reconcile_http.o reconcile_suggest.o sindice.o suggest.o)
web_OBJECTS += $(addprefix web/pages/,archived.o changes_page.o document_page.o front_page.o health.o identity_page.o page_terms.o ping_page.o query_page.o \
	query_terms.o resource_page.o status_data.o status_figures.o status_history.o status_page.o status_recorder.o)
web_OBJECTS += web/command.o web/inspect.o web/validate.o web/assets/assets.o
# The program has the files inside.
$(BUILD)/obj/web/assets/assets.o: $(filter-out %.c %.h %.md,$(wildcard web/assets/*))
web_OBJECTS += $(addprefix web/ping/,finding.o indexnow.o indexnow_http.o key_proof.o key_watch.o ping.o ping_batch.o ping_jobs.o ping_http.o \
	ping_limits.o receipt_page.o receipts.o xmlrpc.o)
PROGRAMS += quadrille-web
quadrille-web_OBJECTS := web/web_main.o
test_web_query_ALONE := index_client_open
test_ping_WRAPS := key_proof
test_status_WRAPS := pthread_cond_timedwait
UNIT_TESTS += tests/unit/web/test_ping tests/unit/web/test_status tests/unit/web/test_web tests/unit/web/test_web_query
FUZZERS += fuzz_ping fuzz_web
