cli_OBJECTS := cli/common.o cli/reading_copy.o cli/asking.o cli/archive.o cli/seeds.o cli/progress.o cli/supervisor.o cli/supervisor_child.o cli/supervisor_look.o cli/process_log.o cli/process_troubles.o cli/crawl_outcome.o cli/options.o cli/by_hand.o cli/quad_diff.o \
	cli/import_nodes.o cli/node_naming.o cli/node_names.o \
	cli/report_advice.o cli/report_page.o cli/report_totals.o cli/report_print.o cli/sitemap_study.o cli/sitemap_plot.o
PROGRAMS += quadrille
quadrille_OBJECTS := cli/main.o cli/command_up.o cli/command_crawl.o cli/scope_of_seeds.o cli/before_fetching.o cli/scope_keeper.o cli/command_status.o \
	cli/command_add.o cli/command_care.o cli/command_changes.o cli/command_explain.o cli/explain_print.o cli/explain_uri.o cli/pattern.o cli/command_meta.o cli/command_query.o cli/command_serve.o cli/command_prefixes.o cli/command_update.o cli/command_import.o cli/import_files.o cli/import_lines.o cli/slice_spaces.o cli/slice_steps.o cli/command_queue.o \
	cli/command_scope.o cli/command_file.o cli/command_selftest.o cli/command_transforms.o cli/command_replay.o cli/command_retain.o cli/command_slice.o cli/slice_store.o cli/command_datasets.o cli/dataset_execute.o cli/dataset_prove.o cli/dump_reader.o cli/command_plan.o cli/survey.o cli/web_client.o cli/command_report.o cli/report_sitemaps.o
SUBCOMMANDS += init crawl up down status top stats add meta query serve prefixes update import search dump changes verify explain backup restore compact queue \
	scope detect transform transforms replay retain slice datasets plan sitemap report selftest
UNIT_TESTS += tests/unit/test_process_state tests/unit/test_report tests/unit/test_sitemap_study
UNIT_TESTS += tests/unit/test_import_nodes
