/* Tables: records stay within the input, lines and records only grow, and the guess of the
 * delimiter is one that parts something. */
#include <stdlib.h>

#include "transforms/text/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool true_always)
{
    if (!true_always) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct csv_reader reader;
    static const char delimiters[] = ",;\t|";
    const struct slice text = {(const char *)data, size};
    size_t skip;
    const char sniffed = csv_sniff(text, &skip);
    require(skip <= size);
    for (size_t i = 0; i < 4; i++) {
        uint64_t line = 0, record = 0, bytes = 0;
        csv_begin(&reader, text, i == 0 && sniffed ? sniffed : delimiters[i]);
        while (csv_read(&reader)) {
            require(reader.line > line && reader.record > record && reader.count > 0);
            line = reader.line;
            record = reader.record;
            for (size_t n = 0; n < reader.count && n < CSV_COLUMNS; n++) {
                bytes += reader.cells[n].length;
                require(reader.cells[n].length == 0 || reader.cells[n].at != NULL);
            }
        }
        require(bytes <= size && reader.at == reader.end);
        csv_release(&reader);
    }
    return 0;
}
