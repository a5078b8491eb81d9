/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filtered.c - makes unusual system calls: three unlinkat before and N after a seccomp filter denies them, with the
 * name in memory that was not touched before, and calls of unassigned numbers. Exit status 77: there are no seccomp
 * filters.
 *
 *	filtered [N]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Pages that are not touched before, far from others, because the kernel maps neighbouring pages together. */
#define FAR (256 << 10)
static const struct {
	char before[FAR], name[16], after[FAR];
} untouched __attribute__((aligned(4096))) = {.before = {1}, .name = "refused-file"};

static int filtered_deny(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlinkat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < 3; i++)
		unlinkat(AT_FDCWD, "not-there", 0);
	syscall(600, 1);
	for (int i = 0; i < 5; i++)
		syscall(9999, 1, 2, 3);
	pid_t child = fork();
	if (child == 0)
		_exit(3);
	waitpid(child, NULL, 0);
	if (filtered_deny())
		return 77;
	for (int i = 0; i < count; i++)
		unlinkat(AT_FDCWD, untouched.name, 0);
	return 0;
}
