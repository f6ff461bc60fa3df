/* Preloaded into User-Mode Linux, whose virtual routers would otherwise not run on every processor, or lose frames.
 *
 * 1. ptrace. UML saves 2,696 octets of a process's extended state and writes as many back; the host wants all the state that the processor
 *    has, 11,008 octets with AMX: "ptrace set fp regs failed, errno = 14". The rest is filled up here, and marked as unused.
 * 2. socket. The usual receive buffer holds about 250 frames.
 * 3. fcntl. A socket that only sends would raise a signal for each frame it has sent.
 * 4. kill. After a panic UML sends itself SIGABRT until it is dead. As the first process of its namespace it would never be.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RECEIVE_BUFFER = 8 << 20, FIRST_OF_XSAVE = 2, FEATURES = 63, BITS = 512, LARGEST = 1 << 15, FILES = 1024, ABORTED = 128 + SIGABRT };

/* By the number of the file. */
static char only_sends[FILES];

/* What this processor's state is like beside one of `given` octets. It does not change, and asking for it is slow: in a virtual machine each `cpuid` is
 * done by the host, and the state is set at each of UML's context switches. */
static struct {
    unsigned given, length;
    uint64_t missing;
} layout;

static void look(unsigned given) {
    unsigned size, offset, unused, more;
    __cpuid_count(0xd, 0, unused, layout.length, offset, more);
    layout.missing = 0;
    for (int feature = FIRST_OF_XSAVE; feature < FEATURES; feature++) {
        __cpuid_count(0xd, feature, size, offset, unused, more);
        if (offset + size > given)
            layout.missing |= 1ULL << feature;
    }
    layout.given = given;
}

/* The state in `given`, in a buffer as long as this processor's: what does not fit into `given` is marked as in its initial state. */
static long set_state(long (*next)(int, ...), pid_t pid, struct iovec *given) {
    static char whole[LARGEST];
    if (layout.given != given->iov_len)
        look(given->iov_len);
    if (layout.length <= given->iov_len || layout.length > LARGEST)
        return next(PTRACE_SETREGSET, pid, NT_X86_XSTATE, given);
    memset(whole, 0, layout.length);
    memcpy(whole, given->iov_base, given->iov_len);
    *(uint64_t *)(whole + BITS) &= ~layout.missing;
    struct iovec all = {whole, layout.length};
    return next(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...) {
    static long (*next)(int, ...);
    if (!next)
        next = dlsym(RTLD_NEXT, "ptrace");
    va_list rest;
    va_start(rest, request);
    pid_t pid = va_arg(rest, pid_t);
    void *address = va_arg(rest, void *), *data = va_arg(rest, void *);
    va_end(rest);
    if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE)
        return set_state(next, pid, data);
    return next(request, pid, address, data);
}

int socket(int domain, int type, int protocol) {
    static int (*next)(int, int, int);
    if (!next)
        next = dlsym(RTLD_NEXT, "socket");
    int file = next(domain, type, protocol), size = RECEIVE_BUFFER;
    if (file >= 0 && file < FILES)
        only_sends[file] = domain == AF_PACKET && protocol == 0;
    if (file >= 0 && domain == AF_PACKET)
        setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    return file;
}

int fcntl(int file, int command, ...) {
    static int (*next)(int, int, ...);
    if (!next)
        next = dlsym(RTLD_NEXT, "fcntl");
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    if (command == F_SETFL && file >= 0 && file < FILES && only_sends[file])
        argument &= ~O_ASYNC;
    return next(file, command, argument);
}

int fcntl64(int file, int command, ...) __attribute__((alias("fcntl")));

int kill(pid_t pid, int signal) {
    static int (*next)(pid_t, int);
    if (!next)
        next = dlsym(RTLD_NEXT, "kill");
    if (signal == SIGABRT && pid == getpid())
        _exit(ABORTED);
    return next(pid, signal);
}
