#include "web/http/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/memory.h"

/* Writes the decoded text and a NUL, at most text.length + 1 bytes; returns the end. */
static char *
decode(struct slice text, char *out)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%' && i + 2 < text.length && ascii_hex_value(text.at[i + 1]) >= 0 &&
                   ascii_hex_value(text.at[i + 2]) >= 0) {
            c = (char)(ascii_hex_value(text.at[i + 1]) * 16 + ascii_hex_value(text.at[i + 2]));
            i += 2;
        }
        if (c != '\0') {
            *out++ = c;
        }
    }
    *out++ = '\0';
    return out;
}

/* The next field that is not empty, and *body is what follows it; false at the end. */
static bool
next_field(struct slice *body, struct slice *field)
{
    while (body->length > 0) {
        const size_t end = slice_find(*body, '&');
        const size_t step = end < body->length ? end + 1 : end;
        *field = slice_of(body->at, end);
        *body = slice_of(body->at + step, body->length - step);
        if (field->length > 0) {
            return true;
        }
    }
    return false;
}

enum status
web_form_read(struct web_form *form, struct slice body, struct reason *why)
{
    struct slice rest = body, field;
    size_t count = 0;
    *form = (struct web_form){0};
    while (next_field(&rest, &field)) {
        count++;
    }
    if (count > WEB_FIELDS_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "The form has more than %d fields.",
                           WEB_FIELDS_MAXIMUM);
    }
    /* A name and a value end in a NUL each: one has the place of the "=" or else one of its own,
     * the other that of the "&", and the last field's is one more. */
    form->bytes = memory_alloc(body.length + count + 1);
    form->fields = memory_zero(count + 1, sizeof *form->fields);
    char *out = form->bytes;
    for (rest = body; next_field(&rest, &field);) {
        const size_t sign = slice_find(field, '=');
        const size_t value = sign < field.length ? sign + 1 : sign;
        struct web_field *next = &form->fields[form->count++];
        next->name = out;
        out = decode(slice_of(field.at, sign), out);
        next->value = out;
        out = decode(slice_of(field.at + value, field.length - value), out);
    }
    return STATUS_OK;
}

void
web_form_release(struct web_form *form)
{
    free(form->fields);
    free(form->bytes);
    *form = (struct web_form){0};
}
