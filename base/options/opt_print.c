#include <string.h>

#include "base/options/opt.h"
#include "base/options/text_print.h"

/* "fetch" of "fetch.delay" */
static size_t
section_length(const struct opt *opt)
{
    return strcspn(opt->name, ".");
}

static void
print_bounds(const struct opt *opt, FILE *out)
{
    const bool numeric =
        opt->type == OPT_INTEGER || opt->type == OPT_SIZE || opt->type == OPT_DURATION;
    const char *unit = opt->type == OPT_DURATION ? " seconds"
                       : opt->type == OPT_SIZE   ? " bytes"
                                                 : "";
    if (opt->type == OPT_CHOICE) {
        (void)fprintf(out, "%s", opt->choices);
    } else if (opt->type == OPT_BOOL) {
        (void)fprintf(out, "yes|no");
    } else if (numeric && opt->maximum != 0) {
        (void)fprintf(out, "%.15g to %.15g%s", opt->minimum, opt->maximum, unit);
    } else if (numeric && opt->minimum != 0) {
        (void)fprintf(out, "at least %.15g%s", opt->minimum, unit);
    } else {
        static const char *const words[] = {[OPT_INTEGER] = "number",
                                            [OPT_SIZE] = "size, suffix K, M, G or T",
                                            [OPT_STRING] = "text",
                                            [OPT_DURATION] =
                                                "seconds, or with suffix ms, s, m, h or d",
                                            [OPT_LIST] = "list separated by commas or blanks"};
        (void)fprintf(out, "%s", words[opt->type]);
    }
}

void
opt_set_print_sample(const struct opt_set *set, FILE *out)
{
    (void)fputs("# Configuration of a data directory. Each line is the default; remove its # to\n"
                "# change it. The same can be given on a command line: --set name=value.\n",
                out);
    for (const struct opt *const *table = opt_set_tables(set); *table; table++) {
        for (const struct opt *opt = *table; opt->name; opt++) {
            (void)fputs("\n", out);
            text_wrap(out, "# ", opt->help);
            (void)fputs("# (", out);
            print_bounds(opt, out);
            (void)fprintf(out, ")\n#%s =%s%s\n", opt->name, *opt->default_value ? " " : "",
                          opt->default_value);
        }
    }
}

void
opt_set_print_mdoc(const struct opt_set *set, FILE *out)
{
    for (const struct opt *const *table = opt_set_tables(set); *table; table++) {
        const struct opt *previous = NULL;
        for (const struct opt *opt = *table; opt->name; previous = opt++) {
            if (!previous || section_length(previous) != section_length(opt) ||
                memcmp(previous->name, opt->name, section_length(opt)) != 0) {
                (void)fprintf(out, "%s.Ss %.*s\n.Bl -tag -width Ds\n", previous ? ".El\n" : "",
                              (int)section_length(opt), opt->name);
            }
            (void)fprintf(out, ".It ");
            text_mdoc_word(out, opt->name);
            (void)fprintf(out, " = ");
            text_mdoc_word(out, opt->default_value);
            (void)fprintf(out, "\n");
            text_mdoc(out, opt->help);
            (void)fprintf(out, "(");
            print_bounds(opt, out);
            (void)fprintf(out, ")\n");
        }
        if (previous) {
            (void)fputs(".El\n", out);
        }
    }
}
