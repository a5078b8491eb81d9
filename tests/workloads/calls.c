/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls - makes many kinds of system calls with known arguments, for tests of how calls are shown. It creates and
 * removes files in the working directory; some calls fail on purpose. With an argument, it only calls exec.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define IGNORED(call) ((void)!(call))

static char room[4096];

static void handle(int number)
{
}

static void files(void)
{
	struct stat status;
	struct timespec times[2] = {{5, 6}, {0, UTIME_OMIT}};
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	IGNORED(write(fd, "hello\n\"q\\\1\377", 11));
	IGNORED(pread(fd, room, sizeof(room), 2));
	IGNORED(lseek(fd, 0, SEEK_END));
	IGNORED(ftruncate(fd, 5));
	IGNORED(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8192));
	IGNORED(flock(fd, LOCK_EX | LOCK_NB));
	IGNORED(fcntl(fd, F_GETFL));
	IGNORED(fcntl(fd, F_SETFD, FD_CLOEXEC));
	IGNORED(fchmod(fd, 0600));
	IGNORED(futimens(fd, times));
	IGNORED(fsetxattr(fd, "user.x", "val", 3, XATTR_CREATE));
	IGNORED(syscall(SYS_newfstatat, AT_FDCWD, "file", &status, 0));
	IGNORED(syscall(SYS_newfstatat, AT_FDCWD, "/dev/null", &status, 0));
	IGNORED(syscall(SYS_newfstatat, AT_FDCWD, "no\tfile", &status, AT_SYMLINK_NOFOLLOW));
	IGNORED(symlinkat("file", AT_FDCWD, "link"));
	IGNORED(readlinkat(AT_FDCWD, "link", room, sizeof(room)));
	IGNORED(mkdirat(AT_FDCWD, "folder", 0755));
	IGNORED(syscall(SYS_renameat2, AT_FDCWD, "folder", AT_FDCWD, "file", 1));
	IGNORED(unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR));
	IGNORED(unlinkat(AT_FDCWD, "link", 0));
	IGNORED(unlinkat(AT_FDCWD, "file", 0));
	close(fd);
	close(-1);
}

static void sockets(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "no-socket"};
	struct iovec vectors[2] = {{"one", 3}, {"a text of more than thirty-two bytes, cut", 41}};
	struct iovec rooms[2] = {{room, 4}, {room + 4, 60}};
	struct msghdr message = {.msg_iov = vectors, .msg_iovlen = 2}, received = {.msg_iov = rooms, .msg_iovlen = 2};
	socklen_t bytes = sizeof(address);
	int one = 1, server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	IGNORED(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	IGNORED(bind(server, (struct sockaddr *)&address, sizeof(address)));
	IGNORED(listen(server, 5));
	IGNORED(getsockname(server, (struct sockaddr *)&address, &bytes));
	int client = socket(AF_INET, SOCK_STREAM, 0);
	IGNORED(connect(client, (struct sockaddr *)&address, sizeof(address)));
	bytes = sizeof(address);
	int peer = accept4(server, (struct sockaddr *)&address, &bytes, SOCK_CLOEXEC);
	IGNORED(sendmsg(client, &message, MSG_NOSIGNAL));
	IGNORED(recvmsg(peer, &received, 0));
	IGNORED(writev(client, vectors, 2));
	IGNORED(readv(peer, rooms, 2));
	IGNORED(shutdown(client, SHUT_WR));
	struct pollfd polled[2] = {{peer, POLLIN | POLLPRI, 0}, {server, POLLIN, 0}};
	IGNORED(ppoll(polled, 2, &(struct timespec){1, 0}, NULL));
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.u64 = 77}}, events[4];
	IGNORED(epoll_ctl(epoll, EPOLL_CTL_ADD, peer, &event));
	IGNORED(epoll_pwait(epoll, events, 4, 1000, NULL));
	int local = socket(AF_UNIX, SOCK_DGRAM, 0);
	IGNORED(connect(local, (struct sockaddr *)&path, sizeof(path)));
}

static void processes(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	struct itimerspec timer = {{0, 0}, {2, 7}};
	struct rlimit limit;
	struct rusage usage;
	cpu_set_t cpus;
	sigset_t set;
	int status, fds[2], word = 1;
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	IGNORED(pipe2(fds, O_NONBLOCK));
	IGNORED(read(fds[0], room, 10));
	IGNORED(timerfd_settime(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), 0, &timer, NULL));
	IGNORED(eventfd(3, EFD_CLOEXEC | EFD_SEMAPHORE));
	IGNORED(getrlimit(RLIMIT_NOFILE, &limit));
	IGNORED(prctl(PR_SET_NAME, "calls"));
	IGNORED(sched_getaffinity(0, sizeof(cpus), &cpus));
	void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	IGNORED(mprotect(memory, 4096, PROT_READ));
	IGNORED(madvise(memory, 4096, MADV_DONTNEED));
	IGNORED(munmap(memory, 8192));
	IGNORED(syscall(SYS_clock_nanosleep, CLOCK_REALTIME, 0, &(struct timespec){0, 1000}, NULL));
	IGNORED(syscall(SYS_futex, &word, 128, 2, NULL, NULL, 0));
	IGNORED(syscall(999, 1, 2));
	pid_t child = fork();
	if (child == 0)
		_exit(3);
	IGNORED(wait4(child, &status, 0, &usage));
}

int main(int argc, char **argv)
{
	if (argc > 1) { /* The strings are in pages that have not been touched before. */
		execl("/bin/true", "true", "an argument", NULL);
		return 1;
	}
	files();
	sockets();
	processes();
	return 0;
}
