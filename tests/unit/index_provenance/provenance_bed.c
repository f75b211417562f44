#include "tests/unit/index_provenance/provenance_bed.h"

#include "index/terms/term_set.h"

enum { OUTPUT_MOST = 1 << 20, NODES = 16 };

static const struct told_record usual[] = {
    {"hhttp://a.example", "http://a.example " P0 " \"robots"},
    {"hhttp://b.example", "http://b.example " P0 " _:robots\n_:robots " P1 " \"body"},
    {"uhttp://a.example/1", "http://a.example/1 " P0 " _:fetch\n_:fetch " P1 " _:agent\n"
                            "_:agent " P2 " \"quadrille\nhttp://a.example/1 " P2 " " ARCHIVED
                            "\n" ARCHIVED " " P7 " http://known.example/5"},
    {"uhttp://a.example/2", "http://a.example/2 " P0 " _:fetch\n_:fetch " P1 " \"other"},
    {"uhttp://a.example/3", "!misuse"},
    {"uhttp://known.example/9", "http://known.example/9 " P7 " http://known.example/5"},
};

struct provenance *provenance;
const struct quad_source *source;
oid graph;
size_t piece;
static struct buf output;
static struct {
    char name[32];
    oid id;
} nodes[NODES];
static size_t node_count;

struct provenance_settings
settings_of(size_t memory)
{
    static const struct metastore_client_options nowhere = {.name = "test"};
    return (struct provenance_settings){
        .source = &told_source, .metastore = &nowhere, .memory = memory, .cancel = &told.cancel};
}

oid
id_of(const char *text)
{
    struct term term;
    oid id;
    struct reason why = {""};
    for (size_t i = 0; text != NULL && i < node_count; i++) {
        if (strcmp(nodes[i].name, text) == 0) {
            return nodes[i].id;
        }
    }
    if (text == NULL) {
        return OID_NONE;
    }
    term = text[0] == '"' ? term_literal(slice_string(text + 1)) : term_iri(slice_string(text));
    assert_int_equal(source->lookup(source->context, &term, &id, &why), STATUS_OK);
    assert_true(id != OID_NONE);
    return id;
}

void
begin_on(struct provenance *new_provenance)
{
    assert_non_null(new_provenance);
    provenance = new_provenance;
    source = provenance_source(provenance);
    node_count = 0;
    graph = id_of(QUERY_PROVENANCE);
    piece = 3;
    buf_init(&output, OUTPUT_MOST);
}

void
begin_with(const struct provenance_settings *settings)
{
    begin_on(provenance_new(settings));
}

void
begin(void)
{
    const struct provenance_settings settings = settings_of(PLENTY);
    told.records = usual;
    told.count = sizeof usual / sizeof usual[0];
    begin_with(&settings);
}

void
end(void)
{
    provenance_free(provenance);
    buf_release(&output);
}

/* Appends a term as the test writes it, and remembers blank nodes by their names. */
static void
put(oid id)
{
    struct arena arena;
    struct term term;
    struct reason why = {""};
    arena_init(&arena, 0);
    assert_int_equal(source->resolve(source->context, id, &arena, &term, &why), STATUS_OK);
    const size_t from = output.length;
    (void)buf_printf(&output, "%s%.*s",
                     term.kind == TERM_BLANK     ? "_:"
                     : term.kind == TERM_LITERAL ? "\""
                                                 : "",
                     SLICE_PRINT(term.value));
    if (term.kind == TERM_BLANK) {
        size_t at = 0;
        while (at < node_count && nodes[at].id != id) {
            at++;
        }
        assert_in_range(at, 0, NODES - 1);
        nodes[at].id = id;
        snprintf(nodes[at].name, sizeof nodes[at].name, "%.*s", (int)(output.length - from),
                 output.data + from);
        node_count = at == node_count ? node_count + 1 : node_count;
    }
    arena_release(&arena);
}

static enum status
read_scan(struct quad_scan *scan, struct reason *why)
{
    struct quad_oids rows[64];
    for (size_t n = 1; n > 0;) {
        TRY(source->scan_next(scan, rows, piece, &n, why));
        assert_in_range(n, 0, piece);
        for (size_t i = 0; i < n; i++) {
            assert_true(rows[i].graph == graph);
            put(rows[i].subject);
            (void)buf_append_char(&output, ' ');
            put(rows[i].predicate);
            (void)buf_append_char(&output, ' ');
            put(rows[i].object);
            (void)buf_append_char(&output, '\n');
        }
    }
    return STATUS_OK;
}

/* Compares the rows of a pattern of the graph, NULL: any; or "!" and the reason of a failure. */
void
rows(const char *subject, const char *predicate, const char *object, const char *expected)
{
    const struct quad_oids pattern = {id_of(subject), id_of(predicate), id_of(object), graph};
    struct quad_scan *scan;
    struct reason why = {""};
    buf_reset(&output);
    enum status status = source->scan(source->context, &pattern, ORDER_COUNT, &scan, &why);
    if (status == STATUS_OK) {
        status = read_scan(scan, &why);
        source->scan_close(scan);
    } else {
        assert_null(scan);
    }
    if (status != STATUS_OK) {
        (void)buf_printf(&output, "!%s: %s", status_name(status), why.text);
    }
    (void)buf_append_char(&output, '\0');
    assert_string_equal(output.data, expected);
}

size_t
bytes_of(const char *const *iris, size_t count)
{
    struct term_set set;
    term_set_init(&set);
    for (size_t i = 0; i < count; i++) {
        const struct term term = term_iri(slice_string(iris[i]));
        (void)term_set_add(&set, &term);
    }
    const size_t bytes = term_set_bytes(&set);
    term_set_release(&set);
    return bytes;
}
