/* Loaded before the C library (LD_PRELOAD): notes what a program does to the files below a folder,
 * as trace.h says. A lock over all processes makes the order of the trace that of the effects.
 *
 * The C library's own writes (stdio) do not pass by here: what a stream wrote is read back whole
 * when it is flushed or closed. Every sync is noted with the calls that led to it. */
#include "tests/power_loss/trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma GCC visibility push(default)

enum { FRAMES_MOST = 24, SITE_SIZE = 4096, MODE_NONE = 0 };

static char folder[PATH_MAX];
static size_t folder_length;
static int trace = -1;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int depth;

static void
open_trace(void)
{
    const char *path = getenv(TRACE_FILE_VARIABLE);
    const char *where = getenv(TRACE_FOLDER_VARIABLE);
    if (path == NULL || where == NULL) {
        return;
    }
    snprintf(folder, sizeof folder, "%s", where);
    folder_length = strlen(folder);
    const int file =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    trace = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 900);
    if (file >= 0) {
        (void)syscall(SYS_close, file);
    }
}

__attribute__((constructor)) static void
start(void)
{
    void *frames[2];
    (void)backtrace(frames, 2); /* loads what it needs now */
    open_trace();
}

/* ---- the lock ---- */

static void
enter(void)
{
    (void)pthread_mutex_lock(&mutex);
    if (trace >= 0 && fcntl(trace, F_GETFD) < 0) {
        open_trace(); /* the program closed all that it did not know */
    }
    if (depth++ == 0 && trace >= 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        while (fcntl(trace, F_SETLKW, &lock) != 0 && errno == EINTR) {
        }
    }
}

static void
leave(void)
{
    const int error = errno;
    if (--depth == 0 && trace >= 0) {
        struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
        (void)fcntl(trace, F_SETLK, &lock);
    }
    (void)pthread_mutex_unlock(&mutex);
    errno = error;
}

static void
note(enum trace_kind kind, struct trace_record record, const char *name, const char *name2,
     const void *bytes)
{
    record.kind = kind;
    record.name_length = name != NULL ? (uint32_t)strlen(name) : 0;
    record.name2_length = name2 != NULL ? (uint32_t)strlen(name2) : 0;
    struct iovec parts[4] = {{&record, sizeof record},
                             {(void *)(uintptr_t)name, record.name_length},
                             {(void *)(uintptr_t)name2, record.name2_length},
                             {(void *)(uintptr_t)bytes, record.length}};
    size_t whole = 0;
    for (size_t i = 0; i < 4; i++) {
        whole += parts[i].iov_len;
    }
    if (syscall(SYS_writev, trace, parts, 4) != (long)whole) {
        static const char text[] = "power loss: the trace cannot be written\n";
        (void)syscall(SYS_write, 2, text, sizeof text - 1);
        abort();
    }
}

/* ---- what is below the folder ---- */

static bool
is_below(const char *path)
{
    return folder_length > 0 && strncmp(path, folder, folder_length) == 0 &&
           (path[folder_length] == '/' || path[folder_length] == '\0') &&
           strstr(path, " (deleted)") == NULL;
}

static bool
path_of(int descriptor, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* The inode of an open file or folder that is of interest; 0. */
static uint64_t
inode_of(int descriptor)
{
    char path[PATH_MAX];
    struct stat status;
    const int error = errno;
    const bool ours = trace >= 0 && path_of(descriptor, path) && is_below(path) &&
                      fstat(descriptor, &status) == 0 &&
                      (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
    errno = error;
    return ours ? status.st_ino : 0;
}

struct place {
    uint64_t folder; /* 0: of no interest */
    char name[NAME_MAX + 1];
};

/* The folder in which a path ends, and its last part. */
static struct place
place_of(int at, const char *path)
{
    struct place place = {0};
    char parent[PATH_MAX], real[PATH_MAX];
    if (trace < 0 || path == NULL || strlen(path) >= PATH_MAX - 2) {
        return place;
    }
    const int error = errno;
    snprintf(parent, sizeof parent, "%s", path);
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/') {
        parent[--length] = '\0';
    }
    char *slash = strrchr(parent, '/');
    snprintf(place.name, sizeof place.name, "%s", slash != NULL ? slash + 1 : parent);
    if (slash == NULL) {
        strcpy(parent, ".");
    } else {
        slash[slash == parent] = '\0';
    }
    const int descriptor =
        (int)syscall(SYS_openat, at, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    struct stat status;
    if (descriptor >= 0 && path_of(descriptor, real) && is_below(real) &&
        fstat(descriptor, &status) == 0) {
        place.folder = status.st_ino;
    }
    if (descriptor >= 0) {
        (void)syscall(SYS_close, descriptor);
    }
    errno = error;
    return place;
}

static uint64_t
inode_at(int at, const char *path)
{
    struct stat status;
    const int error = errno;
    const bool there = fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
    errno = error;
    return there ? status.st_ino : 0;
}

/* ---- opening ---- */

static int
opened(int at, const char *path, int flags, mode_t mode)
{
    if (trace < 0 || (flags & (O_CREAT | O_TRUNC)) == 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        return (int)syscall(SYS_openat, at, path, flags, mode);
    }
    enter();
    const struct place place = place_of(at, path);
    const bool there = place.folder == 0 || inode_at(at, path) != 0;
    const int file = (int)syscall(SYS_openat, at, path, flags, mode);
    const uint64_t inode = file >= 0 && place.folder != 0 ? inode_of(file) : 0;
    if (inode != 0 && !there) {
        note(TRACE_CREATE, (struct trace_record){.inode = inode, .folder = place.folder},
             place.name, NULL, NULL);
    } else if (inode != 0 && (flags & O_TRUNC) != 0) {
        note(TRACE_TRUNCATE, (struct trace_record){.inode = inode}, NULL, NULL, NULL);
    }
    leave();
    return file;
}

static mode_t
mode_of(int flags, va_list arguments)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t)
                                                                      : MODE_NONE;
}

#define OPEN(name)                                     \
    int name(const char *path, int flags, ...);        \
    int name(const char *path, int flags, ...)         \
    {                                                  \
        va_list arguments;                             \
        va_start(arguments, flags);                    \
        const mode_t mode = mode_of(flags, arguments); \
        va_end(arguments);                             \
        return opened(AT_FDCWD, path, flags, mode);    \
    }
#define OPENAT(name)                                    \
    int name(int at, const char *path, int flags, ...); \
    int name(int at, const char *path, int flags, ...)  \
    {                                                   \
        va_list arguments;                              \
        va_start(arguments, flags);                     \
        const mode_t mode = mode_of(flags, arguments);  \
        va_end(arguments);                              \
        return opened(at, path, flags, mode);           \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

static FILE *
opened_stream(const char *function, const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, function);
    if (trace < 0 || strpbrk(mode, "wa") == NULL) {
        return real(path, mode);
    }
    enter();
    const struct place place = place_of(AT_FDCWD, path);
    const bool there = place.folder == 0 || inode_at(AT_FDCWD, path) != 0;
    FILE *file = real(path, mode);
    const uint64_t inode = file != NULL && place.folder != 0 ? inode_of(fileno(file)) : 0;
    if (inode != 0 && !there) {
        note(TRACE_CREATE, (struct trace_record){.inode = inode, .folder = place.folder},
             place.name, NULL, NULL);
    } else if (inode != 0 && strchr(mode, 'w') != NULL) {
        note(TRACE_TRUNCATE, (struct trace_record){.inode = inode}, NULL, NULL, NULL);
    }
    leave();
    return file;
}

FILE *
fopen(const char *path, const char *mode)
{
    return opened_stream("fopen", path, mode);
}

FILE *
fopen64(const char *path, const char *mode)
{
    return opened_stream("fopen64", path, mode);
}

/* ---- streams ---- */

static void
note_content(uint64_t inode, int descriptor)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const int copy = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (copy < 0 || fstat(copy, &status) != 0) {
        return;
    }
    const size_t size = (size_t)status.st_size;
    char *bytes = malloc(size + 1);
    const ssize_t n = bytes == NULL ? -1 : pread(copy, bytes, size, 0);
    if (n >= 0) {
        note(TRACE_CONTENT, (struct trace_record){.inode = inode, .length = (uint64_t)n}, NULL,
             NULL, bytes);
    }
    free(bytes);
    (void)syscall(SYS_close, copy);
}

static uint64_t
inode_of_stream(FILE *file)
{
    const int descriptor = file == NULL ? -1 : fileno(file);
    const int flags = descriptor < 0 ? -1 : fcntl(descriptor, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? 0 : inode_of(descriptor);
}

int
fflush(FILE *file)
{
    int (*real)(FILE *);
    *(void **)&real = dlsym(RTLD_NEXT, "fflush");
    const uint64_t inode = trace < 0 ? 0 : inode_of_stream(file);
    if (inode == 0) {
        return real(file);
    }
    enter();
    const int result = real(file);
    const int error = errno;
    note_content(inode, fileno(file));
    errno = error;
    leave();
    return result;
}

int
fclose(FILE *file)
{
    int (*real)(FILE *);
    *(void **)&real = dlsym(RTLD_NEXT, "fclose");
    if (trace >= 0 && inode_of_stream(file) != 0) {
        (void)fflush(file);
    }
    return real(file);
}

int
vdprintf(int descriptor, const char *format, va_list arguments)
{
    char *text;
    const int length = vasprintf(&text, format, arguments);
    if (length < 0) {
        return length;
    }
    const ssize_t n = write(descriptor, text, (size_t)length);
    free(text);
    return (int)n;
}

int
dprintf(int descriptor, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vdprintf(descriptor, format, arguments);
    va_end(arguments);
    return n;
}

/* ---- writing ---- */

static void
note_sync(uint64_t inode)
{
    void *frames[FRAMES_MOST];
    char site[SITE_SIZE];
    size_t length = 0;
    char self[PATH_MAX];
    const int n = backtrace(frames, FRAMES_MOST);
    const ssize_t self_length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[self_length > 0 ? self_length : 0] = '\0';
    for (int i = 1; i < n && length < sizeof site - PATH_MAX / 8; i++) {
        Dl_info info;
        if (dladdr(frames[i], &info) != 0 && info.dli_fname != NULL) {
            const int added = snprintf(site + length, sizeof site - length, "%s %lx\n",
                                       strchr(info.dli_fname, '/') != NULL ? info.dli_fname : self,
                                       (unsigned long)((char *)frames[i] - (char *)info.dli_fbase));
            length += added > 0 && (size_t)added < sizeof site - length ? (size_t)added : 0;
        }
    }
    note(TRACE_SYNC, (struct trace_record){.inode = inode, .length = length}, NULL, NULL, site);
}

static void
note_write(uint64_t inode, int descriptor, const void *bytes, ssize_t n, off_t offset)
{
    if (n > 0) {
        note(TRACE_WRITE,
             (struct trace_record){
                 .inode = inode, .offset = (uint64_t)offset, .length = (uint64_t)n},
             NULL, NULL, bytes);
        if ((fcntl(descriptor, F_GETFL) & O_DSYNC) != 0) {
            note_sync(inode);
        }
    }
}

ssize_t
write(int descriptor, const void *bytes, size_t length)
{
    const uint64_t inode = inode_of(descriptor);
    if (inode == 0) {
        return syscall(SYS_write, descriptor, bytes, length);
    }
    enter();
    const ssize_t n = syscall(SYS_write, descriptor, bytes, length);
    if (n > 0) { /* where it went: with O_APPEND known only now */
        note_write(inode, descriptor, bytes, n, lseek(descriptor, 0, SEEK_CUR) - n);
    }
    leave();
    return n;
}

ssize_t
pwrite(int descriptor, const void *bytes, size_t length, off_t offset)
{
    const uint64_t inode = inode_of(descriptor);
    if (inode == 0) {
        return syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    }
    enter();
    const ssize_t n = syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    note_write(inode, descriptor, bytes, n, offset);
    leave();
    return n;
}

ssize_t
pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset)
{
    return pwrite(descriptor, bytes, length, offset);
}

/* Part by part, which a system may do, too. */
ssize_t
writev(int descriptor, const struct iovec *parts, int count)
{
    if (inode_of(descriptor) == 0) {
        return syscall(SYS_writev, descriptor, parts, count);
    }
    ssize_t whole = 0;
    for (int i = 0; i < count; i++) {
        const ssize_t n = write(descriptor, parts[i].iov_base, parts[i].iov_len);
        if (n < 0) {
            return whole > 0 ? whole : n;
        }
        whole += n;
        if ((size_t)n < parts[i].iov_len) {
            break;
        }
    }
    return whole;
}

int
ftruncate(int descriptor, off_t size)
{
    const uint64_t inode = inode_of(descriptor);
    enter();
    const int result = (int)syscall(SYS_ftruncate, descriptor, size);
    if (result == 0 && inode != 0) {
        note(TRACE_TRUNCATE, (struct trace_record){.inode = inode, .offset = (uint64_t)size}, NULL,
             NULL, NULL);
    }
    leave();
    return result;
}

int
ftruncate64(int descriptor, off64_t size)
{
    return ftruncate(descriptor, size);
}

/* What this recorder cannot follow must not be used unseen. */
static void
refuse(const char *call)
{
    fprintf(stderr, "power loss: %s is not recorded\n", call);
    abort();
}

#define REFUSE_FOR(descriptor, call) \
    if (inode_of(descriptor) != 0) { \
        refuse(call);                \
    }

int
fallocate(int descriptor, int mode, off_t offset, off_t length)
{
    REFUSE_FOR(descriptor, "fallocate")
    return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
}

ssize_t
copy_file_range(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t length,
                unsigned flags)
{
    REFUSE_FOR(out, "copy_file_range")
    return syscall(SYS_copy_file_range, in, in_offset, out, out_offset, length, flags);
}

void *
mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
    if ((flags & MAP_TYPE) != MAP_PRIVATE && (protection & PROT_WRITE) != 0 && descriptor >= 0) {
        REFUSE_FOR(descriptor, "a shared mapping that is written to")
    }
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

/* ---- syncing ---- */

static unsigned folder_syncs_left; /* until this process is killed instead; 0: it is not */

void power_loss_die(unsigned folder_syncs);
void
power_loss_die(unsigned folder_syncs)
{
    folder_syncs_left = folder_syncs;
}

static int
synced(long number, int descriptor)
{
    const uint64_t inode = inode_of(descriptor);
    if (inode == 0) {
        return (int)syscall(number, descriptor);
    }
    enter();
    struct stat status;
    if (folder_syncs_left > 0 && fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode) &&
        --folder_syncs_left == 0) {
        (void)kill(getpid(), SIGKILL);
    }
    const int result = (int)syscall(number, descriptor);
    if (result == 0) {
        note_sync(inode);
    }
    leave();
    return result;
}

int
fsync(int descriptor)
{
    return synced(SYS_fsync, descriptor);
}

int
fdatasync(int descriptor)
{
    return synced(SYS_fdatasync, descriptor);
}

/* ---- names ---- */

int
mkdirat(int at, const char *path, mode_t mode)
{
    const struct place place = place_of(at, path);
    enter();
    const int result = (int)syscall(SYS_mkdirat, at, path, mode);
    if (result == 0 && place.folder != 0) {
        note(TRACE_MKDIR,
             (struct trace_record){.inode = inode_at(at, path), .folder = place.folder}, place.name,
             NULL, NULL);
    }
    leave();
    return result;
}

int
mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int
unlinkat(int at, const char *path, int flags)
{
    const struct place place = place_of(at, path);
    enter();
    const int result = (int)syscall(SYS_unlinkat, at, path, flags);
    if (result == 0 && place.folder != 0) {
        note(TRACE_UNLINK, (struct trace_record){.folder = place.folder}, place.name, NULL, NULL);
    }
    leave();
    return result;
}

int
unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int
rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int
remove(const char *path)
{
    const int result = unlink(path);
    return result != 0 && errno == EISDIR ? rmdir(path) : result;
}

int
renameat2(int at, const char *path, int at2, const char *path2, unsigned flags)
{
    const struct place from = place_of(at, path), to = place_of(at2, path2);
    enter();
    const int result = (int)syscall(SYS_renameat2, at, path, at2, path2, flags);
    if (result == 0 && (from.folder != 0) != (to.folder != 0)) {
        refuse("a rename into the folder or out of it");
    }
    if (result == 0 && from.folder != 0) {
        note(TRACE_RENAME, (struct trace_record){.folder = from.folder, .folder2 = to.folder},
             from.name, to.name, NULL);
    }
    leave();
    return result;
}

int
renameat(int at, const char *path, int at2, const char *path2)
{
    return renameat2(at, path, at2, path2, 0);
}

int
rename(const char *path, const char *path2)
{
    return renameat2(AT_FDCWD, path, AT_FDCWD, path2, 0);
}

int
linkat(int at, const char *path, int at2, const char *path2, int flags)
{
    const struct place to = place_of(at2, path2);
    enter();
    const int result = (int)syscall(SYS_linkat, at, path, at2, path2, flags);
    if (result == 0 && to.folder != 0) {
        note(TRACE_LINK, (struct trace_record){.inode = inode_at(at2, path2), .folder = to.folder},
             to.name, NULL, NULL);
    }
    leave();
    return result;
}

int
link(const char *path, const char *path2)
{
    return linkat(AT_FDCWD, path, AT_FDCWD, path2, 0);
}

/* ---- what was acknowledged ---- */

void power_loss_mark(const char *text);
void
power_loss_mark(const char *text)
{
    enter();
    if (trace >= 0) {
        note(TRACE_MARK, (struct trace_record){.length = strlen(text)}, NULL, NULL, text);
    }
    leave();
}

#pragma GCC visibility pop
