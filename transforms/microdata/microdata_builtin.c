/* Microdata as a transform of the registry. */
#include "transforms/core/builtins.h"
#include "transforms/microdata/microdata.h"

enum status
builtin_microdata(struct transformation *transformation, struct reason *why)
{
    TRY(transformation_html(transformation, why));
    if (!(transformation_html_features(transformation) & HTML_HAS_MICRODATA)) {
        return STATUS_OK;
    }
    struct quad_sink sink;
    struct links *links = &transformation->extractor.links;
    struct emitter emitter = transformation_emitter(transformation, &sink, why);
    const struct microdata_options options = {.lines = transformation->request->explain,
                                              .problems = transformation_problems(transformation),
                                              .advice = transformation_advices(transformation)};
    links_begin(links, transformation->request->uri);
    html_rebase(&transformation->tree, links);
    return microdata_extract(&transformation->tree, links, &options, &emitter);
}
