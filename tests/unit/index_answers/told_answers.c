#include "tests/unit/index_answers/told_answers.h"

#include <string.h>

#include "base/memory.h"
#include "index/read/dump.h"
#include "index/read/quad_text.h"
#include "index/serve/answer_keys.h"
#include "index/serve/answer_lookup.h"
#include "index/serve/answer_rows.h"
#include "index/serve/answer_share.h"
#include "index/serve/answer_triples.h"
#include "index/serve/change_lines.h"
#include "index/write/partition_keys.h"

enum { TEXT_MOST = 1 << 20, LITERALS_MOST = 100, WORKED_US = 250 };

static max_align_t places[7]; /* where the parts of a service would be */
struct partition *const told_partition = (struct partition *)&places[0];
struct sessions *const told_sessions = (struct sessions *)&places[1];
struct cursor *const told_cursor = (struct cursor *)&places[2];
static struct threads *const the_threads = (struct threads *)&places[3];
static struct thread *const the_thread = (struct thread *)&places[4];
static struct partition_reader *const the_reader = (struct partition_reader *)&places[5];
static struct partition_reader *const own_reader = (struct partition_reader *)&places[6];
static struct turn the_turn;
static atomic_bool cancelled;

const struct metastore_client_options *told_metastore;
struct buf told_calls, told_written;
size_t told_readers, told_refused, told_found, told_rows;
enum status told_status, told_open_status, told_session_status, told_next_status, told_term_status,
    told_scan_status, told_rows_status;
bool told_help, told_spare, told_thread, told_impossible;
const size_t *told_lengths;
const struct partition_needs *told_needs;
static size_t pieces, open_scans;
static uint64_t processor_us;

static enum status
outcome(enum status status, struct reason *why)
{
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "it went wrong");
}

void
told_set_up(void)
{
    buf_init(&told_calls, TEXT_MOST);
    buf_init(&told_written, TEXT_MOST);
    told_refused = SIZE_MAX;
    told_status = told_open_status = told_session_status = told_next_status = STATUS_OK;
    told_term_status = told_scan_status = told_rows_status = STATUS_OK;
    told_help = told_spare = told_thread = told_impossible = false;
    told_lengths = NULL;
}

void
told_tear_down(void)
{
    buf_release(&told_calls);
    buf_release(&told_written);
}

void
told_reset(void)
{
    buf_reset(&told_calls);
    buf_reset(&told_written);
    (void)buf_append_string(&told_calls, "");
    (void)buf_append_string(&told_written, "");
    pieces = 0;
    processor_us = 1000;
}

void
told_end(void)
{
    assert_int_equal(told_readers, 0);
    assert_int_equal(open_scans, 0);
}

/* ---- the cursor ---- */

static enum status
take(struct cursor *cursor, struct slice bytes, char end, struct reason *why)
{
    assert_ptr_equal(cursor, told_cursor);
    if (pieces++ == told_refused) {
        return status_fail(why, STATUS_CANCELLED, "nobody reads on");
    }
    if (told_lengths != NULL) {
        (void)buf_printf(&told_written, "%zu", bytes.length);
    } else {
        (void)buf_append_slice(&told_written, bytes);
    }
    (void)buf_append_char(&told_written, end);
    return STATUS_OK;
}

enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    return take(cursor, bytes, '|', why);
}

enum status __wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status
__wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    return take(cursor, bytes, '$', why);
}

size_t __wrap_cursor_memory(const struct cursor *cursor);
size_t
__wrap_cursor_memory(const struct cursor *cursor)
{
    assert_ptr_equal(cursor, told_cursor);
    return 55;
}

const atomic_bool *__wrap_cursor_cancelled(const struct cursor *cursor);
const atomic_bool *
__wrap_cursor_cancelled(const struct cursor *cursor)
{
    assert_ptr_equal(cursor, told_cursor);
    return &cancelled;
}

struct turn *__wrap_cursor_turn(struct cursor *cursor);
struct turn *
__wrap_cursor_turn(struct cursor *cursor)
{
    assert_ptr_equal(cursor, told_cursor);
    return &the_turn;
}

struct threads *__wrap_cursor_threads(const struct cursor *cursor);
struct threads *
__wrap_cursor_threads(const struct cursor *cursor)
{
    assert_ptr_equal(cursor, told_cursor);
    return the_threads;
}

/* ---- turns and threads: the work is done when it begins ---- */

bool __wrap_turn_may_lend(struct turn *turn);
bool
__wrap_turn_may_lend(struct turn *turn)
{
    assert_ptr_equal(turn, &the_turn);
    return told_spare;
}

bool __wrap_turn_is_wanted(const struct turn *turn);
bool
__wrap_turn_is_wanted(const struct turn *turn)
{
    assert_ptr_equal(turn, &the_turn);
    return !told_spare;
}

bool __wrap_turn_lend(struct turn *turn);
bool
__wrap_turn_lend(struct turn *turn)
{
    assert_ptr_equal(turn, &the_turn);
    (void)buf_append_string(&told_calls, "lend\n");
    return told_spare;
}

void __wrap_turn_lent_back(struct turn *turn, uint64_t used_us);
void
__wrap_turn_lent_back(struct turn *turn, uint64_t used_us)
{
    assert_ptr_equal(turn, &the_turn);
    (void)buf_printf(&told_calls, "lent back %u\n", (unsigned)used_us);
}

uint64_t __wrap_turn_cpu_us(void);
uint64_t
__wrap_turn_cpu_us(void)
{
    return processor_us;
}

struct thread *__wrap_threads_start(struct threads *threads, void (*work)(void *argument),
                                    void *argument);
struct thread *
__wrap_threads_start(struct threads *threads, void (*work)(void *argument), void *argument)
{
    assert_ptr_equal(threads, the_threads);
    if (!told_thread) {
        return NULL;
    }
    work(argument);
    return the_thread;
}

void __wrap_threads_join(struct thread *thread);
void
__wrap_threads_join(struct thread *thread)
{
    assert_ptr_equal(thread, the_thread);
    (void)buf_append_string(&told_calls, "join\n");
}

/* ---- the source: the term of an identifier is its number ---- */

struct text_scan {
    size_t next;
};
static struct text_scan the_search;
struct quad_scan {
    size_t next;
    oid literal;
};
static struct quad_scan the_scan;

static enum status
source_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    char text[32];
    assert_ptr_equal(context, told_partition);
    TRY(outcome(told_term_status, why));
    snprintf(text, sizeof text, "t%llu", (unsigned long long)id);
    const struct slice copy = arena_copy(arena, slice_string(text));
    *term = id < LITERALS_MOST ? term_literal(copy) : term_iri(copy);
    return STATUS_OK;
}

static enum status
source_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
            struct quad_scan **scan, struct reason *why)
{
    assert_ptr_equal(context, told_partition);
    assert_int_equal(order, ORDER_COUNT);
    assert_true(pattern->subject == OID_NONE && pattern->predicate == OID_NONE &&
                pattern->graph == OID_NONE);
    (void)buf_printf(&told_calls, "scan %u\n", (unsigned)pattern->object);
    TRY(outcome(told_scan_status, why));
    the_scan = (struct quad_scan){.literal = pattern->object};
    open_scans++;
    *scan = &the_scan;
    return STATUS_OK;
}

static enum status
source_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                 struct reason *why)
{
    (void)buf_printf(&told_calls, "%zu\n", most);
    TRY(outcome(told_rows_status, why));
    for (*n = 0; *n < most && scan->next < told_rows; scan->next++) {
        rows[(*n)++] = (struct quad_oids){.subject = LITERALS_MOST + scan->literal,
                                          .predicate = 2 * LITERALS_MOST + scan->literal,
                                          .object = scan->literal,
                                          .graph = 3 * LITERALS_MOST + scan->literal};
    }
    return STATUS_OK;
}

static void
source_scan_close(struct quad_scan *scan)
{
    assert_ptr_equal(scan, &the_scan);
    open_scans--;
}

static enum status
source_search(void *context, struct slice words, uint32_t most, struct text_scan **scan,
              struct reason *why)
{
    assert_ptr_equal(context, told_partition);
    (void)buf_printf(&told_calls, "search %.*s most %lu\n", SLICE_PRINT(words),
                     (unsigned long)most);
    TRY(outcome(told_status, why));
    the_search.next = 0;
    open_scans++;
    *scan = &the_search;
    return STATUS_OK;
}

static enum status
source_search_next(struct text_scan *scan, oid *literal, double *score, bool *end,
                   struct reason *why)
{
    TRY(outcome(told_next_status, why));
    *end = scan->next == told_found;
    if (!*end) {
        *score = 3.5 / (double)(2 * scan->next + 1);
        *literal = 2 * ++scan->next;
    }
    return STATUS_OK;
}

static void
source_search_close(struct text_scan *scan)
{
    assert_ptr_equal(scan, &the_search);
    open_scans--;
}

static const struct quad_source source = {.context = (void *)&places[0],
                                          .resolve = source_resolve,
                                          .scan = source_scan,
                                          .scan_next = source_scan_next,
                                          .scan_close = source_scan_close,
                                          .search = source_search,
                                          .search_next = source_search_next,
                                          .search_close = source_search_close};
static const struct quad_source own_source; /* of the reader of a second thread */

/* ---- readers ---- */

enum status __wrap_partition_reader_open(struct partition_reader **reader,
                                         struct partition *partition, struct reason *why);
enum status
__wrap_partition_reader_open(struct partition_reader **reader, struct partition *partition,
                             struct reason *why)
{
    assert_ptr_equal(partition, told_partition);
    (void)buf_append_string(&told_calls, "open\n");
    TRY(outcome(told_open_status, why));
    told_readers++;
    *reader = the_reader;
    return STATUS_OK;
}

struct partition_reader *__wrap_partition_reader_share(const struct partition_reader *other);
struct partition_reader *
__wrap_partition_reader_share(const struct partition_reader *other)
{
    assert_ptr_equal(other, the_reader);
    (void)buf_append_string(&told_calls, "share\n");
    told_readers++;
    return own_reader;
}

void __wrap_partition_reader_close(struct partition_reader *reader);
void
__wrap_partition_reader_close(struct partition_reader *reader)
{
    if (reader == own_reader) {
        (void)buf_append_string(&told_calls, "close own\n");
    }
    told_readers -= reader != NULL;
}

const struct quad_source *__wrap_partition_reader_source(struct partition_reader *reader);
const struct quad_source *
__wrap_partition_reader_source(struct partition_reader *reader)
{
    assert_true(reader == the_reader || reader == own_reader);
    return reader == the_reader ? &source : &own_source;
}

enum status __wrap_sessions_reader(struct sessions *sessions, uint64_t id, bool begin,
                                   struct partition_reader **reader, struct reason *why);
enum status
__wrap_sessions_reader(struct sessions *sessions, uint64_t id, bool begin,
                       struct partition_reader **reader, struct reason *why)
{
    assert_ptr_equal(sessions, told_sessions);
    (void)buf_printf(&told_calls, "session %u%s\n", (unsigned)id, begin ? " begins" : "");
    TRY(outcome(told_session_status, why));
    told_readers++;
    *reader = the_reader;
    return STATUS_OK;
}

/* ---- queries ---- */

static void
note_options(const struct query_options *options)
{
    assert_ptr_equal(options->cancel, &cancelled);
    assert_true(options->step == cursor_step);
    assert_ptr_equal(options->step_context, told_cursor);
    (void)buf_printf(&told_calls, " timeout %u memory %zu disk %u %s\n",
                     (unsigned)options->timeout_ms, options->memory, (unsigned)options->disk,
                     options->scratch_folder);
}

static void
help(void *argument, const struct quad_source *from)
{
    assert_ptr_equal(argument, &processor_us);
    assert_ptr_equal(from, &own_source);
    processor_us += WORKED_US;
    (void)buf_append_string(&told_calls, "helped\n");
}

enum status __wrap_answer_query(const struct quad_source *from,
                                const struct metastore_client_options *metastore,
                                struct slice sparql, struct slice format,
                                const struct query_options *options, enum index_answer answer,
                                index_piece *piece, void *context, struct reason *why);
enum status
__wrap_answer_query(const struct quad_source *from,
                    const struct metastore_client_options *metastore, struct slice sparql,
                    struct slice format, const struct query_options *options,
                    enum index_answer answer, index_piece *piece, void *context, struct reason *why)
{
    const struct query_helper *helper = options->helper;
    assert_ptr_equal(from, &source);
    assert_ptr_equal(metastore, told_metastore);
    (void)buf_printf(&told_calls, "query %.*s as %.*s kind %d of %.*s+%.*s+%.*s",
                     SLICE_PRINT(sparql), SLICE_PRINT(format), answer,
                     SLICE_PRINT(options->default_graph), SLICE_PRINT(options->graphs),
                     SLICE_PRINT(options->named_graphs));
    note_options(options);
    assert_int_equal(helper->is_free(helper->context), told_spare);
    assert_int_equal(helper->is_wanted(helper->context), !told_spare);
    if (told_help && helper->begin(helper->context, help, &processor_us)) {
        helper->end(helper->context);
    } else if (told_help) {
        (void)buf_append_string(&told_calls, "alone\n");
    }
    TRY(outcome(told_status, why));
    return piece(context, SLICE("piece"), why);
}

enum status __wrap_answer_share(const struct quad_source *from, const struct share_request *request,
                                const struct query_options *options, struct cursor *cursor,
                                struct reason *why);
enum status
__wrap_answer_share(const struct quad_source *from, const struct share_request *request,
                    const struct query_options *options, struct cursor *cursor, struct reason *why)
{
    assert_ptr_equal(from, &source);
    (void)buf_printf(&told_calls,
                     "share %.*s of %.*s+%.*s+%.*s form %d node %u most %u now %u columns %zu key "
                     "%u%s",
                     SLICE_PRINT(request->text), SLICE_PRINT(request->default_graph),
                     SLICE_PRINT(request->graphs), SLICE_PRINT(request->named_graphs),
                     request->form, (unsigned)request->node, (unsigned)request->most,
                     (unsigned)request->now_ms, request->columns, (unsigned)request->key,
                     request->shared != NULL ? " shared" : "");
    assert_int_equal(request->shared != NULL, request->partition_wise);
    assert_true(request->shared == NULL || oid_set_has(request->shared, LITERALS_MOST));
    note_options(options);
    TRY(outcome(told_status, why));
    return take(cursor, SLICE("piece"), '|', why);
}

enum status __wrap_partition_keys_set(struct partition *partition, enum key_places at,
                                      struct slice list, struct oid_set *set, struct reason *why);
enum status
__wrap_partition_keys_set(struct partition *partition, enum key_places at, struct slice list,
                          struct oid_set *set, struct reason *why)
{
    assert_ptr_equal(partition, told_partition);
    (void)buf_printf(&told_calls, "keys set %d %.*s\n", at, SLICE_PRINT(list));
    TRY(outcome(told_rows_status, why));
    oid_set_init(set, 1);
    oid_set_add(set, LITERALS_MOST);
    return STATUS_OK;
}

/* ---- patterns ---- */

enum status __wrap_answer_pattern(const struct quad_source *from, const struct quad *pattern,
                                  struct quad_oids *ids, bool *possible, struct reason *why);
enum status
__wrap_answer_pattern(const struct quad_source *from, const struct quad *pattern,
                      struct quad_oids *ids, bool *possible, struct reason *why)
{
    assert_ptr_equal(from, &source);
    assert_int_equal(pattern->object.kind, TERM_NONE);
    (void)buf_printf(&told_calls, "pattern %.*s\n", SLICE_PRINT(pattern->subject.value));
    *ids = (struct quad_oids){.subject = 5};
    *possible = !told_impossible;
    return outcome(told_status, why);
}

enum status __wrap_quad_lines(const struct quad_source *from, const struct quad_oids *pattern,
                              enum quad_order order, uint64_t limit, quad_line *line, void *context,
                              struct reason *why);
enum status
__wrap_quad_lines(const struct quad_source *from, const struct quad_oids *pattern,
                  enum quad_order order, uint64_t limit, quad_line *line, void *context,
                  struct reason *why)
{
    static char bytes[1 << 16]; /* a line that is too long is not read */
    assert_ptr_equal(from, &source);
    assert_int_equal(order, ORDER_COUNT);
    (void)buf_printf(&told_calls, "lines of %u limit %u\n", (unsigned)pattern->subject,
                     (unsigned)limit);
    for (size_t i = 0; i < 3 && told_lengths[i] > 0; i++) {
        TRY(line(context, slice_of(bytes, told_lengths[i]), why));
    }
    return outcome(told_rows_status, why);
}

/* ---- all other streams ---- */

static enum status
lower(const struct partition *partition, partition_report *piece, void *context, struct reason *why)
{
    assert_ptr_equal(partition, told_partition);
    (void)buf_append_char(&told_calls, '\n');
    TRY(outcome(told_status, why));
    return piece(context, SLICE("piece"), why);
}

#define LOWER(name, arguments, note)                  \
    enum status __wrap_##name arguments;              \
    enum status __wrap_##name arguments               \
    {                                                 \
        note;                                         \
        return lower(partition, piece, context, why); \
    }
#define NOTE(...) (void)buf_printf(&told_calls, __VA_ARGS__)

LOWER(partition_dump,
      (struct partition * partition, bool with_position, const char *folder, size_t memory,
       dump_piece *piece, void *context, struct reason *why),
      NOTE("dump %d %s %zu", with_position, folder, memory))
LOWER(partition_last_change,
      (struct partition * partition, struct slice uri, partition_report *piece, void *context,
       struct reason *why),
      NOTE("last change %.*s", SLICE_PRINT(uri)))
LOWER(partition_backup,
      (struct partition * partition, partition_report *piece, void *context, struct reason *why),
      NOTE("backup"))
LOWER(partition_counts,
      (struct partition * partition, bool with_sets, partition_report *piece, void *context,
       struct reason *why),
      NOTE("counts %d", with_sets))

enum status __wrap_partition_verify(struct partition *partition, const char *folder, size_t memory,
                                    const atomic_bool *cancel, partition_report *piece,
                                    void *context, struct reason *why);
enum status
__wrap_partition_verify(struct partition *partition, const char *folder, size_t memory,
                        const atomic_bool *cancel, partition_report *piece, void *context,
                        struct reason *why)
{
    assert_ptr_equal(cancel, &cancelled);
    NOTE("verify %s %zu", folder, memory);
    return lower(partition, piece, context, why);
}

LOWER(partition_compact,
      (struct partition * partition, const atomic_bool *cancel, partition_report *piece,
       void *context, struct reason *why),
      assert_ptr_equal(cancel, &cancelled);
      NOTE("compact"))

enum status __wrap_partition_changes(struct partition *partition, struct change_request *request,
                                     partition_report *piece, void *context, struct reason *why);
enum status
__wrap_partition_changes(struct partition *partition, struct change_request *request,
                         partition_report *piece, void *context, struct reason *why)
{
    NOTE("changes %u.%u", (unsigned)request->since.batch, (unsigned)request->since.stamp);
    for (size_t i = 0; i < request->graph_count; i++) {
        NOTE(" %.*s", SLICE_PRINT(request->graphs[i]));
    }
    return lower(partition, piece, context, why);
}

#define LOOKUP(name, word, arguments, check)           \
    enum status __wrap_##name arguments;               \
    enum status __wrap_##name arguments                \
    {                                                  \
        check;                                         \
        NOTE("%s %.*s\n", word, SLICE_PRINT(request)); \
        TRY(outcome(told_status, why));                \
        return take(cursor, SLICE("piece"), '|', why); \
    }

LOOKUP(answer_rows, "rows",
       (struct partition * partition, const struct quad_source *from, struct slice request,
        struct cursor *cursor, struct reason *why),
       assert_true(partition == told_partition && from == &source))
LOOKUP(answer_triples, "triples",
       (struct partition_reader * reader, struct slice request, struct cursor *cursor,
        struct reason *why),
       assert_ptr_equal(reader, the_reader))
LOOKUP(answer_keys, "keys",
       (struct partition * partition, struct slice request, struct cursor *cursor,
        struct reason *why),
       assert_ptr_equal(partition, told_partition))
LOOKUP(answer_find, "find",
       (struct partition_reader * reader, struct slice request, struct cursor *cursor,
        struct partition_needs *needs, struct reason *why),
       assert_ptr_equal(reader, the_reader);
       told_needs = needs)
LOOKUP(answer_describe, "describe",
       (struct partition_reader * reader, struct slice request, struct cursor *cursor,
        struct partition_needs *needs, struct reason *why),
       assert_ptr_equal(reader, the_reader);
       told_needs = needs)
