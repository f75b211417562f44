/* A stored execution: what is read of it, written and read again, is the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "datasets/execution.h"

enum { TEXT_BYTES = 16 << 20 };

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena arena;
    struct execution execution, again;
    struct buf text, twice, name;
    arena_init(&arena, 16 << 20);
    buf_init(&text, TEXT_BYTES);
    buf_init(&twice, TEXT_BYTES);
    buf_init(&name, TEXT_BYTES);
    if (execution_decode(slice_of((const char *)bytes, size), &arena, &execution)) {
        execution_encode(&execution, &text);
        if (!execution_decode(buf_slice(&text), &arena, &again)) {
            abort();
        }
        execution_encode(&again, &twice);
        if (!slice_equal(buf_slice(&text), buf_slice(&twice))) {
            abort();
        }
        (void)execution_owns(&execution, execution.dataset);
        for (size_t i = 0; i < execution.dumps.count; i++) {
            buf_reset(&name);
            execution_file_name(execution.dumps.items[i], &name);
            if (slice_find(buf_slice(&name), '/') < name.length) {
                abort();
            }
        }
    }
    buf_release(&name);
    buf_release(&twice);
    buf_release(&text);
    arena_release(&arena);
    return 0;
}
