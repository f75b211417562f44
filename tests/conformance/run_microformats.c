/* The suite microformats: what is parsed, as canonical JSON, against what is expected. */
#include <jansson.h>

#include "base/system/file.h"
#include "tests/conformance/row.h"
#include "transforms/microformats/microformats.h"

static const char *folder;

static struct buf
read_file(const char *name)
{
    struct buf bytes;
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    buf_init(&bytes, 64 << 20);
    (void)file_read(path, &bytes, NULL);
    return bytes;
}

static json_t *
text_json(struct slice text)
{
    return json_stringn(text.at ? text.at : "", text.length);
}

static json_t *item_json(const struct microformat_item *item);

static json_t *
items_json(const struct microformat_item *item)
{
    json_t *items = json_array();
    for (; item; item = item->next) {
        json_array_append_new(items, item_json(item));
    }
    return items;
}

static json_t *
value_json(const struct microformat_value *value)
{
    json_t *text = text_json(value->text);
    if (value->has_alt) {
        text = json_pack("{soso}", "value", text, "alt", text_json(value->alt));
    }
    if (!value->item && !value->has_html) {
        return text;
    }
    json_t *json = value->item ? item_json(value->item) : json_object();
    json_object_set_new(json, "value", text);
    if (value->has_html) {
        json_object_set_new(json, "html", text_json(value->html));
    }
    return json;
}

static json_t *
item_json(const struct microformat_item *item)
{
    json_t *types = json_array(), *properties = json_object();
    for (size_t i = 0; i < item->type_count; i++) {
        json_array_append_new(types, text_json(item->types[i]));
    }
    for (const struct microformat_property *property = item->properties; property;
         property = property->next) {
        json_t *values = json_array();
        for (const struct microformat_value *value = property->first; value; value = value->next) {
            json_array_append_new(values, value_json(value));
        }
        json_object_setn_new(properties, property->name.at, property->name.length, values);
    }
    json_t *json = json_pack("{soso}", "type", types, "properties", properties);
    if (item->id.length > 0) {
        json_object_set_new(json, "id", text_json(item->id));
    }
    if (item->children) {
        json_object_set_new(json, "children", items_json(item->children));
    }
    return json;
}

/* ---- relations ---- */

static bool
holds(const json_t *array, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (strcmp(json_string_value(json_array_get(array, i)), text) == 0) {
            return true;
        }
    }
    return false;
}

static void
insert_sorted(json_t *array, const char *text)
{
    size_t i = 0;
    while (i < json_array_size(array) &&
           strcmp(json_string_value(json_array_get(array, i)), text) < 0) {
        i++;
    }
    json_array_insert_new(array, i, json_stringn(text, strlen(text)));
}

static void
text_of_node(const struct html_tree *tree, uint32_t node, struct buf *text)
{
    for (uint32_t i = node + 1; i < tree->nodes[node].end; i++) {
        if (tree->nodes[i].kind == HTML_TEXT) {
            buf_append_slice(text, tree->nodes[i].text);
        }
    }
}

static void
add_relation(const struct html_tree *tree, const struct microformat_relation *relation,
             json_t *rels, json_t *urls)
{
    static const char *const attributes[] = {"hreflang", "media", "title", "type"};
    char url[8192];
    snprintf(url, sizeof url, "%.*s", SLICE_PRINT(relation->url));
    char words[8192], *rest = words, *word;
    snprintf(words, sizeof words, "%.*s", SLICE_PRINT(relation->rels));
    json_t *entry = json_object_get(urls, url);
    if (!entry) {
        struct buf text;
        struct slice value;
        buf_init(&text, 1 << 20);
        text_of_node(tree, relation->node, &text);
        entry = json_pack("{s[]so}", "rels", "text", text_json(slice_trim(buf_slice(&text))));
        for (size_t i = 0; i < 4; i++) {
            if (html_attribute(tree, relation->node, attributes[i], &value)) {
                json_object_set_new(entry, attributes[i], text_json(value));
            }
        }
        json_object_set_new(urls, url, entry);
        buf_release(&text);
    }
    while ((word = strsep(&rest, " \t\r\n\f")) != NULL) {
        json_t *of_rel = json_object_get(rels, word), *of_url = json_object_get(entry, "rels");
        if (word[0] == '\0') {
            continue;
        }
        if (!of_rel) {
            of_rel = json_array();
            json_object_set_new(rels, word, of_rel);
        }
        if (!holds(of_rel, url)) {
            json_array_append_new(of_rel, json_stringn(url, strlen(url)));
        }
        if (!holds(of_url, word)) {
            insert_sorted(of_url, word);
        }
    }
}

static json_t *
page_json(const struct html_tree *tree, const struct microformats *found)
{
    json_t *rels = json_object(), *urls = json_object();
    for (const struct microformat_relation *relation = found->relations; relation;
         relation = relation->next) {
        add_relation(tree, relation, rels, urls);
    }
    return json_pack("{sososo}", "items", items_json(found->items), "rels", rels, "rel-urls", urls);
}

static json_t *
parse(const char *input, const char *base)
{
    struct arena arena;
    struct html_tree tree;
    struct microformats found;
    struct reason why;
    json_t *json = NULL;
    struct buf bytes = read_file(input);
    arena_init(&arena, 64 << 20);
    html_tree_init(&tree, &arena);
    if (html_parse(&tree, buf_slice(&bytes), &why) == STATUS_OK &&
        microformats_parse(&tree, slice_string(base), true, &found, &why) == STATUS_OK) {
        json = page_json(&tree, &found);
    }
    html_tree_release(&tree);
    arena_release(&arena);
    buf_release(&bytes);
    return json;
}

static void
run_case(struct row *row, char *line)
{
    char *fields[7] = {NULL};
    if (row_fields(line, fields, 7) < 5 || strcmp(fields[0], "id") == 0) {
        return;
    }
    struct buf bytes = read_file(fields[4]);
    json_t *want = json_loadb(bytes.data, bytes.length, 0, NULL);
    /* The unit tests' addresses tell that they are read at another place. */
    const bool unit = strncmp(fields[0], "microformats-v2-unit/", 21) == 0;
    json_t *have = parse(fields[3], unit ? "http://example.test" : fields[2]);
    char *mine = json_dumps(have, JSON_COMPACT | JSON_SORT_KEYS);
    char *theirs = json_dumps(want, JSON_COMPACT | JSON_SORT_KEYS);
    row_case(row, fields[0], mine && theirs && strcmp(mine, theirs) == 0, "%.4000s",
             mine ? mine : "nothing");
    free(mine);
    free(theirs);
    json_decref(want);
    json_decref(have);
    buf_release(&bytes);
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run_microformats SUITES OUTPUT\n");
        return EXIT_MISUSE;
    }
    struct row row;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/microformats", argv[1]);
    folder = path;
    row_open(&row, "microformats", argv[2]);
    row_lines(&row, folder, "cases.tsv", run_case);
    row_close(&row);
    return EXIT_DONE;
}
