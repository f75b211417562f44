/* Microformats and XFN as a transform of the registry. */
#include "transforms/builtins.h"
#include "transforms/microformats.h"

enum status
builtin_microformats(struct material *material, struct reason *why)
{
    TRY(material_html(material, why));
    const unsigned features = material_html_features(material);
    if (!(features & (HTML_HAS_MICROFORMATS | HTML_HAS_XFN))) {
        return STATUS_OK;
    }
    struct quad_sink sink;
    struct microformats found;
    struct links *links = &material->extractor.links;
    struct emitter emitter = material_emitter(material, &sink, why);
    const struct microformats_options options = {.lines = material->request->explain,
                                                 .problems = material_problems(material),
                                                 .advice = material_advices(material)};
    links_begin(links, material->request->uri);
    html_rebase(&material->tree, links);
    TRY(microformats_parse(&material->tree, material->request->uri, (features & HTML_HAS_XFN) != 0,
                           &found, why));
    return microformats_emit(&material->tree, &found, links, &options, &emitter);
}
