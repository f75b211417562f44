/* The transforms in C. Each is one function over the transformation; the table in
 * transforms/builtin.c gives it the name that the registry's `builtin` lines use. Private to this
 * folder.
 *
 * OK: it ran. What is malformed goes to transformation_problem (with its line), what could be
 * mended to transformation_repair; BAD_INPUT means that nothing could be read. Other statuses
 * (LIMIT, SYSTEM) end the document.
 */
#ifndef TRANSFORMS_CORE_BUILTINS_H
#define TRANSFORMS_CORE_BUILTINS_H

#include "transforms/core/transformation.h"

typedef enum status builtin_function(struct transformation *transformation, struct reason *why);

/* Title, links, meta elements: transforms/page/page_extract.h */
builtin_function builtin_html;
/* JSON-LD documents, and script elements of pages: transforms/embedded/jsonld_builtin.h */
builtin_function builtin_jsonld;
/* Link headers: transforms/embedded/link_header.c */
builtin_function builtin_links;

/* transforms/rdfa/rdfa.h; with the statements that follow from the vocabularies used, which are
 * asked for */
builtin_function builtin_rdfa;
builtin_function builtin_rdfa_expand;
/* transforms/microdata/microdata.h */
builtin_function builtin_microdata;

/* transforms/microformats/microformats.h */
builtin_function builtin_microformats;
/* Images, audio and video, PDF: transforms/media/media.h */
builtin_function builtin_image;
builtin_function builtin_recording;
builtin_function builtin_pdf;
/* Loads poppler, once in a process and before it enters a sandbox; builtin_pdf does it otherwise.
 * Where it cannot be loaded, each PDF is reported. Any thread may call it. */
void builtin_pdf_prepare(void);
/* transforms/text/content_line.h */
builtin_function builtin_calendar;
builtin_function builtin_vcard;
/* Tables: transforms/text/csv_builtin.c */
builtin_function builtin_csv;

/* RDF/XML inside of other XML: transforms/embedded/rdfxml_islands.c */
builtin_function builtin_rdfxml_islands;
/* Transformations that the document names: transforms/xslt/grddl.c */
builtin_function builtin_grddl;

#endif
