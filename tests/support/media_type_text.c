#include "tests/support/media_type_text.h"

#include <string.h>

static const char token_characters[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static bool
all_token(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (memchr(token_characters, text.at[i], sizeof token_characters - 1) == NULL) {
            return false;
        }
    }
    return text.length > 0;
}

void
media_type_serialize(const struct media_type *type, struct buf *out)
{
    buf_append_slice(out, type->essence);
    for (size_t i = 0; i < type->parameter_count; i++) {
        const struct slice value = type->parameters[i].value;
        buf_append_char(out, ';');
        buf_append_slice(out, type->parameters[i].name);
        buf_append_char(out, '=');
        if (all_token(value)) {
            buf_append_slice(out, value);
            continue;
        }
        buf_append_char(out, '"');
        for (size_t n = 0; n < value.length; n++) {
            if (value.at[n] == '"' || value.at[n] == '\\') {
                buf_append_char(out, '\\');
            }
            buf_append_char(out, value.at[n]);
        }
        buf_append_char(out, '"');
    }
}
