/* Preloaded: ends the process, or fails, at the nth change below one directory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[4096];
static long wanted = -1, seen = 0;
/* 0: SIGKILL, INTERRUPT: SIGINT before the call, which is then made; else the errno to fail with.
   Below 0: from this call on, all that need space fail. */
#define INTERRUPT 10000
static int failure = 0;

/* Called through ctypes by the test, once in each forked child. */
void faults_arm(const char *directory, long at, int error) {
    snprintf(root, sizeof root, "%s", directory);
    wanted = at; failure = error; seen = 0;
}
long faults_seen(void) { return seen; }

static int below(int dirfd, const char *path) {
    char full[8192];
    if (!root[0] || !path) return 0;
    if (path[0] == '/') return !strncmp(path, root, strlen(root));
    if (dirfd == AT_FDCWD) return 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
    ssize_t n = readlink(link, full, sizeof full - 1);
    if (n < 0) return 0;
    full[n] = 0;
    return !strncmp(full, root, strlen(root));
}
static int on(int fd) { return below(fd, ""); }
static int hit(int counts, int needs_space) {
    if (!counts || wanted < 0) return 0;
    ++seen;
    if (failure < 0 && seen >= wanted && needs_space) { errno = -failure; return 1; }
    if (failure < 0 || seen != wanted) return 0;
    if (failure == INTERRUPT) { kill(getpid(), SIGINT); return 0; }
    if (!failure) kill(getpid(), SIGKILL);
    errno = failure;
    return 1;
}
#define REAL(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define STEP(test) do { if (hit(test, 0)) return -1; } while (0)
#define SPACE(test) do { if (hit(test, 1)) return -1; } while (0)

#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list ap; va_start(ap, flags); mode_t mode = va_arg(ap, int); va_end(ap); \
    REAL(name); SPACE((flags & (O_CREAT | O_TRUNC)) && below(AT_FDCWD, path)); \
    return real(path, flags, mode); }
#define OPENAT(name) int name(int fd, const char *path, int flags, ...) { \
    va_list ap; va_start(ap, flags); mode_t mode = va_arg(ap, int); va_end(ap); \
    REAL(name); SPACE((flags & (O_CREAT | O_TRUNC)) && below(fd, path)); \
    return real(fd, path, flags, mode); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write); SPACE(on(fd)); return real(fd, data, size); }
int rename(const char *a, const char *b) {
    REAL(rename); STEP(below(AT_FDCWD, b)); return real(a, b); }
int renameat(int fa, const char *a, int fb, const char *b) {
    REAL(renameat); STEP(below(fb, b)); return real(fa, a, fb, b); }
int renameat2(int fa, const char *a, int fb, const char *b, unsigned flags) {
    REAL(renameat2);
    STEP(below(fb, b)); return real(fa, a, fb, b, flags); }
int mkdir(const char *p, mode_t m) { REAL(mkdir); SPACE(below(AT_FDCWD, p)); return real(p, m); }
int mkdirat(int f, const char *p, mode_t m) { REAL(mkdirat); SPACE(below(f, p)); return real(f, p, m); }
int rmdir(const char *p) { REAL(rmdir); STEP(below(AT_FDCWD, p)); return real(p); }
int unlink(const char *p) { REAL(unlink); STEP(below(AT_FDCWD, p)); return real(p); }
int unlinkat(int f, const char *p, int g) { REAL(unlinkat); STEP(below(f, p)); return real(f, p, g); }
int symlink(const char *t, const char *p) { REAL(symlink); SPACE(below(AT_FDCWD, p)); return real(t, p); }
int link(const char *a, const char *b) { REAL(link); SPACE(below(AT_FDCWD, b)); return real(a, b); }
int linkat(int fa, const char *a, int fb, const char *b, int g) {
    REAL(linkat); SPACE(below(fb, b)); return real(fa, a, fb, b, g); }
int chmod(const char *p, mode_t m) { REAL(chmod); STEP(below(AT_FDCWD, p)); return real(p, m); }
int fchmod(int f, mode_t m) { REAL(fchmod); STEP(on(f)); return real(f, m); }
int fsync(int f) { REAL(fsync); STEP(on(f)); return real(f); }
int syncfs(int f) { REAL(syncfs); STEP(on(f)); return real(f); }
int ftruncate(int f, off_t n) { REAL(ftruncate); STEP(on(f)); return real(f, n); }
int ftruncate64(int f, off64_t n) { REAL(ftruncate64); STEP(on(f)); return real(f, n); }
