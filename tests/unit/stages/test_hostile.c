/* Broken, mutated and oversized documents through all transforms.
 *
 *   test_hostile [--variants N] [--seed N] [--workers] [--large MEGABYTES] [--files FOLDER]
 *
 * Variants are made from the examples of all transforms (and the files of FOLDER that are short) by
 * a generator that gives the same ones for the same seed: bits turned, pieces cut, doubled, moved
 * between documents, tokens of all syntaxes put in and repeated. In this process, so that
 * sanitizers see them, or as the transform stage does it, by sandboxed workers. Then documents of
 * so many megabytes, in one line, made to be slow.
 *
 * Prints counts, and how much memory was taken at the start and at the end. It is an error when a
 * worker dies of a signal (not of a limit), or when memory grows. */
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "stages/parsing/document_worker.h"
#include "tests/unit/brief.h"
#include "transforms/transform.h"

enum {
    SEEDS_MAXIMUM = 20000,
    SEED_LONGEST = 24 << 10,
    VARIANT_LONGEST = 256 << 10,
    WINDOW = 8,      /* requests under way */
    SETTLING = 2000, /* documents until all memory that is kept has been taken once */
    GROWTH_MOST = 48 << 20,
    VARIANTS = 3000,
    LARGE = 1 << 20
};

static struct seed {
    char *path, *type;
    struct slice bytes;
} seeds[SEEDS_MAXIMUM];
static size_t seed_count, example_count; /* examples come first */

static struct {
    uint64_t variants, seed;
    size_t large; /* bytes */
    bool workers;
    const char *folder;
} settings = {.seed = 1};

static struct {
    uint64_t made, whole, part, broken, none, waiting, limits, deaths, crashes;
    uint64_t memory_early, memory_late, slowest_us;
} counts;

/* ---- the generator: splitmix64 ---- */

static uint64_t generator;

static uint64_t
number(void)
{
    uint64_t z = (generator += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static size_t
below(size_t limit)
{
    return limit > 0 ? (size_t)(number() % limit) : 0;
}

/* ---- seeds ---- */

static bool
read_file(const char *path, size_t most, struct slice *bytes)
{
    FILE *in = fopen(path, "rb");
    char *memory = in ? memory_alloc(most + 1) : NULL;
    const size_t n = in ? fread(memory, 1, most + 1, in) : 0;
    if (in) {
        fclose(in);
    }
    if (!in || n == 0 || n > most) {
        free(memory);
        return false;
    }
    memory[n < most ? n : most] = 0;
    *bytes = slice_of(memory, n);
    return true;
}

static void
add_seed(const char *path, const char *type, struct slice bytes)
{
    if (seed_count < SEEDS_MAXIMUM) {
        seeds[seed_count++] = (struct seed){memory_string(path), memory_string(type), bytes};
    }
}

/* Folders are read in any order. */
static int
compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct seed *)a)->path, ((const struct seed *)b)->path);
}

static void
read_examples(struct registry *registry)
{
    for (size_t i = 0; i < registry_count(registry); i++) {
        char path[4096];
        struct slice type, bytes;
        const char *name = registry_transform(registry, i)->name;
        snprintf(path, sizeof path, "%s/examples/%s/type", registry_folder(registry), name);
        if (!read_file(path, 256, &type)) {
            continue;
        }
        char *text = memory_string_n(slice_trim(type).at, slice_trim(type).length);
        free((void *)(uintptr_t)type.at);
        snprintf(path, sizeof path, "%s/examples/%s/input", registry_folder(registry), name);
        if (read_file(path, 1 << 20, &bytes)) {
            add_seed(path, text, bytes);
        }
        free(text);
    }
}

static struct registry *known;

static bool
has_transform(const char *type)
{
    const struct registry_subject subject = {.type = slice_string(type)};
    return registry_match(known, &subject, NULL) > 0;
}

static int
take_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    struct slice bytes;
    const char *type = detect_extension(slice_string(path + place->base));
    if (kind == FTW_F && type && has_transform(type) && about->st_size <= SEED_LONGEST &&
        read_file(path, SEED_LONGEST, &bytes)) {
        add_seed(path, type, bytes);
    }
    return 0;
}

/* ---- variants ---- */

static const char *const tokens[] = {
    "<",
    "</",
    ">",
    "\"",
    "'",
    "&",
    "&#x",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE ",
    "<?xml ",
    "<!ENTITY ",
    "\xEF\xBB\xBF",
    "\xFF\xFE",
    "\xC0\x80",
    "\xED\xA0\x80",
    "\xF4\x90\x80\x80",
    "<a>",
    "<table>",
    "<b>",
    "<p>",
    "<div itemscope>",
    "<div itemprop=x>",
    "<div typeof=x property=y>",
    "<div class=h-card>",
    "<script type=application/ld+json>",
    "</script>",
    "<title>",
    "<template>",
    "<svg>",
    "<math>",
    "<select>",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\\u0000",
    "\\uD800",
    "\"@context\":",
    "\"@id\":",
    "\"@graph\":",
    "\"@list\":",
    "@prefix ",
    "@base ",
    "<<",
    ">>",
    "_:b",
    "^^",
    "\"\"\"",
    "(",
    ")",
    ";",
    ".",
    "GRAPH ",
    "rdf:about=",
    "rdf:ID=",
    "rdf:parseType=",
    "xml:base=",
    "xmlns:",
    "BEGIN:",
    "END:",
    "\r\n ",
    "\r",
    "=",
    "999999999999999999999",
    "-1",
    "0x",
    "1e999",
    "%",
    "%00",
    "http://",
    "//",
    "..",
    "#",
    "?",
    "itemref=x",
    "id=x",
    "vocab=",
    "prefix=",
    "rel=",
    "\t",
    "  ",
    "\n\n",
    "<rdf:li/>",
    "<item>",
    "<entry>",
    "\xE2\x80\xAE",
};

struct variant {
    struct buf bytes;
    const char *type;
};

static void
replace(struct buf *bytes, size_t at, size_t cut, struct slice by)
{
    const size_t tail = bytes->length - at - cut;
    if (bytes->length - cut + by.length > VARIANT_LONGEST) {
        return;
    }
    char *copy = memory_alloc(tail + 1);
    memcpy(copy, bytes->data + at + cut, tail);
    bytes->length = at;
    buf_append_slice(bytes, by);
    buf_append(bytes, copy, tail);
    free(copy);
}

static void
repeat(struct buf *bytes, size_t at, struct slice what, size_t times)
{
    struct buf many;
    buf_init(&many, VARIANT_LONGEST);
    for (size_t i = 0; i < times && buf_append_slice(&many, what) == STATUS_OK; i++) {
    }
    replace(bytes, at, 0, buf_slice(&many));
    buf_release(&many);
}

static void
mutate(struct buf *bytes)
{
    const size_t at = below(bytes->length + 1), left = bytes->length - at;
    const struct slice token = slice_string(tokens[below(sizeof tokens / sizeof *tokens)]);
    const size_t most = left < 64 ? left : 64;
    char piece[64];
    switch (below(10)) {
    case 0:
        if (left > 0) {
            bytes->data[at] = (char)(bytes->data[at] ^ (1 << below(8)));
        }
        break;
    case 1:
        if (left > 0) {
            bytes->data[at] = (char)number();
        }
        break;
    case 2:
    case 3:
        replace(bytes, at, 0, token);
        break;
    case 4:
        replace(bytes, at, below(most + 1), (struct slice){"", 0});
        break;
    case 5:
        memcpy(piece, bytes->data + at, most);
        repeat(bytes, at, slice_of(piece, most), 1 + below(40));
        break;
    case 6:
        repeat(bytes, at, token, 1 + below(below(50) == 0 ? 5000 : 40));
        break;
    case 7: {
        const struct seed *other = &seeds[below(seed_count)];
        const size_t from = below(other->bytes.length);
        replace(bytes, at, 0,
                slice_of(other->bytes.at + from, below(other->bytes.length - from + 1)));
        break;
    }
    case 8:
        if (below(4) == 0) {
            bytes->length = at;
        }
        break;
    default:
        replace(bytes, at, below(most + 1), token);
    }
}

static void
make_variant(struct variant *variant)
{
    const struct seed *seed = &seeds[below(below(3) == 0 ? example_count : seed_count)];
    buf_reset(&variant->bytes);
    buf_append_slice(&variant->bytes, seed->bytes);
    variant->type = below(20) == 0 ? seeds[below(seed_count)].type : seed->type;
    for (size_t i = 1 + below(8); i > 0; i--) {
        mutate(&variant->bytes);
    }
}

/* ---- what became of them ---- */

static void
count_state(enum transform_state state)
{
    uint64_t *const places[] = {&counts.whole, &counts.part, &counts.broken, &counts.none,
                                &counts.waiting};
    ++*places[state];
}

static uint64_t
memory_taken(void)
{
    unsigned long total, resident = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (in) {
        if (fscanf(in, "%lu %lu", &total, &resident) != 2) {
            resident = 0;
        }
        fclose(in);
    }
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
note_memory(uint64_t bytes)
{
    if (counts.made > settings.variants) {
        return;
    }
    if (counts.made <= SETTLING && bytes > counts.memory_early) {
        counts.memory_early = bytes;
    }
    counts.memory_late = bytes;
}

static struct transform_request
request_of(const char *type, struct slice bytes)
{
    return (struct transform_request){.uri = SLICE("http://hostile.example/a/b?c"),
                                      .type = slice_string(type),
                                      .link_header =
                                          bytes.length % 16 == 0 ? bytes : (struct slice){NULL, 0},
                                      .bytes = bytes};
}

/* ---- in this process ---- */

struct here {
    struct transformer *transformer;
    struct transform_result result;
};

static void
run_here(struct here *here, const char *type, struct slice bytes)
{
    struct reason why;
    struct transform_request request = request_of(type, bytes);
    request.link_header.length =
        request.link_header.length > 4096 ? 4096 : request.link_header.length;
    const uint64_t before = clock_monotonic_us();
    const enum status status = transform_run(here->transformer, &request, &here->result, &why);
    const uint64_t took = clock_monotonic_us() - before;
    counts.made++;
    counts.slowest_us = took > counts.slowest_us ? took : counts.slowest_us;
    if (status == STATUS_OK) {
        count_state(here->result.state);
    } else {
        counts.limits++;
    }
    if (counts.made % 500 == 0) {
        note_memory(memory_taken());
    }
}

/* ---- by workers ---- */

struct errand {
    struct variant variant;
    struct buf header;
    bool under_way;
};

static void
take_answer(void *context, const struct worker_answer *answer)
{
    struct errand *errand = context;
    struct document_outcome outcome;
    errand->under_way = false;
    counts.made++;
    counts.slowest_us = answer->cpu_us > counts.slowest_us ? answer->cpu_us : counts.slowest_us;
    if (answer->status == STATUS_OK && document_outcome_decode(answer->reply, &outcome)) {
        count_state(outcome.state);
        note_memory(outcome.memory);
        return;
    }
    counts.limits += answer->status == STATUS_LIMIT || answer->status == STATUS_TIMEOUT;
    counts.deaths += answer->died;
    if (answer->status != STATUS_LIMIT && answer->status != STATUS_TIMEOUT) {
        counts.crashes++;
        fprintf(stderr, "%s: %s\n", errand->variant.type, answer->why->text);
        char path[64];
        snprintf(path, sizeof path, "hostile-%lu", (unsigned long)counts.crashes);
        FILE *out = getenv("QUADRILLE_KEEP") ? fopen(path, "wb") : NULL;
        if (out) {
            fwrite(errand->variant.bytes.data, 1, errand->variant.bytes.length, out);
            fclose(out);
        }
    }
}

static void
wait_for(struct document_workers *workers, size_t most)
{
    struct worker_pool *pool = document_workers_pool(workers);
    struct reason why;
    while (worker_pool_waiting(pool) > most) {
        struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
        poll(&wait, 1, -1);
        if (worker_pool_process(pool, &why) != STATUS_OK) {
            fprintf(stderr, "test_hostile: %s\n", why.text);
            exit(1);
        }
    }
}

static struct errand *
free_errand(struct document_workers *workers, struct errand errands[WINDOW])
{
    wait_for(workers, WINDOW - 1);
    for (size_t i = 0;; i = (i + 1) % WINDOW) {
        if (!errands[i].under_way) {
            return &errands[i];
        }
    }
}

static void
submit(struct document_workers *workers, struct errand *errand)
{
    const struct transform_request request =
        request_of(errand->variant.type, buf_slice(&errand->variant.bytes));
    struct transform_request shorter = request;
    shorter.link_header.length =
        request.link_header.length > 4096 ? 4096 : request.link_header.length;
    errand->under_way = true;
    document_submit_transform(workers, &shorter, &errand->header, take_answer, errand);
}

/* ---- documents made to be slow ---- */

static const struct large {
    const char *name, *type, *head, *unit, *tail;
} larges[] = {
    {"html text", "text/html", "<p>", "word ", ""},
    {"html open elements", "text/html", "", "<div>", ""},
    {"html open formatting", "text/html", "", "<b><p>", ""},
    {"html misnested anchors", "text/html", "", "<a href=x><p></a>", ""},
    {"html tables in tables", "text/html", "", "<table><td>x", ""},
    {"html fostered", "text/html", "<table>", "<p>x<b>", ""},
    {"html attributes", "text/html", "<p ", "a b=c ", ">"},
    {"html classes", "text/html", "<p class='", "h-card vcard ", "'>"},
    {"html open titles", "text/html", "", "<title>", ""},
    {"html less-thans", "text/html", "", "<", ""},
    {"html references", "text/html", "<p>", "&amp", ""},
    {"html items", "text/html", "", "<div itemscope itemprop=a itemref=x id=x>", ""},
    {"html flat items", "text/html", "<div itemscope>", "<p itemprop=name>x</p>", "</div>"},
    {"html rdfa", "text/html", "", "<div typeof=a rel=b><p property=c>d</p>", ""},
    {"html cards", "text/html", "", "<p class=h-card><i class=p-name>x</i>", ""},
    {"html scripts", "text/html", "", "<script type=application/ld+json>{\"@id\":\"a\"}</script>",
     ""},
    {"html addresses", "text/html", "<p>", "a@", ""},
    {"html links", "text/html", "", "<a href=x>y</a>", ""},
    {"html metas", "text/html", "", "<meta property=og:image content=x>", ""},
    {"xml text", "application/rdf+xml",
     "<rdf:RDF "
     "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description><rdf:value>",
     "word ", "</rdf:value></rdf:Description></rdf:RDF>"},
    {"xml depth", "application/rdf+xml", "", "<a xmlns='urn:x:'>", ""},
    {"xml attributes", "application/rdf+xml", "<a ", "b='c' ", "/>"},
    {"feed items", "application/rss+xml", "<rss><channel>", "<item><title>x</title></item>",
     "</channel></rss>"},
    {"turtle statements", "text/turtle", "", "<a> <b> <c>. ", ""},
    {"turtle collection", "text/turtle", "<a> <b> ", "(", ""},
    {"turtle blank nodes", "text/turtle", "<a> <b> ", "[<c> ", ""},
    {"turtle string", "text/turtle", "<a> <b> \"", "word ", "\" ."},
    {"n-quads string", "application/n-quads", "<a:b> <a:b> \"", "word ", "\" ."},
    {"json depth", "application/ld+json", "{\"http://e.example/a\":", "[", ""},
    {"json objects", "application/ld+json", "[", "{\"@id\":\"http://e.example/a\"},", "{}]"},
    {"json string", "application/ld+json", "{\"http://e.example/a\":\"", "word ", "\"}"},
    {"csv row", "text/csv", "a,b\n", "x,", ""},
    {"calendar", "text/calendar", "", "BEGIN:VCALENDAR ", ""},
};

static void
make_large(const struct large *large, size_t bytes, struct buf *out)
{
    const size_t unit = strlen(large->unit);
    buf_reset(out);
    buf_append_string(out, large->head);
    while (out->length + unit < bytes) {
        buf_append(out, large->unit, unit);
    }
    buf_append_string(out, large->tail);
}

/* ---- the whole ---- */

static struct opt_set *
options_for(void)
{
    struct reason why;
    char text[64];
    struct opt_set *options = opt_set_new((const struct opt *const[]){transforms_options, NULL});
    snprintf(text, sizeof text, "transform.input=%zu", settings.large + (64 << 20));
    const char *const assignments[] = {text};
    for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++) {
        if (opt_set_assign(options, assignments[i], &why) != STATUS_OK) {
            fprintf(stderr, "test_hostile: %s\n", why.text);
            exit(1);
        }
    }
    return options;
}

static void
print_large(const struct large *large, uint64_t began, uint64_t limits)
{
    printf("  %-24s %6lu ms%s\n", large->name, (unsigned long)(clock_monotonic_us() - began) / 1000,
           counts.limits > limits ? ", past a limit" : "");
    fflush(stdout);
}

static void
all_here(struct registry *registry)
{
    struct reason why;
    struct here here;
    struct buf bytes;
    const struct transform_limits limits = {
        .memory = 512 << 20, .output = 128 << 20, .canonical_work = 20000};
    if (transformer_new(&here.transformer, registry, &limits, &why) != STATUS_OK) {
        fprintf(stderr, "test_hostile: %s\n", why.text);
        exit(1);
    }
    transform_result_init(&here.result, limits.output);
    struct variant variant = {0};
    buf_init(&variant.bytes, VARIANT_LONGEST);
    for (uint64_t i = 0; i < settings.variants; i++) {
        make_variant(&variant);
        run_here(&here, variant.type, buf_slice(&variant.bytes));
    }
    buf_init(&bytes, SIZE_MAX / 4);
    for (size_t i = 0; settings.large > 0 && i < sizeof larges / sizeof *larges; i++) {
        const uint64_t began = clock_monotonic_us(), before = counts.limits;
        make_large(&larges[i], settings.large, &bytes);
        run_here(&here, larges[i].type, buf_slice(&bytes));
        print_large(&larges[i], began, before);
    }
    buf_release(&bytes);
    buf_release(&variant.bytes);
    transform_result_release(&here.result);
    transformer_free(here.transformer);
}

static void
all_by_workers(struct fork_server *fork_server)
{
    struct reason why;
    struct document_workers *workers;
    static struct errand errands[WINDOW];
    struct opt_set *options = options_for();
    if (document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, &why) !=
        STATUS_OK) {
        fprintf(stderr, "test_hostile: %s\n", why.text);
        exit(1);
    }
    for (size_t i = 0; i < WINDOW; i++) {
        buf_init(&errands[i].variant.bytes, SIZE_MAX / 4);
        buf_init(&errands[i].header, 1 << 20);
    }
    for (uint64_t i = 0; i < settings.variants; i++) {
        struct errand *errand = free_errand(workers, errands);
        make_variant(&errand->variant);
        submit(workers, errand);
    }
    wait_for(workers, 0);
    for (size_t i = 0; settings.large > 0 && i < sizeof larges / sizeof *larges; i++) {
        const uint64_t began = clock_monotonic_us(), before = counts.limits;
        errands[0].variant.type = larges[i].type;
        make_large(&larges[i], settings.large, &errands[0].variant.bytes);
        submit(workers, &errands[0]);
        wait_for(workers, 0);
        print_large(&larges[i], began, before);
    }
    document_workers_close(workers);
    for (size_t i = 0; i < WINDOW; i++) {
        buf_release(&errands[i].variant.bytes);
        buf_release(&errands[i].header);
    }
    opt_set_free(options);
}

static void
read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--workers") == 0) {
            settings.workers = true;
            continue;
        }
        if (strcmp(argv[i], "--variants") == 0) {
            settings.variants = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--seed") == 0) {
            settings.seed = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--large") == 0) {
            settings.large = strtoull(value, NULL, 10) << 20;
        } else if (strcmp(argv[i], "--files") == 0) {
            settings.folder = value;
        } else {
            fprintf(stderr, "test_hostile: what is %s?\n", argv[i]);
            exit(2);
        }
        i++;
    }
}

int
main(int argc, char **argv)
{
    struct reason why;
    settings.variants = brief(VARIANTS, VARIANTS / 40);
    settings.large = brief(LARGE, LARGE / 4);
    read_arguments(argc, argv);
    struct fork_server *fork_server =
        settings.workers ? fork_server_start(&document_worker_program) : NULL;
    struct registry *registry = registry_new();
    if (registry_read_default(registry, &why) != STATUS_OK) {
        fprintf(stderr, "test_hostile: %s\n", why.text);
        return 1;
    }
    read_examples(registry);
    example_count = seed_count;
    known = registry;
    if (settings.folder) {
        nftw(settings.folder, take_file, 16, FTW_PHYS);
    }
    qsort(seeds + example_count, seed_count - example_count, sizeof *seeds, compare_paths);
    generator = settings.seed;
    if (settings.workers) {
        all_by_workers(fork_server);
    } else {
        all_here(registry);
    }
    const int64_t grown = (int64_t)counts.memory_late - (int64_t)counts.memory_early;
    printf("%lu documents of %zu seeds (seed %lu): %lu whole, %lu part, %lu broken, %lu without "
           "transform, %lu waiting, %lu past a limit; %lu worker deaths, %lu crashes; slowest %lu "
           "ms; memory %lu KiB after %d documents, %lu KiB at the end\n",
           (unsigned long)counts.made, seed_count, (unsigned long)settings.seed,
           (unsigned long)counts.whole, (unsigned long)counts.part, (unsigned long)counts.broken,
           (unsigned long)counts.none, (unsigned long)counts.waiting, (unsigned long)counts.limits,
           (unsigned long)counts.deaths, (unsigned long)counts.crashes,
           (unsigned long)counts.slowest_us / 1000, (unsigned long)counts.memory_early / 1024,
           SETTLING, (unsigned long)counts.memory_late / 1024);
    for (size_t i = 0; i < seed_count; i++) {
        free(seeds[i].path);
        free(seeds[i].type);
        free((void *)(uintptr_t)seeds[i].bytes.at);
    }
    registry_free(registry);
    fork_server_close(fork_server);
    if (counts.crashes > 0) {
        return 1;
    }
    if (settings.workers && grown > GROWTH_MOST) {
        printf("the worker's memory grew by %ld KiB\n", (long)grown / 1024);
        return 1;
    }
    return 0;
}
