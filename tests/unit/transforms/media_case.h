/* Media files made byte by byte, and what the transforms say of them. */
#ifndef TESTS_UNIT_TRANSFORMS_MEDIA_CASE_H
#define TESTS_UNIT_TRANSFORMS_MEDIA_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "transforms/transform.h"

static struct registry *registry;
static struct transformer *transformer;
static struct transform_result result;
static struct buf file;

static inline int
open_transformer(void **state)
{
    (void)state;
    struct reason why;
    const struct transform_limits limits = {.memory = 64 << 20, .output = 16 << 20};
    registry = registry_new();
    assert_int_equal(registry_read_default(registry, &why), STATUS_OK);
    assert_int_equal(transformer_new(&transformer, registry, &limits, &why), STATUS_OK);
    transform_result_init(&result, limits.output);
    buf_init(&file, 4 << 20);
    return 0;
}

static inline int
close_transformer(void **state)
{
    (void)state;
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(registry);
    buf_release(&file);
    return 0;
}

/* ---- making files ---- */

static inline void
begin(const void *bytes, size_t length)
{
    buf_reset(&file);
    buf_append(&file, bytes, length);
}

static inline void
add(const void *bytes, size_t length)
{
    buf_append(&file, bytes, length);
}
#define BEGIN(literal) begin(literal, sizeof(literal) - 1)
#define ADD(literal) add(literal, sizeof(literal) - 1)

static inline void
add_big(uint64_t value, size_t length)
{
    for (size_t i = length; i > 0; i--) {
        buf_append_char(&file, (char)(value >> 8 * (i - 1)));
    }
}

static inline void
add_little(uint64_t value, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        buf_append_char(&file, (char)(value >> 8 * i));
    }
}

static inline void
add_riff_chunk(const char *type, const void *bytes, size_t length)
{
    add(type, 4);
    add_little(length, 4);
    add(bytes, length);
    add("", length & 1);
}

/* ---- looking at what comes out ---- */

static inline enum transform_state
run_bytes(const char *type, struct slice bytes)
{
    struct reason why;
    const struct transform_request request = {
        .uri = SLICE("http://h.example/d"), .type = slice_string(type), .bytes = bytes};
    assert_int_equal(transform_run(transformer, &request, &result, &why), STATUS_OK);
    return result.state;
}

static inline enum transform_state
run(const char *type)
{
    return run_bytes(type, buf_slice(&file));
}

static inline void
expect(const char *text)
{
    if (!result.graph.data || !strstr(result.graph.data, text)) {
        print_error("%s\n%s", result.graph.data ? result.graph.data : "", result.problems.data);
        fail_msg("there is no %s", text);
    }
}

static inline void
expect_none(const char *text)
{
    assert_true(!result.graph.data || !strstr(result.graph.data, text));
}

#define XMP(body)                                                               \
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "                             \
    "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description " \
    "rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/'>" body            \
    "</rdf:Description></rdf:RDF></x:xmpmeta>"
static const char packet[] = XMP("<dc:source>a packet</dc:source>");

#endif
