/* One row of a conformance report, and the lines its cases come from. */
#ifndef TESTS_CONFORMANCE_ROW_H
#define TESTS_CONFORMANCE_ROW_H

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct row {
    const char *name;
    FILE *failures;
    unsigned passed, failed, skipped;
};

static inline void
row_open(struct row *row, const char *name, const char *output)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.failures", output, name);
    *row = (struct row){.name = name, .failures = fopen(path, "w")};
    if (row->failures == NULL) {
        perror(path);
        exit(111);
    }
}

/* Prints name, passed, failed, skipped. */
static inline void
row_close(struct row *row)
{
    fclose(row->failures);
    printf("%s\t%u\t%u\t%u\n", row->name, row->passed, row->failed, row->skipped);
}

__attribute__((format(printf, 4, 5))) static inline void
row_case(struct row *row, const char *id, bool good, const char *format, ...)
{
    if (good) {
        row->passed++;
        return;
    }
    va_list arguments;
    row->failed++;
    fprintf(row->failures, "%s\t", id);
    va_start(arguments, format);
    vfprintf(row->failures, format, arguments);
    va_end(arguments);
    fputc('\n', row->failures);
}

/* Calls run for each line, its newline cut off. A file that is not there has no cases. */
static inline void
row_lines(struct row *row, const char *folder, const char *file,
          void (*run)(struct row *row, char *line))
{
    char path[PATH_MAX];
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *in = fopen(path, "r");
    while (in != NULL && (length = getline(&line, &room, in)) > 0) {
        if (line[length - 1] == '\n') {
            line[length - 1] = '\0';
        }
        run(row, line);
    }
    free(line);
    if (in != NULL) {
        fclose(in);
    }
}

/* Calls run for each file of a folder whose name has this ending, in the order of names. A folder
 * that is not there has no cases. */
static inline void
row_files(struct row *row, const char *folder, const char *ending,
          void (*run)(struct row *row, const char *folder, const char *name))
{
    struct dirent **files = NULL;
    const int count = scandir(folder, &files, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(files[i]->d_name, '.');
        if (dot != NULL && strcmp(dot, ending) == 0) {
            run(row, folder, files[i]->d_name);
        }
        free(files[i]);
    }
    free(files);
}

/* Splits at tabs; the number of fields found, at most `most`. */
static inline size_t
row_fields(char *line, char **fields, size_t most)
{
    size_t n = 0;
    while (line != NULL && n < most) {
        fields[n++] = strsep(&line, "\t");
    }
    return n;
}

/* Undoes \t \n \r \\ in place. */
static inline char *
row_unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from == '\\' && from[1] != '\0') {
            from++;
            *to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from == 'r' ? '\r' : *from;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return text;
}

#endif
