/* quadrille report sitemaps: what the sitemaps of hosts are worth. docs/SITEMAPS.md */
#ifndef CLI_REPORT_REPORT_SITEMAPS_H
#define CLI_REPORT_REPORT_SITEMAPS_H

/* argv[0] is "sitemaps"; the result is the exit code. */
int report_sitemaps(int argc, char **argv);

#endif
