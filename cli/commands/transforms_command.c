/* quadrille transforms: which there are, and whether their examples still hold. */
#include <string.h>
#include <unistd.h>

#include "base/system/file.h"
#include "cli/shared/offline_transform.h"
#include "cli/shared/quad_diff.h"
#include "config/config.h"

enum { PATH_BYTES = 4096, EXAMPLE_MAXIMUM = 16 << 20 };

/* ---- list ---- */

static bool
is_wanted(const char *name, char **names, int n)
{
    bool wanted = n == 0;
    for (int i = 0; i < n; i++) {
        wanted = wanted || strcmp(names[i], name) == 0;
    }
    return wanted;
}

static void
list(struct registry *registry, char **names, int n)
{
    struct buf matches;
    buf_init(&matches, 64 << 10);
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct transform *transform = registry_transform(registry, i);
        if (!is_wanted(transform->name, names, n)) {
            continue;
        }
        buf_reset(&matches);
        registry_matches_text(registry, transform, &matches);
        printf("%s\t%s\t%s\t%s\t%s%s\t%s\n", transform->name, transform->version,
               transform->off ? "off" : "on", transform_kind_name(transform->kind),
               transform->argument, transform->tidy ? " repair=tidy" : "",
               matches.length > 0 ? matches.data : "no type");
    }
    buf_release(&matches);
}

/* ---- test ---- */

struct example {
    struct buf type, input, expected, link;
};

static bool
read_file(const char *folder, const char *name, struct buf *bytes)
{
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    buf_reset(bytes);
    return file_read(path, bytes, NULL) == STATUS_OK;
}

/* An example in DIR goes before the one beside the transform's registry, and that before the one
 * that comes with the program. */
static bool
read_example(const struct registry *registry, const struct transform *transform,
             const char *directory, struct example *example)
{
    const char *const places[] = {directory ? directory : "", transform->folder,
                                  registry_folder(registry)};
    char folder[PATH_BYTES] = "";
    for (size_t i = 0; i < 3 && (i == 0 || access(folder, R_OK) != 0); i++) {
        snprintf(folder, sizeof folder, "%s%s/examples/%s", places[i], i == 0 ? "/transforms" : "",
                 transform->name);
    }
    (void)read_file(folder, "link", &example->link);
    return read_file(folder, "type", &example->type) &&
           read_file(folder, "input", &example->input) &&
           read_file(folder, "expected.nq", &example->expected);
}

/* True: as expected. */
static bool
run_example(struct offline_transform *hand, const char *name, const struct example *example)
{
    char uri[REGISTRY_NAME + 64];
    struct document_outcome outcome;
    struct reason why;
    bool died;
    snprintf(uri, sizeof uri, "http://example.org/examples/%s", name);
    const struct transform_request request = {.uri = slice_string(uri),
                                              .type = slice_trim(buf_slice(&example->type)),
                                              .link_header = slice_trim(buf_slice(&example->link)),
                                              .bytes = buf_slice(&example->input)};
    if (offline_transform_run(hand, &request, &outcome, &died, &why) != STATUS_OK) {
        printf("FAIL\t%s\t%s\n", name, why.text);
        return false;
    }
    const struct quad_diff diff =
        quad_diff_print(stdout, NULL, buf_slice(&example->expected), outcome.graph);
    if (diff.removed + diff.added > 0) {
        printf("FAIL\t%s\t%llu quads are missing, %llu were not expected\n", name,
               (unsigned long long)diff.removed, (unsigned long long)diff.added);
        return false;
    }
    printf("pass\t%s\t%llu quads\n", name, (unsigned long long)outcome.quads);
    return true;
}

static enum status
test(struct offline_transform *hand, struct registry *registry, const char *directory, char **names,
     int n, struct reason *why)
{
    struct example example;
    unsigned passed = 0, failed = 0;
    buf_init(&example.type, 4096);
    buf_init(&example.link, 1 << 16);
    buf_init(&example.input, EXAMPLE_MAXIMUM);
    buf_init(&example.expected, EXAMPLE_MAXIMUM);
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct transform *transform = registry_transform(registry, i);
        if (transform->off || !is_wanted(transform->name, names, n)) {
            continue;
        }
        bool good = read_example(registry, transform, directory, &example);
        if (good) {
            good = run_example(hand, transform->name, &example);
        } else {
            printf("FAIL\t%s\tit has no example (type, input, expected.nq)\n", transform->name);
        }
        passed += good;
        failed += !good;
    }
    buf_release(&example.type);
    buf_release(&example.link);
    buf_release(&example.input);
    buf_release(&example.expected);
    return failed == 0
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "%u of %u examples fail", failed, passed + failed);
}

/* ---- the command ---- */

static enum status
check_names(struct registry *registry, char **names, int n, struct reason *why)
{
    for (int i = 0; i < n; i++) {
        if (!registry_find(registry, slice_string(names[i]))) {
            return status_fail(why, STATUS_MISUSE, "the registry has no transform %.200s",
                               names[i]);
        }
    }
    return STATUS_OK;
}

static enum status
run(const struct opt_set *options, const char *directory, const char *verb, char **names, int n,
    struct reason *why)
{
    struct registry *registry = NULL;
    struct offline_transform *hand = NULL;
    const struct offline_settings settings = {.options = options, .directory = directory};
    enum status status = document_registry_open(&registry, options, directory, why);
    if (status == STATUS_OK) {
        status = check_names(registry, names, n, why);
    }
    if (status == STATUS_OK && strcmp(verb, "list") == 0) {
        list(registry, names, n);
    } else if (status == STATUS_OK && strcmp(verb, "test") == 0) {
        status = offline_transform_open(&hand, &settings, why);
        if (status == STATUS_OK) {
            status = test(hand, registry, directory, names, n, why);
        }
    } else if (status == STATUS_OK) {
        status = status_fail(why, STATUS_MISUSE, "say list or test, not %.200s", verb);
    }
    offline_transform_close(hand);
    registry_free(registry);
    return status;
}

int
command_transforms(int argc, char **argv)
{
    struct cli_common common = {0};
    const struct flag flags[] = {CLI_COMMON_FLAGS(common), {0}};
    const struct program program = {
        .name = "quadrille transforms",
        .synopsis = "[OPTION]... [list | test] [NAME]...",
        .summary = "list the transforms of the registry, or test them with their examples",
        .description =
            "list prints each transform's name, version, on or off, kind, argument and the types "
            "that it is matched for, separated by tabs. test runs the example of each in the "
            "workers' "
            "sandbox and prints quads that are missing (-) or not expected (+); it ends with 100 "
            "when one fails. With --dir the transforms of DIR/transforms/registry are among them, "
            "with their examples in DIR/transforms/examples/NAME, and those of another registry "
            "(transform.registry) with theirs in examples/NAME beside it: the files type, input, "
            "expected.nq and perhaps link (Link headers). The document's URI is "
            "http://example.org/examples/NAME.",
        .examples = "quadrille transforms list\n"
                    "quadrille transforms test html jsonld\n"
                    "quadrille transforms test --dir DIR",
        .flags = flags,
    };
    struct reason why = {""};
    struct opt_set *options = NULL;
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && common.directory != NULL) {
        status = cli_check_directory(common.directory, &why);
    }
    if (status == STATUS_OK) {
        status = config_load(common.directory, &common.assignments, &options, &why);
    }
    if (status == STATUS_OK) {
        config_open_log(options, "quadrille");
        status = run(options, common.directory, n > 0 ? operands[0] : "list",
                     n > 0 ? operands + 1 : operands, n > 0 ? n - 1 : 0, &why);
    }
    opt_set_free(options);
    return cli_end(&program, status, &why);
}
