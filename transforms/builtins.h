/* The transforms in C. Each is one function over the material; the table in builtin.c gives it the
 * name that the registry's `builtin` lines use. Private to this folder.
 *
 * OK: it ran. What is malformed goes to material_problem (with its line), what could be mended to
 * material_repair; BAD_INPUT means that nothing could be read. Other statuses (LIMIT, SYSTEM)
 * end the document.
 */
#ifndef TRANSFORMS_BUILTINS_H
#define TRANSFORMS_BUILTINS_H

#include "transforms/material.h"

typedef enum status builtin_function(struct material *material, struct reason *why);

/* Title, links, meta elements: html_extract.h */
builtin_function builtin_html;
/* JSON-LD documents, and script elements of pages: jsonld.h */
builtin_function builtin_jsonld;
/* Link headers: link_header.c */
builtin_function builtin_links;

/* rdfa.h; with the statements that follow from the vocabularies used, which are asked for */
builtin_function builtin_rdfa;
builtin_function builtin_rdfa_expand;
/* microdata.h */
builtin_function builtin_microdata;

/* microformats.h */
builtin_function builtin_microformats;
/* Images, audio and video, PDF: media.h */
builtin_function builtin_image;
builtin_function builtin_recording;
builtin_function builtin_pdf;
/* content_line.h */
builtin_function builtin_calendar;
builtin_function builtin_vcard;
/* Tables: csv_builtin.c */
builtin_function builtin_csv;

/* RDF/XML inside of other XML: islands.c */
builtin_function builtin_rdfxml_islands;
/* Transformations that the document names: grddl.c */
builtin_function builtin_grddl;

#endif
