/* The document under transformation in the forms that transforms want, each made once when
 * first asked for and shared by all transforms of the chain. Private to this folder.
 */
#ifndef TRANSFORMS_CORE_TRANSFORMATION_H
#define TRANSFORMS_CORE_TRANSFORMATION_H

#include <libxml/tree.h>

#include "rdf/core/graph.h"
#include "rdf/core/parse.h"
#include "transforms/common/encoding.h"
#include "transforms/core/registry.h"
#include "transforms/core/transform_request.h"
#include "transforms/page/page_extract.h"

enum { PROBLEMS_KEPT = 20, PROBLEM_TEXT = 400, REPAIRS_KEPT = 32 };

enum text_kind { TEXT_HTML, TEXT_XML, TEXT_UTF8, TEXT_KINDS };

/* Kept between documents. */
struct transformation {
    struct transform_limits limits;
    struct encodings *encodings;
    struct arena arena; /* decoded text; for one document */
    struct {
        struct buf memory; /* what the content became, where it was not UTF-8 */
        struct slice text;
        bool made;
    } texts[TEXT_KINDS]; /* each its own, since the tree points into the one that it is made of */
    struct buf iri;      /* the document's IRI */
    struct buf scratch;
    struct html_tree tree;
    struct html_extractor extractor;
    struct graph graph;
    struct jsonld_contexts *jsonld; /* pinned contexts, processed; NULL: not used yet */
    struct buf unpacked; /* the content when it came packed: transforms/common/unpack.h */
    struct transform_request unpacked_request;

    /* of the present document */
    const struct transform_request *request;
    const struct transform *transform; /* which one is running: named in problems */
    struct transform_result *result;
    uint16_t source; /* of the quads: 1-based place in the chain */
    unsigned scope;  /* of blank node labels; 0: they stay as they are */
    struct buf scoped_subject, scoped_object;
    struct {
        uint16_t source;
        const char *what;
        uint64_t count;
    } repairs[REPAIRS_KEPT];
    size_t repair_count;
    bool has_tree, has_features;
    unsigned features; /* enum html_feature */
    xmlDocPtr xml;     /* NULL: not asked for */
    xmlDocPtr page;    /* the tree as XML, the same */
    xmlDocPtr tidied;  /* what Tidy makes of the page, the same */
};

void transformation_init(struct transformation *transformation,
                         const struct transform_limits *limits);
void transformation_release(struct transformation *transformation);
/* BAD_INPUT: the request's URI is none. */
enum status transformation_begin(struct transformation *transformation,
                                 const struct transform_request *request,
                                 struct transform_result *result, struct reason *why);
/* Replaces the request's bytes by what is packed in them. Damage is a problem of the document;
 * LIMIT: it holds too much. */
enum status transformation_unpack(struct transformation *transformation, struct reason *why);
void transformation_end(struct transformation *transformation);

/* A sink for statements of the document: any graph given is replaced by the document's. */
struct quad_sink transformation_sink(struct transformation *transformation);
/* Blank node labels of what comes now are others than before, even if they read the same: for each
 * transform, and each document within a document. */
void transformation_scope(struct transformation *transformation);
void transformation_problem(struct transformation *transformation, uint64_t line, const char *text);
struct problem_sink transformation_problems(struct transformation *transformation);
/* Notes what a publisher should mend, for reports; it is no problem, as nothing was lost by it. */
void transformation_advice(struct transformation *transformation, uint64_t line, const char *text);
struct problem_sink transformation_advices(struct transformation *transformation);

/* Bad input of a kind that was understood all the same, `count` times: "trailing comma". what is a
 * constant. */
void transformation_repair(struct transformation *transformation, const char *what, uint64_t count);
/* Another document that the present one needs. NULL: it is not at hand. When the request can wait,
 * it is then in result->needs and what the present run makes is thrown away, so go on quietly and
 * ask for all that is needed; else go on without it and say so with transformation_problem.
 * A resource with ->failure is not to be had. */
const struct transform_resource *transformation_resource(struct transformation *transformation,
                                                         struct slice uri);
/* transformation_resource has asked for something in this run. */
bool transformation_waits(const struct transformation *transformation);

/* The content as text; how its encoding is told depends on what it is. HTML and XML come out as
 * valid UTF-8, XML's declaration blanked when it does not hold any more. TEXT_UTF8 is for syntaxes
 * that are always UTF-8 (whatever HTTP says): only UTF-16 is undone. */
enum status transformation_text(struct transformation *transformation, enum text_kind kind,
                                struct slice *text, struct reason *why);
/* The HTML tree, by whichever parser fits. */
enum status transformation_html(struct transformation *transformation, struct reason *why);
/* Any XML as such a tree; BAD_INPUT when it is not well-formed. */
enum status transformation_xml_tree(struct transformation *transformation, struct reason *why);
/* The HTML tree as XML, in the namespaces of XHTML, SVG and MathML. The transformation's own. */
enum status transformation_page(struct transformation *transformation, xmlDocPtr *page,
                                struct reason *why);
/* The page as Tidy mends it, as XML; where Tidy takes too much that is a problem of the document,
 * and the page is what transformation_page makes of it. The transformation's own. */
enum status transformation_tidied(struct transformation *transformation, xmlDocPtr *page,
                                  struct reason *why);
/* enum html_feature of the page. After transformation_html. */
unsigned transformation_html_features(struct transformation *transformation);
/* The XML tree, errors recovered from and reported; BAD_INPUT when there is not even a root. */
enum status transformation_xml(struct transformation *transformation, struct reason *why);

/* ---- the kinds of transforms ---- */

/* OK: ran (problems are in the result). Other statuses end the document. */
enum status builtin_run(struct transformation *transformation, const char *name,
                        struct reason *why);
enum status rdf_run(struct transformation *transformation, const char *syntax, struct reason *why);
/* origin: of bytes that are not the document's; lines of other syntaxes than RDF/XML are unknown
 * then. NULL: the document's own. */
enum status rdf_run_bytes(struct transformation *transformation, struct slice syntax,
                          struct slice bytes, const struct parse_origin *origin,
                          struct reason *why);
bool builtin_exists(const char *name);
/* An emitter that writes about the document. *sink: memory for it, must live as long. */
struct emitter transformation_emitter(struct transformation *transformation, struct quad_sink *sink,
                                      struct reason *why);

/* Compiled once; MISUSE names the file and line at fault. */
enum status stylesheet_open(const char *path, void **stylesheet, struct reason *why);
void stylesheet_close(void *stylesheet);
enum status stylesheet_run(struct transformation *transformation, void *stylesheet,
                           struct reason *why);
void stylesheets_prepare(void); /* once per process */

/* An external program: document on stdin, N-Quads on stdout. UNSUPPORTED inside a sandbox that
 * forbids it. */
enum status program_run(struct transformation *transformation, const char *command,
                        struct reason *why);

#endif
