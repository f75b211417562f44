/* Items, their properties and values.
 *
 * One pass over the tree counts items, properties and ids; a second one notes where they are.
 * Then each top-level item is put on a stack. An item that comes off it has all its properties
 * crawled and said at once, since the name of a value that is an item (its itemid or a blank node
 * label) is known without having looked into it; the items among the values go on the stack, above
 * a mark that says when the item is finished. So an item that comes off while it is unfinished
 * leads back to itself.
 *
 * An item without a type inherits the type of the item it is a value of, so what it says can
 * depend on where it was reached from: it is done again for another type.
 */
#include "transforms/microdata/microdata.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/vocabulary.h"
#include "transforms/microdata/microdata_walk.h"

enum {
    VISITS_PER_NODE = 4, /* what following itemref may cost, beyond VISITS_FREE */
    VISITS_FREE = 200000,
    TEXT_TIMES = 8, /* values may be this many times as long as the page, beyond TEXT_FREE */
    TEXT_FREE = 64 << 20,
};

enum { UNFINISHED = 1, FINISHED = 2 };

/* ---- the index of the page ---- */

/* Calls note for each attribute of the page; what is in templates is no part of it. */
static void
each_attribute(struct microdata *m, void (*note)(struct microdata *m, uint32_t node,
                                                 const struct html_attribute *attribute))
{
    const uint32_t count = m->tree->node_count;
    for (uint32_t i = 1; i < count;) {
        const struct html_node *node = &m->nodes[i];
        if (node->kind == HTML_ELEMENT && microdata_is_template(node)) {
            i = node->end;
            continue;
        }
        for (uint32_t k = 0; k < node->attribute_count; k++) {
            note(m, i, &m->attributes[node->attribute + k]);
        }
        i++;
    }
}

static void
count_attribute(struct microdata *m, uint32_t node, const struct html_attribute *attribute)
{
    (void)node;
    m->item_count += slice_is(attribute->name, "itemscope");
    m->property_count += slice_is(attribute->name, "itemprop");
    m->reference_count += slice_is(attribute->name, "itemref");
}

static void
note_attribute(struct microdata *m, uint32_t node, const struct html_attribute *attribute)
{
    if (slice_is(attribute->name, "itemscope")) {
        m->items[m->item_count++] = (struct microdata_item){.node = node};
    } else if (slice_is(attribute->name, "itemprop")) {
        m->properties[m->property_count++] = node;
    }
}

static enum status
build_index(struct microdata *m)
{
    struct arena *arena = m->tree->arena;
    each_attribute(m, count_attribute);
    if (m->item_count == 0 && m->property_count == 0) {
        return STATUS_OK;
    }
    m->items = arena_alloc(arena, (m->item_count + 1) * sizeof *m->items);
    m->properties = arena_alloc(arena, (m->property_count + 1) * sizeof *m->properties);
    m->property_is_met = arena_zero(arena, m->property_count + 1);
    bool good = m->items && m->properties && m->property_is_met;
    if (m->reference_count > 0) {
        m->crawled = arena_zero(arena, m->tree->node_count * sizeof *m->crawled);
        good = good && m->crawled;
    }
    if (!good) {
        return status_fail(m->emitter->why, STATUS_LIMIT, "microdata needs too much memory");
    }
    m->item_count = m->property_count = 0;
    each_attribute(m, note_attribute);
    return STATUS_OK;
}

static uint32_t
item_of_node(const struct microdata *m, uint32_t node)
{
    uint32_t from = 0, to = m->item_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (m->items[middle].node < node) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static void
meet_property(struct microdata *m, uint32_t node)
{
    uint32_t from = 0, to = m->property_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (m->properties[middle] < node) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    if (from < m->property_count && m->properties[from] == node) {
        m->property_is_met[from] = true;
    }
}

/* ---- names ---- */

/* Absolute as it is written, with what an IRI must not have percent-encoded. */
static bool
absolute(struct slice url, struct buf *memory, struct slice *iri)
{
    buf_reset(memory);
    if (slice_find(url, ':') == url.length || !document_iri(url, memory)) {
        return false;
    }
    *iri = buf_slice(memory);
    return true;
}

/* An item's first type that is a URL, as written; empty: none. */
static struct slice
first_type(struct microdata *m, uint32_t node)
{
    struct slice list, token, iri;
    if (microdata_attribute(m, node, "itemtype", &list)) {
        while ((token = slice_next_word(&list)).length > 0) {
            if (absolute(token, &m->object, &iri)) {
                return token;
            }
        }
    }
    return (struct slice){0};
}

/* Sets the vocabulary by a type. */
static void
choose_vocabulary(struct microdata *m, struct slice type)
{
    m->type = type;
    m->registered = NULL;
    for (size_t i = 0; i < m->registry->count; i++) {
        const struct microdata_vocabulary *vocabulary = &m->registry->vocabularies[i];
        if (slice_starts(type, vocabulary->prefix)) {
            m->registered = vocabulary;
            m->vocabulary = vocabulary->prefix;
            return;
        }
    }
    const size_t scheme = slice_find_slice(type, SLICE("://"));
    const size_t least = scheme < type.length ? scheme + 3 : 0;
    size_t length = type.length;
    while (length > least && type.at[length - 1] != '/' && type.at[length - 1] != '#') {
        length--;
    }
    m->vocabulary = slice_of(type.at, length > least ? length : type.length);
}

/* The document's base without its fragment. */
static void
set_base(struct microdata *m)
{
    const struct slice base = m->links->has_base ? m->links->base.href : (struct slice){0};
    buf_append(&m->base, base.at, slice_find(base, '#'));
}

static bool
predicate_of(struct microdata *m, struct slice name, struct term *predicate)
{
    struct slice iri;
    if (absolute(name, &m->predicate, &iri)) {
        *predicate = term_iri(iri);
        return true;
    }
    const struct slice vocabulary = m->type.length > 0 ? m->vocabulary : buf_slice(&m->base);
    const char last = vocabulary.length > 0 ? vocabulary.at[vocabulary.length - 1] : '#';
    buf_reset(&m->object);
    buf_append_slice(&m->object, vocabulary);
    if (m->type.length == 0 || (last != '#' && last != '/')) {
        buf_append_char(&m->object, '#');
    }
    /* These characters may not stand in a fragment; the rest that an IRI must not have is escaped
     * below. */
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        if (c == '#' || c == '%' || c == '[' || c == ']') {
            buf_printf(&m->object, "%%%02X", (unsigned)(uint8_t)c);
        } else {
            buf_append_char(&m->object, c);
        }
    }
    buf_reset(&m->predicate);
    if (m->object.overflowed || !document_iri(buf_slice(&m->object), &m->predicate)) {
        return false;
    }
    *predicate = term_iri(buf_slice(&m->predicate));
    return true;
}

/* A blank node, or what itemid says. text: the label's memory. */
static struct term
subject_of(struct microdata *m, uint32_t node, char text[24], struct buf *memory)
{
    struct slice id, iri;
    if (microdata_attribute(m, node, "itemid", &id) &&
        links_resolve(m->links, slice_trim(id), &iri)) {
        buf_reset(memory);
        buf_append_slice(memory, iri);
        return term_iri(buf_slice(memory));
    }
    const int length = snprintf(text, 24, "microdata%u", (unsigned)node);
    return term_blank(slice_of(text, (size_t)length));
}

/* ---- statements ---- */

static void
emit_statement(struct microdata *m, const struct term *subject, const struct term *predicate,
               const struct term *object)
{
    struct emitter *emitter = m->emitter;
    if (emitter->status == STATUS_OK) {
        const struct quad quad = {.subject = *subject,
                                  .predicate = *predicate,
                                  .object = *object,
                                  .graph = emitter->document,
                                  .line = emitter->line};
        emitter->status = emitter->sink->quad(emitter->sink->context, &quad, emitter->why);
    }
}

static void
set_line(struct microdata *m, uint32_t node)
{
    m->emitter->line = m->options->lines ? html_line(m->tree, node) : 0;
}

static void
push(struct microdata *m, struct microdata_job job)
{
    struct microdata_pile *pile = &m->pile;
    if (pile->count == pile->capacity) {
        pile->capacity = pile->capacity ? pile->capacity * 2 : 64;
        pile->jobs = memory_resize(pile->jobs, pile->capacity, sizeof *pile->jobs);
    }
    pile->jobs[pile->count++] = job;
}

static void
say_names(struct microdata *m, struct slice names, const struct term *value, bool reverse)
{
    struct slice name;
    struct term predicate;
    while ((name = slice_next_word(&names)).length > 0) {
        if (!predicate_of(m, name, &predicate)) {
            continue;
        }
        if (reverse) {
            emit_statement(m, value, &predicate, &m->subject);
            continue;
        }
        emit_statement(m, &m->subject, &predicate, value);
        for (size_t i = 0; m->registered && i < m->registered->expansion_count; i++) {
            const struct microdata_expansion *expansion = &m->registered->expansions[i];
            if (slice_equal(expansion->property, name)) {
                const struct term also = term_iri(expansion->also);
                emit_statement(m, &m->subject, &also, value);
            }
        }
    }
}

/* An element with itemprop or itemprop-reverse. */
static void
say_property(struct microdata *m, uint32_t node, bool is_item)
{
    struct slice names, reverse;
    const bool forward = microdata_attribute(m, node, "itemprop", &names);
    const bool backward = microdata_attribute(m, node, "itemprop-reverse", &reverse);
    if (!forward && !backward) {
        return;
    }
    char label[24], language[36];
    struct buf iri;
    struct term value;
    bool good = true;
    buf_init(&iri, 1 << 20);
    set_line(m, node);
    if (is_item) {
        value = subject_of(m, node, label, &iri);
        push(m, (struct microdata_job){.item = item_of_node(m, node), .type = m->type});
    } else {
        good = microdata_value_of(m, node, &value, language);
        if (good && value.value.length > m->text_left) {
            microdata_find(m, MICRODATA_FOUND_LONG, node, (struct slice){0});
            good = false;
        }
        m->text_left -= good ? value.value.length : 0;
    }
    if (forward) {
        meet_property(m, node);
        if (good) {
            say_names(m, names, &value, false);
        }
    }
    if (backward && good) {
        if (value.kind == TERM_LITERAL) {
            microdata_find(m, MICRODATA_FOUND_REVERSE_TEXT, node, reverse);
        } else {
            say_names(m, reverse, &value, true);
        }
    }
    buf_release(&iri);
}

/* Goes from a node to before another: elements inside of nested items are not theirs. Without
 * itemref no node is met twice. */
static void
crawl(struct microdata *m, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end && m->emitter->status == STATUS_OK;) {
        const struct html_node *node = &m->nodes[i];
        if (m->crawled) {
            if (m->crawled[i] == m->crawl || m->visits == 0) {
                i = node->kind == HTML_ELEMENT ? node->end : i + 1;
                continue;
            }
            m->crawled[i] = m->crawl;
            m->visits--;
        }
        if (node->kind != HTML_ELEMENT || microdata_is_template(node)) {
            i = node->kind == HTML_ELEMENT ? node->end : i + 1;
            continue;
        }
        struct slice ignored;
        const bool is_item =
            node->attribute_count > 0 && microdata_attribute(m, i, "itemscope", &ignored);
        if (node->attribute_count > 0) {
            say_property(m, i, is_item);
        }
        i = is_item ? node->end : i + 1;
    }
}

static void
crawl_references(struct microdata *m, uint32_t node)
{
    struct slice list, token;
    if (!m->crawled || !microdata_attribute(m, node, "itemref", &list)) {
        return;
    }
    while ((token = slice_next_word(&list)).length > 0 && m->emitter->status == STATUS_OK) {
        const uint32_t target = html_node_of_id(m->tree, &m->ids, token);
        if (target == 0) {
            microdata_find(m, MICRODATA_FOUND_MISSING_ID, node, token);
        } else {
            crawl(m, target, m->nodes[target].end);
        }
        if (m->visits == 0) {
            microdata_find(m, MICRODATA_FOUND_TOO_MUCH, node, token);
            return;
        }
    }
}

static void
say_types(struct microdata *m, uint32_t node)
{
    const struct term type = term_iri(SLICE(RDF_TYPE));
    struct slice list, token, iri;
    if (!microdata_attribute(m, node, "itemtype", &list)) {
        return;
    }
    while ((token = slice_next_word(&list)).length > 0) {
        if (absolute(token, &m->object, &iri)) {
            const struct term object = term_iri(iri);
            emit_statement(m, &m->subject, &type, &object);
        } else {
            microdata_find(m, MICRODATA_FOUND_RELATIVE_TYPE, node, token);
        }
    }
}

static void
reverse_jobs(struct microdata_pile *pile, size_t from)
{
    for (size_t to = pile->count; from + 1 < to; from++) {
        const struct microdata_job job = pile->jobs[from];
        pile->jobs[from] = pile->jobs[--to];
        pile->jobs[to] = job;
    }
}

static void
do_item(struct microdata *m, uint32_t index, struct slice inherited)
{
    struct microdata_item *item = &m->items[index];
    const uint32_t node = item->node;
    const struct slice own = first_type(m, node);
    const struct slice type = own.length > 0 ? own : inherited;
    if (item->state == UNFINISHED) {
        microdata_find(m, MICRODATA_FOUND_CIRCLE, node, (struct slice){0});
        return;
    }
    if (item->state == FINISHED && slice_equal(item->type, type)) {
        return;
    }
    char label[24];
    struct buf iri;
    buf_init(&iri, 1 << 20);
    item->state = UNFINISHED;
    item->type = type;
    m->subject = subject_of(m, node, label, &iri);
    choose_vocabulary(m, type);
    push(m, (struct microdata_job){.item = index, .finish = true});
    const size_t first = m->pile.count;
    set_line(m, node);
    say_types(m, node);
    m->crawl++;
    if (m->crawled) {
        m->crawled[node] = m->crawl;
    }
    crawl(m, node + 1, m->nodes[node].end);
    crawl_references(m, node);
    reverse_jobs(&m->pile, first);
    buf_release(&iri);
}

static void
do_top_item(struct microdata *m, uint32_t index)
{
    push(m, (struct microdata_job){.item = index});
    while (m->pile.count > 0 && m->emitter->status == STATUS_OK) {
        const struct microdata_job job = m->pile.jobs[--m->pile.count];
        if (job.finish) {
            m->items[job.item].state = FINISHED;
        } else {
            do_item(m, job.item, job.type);
        }
    }
}

static void
do_items(struct microdata *m)
{
    struct slice ignored;
    for (uint32_t i = 0; i < m->item_count && m->emitter->status == STATUS_OK; i++) {
        if (!microdata_attribute(m, m->items[i].node, "itemprop", &ignored) &&
            !microdata_attribute(m, m->items[i].node, "itemprop-reverse", &ignored)) {
            do_top_item(m, i);
        }
    }
    /* Values of nothing: the specification drops them, we take them for items of their own. */
    for (uint32_t i = 0; i < m->item_count && m->emitter->status == STATUS_OK; i++) {
        if (m->items[i].state == 0) {
            microdata_find(m, MICRODATA_FOUND_ORPHAN_ITEM, m->items[i].node, (struct slice){0});
            meet_property(m, m->items[i].node);
            do_top_item(m, i);
        }
    }
    for (uint32_t i = 0; i < m->property_count; i++) {
        if (!m->property_is_met[i]) {
            struct slice names = {0};
            microdata_attribute(m, m->properties[i], "itemprop", &names);
            microdata_find(m, MICRODATA_FOUND_ORPHAN, m->properties[i], names);
        }
    }
}

enum status
microdata_extract(const struct html_tree *tree, struct links *links,
                  const struct microdata_options *options, struct emitter *emitter)
{
    struct microdata m = {.tree = tree,
                          .nodes = tree->nodes,
                          .attributes = tree->attributes,
                          .links = links,
                          .options = options,
                          .registry = options->registry ? options->registry : &microdata_registry,
                          .emitter = emitter};
    buf_init(&m.text, SIZE_MAX / 2);
    buf_init(&m.predicate, 1 << 20);
    buf_init(&m.object, 1 << 20);
    buf_init(&m.base, 1 << 20);
    m.visits = (uint64_t)tree->node_count * VISITS_PER_NODE + VISITS_FREE;
    m.text_left = (uint64_t)tree->input.length * TEXT_TIMES + TEXT_FREE;
    enum status status = build_index(&m);
    if (status == STATUS_OK && m.items) {
        set_base(&m);
        do_items(&m);
        microdata_tell_findings(&m);
        status = emitter->status;
    }
    free(m.pile.jobs);
    buf_release(&m.text);
    buf_release(&m.predicate);
    buf_release(&m.object);
    buf_release(&m.base);
    return status;
}

static const struct microdata_expansion schema_org[] = {
    {SLICE_INIT("additionalType"), SLICE_INIT(RDF_TYPE)}};
static const struct microdata_vocabulary vocabularies[] = {
    {SLICE_INIT("http://schema.org/"), schema_org, 1},
    {SLICE_INIT("https://schema.org/"), schema_org, 1},
    {SLICE_INIT("http://microformats.org/profile/hcard"), NULL, 0}};
const struct microdata_registry microdata_registry = {vocabularies,
                                                      sizeof vocabularies / sizeof *vocabularies};
