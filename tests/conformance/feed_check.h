/* A part of run_feeds.c: the second suite. What the file has is found by walking libxml2's tree;
 * each must be in the graph. */
#ifndef TESTS_CONFORMANCE_FEED_CHECK_H
#define TESTS_CONFORMANCE_FEED_CHECK_H

static struct {
    char text[400];
} missing;

static bool
is_named(const xmlNode *node, const char *const *names)
{
    for (; *names; names++) {
        if (node->type == XML_ELEMENT_NODE && strcasecmp((const char *)node->name, *names) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_module(const xmlNode *node)
{
    static const char *const own[] = {"http://www.w3.org/2005/Atom",
                                      "http://purl.org/atom/ns#",
                                      "http://purl.org/rss/1.0/",
                                      "http://purl.org/net/rss1.1#",
                                      "http://my.netscape.com/rdf/simple/0.9/",
                                      "http://purl.org/dc/elements/1.1/",
                                      ""};
    const char *space = node->ns ? (const char *)node->ns->href : "";
    const xmlNode *root = xmlDocGetRootElement(node->doc);
    if (root->ns && strcmp(space, (const char *)root->ns->href) == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(space, own[i]) == 0) {
            return false;
        }
    }
    return true;
}

static bool
must_have(const xmlNode *parent, const struct term *subject, const char *const *names,
          const char *path, const char *what)
{
    for (const xmlNode *node = parent->children; node; node = node->next) {
        if (!is_named(node, names) || is_module(node)) {
            continue;
        }
        xmlChar *text = xmlNodeGetContent(node);
        xmlChar *href = xmlGetNoNsProp((xmlNode *)(uintptr_t)node, BAD_CAST "href");
        struct buf plain;
        buf_init(&plain, 1 << 20);
        bare(slice_string((const char *)text), true, &plain);
        const bool says = (plain.length > 0 && strcmp(what, "link") != 0) ||
                          (strcmp(what, "link") == 0 && (plain.length > 0 || href));
        feed_graph_get(&graph, subject, path, &found);
        bool good = !says || found.count > 0;
        /* libxml2's text is not whole when the document has entities of a DTD that is not read. */
        const bool whole = !node->doc->intSubset || !node->doc->intSubset->ExternalID;
        if (good && says && whole && strcmp(what, "title") == 0) {
            good = false;
            for (size_t i = 0; i < found.count; i++) {
                struct buf got;
                buf_init(&got, 1 << 20);
                bare(found.terms[i].value, false, &got);
                good = good ||
                       same_text(slice_string((const char *)text), found.terms[i].value, false) ||
                       slice_equal(buf_slice(&got), buf_slice(&plain));
                buf_release(&got);
            }
        }
        if (!good) {
            snprintf(missing.text, sizeof missing.text, "line %ld: %s \"%.100s\"",
                     xmlGetLineNo((xmlNode *)(uintptr_t)node), what,
                     text ? (const char *)text : "");
        }
        buf_release(&plain);
        xmlFree(text);
        xmlFree(href);
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool
has_all(const xmlNode *node, const struct term *subject)
{
    static const char *const titles[] = {"title", NULL}, *const links[] = {"link", NULL};
    static const char *const dates[] = {"pubDate", "published", "issued", "date", NULL};
    static const char *const updates[] = {"updated", "modified", "lastBuildDate", NULL};
    static const char *const authors[] = {"author", "creator", "managingEditor", NULL};
    return must_have(node, subject, titles, "rss:title|dc:title", "title") &&
           must_have(node, subject, links, "*", "link") &&
           must_have(node, subject, dates, "dcterms:date|dc:date", "date") &&
           must_have(node, subject, updates, "dcterms:modified", "date") &&
           must_have(node, subject, authors, "dc:creator", "author");
}

/* Every entry of the file, in order, is one item of the graph. */
static bool
walk(const xmlNode *node, size_t *n, bool ordered)
{
    static const char *const entries[] = {"item", "entry", NULL};
    bool good = true;
    for (; node && good; node = node->next) {
        if (node->type != XML_ELEMENT_NODE) {
            continue;
        }
        if (is_named(node, entries) && !is_module(node)) {
            if (*n >= graph.item_count) {
                snprintf(missing.text, sizeof missing.text, "line %ld: an entry",
                         xmlGetLineNo((xmlNode *)(uintptr_t)node));
                return false;
            }
            for (size_t i = 0; i < graph.item_count; i++) {
                good = has_all(node, &graph.items[ordered ? *n : i]);
                if (ordered || good) {
                    break;
                }
            }
            ++*n;
        } else {
            static const char *const channels[] = {"feed", "channel", NULL};
            good = (!is_named(node, channels) || is_module(node) || !ordered ||
                    has_all(node, &graph.channel)) &&
                   walk(node->children, n, ordered);
        }
    }
    return good;
}

static bool
is_feed(const xmlNode *root)
{
    static const char *const roots[] = {"rss", "feed", "entry", "RDF", "Channel", NULL};
    return root && is_named(root, roots) &&
           !(strcmp((const char *)root->name, "rdf") == 0); /* not RDF, whatever it meant */
}

static bool
check_independently(void)
{
    xmlDocPtr document =
        xmlReadMemory(bytes.data, (int)bytes.length, NULL, NULL,
                      XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
    size_t n = 0;
    missing.text[0] = 0;
    const bool is_rdf = root && (strcmp((const char *)root->name, "RDF") == 0 ||
                                 strcmp((const char *)root->name, "Channel") == 0);
    const bool good = !root || !is_feed(root) || walk(root, &n, !is_rdf);
    xmlFreeDoc(document);
    return good;
}

static void
run_feedvalidator(struct row *row, char *line)
{
    char *fields[7];
    if (row_fields(line, fields, 7) < 5 || strcmp(fields[0], "id") == 0) {
        return;
    }
    if (!load(fields[1])) {
        row->skipped++;
        return;
    }
    if (!run_document(fields[1], "", "", (struct slice){0})) {
        row_case(row, fields[0], false,
                 "the transform failed, or gave something else a second time");
        return;
    }
    const bool root =
        strcmp(fields[4], "expat") != 0 ||
        (strcmp(detection.root, fields[2]) == 0 && strcmp(detection.namespace, fields[3]) == 0);
    const bool all = check_independently();
    row_case(row, fields[0], root && all, "%s%s (%s, %s; root %s %s)", root ? "" : "another root; ",
             missing.text, detection.type, transform_state_name(result.state), detection.root,
             detection.namespace);
    feed_graph_release(&graph);
}

#endif
