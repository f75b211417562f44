/* Configuration common to all programs, and where things lie in a data directory.
 *
 *   DIR/quadrille.conf   options; DIR/cluster.conf   nodes, when there are several
 *   DIR/fixed.conf       options that the data were made with
 *   DIR/queue  DIR/metastore  DIR/index-N            database environments
 *   DIR/warc   DIR/log   DIR/run                     archive files, logs, sockets and states
 *
 * This header stands on base alone, so that every program may include it; option_tables.c
 * knows the option tables of all folders by name.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/status.h"

/* All tables, NULL-terminated: for opt_set_new. */
extern const struct opt *const config_tables[];

/* A new set: defaults, then DIR/quadrille.conf if there is one, then the assignments
 * ("name=value" of --set, or "@FILE" for those of a file that is like quadrille.conf). directory
 * and assignments may be NULL. Free with opt_set_free. */
enum status config_load(const char *directory, const struct flag_list *assignments,
                        struct opt_set **options, struct reason *why);

/* Options that the data in DIR depend on (index.partitions) keep the value that the data were
 * made with: it stands in DIR/fixed.conf, config_load takes it from there, and another value that
 * is asked for explicitly is MISUSE. Writes that file where it is missing. */
enum status config_fix(const char *directory, const struct opt_set *options, struct reason *why);

/* MISUSE unless directory is a data directory: a folder with something in it that only they have.
 */
enum status config_check_directory(const char *directory, struct reason *why);
/* Checks the place of a process that makes its own part of a data directory: a folder that holds
 * nothing foreign will do, too. */
enum status config_check_place(const char *directory, struct reason *why);

/* log_open by log.level and log.format. program must outlive logging. */
void config_open_log(const struct opt_set *options, const char *program);

/* The address of a local daemon, appended: "ipc://DIR/run/SERVICE.sock". service: "queue",
 * "metastore", "index-0". DIR/run is made when it is missing.
 *
 * A socket's path may have 107 bytes only. Where it would be longer, the address goes through an
 * open descriptor of DIR/run: "ipc:///proc/self/fd/7/queue.sock". The socket lies at the same
 * place, so that both sides may spell DIR as they like; the address is good in this process
 * alone, for as long as it lives. Not thread-safe. */
void config_endpoint(const char *directory, const char *service, struct buf *out);

/* Path of something inside the directory, appended: "DIR/name". */
void config_path(const char *directory, const char *name, struct buf *out);
/* Appends the path of the folder in which the scope of a directory lies: DIR/settings where that is
 * a link, to the settings of a share whose data lie on the disk of one machine, which all machines
 * of the cluster read and write (docs/CLUSTER_DISKS.md); else DIR. */
void config_scope_folder(const char *directory, struct buf *out);

#endif
