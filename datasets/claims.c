#include "datasets/claims.h"

#include <string.h>

#include "base/url/url.h"

static const struct description *
find(const struct claims *claims, struct slice uri)
{
    for (size_t i = 0; i < claims->count; i++) {
        if (slice_equal(claims->descriptions[i]->uri, uri)) {
            return claims->descriptions[i];
        }
    }
    return NULL;
}

static bool
names(const struct slice *uris, size_t count, struct slice uri)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(uris[i], uri)) {
            return true;
        }
    }
    return false;
}

/* The sitemap in the deepest folder that the URI is in. */
static const struct description *
claims_owner(const struct claims *claims, struct slice uri)
{
    const struct description *owner = NULL;
    for (size_t i = 0; i < claims->count; i++) {
        const struct description *one = claims->descriptions[i];
        if (!one->rdf && slice_starts(uri, one->space) &&
            (owner == NULL || one->space.length > owner->space.length)) {
            owner = one;
        }
    }
    return owner;
}

/* Each names the other, in opposite roles. */
static bool
are_joined(const struct description *parent, const struct description *sub)
{
    return names(parent->sub_sitemaps, parent->sub_count, sub->uri) &&
           names(sub->parent_sitemaps, sub->parent_count, parent->uri);
}

bool
claims_own(const struct claims *claims, const struct description *description, struct slice uri)
{
    const struct description *owner = claims_owner(claims, uri);
    if (description->rdf) {
        return slice_starts(uri, description->space) &&
               (owner == NULL || owner->space.length <= description->space.length);
    }
    if (owner == NULL) {
        return false;
    }
    /* Several files in one folder have one author. */
    if (slice_equal(owner->space, description->space)) {
        return true;
    }
    for (size_t i = 0; i < claims->count; i++) {
        const struct description *one = claims->descriptions[i];
        if (slice_equal(one->space, owner->space) && are_joined(description, one)) {
            return true;
        }
    }
    return false;
}

/* Why a URI is not the description's: somebody else's folder, or a link that is not answered. */
static struct slice
reason_of(const struct claims *claims, const struct description *description, struct slice uri)
{
    const struct description *owner = claims_owner(claims, uri);
    for (size_t i = 0; i < description->sub_count; i++) {
        const struct slice sub = description->sub_sitemaps[i];
        if (!slice_starts(uri, description_folder(sub))) {
            continue;
        }
        const struct description *other = find(claims, sub);
        return arena_printf(claims->arena,
                            other == NULL ? "the sub-sitemap %.*s could not be read"
                                          : "the sub-sitemap %.*s does not name this one as its "
                                            "parent",
                            SLICE_PRINT(sub));
    }
    if (owner != NULL && slice_starts(owner->space, description->space)) {
        return arena_printf(claims->arena, "its folder is delegated to %.*s",
                            SLICE_PRINT(owner->uri));
    }
    return arena_printf(claims->arena, "it is outside of %.*s, this %s's URI space",
                        SLICE_PRINT(description->space),
                        description->rdf ? "description" : "sitemap");
}

static void
judge_access(const struct claims *claims, const struct description *description,
             struct dataset_access *access)
{
    access->refused = (struct slice){0};
    if (access->kind == ACCESS_LINKED_DATA && !claims_own(claims, description, access->uri)) {
        access->refused = reason_of(claims, description, access->uri);
    }
}

void
claims_judge(const struct claims *claims)
{
    for (size_t i = 0; i < claims->count; i++) {
        struct description *description = claims->descriptions[i];
        for (size_t k = 0; k < description->dataset_count; k++) {
            struct dataset *dataset = &description->datasets[k];
            for (size_t n = 0; n < dataset->access_count; n++) {
                judge_access(claims, description, &dataset->accesses[n]);
            }
        }
        if (description->authority.length > 0 &&
            !claims_own(claims, description, description->authority)) {
            description_note(
                description, claims->arena, NOTE_ERROR, 0,
                "the authority %.*s is refused: it must lie in the sitemap's URI space",
                SLICE_PRINT(description->authority));
            description->authority = (struct slice){0};
        }
    }
}

/* A query costs its publisher more than a file does: it is asked of nobody else. */
void
claims_judge_endpoints(const struct claims *claims, const struct description *description,
                       struct dataset *dataset)
{
    const struct slice own = url_registrable_domain(url_host(description->uri));
    bool prefixed = false;
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        prefixed |= access->kind == ACCESS_LINKED_DATA && access->refused.length == 0;
    }
    for (size_t i = 0; i < dataset->access_count; i++) {
        struct dataset_access *access = &dataset->accesses[i];
        if (access->kind != ACCESS_SPARQL) {
            continue;
        }
        if (!prefixed) {
            access->refused = SLICE("no prefix says what it holds");
        } else if (!slice_equal(url_registrable_domain(url_host(access->uri)), own) &&
                   !claims_own(claims, description, access->uri)) {
            access->refused = SLICE("it is somebody else's, and no sitemap of theirs joins");
        }
    }
}

size_t
claims_missing(const struct claims *claims, struct slice **missing)
{
    size_t count = 0;
    *missing = NULL;
    for (size_t i = 0; i < claims->count; i++) {
        const struct description *one = claims->descriptions[i];
        for (size_t k = 0; k < one->sub_count + one->parent_count; k++) {
            const struct slice uri = k < one->sub_count ? one->sub_sitemaps[k]
                                                        : one->parent_sitemaps[k - one->sub_count];
            if (find(claims, uri) == NULL && !names(*missing, count, uri)) {
                struct slice *item = description_add_sitemap(missing, &count, claims->arena);
                if (item == NULL) {
                    return count;
                }
                *item = uri;
            }
        }
    }
    return count;
}
