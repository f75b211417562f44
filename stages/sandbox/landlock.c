#include "stages/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Constants that the kernel's headers of Debian 12 do not have yet. */
enum {
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEVICE = 1 << 15,
    NET_BIND_TCP = 1 << 0,
    NET_CONNECT_TCP = 1 << 1,
    SCOPE_ABSTRACT_SOCKET = 1 << 0,
    SCOPE_SIGNAL = 1 << 1
};

struct ruleset {
    uint64_t files, network, scopes;
};

static const uint64_t reading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t writing = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

/* Rights and the version that brought them. */
static const struct {
    int version;
    struct ruleset rights;
} versions[] = {{1, {reading | writing, 0, 0}},
                {2, {LANDLOCK_ACCESS_FS_REFER, 0, 0}},
                {LANDLOCK_TRUNCATES, {FS_TRUNCATE, 0, 0}},
                {LANDLOCK_NETWORK, {0, NET_BIND_TCP | NET_CONNECT_TCP, 0}},
                {5, {FS_IOCTL_DEVICE, 0, 0}},
                {LANDLOCK_SCOPES, {0, 0, SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL}}};

int
landlock_version(void)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : LANDLOCK_NONE;
}

static void
allow(int rules, const char *path, uint64_t access)
{
    const int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent >= 0) {
        const struct landlock_path_beneath_attr beneath = {.allowed_access = access,
                                                           .parent_fd = parent};
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
        close(parent);
    }
}

static void
allow_programs(int rules)
{
    static const char *const folders[] = {"/usr", "/bin", "/lib", "/lib64", "/etc", "/opt"};
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        allow(rules, folders[i], reading);
    }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        allow(rules, devices[i], LANDLOCK_ACCESS_FS_READ_FILE);
    }
    allow(rules, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE);
}

static enum status
restrict_to(int rules, struct reason *why)
{
    const long result = syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return result == 0 ? STATUS_OK : status_fail_errno(why, "cannot enter Landlock");
}

enum status
landlock_enter(bool programs, struct reason *why)
{
    const int version = landlock_version();
    struct ruleset handled = {0, 0, 0};
    if (version == LANDLOCK_NONE) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (versions[i].version <= version) {
            handled.files |= versions[i].rights.files;
            handled.network |= versions[i].rights.network;
            handled.scopes |= versions[i].rights.scopes;
        }
    }
    /* Older kernels take a longer structure whose rest is zero. */
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0) {
        return status_fail_errno(why, "cannot make Landlock rules");
    }
    if (programs) {
        allow_programs(rules);
    }
    return restrict_to(rules, why);
}

enum status
landlock_enter_alone(struct reason *why)
{
    const struct ruleset handled = {0, 0, SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL};
    if (landlock_version() < LANDLOCK_SCOPES) {
        return STATUS_OK;
    }
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    return rules >= 0 ? restrict_to(rules, why)
                      : status_fail_errno(why, "cannot make Landlock rules");
}
