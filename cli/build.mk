cli_OBJECTS := $(addprefix cli/,process_options.o)
cli_OBJECTS += $(addprefix cli/cluster/,share_guard.o)
cli_OBJECTS += $(addprefix cli/cluster/disks/,share_command.o share_disk.o share_nodes.o)
cli_OBJECTS += $(addprefix cli/import/,import_nodes.o node_names.o node_naming.o)
cli_OBJECTS += $(addprefix cli/inspection/,graph_drawing.o)
cli_OBJECTS += $(addprefix cli/report/,html_frame.o report_advice.o report_html.o report_page.o report_print.o report_totals.o sitemap_plot.o \
	sitemap_study.o)
cli_OBJECTS += $(addprefix cli/shared/,archived_document.o common.o crawl_outcome.o offline_transform.o progress.o \
	quad_diff.o query_interrupt.o reading_copy.o seeds.o)
cli_OBJECTS += $(addprefix cli/validation/,document_facts.o negotiation.o site_terms.o term_rules.o term_survey.o validation_earl.o \
	validation_print.o vocabulary_terms.o)
cli_OBJECTS += $(addprefix cli/supervisor/,directory_rest.o process_log.o process_troubles.o supervisor.o supervisor_child.o \
	supervisor_state.o)
PROGRAMS += quadrille
SUBCOMMANDS += init crawl up down cluster status add meta query identity serve prefixes update import search dump changes \
	verify explain backup restore compact queue scope detect transform transforms replay retain slice datasets \
	report inspect validate selftest
quadrille_OBJECTS := $(addprefix cli/,main.o)
quadrille_OBJECTS += $(addprefix cli/commands/,add.o changes.o cluster_command.o crawl.o datasets.o explain.o identity_command.o import.o inspect.o maintenance.o \
	meta.o prefixes_command.o query_command.o queue_command.o replay.o report.o retain.o scope_command.o \
	selftest.o serve.o slice_command.o status_command.o transform_file.o transforms_command.o up.o update_command.o validate.o)
quadrille_OBJECTS += $(addprefix cli/backup/,directory_backup.o directory_restore.o)
quadrille_OBJECTS += $(addprefix cli/cluster/,cluster_root.o cluster_show.o helper_run.o machine_run.o machine_signals.o root_settings.o \
	share_end.o share_forget.o share_lag.o share_return.o)
quadrille_OBJECTS += $(addprefix cli/cluster/disks/,share_mover.o share_receiver.o)
quadrille_OBJECTS += $(addprefix cli/datasets/,dataset_execute.o dataset_prove.o host_survey.o slice_spaces.o \
	slice_steps.o slice_store.o survey_print.o)
quadrille_OBJECTS += $(addprefix cli/inspection/,inspection.o inspection_print.o)
quadrille_OBJECTS += $(addprefix cli/import/,import_files.o import_lines.o)
quadrille_OBJECTS += $(addprefix cli/report/,explain_print.o explain_uri.o report_sitemaps.o)
quadrille_OBJECTS += $(addprefix cli/shared/,before_fetching.o dump_reader.o scope_of_seeds.o term_pattern.o \
	web_client.o)
quadrille_OBJECTS += $(addprefix cli/supervisor/,scope_keeper.o)
UNIT_TESTS += tests/unit/cli/test_import_nodes tests/unit/cli/test_inspection tests/unit/cli/test_report tests/unit/cli/test_share_disk tests/unit/cli/test_share_guard tests/unit/cli/test_sitemap_study tests/unit/cli/test_term_rules
test_share_guard_ALONE := it starts itself anew as a worker
