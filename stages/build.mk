stages_OBJECTS := $(addprefix stages/extract/,extract_options.o)
stages_OBJECTS += $(addprefix stages/fetch/hosts/,fetch_hosts.o host_delays.o queue_balance.o)
stages_OBJECTS += $(addprefix stages/fetch/http/,address_limit.o address_rules.o fetch_credentials.o fetch_dns.o \
	fetch_ftp.o fetch_http.o fetch_options.o fetch_proxy.o fetch_transfer.o fetch_watch.o hosts_file.o \
	http_settings.o transfer_end.o transfer_exchange.o transfer_place.o)
stages_OBJECTS += $(addprefix stages/fetch/parser/,fetch_parser.o fetch_parser_work.o)
stages_OBJECTS += $(addprefix stages/parsing/,document_worker.o)
stages_OBJECTS += $(addprefix stages/sandbox/,fork_server.o landlock.o run_delay.o sandbox.o sandbox_calls.o sandbox_selftest.o \
	sandbox_selftest_program.o worker.o worker_orders.o)
stages_OBJECTS += $(addprefix stages/skeleton/,content.o document.o document_meta.o held_job.o recrawl_options.o resources.o \
	services.o stage.o stage_batch.o stage_events.o stage_metadata.o stage_options.o stage_reserve.o visit_schedule.o)
PROGRAMS += quadrille-extract quadrille-fetch quadrille-detect quadrille-transform
quadrille-transform_OBJECTS := stages/transform/transform_stage.o stages/transform/transform_document.o
quadrille-detect_OBJECTS := stages/detect/detect_stage.o stages/transform/transform_document.o
quadrille-fetch_OBJECTS := $(addprefix stages/fetch/,fetch_stage.o page.o refused_sitemaps.o rules.o sitemap_entries.o \
	sitemap_fetch.o visit_begin.o)
quadrille-fetch_OBJECTS += $(addprefix stages/fetch/datasets/,dump_fetch.o endpoint.o plan_decide.o plan_read.o slice.o)
quadrille-fetch_OBJECTS += $(addprefix stages/fetch/task/,download.o host_line.o host_report.o \
	queue_shares.o request_turn.o sitemap_notes.o slow_hosts.o task_archive.o task_end.o task_jobs.o task_kind.o \
	task_output.o visit.o)
quadrille-extract_OBJECTS := stages/extract/extract_stage.o stages/extract/scope_sweep.o
# Thousands of transfers come and go, each of some fifty pieces of all sizes.
$(BUILD)/bin/quadrille-fetch: allocator := -ljemalloc
UNIT_TESTS += tests/unit/stages/test_document tests/unit/stages/test_dump_fetch tests/unit/stages/test_endpoint tests/unit/stages/test_fetch_balance \
	tests/unit/stages/test_fetch_credentials tests/unit/stages/test_fetch_ftp tests/unit/stages/test_fetch_http \
	tests/unit/stages_http/test_fetch_names tests/unit/stages/test_fetch_network tests/unit/stages/test_fetch_parser \
	tests/unit/stages/test_fetch_places tests/unit/stages/test_fetch_stage tests/unit/stages/test_hostile \
	tests/unit/stages/test_index_stage tests/unit/stages/test_next_visit tests/unit/stages/test_parser_pool tests/unit/stages/test_resources tests/unit/stages/test_slice_job tests/unit/stages_http/test_transfer tests/unit/stages_work/test_stage_pace tests/unit/stages_sandbox/test_worker \
	tests/unit/stages_fetch/test_host_delays tests/unit/stages_fetch/test_host_plan tests/unit/stages_fetch/test_plan_rules tests/unit/stages_fetch/test_refused_sitemaps \
	tests/unit/stages_fetch/test_host_report tests/unit/stages_fetch/test_page tests/unit/stages_fetch/test_request_turn tests/unit/stages_fetch/test_visit \
	tests/unit/stages_fetch/test_rules tests/unit/stages_fetch/test_known_rules \
	tests/unit/stages_fetch/test_sitemap_entries tests/unit/stages_fetch/test_sitemap_fetch tests/unit/stages_fetch/test_task_jobs \
	tests/unit/stages_fetch/test_fetch_program \
	tests/unit/stages_work/test_document_worker tests/unit/stages_work/test_content_places \
	tests/unit/stages_work/test_detect_stage tests/unit/stages_work/test_extract_stage tests/unit/stages_work/test_services tests/unit/stages_work/test_stage_main \
	tests/unit/stages_work/test_transform_stage
test-tools: $(BUILD)/tests/test_hostile
test_fetch_parser_PARTS := tests/unit/stages/parser_requests.o
test_parser_pool_PARTS := tests/unit/stages/parser_replies.o
test_parser_pool_WRAPS := worker_pool_open worker_pool_close worker_submit fetch_http_hold fetch_http_let_go
test_hostile_ALONE := tests/pipeline/hostile.sh runs it, too
test_content_WRAPS := archive_link_open archive_link_close archive_link_read archive_link_read_ranges warc_read_member \
	stage_waiting cluster_keys cluster_self cluster_helper cluster_find cluster_node cluster_node_count
test_resources_WRAPS := metastore_get content_read clock_monotonic_ms clock_wall_ms
test_endpoint_PARTS := stages/fetch/datasets/endpoint.o
test_endpoint_WRAPS := stage_release stage_directory stage_metastore metastore_get fetch_parser_submit parsed_page_decode \
	parsed_count fdatasync file_rename
test_dump_fetch_PARTS := stages/fetch/datasets/dump_fetch.o stages/fetch/task/download.o
test_dump_fetch_WRAPS := stage_release stage_output stage_directory fdatasync write file_rename
test_index_stage_PARTS := stages/index/index_stage.o
test_index_stage_WRAPS := main stage_main _exit stage_options opt_integer opt_string stage_worker_number stage_directory \
	stage_cluster cluster_self cluster_node cluster_keys services_metastores cluster_services_release \
	metastore_client_options_copy stage_set_lane transform_output_maximum content_open content_close content_close_files \
	content_read_ahead \
	partition_open partition_options_from partition_close partition_waits service_options_from service_start \
	service_stop service_patches patch_queue_descriptor stage_watch patch_queue_work patch_queue_refuse index_batch_new \
	index_batch_free index_batch_reset index_batch_documents index_batch_bytes index_batch_add index_batch_commit \
	index_batch_result content_read content_refused process_state_wait process_state_goes_on process_state_end log_event \
	clock_monotonic_ms clock_wall_ms stage_done stage_output_next stage_count_as stage_yield schedule_visit
test_next_visit_WRAPS := stage_output stage_options stage_release clock_wall_ms cluster_self cluster_key_owner
test_slice_job_PARTS := stages/fetch/datasets/slice.o
test_slice_job_WRAPS := stage_release stage_timer stage_directory stage_options stage_assignments \
	stage_metastore opt_integer metastore_get hosts_find clock_wall_ms fork waitpid \
	settings_pass execv
test_refused_sitemaps_PARTS := stages/fetch/refused_sitemaps.o
test_refused_sitemaps_WRAPS := stage_put_off stage_metastore metastore_get content_read
plan_PARTS := tests/unit/stages_fetch/host_plans.o $(addprefix stages/fetch/,datasets/plan_decide.o datasets/plan_read.o) \
	$(addprefix stages/fetch/task/,task_archive.o task_jobs.o task_kind.o)
plan_WRAPS := stage_release stage_output stage_put_meta stage_directory stage_cluster stage_metastore \
	scope_allows hosts_find host_set_cover clock_wall_ms content_open content_close_files content_read metastore_get \
	fetch_parser_submit parsed_description_decode
test_host_plan_PARTS := $(plan_PARTS)
test_host_plan_WRAPS := $(plan_WRAPS)
test_plan_rules_PARTS := $(plan_PARTS)
test_plan_rules_WRAPS := $(plan_WRAPS)
test_transfer_PARTS := tests/unit/stages_http/transfer_steps.o tests/unit/stages_http/transfer_ends.o
test_transfer_WRAPS := curl_easy_init curl_easy_cleanup curl_easy_setopt curl_easy_getinfo curl_multi_remove_handle \
	dns_unreachable clock_monotonic_ms clock_wall_ms memory_new
test_fetch_names_WRAPS := ares_library_init ares_library_cleanup ares_init_options ares_destroy ares_set_servers_ports_csv \
	ares_getaddrinfo ares_freeaddrinfo ares_timeout ares_process_fd clock_monotonic_ms
test_fetch_ftp_WRAPS := fetch_http_forget pthread_create
test_fetch_places_PARTS := tests/unit/stages/fetch_proxies.o
test_fetch_places_WRAPS := robots_size getaddrinfo file_raise_limit
test_fetch_http_PARTS := tests/unit/stages/fetch_addresses.o
test_fetch_stage_PARTS := tests/unit/fetch_web.o tests/unit/stages/fetching.o
test_stage_pace_PARTS := $(addprefix tests/unit/stages_work/,batch_stand_ins.o stage_batches.o stage_metadata.o stage_timers.o)
test_stage_pace_WRAPS := queue_complete metastore_put clock_monotonic_ms process_state_wait process_state_goes_on \
	process_state_end epoll_wait
test_worker_PARTS := tests/unit/stages_sandbox/sandbox_steps.o tests/unit/stages_sandbox/sandbox_rules.o \
	tests/unit/stages_sandbox/fork_requests.o tests/unit/stages_sandbox/worker_pools.o \
	tests/unit/stages_sandbox/worker_orders.o tests/unit/stages_sandbox/worker_faults.o tests/unit/stages_sandbox/worker_steps.o tests/hooks/document_hook.o
test_worker_WRAPS := transform_run setrlimit prctl landlock_enter landlock_enter_alone seccomp_init seccomp_rule_add \
	seccomp_load epoll_create1 timerfd_create memfd_create ftruncate mmap socketpair sendmsg poll recv epoll_wait fork \
	waitpid getppid syscall
test_document_worker_PARTS := tests/unit/stages_work/document_orders.o
test_document_worker_WRAPS := worker_pool_open worker_submit worker_call transformer_new transform_run \
	magic_open magic_load
# What tests/unit/stages_work/stage_steps.c stands in for.
work_WRAPS := main exit stage_main stage_options stage_directory stage_worker_name stage_cluster stage_metastore \
	stage_scope stage_watch stage_timer stage_done stage_release stage_put_off stage_bury stage_output \
	stage_output_next stage_output_later stage_yield stage_count_as stage_set_scope stage_put_meta clock_wall_ms \
	content_open content_close content_close_files content_read_ahead content_read content_refused
test_extract_stage_PARTS := tests/unit/stages_work/stage_steps.o $(quadrille-extract_OBJECTS)
test_extract_stage_WRAPS := $(work_WRAPS) index_client_open index_client_close index_client_descriptors \
	index_client_process index_client_wait_ms index_links metastore_get metastore_client_open metastore_client_close \
	metastore_scan cluster_owner_of
test_detect_stage_PARTS := tests/unit/stages_work/stage_steps.o stages/detect/detect_stage.o
test_detect_stage_WRAPS := $(work_WRAPS) fork_server_start fork_server_close document_submit_magic schedule_visit clock_monotonic_ms
test_transform_stage_PARTS := $(addprefix tests/unit/stages_work/,stage_steps.o transform_help.o) $(quadrille-transform_OBJECTS)
test_transform_stage_WRAPS := $(work_WRAPS) fork_server_start document_workers_open document_workers_close document_workers_pool \
	worker_pool_descriptor worker_pool_process document_submit_transform document_outcome_decode resources_open \
	resources_close resource_set_new resource_set_free resource_set_gather resource_set_missing resource_set_unknown \
	resource_set_old resource_set_give_up resource_set_list resource_set_names warc_write_conversion warc_sync \
	warc_pack_conversion metastore_keep fork_server_close
test_request_turn_PARTS := $(addprefix stages/fetch/task/,host_line.o host_report.o request_turn.o slow_hosts.o)
test_request_turn_WRAPS := fetch_http_body_bytes stage_release stage_report_host stage_set_aside stage_timer clock_monotonic_ms \
	fetch_http_at_limit fetch_http_start fetch_http_silent_ms fetch_http_give_up
test_task_jobs_PARTS := $(addprefix stages/fetch/task/,sitemap_notes.o task_jobs.o task_kind.o task_output.o)
test_task_jobs_WRAPS := clock_wall_ms scope_allows url_rules_key stage_output stage_put_meta
test_visit_PARTS := $(addprefix stages/fetch/,task/queue_shares.o task/visit.o visit_begin.o)
test_visit_WRAPS := clock_wall_ms stage_release stage_timer stage_put_meta stage_set_lane_share stage_metastore \
	metastore_get schedule_visit
test_page_PARTS := tests/unit/stages_work/stage_steps.o $(addprefix stages/fetch/,page.o task/task_archive.o task/task_end.o task/task_output.o)
test_page_WRAPS := $(work_WRAPS) warc_write_exchange
test_fetch_program_PARTS := tests/unit/stages_work/stage_steps.o $(addprefix stages/fetch/,fetch_stage.o task/task_kind.o)
test_fetch_program_WRAPS := $(work_WRAPS) fork_server_start fork_server_close fetch_http_open fetch_http_close \
	fetch_http_ready fetch_http_tick fetch_parser_open fetch_parser_close fetch_parser_pool worker_pool_descriptor \
	worker_pool_process warc_sync warc_writer_open
test_host_report_PARTS := stages/fetch/task/host_report.o
test_host_report_WRAPS := stage_report_host clock_wall_ms clock_monotonic_ms
test_content_places_PARTS := tests/unit/stages_work/stage_steps.o
test_content_places_WRAPS := $(filter-out content_%,$(work_WRAPS)) warc_remote_open warc_remote_close \
	warc_fetch_remote clock_monotonic_ms
test_stage_main_PARTS := $(addprefix tests/unit/stages_work/,stage_process.o stage_requests.o \
	stage_surroundings.o)
test_stage_main_WRAPS := process_state_open process_state_ready process_state_wait process_state_goes_on \
	process_state_end watchdog_start watchdog_wait_ms watchdog_feed wanted_jobs_open wanted_jobs_any wanted_jobs_settings \
	wanted_jobs_close queue_client_open queue_client_close queue_client_descriptor queue_client_wait_ms \
	queue_client_scope queue_client_process queue_reserve metastore_client_open metastore_client_close \
	metastore_descriptors metastore_wait_ms metastore_process batch_advance batch_wait_ms events_watch events_round \
	clock_monotonic_ms signalfd
rules_PARTS := tests/unit/stages_fetch/rules_steps.o stages/fetch/rules.o stages/fetch/task/task_kind.o
rules_WRAPS := clock_wall_ms stage_release stage_put_off stage_done stage_put_meta \
	stage_cluster cluster_self cluster_key_owner stage_metastore metastore_get fetch_parser_submit
test_rules_PARTS := $(rules_PARTS)
test_rules_WRAPS := $(rules_WRAPS)
test_known_rules_PARTS := $(rules_PARTS)
test_known_rules_WRAPS := $(rules_WRAPS)
sitemap_PARTS := tests/unit/stages_fetch/sitemap_steps.o \
	$(addprefix stages/fetch/,sitemap_entries.o sitemap_fetch.o task/task_kind.o)
sitemap_WRAPS := scope_allows url_rules_key clock_wall_ms stage_release stage_put_meta stage_metastore \
	metastore_get fetch_parser_submit
test_sitemap_fetch_PARTS := $(sitemap_PARTS)
test_sitemap_fetch_WRAPS := $(sitemap_WRAPS)
test_sitemap_entries_PARTS := $(sitemap_PARTS)
test_sitemap_entries_WRAPS := $(sitemap_WRAPS)
