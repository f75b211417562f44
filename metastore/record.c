/* Encoding of records and updates, and the merge rules of FORMAT.md. */
#include "metastore/record.h"

#include <string.h>

#include "base/memory.h"

enum form { FORM_NUMBER = 0, FORM_TEXT = 1, FORM_CLEAR = 2 };

enum {
    UPDATE_MAXIMUM = 4 << 20,
    URI_VALUE_MAXIMUM = 8 << 10,
    TEXT_VALUE_MAXIMUM = 64 << 10,
    RECORD_MAXIMUM = 32 << 20
};

struct field_entry {
    enum meta_field field;
    const char *name;
    enum meta_kind kind;
};

/* Ascending by number, as the map is. */
static const struct field_entry field_entries[] = {
#define X(number, name, kind) {META_##name, #name, META_KIND_##kind},
    META_FIELD_MAP(X)
#undef X
};
enum { FIELD_ENTRIES = sizeof field_entries / sizeof field_entries[0], NAME_SIZE = 32 };

static const struct field_entry *
entry_of(uint32_t tag)
{
    size_t low = 0;
    size_t high = FIELD_ENTRIES;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((uint32_t)field_entries[middle].field < tag) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < FIELD_ENTRIES && (uint32_t)field_entries[low].field == tag ? &field_entries[low]
                                                                            : NULL;
}

const char *
meta_field_name(enum meta_field field)
{
    static _Thread_local char names[FIELD_ENTRIES][NAME_SIZE];
    const struct field_entry *entry = entry_of((uint32_t)field);
    if (entry == NULL) {
        return NULL;
    }
    char *name = names[entry - field_entries];
    if (name[0] == 0) {
        for (size_t i = 0; entry->name[i] != 0 && i + 1 < NAME_SIZE; i++) {
            const char c = entry->name[i];
            name[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
    }
    return name;
}

enum meta_kind
meta_field_kind(enum meta_field field)
{
    const struct field_entry *entry = entry_of((uint32_t)field);
    return entry == NULL ? META_KIND_TEXT : entry->kind;
}

static size_t
meta_value_maximum(enum meta_field field)
{
    static const enum meta_field long_ones[] = {META_ROBOTS_BODY, META_SITEMAPS,  META_DESCRIPTIONS,
                                                META_COVER,       META_EXECUTION, META_AUTHORITIES,
                                                META_DATASETS,    META_PLAN,      META_SCHEMAMAPS};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        if (field == long_ones[i]) {
            return META_VALUE_MAXIMUM;
        }
    }
    return meta_field_kind(field) == META_KIND_URI ? URI_VALUE_MAXIMUM : TEXT_VALUE_MAXIMUM;
}

static bool
kind_is_text(enum meta_kind kind)
{
    return kind == META_KIND_TEXT || kind == META_KIND_URI;
}

/* Not more than the maximum, and no UTF-8 character cut in two. */
static struct slice
cut(struct slice text, size_t maximum)
{
    if (text.length <= maximum) {
        return text;
    }
    size_t length = maximum;
    for (int back = 0; back < 3 && length > 0; back++) {
        if (((unsigned char)text.at[length] & 0xC0) != 0x80) {
            break;
        }
        length--;
    }
    return slice_of(text.at, length);
}

/* ---- updates ---- */

void
meta_update_init(struct meta_update *update)
{
    buf_init(&update->fields, UPDATE_MAXIMUM);
}

void
meta_update_release(struct meta_update *update)
{
    buf_release(&update->fields);
}

void
meta_update_reset(struct meta_update *update)
{
    buf_reset(&update->fields);
}

struct slice
meta_update_fields(const struct meta_update *update)
{
    return buf_slice(&update->fields);
}

static void
put_field(struct buf *out, uint32_t tag, enum form form, uint64_t number, struct slice text)
{
    codec_put_varint(out, (uint64_t)tag * 4 + form);
    if (form == FORM_NUMBER) {
        codec_put_varint(out, number);
    } else if (form == FORM_TEXT) {
        codec_put_slice(out, text);
    }
}

void
meta_set_number(struct meta_update *update, enum meta_field field, uint64_t value)
{
    put_field(&update->fields, field, FORM_NUMBER, value, slice_of(NULL, 0));
}

void
meta_set_text(struct meta_update *update, enum meta_field field, struct slice value)
{
    const struct slice text = cut(value, meta_value_maximum(field));
    put_field(&update->fields, field, text.length == 0 ? FORM_CLEAR : FORM_TEXT, 0, text);
}

void
meta_clear(struct meta_update *update, enum meta_field field)
{
    put_field(&update->fields, field, FORM_CLEAR, 0, slice_of(NULL, 0));
}

/* ---- reading ---- */

struct item {
    uint32_t tag;
    enum form form;
    uint64_t number;
    struct slice text;
};

/* One field. False at the end and at damage (reader->bad). */
static bool
next_item(struct codec_reader *reader, struct item *item)
{
    if (reader->bad || reader->at == reader->end) {
        return false;
    }
    const uint64_t head = codec_get_varint(reader);
    const uint64_t tag = head / 4;
    const unsigned form = (unsigned)(head % 4);
    if (reader->bad || tag == 0 || tag > META_TAG_MAXIMUM || form > FORM_CLEAR) {
        reader->bad = true;
        return false;
    }
    *item = (struct item){.tag = (uint32_t)tag, .form = (enum form)form};
    if (form == FORM_NUMBER) {
        item->number = codec_get_varint(reader);
    } else if (form == FORM_TEXT) {
        item->text = codec_get_slice(reader);
    }
    const struct field_entry *entry = entry_of(item->tag);
    if (entry != NULL && form != FORM_CLEAR && kind_is_text(entry->kind) != (form == FORM_TEXT)) {
        reader->bad = true;
    }
    return !reader->bad;
}

bool
meta_record_next(struct slice record, size_t *at, struct meta_value *value)
{
    if (*at >= record.length) {
        return false;
    }
    struct codec_reader reader = codec_reader_of(slice_of(record.at + *at, record.length - *at));
    struct item item;
    if (!next_item(&reader, &item) || item.form == FORM_CLEAR) {
        return false;
    }
    *at = (size_t)((const char *)reader.at - record.at);
    *value = (struct meta_value){.field = (enum meta_field)item.tag,
                                 .is_text = item.form == FORM_TEXT,
                                 .number = item.number,
                                 .text = item.text};
    return true;
}

static bool
find(struct slice record, enum meta_field field, struct meta_value *value)
{
    size_t at = 0;
    while (meta_record_next(record, &at, value)) {
        if (value->field >= field) {
            return value->field == field;
        }
    }
    return false;
}

bool
meta_record_number(struct slice record, enum meta_field field, uint64_t *number)
{
    struct meta_value value;
    if (!find(record, field, &value) || value.is_text) {
        return false;
    }
    *number = value.number;
    return true;
}

uint64_t
meta_record_count(struct slice record, enum meta_field field)
{
    uint64_t number = 0;
    (void)meta_record_number(record, field, &number);
    return number;
}

bool
meta_record_text(struct slice record, enum meta_field field, struct slice *text)
{
    struct meta_value value;
    if (!find(record, field, &value) || !value.is_text) {
        return false;
    }
    *text = value.text;
    return true;
}

bool
meta_key_valid(struct slice key)
{
    return key.length >= 2 && key.length <= META_KEY_MAXIMUM &&
           (key.at[0] == 'u' || key.at[0] == 'h' || key.at[0] == 's');
}

static bool
fields_valid(struct slice fields, bool stored)
{
    struct codec_reader reader = codec_reader_of(fields);
    struct item item;
    uint32_t last = 0;
    size_t count = 0;
    while (next_item(&reader, &item)) {
        if (stored && (item.tag <= last || item.form == FORM_CLEAR)) {
            return false;
        }
        last = item.tag;
        if (++count > META_FIELDS_MAXIMUM) {
            return false;
        }
    }
    return !reader.bad;
}

bool
meta_record_valid(struct slice record)
{
    return fields_valid(record, true);
}

bool
meta_update_valid(struct slice fields)
{
    return fields_valid(fields, false);
}

/* ---- merge ---- */

/* Fields in ascending order of tag while they are merged. Texts point into the inputs, but
 * for the two sets of lines, which are built here. */
struct merge {
    struct item items[META_FIELDS_MAXIMUM * 2];
    size_t count;
    char attempts[META_ATTEMPTS_LINES * (META_ATTEMPTS_LINE_BYTES + 1)];
    char descriptions[META_ATTEMPTS_LINES * (META_DESCRIPTIONS_LINE_BYTES + 1)];
    char sitemap_for[META_ATTEMPTS_LINES * (META_DESCRIPTIONS_LINE_BYTES + 1)];
};

static size_t
place_of(const struct merge *merge, uint32_t tag)
{
    /* Updates mostly come in ascending order behind or among few fields: search from the end. */
    size_t at = merge->count;
    while (at > 0 && merge->items[at - 1].tag >= tag) {
        at--;
    }
    return at;
}

static const struct item *
item_of(const struct merge *merge, uint32_t tag)
{
    const size_t at = place_of(merge, tag);
    return at < merge->count && merge->items[at].tag == tag ? &merge->items[at] : NULL;
}

static void
store_item(struct merge *merge, const struct item *item)
{
    const size_t at = place_of(merge, item->tag);
    const bool present = at < merge->count && merge->items[at].tag == item->tag;
    const bool clear = item->form == FORM_CLEAR;
    const size_t behind = merge->count - at;
    if (clear && present) {
        memmove(&merge->items[at], &merge->items[at + 1], (behind - 1) * sizeof *item);
        merge->count--;
    } else if (!clear && !present) {
        memmove(&merge->items[at + 1], &merge->items[at], behind * sizeof *item);
        merge->count++;
    }
    if (!clear) {
        merge->items[at] = *item;
    }
}

/* The next line without its end; false when there is none. */
static bool
next_line(struct slice *rest, struct slice *line)
{
    while (rest->length > 0) {
        *line = slice_take(rest, '\n');
        if (line->length > 0) {
            return true;
        }
    }
    return false;
}

/* The greatest META_ATTEMPTS_LINES lines, ascending: as a set with a bound it does not matter in
 * which order, or how often, lines come. */
struct line_set {
    struct slice lines[META_ATTEMPTS_LINES];
    size_t count;
};

static void
add_line(struct line_set *set, struct slice line)
{
    size_t at = set->count;
    while (at > 0 && slice_compare(set->lines[at - 1], line) > 0) {
        at--;
    }
    if (at > 0 && slice_equal(set->lines[at - 1], line)) {
        return;
    }
    if (set->count < META_ATTEMPTS_LINES) {
        memmove(&set->lines[at + 1], &set->lines[at], (set->count - at) * sizeof line);
        set->lines[at] = line;
        set->count++;
    } else if (at > 0) { /* the least one makes room */
        memmove(&set->lines[0], &set->lines[1], (at - 1) * sizeof line);
        set->lines[at - 1] = line;
    }
}

static void
add_lines(struct line_set *set, struct slice text, size_t most)
{
    struct slice line;
    while (next_line(&text, &line)) {
        add_line(set, cut(line, most));
    }
}

static bool
is_line_set(uint32_t tag)
{
    return tag == META_ATTEMPTS || tag == META_DESCRIPTIONS || tag == META_SITEMAP_FOR;
}

/* The first time counts. */
static bool
is_earlier_kept(const struct merge *merge, const struct item *item)
{
    const struct item *stored = item->tag == META_SITEMAP_SEEN || item->tag == META_LINK_SEEN
                                    ? item_of(merge, item->tag)
                                    : NULL;
    return stored != NULL && item->form == FORM_NUMBER && stored->number <= item->number;
}

static void
append_lines(struct merge *merge, uint32_t tag, struct slice added)
{
    struct line_set set = {.count = 0};
    const bool attempts = tag == META_ATTEMPTS;
    const size_t most = attempts ? META_ATTEMPTS_LINE_BYTES : META_DESCRIPTIONS_LINE_BYTES;
    char *const place = attempts                   ? merge->attempts
                        : tag == META_DESCRIPTIONS ? merge->descriptions
                                                   : merge->sitemap_for;
    const struct item *stored = item_of(merge, tag);
    if (stored != NULL) {
        add_lines(&set, stored->text, most);
    }
    add_lines(&set, added, most);
    if (set.count == 0) {
        return;
    }
    char bytes[sizeof merge->descriptions];
    size_t length = 0;
    for (size_t i = 0; i < set.count; i++) {
        memcpy(bytes + length, set.lines[i].at, set.lines[i].length);
        length += set.lines[i].length;
        bytes[length++] = '\n';
    }
    memcpy(place, bytes, length); /* the set may point into it */
    store_item(merge,
               &(struct item){.tag = tag, .form = FORM_TEXT, .text = slice_of(place, length)});
}

/* Holds what the record and the update say of DEPTH and VIA; absent ones have tag 0. */
struct origin {
    struct item depth, via;
};

static struct origin
origin_in(const struct item *items, size_t count)
{
    struct origin origin = {0};
    for (size_t i = 0; i < count; i++) {
        if (items[i].tag == META_DEPTH && items[i].form == FORM_NUMBER) {
            origin.depth = items[i];
        } else if (items[i].tag == META_VIA && items[i].form == FORM_TEXT) {
            origin.via = items[i];
        }
    }
    return origin;
}

/* The DEPTH and VIA that result: rule 3 of FORMAT.md. */
static struct origin
origin_merge(struct origin old, struct origin new)
{
    if (new.depth.tag == 0) {
        return (struct origin){old.depth, new.via.tag != 0 ? new.via : old.via};
    }
    if (old.depth.tag == 0) {
        return (struct origin){new.depth, new.via.tag != 0 ? new.via : old.via};
    }
    if (new.depth.number != old.depth.number) {
        return new.depth.number < old.depth.number ? new : old;
    }
    const bool replace =
        new.via.tag != 0 && (old.via.tag == 0 || slice_compare(new.via.text, old.via.text) < 0);
    return replace ? new : old;
}

static void
store_origin_item(struct merge *merge, uint32_t tag, const struct item *item)
{
    struct item stored = *item;
    stored.tag = tag;
    stored.form = item->tag == 0 ? FORM_CLEAR : item->form;
    store_item(merge, &stored);
}

/* Tells whether the field is one that each visit states, also one that brings no new content. */
static bool
is_of_visit(uint32_t tag)
{
    static const enum meta_field fields[] = {META_VISITED,        META_DUE,      META_VISITS,
                                             META_VISITS_CHANGED, META_CLAIM,    META_RATE_CHANGES,
                                             META_RATE_SECONDS,   META_WORTH_MS, META_FAILURES};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (tag == (uint32_t)fields[i]) {
            return true;
        }
    }
    return false;
}

/* The generations of a record or an update; 0: not said. */
struct generations {
    uint64_t visit, content, stated;
};

static struct generations
generations_in(const struct item *items, size_t count)
{
    struct generations found = {0};
    for (size_t i = 0; i < count; i++) {
        if (items[i].form == FORM_NUMBER) {
            uint64_t *const of = items[i].tag == META_GENERATION ? &found.visit
                                 : items[i].tag == META_CONTENT  ? &found.content
                                 : items[i].tag == META_STATED   ? &found.stated
                                                                 : NULL;
            if (of != NULL) {
                *of = items[i].number;
            }
        }
    }
    return found;
}

/* A later visit has said it already: rule 1 of FORMAT.md. */
static bool
is_overtaken(const struct generations *old, const struct generations *new, uint32_t tag)
{
    const bool of_stage = new->visit == 0 && new->content > 0;
    return tag == META_STATED || tag == META_MOVED ||
           (of_stage &&
            ((is_of_visit(tag) && old->visit > new->content) ||
             ((tag == META_STATE || tag == META_REASON) && old->stated > new->content)));
}

static void
store_number(struct merge *merge, uint32_t tag, uint64_t number)
{
    store_item(merge, &(struct item){.tag = tag, .form = FORM_NUMBER, .number = number});
}

static void
apply(struct merge *merge, struct item *update, size_t count, const struct generations *before,
      const struct generations *new)
{
    const struct origin old = origin_in(merge->items, merge->count);
    const uint64_t generation = new->visit > 0 ? new->visit : new->content;
    if (generation > before->visit) {
        store_number(merge, META_GENERATION, generation);
    }
    for (size_t i = 0; i < count; i++) {
        struct item *item = &update[i];
        if (is_overtaken(before, new, item->tag)) {
            continue;
        }
        if (item->tag == META_STATE && generation > 0) {
            store_number(merge, META_STATED, generation);
        }
        if (item->form == FORM_TEXT) {
            item->text = cut(item->text, meta_value_maximum((enum meta_field)item->tag));
            item->form = item->text.length == 0 ? FORM_CLEAR : FORM_TEXT;
        }
        if (is_line_set(item->tag) && item->form == FORM_TEXT) {
            append_lines(merge, item->tag, item->text);
        } else if (item->tag != META_DEPTH && item->tag != META_VIA &&
                   !is_earlier_kept(merge, item)) {
            store_item(merge, item);
        }
    }
    const struct origin origin = origin_merge(old, origin_in(update, count));
    store_origin_item(merge, META_DEPTH, &origin.depth);
    store_origin_item(merge, META_VIA, &origin.via);
}

/* Decodes into items[]; -1 at damage. */
static long
decode(struct slice fields, struct item *items, bool stored)
{
    struct codec_reader reader = codec_reader_of(fields);
    size_t count = 0;
    struct item item;
    while (next_item(&reader, &item)) {
        if (count == META_FIELDS_MAXIMUM ||
            (stored &&
             (item.form == FORM_CLEAR || (count > 0 && item.tag <= items[count - 1].tag)))) {
            return -1;
        }
        items[count++] = item;
    }
    return reader.bad ? -1 : (long)count;
}

/* The update gives a new place to an archived record that is not the one that the record has. */
static bool
is_moved_elsewhere(const struct merge *merge, const struct item *update, size_t count)
{
    const struct item *moved = NULL;
    enum meta_field id = META_CONVERSION_RECORD_ID;
    for (size_t i = 0; i < count; i++) {
        moved = update[i].tag == META_MOVED && update[i].form == FORM_TEXT ? &update[i] : moved;
        id = update[i].tag == META_WARC_FILE ? META_WARC_RECORD_ID : id;
    }
    const struct item *stored = moved == NULL ? NULL : item_of(merge, id);
    return moved != NULL && (stored == NULL || !slice_equal(stored->text, moved->text));
}

enum meta_merged
meta_merge(struct slice record, struct slice fields, struct buf *merged)
{
    struct merge merge;
    struct item update[META_FIELDS_MAXIMUM];
    merged->maximum = RECORD_MAXIMUM;
    buf_reset(merged);
    const long stored = decode(record, merge.items, true);
    if (stored < 0) {
        return META_DAMAGED_RECORD;
    }
    merge.count = (size_t)stored;
    const long count = decode(fields, update, false);
    if (count < 0) {
        return META_DAMAGED_UPDATE;
    }
    const struct generations old = generations_in(merge.items, merge.count);
    const struct generations new = generations_in(update, (size_t)count);
    if ((new.visit > 0 && new.visit < old.visit) ||
        (new.content > 0 && new.content < old.content) ||
        is_moved_elsewhere(&merge, update, (size_t)count)) {
        return META_STALE;
    }
    apply(&merge, update, (size_t)count, &old, &new);
    if (merge.count > META_FIELDS_MAXIMUM) {
        return META_DAMAGED_UPDATE;
    }
    for (size_t i = 0; i < merge.count; i++) {
        const struct item *item = &merge.items[i];
        put_field(merged, item->tag, item->form, item->number, item->text);
    }
    return slice_equal(buf_slice(merged), record) ? META_UNCHANGED : META_MERGED;
}
