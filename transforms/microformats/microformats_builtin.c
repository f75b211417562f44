/* Microformats and XFN as a transform of the registry. */
#include "transforms/core/builtins.h"
#include "transforms/microformats/microformats.h"

enum status
builtin_microformats(struct transformation *transformation, struct reason *why)
{
    TRY(transformation_html(transformation, why));
    const unsigned features = transformation_html_features(transformation);
    if (!(features & (HTML_HAS_MICROFORMATS | HTML_HAS_XFN))) {
        return STATUS_OK;
    }
    struct quad_sink sink;
    struct microformats found;
    struct links *links = &transformation->extractor.links;
    struct emitter emitter = transformation_emitter(transformation, &sink, why);
    const struct microformats_options options = {.lines = transformation->request->explain,
                                                 .problems =
                                                     transformation_problems(transformation),
                                                 .advice = transformation_advices(transformation)};
    links_begin(links, transformation->request->uri);
    html_rebase(&transformation->tree, links);
    TRY(microformats_parse(&transformation->tree, transformation->request->uri,
                           (features & HTML_HAS_XFN) != 0, &found, why));
    return microformats_emit(&transformation->tree, &found, links, &options, &emitter);
}
