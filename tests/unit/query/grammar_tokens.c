/* Queries and updates with all of the grammar, and each of their tokens left out or repeated: what
 * is still right is told by a mark for each token, so that none is read over. */
#include "tests/unit/query/grammar_tokens.h"

#include "index/query/query.h"
#include "index/query/update.h"
#include "tests/unit/query/query_case.h"

enum { TOKENS = 128 };

/* A character says of each token: '.' it must be there, once; '?' it may be left out; '2' it may be
 * there twice; '*' both. */
static const struct {
    bool update;
    const char *text, *marks;
} grammar[] = {
    {false,
     "SELECT DISTINCT ?s ( COUNT ( * ) AS ?n ) FROM <a:g> FROM NAMED <a:h> WHERE { ?s <a:p> ?o } "
     "GROUP BY ?s HAVING ( COUNT ( ?o ) > 1 ) ORDER BY DESC ( ?n ) ?s LIMIT 2 OFFSET 1 VALUES ?s { "
     "<a:s> UNDEF }",
     ".?*...........?.?.......2..?........?...*.......**."},
    {false,
     "SELECT REDUCED * { ?s a <a:c> ; <a:p> 1 , \"x\" @en , 'y' ^^ <a:d> . OPTIONAL { ?s <a:q> ?o "
     "} FILTER ( ?o > 1 ) }",
     ".?.....2....?....??............"},
    {false,
     "SELECT ?x { { SELECT ?x { ?x ?p ?o } ORDER BY ASC ( ?o ) LIMIT 1 } UNION { GRAPH ?g { ?x "
     "<a:p> ?y } } MINUS { ?x <a:q> ?z } }",
     ".2...2.......?......?.........?......"},
    {false,
     "SELECT ?x { ?x <a:p> / ^ <a:q> | ! ( <a:r> | ^ <a:t> ) * ?y . ?x ( <a:p> ) + [ <a:q> ( 1 ?z "
     ") ] }",
     ".2....?..?...?..?......?...**..."},
    {false,
     "SELECT ?x { BIND ( IF ( ?a = 1 && ?b != 2 || ! ?c , -1 , 2 * 3 / 4 ) AS ?x ) FILTER NOT "
     "EXISTS { ?x ?p ?o } FILTER ( ?x NOT IN ( 1 , 2 ) ) }",
     ".2.............*..2...........?.........?........"},
    {false,
     "SELECT ( GROUP_CONCAT ( DISTINCT ?o ; SEPARATOR = \"-\" ) AS ?x ) ( AVG ( ?n ) AS ?y ) { "
     "VALUES ( ?o ?n ) { ( 1 2 ) ( UNDEF 3 ) } } GROUP BY ( STR ( ?o ) AS ?k ) STR ( ?n ) ( ?n )",
     "....?..........?..........................?......?......"},
    {false,
     "PREFIX p: <a:> BASE <b:> CONSTRUCT { ?s p:q [ ] . ?s p:r ( ) } FROM <a:g> WHERE { ?s ?p ?o } "
     "ORDER BY ?s LIMIT 1",
     "...................?.......2.."},
    {false, "CONSTRUCT FROM <a:g> WHERE { ?s ?p ?o . ?o ?q 1 } LIMIT 3", "..............."},
    {false, "DESCRIBE ?s <a:x> FROM NAMED <a:g> WHERE { ?s ?p ?o } OFFSET 2", ".**.?.?......."},
    {false, "DESCRIBE * { ?s ?p ?o }", "......."},
    {false,
     "ASK FROM <a:g> WHERE { ?s ?p ?o FILTER REGEX ( ?o , \"x\" , \"i\" ) } HAVING ( SUM ( ?o ) > "
     "1 )",
     "...?................?......"},
    {true,
     "PREFIX p: <a:> INSERT DATA { GRAPH p:g { p:s p:p 1 . } . p:s p:q 2 } ; DELETE DATA { p:s p:p "
     "1 }",
     "............?.?............"},
    {true,
     "WITH <a:g> DELETE { ?s ?p ?o } INSERT { GRAPH ?g { ?s ?p 1 } } USING <a:x> USING NAMED <a:y> "
     "WHERE { ?s ?p ?o . GRAPH ?g { } }",
     ".....................?......?....."},
    {true, "DELETE WHERE { ?s ?p ?o . GRAPH <a:g> { ?s ?p 1 } }", "......?........"},
    {true,
     "LOAD SILENT <a:d> INTO GRAPH <a:g> ; CLEAR SILENT GRAPH <a:g> ; DROP ALL ; CREATE SILENT "
     "GRAPH <a:n>",
     ".?......?.......?.."},
    {true,
     "COPY SILENT GRAPH <a:g> TO <a:h> ; MOVE DEFAULT TO GRAPH <a:g> ; ADD <a:g> TO DEFAULT ; "
     "CLEAR NAMED ; DROP DEFAULT",
     ".??.......?............"},
};

static bool
is_right(bool update, const char *text)
{
    struct reason why = {""};
    enum status status;
    if (update) {
        struct update *prepared;
        status = update_prepare(&prepared, slice_string(text), SLICE(CASE_BASE), &why);
        if (status == STATUS_OK) {
            update_free(prepared);
        }
    } else {
        struct query *prepared;
        status = query_prepare(&prepared, slice_string(text), SLICE(CASE_BASE), &why);
        if (status == STATUS_OK) {
            query_free(prepared);
        }
    }
    assert_true(status == STATUS_OK || status == STATUS_BAD_INPUT);
    assert_int_equal(why.text[0] == '\0', status == STATUS_OK);
    return status == STATUS_OK;
}

/* The text with token `at` so many times; false when it has fewer tokens. */
static bool
write_tokens(const char *text, size_t at, unsigned times, struct buf *out)
{
    struct slice rest = slice_string(text);
    size_t i = 0;
    buf_reset(out);
    for (; rest.length > 0; i++) {
        const struct slice token = slice_take(&rest, ' ');
        for (unsigned k = 0; k < (i == at ? times : 1); k++) {
            (void)buf_append_slice(out, token);
            (void)buf_append_char(out, ' ');
        }
    }
    return at < i;
}

void
no_token_is_read_over(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 16);
    (void)buf_append_string(&text, "");
    for (size_t i = 0; i < sizeof grammar / sizeof *grammar; i++) {
        char marks[TOKENS] = "";
        assert_true(is_right(grammar[i].update, grammar[i].text));
        for (size_t at = 0; write_tokens(grammar[i].text, at, 0, &text); at++) {
            assert_true(at + 1 < TOKENS);
            const bool without = is_right(grammar[i].update, text.data);
            (void)write_tokens(grammar[i].text, at, 2, &text);
            const bool twice = is_right(grammar[i].update, text.data);
            marks[at] = without ? (twice ? '*' : '?') : twice ? '2' : '.';
        }
        assert_string_equal(marks, grammar[i].marks);
    }
    buf_release(&text);
}
