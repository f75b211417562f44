/* The fields of an HTML form (application/x-www-form-urlencoded). */
#ifndef WEB_HTTP_FORM_H
#define WEB_HTTP_FORM_H

#include "base/slice.h"
#include "base/status.h"

enum { WEB_FIELDS_MAXIMUM = 1024 };

struct web_field {
    const char *name, *value; /* decoded; a NUL in them is left out */
};

struct web_form {
    struct web_field *fields; /* in the order of the body, without empty ones */
    size_t count;
    char *bytes; /* private */
};

/* LIMIT: there are more than WEB_FIELDS_MAXIMUM fields, and the form is empty. */
enum status web_form_read(struct web_form *form, struct slice body, struct reason *why);
void web_form_release(struct web_form *form);

#endif
