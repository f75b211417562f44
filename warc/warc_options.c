#include "warc/warc.h"

const struct opt warc_options[] = {
    {"warc.size", OPT_SIZE, "1G", 1 << 16, 1e15, NULL,
     "A WARC file that has reached this size is closed and followed by a new one."},
    {"warc.level", OPT_INTEGER, "1", 0, 9, NULL,
     "The level of gzip compression of WARC records: 0 is none, 1 is by far the fastest, 2 makes "
     "them a tenth smaller, and 9 makes them smallest."},
    {"warc.keep_bytes", OPT_SIZE, "0", 0, 0, NULL,
     "Older WARC files are removed while all together are larger than this. Records that are "
     "current are kept, and copied to another file where needed. With 0 nothing is removed for "
     "its size."},
    {"warc.keep_age", OPT_DURATION, "0", 0, 0, NULL,
     "WARC files that were last written to this long ago are removed in the same way; 0 for "
     "never."},
    {"warc.keep_least", OPT_DURATION, "1h", 0, 0, NULL,
     "WARC files that were written to within this time are never removed. Every sixth of it, and "
     "at least every ten minutes, files are removed where that is due. Set it shorter where the "
     "disk is small."},
    {NULL, 0, NULL, 0, 0, NULL, NULL},
};

void
warc_writer_options_from(struct warc_writer_options *options, const struct opt_set *set)
{
    options->size = (uint64_t)opt_integer(set, "warc.size");
    options->level = (int)opt_integer(set, "warc.level");
    options->prefix = "quadrille";
    options->operator_contact = opt_string(set, "fetch.from"); /* whom to write to */
}
