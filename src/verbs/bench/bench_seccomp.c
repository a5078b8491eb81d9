/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/bench/bench_seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define FLAG_SYNC_WAKE_UP (UINT64_C(1) << 0)
/* The result of the intercepted system call, which differs from that of a call that was not intercepted. */
#define ANSWER 0x5ec

struct bench_seccomp {
	uint64_t loops;
	bool sync;
};

static const struct option bench_seccomp_options[] = {
	{.name = "loop",
		.letter = 'l',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct bench_seccomp, loops),
		.help = "Specify number of loops"},
	{.name = "sync-mode",
		.letter = 's',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct bench_seccomp, sync),
		.help = "Enable the synchronous mode for seccomp notifications"},
};
const struct option_table bench_seccomp_table = {bench_seccomp_options, ARRAY_LEN(bench_seccomp_options), false};

static bool bench_seccomp_send_fd(int channel, int fd)
{
	char byte = 0;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec part = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(channel, &message, 0) == 1;
}

static int bench_seccomp_take_fd(int channel)
{
	char byte;
	int fd = -1;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room)};
	if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* Runs in the child, and calls getppid, which the parent handles. Returns the exit status: 0, the errno of the call
 * that failed, or EPROTO if the parent's answer did not arrive. */
static int bench_seccomp_child(int channel, uint64_t loops)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {ARRAY_LEN(code), code};
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return errno;
	int fd = (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0)
		return errno;
	if (!bench_seccomp_send_fd(channel, fd))
		return errno;
	close(fd);
	for (uint64_t i = 0; i < loops; i++)
		if (syscall(__NR_getppid) != ANSWER)
			return EPROTO;
	return 0;
}

static bool bench_seccomp_answer(int fd, uint64_t loops)
{
	/* The kernel's structs may be larger than those of the headers. */
	union {
		struct seccomp_notif notice;
		char room[512];
	} asked;
	union {
		struct seccomp_notif_resp answer;
		char room[512];
	} given;
	for (uint64_t i = 0; i < loops; i++) {
		memset(&asked, 0, sizeof(asked));
		if (file_ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
			return false;
		memset(&given, 0, sizeof(given));
		given.answer.id = asked.notice.id;
		given.answer.val = ANSWER;
		if (file_ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &given) != 0)
			return false;
	}
	return true;
}

static int bench_seccomp_measure(const struct bench *bench, const struct bench_seccomp *job)
{
	int channel[2], status = 0;
	pid_t pid = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0 ? fork() : -1;
	if (pid == 0)
		_exit(bench_seccomp_child(channel[1], job->loops));
	if (pid < 0)
		return bench_fail(bench, "cannot start a process");
	close(channel[1]);
	uint64_t start = clock_ns();
	int fd = bench_seccomp_take_fd(channel[0]);
	bool is_sync = fd >= 0 && (!job->sync || ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, FLAG_SYNC_WAKE_UP) == 0);
	bool is_answered = is_sync && bench_seccomp_answer(fd, job->loops);
	int errnum = errno;
	if (!is_answered && fd >= 0)
		(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	uint64_t ns = clock_ns() - start;
	close(channel[0]);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !is_sync)
		return errno = errnum, bench_fail(bench, "this kernel has no synchronous mode (from Linux 6.6 on)");
	if (!is_answered || status != 0) {
		errno = fd < 0 && WIFEXITED(status) ? WEXITSTATUS(status) : errnum;
		return bench_fail(bench, "seccomp notifications do not work here");
	}
	bench_say(bench, "# Executed %" PRIu64 " system calls\n\n", job->loops);
	bench_rate(bench, &(struct bench_result){.operations = job->loops, .ns = ns});
	return 0;
}

int bench_seccomp_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_seccomp job = {.loops = 1000000};
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.loops == 0)
		return cli_usagef(bench->cli, command, "loop", "seccomp-notify needs at least one loop and no words");
	return bench_seccomp_measure(bench, &job);
}
