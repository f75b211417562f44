/* Content-Type in the first line, a name in the second, then the document. */
#include <stdlib.h>

#include "detection/detect.h"
#include "detection/media_type.h"
#include "tests/support/media_type_text.h"
#include "transforms/common/encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct slice
take_line(struct slice *input)
{
    const size_t end = slice_find(*input, '\n');
    const struct slice line = {input->at, end};
    const size_t skip = end < input->length ? end + 1 : end;
    *input = slice_of(input->at + skip, input->length - skip);
    return line;
}

/* What was parsed and written parses to the same again. */
static void
check_media_type(struct slice text)
{
    struct buf memory[2], written[2];
    struct media_type type;
    for (size_t i = 0; i < 2; i++) {
        buf_init(&memory[i], 1 << 20);
        buf_init(&written[i], 1 << 20);
    }
    if (media_type_parse(text, &memory[0], &type)) {
        media_type_serialize(&type, &written[0]);
        if (!media_type_parse(buf_slice(&written[0]), &memory[1], &type)) {
            abort();
        }
        media_type_serialize(&type, &written[1]);
        if (!slice_equal(buf_slice(&written[0]), buf_slice(&written[1]))) {
            abort();
        }
    }
    for (size_t i = 0; i < 2; i++) {
        buf_release(&memory[i]);
        buf_release(&written[i]);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = {(const char *)data, size};
    struct detect_input asked;
    struct detector detector;
    struct detection detection;
    detector_init(&detector);
    asked.content_type = take_line(&input);
    asked.uri = take_line(&input);
    asked.bytes = input;
    check_media_type(asked.content_type);
    detect(&detector, &asked, &detection);
    if (detection.type[0] == 0 || detection.reason[0] == 0) {
        abort();
    }
    (void)encoding_of_html(input, asked.uri, NULL);
    (void)encoding_of_xml(input, asked.uri);
    detector_release(&detector);
    return 0;
}
