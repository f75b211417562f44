/* The transform "pdf": what a PDF's information dictionary and XMP packet say, and where its
 * links lead. By poppler, which opens no file for that; fonts and pages are not rendered.
 *
 * Poppler brings some thirty libraries with it, and a program that is linked with them takes twice
 * as long to start. So it is loaded by builtin_pdf_prepare, which programs call that transform
 * documents.
 */
#include <dlfcn.h>
#include <poppler.h>
#include <pthread.h>

#include "transforms/core/builtins.h"
#include "transforms/media/media.h"

#define LIBRARY "libpoppler-glib.so.8"

#define FUNCTIONS(X)                       \
    X(document_get_author)                 \
    X(document_get_creation_date_time)     \
    X(document_get_creator)                \
    X(document_get_keywords)               \
    X(document_get_metadata)               \
    X(document_get_modification_date_time) \
    X(document_get_n_pages)                \
    X(document_get_page)                   \
    X(document_get_pdf_version_string)     \
    X(document_get_producer)               \
    X(document_get_subject)                \
    X(document_get_title)                  \
    X(document_new_from_bytes)             \
    X(page_free_link_mapping)              \
    X(page_get_link_mapping)

#define POINTER(name) __typeof__(poppler_##name) *name;
static struct {
    FUNCTIONS(POINTER)
    bool loaded;
} poppler;

#define LOAD(name)                                                                       \
    *(void **)&poppler.name = library != NULL ? dlsym(library, "poppler_" #name) : NULL; \
    poppler.loaded = poppler.loaded && poppler.name != NULL;

static void
load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    poppler.loaded = library != NULL;
    FUNCTIONS(LOAD)
}

void
builtin_pdf_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
}

#define NFO "http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#"
#define PDF "http://ns.adobe.com/pdf/1.3/"

enum { LINK_PAGES = 200, LINKS = 1000 /* looked at */ };

/* Takes the text. */
static void
say_text(struct media *media, const char *predicate, char *text)
{
    if (text) {
        media_text(media, predicate, slice_string(text));
        g_free(text);
    }
}

static void
say_date(struct media *media, const char *predicate, GDateTime *date)
{
    if (date) {
        char *form = g_date_time_format(date, "%Y-%m-%dT%H:%M:%S%:z");
        if (form) {
            media_date(media, predicate, slice_string(form));
        }
        g_free(form);
        g_date_time_unref(date);
    }
}

/* One string with separators of the writer's choice. */
static void
say_keywords(struct media *media, char *keywords)
{
    struct slice left = slice_string(keywords);
    const char separator = slice_find(left, ';') < left.length ? ';' : ',';
    for (unsigned i = 0; left.length > 0 && i < 200; i++) {
        const size_t end = slice_find(left, separator);
        media_text(media, VOCABULARY_DC "subject", slice_of(left.at, end));
        left = media_part(left, end + 1, SIZE_MAX);
    }
    g_free(keywords);
}

static void
say_page_links(struct media *media, PopplerPage *page, unsigned *left)
{
    GList *links = poppler.page_get_link_mapping(page);
    for (GList *at = links; at && *left > 0; at = at->next, --*left) {
        const PopplerAction *action = ((PopplerLinkMapping *)at->data)->action;
        if (action && action->type == POPPLER_ACTION_URI && action->uri.uri) {
            media_link(media, VOCABULARY_SIOC "links_to", slice_string(action->uri.uri));
        }
    }
    poppler.page_free_link_mapping(links);
}

static void
say_links(struct media *media, PopplerDocument *document, int pages)
{
    unsigned left = LINKS;
    for (int i = 0; i < pages && i < LINK_PAGES && left > 0; i++) {
        PopplerPage *page = poppler.document_get_page(document, i);
        if (page) {
            say_page_links(media, page, &left);
            g_object_unref(page);
        }
    }
}

static void
say_document(struct media *media, PopplerDocument *document)
{
    const int pages = poppler.document_get_n_pages(document);
    media_class(media, VOCABULARY_FOAF "Document");
    media_format(media);
    say_text(media, VOCABULARY_DCTERMS "title", poppler.document_get_title(document));
    say_text(media, VOCABULARY_DC "creator", poppler.document_get_author(document));
    say_text(media, VOCABULARY_DCTERMS "description", poppler.document_get_subject(document));
    say_keywords(media, poppler.document_get_keywords(document));
    say_text(media, VOCABULARY_XMP "CreatorTool", poppler.document_get_creator(document));
    say_text(media, PDF "Producer", poppler.document_get_producer(document));
    say_text(media, PDF "PDFVersion", poppler.document_get_pdf_version_string(document));
    say_date(media, VOCABULARY_DCTERMS "created",
             poppler.document_get_creation_date_time(document));
    say_date(media, VOCABULARY_DCTERMS "modified",
             poppler.document_get_modification_date_time(document));
    if (pages > 0) {
        media_integer(media, NFO "pageCount", pages);
    }
    char *packet = poppler.document_get_metadata(document);
    if (packet) {
        media_xmp(media, slice_string(packet));
        g_free(packet);
    }
    say_links(media, document, pages);
}

/* In a file that is encrypted or too damaged, the packet may still be read. */
static void
scan_for_packet(struct media *media)
{
    const size_t from = slice_find_slice(media->bytes, SLICE("<?xpacket begin="));
    const struct slice tail = media_part(media->bytes, from, SIZE_MAX);
    const size_t end = slice_find_slice(tail, SLICE("<?xpacket end="));
    if (end < tail.length) {
        media_class(media, VOCABULARY_FOAF "Document");
        media_format(media);
        media_xmp(media, slice_of(tail.at, end));
    }
}

/* GLib would look whether its complaints go to a journal, which the sandbox forbids. */
static void
say_nothing(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer context)
{
    (void)domain, (void)level, (void)message, (void)context;
}

enum status
builtin_pdf(struct transformation *transformation, struct reason *why)
{
    struct media media;
    GError *error = NULL;
    builtin_pdf_prepare();
    g_log_set_default_handler(say_nothing, NULL);
    media_begin(&media, transformation, why);
    if (!poppler.loaded) {
        media_problem(&media, "PDF: %s cannot be loaded", LIBRARY);
        scan_for_packet(&media);
        return media_end(&media);
    }
    GBytes *bytes = g_bytes_new_static(media.bytes.at, media.bytes.length);
    PopplerDocument *document = poppler.document_new_from_bytes(bytes, NULL, &error);
    g_bytes_unref(bytes);
    if (document) {
        say_document(&media, document);
        g_object_unref(document);
    } else {
        media_problem(&media, "PDF: %s", error ? error->message : "it cannot be read");
        g_clear_error(&error);
        scan_for_packet(&media);
    }
    return media_end(&media);
}
