/* Sniffing of text: HTML, tables, and what begins with a word of its own. */
#include <stdint.h>

#include "detection/detect.h"
#include "detection/text_cursor.h"
#include "rdf/core/lexical.h"

/* ---- bytes ---- */

bool
detect_binary(struct slice bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        const uint8_t c = (uint8_t)bytes.at[i];
        if (c <= 0x08 || c == 0x0B || (c >= 0x0E && c <= 0x1A) || (c >= 0x1C && c <= 0x1F)) {
            return true;
        }
    }
    return false;
}

struct slice
detect_narrow(struct slice bytes, bool big_endian, struct buf *memory)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    buf_reset(memory);
    for (size_t i = 0; i + 1 < bytes.length; i += 2) {
        const uint32_t unit = (uint32_t)at[i + !big_endian] << 8 | at[i + big_endian];
        char *room = buf_reserve(memory, 4);
        if (!room) {
            break;
        }
        if (unit != 0xFEFF) {
            const bool surrogate = unit >= 0xD800 && unit < 0xE000;
            buf_commit(memory, (size_t)lexical_encode(surrogate ? 0xFFFD : unit, room));
        }
    }
    return buf_slice(memory);
}

/* ---- HTML: https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type */

const char *
detect_html(struct slice text)
{
    static const char *const starts[] = {
        "<!DOCTYPE HTML", "<HTML", "<HEAD",  "<SCRIPT", "<IFRAME", "<H1",   "<DIV", "<FONT",
        "<TABLE",         "<A",    "<STYLE", "<TITLE",  "<B",      "<BODY", "<BR",  "<P"};
    struct cursor cursor = {text.at, text.at + text.length};
    while (cursor_peek(&cursor, 0) == 0 && cursor.at < cursor.end) {
        cursor.at++; /* what a broken program left before the page */
    }
    for (;;) {
        cursor_skip_space(&cursor);
        if (!cursor_at_nocase(&cursor, "<!--")) {
            break;
        }
        const char *close = memmem(cursor.at, (size_t)(cursor.end - cursor.at), "-->", 3);
        if (!close) {
            return "text/html";
        }
        cursor.at = close + 3;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (cursor_at_nocase(&cursor, starts[i])) {
            const char next = cursor_peek(&cursor, strlen(starts[i]));
            if (next == ' ' || next == '>' || next == '\n' || next == '\t' || next == '\r') {
                return "text/html";
            }
        }
    }
    return NULL;
}

/* ---- what begins with a word of its own ---- */

struct beginning {
    const char *text, *type;
};

static const struct beginning beginnings[] = {
    {"BEGIN:VCALENDAR", "text/calendar"},
    {"BEGIN:VCARD", "text/vcard"},
    {"<?php", "text/x-php"},
    {"%YAML", "application/yaml"},
    {"WEBVTT", "text/vtt"},
    {"#EXTM3U", "application/vnd.apple.mpegurl"},
    {"[playlist]", "audio/x-scpls"},
    {"[Desktop Entry]", "application/x-desktop"},
    {"[InternetShortcut]", "application/x-mswinurl"},
    {"-----BEGIN PGP MESSAGE-----", "application/pgp-encrypted"},
    {"-----BEGIN PGP SIGNATURE-----", "application/pgp-signature"},
    {"-----BEGIN PGP PUBLIC KEY BLOCK-----", "application/pgp-keys"},
    {"-----BEGIN PGP PRIVATE KEY BLOCK-----", "application/pgp-keys"},
    {"-----BEGIN CERTIFICATE-----", "application/pkix-cert"},
    {"\\documentclass", "text/x-tex"},
    {"\\documentstyle", "text/x-tex"},
    {"@charset \"", "text/css"},
    {"/* XPM */", "image/x-xpixmap"},
    {"diff --git ", "text/x-diff"},
    {"#VRML ", "model/vrml"},
    {"[Event \"", "application/vnd.chess-pgn"},
    {"Message-ID:", "message/rfc822"},
    {"Return-Path:", "message/rfc822"},
    {"Received: ", "message/rfc822"},
    {"Delivered-To:", "message/rfc822"},
    {"MIME-Version:", "message/rfc822"},
};

/* The program that "#!" names. */
static const struct beginning interpreters[] = {
    {"sh", "application/x-sh"},   {"bash", "application/x-sh"},  {"dash", "application/x-sh"},
    {"zsh", "application/x-sh"},  {"ksh", "application/x-sh"},   {"ash", "application/x-sh"},
    {"python", "text/x-python"},  {"perl", "text/x-perl"},       {"ruby", "text/x-ruby"},
    {"node", "text/javascript"},  {"php", "text/x-php"},         {"awk", "text/x-awk"},
    {"gawk", "text/x-awk"},       {"tclsh", "text/x-tcl"},       {"wish", "text/x-tcl"},
    {"lua", "text/x-lua"},        {"Rscript", "text/x-r"},       {"make", "text/x-makefile"},
    {"csh", "application/x-csh"}, {"tcsh", "application/x-csh"},
};

/* "#!/usr/bin/env -S python3 -u": the program's name without path and version. */
static const char *
script_type(struct cursor cursor)
{
    struct slice line = cursor_line(&cursor);
    line = slice_of(line.at + 2, line.length - 2);
    while (line.length > 0) {
        line = slice_trim(line);
        size_t n = 0, name = 0;
        while (n < line.length && !is_space(line.at[n])) {
            n++;
            name = line.at[n - 1] == '/' ? n : name;
        }
        struct slice program = slice_of(line.at + name, n - name);
        while (program.length > 0 && (is_digit(program.at[program.length - 1]) ||
                                      program.at[program.length - 1] == '.')) {
            program.length--;
        }
        for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
            if (slice_is(program, interpreters[i].text)) {
                return interpreters[i].type;
            }
        }
        if (n == 0 || program.length == 0 || (!slice_is(program, "env") && program.at[0] != '-')) {
            return NULL;
        }
        line = slice_of(line.at + n, line.length - n);
    }
    return NULL;
}

/* A line "Name: value" of a mail's header. */
static bool
is_mail_field(struct slice line)
{
    static const char *const names[] = {"From:", "To:",         "Subject:",      "Date:",  "Cc:",
                                        "X-",    "Message-ID:", "MIME-Version:", "Sender:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (line.length >= n && strncasecmp(line.at, names[i], n) == 0) {
            return true;
        }
    }
    return false;
}

/* "From somebody Mon Jan …" and fields, or three fields: a mailbox, or a mail. */
static const char *
mail_type(struct cursor cursor)
{
    enum { FIELDS = 3, LINES = 6 };
    const bool box = cursor_at(&cursor, "From ");
    if (!box && !is_mail_field(slice_of(cursor.at, (size_t)(cursor.end - cursor.at)))) {
        return NULL;
    }
    unsigned fields = 0;
    if (box) {
        const struct slice line = cursor_line(&cursor);
        if (slice_find(line, '@') == line.length && slice_find(line, ':') == line.length) {
            return NULL;
        }
    }
    for (unsigned i = 0; i < LINES && fields < FIELDS; i++) {
        fields += is_mail_field(cursor_line(&cursor));
    }
    return box && fields > 0 ? "application/mbox" : fields == FIELDS ? "message/rfc822" : NULL;
}

/* "--- a" and "+++ b" and "@@". */
static bool
is_patch(struct cursor cursor)
{
    if (!cursor_at(&cursor, "--- ") && !cursor_at(&cursor, "Index: ")) {
        return false;
    }
    for (unsigned i = 0; i < 5; i++) {
        if (slice_starts(cursor_line(&cursor), SLICE("+++ "))) {
            return cursor_at(&cursor, "@@ ");
        }
    }
    return false;
}

/* "---" and a line "key: value" or "- item", and no second "---" that would make it front matter.
 */
static bool
is_yaml(struct cursor cursor)
{
    if (!slice_is(cursor_line(&cursor), "---")) {
        return false;
    }
    struct cursor line = cursor;
    const struct slice first = cursor_line(&cursor);
    while (line.at < first.at + first.length &&
           (is_letter(*line.at) || is_digit(*line.at) || *line.at == '_' || *line.at == '-')) {
        line.at++;
    }
    const char next = cursor_peek(&line, 1);
    const bool pair =
        line.at > first.at && cursor_peek(&line, 0) == ':' && (is_space(next) || !next);
    const size_t left = (size_t)(cursor.end - first.at);
    return (pair || slice_starts(first, SLICE("- "))) && !memmem(first.at, left, "\n---", 4);
}

const char *
detect_text(struct slice text)
{
    struct cursor cursor = cursor_of(text);
    if (cursor_at(&cursor, "#!")) {
        return script_type(cursor);
    }
    cursor_skip_space(&cursor);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (cursor_at_nocase(&cursor, beginnings[i].text)) {
            return beginnings[i].type;
        }
    }
    const char *mail = mail_type(cursor);
    if (mail) {
        return mail;
    }
    if (is_patch(cursor)) {
        return "text/x-diff";
    }
    return is_yaml(cursor) ? "application/yaml" : NULL;
}

/* ---- tables ---- */

/* Fields of a line outside of quotes; 0: a quote does not end in it. */
static size_t
count_fields(struct slice line, char delimiter)
{
    size_t fields = 1;
    bool quoted = false;
    for (size_t i = 0; i < line.length; i++) {
        quoted ^= line.at[i] == '"';
        fields += line.at[i] == delimiter && !quoted;
    }
    return quoted ? 0 : fields;
}

static bool
is_table(struct slice text, char delimiter, size_t least_fields)
{
    enum { LEAST_LINES = 4, MOST_LINES = 50 };
    struct cursor cursor = cursor_of(text);
    size_t fields = 0, lines = 0;
    while (cursor.at < cursor.end && lines < MOST_LINES) {
        const struct slice line = cursor_line(&cursor);
        const bool whole = line.at + line.length < cursor.end;
        if (!whole || (line.length == 0 && cursor.at >= cursor.end)) {
            break;
        }
        const size_t found = count_fields(line, delimiter);
        if (found < least_fields || (lines > 0 && found != fields)) {
            return false;
        }
        fields = found;
        lines++;
    }
    return lines >= LEAST_LINES;
}

const char *
detect_table(struct slice text)
{
    if (is_table(text, '\t', 2)) {
        return "text/tab-separated-values";
    }
    return is_table(text, ',', 3) || is_table(text, ';', 3) ? "text/csv" : NULL;
}
