#include "cli/validation/site_terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url/url.h"

enum { SCAN_MS = 60000 };

/* The pages are noted first: the graphs are read when the scan is over. */
struct site_pages {
    struct term_survey *survey;
    struct slice *uris; /* SURVEY_PAGES */
    size_t count;
};

static bool
note_page(void *context, struct slice key, struct slice record)
{
    struct site_pages *pages = context;
    struct slice state;
    if (key.length < 2 || !meta_record_text(record, META_STATE, &state) ||
        !slice_is(state, "indexed")) {
        return true;
    }
    if (pages->count == SURVEY_PAGES) {
        pages->survey->cut = true;
        return false;
    }
    pages->uris[pages->count++] =
        arena_copy(&pages->survey->arena, slice_of(key.at + 1, key.length - 1));
    return true;
}

enum status
term_survey_prefixes(struct term_survey *survey, const char *const *prefixes, size_t count,
                     struct reason *why)
{
    struct site_pages pages = {.survey = survey,
                               .uris = memory_zero(SURVEY_PAGES, sizeof(struct slice))};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct slice key = arena_printf(&survey->arena, "u%s", prefixes[i]);
        status = metastore_scan(survey->reader.metastore, key, slice_of(NULL, 0), UINT32_MAX,
                                note_page, &pages, SCAN_MS, why);
    }
    for (size_t i = 0; i < pages.count && status == STATUS_OK; i++) {
        status = term_survey_document(survey, pages.uris[i], 0, why);
    }
    free(pages.uris);
    return status;
}

enum status
term_survey_site(struct term_survey *survey, const char *site, struct reason *why)
{
    const char *prefixes[2];
    static const char *const schemes[] = {"http://", "https://"};
    struct buf key;
    enum status status = STATUS_OK;
    buf_init(&key, 2 * URL_MAXIMUM);
    for (size_t i = 0; i < 2 && status == STATUS_OK; i++) {
        const struct slice text = arena_printf(&survey->arena, "%s%s", schemes[i], site);
        buf_reset(&key);
        status = url_crawl_key(text, slice_of(NULL, 0), &key, why);
        prefixes[i] = arena_copy(&survey->arena, buf_slice(&key)).at;
    }
    buf_release(&key);
    if (status == STATUS_OK) {
        status = term_survey_prefixes(survey, prefixes, 2, why);
    }
    if (status == STATUS_OK && survey->documents == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "nothing is indexed of %.200s", site);
    }
    return status;
}
