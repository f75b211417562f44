/* bench_words FOLDER FILE.nq [name=value]...: the keyword index alone. Takes the distinct string
 * literals of N-Quads, in order, and brings them into our index and, in the same run, into SQLite's
 * FTS5 (contentless, unicode61); then searches both. One line of figures each.
 *
 *   memory=MIB    of words that wait to be written (default 64)
 *   fts5=0        without FTS5
 *   stems=0       languages left out, for the sake of comparison
 *   searches=N    of each kind (default 1000)
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "index/terms/term_set.h"
#include "index/words/literal_words.h"
#include "index/words/literals_index.h"
#include "rdf/nquads/nquads.h"

enum { PATH_SIZE = 4096, FTS_TRANSACTION = 40000, TOP = 10 };

struct collection {
    struct term_set set;
    size_t count;
    uint64_t bytes;
};

static double
cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_words: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

static void
must_sqlite(int code, sqlite3 *db)
{
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        fprintf(stderr, "bench_words: %s\n", sqlite3_errmsg(db));
        exit(EXIT_SYSTEM);
    }
}

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    (void)why;
    struct collection *c = context;
    const enum oid_kind kind =
        quad->object.kind == TERM_LITERAL ? oid_kind_of(&quad->object) : OID_KIND_NONE;
    if (kind == OID_KIND_STRING || kind == OID_KIND_LANGUAGE) {
        const uint32_t index = term_set_add(&c->set, &quad->object);
        if (index + 1 == c->set.count && index == c->count) {
            c->count++;
            c->bytes += quad->object.value.length;
        }
    }
    return STATUS_OK;
}

static uint64_t
file_bytes(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    struct stat info;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static void
report(const char *what, const struct collection *c, double cpu, uint64_t bytes)
{
    printf("%-6s literals=%zu mb=%.1f cpu_s=%.2f literals_per_cpu_s=%.0f mb_per_cpu_s=%.1f "
           "index_mb=%.1f bytes_per_literal=%.1f\n",
           what, c->count, (double)c->bytes / 1e6, cpu, (double)c->count / cpu,
           (double)c->bytes / 1e6 / cpu, (double)bytes / 1e6, (double)bytes / (double)c->count);
    fflush(stdout);
}

/* ---- ours ---- */

static void
write_words(struct literals *literals, bool all)
{
    struct reason why = {""};
    while (literals_to_write(literals, all)) {
        must(literals_write_step(literals, false, &why), &why);
    }
}

static void
load_ours(struct literals *literals, const struct collection *c, bool stems)
{
    for (size_t i = 0; i < c->count; i++) {
        struct term term = c->set.terms[i].term;
        term.language = stems ? term.language : SLICE("");
        const uint64_t length =
            literals_count_words(literals->active, literals->tokenizer, &term, &literals->stems);
        posting_memtable_end_literal(literals->active, i + 1, term.language.length > 0, length);
        literals->next = i + 2;
        write_words(literals, false);
    }
}

/* ---- FTS5 ---- */

static sqlite3 *
open_fts(const char *folder)
{
    char path[PATH_SIZE];
    sqlite3 *db;
    snprintf(path, sizeof(path), "%s/fts5.db", folder);
    must_sqlite(sqlite3_open(path, &db), NULL);
    must_sqlite(sqlite3_exec(db,
                             "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                             "CREATE VIRTUAL TABLE words USING fts5(text, content='',"
                             " tokenize=\"unicode61 remove_diacritics 2\");"
                             "INSERT INTO words(words, rank) VALUES('hashsize', 16777216);",
                             NULL, NULL, NULL),
                db);
    return db;
}

static void
load_fts(sqlite3 *db, const struct collection *c)
{
    sqlite3_stmt *insert;
    must_sqlite(
        sqlite3_prepare_v2(db, "INSERT INTO words(rowid, text) VALUES(?, ?)", -1, &insert, NULL),
        db);
    for (size_t i = 0; i < c->count; i++) {
        if (i % FTS_TRANSACTION == 0) {
            must_sqlite(sqlite3_exec(db, i > 0 ? "COMMIT; BEGIN" : "BEGIN", NULL, NULL, NULL), db);
        }
        const struct slice text = c->set.terms[i].term.value;
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i + 1);
        sqlite3_bind_text(insert, 2, text.at, (int)text.length, SQLITE_STATIC);
        must_sqlite(sqlite3_step(insert), db);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    must_sqlite(sqlite3_exec(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL), db);
}

/* ---- searching ---- */

struct searching {
    struct literals *literals;
    struct nodes *nodes;
    sqlite3_stmt *match;
    const struct collection *collection;
};

typedef size_t run_search(struct searching *s, const char *words);

static size_t
search_ours(struct searching *s, const char *words)
{
    struct reason why = {""};
    struct literals_search *search;
    size_t found = 0;
    oid literal;
    double score;
    must(literals_search_open(&search, s->literals, s->nodes, slice_string(words), TOP, &why),
         &why);
    while (found < TOP && literals_search_next(search, &literal, &score, &why) == STATUS_OK) {
        found++;
    }
    literals_search_close(search);
    return found;
}

static size_t
search_fts(struct searching *s, const char *words)
{
    size_t found = 0;
    sqlite3_bind_text(s->match, 1, words, -1, SQLITE_STATIC);
    while (sqlite3_step(s->match) == SQLITE_ROW) {
        found++;
    }
    sqlite3_reset(s->match);
    return found;
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return *left < *right ? -1 : *left > *right;
}

static bool
first_word(void *context, const struct token *token)
{
    struct buf *text = context;
    (void)buf_append_slice(text, token->word);
    (void)buf_append_char(text, '\0');
    return text->length < 256;
}

/* Words that stand in literals picked at random: so frequent ones come often. */
static void
time_searches(struct searching *s, const char *name, const char *kind, size_t words, bool prefix,
              uint64_t count, run_search *run)
{
    uint64_t *times = memory_alloc((count + 1) * sizeof(*times));
    struct tokenizer *tokenizer = tokenizer_new();
    struct buf text, query;
    uint64_t number = 1;
    uint64_t found = 0;
    buf_init(&text, 4096);
    buf_init(&query, 4096);
    for (uint64_t i = 0; i < count; i++) {
        number = number * 6364136223846793005u + 1442695040888963407u;
        const size_t index = (size_t)(number >> 20) % s->collection->count;
        buf_reset(&text);
        buf_reset(&query);
        tokenizer_split(tokenizer, s->collection->set.terms[index].term.value, first_word, &text);
        const char *at = text.data;
        for (size_t w = 0; w < words && text.length > 0 && at < text.data + text.length; w++) {
            const int length = (int)strlen(at);
            (void)buf_printf(&query, "%.*s%s ", prefix && length > 4 ? 4 : length, at,
                             prefix ? "*" : "");
            at += length + 1;
        }
        (void)buf_append_char(&query, '\0');
        const uint64_t begin = clock_monotonic_us();
        found += query.length > 1 ? run(s, query.data) : 0;
        times[i] = clock_monotonic_us() - begin;
    }
    qsort(times, count, sizeof(*times), compare_numbers);
    printf("%-6s search=%s count=%llu found=%llu p50_us=%llu p90_us=%llu p99_us=%llu max_us=%llu\n",
           name, kind, (unsigned long long)count, (unsigned long long)found,
           (unsigned long long)times[count / 2], (unsigned long long)times[count * 9 / 10],
           (unsigned long long)times[count * 99 / 100], (unsigned long long)times[count - 1]);
    fflush(stdout);
    buf_release(&text);
    buf_release(&query);
    tokenizer_free(tokenizer);
    free(times);
}

static void
time_kinds(struct searching *s, const char *name, uint64_t count, run_search *run)
{
    time_searches(s, name, "word", 1, false, count, run);
    time_searches(s, name, "words", 2, false, count, run);
    time_searches(s, name, "prefix", 1, true, count, run);
}

/* ---- main ---- */

static void
read_file(struct collection *c, const char *file)
{
    struct reason why = {""};
    const struct quad_sink sink = {take, c};
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
    must(nquads_reader_descriptor(reader, descriptor, &why), &why);
    nquads_reader_free(reader);
    close(descriptor);
}

static void
bench_ours(const char *folder, const struct collection *c, uint64_t memory, uint64_t searches,
           bool stems)
{
    struct reason why = {""};
    struct environment *environment;
    struct literals *literals;
    struct nodes *nodes;
    const struct environment_options options = {.folder = folder,
                                                .cache_bytes = UINT64_C(256) << 20,
                                                .checkpoint_bytes = UINT64_C(256) << 20};
    must(environment_open(&environment, &options, &why), &why);
    must(nodes_open(&nodes, environment, 16 << 20, &why), &why);
    must(literals_open(&literals, environment, memory << 20, 0, &why), &why);
    double cpu = cpu_seconds();
    load_ours(literals, c, stems);
    write_words(literals, true);
    must(environment_checkpoint(environment, true, &why), &why);
    report("ours", c, cpu_seconds() - cpu, file_bytes(folder, "words.db"));
    struct searching s = {.literals = literals, .nodes = nodes, .collection = c};
    if (searches > 0) {
        time_kinds(&s, "ours", searches, search_ours);
    }
    literals_close(literals);
    nodes_close(nodes);
    environment_close(environment);
}

static void
bench_fts(const char *folder, const struct collection *c, uint64_t searches)
{
    sqlite3 *db = open_fts(folder);
    const double cpu = cpu_seconds();
    load_fts(db, c);
    report("fts5", c, cpu_seconds() - cpu, file_bytes(folder, "fts5.db"));
    struct searching s = {.collection = c};
    must_sqlite(sqlite3_prepare_v2(db,
                                   "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?"
                                   " ORDER BY rank LIMIT 10",
                                   -1, &s.match, NULL),
                db);
    if (searches > 0) {
        time_kinds(&s, "fts5", searches, search_fts);
    }
    sqlite3_finalize(s.match);
    sqlite3_close(db);
}

int
main(int argc, char **argv)
{
    struct {
        const char *name;
        uint64_t value;
    } settings[] = {{"memory=", 64}, {"fts5=", 1}, {"searches=", 1000}, {"stems=", 1}};
    if (argc < 3) {
        fputs("usage: bench_words FOLDER FILE.nq [name=value]...\n", stderr);
        return EXIT_MISUSE;
    }
    for (int i = 3; i < argc; i++) {
        for (size_t s = 0; s < sizeof(settings) / sizeof(settings[0]); s++) {
            const size_t length = strlen(settings[s].name);
            if (strncmp(argv[i], settings[s].name, length) == 0) {
                settings[s].value = strtoull(argv[i] + length, NULL, 10);
            }
        }
    }
    struct collection c = {.count = 0};
    term_set_init(&c.set);
    read_file(&c, argv[2]);
    bench_ours(argv[1], &c, settings[0].value, settings[2].value, settings[3].value != 0);
    if (settings[1].value != 0) {
        bench_fts(argv[1], &c, settings[2].value);
    }
    term_set_release(&c.set);
    return 0;
}
