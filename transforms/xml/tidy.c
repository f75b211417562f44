#include "transforms/xml/tidy.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>
#include <time.h>

enum {
    MEMORY_DEFAULT = 64 << 20,
    CPU_MS_DEFAULT = 2000,
    CALLS_PER_LOOK = 1024 /* calls of Tidy's between two looks at the clock */
};

/* Stands before each piece of memory that Tidy has. */
struct block {
    alignas(max_align_t) struct block *previous;
    struct block *next;
    size_t size;
};

struct session {
    TidyAllocator allocator; /* first: Tidy hands its address to the functions below */
    const struct tidy_limits *limits;
    struct block blocks; /* a ring, this one without memory */
    size_t taken;
    uint64_t until_ns;
    unsigned calls;
    struct slice page;
    struct buf *xhtml, *lines;
    enum status status;
    struct reason why;
    jmp_buf stop;
};

/* ---- bounds ---- */

static uint64_t
cpu_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Leaves Tidy. Nothing of ours is held in between: all that it has is in the ring of blocks. */
static _Noreturn void
stop(struct session *session, enum status status, const char *text)
{
    session->status = status_fail(&session->why, status, "%s", text);
    longjmp(session->stop, 1);
}

static void
look_at_clock(struct session *session)
{
    if (++session->calls % CALLS_PER_LOOK == 0 && cpu_ns() > session->until_ns) {
        stop(session, STATUS_LIMIT, "Tidy needs more processor time than a tenth of transform.cpu");
    }
}

static void
ring_insert(struct session *session, struct block *block)
{
    block->next = &session->blocks;
    block->previous = session->blocks.previous;
    block->previous->next = block->next->previous = block;
}

static void
ring_remove(struct block *block)
{
    block->previous->next = block->next;
    block->next->previous = block->previous;
}

static void *TIDY_CALL
resize(TidyAllocator *self, void *memory, size_t size)
{
    struct session *session = (struct session *)self;
    struct block *old = memory ? (struct block *)memory - 1 : NULL;
    const size_t before = old ? old->size : 0;
    look_at_clock(session);
    if (size > session->limits->memory ||
        session->taken - before > session->limits->memory - size) {
        stop(session, STATUS_LIMIT, "Tidy needs more memory than an eighth of transform.memory");
    }
    if (old) {
        ring_remove(old);
    }
    struct block *block = realloc(old, sizeof *block + size);
    if (!block) {
        if (old) {
            ring_insert(session, old);
        }
        stop(session, STATUS_LIMIT, "there is no memory for Tidy");
    }
    block->size = size;
    session->taken += size - before;
    ring_insert(session, block);
    return block + 1;
}

static void *TIDY_CALL
allocate(TidyAllocator *self, size_t size)
{
    return resize(self, NULL, size);
}

static void TIDY_CALL
release(TidyAllocator *self, void *memory)
{
    struct session *session = (struct session *)self;
    if (memory) {
        struct block *block = (struct block *)memory - 1;
        ring_remove(block);
        session->taken -= block->size;
        free(block);
    }
}

static void TIDY_CALL
panic(TidyAllocator *self, ctmbstr message)
{
    (void)message;
    stop((struct session *)self, STATUS_BAD_INPUT, "Tidy has given up");
}

static void
release_all(struct session *session)
{
    while (session->blocks.next != &session->blocks) {
        struct block *block = session->blocks.next;
        ring_remove(block);
        free(block);
    }
}

/* ---- what comes out ---- */

static void TIDY_CALL
put_byte(void *context, byte value)
{
    struct session *session = context;
    look_at_clock(session);
    buf_append_char(session->xhtml, (char)value);
    if (session->xhtml->overflowed) {
        stop(session, STATUS_LIMIT, "what Tidy writes is too long");
    }
}

static Bool TIDY_CALL
mute(TidyDoc document, TidyReportLevel level, uint line, uint column, ctmbstr message)
{
    (void)document, (void)level, (void)line, (void)column, (void)message;
    return no;
}

/* The next node in document order; NULL after the last. */
static TidyNode
next_node(TidyNode node)
{
    TidyNode next = tidyGetChild(node);
    while (node && !next) {
        next = tidyGetNext(node);
        node = next ? node : tidyGetParent(node);
    }
    return next;
}

static void
note_lines(struct session *session, TidyDoc document)
{
    for (TidyNode node = tidyGetRoot(document); node; node = next_node(node)) {
        const TidyNodeType type = tidyNodeGetType(node);
        if (type == TidyNode_Start || type == TidyNode_StartEnd) {
            const uint32_t line = tidyNodeLine(node);
            buf_append(session->lines, &line, sizeof line);
        }
    }
}

/* XHTML that needs no document type to be read. All else is as Tidy has it by default, since that
 * is what stylesheets expect. */
static void
configure(TidyDoc document)
{
    static const struct {
        TidyOptionId option;
        Bool value;
    } switches[] = {{TidyXhtmlOut, yes},    {TidyNumEntities, yes}, {TidyForceOutput, yes},
                    {TidyQuiet, yes},       {TidyShowWarnings, no}, {TidyMark, no},
                    {TidyHideComments, yes}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        tidyOptSetBool(document, switches[i].option, switches[i].value);
    }
    tidyOptSetInt(document, TidyShowErrors, 0);
    tidyOptSetInt(document, TidyWrapLen, 0);
    tidyOptSetInt(document, TidyDoctypeMode, TidyDoctypeOmit);
    tidySetCharEncoding(document, "utf8");
    tidySetReportFilter(document, mute);
}

/* Between the two ends of a jump: no variable here changes. */
static void
run(struct session *session)
{
    TidyBuffer source;
    TidyOutputSink sink = {session, put_byte};
    tidyBufInit(&source);
    tidyBufAttach(&source, (byte *)(uintptr_t)session->page.at, (uint)session->page.length);
    TidyDoc document = tidyCreateWithAllocator(&session->allocator);
    configure(document);
    if (tidyParseBuffer(document, &source) < 0 || tidyCleanAndRepair(document) < 0 ||
        tidySaveSink(document, &sink) < 0) {
        session->status =
            status_fail(&session->why, STATUS_BAD_INPUT, "Tidy makes nothing of the page");
    } else if (session->lines) {
        note_lines(session, document);
    }
}

enum status
tidy_page(struct slice page, const struct tidy_limits *limits, struct buf *xhtml, struct buf *lines,
          struct reason *why)
{
    static const TidyAllocatorVtbl calls = {allocate, resize, release, panic};
    const struct tidy_limits bounds = {limits->memory ? limits->memory : MEMORY_DEFAULT,
                                       limits->cpu_ms ? limits->cpu_ms : CPU_MS_DEFAULT};
    struct session session = {.allocator = {&calls},
                              .limits = &bounds,
                              .until_ns = cpu_ns() + bounds.cpu_ms * 1000000U,
                              .page = page,
                              .xhtml = xhtml,
                              .lines = lines};
    session.blocks.next = session.blocks.previous = &session.blocks;
    buf_reset(xhtml);
    if (lines) {
        buf_reset(lines);
    }
    if (page.length > INT32_MAX / 2) {
        return status_fail(why, STATUS_LIMIT, "a page of %zu bytes is too long for Tidy",
                           page.length);
    }
    if (setjmp(session.stop) == 0) {
        run(&session);
    }
    release_all(&session); /* tidyRelease would walk a tree that may be half made */
    return session.status == STATUS_OK ? STATUS_OK
                                       : status_fail(why, session.status, "%s", session.why.text);
}
