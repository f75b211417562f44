#include "index/protocol/service_protocol.h"

void
index_put_term(struct buf *out, const struct term *term)
{
    codec_put_u8(out, (uint8_t)term->kind);
    if (term->kind != TERM_NONE) {
        codec_put_slice(out, term->value);
    }
    if (term->kind == TERM_LITERAL) {
        codec_put_slice(out, term->datatype);
        codec_put_slice(out, term->language);
    }
}

bool
index_get_term(struct codec_reader *in, struct term *term)
{
    *term = (struct term){.kind = (enum term_kind)codec_get_u8(in)};
    if (term->kind > TERM_LITERAL) {
        return false;
    }
    if (term->kind != TERM_NONE) {
        term->value = codec_get_slice(in);
    }
    if (term->kind == TERM_LITERAL) {
        term->datatype = codec_get_slice(in);
        term->language = codec_get_slice(in);
    }
    return !in->bad;
}

void
index_put_pattern(struct buf *out, const struct quad *pattern)
{
    index_put_term(out, &pattern->subject);
    index_put_term(out, &pattern->predicate);
    index_put_term(out, &pattern->object);
    index_put_term(out, &pattern->graph);
}

bool
index_get_pattern(struct codec_reader *in, struct quad *pattern)
{
    return index_get_term(in, &pattern->subject) && index_get_term(in, &pattern->predicate) &&
           index_get_term(in, &pattern->object) && index_get_term(in, &pattern->graph);
}
