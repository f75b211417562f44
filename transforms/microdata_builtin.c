/* Microdata as a transform of the registry. */
#include "transforms/builtins.h"
#include "transforms/microdata.h"

enum status
builtin_microdata(struct material *material, struct reason *why)
{
    TRY(material_html(material, why));
    if (!(material_html_features(material) & HTML_HAS_MICRODATA)) {
        return STATUS_OK;
    }
    struct quad_sink sink;
    struct links *links = &material->extractor.links;
    struct emitter emitter = material_emitter(material, &sink, why);
    const struct microdata_options options = {.lines = material->request->explain,
                                              .problems = material_problems(material),
                                              .advice = material_advices(material)};
    links_begin(links, material->request->uri);
    html_rebase(&material->tree, links);
    return microdata_extract(&material->tree, links, &options, &emitter);
}
