/* The row html5lib-tree: html5lib's cases of the HTML standard's tree construction.
 *
 * Compared is the tree that our extractors see, so what is expected is rewritten where that tree
 * leaves things out or says them otherwise: comments and document types are not kept, what a
 * template holds are its children, names of SVG and MathML and of attributes are compared in lower
 * case, "xlink href" is "xlink:href". Skipped are cases with scripting, which is off in a crawler,
 * and of fragments (innerHTML), which it never parses. */

#include "base/memory.h"
#include "base/system/file.h"
#include "tests/conformance/row.h"
#include "transforms/html/html.h"

enum { FILE_MAXIMUM = 4 << 20, ENTRIES_MAXIMUM = 8192 };

/* One line of a tree: an element "<p>", an attribute "a=\"b\"" or a text "\"c\"". */
struct entry {
    unsigned depth;
    struct buf text;
};

struct tree {
    struct entry entries[ENTRIES_MAXIMUM];
    size_t count;
};

static struct entry *
add(struct tree *tree, unsigned depth)
{
    if (tree->count == ENTRIES_MAXIMUM) {
        fputs("a tree has too many lines\n", stderr);
        exit(111);
    }
    struct entry *entry = &tree->entries[tree->count++];
    entry->depth = depth;
    buf_init(&entry->text, FILE_MAXIMUM);
    return entry;
}

static void
release(struct tree *tree)
{
    while (tree->count > 0) {
        buf_release(&tree->entries[--tree->count].text);
    }
}

static bool
is_text(const struct entry *entry)
{
    return entry->text.length > 0 && entry->text.data[0] == '"';
}

/* Neighbours are one text: what stood between them may be left out. */
static void
add_text(struct tree *tree, unsigned depth, struct slice text)
{
    struct entry *last = tree->count > 0 ? &tree->entries[tree->count - 1] : NULL;
    if (last && last->depth == depth && is_text(last)) {
        last->text.length--;
    } else {
        last = add(tree, depth);
        buf_append_char(&last->text, '"');
    }
    buf_append_slice(&last->text, text);
    buf_append_char(&last->text, '"');
}

static void
append_lower(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        buf_append_char(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

static void
add_attribute(struct tree *tree, unsigned depth, struct slice name, struct slice value)
{
    struct entry *entry = add(tree, depth);
    append_lower(&entry->text, name);
    buf_append_string(&entry->text, "=\"");
    buf_append_slice(&entry->text, value);
    buf_append_char(&entry->text, '"');
}

static int
compare(const void *a, const void *b)
{
    return slice_compare(buf_slice(&((const struct entry *)a)->text),
                         buf_slice(&((const struct entry *)b)->text));
}

/* The attributes from `first` on. */
static void
sort_attributes(struct tree *tree, size_t first)
{
    qsort(tree->entries + first, tree->count - first, sizeof *tree->entries, compare);
}

/* ---- what is expected ---- */

/* "<svg foreignObject>", without brackets. */
static void
expect_element(struct tree *tree, unsigned depth, struct slice name)
{
    struct entry *entry = add(tree, depth);
    const bool foreign = slice_starts(name, SLICE("svg ")) || slice_starts(name, SLICE("math "));
    buf_append_char(&entry->text, '<');
    if (foreign) {
        append_lower(&entry->text, name);
    } else {
        buf_append_slice(&entry->text, name);
    }
    buf_append_char(&entry->text, '>');
}

/* "xlink href=\"x\"" */
static void
expect_attribute(struct tree *tree, unsigned depth, struct slice line)
{
    static const struct slice prefixes[] = {SLICE_INIT("xlink "), SLICE_INIT("xml "),
                                            SLICE_INIT("xmlns ")};
    char name[4096];
    const size_t end = slice_find_slice(line, SLICE("=\""));
    snprintf(name, sizeof name, "%.*s", (int)end, line.at);
    for (size_t i = 0; i < 3; i++) {
        if (slice_starts(line, prefixes[i])) {
            name[prefixes[i].length - 1] = ':';
        }
    }
    add_attribute(tree, depth, slice_string(name),
                  slice_of(line.at + end + 2, line.length - end - 3));
}

struct expected {
    struct tree *tree;
    unsigned contents; /* template contents that are open */
    unsigned content_depths[256];
    size_t attributes; /* first of the last element's */
};

/* One node: text may go on over several lines. */
static void
expect_node(struct expected *expected, unsigned depth, struct slice line)
{
    struct tree *tree = expected->tree;
    while (expected->contents > 0 && depth <= expected->content_depths[expected->contents - 1]) {
        expected->contents--;
    }
    const unsigned shown = depth - expected->contents;
    if (line.at[0] == '"') {
        add_text(tree, shown, slice_of(line.at + 1, line.length - 2));
    } else if (slice_is(line, "content")) {
        expected->content_depths[expected->contents++] = depth;
    } else if (slice_starts(line, SLICE("<!")) || slice_starts(line, SLICE("<?"))) {
        return;
    } else if (line.at[0] == '<' && line.at[line.length - 1] == '>') {
        expect_element(tree, shown, slice_of(line.at + 1, line.length - 2));
        expected->attributes = tree->count;
    } else {
        expect_attribute(tree, shown, line);
        sort_attributes(tree, expected->attributes);
    }
}

static void
expect(struct tree *tree, struct slice document)
{
    struct expected expected = {.tree = tree};
    while (slice_starts(document, SLICE("| "))) {
        size_t end = slice_find_slice(document, SLICE("\n| "));
        struct slice line = slice_of(document.at + 2, end - 2);
        unsigned blanks = 0;
        while (blanks < line.length && line.at[blanks] == ' ') {
            blanks++;
        }
        expect_node(&expected, blanks / 2, slice_of(line.at + blanks, line.length - blanks));
        end += end < document.length;
        document = slice_of(document.at + end, document.length - end);
    }
}

/* ---- what we make of it ---- */

static void
take_element(struct tree *tree, const struct html_tree *from, const struct html_node *node,
             unsigned depth)
{
    static const char *const spaces[] = {"", "svg ", "math "};
    struct entry *entry = add(tree, depth);
    const size_t first = tree->count;
    buf_append_char(&entry->text, '<');
    buf_append_string(&entry->text, spaces[node->space]);
    append_lower(&entry->text, node->text);
    buf_append_char(&entry->text, '>');
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const struct html_attribute *attribute = &from->attributes[node->attribute + i];
        add_attribute(tree, depth + 1, attribute->name, attribute->value);
    }
    sort_attributes(tree, first);
}

static void
take(struct tree *tree, struct slice input)
{
    struct arena arena;
    struct html_tree from;
    struct reason why;
    arena_init(&arena, 64 << 20);
    html_tree_init(&from, &arena);
    if (html_parse(&from, input, &why) != STATUS_OK) {
        add_text(tree, 0, slice_string(why.text));
    }
    unsigned *depths = memory_zero(from.node_count + 1, sizeof *depths);
    for (uint32_t i = 1; i < from.node_count; i++) {
        const struct html_node *node = &from.nodes[i];
        depths[i] = node->parent ? depths[node->parent] + 1 : 0;
        if (node->kind == HTML_TEXT) {
            add_text(tree, depths[i], node->text);
        } else {
            take_element(tree, &from, node, depths[i]);
        }
    }
    free(depths);
    html_tree_release(&from);
    arena_release(&arena);
}

/* ---- cases ---- */

/* Cuts off what stands before the line "#NAME", and that line but for its newline. Empty and
 * unchanged: there is no such line. */
static struct slice
cut_section(struct slice *text, const char *name)
{
    char line[32];
    snprintf(line, sizeof line, "\n#%s\n", name);
    const size_t end = slice_find_slice(*text, slice_string(line));
    if (end == text->length) {
        return (struct slice){"", 0};
    }
    const struct slice before = slice_of(text->at, end);
    const size_t used =
        end + strlen(line) - 1; /* the next section's line begins with that newline */
    *text = slice_of(text->at + used, text->length - used);
    return before;
}

static void
print(struct buf *out, const struct tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        buf_printf(out, " %u:%.*s", tree->entries[i].depth,
                   SLICE_PRINT(buf_slice(&tree->entries[i].text)));
    }
    for (size_t i = 0; i < out->length; i++) {
        out->data[i] = out->data[i] == '\n' || out->data[i] == 0 ? '|' : out->data[i];
    }
}

static void
run_case(struct row *row, const char *id, struct slice data, struct slice document)
{
    static struct tree wanted, got;
    struct buf told[2];
    bool good;
    expect(&wanted, document);
    take(&got, data);
    good = wanted.count == got.count;
    for (size_t i = 0; i < wanted.count && good; i++) {
        good = wanted.entries[i].depth == got.entries[i].depth &&
               compare(&wanted.entries[i], &got.entries[i]) == 0;
    }
    buf_init(&told[0], FILE_MAXIMUM);
    buf_init(&told[1], FILE_MAXIMUM);
    print(&told[0], &got);
    print(&told[1], &wanted);
    row_case(row, id, good, "got%.*s, expected%.*s", SLICE_PRINT(buf_slice(&told[0])),
             SLICE_PRINT(buf_slice(&told[1])));
    buf_release(&told[0]);
    buf_release(&told[1]);
    release(&wanted);
    release(&got);
}

/* test: from behind "#data\n" to before the next test. */
static void
run_test(struct row *row, const char *id, struct slice test)
{
    struct slice rest = test;
    const struct slice data = cut_section(&rest, "errors");
    const struct slice before = cut_section(&rest, "document");
    if (slice_find_slice(before, SLICE("#document-fragment")) < before.length ||
        slice_find_slice(before, SLICE("#script-on")) < before.length) {
        row->skipped++;
        return;
    }
    if (data.length == 0 || rest.length == 0) {
        row_case(row, id, false, "is no case");
        return;
    }
    run_case(row, id, slice_of(data.at + 1, data.length - 1),
             slice_of(rest.at + 1, rest.length - 1));
}

static void
run_file(struct row *row, const char *folder, const char *name)
{
    char path[PATH_MAX + 256], id[512];
    struct buf bytes;
    unsigned number = 0;
    buf_init(&bytes, FILE_MAXIMUM);
    buf_append_char(&bytes, '\n');
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (file_read(path, &bytes, NULL) != STATUS_OK) {
        row_case(row, name, false, "cannot be read");
    }
    struct slice left = buf_slice(&bytes);
    (void)cut_section(&left, "data");
    while (left.length > 0) {
        struct slice test = cut_section(&left, "data"); /* begins with a newline */
        if (!test.length) {
            test = left;
            left.length = 0;
        }
        while (test.length > 1 && test.at[test.length - 1] == '\n') {
            test.length--;
        }
        snprintf(id, sizeof id, "%s/%u", name, ++number);
        run_test(row, id, test);
    }
    buf_release(&bytes);
}

int
main(int argc, char **argv)
{
    char folder[PATH_MAX - 64];
    struct row row;
    if (argc != 3) {
        fprintf(stderr, "usage: %s SUITES OUTPUT\n", argv[0]);
        return 100;
    }
    snprintf(folder, sizeof folder, "%s/html5lib/tree-construction", argv[1]);
    row_open(&row, "html5lib-tree", argv[2]);
    row_files(&row, folder, ".dat", run_file);
    row_close(&row);
    return 0;
}
