#include "queue/cluster/cluster.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "base/url/url.h"

enum {
    FILE_MAXIMUM = 1 << 20,
    WEIGHT_MAXIMUM = 1000,
    KEY_LENGTH = 40,
    ALL_STAGES = (1 << STAGE_COUNT) - 1
};

struct cluster {
    struct arena memory; /* texts of the nodes */
    struct cluster_node nodes[CLUSTER_NODES_MAXIMUM];
    size_t count, self;
    uint16_t *owners[STAGE_COUNT]; /* by partition; NULL: nobody serves the stage */
    uint16_t *store_owners;        /* of the metadata store, among those that have one */
    uint16_t *store_nodes;         /* the same as numbers of nodes */
    struct rpc_keys keys;
    bool has_keys, client;
    const char *helper; /* NULL: none */
};

/* ---- reading ---- */

struct line {
    struct cluster *cluster;
    const char *directory;
    size_t number;
    struct reason *why;
};

static enum status
wrong(const struct line *line, const char *what, struct slice which)
{
    return status_fail(line->why, STATUS_MISUSE, "cluster.conf line %zu: %s \"%.*s\"", line->number,
                       what, SLICE_PRINT(which));
}

static const char *
keep(struct cluster *cluster, struct slice text)
{
    return arena_copy(&cluster->memory, text).at;
}

/* The first word, taken off *rest. Empty at the end. */
static struct slice
next_word(struct slice *rest)
{
    size_t start = 0;
    while (start < rest->length && (rest->at[start] == ' ' || rest->at[start] == '\t')) {
        start++;
    }
    size_t end = start;
    while (end < rest->length && rest->at[end] != ' ' && rest->at[end] != '\t') {
        end++;
    }
    const struct slice word = {rest->at + start, end - start};
    *rest = slice_of(rest->at + end, rest->length - end);
    return word;
}

static enum status
read_stages(const struct line *line, struct slice value, struct cluster_node *node)
{
    node->stages = 0;
    while (value.length > 0) {
        const size_t end = slice_find(value, ',');
        const struct slice name = {value.at, end};
        enum stage stage;
        if (!stage_of_name(name, &stage)) {
            return wrong(line, "no stage is called", name);
        }
        node->stages |= 1u << stage;
        value = end < value.length ? slice_of(value.at + end + 1, value.length - end - 1)
                                   : (struct slice){NULL, 0};
    }
    return STATUS_OK;
}

static enum status
read_weight(const struct line *line, struct slice value, struct cluster_node *node)
{
    unsigned weight = 0;
    for (size_t i = 0; i < value.length && weight <= WEIGHT_MAXIMUM; i++) {
        if (value.at[i] < '0' || value.at[i] > '9') {
            return wrong(line, "a weight is a number, not", value);
        }
        weight = 10 * weight + (unsigned)(value.at[i] - '0');
    }
    if (weight < 1 || weight > WEIGHT_MAXIMUM) {
        return wrong(line, "a weight is from 1 to 1000, not", value);
    }
    node->weight = weight;
    return STATUS_OK;
}

/* A published address of a path that is relative to the file. */
static const char *
keep_address(const struct line *line, struct slice value)
{
    const struct slice scheme = SLICE("at://");
    if (!slice_starts(value, scheme) || value.length == scheme.length ||
        value.at[scheme.length] == '/') {
        return keep(line->cluster, value);
    }
    struct buf address;
    buf_init(&address, 1 << 16);
    (void)buf_printf(&address, "at://%s/%.*s", line->directory, (int)(value.length - scheme.length),
                     value.at + scheme.length);
    const char *kept = keep(line->cluster, buf_slice(&address));
    buf_release(&address);
    return kept;
}

static enum status
read_setting(const struct line *line, struct slice word, struct cluster_node *node)
{
    const struct {
        const char *name;
        const char **place;
    } texts[] = {{"host", &node->host},
                 {"queue", &node->queue},
                 {"metastore", &node->metastore},
                 {"index", &node->index},
                 {"web", &node->web}};
    const size_t equals = slice_find(word, '=');
    if (equals == word.length) {
        return wrong(line, "name=value is wanted, not", word);
    }
    const struct slice name = {word.at, equals};
    const struct slice value = {word.at + equals + 1, word.length - equals - 1};
    if (slice_is(name, "weight")) {
        return read_weight(line, value, node);
    }
    if (slice_is(name, "stages")) {
        return read_stages(line, value, node);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (slice_is(name, texts[i].name)) {
            *texts[i].place = keep_address(line, value);
            return STATUS_OK;
        }
    }
    return wrong(line, "a node has no setting", name);
}

static bool
name_is_good(struct slice name)
{
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_' || c == '.')) {
            return false;
        }
    }
    return name.length > 0 && name.length <= 64;
}

static enum status
read_node(const struct line *line, struct slice rest)
{
    struct cluster *cluster = line->cluster;
    const struct slice name = next_word(&rest);
    size_t other;
    if (!name_is_good(name) || cluster_find(cluster, name, &other)) {
        return wrong(line, "a node's name has letters, digits, '-', '_', '.', and is its own;",
                     name);
    }
    if (cluster->count == CLUSTER_NODES_MAXIMUM) {
        return wrong(line, "too many nodes at", name);
    }
    struct cluster_node *node = &cluster->nodes[cluster->count++];
    *node = (struct cluster_node){.name = keep(cluster, name), .weight = 1, .stages = ALL_STAGES};
    for (struct slice word = next_word(&rest); word.length > 0; word = next_word(&rest)) {
        TRY(read_setting(line, word, node));
    }
    return STATUS_OK;
}

static enum status
read_secret(const struct line *line, struct slice name)
{
    char text[KEY_LENGTH + 2] = "";
    struct stat info;
    struct buf path;
    buf_init(&path, 1 << 16);
    if (name.length > 0 && name.at[0] != '/') {
        (void)buf_printf(&path, "%s/", line->directory);
    }
    (void)buf_append_slice(&path, name);
    const int file = open(path.data, O_RDONLY | O_CLOEXEC);
    buf_release(&path);
    if (file < 0) {
        return status_fail_errno(line->why, "cluster.conf line %zu: cannot open %.*s", line->number,
                                 SLICE_PRINT(name));
    }
    const bool safe = fstat(file, &info) == 0 && (info.st_mode & 077) == 0;
    const ssize_t n = read(file, text, sizeof text - 1);
    (void)close(file);
    if (!safe) {
        return wrong(line, "others may read the secret in", name);
    }
    if (n < KEY_LENGTH || (n > KEY_LENGTH && text[KEY_LENGTH] != '\n')) {
        return wrong(line, "no Z85 key of 40 characters in", name);
    }
    line->cluster->keys.own_secret = keep(line->cluster, slice_of(text, KEY_LENGTH));
    return STATUS_OK;
}

static enum status
read_curve(const struct line *line, struct slice rest)
{
    struct cluster *cluster = line->cluster;
    const struct slice public_name = SLICE("public=");
    const struct slice secret_name = SLICE("secret_file=");
    for (struct slice word = next_word(&rest); word.length > 0; word = next_word(&rest)) {
        if (slice_starts(word, public_name) && word.length == public_name.length + KEY_LENGTH) {
            cluster->keys.own_public = cluster->keys.server_public =
                keep(cluster, slice_of(word.at + public_name.length, KEY_LENGTH));
        } else if (slice_starts(word, secret_name)) {
            TRY(read_secret(
                line, slice_of(word.at + secret_name.length, word.length - secret_name.length)));
        } else {
            return wrong(line, "curve has public=Z85 (40 characters) and secret_file=FILE, not",
                         word);
        }
    }
    if (cluster->keys.own_public == NULL || cluster->keys.own_secret == NULL) {
        return wrong(line, "both are needed: public= and", SLICE("secret_file="));
    }
    cluster->has_keys = true;
    return STATUS_OK;
}

static enum status
read_line(const struct line *line, struct slice text)
{
    struct slice rest = slice_trim(text);
    if (rest.length == 0 || rest.at[0] == '#') {
        return STATUS_OK;
    }
    const struct slice word = next_word(&rest);
    if (slice_is(word, "node")) {
        return read_node(line, rest);
    }
    if (slice_is(word, "curve")) {
        return read_curve(line, rest);
    }
    if (slice_is(word, "client")) {
        line->cluster->client = true;
        return STATUS_OK;
    }
    if (slice_is(word, "helper")) {
        const struct slice name = next_word(&rest);
        line->cluster->helper = keep(line->cluster, name);
        return name_is_good(name) ? STATUS_OK : wrong(line, "no name of a machine is", name);
    }
    return wrong(line, "a line begins with node, curve, client or helper, not", word);
}

/* ---- who owns what ---- */

/* A number in (0, 1) that depends on node and partition only. */
static double
lot(const char *name, unsigned partition)
{
    char text[96];
    const int n = snprintf(text, sizeof text, "%s/%u", name, partition);
    const uint64_t number = fingerprint64(slice_of(text, (size_t)n));
    return ((double)(number >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

/* Each node draws -weight / ln(lot) for each partition; the largest has it. So the shares are
 * as the weights, and another node takes only those that it wins. */
static uint16_t *
draw(const struct cluster *cluster, bool (*serves)(const struct cluster_node *, int), int what)
{
    uint16_t *owners = memory_zero(PARTITIONS, sizeof *owners);
    bool any = false;
    for (unsigned partition = 0; partition < PARTITIONS; partition++) {
        double best = -1;
        for (size_t i = 0; i < cluster->count; i++) {
            const struct cluster_node *node = &cluster->nodes[i];
            if (!serves(node, what)) {
                continue;
            }
            const double score = -(double)node->weight / log(lot(node->name, partition));
            if (score > best) {
                best = score;
                owners[partition] = (uint16_t)i;
                any = true;
            }
        }
    }
    if (!any) {
        free(owners);
        return NULL;
    }
    return owners;
}

static bool
serves_stage(const struct cluster_node *node, int stage)
{
    return node->stages & (1u << stage);
}

static bool
has_metastore(const struct cluster_node *node, int what)
{
    (void)what;
    return node->metastore != NULL;
}

/* Turns numbers of nodes into numbers among those that have a metadata store. */
static void
number_stores(struct cluster *cluster)
{
    uint16_t numbers[CLUSTER_NODES_MAXIMUM] = {0};
    uint16_t count = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        numbers[i] = count;
        count = (uint16_t)(count + has_metastore(&cluster->nodes[i], 0));
    }
    cluster->store_owners = memory_zero(PARTITIONS, sizeof *cluster->store_owners);
    for (size_t i = 0; i < PARTITIONS; i++) {
        cluster->store_owners[i] = numbers[cluster->store_nodes[i]];
    }
}

static enum status
spread(struct cluster *cluster, struct reason *why)
{
    if (cluster->count < 2) {
        return STATUS_OK;
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        cluster->owners[stage] = draw(cluster, serves_stage, stage);
        if (cluster->owners[stage] == NULL) {
            return status_fail(why, STATUS_MISUSE, "cluster.conf: no node serves %s",
                               stage_name((enum stage)stage));
        }
    }
    for (size_t i = 0; i < cluster->count; i++) {
        if (cluster->nodes[i].queue == NULL) {
            return status_fail(why, STATUS_MISUSE,
                               "cluster.conf: node %s has no queue=", cluster->nodes[i].name);
        }
    }
    cluster->store_nodes = draw(cluster, has_metastore, 0);
    if (cluster->store_nodes == NULL) {
        return status_fail(why, STATUS_MISUSE, "cluster.conf: no node has metastore=");
    }
    number_stores(cluster);
    return STATUS_OK;
}

/* ---- opening ---- */

static enum status
read_all(struct cluster *cluster, struct slice text, const char *directory, struct reason *why)
{
    struct line line = {.cluster = cluster, .directory = directory, .why = why};
    while (text.length > 0) {
        const size_t end = slice_find(text, '\n');
        line.number++;
        TRY(read_line(&line, slice_of(text.at, end)));
        text = end < text.length ? slice_of(text.at + end + 1, text.length - end - 1)
                                 : (struct slice){NULL, 0};
    }
    if (cluster->count == 0) {
        return status_fail(why, STATUS_MISUSE, "cluster.conf names no node");
    }
    return STATUS_OK;
}

static enum status
find_self(struct cluster *cluster, const char *self, struct reason *why)
{
    if (cluster->client) {
        cluster->self = CLUSTER_CLIENT;
        return STATUS_OK;
    }
    if (self != NULL && self[0] != '\0') {
        return cluster_find(cluster, slice_string(self), &cluster->self)
                   ? STATUS_OK
                   : status_fail(why, STATUS_MISUSE, "cluster.conf names no node %s", self);
    }
    return cluster->count == 1
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE,
                             "cluster.conf names several nodes: say which this is, by the option "
                             "cluster.node");
}

enum status
cluster_parse(struct cluster **cluster_out, struct slice text, const char *self,
              const char *directory, struct reason *why)
{
    struct cluster *cluster = memory_new(sizeof *cluster);
    arena_init(&cluster->memory, 0);
    enum status status = read_all(cluster, text, directory, why);
    if (status == STATUS_OK) {
        status = find_self(cluster, self, why);
    }
    if (status == STATUS_OK) {
        status = spread(cluster, why);
    }
    if (status != STATUS_OK) {
        cluster_close(cluster);
        cluster = NULL;
    }
    *cluster_out = cluster;
    return status;
}

enum status
cluster_open(struct cluster **cluster, const char *directory, const struct opt_set *options,
             struct reason *why)
{
    struct buf path;
    struct buf text;
    buf_init(&path, 1 << 16);
    buf_init(&text, FILE_MAXIMUM);
    (void)buf_printf(&path, "%s/cluster.conf", directory);
    *cluster = NULL;
    enum status status = file_read(path.data, &text, why);
    if (status == STATUS_NOT_FOUND) {
        status = cluster_parse(cluster, SLICE("node local"), NULL, directory, why);
    } else if (status == STATUS_OK) {
        status = cluster_parse(cluster, buf_slice(&text), opt_string(options, "cluster.node"),
                               directory, why);
    }
    buf_release(&path);
    buf_release(&text);
    return status;
}

void
cluster_close(struct cluster *cluster)
{
    if (cluster != NULL) {
        for (int stage = 0; stage < STAGE_COUNT; stage++) {
            free(cluster->owners[stage]);
        }
        free(cluster->store_owners);
        free(cluster->store_nodes);
        arena_release(&cluster->memory);
        free(cluster);
    }
}

/* ---- asking ---- */

size_t
cluster_node_count(const struct cluster *cluster)
{
    return cluster->count;
}

const struct cluster_node *
cluster_node(const struct cluster *cluster, size_t node)
{
    return &cluster->nodes[node];
}

size_t
cluster_self(const struct cluster *cluster)
{
    return cluster->self;
}

bool
cluster_is_client(const struct cluster *cluster)
{
    return cluster->client;
}

const char *
cluster_helper(const struct cluster *cluster)
{
    return cluster->helper;
}

bool
cluster_find(const struct cluster *cluster, struct slice name, size_t *node)
{
    for (size_t i = 0; i < cluster->count; i++) {
        if (slice_is(name, cluster->nodes[i].name)) {
            *node = i;
            return true;
        }
    }
    return false;
}

bool
cluster_serves(const struct cluster *cluster, enum stage stage)
{
    return !cluster->client && serves_stage(&cluster->nodes[cluster->self], (int)stage);
}

size_t
cluster_owner(const struct cluster *cluster, enum stage stage, struct slice uri)
{
    /* A digest for each output of each job is not cheap. */
    if (cluster->count == 1 && !cluster->client) {
        return cluster->self;
    }
    return cluster_owner_of(cluster, stage,
                            partition_of(stage == STAGE_FETCH ? url_host(uri) : uri));
}

size_t
cluster_worker(const struct cluster *cluster, enum stage stage, struct slice uri)
{
    const bool stays =
        (stage == STAGE_DETECT || stage == STAGE_TRANSFORM) && cluster_serves(cluster, stage);
    return stays ? cluster->self : cluster_owner(cluster, stage, uri);
}

size_t
cluster_owner_of(const struct cluster *cluster, enum stage stage, unsigned partition)
{
    if (cluster->owners[stage] != NULL) {
        return cluster->owners[stage][partition];
    }
    return cluster->client ? 0 : cluster->self;
}

unsigned
cluster_key_partition(struct slice key)
{
    const struct slice uri = slice_of(key.at + 1, key.length - 1);
    const struct slice host = key.at[0] == 'u' ? (struct slice){NULL, 0} : url_host(uri);
    return partition_of(host.length > 0 ? host : uri);
}

size_t
cluster_key_owner(const struct cluster *cluster, struct slice key)
{
    return cluster->store_nodes != NULL ? cluster->store_nodes[cluster_key_partition(key)]
                                        : cluster->self;
}

const struct rpc_keys *
cluster_keys(const struct cluster *cluster)
{
    return cluster->has_keys ? &cluster->keys : NULL;
}

/* A client is given the nodes with a metadata store only; owners are numbers in that list. */
enum status
cluster_metastore_services(const struct cluster *cluster, const char *local,
                           struct cluster_services *services, struct reason *why)
{
    *services = (struct cluster_services){
        .endpoints = memory_zero(cluster->count, sizeof *services->endpoints),
        .owner_of_partition = cluster->store_owners,
        .keys = cluster_keys(cluster),
    };
    for (size_t i = 0; i < cluster->count; i++) {
        const bool here = i == cluster->self && local != NULL;
        if (cluster->nodes[i].metastore != NULL || cluster->count == 1) {
            const char *endpoint = here ? local : cluster->nodes[i].metastore;
            services->endpoints[services->count++] = endpoint ? memory_string(endpoint) : NULL;
        }
    }
    if (services->endpoints[0] == NULL) {
        cluster_services_release(services);
        return status_fail(why, STATUS_MISUSE, "no address of a metadata store");
    }
    return STATUS_OK;
}

void
cluster_services_release(struct cluster_services *services)
{
    for (size_t i = 0; i < services->count; i++) {
        free((char *)(uintptr_t)services->endpoints[i]);
    }
    free(services->endpoints);
    free(services->own_table);
    services->own_table = NULL;
    services->owner_of_partition = NULL;
    services->endpoints = NULL;
    services->count = 0;
}
