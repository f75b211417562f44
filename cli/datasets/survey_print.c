#include "cli/datasets/survey_print.h"

#include <stdio.h>

#include "datasets/dataset_plan.h"

/* ---- what is printed of descriptions ---- */

static const char *
vocabulary_name(enum description_vocabulary vocabulary)
{
    static const char *const names[] = {"Semantic Sitemap", "VoID", "DCAT", "schema.org"};
    return names[vocabulary];
}

static void
print_size(uint64_t bytes)
{
    static const char units[] = "kMGTP";
    double size = (double)bytes;
    int unit = -1;
    while (size >= 1000 && unit < 4) {
        size /= 1000;
        unit++;
    }
    printf(unit < 0 ? "%.0f bytes" : "%.1f %cB", size, unit < 0 ? 'B' : units[unit]);
}

static void
print_refused(const struct dataset *dataset)
{
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        if (access->refused.length > 0) {
            printf("  refused: %s %.*s: %.*s\n", access_kind_name(access->kind),
                   SLICE_PRINT(access->uri), SLICE_PRINT(access->refused));
        }
    }
}

static unsigned
print_notes(const struct description *description)
{
    unsigned errors = 0;
    for (size_t i = 0; i < description->note_count; i++) {
        const struct description_note *note = &description->notes[i];
        errors += note->kind == NOTE_ERROR ? 1 : 0;
        printf("%.*s:%u: %s: %.*s\n", SLICE_PRINT(description->uri), note->line,
               note->kind == NOTE_ERROR ? "error" : "quirk", SLICE_PRINT(note->text));
    }
    return errors;
}

/* ---- plan ---- */

static void
print_way(const struct dataset_plan *plan, enum plan_way way)
{
    const struct way_cost *cost = &plan->costs[way];
    if (!cost->possible) {
        printf("    %-12s - %.*s\n", plan_way_name(way), SLICE_PRINT(cost->why));
        return;
    }
    printf("  %s %-12s %llu request%s, ", way == plan->way ? "*" : " ", plan_way_name(way),
           (unsigned long long)cost->requests, cost->requests == 1 ? "" : "s");
    if (cost->bytes > 0) {
        printf(cost->bytes_known ? "" : "about ");
        print_size(cost->bytes);
    } else {
        printf("size unknown");
    }
    printf("%s%.*s\n", cost->why.length > 0 ? "; " : "", SLICE_PRINT(cost->why));
}

static void
print_plan(const struct dataset_plan *plan, const struct description *description)
{
    const struct dataset *dataset = plan->dataset;
    printf("dataset %.*s%s<%.*s>, %s in %.*s line %u\n", SLICE_PRINT(dataset->label),
           dataset->label.length > 0 ? " " : "", SLICE_PRINT(dataset->uri),
           vocabulary_name(dataset->vocabulary), SLICE_PRINT(description->uri), dataset->line);
    for (enum plan_way way = 0; way < WAY_COUNT; way++) {
        print_way(plan, way);
    }
    printf("  %s: %.*s\n", plan_way_name(plan->way), SLICE_PRINT(plan->why));
    const struct way_cost *links = &plan->costs[WAY_LINKED_DATA];
    if (plan->way < WAY_LINKED_DATA && links->possible &&
        links->requests > plan->costs[plan->way].requests) {
        printf("  saves %llu requests: %llu to one\n",
               (unsigned long long)(links->requests - plan->costs[plan->way].requests),
               (unsigned long long)(links->requests / plan->costs[plan->way].requests));
    }
    print_refused(dataset);
}

static void
print_json_string(struct buf *text, const char *name, struct slice value)
{
    buf_printf(text, "\"%s\":\"", name);
    buf_append_json(text, value);
    buf_append_string(text, "\"");
}

static void
append_json_plan(struct buf *text, const struct dataset_plan *plan,
                 const struct description *description)
{
    buf_append_string(text, "{");
    print_json_string(text, "dataset", plan->dataset->uri);
    buf_append_string(text, ",");
    print_json_string(text, "label", plan->dataset->label);
    buf_append_string(text, ",");
    print_json_string(text, "description", description->uri);
    buf_printf(text, ",\"line\":%u,\"way\":\"%s\",", plan->dataset->line, plan_way_name(plan->way));
    print_json_string(text, "why", plan->why);
    buf_append_string(text, ",\"ways\":{");
    for (enum plan_way way = 0; way < WAY_COUNT; way++) {
        const struct way_cost *cost = &plan->costs[way];
        buf_printf(text, "%s\"%s\":{\"possible\":%s,\"requests\":%llu,\"bytes\":%llu,",
                   way > 0 ? "," : "", plan_way_name(way), cost->possible ? "true" : "false",
                   (unsigned long long)cost->requests, (unsigned long long)cost->bytes);
        print_json_string(text, "why", cost->why);
        buf_append_string(text, "}");
    }
    buf_append_string(text, "},\"refused\":[");
    bool first = true;
    for (size_t i = 0; i < plan->dataset->access_count; i++) {
        const struct dataset_access *access = &plan->dataset->accesses[i];
        if (access->refused.length > 0) {
            buf_append_string(text, first ? "{" : ",{");
            print_json_string(text, "uri", access->uri);
            buf_append_string(text, ",");
            print_json_string(text, "why", access->refused);
            buf_append_string(text, "}");
            first = false;
        }
    }
    buf_append_string(text, "]}\n");
}

enum status
survey_print_plans(struct survey *survey, struct web_client *client, struct slice key,
                   const struct survey_printing *printing, struct reason *why)
{
    struct plan_assumptions assumptions;
    struct buf text;
    uint64_t requests, bytes;
    size_t datasets = 0;
    TRY(survey_host(survey, client, key, why));
    survey_finish(survey, client);
    plan_assumptions_default(&assumptions);
    plan_prefer(&assumptions, printing->prefer != NULL ? printing->prefer : "");
    for (size_t i = 0; i < survey->claims.count; i++) {
        const struct description *description = survey->claims.descriptions[i];
        for (size_t k = 0; k < description->dataset_count; k++, datasets++) {
            struct dataset_plan plan;
            plan_dataset(&description->datasets[k], &assumptions, &survey->arena, &plan);
            if (printing->json) {
                buf_init(&text, SIZE_MAX / 2);
                append_json_plan(&text, &plan, description);
                fwrite(text.data, 1, text.length, stdout);
                buf_release(&text);
            } else {
                print_plan(&plan, description);
            }
        }
    }
    web_client_counted(client, &requests, &bytes);
    if (datasets == 0) {
        fprintf(printing->json ? stderr : stdout,
                "nothing to plan: neither robots.txt, sitemaps nor /.well-known/void of %.*s "
                "describe a dataset\n",
                SLICE_PRINT(survey->origin));
    }
    if (!printing->json) {
        printf("%.*s: %zu dataset%s; asked in %llu requests, ", SLICE_PRINT(survey->origin),
               datasets, datasets == 1 ? "" : "s", (unsigned long long)requests);
        print_size(bytes);
        printf("\n");
    }
    return STATUS_OK;
}

/* ---- faults of sitemaps ---- */

static unsigned
print_sitemap(const struct surveyed_sitemap *sitemap)
{
    if (sitemap->problem.length > 0) {
        printf("%.*s\n", SLICE_PRINT(sitemap->problem));
        return 1;
    }
    printf("%.*s: %s, %u entries, %zu datasets\n", SLICE_PRINT(sitemap->uri),
           sitemap_kind_name(sitemap->kind), sitemap->entries,
           sitemap->description != NULL ? sitemap->description->dataset_count : 0);
    unsigned errors = 0;
    if (sitemap->limited) {
        printf(
            "%.*s: error: more than %d entries or %d MB: the rest is not read; split it and name "
            "the parts in a sitemap index\n",
            SLICE_PRINT(sitemap->uri), SITEMAP_ENTRIES_MAXIMUM, SITEMAP_BYTES_MAXIMUM >> 20);
        errors++;
    }
    if (sitemap->incomplete) {
        printf("%.*s: error: damaged or cut off; what could be read was\n",
               SLICE_PRINT(sitemap->uri));
        errors++;
    }
    if (sitemap->foreign > 0) {
        printf("%.*s: error: %u entries are of other hosts and not followed; name the sitemap in "
               "their robots.txt\n",
               SLICE_PRINT(sitemap->uri), sitemap->foreign);
        errors++;
    }
    return errors;
}

static unsigned
print_dataset(const struct dataset *dataset)
{
    unsigned errors = 0;
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct access_facts *facts = &dataset->accesses[i].facts;
        const bool endpoint = dataset->accesses[i].kind == ACCESS_SPARQL; /* others may ask it */
        errors += dataset->accesses[i].refused.length > 0 && !endpoint ? 1 : 0;
        if (facts->asked && !facts->answered) {
            printf("  unreachable: %.*s: %.*s\n", SLICE_PRINT(dataset->accesses[i].uri),
                   SLICE_PRINT(facts->problem));
            errors++;
        }
    }
    print_refused(dataset);
    return errors;
}

enum status
survey_print_faults(struct survey *survey, struct web_client *client, struct slice key,
                    const struct survey_printing *printing, struct reason *why)
{
    unsigned errors = 0;
    (void)printing;
    TRY(survey_sitemap(survey, client, key, why));
    survey_finish(survey, client);
    for (size_t i = 0; i < survey->count; i++) {
        const struct surveyed_sitemap *sitemap = &survey->sitemaps[i];
        errors += print_sitemap(sitemap);
        if (sitemap->description == NULL) {
            continue;
        }
        errors += print_notes(sitemap->description);
        for (size_t k = 0; k < sitemap->description->dataset_count; k++) {
            errors += print_dataset(&sitemap->description->datasets[k]);
        }
    }
    return errors == 0 ? STATUS_OK
                       : status_fail(why, STATUS_BAD_INPUT, "%u thing%s to mend", errors,
                                     errors == 1 ? "" : "s");
}
