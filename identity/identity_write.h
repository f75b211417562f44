/* A cluster with its reasons, for people and for programs: docs/IDENTITY.md shows both. */
#ifndef IDENTITY_IDENTITY_WRITE_H
#define IDENTITY_IDENTITY_WRITE_H

#include "base/buf.h"
#include "identity/identity.h"

enum identity_format { IDENTITY_TEXT, IDENTITY_JSON };

/* Appends it, with a newline at its end. LIMIT when out is full. */
enum status identity_write(struct identity *identity, const struct identity_cluster *cluster,
                           enum identity_format format, struct buf *out, struct reason *why);

#endif
