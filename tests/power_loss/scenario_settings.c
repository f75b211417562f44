/* These scenarios set what people set, the configuration, the keys, the scope, and make backups, by
 * the commands themselves, which inherit the recorder. */
#include "tests/power_loss/scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/file.h"
#include "config/config.h"
#include "tests/power_loss/commands.h"

enum { PATH_SIZE = 4096, TEXT_MAXIMUM = 1 << 24, SCOPES = 6 };

/* NULL: it is not there. The caller frees. */
static char *
text_of(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    struct buf bytes;
    struct reason why = {""};
    buf_init(&bytes, TEXT_MAXIMUM);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = NULL;
    if (file_read(path, &bytes, &why) == STATUS_OK) {
        (void)buf_append(&bytes, "", 1);
        text = strdup(bytes.data);
    }
    buf_release(&bytes);
    return text;
}

/* ---- settings ---- */

static void
settings_act(const char *folder)
{
    struct opt_set *options;
    struct reason why = {""};
    char path[PATH_SIZE];
    must_run(run("%s init --keys --dir %s/data >/dev/null", quadrille, folder), "init");
    acknowledge("init");
    snprintf(path, sizeof path, "%s/data", folder);
    if (config_load(path, NULL, &options, &why) != STATUS_OK ||
        config_fix(path, options, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    opt_set_free(options);
    acknowledge("fixed");
    for (int i = 0; i < SCOPES; i++) {
        must_run(run("%s scope set --dir %s/data scope.hosts=host%d.example >/dev/null", quadrille,
                     folder, i),
                 "scope set");
        acknowledge("scope");
    }
}

/* The scope after `marks` of them: 2 is none. */
static bool
scope_is(const char *text, size_t marks)
{
    char line[64];
    snprintf(line, sizeof line, "scope.hosts=host%zu.example\n", marks - 3);
    return marks < 3 ? text == NULL || strstr(text, "scope.hosts") == NULL
                     : text != NULL && strstr(text, line) != NULL;
}

static bool
settings_check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    (void)trace;
    char path[PATH_SIZE];
    struct opt_set *options;
    struct reason why = {""};
    snprintf(path, sizeof path, "%s/data", folder);
    if (marks >= 1) {
        char *made = text_of(path, "quadrille.conf"), *sample = text_of("deploy", "quadrille.conf");
        char *secret = text_of(path, "curve.secret");
        const bool whole = made != NULL && sample != NULL && strcmp(made, sample) == 0;
        const bool kept = secret != NULL && strlen(secret) == 41;
        free(made);
        free(sample);
        free(secret);
        if (!whole || !kept) {
            return complain(whole ? "the keys are lost" : "quadrille.conf is not whole");
        }
    }
    /* Whatever was under way: what is there can be used, and the same command again makes it so. */
    if (run("%s init --dir %s >/dev/null", quadrille, path) != 0 ||
        config_load(path, NULL, &options, &why) != STATUS_OK) {
        return complain(why.text[0] != '\0' ? why.text : "init fails afterwards");
    }
    char *sample = text_of("deploy", "quadrille.conf"), *made = text_of(path, "quadrille.conf");
    const bool whole = made != NULL && strcmp(made, sample) == 0;
    free(sample);
    free(made);
    const enum status fixed = config_fix(path, options, &why);
    opt_set_free(options);
    if (!whole || fixed != STATUS_OK) {
        return complain(whole ? why.text : "init leaves a quadrille.conf that is not whole");
    }
    char *fixed_text = text_of(path, "fixed.conf");
    const bool has_fixed = fixed_text != NULL &&
                           strstr(fixed_text, "index.partitions = ") != NULL &&
                           fixed_text[strlen(fixed_text) - 1] == '\n';
    free(fixed_text);
    if (!has_fixed) {
        return complain("fixed.conf is not whole");
    }
    if (marks >= 2) {
        char *scope = text_of(path, "scope.conf");
        const bool right = scope_is(scope, marks) || scope_is(scope, marks + 1);
        if (!right) {
            fprintf(stderr, "after %zu: %s\n", marks, scope != NULL ? scope : "no scope.conf");
        }
        free(scope);
        return right;
    }
    return true;
}

const struct scenario scenario_settings = {"settings", settings_act, settings_check, 60, 0, NULL};

/* ---- backup ---- */

static void
backup_act(const char *folder)
{
    must_run(run("for i in $(seq 300); do echo \"<http://a.example/$i> <http://p.example/p> \\\"v "
                 "$i\\\" <http://g.example/$((i %% 9))> .\"; done >%s.nq",
                 folder),
             "writing quads");
    must_run(run("%s init --dir %s/data >/dev/null", quadrille, folder), "init");
    must_run(run("%s import --dir %s/data %s.nq >/dev/null 2>&1", quadrille, folder, folder),
             "import");
    acknowledge("import");
    must_run(run("%s backup --dir %s/data %s/saved >/dev/null", quadrille, folder, folder),
             "backup");
    acknowledge("backup");
    must_run(run("%s restore --dir %s/restored %s/saved >/dev/null", quadrille, folder, folder),
             "restore");
    acknowledge("restore");
    must_run(run("%s dump --dir %s/data --output %s/out.nq --position %s/out.position", quadrille,
                 folder, folder, folder),
             "dump");
    acknowledge("dump");
}

static bool
holds_all(const char *folder, const char *name)
{
    if (run("%s dump --dir %s/%s --output %s/%s.nq >/dev/null && [ \"$(wc -l <%s/%s.nq)\" = 300 ] "
            "&& "
            "%s verify --dir %s/%s >/dev/null",
            quadrille, folder, name, folder, name, folder, name, quadrille, folder, name) == 0) {
        return true;
    }
    fprintf(stderr, "%s does not hold all quads\n", name);
    return false;
}

static bool
backup_check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    (void)trace;
    char saved[PATH_SIZE];
    snprintf(saved, sizeof saved, "%s/saved", folder);
    if (marks >= 1 && !holds_all(folder, "data")) {
        return false;
    }
    if (marks >= 2 || access(saved, F_OK) == 0) { /* a name that is there says it is whole */
        if (run("%s restore --dir %s/again %s >/dev/null", quadrille, folder, saved) != 0) {
            return complain("the backup is not whole");
        }
        if (!holds_all(folder, "again")) {
            return false;
        }
    }
    if (marks >= 4 &&
        run("[ \"$(wc -l <%s/out.nq)\" = 300 ] && [ -s %s/out.position ]", folder, folder) != 0) {
        return complain("a dump is lost");
    }
    return marks < 3 || holds_all(folder, "restored");
}

const struct scenario scenario_backup = {"backup", backup_act, backup_check, 8, 0, NULL};
