#include "index/literals.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"

enum {
    PATH_SIZE = 4096,
    TRANSACTION_TERMS = 40000,
    TRANSACTION_BYTES = 16 << 20,
    WORDS_MAXIMUM = 64,
    QUERY_MAXIMUM = 64 << 10,
    BUSY_MS = 10000,
    TEXT_MAXIMUM = 1 << 20 /* bytes of a literal that are indexed */
};

#define MERGE_PAGES "200" /* of a step */

struct literals {
    sqlite3 *db;
    sqlite3_stmt *insert, *set_next;
    uint64_t next;
};

struct literals_search {
    sqlite3 *db;
    sqlite3_stmt *match;
};

static const char schema[] = "PRAGMA page_size=4096;"
                             "PRAGMA journal_mode=WAL;"
                             "PRAGMA synchronous=NORMAL;"
                             "PRAGMA wal_autocheckpoint=4000;"
                             "BEGIN IMMEDIATE;"
                             "CREATE TABLE IF NOT EXISTS state(format INTEGER, next INTEGER);"
                             "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='',"
                             " tokenize=\"unicode61 remove_diacritics 2\");"
                             "INSERT INTO state SELECT 1, 1 WHERE NOT EXISTS (SELECT * FROM state);"
                             "INSERT INTO words(words, rank) VALUES('hashsize', 16777216);"
                             "COMMIT;";

static const char start_again[] = "BEGIN IMMEDIATE;"
                                  "INSERT INTO words(words) VALUES('delete-all');"
                                  "UPDATE state SET next=1;"
                                  "COMMIT;";

static enum status
failed(sqlite3 *db, struct reason *why, const char *what)
{
    const int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
    const enum status status = code == SQLITE_FULL      ? STATUS_FULL
                               : code == SQLITE_CORRUPT ? STATUS_CORRUPT
                                                        : STATUS_SYSTEM;
    return status_fail(why, status, "literals.db: %s: %s", what,
                       db ? sqlite3_errmsg(db) : "out of memory");
}

/* Tests count and stop SQLite's writes with those of the environment. */
static void
use_counted_writes(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (environment_fault_active() && vfs != NULL) {
        vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)environment_fault_pwrite);
        vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)environment_fault_pwrite);
    }
}

static enum status
open_file(sqlite3 **db, const char *folder, int flags, struct reason *why)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/literals.db", folder);
    if (sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        return failed(*db, why, "cannot open");
    }
    sqlite3_busy_timeout(*db, BUSY_MS);
    return STATUS_OK;
}

static enum status
prepare(sqlite3 *db, const char *text, sqlite3_stmt **statement, struct reason *why)
{
    return sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) == SQLITE_OK
               ? STATUS_OK
               : failed(db, why, "cannot prepare a statement");
}

static enum status
execute(sqlite3 *db, const char *text, const char *what, struct reason *why)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK ? STATUS_OK
                                                                 : failed(db, why, what);
}

/* The first column of the first row. */
static enum status
number_of(sqlite3 *db, const char *text, uint64_t *number, struct reason *why)
{
    sqlite3_stmt *statement = NULL;
    TRY(prepare(db, text, &statement, why));
    enum status status = STATUS_OK;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        *number = (uint64_t)sqlite3_column_int64(statement, 0);
    } else {
        status = failed(db, why, "cannot read");
    }
    sqlite3_finalize(statement);
    return status;
}

/* ---- writing ---- */

enum status
literals_open(struct literals **result, const char *folder, struct reason *why)
{
    use_counted_writes();
    struct literals *literals = memory_zero(1, sizeof(*literals));
    enum status status =
        open_file(&literals->db, folder, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, why);
    if (status == STATUS_OK) {
        status = execute(literals->db, schema, "cannot make the tables", why);
    }
    if (status == STATUS_OK) {
        status = prepare(literals->db, "INSERT INTO words(rowid, text) VALUES(?, ?)",
                         &literals->insert, why);
    }
    if (status == STATUS_OK) {
        status = prepare(literals->db, "UPDATE state SET next=?", &literals->set_next, why);
    }
    if (status == STATUS_OK) {
        status = number_of(literals->db, "SELECT next FROM state", &literals->next, why);
    }
    if (status != STATUS_OK) {
        literals_close(literals);
        literals = NULL;
    }
    *result = literals;
    return status;
}

void
literals_close(struct literals *literals)
{
    if (literals != NULL) {
        sqlite3_finalize(literals->insert);
        sqlite3_finalize(literals->set_next);
        sqlite3_close(literals->db);
        free(literals);
    }
}

uint64_t
literals_next(const struct literals *literals)
{
    return literals->next;
}

struct catching_up {
    struct literals *literals;
    uint64_t limit, next;
    size_t terms, bytes;
};

static enum status
take_term(void *context, oid id, const struct term *term, struct reason *why)
{
    struct catching_up *c = context;
    if (oid_number(id) >= c->limit || c->terms >= TRANSACTION_TERMS ||
        c->bytes >= TRANSACTION_BYTES) {
        return STATUS_END;
    }
    c->next = oid_number(id) + 1;
    c->terms++;
    if (oid_kind(id) != OID_KIND_STRING && oid_kind(id) != OID_KIND_LANGUAGE) {
        return STATUS_OK;
    }
    c->bytes += term->value.length;
    const size_t length = term->value.length > TEXT_MAXIMUM ? TEXT_MAXIMUM : term->value.length;
    sqlite3_stmt *insert = c->literals->insert;
    sqlite3_bind_int64(insert, 1, (sqlite3_int64)id);
    sqlite3_bind_text(insert, 2, term->value.at, (int)length, SQLITE_STATIC);
    const int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? STATUS_OK : failed(c->literals->db, why, "cannot add words");
}

enum status
literals_catch_up(struct literals *literals, struct nodes *nodes, uint64_t limit, bool *done,
                  struct reason *why)
{
    if (literals->next > limit) {
        TRY(execute(literals->db, start_again, "cannot begin anew", why));
        literals->next = 1;
    }
    *done = literals->next == limit;
    if (*done) {
        return STATUS_OK;
    }
    struct catching_up c = {.literals = literals, .limit = limit, .next = literals->next};
    TRY(execute(literals->db, "BEGIN IMMEDIATE", "cannot begin", why));
    enum status status = nodes_walk(nodes, literals->next, take_term, &c, why);
    if (status == STATUS_OK) {
        sqlite3_bind_int64(literals->set_next, 1, (sqlite3_int64)c.next);
        const int code = sqlite3_step(literals->set_next);
        sqlite3_reset(literals->set_next);
        status = code == SQLITE_DONE ? execute(literals->db, "COMMIT", "cannot commit", why)
                                     : failed(literals->db, why, "cannot keep the state");
    }
    if (status != STATUS_OK) {
        (void)execute(literals->db, "ROLLBACK", "cannot roll back", NULL);
        return status;
    }
    literals->next = c.next;
    *done = c.next == limit;
    return STATUS_OK;
}

/* ---- care ---- */

enum status
literals_gather(struct literals *literals, bool *whole, struct reason *why)
{
    int frames = 0;
    int moved = 0;
    const int code =
        sqlite3_wal_checkpoint_v2(literals->db, "main", SQLITE_CHECKPOINT_FULL, &frames, &moved);
    *whole = code == SQLITE_OK && frames == moved;
    return code == SQLITE_OK || code == SQLITE_BUSY
               ? STATUS_OK
               : failed(literals->db, why, "cannot write a checkpoint");
}

enum status
literals_merge_step(struct literals *literals, bool first, bool *end, struct reason *why)
{
    const int before = sqlite3_total_changes(literals->db);
    if (first) {
        TRY(execute(literals->db,
                    "INSERT INTO words(words, rank) VALUES('usermerge', 2);"
                    "INSERT INTO words(words, rank) VALUES('merge', -" MERGE_PAGES ")",
                    "cannot merge", why));
        *end = false;
        return STATUS_OK;
    }
    TRY(execute(literals->db, "INSERT INTO words(words, rank) VALUES('merge', " MERGE_PAGES ")",
                "cannot merge", why));
    *end = sqlite3_total_changes(literals->db) - before < 2;
    return STATUS_OK;
}

enum status
literals_shrink(struct literals *literals, struct reason *why)
{
    uint64_t pages = 0;
    uint64_t unused = 0;
    TRY(number_of(literals->db, "PRAGMA page_count", &pages, why));
    TRY(number_of(literals->db, "PRAGMA freelist_count", &unused, why));
    if (unused > 16 && unused > pages / 8) {
        TRY(execute(literals->db, "VACUUM", "cannot give pages back", why));
    }
    /* A search under way keeps the log as it is; the next checkpoint comes by itself. */
    (void)sqlite3_wal_checkpoint_v2(literals->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return STATUS_OK;
}

/* ---- searching ---- */

enum status
literals_search_open(struct literals_search **result, const char *folder, struct reason *why)
{
    struct literals_search *search = memory_zero(1, sizeof(*search));
    enum status status = open_file(&search->db, folder, SQLITE_OPEN_READWRITE, why);
    if (status == STATUS_OK) {
        status = prepare(search->db,
                         "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?"
                         " ORDER BY rank LIMIT ?",
                         &search->match, why);
    }
    if (status != STATUS_OK) {
        literals_search_close(search);
        search = NULL;
    }
    *result = search;
    return status;
}

void
literals_search_close(struct literals_search *search)
{
    if (search != NULL) {
        sqlite3_finalize(search->match);
        sqlite3_close(search->db);
        free(search);
    }
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word or phrase as an FTS5 string: quotes around it, so that nothing in it is syntax. */
static size_t
put_string(struct buf *query, struct slice words, size_t at)
{
    const bool phrase = words.at[at] == '"';
    at += phrase;
    const size_t first = at;
    while (at < words.length && (phrase ? words.at[at] != '"' : !is_blank(words.at[at]))) {
        at++;
    }
    size_t last = at;
    bool prefix = false;
    if (phrase) {
        at += at < words.length;
        prefix = at < words.length && words.at[at] == '*';
        at += prefix;
    } else if (last > first && words.at[last - 1] == '*') {
        prefix = true;
        last--;
    }
    (void)buf_append_string(query, " \"");
    for (size_t i = first; i < last; i++) {
        if (words.at[i] == '"') {
            (void)buf_append_char(query, '"');
        }
        (void)buf_append_char(query, words.at[i] == '\0' ? ' ' : words.at[i]);
    }
    (void)buf_append_string(query, prefix ? "\"*" : "\"");
    return at;
}

static enum status
write_query(struct buf *query, struct slice words, struct reason *why)
{
    size_t count = 0;
    for (size_t at = 0; at < words.length;) {
        if (is_blank(words.at[at])) {
            at++;
            continue;
        }
        if (++count > WORDS_MAXIMUM) {
            return status_fail(why, STATUS_LIMIT, "a search of more than %d words", WORDS_MAXIMUM);
        }
        at = put_string(query, words, at);
    }
    if (count == 0) {
        return status_fail(why, STATUS_BAD_INPUT, "there is no word to search for");
    }
    return query->overflowed ? status_fail(why, STATUS_LIMIT, "the search is too long") : STATUS_OK;
}

enum status
literals_search_start(struct literals_search *search, struct slice words, uint32_t most,
                      struct reason *why)
{
    literals_search_stop(search);
    struct buf query;
    buf_init(&query, QUERY_MAXIMUM);
    const enum status status = write_query(&query, words, why);
    if (status == STATUS_OK) {
        sqlite3_bind_text(search->match, 1, query.data, (int)query.length, SQLITE_TRANSIENT);
        sqlite3_bind_int64(search->match, 2, most);
    }
    buf_release(&query);
    return status;
}

enum status
literals_search_next(struct literals_search *search, oid *literal, double *score,
                     struct reason *why)
{
    switch (sqlite3_step(search->match)) {
    case SQLITE_ROW:
        *literal = (oid)sqlite3_column_int64(search->match, 0);
        *score = sqlite3_column_double(search->match, 1);
        return STATUS_OK;
    case SQLITE_DONE:
        return STATUS_END;
    default:
        return failed(search->db, why, "cannot search");
    }
}

void
literals_search_stop(struct literals_search *search)
{
    sqlite3_reset(search->match);
    sqlite3_clear_bindings(search->match);
}

enum status
literals_check(struct literals_search *search, uint64_t *count, uint64_t *sum, struct reason *why)
{
    *count = *sum = 0;
    TRY(execute(search->db, "INSERT INTO words(words) VALUES('integrity-check')",
                "the words do not pass FTS5's check", why));
    sqlite3_stmt *ids = NULL;
    TRY(prepare(search->db, "SELECT id FROM words_docsize", &ids, why));
    int code;
    while ((code = sqlite3_step(ids)) == SQLITE_ROW) {
        *sum += (uint64_t)sqlite3_column_int64(ids, 0);
        ++*count;
    }
    sqlite3_finalize(ids);
    return code == SQLITE_DONE ? STATUS_OK : failed(search->db, why, "cannot count literals");
}
