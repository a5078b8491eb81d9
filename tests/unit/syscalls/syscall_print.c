/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_print.h"

#include <stdio.h>

#include "call_maker.h"

struct print_test_plain {
	const char *name;
	uint64_t args[SYSCALL_ARGS];
	int64_t result;
	const char *text;
};

static const struct print_test_plain plain_calls[] = {
	{"close", {3}, 0, "close(fd: 3) = 0"},
	{"close", {0}, 0, "close(fd: 0) = 0"},
	{"close", {UINT32_MAX}, -9, "close(fd: -1) = -1 EBADF (Bad file descriptor)"},
	{"getpid", {7, 7, 7}, 1234, "getpid() = 1234"},
	{"brk", {0}, 0x5000, "brk() = 0x5000"},
	{"mmap", {0, 8192, 3, 0x22, UINT32_MAX, 0}, 0x7f0000001000,
		"mmap(len: 8192, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS) = 0x7f0000001000"},
	{"mmap", {0x1000, 4096, 5, 0x812, 3, 0x2000}, 0x1000,
		"mmap(addr: 0x1000, len: 4096, prot: READ|EXEC, flags: PRIVATE|FIXED|DENYWRITE, fd: 3, off: 0x2000) = "
		"0x1000"},
	{"mmap", {0, 1, 0x1000, 0x80000001}, -22,
		"mmap(len: 1, prot: 0x1000, flags: SHARED|0x80000000, fd: 0) = -1 EINVAL (Invalid argument)"},
	{"openat", {(uint64_t)-100, 0x10, 0x80000}, 3, "openat(dfd: CWD, filename: 0x10, flags: RDONLY|CLOEXEC) = 3"},
	{"openat", {UINT32_MAX - 99, 0x10, 0101101, 0644}, 3,
		"openat(dfd: CWD, filename: 0x10, flags: CREAT|LARGEFILE|TRUNC|WRONLY, mode: 0644) = 3"},
	{"openat", {5, 0x10, 020200002, 0600}, 3,
		"openat(dfd: 5, filename: 0x10, flags: RDWR|TMPFILE, mode: 0600) = 3"},
	{"open", {0, 0, 0777}, 3, "open(flags: RDONLY) = 3"},
	{"access", {0x10, 0}, 0, "access(filename: 0x10, mode: F) = 0"},
	{"access", {0x10, 6}, 0, "access(filename: 0x10, mode: R|W) = 0"},
	{"lseek", {3, 0, 1}, 0, "lseek(fd: 3, whence: CUR) = 0"},
	{"lseek", {3, (uint64_t)-5, 0}, -22, "lseek(fd: 3, offset: -5, whence: SET) = -1 EINVAL (Invalid argument)"},
	{"fcntl", {3, 3, 99}, 0100002, "fcntl(fd: 3, cmd: GETFL) = RDWR|LARGEFILE"},
	{"fcntl", {3, 1, 99}, 1, "fcntl(fd: 3, cmd: GETFD) = CLOEXEC"},
	{"fcntl", {3, 4, 04000}, 0, "fcntl(fd: 3, cmd: SETFL, arg: RDONLY|NONBLOCK) = 0"},
	{"fcntl", {3, 1030, 10}, 10, "fcntl(fd: 3, cmd: DUPFD_CLOEXEC, arg: 10) = 10"},
	{"fcntl", {3, 4242, 10}, -22, "fcntl(fd: 3, cmd: 0x1092, arg: 0xa) = -1 EINVAL (Invalid argument)"},
	{"ioctl", {0, 0x5401, 0x10}, -25,
		"ioctl(fd: 0, cmd: TCGETS, arg: 0x10) = -1 ENOTTY (Inappropriate ioctl for device)"},
	{"ioctl", {0, 0xc0045678, 0x10}, 0,
		"ioctl(fd: 0, cmd: _IOC(_IOC_READ|_IOC_WRITE, 0x56, 0x78, 4), arg: 0x10) = 0"},
	{"kill", {10, 15}, 0, "kill(pid: 10, sig: TERM) = 0"},
	{"kill", {(uint64_t)-1, 34}, 0, "kill(pid: -1, sig: RT_2) = 0"},
	{"clone", {0x1200011, 0, 0, 0x10}, 12,
		"clone(clone_flags: CHILD_CLEARTID|CHILD_SETTID|SIGCHLD, child_tidptr: 0x10) = 12"},
	{"unshare", {0x20020000}, 0, "unshare(unshare_flags: NEWNS|NEWPID) = 0"},
	{"futex", {0x10, 129, 1}, 1, "futex(uaddr: 0x10, op: WAKE|PRIVATE_FLAG, val: 1) = 1"},
	{"futex", {0x10, 0x189, 1, 0, 0, UINT32_MAX}, -516,
		"futex(uaddr: 0x10, op: WAIT_BITSET|PRIVATE_FLAG|CLOCK_REALTIME, val: 1, val3: 0xffffffff) = "
		"-1 ERESTART_RESTARTBLOCK (Interrupted; restart_syscall goes on with it)"},
	{"futex", {0x10, 129, 1, 0x99, 0x98, 0x97}, 1, "futex(uaddr: 0x10, op: WAKE|PRIVATE_FLAG, val: 1) = 1"},
	{"futex", {0x10, 0, 1, 0x99, 0x98, 0x97}, 0, "futex(uaddr: 0x10, op: WAIT, val: 1, utime: 0x99) = 0"},
	{"futex", {0x10, 4, 1, 5, 0x20}, 0, "futex(uaddr: 0x10, op: CMP_REQUEUE, val: 1, utime: 5, uaddr2: 0x20) = 0"},
	{"socket", {2, 0x80001, 6}, 3, "socket(family: INET, type: STREAM|CLOEXEC, protocol: TCP) = 3"},
	{"socket", {16, 3, 15}, 3, "socket(family: NETLINK, type: RAW, protocol: KOBJECT_UEVENT) = 3"},
	{"socket", {99, 3, 15}, -97,
		"socket(family: 99, type: RAW, protocol: 15) = -1 EAFNOSUPPORT (Address family not supported by "
		"protocol)"},
	{"setsockopt", {3, 1, 2, 0, 4}, 0, "setsockopt(fd: 3, level: SOCKET, optname: REUSEADDR, optlen: 4) = 0"},
	{"poll", {0, 0, 1}, 0, "poll(timeout_msecs: 1) = 0 (Timeout)"},
	{"prctl", {1, 9, 1, 1, 1}, 0, "prctl(option: SET_PDEATHSIG, arg2: KILL) = 0"},
	{"prctl", {38, 1, 77}, 0, "prctl(option: SET_NO_NEW_PRIVS, arg2: 1) = 0"},
	{"umask", {022}, 0777, "umask(mask: 022) = 0777"},
	{"mknodat", {(uint64_t)-100, 0x10, 020600, 0x103}, 0,
		"mknodat(dfd: CWD, filename: 0x10, mode: S_IFCHR|0600, dev: makedev(0x1, 0x3)) = 0"},
	{"setresuid", {UINT32_MAX, 5, UINT32_MAX}, 0, "setresuid(ruid: -1, euid: 5, suid: -1) = 0"},
	{"sched_setscheduler", {0, 0x40000001}, 0, "sched_setscheduler(policy: FIFO|RESET_ON_FORK) = 0"},
	{"shmget", {0, 4096, 01600}, 7, "shmget(size: 4096, shmflg: CREAT|0600) = 7"},
	{"clock_gettime", {1, 0x10}, 0, "clock_gettime(which_clock: MONOTONIC, tp: 0x10) = 0"},
	{"clock_gettime", {(uint64_t)-6, 0x10}, 0, "clock_gettime(which_clock: -6, tp: 0x10) = 0"},
	{"getrusage", {UINT32_MAX, 0x10}, 0, "getrusage(who: CHILDREN, ru: 0x10) = 0"},
	{"landlock_add_rule", {11, 1, 0x10, 45}, -77,
		"landlock_add_rule(ruleset_fd: 11, rule_type: LANDLOCK_RULE_PATH_BENEATH, rule_attr: 0x10, flags: 45) "
		"= -1 EBADFD "
		"(File descriptor in bad state)"},
	{"read", {3, 0x10, 5}, -512,
		"read(fd: 3, buf: 0x10, count: 5) = -1 ERESTARTSYS (Interrupted; starts again unless a handler forbids "
		"it)"},
	{"read", {3, 0x10, 5}, -4000, "read(fd: 3, buf: 0x10, count: 5) = -1 errno 4000"},
};

static void numbers_are_named(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64};
	for (size_t i = 0; i < ARRAY_LEN(plain_calls); i++) {
		call_begin(&m, plain_calls[i].name, plain_calls[i].args, plain_calls[i].result);
		assert_string_equal(call_text(&m), plain_calls[i].text);
	}
}

/* Options of the configuration of perf. */
static void values_alone_and_prefixes(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64, .options.no_names = true};
	call_begin(&m, "mmap", (const uint64_t[6]){0, 8192, 3, 0x22, UINT32_MAX}, 0x1000);
	assert_string_equal(call_text(&m), "mmap(NULL, 8192, READ|WRITE, PRIVATE|ANONYMOUS, -1, 0) = 0x1000");
	m.options = (struct syscall_print_options){.with_prefixes = true, .with_zeros = true};
	assert_string_equal(call_text(&m), "mmap(addr: NULL, len: 8192, prot: PROT_READ|PROT_WRITE, "
					   "flags: MAP_PRIVATE|MAP_ANONYMOUS, fd: -1, off: 0) = 0x1000");
	call_begin(&m, "openat", (const uint64_t[6]){UINT32_MAX - 99, 0, 02000001}, 3);
	assert_string_equal(call_text(&m), "openat(dfd: AT_FDCWD, filename: NULL, flags: O_CLOEXEC|O_WRONLY) = 3");
	call_begin(&m, "kill", (const uint64_t[6]){1, 9}, 0);
	assert_string_equal(call_text(&m), "kill(pid: 1, sig: SIGKILL) = 0");
}

static void strings_are_escaped(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64};
	static const uint64_t args[6] = {1, 0x10, 64};
	call_begin(&m, "write", args, 64);
	call_copy(&m, 1, SYSCALL_ITEM_SELF, 0, "hi\n\"\\\0001\x1b[31m\xc3\xa4\xff\x9b", 16);
	assert_string_equal(
		call_text(&m), "write(fd: 1, buf: \"hi\\n\\\"\\\\\\0001\\33[31m\xc3\xa4\\377\\233\", count: 64) = 64");
	m.options.no_buffer_quotes = m.options.no_names = true;
	assert_string_equal(call_text(&m), "write(1, hi\\n\\\"\\\\\\0001\\33[31m\xc3\xa4\\377\\233, 64) = 64");
	m.options = (struct syscall_print_options){0};
	call_begin(&m, "write", args, 64);
	call_copy(&m, 1, SYSCALL_ITEM_SELF, 0, "more than thirty-two bytes of text", 34);
	assert_string_equal(
		call_text(&m), "write(fd: 1, buf: \"more than thirty-two bytes of te\"..., count: 64) = 64");
	call_begin(&m, "execve", (const uint64_t[6]){0x10, 0x20, 0x30}, 0);
	call_copy(&m, 0, SYSCALL_ITEM_SELF, 0, "/bin/l\ts", 9);
	call_copy(&m, 1, SYSCALL_ITEM_BUFFER, 0, "ls", 3);
	call_copy(&m, 1, SYSCALL_ITEM_BUFFER + 1, SYSCALL_PART_TRUNCATED, "-l", 3);
	assert_string_equal(
		call_text(&m), "execve(filename: \"/bin/l\\ts\", argv: [\"ls\", \"-l\"...], envp: 0x30) = 0");
}

/* Memory that a call fills is shown as it was when the call returned. */
static void filled_memory_is_read_at_exit(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64};
	const struct {
		int fd;
		int16_t events, ready;
	} before[2] = {{3, 1, 0}, {4, 4, 0}}, after[2] = {{3, 1, 1}, {4, 4, 0}};
	call_begin(&m, "poll", (const uint64_t[6]){0x10, 2, 5}, 1);
	call_copy(&m, 0, SYSCALL_ITEM_SELF, 0, before, sizeof(before));
	assert_string_equal(call_text(&m),
		"poll(ufds: [{ .fd: 3, .events: IN }, { .fd: 4, .events: OUT }], nfds: 2, timeout_msecs: 5) = 1");
	call_copy(&m, 0, SYSCALL_ITEM_SELF, SYSCALL_PART_AT_EXIT, after, sizeof(after));
	assert_string_equal(call_text(&m),
		"poll(ufds: [{ .fd: 3, .events: IN, .revents: IN }, { .fd: 4, .events: OUT }], "
		"nfds: 2, timeout_msecs: 5) = 1");
	const int32_t pair[2] = {5, 6};
	call_begin(&m, "pipe2", (const uint64_t[6]){0x10, 0}, 0);
	call_copy(&m, 0, SYSCALL_ITEM_SELF, SYSCALL_PART_AT_EXIT, pair, sizeof(pair));
	assert_string_equal(call_text(&m), "pipe2(fildes: [5, 6]) = 0");
}

static void socket_addresses(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64};
	static const uint64_t args[6] = {3, 0x10, 16};
	static const struct {
		char bytes[32];
		size_t len;
		const char *text;
	} addresses[] = {
		{"\2\0\0\65\177\0\0\1", 16, "{ .family: INET, .port: 53, .addr: 127.0.0.1 }"},
		{"\12\0\1\273\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 28,
			"{ .family: INET6, .port: 443, .addr: ::1 }"},
		{"\12\0\1\273\0\0\0\0\x20\1\x0d\xb8\0\0\0\0\0\1\0\0\0\0\0\1\2\0\0\0", 28,
			"{ .family: INET6, .port: 443, .addr: 2001:db8::1:0:0:1, .scope_id: 2 }"},
		{"\12\0\1\273\0\0\0\0\0\0\0\0\0\0\0\0\0\0\377\377\12\0\0\1\0\0\0\0", 28,
			"{ .family: INET6, .port: 443, .addr: ::ffff:10.0.0.1 }"},
		{"\1\0/run/x\0garbage", 16, "{ .family: UNIX, .path: \"/run/x\" }"},
		{"\1\0\0a\0b", 6, "{ .family: UNIX, .path: @\"a\\0b\" }"},
		{"\1\0", 2, "{ .family: UNIX }"},
		{"\20\0\0\0\5\0\0\0\1\0\0\0", 12, "{ .family: NETLINK, .pid: 5, .groups: 1 }"},
		{"\143\0xy", 4, "{ .family: 99, .data: \"xy\" }"},
		{"\2", 1, "{ .family: UNSPEC }"},
	};
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		char expected[256];
		call_begin(&m, "connect", args, 0);
		call_copy(&m, 1, SYSCALL_ITEM_SELF, 0, addresses[i].bytes, addresses[i].len);
		snprintf(expected, sizeof(expected), "connect(fd: 3, uservaddr: %s, addrlen: 16) = 0",
			addresses[i].text);
		assert_string_equal(call_text(&m), expected);
	}
}

static void vectors_and_messages(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64};
	const uint64_t vector[4] = {0x100, 3, 0x200, 40};
	call_begin(&m, "writev", (const uint64_t[6]){1, 0x10, 2}, 43);
	call_copy(&m, 1, SYSCALL_ITEM_SELF, 0, vector, sizeof(vector));
	call_copy(&m, 1, SYSCALL_ITEM_BUFFER, 0, "abc", 3);
	assert_string_equal(call_text(&m), "writev(fd: 1, vec: [{ .iov_base: \"abc\", .iov_len: 3 }, "
					   "{ .iov_base: 0x200, .iov_len: 40 }], vlen: 2) = 43");
	const uint64_t messages[8] = {0, 0, 0x10, 1, 0, 0, 0, 2};
	call_begin(&m, "recvmmsg", (const uint64_t[6]){1, 0x10, 2, 0x40}, 1);
	call_copy(&m, 1, SYSCALL_ITEM_SELF, SYSCALL_PART_AT_EXIT, messages, sizeof(messages));
	call_copy(&m, 1, SYSCALL_ITEM_VECTOR, SYSCALL_PART_AT_EXIT, vector, 16);
	call_copy(&m, 1, SYSCALL_ITEM_BUFFER, SYSCALL_PART_AT_EXIT, "xyz", 3);
	assert_string_equal(call_text(&m),
		"recvmmsg(fd: 1, mmsg: [{ .msg_hdr: { .msg_name: NULL, .msg_namelen: 0, .msg_iov: [{ .iov_base: "
		"\"xy\", "
		".iov_len: 3 }], .msg_iovlen: 1, .msg_controllen: 0, .msg_flags: 0 }, .msg_len: 2 }, ...], vlen: 2, "
		"flags: DONTWAIT) = 1");
	const uint64_t message[7] = {0x300, 16, 0x10, 1, 0, 0, 0x20};
	call_begin(&m, "recvmsg", (const uint64_t[6]){1, 0x10, 0x40}, 3);
	call_copy(&m, 1, SYSCALL_ITEM_SELF, SYSCALL_PART_AT_EXIT, message, sizeof(message));
	call_copy(&m, 1, SYSCALL_ITEM_NAME, SYSCALL_PART_AT_EXIT, "\2\0\0\65\1\2\3\4\0\0\0\0\0\0\0\0", 16);
	call_copy(&m, 1, SYSCALL_ITEM_VECTOR, SYSCALL_PART_AT_EXIT, vector, 16);
	call_copy(&m, 1, SYSCALL_ITEM_BUFFER, SYSCALL_PART_AT_EXIT, "xyz", 3);
	assert_string_equal(call_text(&m),
		"recvmsg(fd: 1, msg: { .msg_name: { .family: INET, .port: 53, .addr: 1.2.3.4 }, .msg_namelen: 16, "
		".msg_iov: [{ .iov_base: \"xyz\", .iov_len: 3 }], .msg_iovlen: 1, .msg_controllen: 0, .msg_flags: "
		"TRUNC }, "
		"flags: DONTWAIT) = 3");
}

struct print_test_struct {
	const char *name;
	unsigned arg, flags;
	uint64_t words[18]; /* The contents of the copied memory. */
	size_t len;
	const char *text;
};

#define EXIT SYSCALL_PART_AT_EXIT

static const struct print_test_struct structs[] = {
	{"nanosleep", 0, 0, {1, 500}, 16, "rqtp: { .tv_sec: 1, .tv_nsec: 500 }"},
	{"utimensat", 2, 0, {1, 5, 0, 0x3ffffffe}, 32, "utimes: [{ .tv_sec: 1, .tv_nsec: 5 }, UTIME_OMIT]"},
	{"setitimer", 1, 0, {0, 1, 2, 3}, 32,
		"value: { .it_interval: { .tv_sec: 0, .tv_usec: 1 }, .it_value: { .tv_sec: 2, .tv_usec: 3 } }"},
	{"rt_sigprocmask", 1, 0, {1 << 1 | 1 << 16}, 8, "nset: [INT CHLD]"},
	{"rt_sigprocmask", 1, 0, {~(uint64_t)(1 << 8)}, 8, "nset: ~[KILL]"},
	{"rt_sigaction", 1, 0, {0x400000, 0x14000000, 0x500000, 1}, 32,
		"act: { .sa_handler: 0x400000, .sa_mask: [HUP], .sa_flags: RESTORER|RESTART, .sa_restorer: 0x500000 }"},
	{"rt_sigaction", 1, 0, {1, 0, 0, 0}, 32, "act: { .sa_handler: SIG_IGN, .sa_mask: [], .sa_flags: 0 }"},
	{"fstat", 1, EXIT, {1, 2, 1, 0100644, 0, 0, 77}, 144, "statbuf: { .st_mode: S_IFREG|0644, .st_size: 77, ... }"},
	{"fstat", 1, EXIT, {1, 2, 1, 020666, 0, 0x103, 77}, 144,
		"statbuf: { .st_mode: S_IFCHR|0666, .st_rdev: makedev(0x1, 0x3), ... }"},
	{"wait4", 1, EXIT, {0x300}, 4, "stat_addr: [WIFEXITED(s) && WEXITSTATUS(s) == 3]"},
	{"wait4", 1, EXIT, {0x8b}, 4, "stat_addr: [WIFSIGNALED(s) && WTERMSIG(s) == SEGV && WCOREDUMP(s)]"},
	{"wait4", 1, EXIT, {0x137f}, 4, "stat_addr: [WIFSTOPPED(s) && WSTOPSIG(s) == STOP]"},
	{"getrlimit", 1, EXIT, {1024, UINT64_MAX}, 16, "rlim: { .rlim_cur: 1024, .rlim_max: RLIM_INFINITY }"},
	{"clone3", 0, 0, {0x4000, 0, 0, 0, 17, 0x7000, 0x1000}, 88,
		"uargs: { .flags: VFORK, .exit_signal: CHLD, .stack: 0x7000, .stack_size: 4096 }"},
	{"openat2", 2, 0, {0x80000, 0, 4}, 24, "how: { .flags: RDONLY|CLOEXEC, .resolve: NO_SYMLINKS }"},
	{"sched_getaffinity", 2, EXIT, {0xb}, 8, "user_mask_ptr: [0 1 3]"},
	{"getresuid", 0, EXIT, {1000}, 4, "ruidp: [1000]"},
	{"epoll_ctl", 3, 0, {UINT64_C(0x780000001), 0}, 12, "event: { .events: IN|ET, .data: 7 }"},
	{"epoll_wait", 1, EXIT, {UINT64_C(0x700000001), 0}, 12, "events: [{ .events: IN, .data: 7 }]"},
	{"waitid", 2, EXIT, {17, 2, UINT64_C(0x500000063), 9}, 32,
		"infop: { .si_signo: CHLD, .si_code: CLD_KILLED, .si_pid: 99, .si_uid: 5, .si_status: KILL, ... }"},
	{"ioctl", 2, EXIT, {UINT64_C(0x500018)}, 8,
		"cmd: TIOCGWINSZ, arg: { .ws_row: 24, .ws_col: 80, .ws_xpixel: 0, .ws_ypixel: 0 }"},
	{"nanosleep", 0, 0, {1, 500}, 3, "rqtp: { .tv_sec: 0, .tv_nsec: 0 }"}, /* The copy is too short. */
};

static void structs_have_forms(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64};
	for (size_t i = 0; i < ARRAY_LEN(structs); i++) {
		uint64_t args[SYSCALL_ARGS] = {0};
		args[structs[i].arg] = 0x1000;
		if (strcmp(structs[i].name, "epoll_ctl") == 0)
			args[1] = 1;
		if (strcmp(structs[i].name, "ioctl") == 0)
			args[1] = 0x5413;
		call_begin(&m, structs[i].name, args, 1);
		call_copy(&m, structs[i].arg, SYSCALL_ITEM_SELF, structs[i].flags, structs[i].words, structs[i].len);
		if (!strstr(call_text(&m), structs[i].text))
			assert_string_equal(call_text(&m), structs[i].text);
	}
}

/* A timespec of 32-bit programs has eight bytes, that of calls with _time64 sixteen. */
static void other_tables(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_I386};
	const uint32_t times[4] = {1, 500, 2, 600};
	call_begin(&m, "nanosleep", (const uint64_t[6]){0x10}, (int64_t)UINT32_MAX - 3);
	call_copy(&m, 0, SYSCALL_ITEM_SELF, 0, times, 8);
	assert_string_equal(
		call_text(&m), "nanosleep(rqtp: { .tv_sec: 1, .tv_nsec: 500 }) = -1 EINTR (Interrupted system call)");
	call_begin(&m, "clock_gettime64", (const uint64_t[6]){1, 0x10}, 0);
	call_copy(&m, 1, SYSCALL_ITEM_SELF, SYSCALL_PART_AT_EXIT, (const uint64_t[2]){3, 4}, 16);
	assert_string_equal(
		call_text(&m), "clock_gettime64(which_clock: MONOTONIC, tp: { .tv_sec: 3, .tv_nsec: 4 }) = 0");
	call_begin(&m, "clone", (const uint64_t[6]){17, 0, 0, 0x20, 0x30}, 5);
	assert_string_equal(call_text(&m), "clone(clone_flags: SIGCHLD, tls: 0x20, child_tidptr: 0x30) = 5");
	m.call.abi = SYSCALLS_ARM64;
	call_begin(&m, "openat", (const uint64_t[6]){UINT32_MAX - 99, 0x10, 0240000}, 3);
	assert_string_equal(call_text(&m), "openat(dfd: CWD, filename: 0x10, flags: RDONLY|DIRECT|DIRECTORY) = 3");
	call_begin(&m, "fstat", (const uint64_t[6]){3, 0x10}, 0);
	call_copy(&m, 1, SYSCALL_ITEM_SELF, SYSCALL_PART_AT_EXIT, (const uint64_t[16]){1, 2, 0100644, 0, 0, 0, 5}, 128);
	assert_string_equal(call_text(&m), "fstat(fd: 3, statbuf: { .st_mode: S_IFREG|0644, .st_size: 5, ... }) = 0");
}

static void unknown_calls_have_numbers(void **state)
{
	struct call_maker m = {.call = {.abi = SYSCALLS_X86_64, .number = 999, .has_args = true, .args = {1, 0, 0x20}}};
	assert_string_equal(call_text(&m), "syscall_999(arg0: 0x1, arg2: 0x20) = ?");
	m.call.has_args = false;
	assert_string_equal(call_text(&m), "syscall_999() = ?");
	m.call = (struct syscall_call){.abi = SYSCALLS_ARM, .number = 3, .has_args = true, .has_result = true};
	assert_string_equal(call_text(&m), "syscall_3() = 0");
}

static struct tally_str print_test_path(void *context, uint32_t pid, int fd)
{
	assert_int_equal(pid, 77);
	return fd == 3 ? STR("/etc/\x1bx") : (struct tally_str){0};
}

static struct tally_str print_test_name(void *context, uint32_t tid)
{
	return tid == 12 ? STR("a\nb") : (struct tally_str){0};
}

static void callers_know_paths_and_names(void **state)
{
	struct call_maker m = {
		.call.abi = SYSCALLS_X86_64, .options = {.fd_path = print_test_path, .thread_name = print_test_name}};
	call_begin(&m, "dup2", (const uint64_t[6]){3, 4}, 4);
	m.call.pid = 77;
	assert_string_equal(call_text(&m), "dup2(oldfd: 3</etc/\\x1bx>, newfd: 4) = 4");
	call_begin(&m, "kill", (const uint64_t[6]){12, 9}, 0);
	assert_string_equal(call_text(&m), "kill(pid: 12 (a\\x0ab), sig: KILL) = 0");
	call_begin(&m, "fork", (const uint64_t[6]){0}, 12);
	assert_string_equal(call_text(&m), "fork() = 12 (a\\x0ab)");
}

struct print_test_file {
	struct syscall_file file;
	char names[32];
};

static void print_test_put(struct call_maker *m, unsigned item, const struct print_test_file *file, size_t names)
{
	call_begin(m, item == SYSCALL_ITEM_FILE ? "close" : "unlink", (const uint64_t[6]){3}, 0);
	call_copy(m, 0, item, 0, file, sizeof(file->file) + names);
}

/* Names go from the file up to the root. */
static void records_have_paths(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64, .options = {.fd_path = print_test_path}};
	struct print_test_file file = {{.inode = 77}, "b\ntmp"};
	memcpy(file.names, "b\n\0tmp", 7);
	print_test_put(&m, SYSCALL_ITEM_FILE, &file, 7);
	assert_string_equal(call_text(&m), "close(fd: 3</tmp/b\\x0a>) = 0");
	file.file.flags = SYSCALL_FILE_DELETED;
	print_test_put(&m, SYSCALL_ITEM_FILE, &file, 7);
	assert_string_equal(call_text(&m), "close(fd: 3</tmp/b\\x0a (deleted)>) = 0");
	file.file.flags = 0;
	print_test_put(&m, SYSCALL_ITEM_FILE, &file, 0);
	assert_string_equal(call_text(&m), "close(fd: 3</>) = 0");
	file.file.flags = SYSCALL_FILE_NO_PATH;
	file.file.system = 0x50495045;
	print_test_put(&m, SYSCALL_ITEM_FILE, &file, 1);
	assert_string_equal(call_text(&m), "close(fd: 3<pipe:[77]>) = 0");
	file.file.system = 0x534f434b;
	print_test_put(&m, SYSCALL_ITEM_FILE, &file, 1);
	assert_string_equal(call_text(&m), "close(fd: 3<socket:[77]>) = 0");
	file.file.system = 0x09041934;
	memcpy(file.names, "[eventfd]", 10);
	print_test_put(&m, SYSCALL_ITEM_FILE, &file, 10);
	assert_string_equal(call_text(&m), "close(fd: 3<anon_inode:[eventfd]>) = 0");
}

static bool print_test_file_text(void *context, uint32_t pid, const struct syscall_named_file *file, char *room,
	size_t bytes, struct tally_str *text)
{
	*text = STR("name\t");
	return file->file.offset == 4096 && strcmp(file->path, "/a/b") == 0 && bytes >= SYSCALL_PART;
}

static void texts_come_from_mapped_files(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64, .options = {.file_text = print_test_file_text}};
	struct print_test_file file = {{.offset = 4096}, ""};
	memcpy(file.names, "b\0a", 4);
	print_test_put(&m, SYSCALL_ITEM_MAPPED, &file, 4);
	assert_string_equal(call_text(&m), "unlink(pathname: \"name\\t\") = 0");
	file.file.offset = 0;
	print_test_put(&m, SYSCALL_ITEM_MAPPED, &file, 4);
	assert_string_equal(call_text(&m), "unlink(pathname: 0x3) = 0");
	file.file = (struct syscall_file){.offset = 4096, .flags = SYSCALL_FILE_DELETED};
	print_test_put(&m, SYSCALL_ITEM_MAPPED, &file, 4);
	assert_string_equal(call_text(&m), "unlink(pathname: 0x3) = 0");
}

static const char *print_test_life(struct call_maker *m)
{
	struct text t = text_over(m->text, sizeof(m->text) - 1);
	syscall_print_life(&t, &m->call, &m->options);
	m->text[t.len] = 0;
	return m->text;
}

static void signals_and_ends(void **state)
{
	struct call_maker m = {.call.abi = SYSCALLS_X86_64};
	uint32_t info[8] = {11, 0, 1, 0, 0x1000, 0};
	call_begin(&m, "getpid", (const uint64_t[6]){0}, 3 << 8);
	m.call.kind = SYSCALL_RECORD_ENDED;
	assert_string_equal(print_test_life(&m), "+++ exited with 3 +++");
	m.call.result = 6 | 0x80;
	assert_string_equal(print_test_life(&m), "+++ killed by SIGABRT (core dumped) +++");
	m.call.kind = SYSCALL_RECORD_SIGNAL;
	m.call.number = 11;
	assert_string_equal(print_test_life(&m), "--- SIGSEGV ---");
	call_copy(&m, 0, SYSCALL_ITEM_SELF, 0, info, sizeof(info));
	assert_string_equal(
		print_test_life(&m), "--- SIGSEGV { .si_signo: SIGSEGV, .si_code: 1, .si_addr: 0x1000, ... } ---");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_named),
		cmocka_unit_test(values_alone_and_prefixes),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(filled_memory_is_read_at_exit),
		cmocka_unit_test(socket_addresses),
		cmocka_unit_test(vectors_and_messages),
		cmocka_unit_test(structs_have_forms),
		cmocka_unit_test(other_tables),
		cmocka_unit_test(unknown_calls_have_numbers),
		cmocka_unit_test(callers_know_paths_and_names),
		cmocka_unit_test(records_have_paths),
		cmocka_unit_test(texts_come_from_mapped_files),
		cmocka_unit_test(signals_and_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
