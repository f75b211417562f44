/* The steps of RDFa processing at one element; for transforms/rdfa/rdfa.c alone. */
#ifndef TRANSFORMS_RDFA_RDFA_STEPS_H
#define TRANSFORMS_RDFA_RDFA_STEPS_H

#include "transforms/rdfa/rdfa_processor.h"

/* Emits what the element says and fills *inner, which comes as a copy of *outer, for what stands
 * inside it. false: what stands inside is not to be read (it is a literal of RDFa 1.0). */
bool rdfa_process(struct rdfa *rdfa, const struct rdfa_context *outer,
                  const struct rdfa_element *element, bool is_root, bool is_head_or_body,
                  struct rdfa_context *inner);

#endif
