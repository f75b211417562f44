#include "cli/report/html_frame.h"

#include "base/html_text.h"

enum { TITLE_BYTES = 64 << 10 };

static const char style[] =
    ":root{color-scheme:light dark}body{font:16px/1.5 sans-serif;max-width:76rem;margin:0 auto;"
    "padding:1rem}h1{font-size:1.5rem;overflow-wrap:anywhere}table{border-collapse:collapse}"
    "th{overflow-wrap:normal!important}td,th{padding:.3rem "
    ".6rem;text-align:left;vertical-align:top;border-bottom:1px solid #8886;"
    "overflow-wrap:anywhere}.where{color:#777;font-size:.9rem}.bad{color:#c0392b}"
    ".good{color:#2b8a4b}.wide{overflow-x:auto}code{overflow-wrap:anywhere}"
    "dl.pairs{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}"
    "dl.pairs dd{margin:0}svg.drawing{width:100%;height:auto;border:1px solid #8886}"
    "svg.drawing text{font-size:12px;fill:currentColor}svg.drawing .edge{stroke:#888;fill:none}"
    "svg.drawing circle{fill:#3f82dc}svg.drawing .literal circle{fill:#c8702a}"
    "svg.drawing .blank circle{fill:#8b3fa8}";

void
html_frame_begin(FILE *out, const char *title)
{
    struct buf text;
    buf_init(&text, TITLE_BYTES);
    html_text(&text, slice_string(title));
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
            "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>%s</title>"
            "<style>%s</style></head><body><main>\n",
            text.data != NULL ? text.data : "", style);
    buf_release(&text);
}

void
html_frame_end(FILE *out)
{
    fputs("</main></body></html>\n", out);
}

void
html_flush(struct buf *buf, FILE *out)
{
    if (buf->length > 0) {
        fwrite(buf->data, 1, buf->length, out);
    }
    buf_reset(buf);
}
