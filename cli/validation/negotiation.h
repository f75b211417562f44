/* Asks a server for the forms of a document, one type after the other. One thread.
 * RFC 9110, 12.5.1 (Accept), 15.5.7 (406). */
#ifndef CLI_VALIDATION_NEGOTIATION_H
#define CLI_VALIDATION_NEGOTIATION_H

#include "cli/shared/offline_transform.h"
#include "cli/shared/web_client.h"
#include "cli/validation/term_facts.h"

enum { NEGOTIATIONS_MOST = 16 /* documents that one validation asks for */ };

/* Fills NEGOTIATED_FORMS forms; their slices live in the arena. What a server answers, or that it
 * does not, is a finding and no failure; robots.txt and the rules of addresses hold, and the host
 * rests between two requests. */
enum status negotiate(struct web_client *client, const struct offline_settings *settings,
                      struct slice address, struct arena *arena, struct negotiated_form *forms,
                      struct reason *why);

#endif
