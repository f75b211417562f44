#include "dumps/slicer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "dumps/slicer_state.h"
#include "dumps/slicer_taker.h"

enum { THREADS_MAXIMUM = 64, MEMORY_LEAST = 64 << 10, BLOCK_LEAST = 1 << 9, BLOCK_MOST = 1 << 15 };

void
slicer_options_default(struct slicer_options *options, const char *folder)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct slicer_options){
        .folder = folder,
        .memory = (uint64_t)512 << 20,
        .disk = (uint64_t)1 << 40,
        .document_most = 64 << 20,
        .closure_most = 256 << 20,
        .graphs = true,
        .threads = processors > 0 ? (unsigned)processors : 1,
    };
}

struct slicer *
slicer_new(const struct slicer_options *options)
{
    struct slicer *slicer = memory_new(sizeof *slicer);
    slicer->options = *options;
    if (slicer->options.memory < MEMORY_LEAST) {
        slicer->options.memory = MEMORY_LEAST;
    }
    if (slicer->options.threads < 1 || slicer->options.threads > THREADS_MAXIMUM) {
        slicer->options.threads = slicer->options.threads < 1 ? 1 : (unsigned)THREADS_MAXIMUM;
    }
    slicer->spaces = memory_zero(options->count + 1, sizeof *slicer->spaces);
    for (size_t i = 0; i < options->count; i++) {
        const struct slice_space *from = &options->spaces[i];
        slicer->spaces[i] = *from;
        slicer->spaces[i].prefix.at = memory_string_n(from->prefix.at, from->prefix.length);
        slicer->spaces[i].replacement.at =
            memory_string_n(from->replacement.at, from->replacement.length);
        slicer->spaces[i].suffix.at = memory_string_n(from->suffix.at, from->suffix.length);
        slicer->closures |= from->slicing >= SLICING_CBD;
    }
    slicer->room.folder = options->folder;
    slicer->room.memory = slicer->options.memory / 2;
    slicer->room.disk = options->disk;
    const uint64_t block =
        slicer->options.memory / (4 * (uint64_t)SPOOL_PARTS * slicer->options.threads);
    slicer->room.block = block < BLOCK_LEAST  ? BLOCK_LEAST
                         : block > BLOCK_MOST ? BLOCK_MOST
                                              : (size_t)block;
    slicer->dictionary = dictionary_new();
    slicer->keys = spool_new(&slicer->room, 0);
    if (slicer->closures) {
        slicer->blank = spool_new(&slicer->room, 0);
        slicer->components = components_new(&slicer->room, slicer->options.memory / 4);
    }
    slicer->taker = slicer_taker_new(slicer);
    return slicer;
}

void
slicer_free(struct slicer *slicer)
{
    if (slicer == NULL) {
        return;
    }
    for (size_t i = 0; i < slicer->options.count; i++) {
        free((char *)slicer->spaces[i].prefix.at);
        free((char *)slicer->spaces[i].replacement.at);
        free((char *)slicer->spaces[i].suffix.at);
    }
    free(slicer->spaces);
    slicer_taker_free(slicer->taker, NULL);
    dictionary_free(slicer->dictionary);
    spool_free(slicer->keys);
    spool_free(slicer->blank);
    components_free(slicer->components);
    free(slicer);
}

void
slicer_next_file(struct slicer *slicer)
{
    slicer->file++;
}

void
slicer_counted(const struct slicer *slicer, struct slicer_counts *counts)
{
    *counts = (struct slicer_counts){.triples = slicer->triples,
                                     .outside = slicer->outside,
                                     .documents = slicer->documents,
                                     .lines = slicer->lines,
                                     .cut = slicer->cut,
                                     .disk = slicer->room.disk_peak};
    if (slicer->taker != NULL) {
        slicer_taker_add_counts(slicer->taker, counts);
    }
}

enum status
slicer_take(void *context, const struct quad *quad, struct reason *why)
{
    struct slicer *slicer = context;
    return slicer_taker_take(slicer->taker, quad, why);
}
