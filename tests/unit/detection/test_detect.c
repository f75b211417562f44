/* These tests find what documents are, by content, claim and name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "detection/detect.h"

static struct detector detector;

struct sample {
    const char *bytes, *claim, *uri, *type;
};

#define RDF_NS "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

static const struct sample samples[] = {
    /* RDF served with wrong types */
    {"<rdf:RDF xmlns:rdf='" RDF_NS "'/>", "application/xml", "", "application/rdf+xml"},
    {"<rdf:RDF xmlns:rdf='" RDF_NS "'/>", "text/plain", "", "application/rdf+xml"},
    {"<rdf:RDF xmlns:rdf='" RDF_NS "'/>", "text/html; charset=x", "", "application/rdf+xml"},
    {"<!DOCTYPE r [<!ENTITY rdf '" RDF_NS "'>]><r:RDF xmlns:r='&rdf;'>", "text/xml", "",
     "application/rdf+xml"},
    {"<!-- a --><?x y?>\n<r:Description\n xmlns:r = \"" RDF_NS "\">", "", "",
     "application/rdf+xml"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "text/plain", "", "text/turtle"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "application/x-turtle", "", "text/turtle"},
    {"# c\nPREFIX a: <http://a/>\na:g { a:b a:c 'd' }", "", "", "application/trig"},
    {"PREFIX a: <http://a/>\nSELECT * { ?a ?b ?c }", "", "", "application/sparql-query"},
    {"<http://a/b> a <http://c/d> ;\n <http://e/f> \"{\" .", "text/plain", "", "text/turtle"},
    {"<http://a/g> {\n <http://a/b> a <http://c/d> }", "text/plain", "", "application/trig"},
    {"<http://a/b> <http://c/d> \"x\"@en .\n_:a <http://c/d> <http://e/f> .\n", "text/plain", "",
     "application/n-triples"},
    {"<http://a/b> <http://c/d> \"x\" .\n", "text/turtle", "", "text/turtle"},
    {"<http://a/b> <http://c/d> \"x\" .\n", "text/plain", "http://h/x.ttl", "text/turtle"},
    {"<http://a/b> <http://c/d> \"x\"^^<http://t/> <http://g/> .\n", "application/n-triples", "",
     "application/n-quads"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "application/n-triples", "", "text/turtle"},
    {"not turtle at all", "text/turtle", "", "text/turtle"},
    {"", "text/turtle", "", "application/x-empty"},
    /* pages */
    {"<!DOCTYPE html><title>x", "", "", "text/html"},
    {"<!DOCTYPE html><title>x", "text/turtle", "", "text/html"},
    {"<!DOCTYPE html><title>x", "text/plain", "", "text/plain"},
    {"<html xmlns='http://www.w3.org/1999/xhtml'>", "text/html", "", "text/html"},
    {"<html xmlns='http://www.w3.org/1999/xhtml'>", "application/xhtml+xml", "",
     "application/xhtml+xml"},
    {"<html xmlns='http://www.w3.org/1999/xhtml'>", "application/xml", "", "application/xhtml+xml"},
    {"hello", "text/html", "", "text/html"},
    {"<p>hello", "", "", "text/html"},
    {"\n<!-- x -->\n<body bgcolor=red>", "application/octet-stream", "", "text/html"},
    /* feeds */
    {"<rss version='2.0'><channel>", "text/html", "", "application/rss+xml"},
    {"\xEF\xBB\xBF<?xml version='1.0'?>\n<feed xmlns='http://www.w3.org/2005/Atom'>", "text/xml",
     "", "application/atom+xml"},
    {"<a:feed xmlns:a='http://www.w3.org/2005/Atom'>", "application/octet-stream", "",
     "application/atom+xml"},
    /* other XML */
    {"<?xml version='1.0'?><menu/>", "text/xml", "", "application/xml"},
    {"<menu xmlns='http://food/'/>", "application/vnd.menu+xml", "", "application/vnd.menu+xml"},
    {"<urlset>", "text/plain", "", "application/x-sitemap+xml"},
    /* JSON */
    {"{\"@context\": \"http://schema.org\"}", "application/json", "", "application/ld+json"},
    {"[{\"a\": 1}]", "text/plain", "", "application/json"},
    {"{\"a\":1}\n{\"a\":2}\n", "", "", "application/x-ndjson"},
    {"{ color: red }", "text/css", "", "text/css"},
    {"{\"a\": tru", "", "", "application/json"},
    {"{\"a\": no}", "text/plain", "", "text/plain"},
    {"{\"name\": 1}", "application/geo+json", "", "application/geo+json"},
    /* signatures, claims, names */
    {"%PDF-1.4", "text/html", "", "application/pdf"},
    {"GIF89a....", "image/png", "", "image/gif"},
    {"a,b\n1,2", "text/plain", "http://h/x.csv?y", "text/csv"},
    {"a,b\n1,2", "text/csv", "", "text/csv"},
    {"body { }", "", "style.css", "text/css"},
    {"some words", "text/plain; charset=utf-8", "", "text/plain"},
    /* N3 */
    {"@prefix a: <http://a/> .\n{ ?x a:p ?y } => { ?y a:q ?x } .", "text/plain", "", "text/n3"},
    {"@prefix a: <http://a/> .\na:b a:says { a:c a:d a:e } .", "", "", "text/n3"},
    {"@prefix a: <http://a/> .\na:b = a:c .", "", "", "text/n3"},
    {"@forAll <#x> .\n<#x> a <#y> .", "", "", "text/n3"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "text/n3", "", "text/n3"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "text/plain", "x.n3", "text/n3"},
    {"@prefix a: <http://a/> .\na:b a:c [ a:p ( 1 2 ) ] .\na:g { a:b a:c \"}\"^^a:t }", "", "",
     "application/trig"},
    {"@prefix a: <http://a/> .\na:b a:c a:d {| a:e a:f |} .", "", "", "text/turtle"},
    {"{ <http://a/b> <http://c/d> <http://e/f> . }", "", "", "application/trig"},
    {"GRAPH <http://g/> { <http://a/b> <http://c/d> 1 }", "", "", "application/trig"},
    /* other RDF */
    {"<Channel xmlns='http://purl.org/net/rss1.1#'>", "text/html", "", "application/rdf+xml"},
    {"<TriX xmlns='http://www.w3.org/2004/03/trix/trix-1/'>", "", "", "application/trix"},
    {"<Ontology xmlns='http://www.w3.org/2002/07/owl#'>", "text/xml", "", "application/owl+xml"},
    {"<sparql xmlns='http://www.w3.org/2005/sparql-results#'>", "", "",
     "application/sparql-results+xml"},
    {"{\"head\": {\"vars\": []}, \"results\": {}}", "", "", "application/sparql-results+json"},
    {"{\"http://a/\": {\"http://p/\": [{\"value\": \"x\", \"type\": \"literal\"}]}}",
     "application/json", "", "application/rdf+json"},
    /* kinds of JSON */
    {"{\"x\": {\"@context\": 1}}", "application/json", "", "application/json"},
    {"[{\"@id\": \"x\"}]", "text/html", "", "application/ld+json"},
    {"{ // so\n\"@graph\": [,]}", "application/json", "", "application/ld+json"},
    {"{\"a\": \"@id\"}", "", "", "application/json"},
    {"{\"type\": \"FeatureCollection\", \"features\": []}", "", "", "application/geo+json"},
    {"{\"version\": \"https://jsonfeed.org/version/1.1\"}", "text/plain", "",
     "application/feed+json"},
    {"{\"a\": 1}", "text/plain", "x.jsonld", "application/ld+json"},
    {"{\"@context\": {}}", "application/activity+json", "", "application/ld+json"},
    /* XML of other kinds */
    {"<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>", "text/html", "",
     "application/x-sitemap+xml"},
    {"<opml version='2.0'>", "text/xml", "", "text/x-opml"},
    {"<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'>", "text/xml", "",
     "application/wsdl+xml"},
    {"<math xmlns='http://www.w3.org/1998/Math/MathML'>", "", "", "application/mathml+xml"},
    {"<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>", "", "",
     "application/xslt+xml"},
    {"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>", "", "", "application/xsd+xml"},
    {"<feed version='0.3' xmlns='http://purl.org/atom/ns#'>", "text/html", "",
     "application/atom+xml"},
    {"<html><head></head></html>", "application/xml", "", "text/html"},
    /* text */
    {"begin:vcalendar\r\nVERSION:2.0\r\n", "text/plain", "", "text/calendar"},
    {"BEGIN:VCARD\r\nFN:A\r\n", "application/octet-stream", "", "text/vcard"},
    {"#!/bin/sh\necho\n", "text/plain", "", "application/x-sh"},
    {"#!/usr/bin/env -S python3 -u\n", "", "", "text/x-python"},
    {"#!/usr/bin/perl -w\n", "", "", "text/x-perl"},
    {"<?php echo 1; ?>", "", "", "text/x-php"},
    {"%YAML 1.2\n---\na: b\n", "", "", "application/yaml"},
    {"---\ntitle: x\nlist: []\n", "", "", "application/yaml"},
    {"---\ntitle: x\n---\nText\n", "text/plain", "", "text/plain"},
    {"a,b,c\n1,2,3\n4,5,6\n7,8,9\n", "application/octet-stream", "", "text/csv"},
    {"a\tb\n1\t2\n3\t4\n5\t6\n", "text/plain", "", "text/tab-separated-values"},
    {"a;b;c\n1;2;3\n4;5;6\n7;8;9\n", "application/vnd.ms-excel", "x.xls", "text/csv"},
    {"From a@b.example Mon Jan  1 00:00:00 2024\nFrom: a\nTo: b\n", "", "", "application/mbox"},
    {"From: a\nTo: b\nSubject: c\n\nx", "text/plain", "", "message/rfc822"},
    {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "", "", "text/x-diff"},
    {"-----BEGIN PGP SIGNATURE-----\n", "", "", "application/pgp-signature"},
    {"body {}", "text/css", "", "text/css"},
    {"int main;", "", "x.c", "text/x-c"},
    /* marks */
    {"\xEF\xBB\xBF@prefix a: <http://a/> .\na:b a:c a:d .", "text/plain", "", "text/turtle"},
    {"\xEF\xBB\xBF{\"@context\": 1}", "application/json", "", "application/ld+json"},
};

static void
test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *sample = &samples[i];
        const struct detect_input input = {.bytes = slice_string(sample->bytes),
                                           .content_type = slice_string(sample->claim),
                                           .uri = slice_string(sample->uri)};
        struct detection detection;
        detect(&detector, &input, &detection);
        if (strcmp(detection.type, sample->type) != 0) {
            fail_msg("sample %zu, %s as \"%s\": got %s (%s), expected %s", i, sample->bytes,
                     sample->claim, detection.type, detection.reason, sample->type);
        }
        assert_false(detection.undecided);
        assert_true(detection.reason[0] != 0);
    }
}

/* Bytes that may hold zeros. */
struct binary {
    struct slice bytes;
    const char *type;
};
#define BYTES(literal) SLICE_INIT(literal)
#define ZEROS_8 "\0\0\0\0\0\0\0\0"
#define ZEROS_32 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8
#define ZEROS_128 ZEROS_32 ZEROS_32 ZEROS_32 ZEROS_32
/* A member of a zip file: header, length of the name, name. */
#define MEMBER(length, name) "PK\3\4\x14\0\0\0\0\0" ZEROS_8 ZEROS_8 length "\0\0\0" name
#define OOXML "application/vnd.openxmlformats-officedocument."
#define ODF "application/vnd.oasis.opendocument."
#define COMPOUND "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" ZEROS_32

static const struct binary binaries[] = {
    /* documents */
    {BYTES("%PDF-1.7\n"), "application/pdf"},
    {BYTES("%!PS-Adobe-3.0\n"), "application/postscript"},
    {BYTES("{\\rtf1\\ansi"), "application/rtf"},
    {BYTES(MEMBER("\x08", "mimetypeapplication/epub+zip")), "application/epub+zip"},
    {BYTES(MEMBER("\x08", "mimetype" ODF "text")), ODF "text"},
    {BYTES(MEMBER("\x08", "mimetype" ODF "spreadsheet")), ODF "spreadsheet"},
    {BYTES(MEMBER("\x08", "mimetype" ODF "presentation")), ODF "presentation"},
    {BYTES(MEMBER("\x08", "mimetype" ODF "graphics")), ODF "graphics"},
    {BYTES(MEMBER("\x13", "[Content_Types].xml") MEMBER("\x11", "word/document.xml") ZEROS_32),
     OOXML "wordprocessingml.document"},
    {BYTES(MEMBER("\x0f", "xl/workbook.xml") ZEROS_32), OOXML "spreadsheetml.sheet"},
    {BYTES(MEMBER("\x14", "ppt/presentation.xml") ZEROS_32), OOXML "presentationml.presentation"},
    {BYTES(COMPOUND "W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0"), "application/msword"},
    {BYTES(COMPOUND "W\0o\0r\0k\0b\0o\0o\0k\0"), "application/vnd.ms-excel"},
    {BYTES(COMPOUND "P\0o\0w\0e\0r\0P\0o\0i\0n\0t\0 \0D\0"), "application/vnd.ms-powerpoint"},
    {BYTES(COMPOUND), "application/x-ole-storage"},
    /* archives */
    {BYTES(MEMBER("\x05", "a.txt") ZEROS_32), "application/zip"},
    {BYTES("PK\5\6" ZEROS_8), "application/zip"},
    {BYTES(MEMBER("\x14", "META-INF/MANIFEST.MF") ZEROS_32), "application/java-archive"},
    {BYTES("\x1f\x8b\x08\0\0\0\0\0"), "application/gzip"},
    {BYTES("BZh91AY&SY"), "application/x-bzip2"},
    {BYTES("\xfd"
           "7zXZ\0"),
     "application/x-xz"},
    {BYTES("\x28\xb5\x2f\xfd\0"), "application/zstd"},
    {BYTES("7z\xbc\xaf\x27\x1c\0"), "application/x-7z-compressed"},
    {BYTES("Rar!\x1a\x07\0"), "application/vnd.rar"},
    {BYTES(ZEROS_128 ZEROS_128 "\0ustar\0"), "application/x-tar"},
    {BYTES("!<arch>\ndebian-binary   "), "application/vnd.debian.binary-package"},
    {BYTES("!<arch>\na.o/   "), "application/x-archive"},
    {BYTES("\xed\xab\xee\xdb\3"), "application/x-rpm"},
    {BYTES("MSCF\0\0\0\0"), "application/vnd.ms-cab-compressed"},
    /* images */
    {BYTES("\x89PNG\r\n\x1a\n"), "image/png"},
    {BYTES("GIF87a"), "image/gif"},
    {BYTES("\xff\xd8\xff\xe0"), "image/jpeg"},
    {BYTES("RIFF\4\0\0\0WEBPVP8 "), "image/webp"},
    {BYTES("\0\0\0\x18"
           "ftypavif\0\0\0\0"),
     "image/avif"},
    {BYTES("\0\0\0\x18"
           "ftypmif1\0\0\0\0avif"),
     "image/avif"},
    {BYTES("\0\0\0\x18"
           "ftypheic\0\0\0\0"),
     "image/heic"},
    {BYTES("II*\0\x08\0"), "image/tiff"},
    {BYTES("MM\0*\0\0"), "image/tiff"},
    {BYTES("BM" ZEROS_32), "image/bmp"},
    {BYTES("\0\0\1\0\1\0\x10\x10\0\0"), "image/x-icon"},
    {BYTES("\xff\x0a\x20"), "image/jxl"},
    {BYTES("\0\0\0\x0cjP  \r\n\x87\n"), "image/jp2"},
    {BYTES("8BPS\0\1"), "image/vnd.adobe.photoshop"},
    {BYTES("AT&TFORM"), "image/vnd.djvu"},
    {BYTES("P6\n# c\n1 1 255\n"), "image/x-portable-pixmap"},
    /* sound and film */
    {BYTES("ID3\4\0\0\0\0\0"), "audio/mpeg"},
    {BYTES("\xff\xfb\x90\x44"), "audio/mpeg"},
    {BYTES("\xff\xf1\x50\x80"), "audio/aac"},
    {BYTES("OggS" ZEROS_8 ZEROS_8 ZEROS_8 "OpusHead"), "audio/ogg"},
    {BYTES("OggS" ZEROS_8 ZEROS_8 ZEROS_8 "\x80theora"), "video/ogg"},
    {BYTES("OggS" ZEROS_8), "application/ogg"},
    {BYTES("fLaC\0"), "audio/flac"},
    {BYTES("RIFF\4\0\0\0WAVEfmt "), "audio/wav"},
    {BYTES("RIFF\4\0\0\0AVI LIST"), "video/x-msvideo"},
    {BYTES("MThd\0\0\0\6"), "audio/midi"},
    {BYTES("\0\0\0\x18"
           "ftypM4A \0\0\0\0"),
     "audio/mp4"},
    {BYTES("\0\0\0\x18"
           "ftypisom\0\0\0\0"),
     "video/mp4"},
    {BYTES("\0\0\0\x14"
           "ftypqt  \0\0\0\0"),
     "video/quicktime"},
    {BYTES("\x1a\x45\xdf\xa3\x42\x82\x84webm"), "video/webm"},
    {BYTES("\x1a\x45\xdf\xa3\x42\x82\x88matroska"), "video/x-matroska"},
    {BYTES("\0\0\1\xba\x44"), "video/mpeg"},
    {BYTES("FLV\1\5"), "video/x-flv"},
    /* fonts */
    {BYTES("wOFF\0\1\0\0"), "font/woff"},
    {BYTES("wOF2\0\1\0\0"), "font/woff2"},
    {BYTES("OTTO\0\x0a"), "font/otf"},
    {BYTES("\0\1\0\0\0\x0a"), "font/ttf"},
    {BYTES("ttcf\0\1\0\0"), "font/collection"},
    {BYTES("\x64\0\0\0\x20\0\0\0\1\0\2\0" ZEROS_8 ZEROS_8 "\0\0\0\0\0\0LP\0\0"),
     "application/vnd.ms-fontobject"},
    /* programs and data */
    {BYTES("\x7f"
           "ELF\2\1"),
     "application/x-executable"},
    {BYTES("MZ" ZEROS_32 ZEROS_32), "application/vnd.microsoft.portable-executable"},
    {BYTES("\xca\xfe\xba\xbe\0\0\0\x34"), "application/java-vm"},
    {BYTES("\xca\xfe\xba\xbe\0\0\0\2"), "application/x-mach-binary"},
    {BYTES("\0asm\1\0\0\0"), "application/wasm"},
    {BYTES("SQLite format 3\0"), "application/vnd.sqlite3"},
    {BYTES("WARC/1.1\r\n"), "application/warc"},
    {BYTES("CWS\x0a" ZEROS_8), "application/vnd.adobe.flash.movie"},
};

static void
test_signatures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        const struct detect_input input = {.bytes = binaries[i].bytes,
                                           .content_type = SLICE("text/html")};
        struct detection detection;
        detect(&detector, &input, &detection);
        if (strcmp(detection.type, binaries[i].type) != 0) {
            fail_msg("sample %zu: got %s (%s), expected %s", i, detection.type, detection.reason,
                     binaries[i].type);
        }
    }
}

/* Words that begin a binary format, in text. */
static void
test_text_is_no_binary_format(void **state)
{
    static const char *const texts[] = {
        "CWS is an abbreviation\n",
        "BMW builds cars, said somebody in the year 1990\n",
        "MZ is what old programs begin with, and this is a text about it, of many words\n",
        "This is AVI in a text\n",
        "ID3 tags are in front\n",
        "P6 is a chip\n",
        "OTTO, the name\n",
        "G\nG\n",
        "RIFF, a sound\n",
        "FORM of a text\n",
        "caff\xc3\xa8\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct detect_input input = {.bytes = slice_string(texts[i]),
                                           .content_type = SLICE("text/plain")};
        struct detection detection;
        detect(&detector, &input, &detection);
        assert_string_equal(detection.type, "text/plain");
    }
}

#define TTL "@prefix a: <http://a/> .\na:b a:c a:d .\n"

static void
pack(const char *text, char *out, size_t *length)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)strlen(text);
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)*length;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *length -= stream.avail_out;
    deflateEnd(&stream);
}

static void
test_what_is_packed_is_looked_into(void **state)
{
    static const struct sample packed[] = {
        {TTL, "application/gzip", "http://h/x.ttl.gz", "text/turtle"},
        {TTL, "text/turtle", "", "text/turtle"},
        {TTL, "", "", "text/turtle"},
        {"<a:b> <a:c> \"d\" .\n", "application/x-gzip", "http://h/x.nt.gz",
         "application/n-triples"},
        {"a,b\n1,2\n", "application/octet-stream", "x.csv.gz", "text/csv"},
        {"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>", "", "sitemap.xml.gz",
         "application/x-sitemap+xml"},
        {"<svg xmlns='http://www.w3.org/2000/svg'>", "image/svg+xml", "a.svgz", "image/svg+xml"},
        {"some words", "application/gzip", "a.txt.gz", "application/gzip"},
        {"#!/bin/sh\n", "", "a.sh.gz", "application/gzip"},
        {"%PDF-1.4", "", "", "application/gzip"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        char bytes[1024];
        size_t length = sizeof bytes;
        pack(packed[i].bytes, bytes, &length);
        const struct detect_input input = {.bytes = slice_of(bytes, length),
                                           .content_type = slice_string(packed[i].claim),
                                           .uri = slice_string(packed[i].uri)};
        struct detection detection;
        detect(&detector, &input, &detection);
        assert_string_equal(detection.type, packed[i].type);
    }
}

static void
test_reasons_name_what_contradicts(void **state)
{
    static const struct {
        struct sample sample;
        const char *says;
    } cases[] = {
        {{TTL, "text/html", "x.html", "text/turtle"}, "against Content-Type text/html"},
        {{TTL, "", "http://h/x.html", "text/turtle"}, "the name says text/html"},
        {{"{\"a\": [1, 2", "", "", "application/json"}, "cut off before its last bracket"},
        {{"<?xml version='1.0'?><menu><dish>", "", "", "application/xml"}, "XML with root"},
        {{"<?xml version='1.0'?><menu><dish>so", "", "", "application/xml"}, "cut off"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sample *sample = &cases[i].sample;
        const struct detect_input input = {.bytes = slice_string(sample->bytes),
                                           .content_type = slice_string(sample->claim),
                                           .uri = slice_string(sample->uri)};
        struct detection detection;
        struct buf text;
        buf_init(&text, 4096);
        detect(&detector, &input, &detection);
        assert_string_equal(detection.type, sample->type);
        assert_non_null(strstr(detection.reason, cases[i].says));
        detect_explain(&detector, &input, &detection, &text);
        assert_non_null(strstr(text.data, "decision"));
        buf_release(&text);
    }
}

static void
test_utf16_is_looked_into(void **state)
{
    (void)state;
    static const char marked[] = "\xFF\xFE<\0r\0s\0s\0>\0";
    static const char bare[] = "\0<\0r\0s\0s\0>";
    const struct slice texts[] = {SLICE(marked), SLICE(bare)};
    for (size_t i = 0; i < 2; i++) {
        const struct detect_input input = {.bytes = texts[i]};
        struct detection detection;
        detect(&detector, &input, &detection);
        assert_string_equal(detection.type, "application/rss+xml");
    }
}

static void
test_undecided_is_settled(void **state)
{
    (void)state;
    struct detection detection;
    const struct detect_input binary = {.bytes = SLICE("\1\2\3\4")};
    detect(&detector, &binary, &detection);
    assert_true(detection.undecided);
    assert_string_equal(detection.type, "application/octet-stream");
    detect_settle(SLICE("image/x-thing"), &detection);
    assert_false(detection.undecided);
    assert_string_equal(detection.type, "image/x-thing");
    detect(&detector, &binary, &detection);
    detect_settle(SLICE("application/octet-stream"), &detection);
    assert_string_equal(detection.type, "application/octet-stream");
}

/* A root element in a document that is longer than what is looked at. */
static void
test_only_the_head_is_read(void **state)
{
    (void)state;
    static char bytes[DETECT_HEAD * 2];
    memset(bytes, ' ', sizeof bytes);
    memcpy(bytes + DETECT_HEAD + 10, "<rss>", 5);
    const struct detect_input input = {.bytes = slice_of(bytes, sizeof bytes),
                                       .content_type = SLICE("text/plain")};
    struct detection detection;
    detect(&detector, &input, &detection);
    assert_string_equal(detection.type, "text/plain");
}

int
main(void)
{
    detector_init(&detector);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_text_is_no_binary_format),
        cmocka_unit_test(test_what_is_packed_is_looked_into),
        cmocka_unit_test(test_reasons_name_what_contradicts),
        cmocka_unit_test(test_utf16_is_looked_into),
        cmocka_unit_test(test_undecided_is_settled),
        cmocka_unit_test(test_only_the_head_is_read),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    detector_release(&detector);
    return failed;
}
