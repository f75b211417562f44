/* Writes media types as text. */
#ifndef TESTS_SUPPORT_MEDIA_TYPE_TEXT_H
#define TESTS_SUPPORT_MEDIA_TYPE_TEXT_H

#include "base/buf.h"
#include "detection/media_type.h"

/* Appends the standard's serialisation. */
void media_type_serialize(const struct media_type *type, struct buf *out);

#endif
