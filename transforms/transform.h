/* One document's bytes to its canonical graph. docs/TRANSFORMS.md says what comes out.
 *
 * A transformer is prepared once (registry read, stylesheets compiled, converters loaded) and
 * then used for one document after another; it opens no file and no connection afterwards, so
 * that it can run inside a sandbox. One thread.
 */
#ifndef TRANSFORMS_TRANSFORM_H
#define TRANSFORMS_TRANSFORM_H

#include "base/buf.h"
#include "base/options/opt.h"
#include "transforms/core/registry.h"
#include "transforms/core/transform_request.h"

/* transform.*: limits and files that the prepared transformer needs. */
extern const struct opt transforms_options[];
/* Bytes that follow from transform.input: of N-Quads that one document may become, and of other
 * documents (JSON-LD contexts, stylesheets) that it may be transformed with. */
size_t transform_output_maximum(const struct opt_set *options);
size_t transform_resources_maximum(const struct opt_set *options);

struct transformer;

/* registry stays the caller's and must outlive the transformer. */
enum status transformer_new(struct transformer **transformer, struct registry *registry,
                            const struct transform_limits *limits, struct reason *why);
void transformer_free(struct transformer *transformer);

/* The transforms that the registry has for the document. memory: buf_init'ed, for looking at XML.
 */
size_t transform_chain(struct registry *registry, const struct transform_request *request,
                       struct buf *memory, struct transform *chain[REGISTRY_CHAIN]);

/* The result is deterministic for the same request. Statuses other than OK are not about the
 * content but about limits (LIMIT) or the machine. */
enum status transform_run(struct transformer *transformer, const struct transform_request *request,
                          struct transform_result *result, struct reason *why);

#endif
