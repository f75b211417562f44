/* quadrille-transform: turns documents into canonical N-Quads.
 *
 * It takes the documents that detect did not transform in passing: those that wait for others, that
 * come when detect's worker has too many already, whose worker died, and those of a replay. The
 * content is read from the archive; transform_document.h does the rest.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "stages/skeleton/content.h"
#include "stages/transform/transform_document.h"

enum { WINDOW = 64 }; /* documents in hand, for one worker that takes them one by one */

static struct fork_server *fork_server; /* forked before anything else is known */

struct transform_stage {
    struct content *content;
    struct document_transforms *transforms;
    struct buf memory;
};

static void
transform_start(void *context, struct stage_job *job)
{
    struct transform_stage *stage = context;
    struct warc_record record;
    struct reason why;
    const enum status status =
        content_read(stage->content, &job->document.response, &stage->memory, &record, &why);
    if (status == STATUS_OK) {
        document_transforms_start(stage->transforms, job, &stage->memory, record.body);
    } else {
        content_refused(job, status, &why);
    }
}

static enum status
transform_flush(void *context, struct stage_job *const *jobs, size_t n, struct reason *why)
{
    (void)jobs, (void)n;
    struct transform_stage *stage = context;
    return document_transforms_flush(stage->transforms, why);
}

static const struct document_record *
response_of(const struct document *document)
{
    return &document->response;
}

static enum status
transform_open(struct stage_run *run, void **context, struct reason *why)
{
    struct transform_stage *stage = memory_new(sizeof *stage);
    const size_t input = (size_t)opt_integer(stage_options(run), "transform.input");
    const struct warc_limits limits = {.record = input + (2 << 20), .body = input};
    *context = stage;
    buf_init(&stage->memory, 3 * input + (8 << 20));
    TRY(content_open(&stage->content, stage_directory(run), stage_cluster(run), &limits, why));
    content_close_files(stage->content, run);
    content_read_ahead(stage->content, response_of);
    return document_transforms_open(&stage->transforms, run, stage->content, fork_server, 0, why);
}

static void
transform_close(void *context)
{
    struct transform_stage *stage = context;
    document_transforms_close(stage->transforms);
    content_close(stage->content);
    buf_release(&stage->memory);
    free(stage);
}

static const struct program transform_program = {
    .name = "quadrille-transform",
    .synopsis = "--dir DIR [OPTION]...",
    .summary = "turn documents into RDF",
    .description =
        "Takes documents of known types, turns each into the quads of one graph, the document's "
        "URI, and archives them as a WARC conversion record. Parsing runs in worker processes "
        "without files, network or privileges, and with limits of memory, time and output; a "
        "document whose worker dies is buried and nothing else is disturbed.\n\n"
        "What becomes what is said by a registry: one file comes with the program, and "
        "DIR/transforms/registry adds to it.\n\n"
        "It is started by `quadrille up`; any number may run. It stops cleanly on SIGTERM.",
    .examples = "quadrille-transform --dir DIR --set transform.memory=1G\n"
                "quadrille transform page.html   # one file by hand",
};

static const struct stage_spec transform_spec = {
    .stage = STAGE_TRANSFORM,
    .program = &transform_program,
    .open = transform_open,
    .start = transform_start,
    .flush = transform_flush,
    .close = transform_close,
    .window = WINDOW,
    .batch = WINDOW,
};

int
main(int argc, char **argv)
{
    fork_server = fork_server_start(&document_worker_program);
    const int code = stage_main(&transform_spec, argc, argv);
    fork_server_close(fork_server);
    return code;
}
