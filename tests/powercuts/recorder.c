/* Records what a process does to the files of one folder, in order: LD_PRELOAD it, with RECORDED_FOLDER and RECORDED_LOG.

   A record is: kind (1 byte), number of the file (8), offset or size (8), length of what follows (4), and that. It is
   written once the call has returned, under one lock, so the log has the order in which the calls took effect.
   Kinds: C created (name), O opened (name), W written (bytes), T truncated, S synchronized, D a folder synchronized (name),
   R renamed (both names, NUL between), L linked (likewise), U unlinked (name), M folder made (name). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define MOST_FDS 65536

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const char *folder;
static size_t folder_size;
static int record_fd = -1;
static uint64_t file_of[MOST_FDS]; /* number of the file behind a descriptor; 0: none of ours */
static char *dir_of[MOST_FDS];     /* name of the folder behind a descriptor */

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void begin(void) {
    folder = getenv("RECORDED_FOLDER");
    const char *path = getenv("RECORDED_LOG");
    if (!folder || !path) return;
    folder_size = strlen(folder);
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    record_fd = real(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Return the name inside of the folder, "" for the folder itself; NULL if the path is elsewhere. */
static const char *inside(const char *path) {
    if (record_fd < 0 || strncmp(path, folder, folder_size)) return NULL;
    if (path[folder_size] == '/') return path + folder_size + 1;
    return path[folder_size] ? NULL : path + folder_size;
}

static void record(char kind, uint64_t file, uint64_t offset, const void *data, uint32_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    char *whole = malloc(21 + size);
    whole[0] = kind;
    memcpy(whole + 1, &file, 8);
    memcpy(whole + 9, &offset, 8);
    memcpy(whole + 17, &size, 4);
    memcpy(whole + 21, data, size);
    if (real(record_fd, whole, 21 + size) != (ssize_t)(21 + size)) abort();
    free(whole);
}

static void record_name(char kind, uint64_t file, const char *name) { record(kind, file, 0, name, strlen(name)); }

static void record_names(char kind, const char *one, const char *other) {
    char both[8192];
    int size = snprintf(both, sizeof both, "%s%c%s", one, 0, other);
    record(kind, 0, 0, both, size);
}

static void note_open(int fd, const char *path, int flags, int was_there) {
    const char *name = inside(path);
    struct stat found;
    if (!name || fd < 0 || fd >= MOST_FDS || fstat(fd, &found)) return;
    if (S_ISDIR(found.st_mode)) {
        free(dir_of[fd]);
        dir_of[fd] = strdup(name);
        return;
    }
    file_of[fd] = found.st_ino;
    record_name(was_there ? 'O' : 'C', found.st_ino, name);
    if (was_there && flags & O_TRUNC) record('T', found.st_ino, 0, "", 0);
}

#define OPEN(function) \
    int function(const char *path, int flags, ...) { \
        REAL(int, #function, const char *, int, ...); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); } \
        pthread_mutex_lock(&lock); \
        int was_there = !access(path, F_OK); \
        int fd = real(path, flags, mode); \
        int error = errno; \
        note_open(fd, path, flags, was_there); \
        pthread_mutex_unlock(&lock); \
        errno = error; \
        return fd; \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    REAL(int, "close", int);
    if (fd >= 0 && fd < MOST_FDS) {
        file_of[fd] = 0;
        free(dir_of[fd]);
        dir_of[fd] = NULL;
    }
    return real(fd);
}

static int is_ours(int fd) { return record_fd >= 0 && fd >= 0 && fd < MOST_FDS && file_of[fd]; }

#define PWRITE(function) \
    ssize_t function(int fd, const void *data, size_t size, off64_t offset) { \
        REAL(ssize_t, #function, int, const void *, size_t, off64_t); \
        if (!is_ours(fd)) return real(fd, data, size, offset); \
        pthread_mutex_lock(&lock); \
        ssize_t done = real(fd, data, size, offset); \
        int error = errno; \
        if (done > 0) record('W', file_of[fd], offset, data, done); \
        pthread_mutex_unlock(&lock); \
        errno = error; \
        return done; \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (!is_ours(fd)) return real(fd, data, size);
    pthread_mutex_lock(&lock);
    ssize_t done = real(fd, data, size);
    int error = errno;
    if (done > 0) record('W', file_of[fd], lseek64(fd, 0, SEEK_CUR) - done, data, done);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

#define TRUNCATE(function) \
    int function(int fd, off64_t size) { \
        REAL(int, #function, int, off64_t); \
        pthread_mutex_lock(&lock); \
        int result = real(fd, size); \
        int error = errno; \
        if (!result && is_ours(fd)) record('T', file_of[fd], size, "", 0); \
        pthread_mutex_unlock(&lock); \
        errno = error; \
        return result; \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(function) \
    int function(int fd) { \
        REAL(int, #function, int); \
        pthread_mutex_lock(&lock); \
        int result = real(fd); \
        int error = errno; \
        if (!result && is_ours(fd)) record('S', file_of[fd], 0, "", 0); \
        if (!result && record_fd >= 0 && fd >= 0 && fd < MOST_FDS && dir_of[fd]) record_name('D', 0, dir_of[fd]); \
        pthread_mutex_unlock(&lock); \
        errno = error; \
        return result; \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TWO_NAMES(function, kind) \
    int function(const char *one, const char *other) { \
        REAL(int, #function, const char *, const char *); \
        pthread_mutex_lock(&lock); \
        int result = real(one, other); \
        int error = errno; \
        if (!result && inside(one) && inside(other)) record_names(kind, inside(one), inside(other)); \
        pthread_mutex_unlock(&lock); \
        errno = error; \
        return result; \
    }
TWO_NAMES(rename, 'R')
TWO_NAMES(link, 'L')

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    pthread_mutex_lock(&lock);
    int result = real(path);
    int error = errno;
    if (!result && inside(path)) record_name('U', 0, inside(path));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    pthread_mutex_lock(&lock);
    int result = real(path, mode);
    int error = errno;
    if (!result && inside(path)) record_name('M', 0, inside(path));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
