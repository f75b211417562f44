/* Option tables: one table drives parsing, checks, --help, the sample configuration and
 * the manual pages. Sources: curl's one-entry-per-option documents, Postfix's typed tables.
 *
 * A configuration option has a dotted name ("fetch.delay"). Its value comes from, weakest
 * first: the table's default, DIR/quadrille.conf, the environment is not consulted, and
 * `--set name=value` on the command line. Programs' own flags (--dir, --seeds, --json) are
 * described by struct flag and never appear in the file.
 *
 * File syntax: `name = value` lines, `#` comments on their own line, blank lines. A later
 * line overrides an earlier one. Unknown names, wrong types and values outside
 * [minimum, maximum] are STATUS_MISUSE with file, line and what would be right.
 */
#ifndef BASE_OPTIONS_OPT_H
#define BASE_OPTIONS_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/slice.h"
#include "base/status.h"

enum opt_type {
    OPT_BOOL,     /* yes, no, true, false, 1, 0 */
    OPT_INTEGER,  /* decimal */
    OPT_SIZE,     /* bytes; suffix K, M, G, T (powers of 1024) */
    OPT_DURATION, /* seconds, fraction allowed; suffix ms, s, m, h, d */
    OPT_STRING,
    OPT_LIST,  /* separated by commas and blanks */
    OPT_CHOICE /* one of the words in `choices` */
};

struct opt {
    const char *name; /* "fetch.delay" */
    enum opt_type type;
    const char *default_value; /* in file syntax; never NULL, "" for none */
    double minimum, maximum;   /* of numbers, of durations in seconds; maximum 0: none */
    const char *choices;       /* OPT_CHOICE: "a|b|c", else NULL */
    const char *help;          /* sentences; becomes the sample's comment and the manual */
};

/* A set of tables with their present values. Read-only after loading, then thread-safe. */
struct opt_set;

/* tables: NULL-terminated array of tables, each ended by an entry with name NULL. */
struct opt_set *opt_set_new(const struct opt *const *tables);
void opt_set_free(struct opt_set *set);

/* NOT_FOUND when the file does not exist. */
enum status opt_set_load_file(struct opt_set *set, const char *path, struct reason *why);
/* The text of such a file; name is for messages. */
enum status opt_set_load_text(struct opt_set *set, struct slice text, const char *name,
                              struct reason *why);
/* "name=value" */
enum status opt_set_assign(struct opt_set *set, const char *assignment, struct reason *why);

/* Getters. A name that is in no table, or of another type, is a bug: they abort. */
bool opt_bool(const struct opt_set *set, const char *name);
int64_t opt_integer(const struct opt_set *set, const char *name); /* INTEGER and SIZE */
uint64_t opt_duration_ms(const struct opt_set *set, const char *name);
const char *opt_string(const struct opt_set *set, const char *name); /* STRING and CHOICE */
/* LIST: items as C strings, owned by the set. */
size_t opt_list(const struct opt_set *set, const char *name, const char *const **items);
/* The value as written, of any type; whether it differs from the default. */
const char *opt_text(const struct opt_set *set, const char *name, bool *changed);

/* Returns the tables that the set was made of, NULL behind the last. They are the caller's of
 * opt_set_new. */
const struct opt *const *opt_set_tables(const struct opt_set *set);

/* The commented sample configuration: every option with its help and default, all options
 * commented out. deploy/quadrille.conf is this output; a test compares. */
void opt_set_print_sample(const struct opt_set *set, FILE *out);
/* Prints the options as mdoc(7) list items for a manual page. */
void opt_set_print_mdoc(const struct opt_set *set, FILE *out);

/* ---- a program's or subcommand's own flags ---- */

enum flag_type { FLAG_SWITCH, FLAG_STRING, FLAG_INTEGER, FLAG_REPEATED };

struct flag {
    const char *name; /* "seeds" for --seeds */
    char letter;      /* 0 for none */
    enum flag_type type;
    const char *argument; /* "FILE"; NULL for a switch */
    void *value;          /* bool *, const char **, int64_t *, struct flag_list *; set by parsing */
    const char *help;
};

enum { FLAG_LIST_MAXIMUM = 64 };
struct flag_list {
    const char *items[FLAG_LIST_MAXIMUM];
    size_t count;
};

/* The texts of --help, --version and the manual page of a program or subcommand. */
struct program {
    const char *name;                /* "quadrille crawl" */
    const char *synopsis;            /* "[OPTION]... FILE", operands after the flags */
    const char *summary;             /* one line */
    const char *description;         /* paragraphs separated by blank lines */
    const char *examples;            /* shell lines, comments with # */
    const struct flag *flags;        /* ended by name NULL; may be NULL */
    const struct opt *const *tables; /* options that its manual page lists; may be NULL */
};

/* Parses argv[1..]; operands are left in *operands (in the place of argv[1..]). --help and
 * --version print and return STATUS_END; --man prints the mdoc page and returns END. "--" ends
 * the flags, "-" alone is an operand. Every program has those three flags by itself. */
enum status program_parse(const struct program *program, int argc, char **argv, char ***operands,
                          int *operand_count, struct reason *why);
/* Parses as program_parse does, for a program that takes one operand; MISUSE with the text `wanted`
 * if there are others.
 */
enum status program_parse_one(const struct program *program, int argc, char **argv,
                              const char *wanted, char **operand, struct reason *why);
void program_print_help(const struct program *program, FILE *out);
void program_print_mdoc(const struct program *program, FILE *out);

extern const char QUADRILLE_VERSION[];

#endif
