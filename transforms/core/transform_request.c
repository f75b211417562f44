#include "transforms/core/transform_request.h"

const char *
transform_state_name(enum transform_state state)
{
    static const char *const names[] = {"whole", "part", "broken", "none", "waiting"};
    return names[state];
}

void
transform_result_init(struct transform_result *result, size_t output)
{
    *result = (struct transform_result){0};
    buf_init(&result->graph, output);
    buf_init(&result->names, 4096);
    buf_init(&result->problems, 16 << 10);
    buf_init(&result->counts, 4096);
    buf_init(&result->repairs, 8 << 10);
    buf_init(&result->advice, 8 << 10);
    buf_init(&result->needs, 256 << 10);
    buf_init(&result->explanation, output);
}

void
transform_result_release(struct transform_result *result)
{
    buf_release(&result->graph);
    buf_release(&result->names);
    buf_release(&result->problems);
    buf_release(&result->counts);
    buf_release(&result->repairs);
    buf_release(&result->advice);
    buf_release(&result->needs);
    buf_release(&result->explanation);
}
