/* Terms of RDF as people read them, and answers of the index as rows of terms. */
#ifndef WEB_PAGES_PAGE_TERMS_H
#define WEB_PAGES_PAGE_TERMS_H

#include "base/arena.h"
#include "rdf/core/term.h"
#include "web/web_service.h"

/* A term as lines of answers have it: N-Triples, or a bare number or boolean. kind TERM_NONE: it is
 * none. Lives as long as arena and text. */
struct term page_term_read(struct slice text, struct arena *arena);

/* An IRI leads to its page here and is shown with a usual prefix if it has one; a literal has its
 * language or datatype beside it and cannot turn the direction of what stands around it. */
void page_term(struct buf *out, const struct term *term);
void page_resource_link(struct buf *out, struct slice iri);
/* Links to the page about a document, as page_resource_link does for a resource. */
void page_document_link(struct buf *out, struct slice uri);
/* Links to where the IRI is on the web, when browsers can go there. */
void page_web_link(struct buf *out, struct slice iri, const char *words);
/* "foaf:name", or the IRI itself; into memory, which is reset. */
struct slice page_name(struct slice iri, struct buf *memory);
/* "1,234,567". */
void page_number(struct buf *out, uint64_t number);
/* A <time> to the second. 0: nothing. */
void page_time(struct buf *out, uint64_t wall_ms);

/* Rows of an answer. */
struct page_rows {
    struct buf lines; /* of TSV or N-Triples; of TSV the first has the names of columns */
    uint64_t most;    /* rows; what goes beyond is left out */
    uint64_t rows;    /* read so far, with the line of names */
    bool cut;         /* there are more */
};
void page_rows_init(struct page_rows *rows, uint64_t most);
void page_rows_release(struct page_rows *rows);
/* Answers a query for a page: format "tsv" or "nt". A cut answer is OK. */
enum status page_query(struct web_service *service, struct web_query *query, struct slice sparql,
                       const char *format, struct page_rows *rows, struct reason *why);

#endif
