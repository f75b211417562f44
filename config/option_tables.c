/* The tables of all options that programs share. */
#include "config/access.h"
#include "config/config.h"

static const struct opt log_options[] = {
    {"log.level", OPT_CHOICE, "info", 0, 0, "error|warning|info|debug",
     "The least important events that are logged."},
    {"log.format", OPT_CHOICE, "text", 0, 0, "text|json",
     "The form of the log: text has key=value pairs, json has one object a line."},
    {.name = NULL}};

/* Tables live beside the code that reads them, above this folder. */
extern const struct opt process_options[], scope_options[], traps_options[], urls_options[],
    fetch_options[], transforms_options[], extract_options[], queue_options[], metastore_options[],
    warc_options[], web_options[], stage_option_table[], index_options[], recrawl_options[];

/* In the order of the sample and the manual: what people change most stands first. */
const struct opt *const config_tables[] = {process_options,
                                           scope_options,
                                           traps_options,
                                           urls_options,
                                           fetch_options,
                                           recrawl_options,
                                           transforms_options,
                                           extract_options,
                                           index_options,
                                           web_options,
                                           warc_options,
                                           queue_options,
                                           metastore_options,
                                           stage_option_table,
                                           access_options,
                                           log_options,
                                           NULL};
