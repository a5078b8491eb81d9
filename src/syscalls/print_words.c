/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_printer.h"

#define PRINT_FDCWD			-100
#define PRINT_CLONE_SIGNAL		0xff
#define PRINT_FUTEX_PRIVATE		128
#define PRINT_FUTEX_REALTIME		256
#define PRINT_FUTEX_CMD			0x7f
#define PRINT_SCHED_RESET		0x40000000
#define PRINT_WORDS_PRINT_MAP_ANONYMOUS 0x20
#define PRINT_SIGRTMIN			32

void syscall_put_words(struct syscall_printer *p, const struct syscall_words *words, uint64_t value)
{
	syscall_words_print(p->t, words, value, p->options->with_prefixes);
}

static void syscall_put_hex(struct text *t, uint64_t value)
{
	text_str(t, value ? "0x" : "");
	text_hex(t, value, 1);
}

static void syscall_put_octal(struct text *t, uint64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + (value & 7));
		value >>= 3;
	} while (value);
	if (digits[at] != '0')
		text_char(t, '0');
	text_bytes(t, digits + at, sizeof(digits) - at);
}

void syscall_put_mode(struct text *t, uint64_t mode, bool with_type)
{
	const char *type = with_type ? syscall_word_find(&syscall_words_file_type, mode & 0170000) : NULL;
	if (type) {
		text_str(t, "S_");
		text_str(t, type);
		text_char(t, '|');
		mode &= 07777;
	}
	syscall_put_octal(t, mode);
}

/* RDONLY and RDWR come first, as in perf's output. WRONLY is the last word in the table. */
void syscall_put_open_flags(struct syscall_printer *p, uint64_t flags)
{
	bool is_arm = p->call->abi == SYSCALLS_ARM64 || p->call->abi == SYSCALLS_ARM;
	const char *access = (flags & 3) == 0 ? "RDONLY" : (flags & 3) == 2 ? "RDWR" : NULL;
	if (access) {
		text_str(p->t, p->options->with_prefixes ? "O_" : "");
		text_str(p->t, access);
		flags &= ~UINT64_C(3);
		if (!flags)
			return;
		text_char(p->t, '|');
	}
	syscall_put_words(p, is_arm ? &syscall_words_open_arm : &syscall_words_open_x86, flags);
}

void syscall_put_signal(struct syscall_printer *p, int64_t number)
{
	const char *name = number > 0 ? syscall_word_find(&syscall_words_signal, (uint64_t)number) : NULL;
	if (name) {
		text_str(p->t, p->options->with_prefixes ? "SIG" : "");
		text_str(p->t, name);
		return;
	}
	if (number >= PRINT_SIGRTMIN && number <= 64) {
		text_str(p->t, p->options->with_prefixes ? "SIGRT_" : "RT_");
		number -= PRINT_SIGRTMIN;
	}
	text_i64(p->t, number);
}

void syscall_put_clone_flags(struct syscall_printer *p, uint64_t flags, bool with_signal)
{
	uint64_t number = with_signal ? flags & PRINT_CLONE_SIGNAL : 0;
	if (flags != number || !number)
		syscall_put_words(p, &syscall_words_clone, flags & ~number);
	if (!number)
		return;
	if (flags != number)
		text_char(p->t, '|');
	text_str(p->t, p->options->with_prefixes ? "" : "SIG");
	syscall_put_signal(p, (int64_t)number);
}

void syscall_put_pid(struct syscall_printer *p, int32_t pid)
{
	struct tally_str name = {0};
	text_i64(p->t, pid);
	if (pid > 0 && p->options->thread_name)
		name = p->options->thread_name(p->options->context, (uint32_t)pid);
	if (!name.len)
		return;
	text_str(p->t, " (");
	text_visible(p->t, name);
	text_char(p->t, ')');
}

static void syscall_put_dirfd(struct syscall_printer *p, int fd)
{
	if (fd != PRINT_FDCWD) {
		syscall_put_fd(p, fd);
		return;
	}
	text_str(p->t, p->options->with_prefixes ? "AT_FDCWD" : "CWD");
}

static void syscall_put_dev(struct text *t, uint64_t dev)
{
	text_str(t, "makedev(");
	syscall_put_hex(t, (dev >> 8 & 0xfff) | (dev >> 32 & 0xfffff000));
	text_str(t, ", ");
	syscall_put_hex(t, (dev & 0xff) | (dev >> 12 & 0xffffff00));
	text_char(t, ')');
}

bool syscall_futex_has_time(uint64_t op)
{
	uint64_t command = op & PRINT_FUTEX_CMD; /* WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
	return command == 0 || command == 6 || command == 9 || command == 11 || command == 13;
}

bool syscall_futex_has_arg(uint64_t op, unsigned arg)
{
	/* Bit i is set if a command has argument i; the commands are in order, from WAIT to LOCK_PI2. */
	static const uint8_t masks[] = {0x08, 0, 0, 0x18, 0x38, 0x38, 0x08, 0, 0, 0x28, 0x20, 0x18, 0x38, 0x08};
	uint64_t command = op & PRINT_FUTEX_CMD;
	return command >= ARRAY_LEN(masks) || masks[command] >> arg & 1;
}

static void syscall_put_futex(struct syscall_printer *p, uint64_t op)
{
	syscall_put_words(p, &syscall_words_futex_cmd, op & PRINT_FUTEX_CMD);
	if (op & PRINT_FUTEX_PRIVATE)
		text_str(p->t, p->options->with_prefixes ? "|FUTEX_PRIVATE_FLAG" : "|PRIVATE_FLAG");
	if (op & PRINT_FUTEX_REALTIME)
		text_str(p->t, p->options->with_prefixes ? "|FUTEX_CLOCK_REALTIME" : "|CLOCK_REALTIME");
	if (op & ~(uint64_t)(PRINT_FUTEX_CMD | PRINT_FUTEX_PRIVATE | PRINT_FUTEX_REALTIME)) {
		text_char(p->t, '|');
		syscall_put_hex(p->t, op & ~(uint64_t)(PRINT_FUTEX_CMD | PRINT_FUTEX_PRIVATE | PRINT_FUTEX_REALTIME));
	}
}

static void syscall_put_fcntl(struct syscall_printer *p, uint64_t command, uint64_t value)
{
	const char *name = syscall_word_find(&syscall_words_fcntl_cmd, command);
	struct tally_str word = str_from(name ? name : "");
	if (str_equal(word, STR("SETFL")))
		syscall_put_open_flags(p, value);
	else if (str_equal(word, STR("SETFD")))
		syscall_put_words(p, &syscall_words_fd_flags, value);
	else if (str_equal(word, STR("ADD_SEALS")))
		syscall_put_words(p, &syscall_words_seals, value);
	else if (str_equal(word, STR("SETSIG")))
		syscall_put_signal(p, (int32_t)value);
	else if (str_starts_with(word, STR("DUPFD")) || str_equal(word, STR("SETOWN")) ||
		 str_equal(word, STR("SETPIPE_SZ")))
		text_i64(p->t, (int32_t)value);
	else if (str_equal(word, STR("SETLEASE")))
		syscall_put_words(p, &syscall_words_lock_type, value);
	else
		syscall_put_address(p->t, value);
}

bool syscall_fcntl_has_no_arg(uint64_t command)
{
	const char *name = syscall_word_find(&syscall_words_fcntl_cmd, command & UINT32_MAX);
	struct tally_str word = str_from(name ? name : "");
	return str_equal(word, STR("GETFD")) || str_equal(word, STR("GETFL")) || str_equal(word, STR("GETOWN")) ||
	       str_equal(word, STR("GETSIG")) || str_equal(word, STR("GETLEASE")) ||
	       str_equal(word, STR("GETPIPE_SZ")) || str_equal(word, STR("GET_SEALS"));
}

/* ---- prctl ---- */

bool syscall_prctl_has_name(uint64_t option)
{
	return option == 15 || option == 16; /* SET_NAME, GET_NAME */
}

unsigned syscall_prctl_args(uint64_t option)
{
	switch (option) {
	case 3: /* GET_DUMPABLE, GET_KEEPCAPS, GET_TIMING, GET_SECCOMP, GET_SECUREBITS, GET_TIMERSLACK */
	case 7:
	case 13:
	case 21:
	case 27:
	case 30:
	case 31: /* TASK_PERF_EVENTS_DISABLE and _ENABLE */
	case 32:
		return 1;
	case 22: /* SET_SECCOMP, CAP_AMBIENT, MCE_KILL, SET_SPECULATION_CTRL */
	case 47:
		return 3;
	case 33:
	case 53:
		return 4;
	case 35: /* SET_MM, SET_SYSCALL_USER_DISPATCH, SCHED_CORE, SET_VMA */
	case 59:
	case 62:
	case 0x53564d41:
		return 5;
	default:
		return syscall_word_find(&syscall_words_prctl, option) ? 2 : 5;
	}
}

void syscall_put_prctl(struct syscall_printer *p, uint64_t value)
{
	if (p->call->args[0] == 1) /* SET_PDEATHSIG */
		syscall_put_signal(p, (int32_t)value);
	else if (value < 4096)
		text_u64(p->t, value);
	else
		syscall_put_address(p->t, value);
}

static void syscall_put_ioctl(struct text *t, uint64_t command)
{
	static const char *const ways[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
	const char *name = syscall_word_find(&syscall_words_ioctl, command & UINT32_MAX);
	if (name) {
		text_str(t, name);
		return;
	}
	text_str(t, "_IOC(");
	text_str(t, ways[command >> 30 & 3]);
	text_str(t, ", ");
	syscall_put_hex(t, command >> 8 & 0xff);
	text_str(t, ", ");
	syscall_put_hex(t, command & 0xff);
	text_str(t, ", ");
	text_u64(t, command >> 16 & 0x3fff);
	text_char(t, ')');
}

static void syscall_put_access(struct syscall_printer *p, uint64_t mode)
{
	if (mode)
		syscall_put_words(p, &syscall_words_access, mode);
	else
		text_str(p->t, p->options->with_prefixes ? "F_OK" : "F");
}

static void syscall_put_sched(struct syscall_printer *p, uint64_t policy)
{
	syscall_put_words(p, &syscall_words_sched_policy, policy & ~(uint64_t)PRINT_SCHED_RESET);
	if (policy & PRINT_SCHED_RESET)
		text_str(p->t, p->options->with_prefixes ? "|SCHED_RESET_ON_FORK" : "|RESET_ON_FORK");
}

static void syscall_put_ipc_flags(struct syscall_printer *p, uint64_t flags)
{
	if (flags & ~UINT64_C(0777)) {
		syscall_put_words(p, &syscall_words_ipc, flags & ~UINT64_C(0777));
		text_char(p->t, '|');
	}
	syscall_put_octal(p->t, flags & 0777);
}

static void syscall_put_sock_type(struct syscall_printer *p, uint64_t type)
{
	syscall_put_words(p, &syscall_words_sock_type, type & 0xf);
	if (!(type & ~UINT64_C(0xf)))
		return;
	text_char(p->t, '|');
	syscall_put_words(p, &syscall_words_sock_flags, type & ~UINT64_C(0xf));
}

static void syscall_put_protocol(struct syscall_printer *p, uint64_t family, uint64_t protocol)
{
	if (family == 2 || family == 10)
		syscall_put_words(p, &syscall_words_ipproto, protocol);
	else if (family == 16)
		syscall_put_words(p, &syscall_words_netlink, protocol);
	else
		text_u64(p->t, protocol);
}

static void syscall_put_quota(struct syscall_printer *p, uint64_t command)
{
	static const char *const types[] = {"USRQUOTA", "GRPQUOTA", "PRJQUOTA"};
	text_str(p->t, "QCMD(");
	syscall_put_words(p, &syscall_words_quota_cmd, command >> 8 & 0xffffff);
	text_str(p->t, ", ");
	if ((command & 0xff) < ARRAY_LEN(types))
		text_str(p->t, types[command & 0xff]);
	else
		text_u64(p->t, command & 0xff);
	text_char(p->t, ')');
}

/* Prints an argument that is interpreted according to another argument. */
static void syscall_put_dependent(struct syscall_printer *p, const struct syscall_arg *arg, uint64_t value)
{
	uint64_t other = p->call->args[arg->of < SYSCALL_ARGS ? arg->of : 0];
	switch (arg->kind) {
	case KIND_FD_IF_FILE:
		if (other & PRINT_WORDS_PRINT_MAP_ANONYMOUS)
			text_i64(p->t, (int32_t)value);
		else
			syscall_put_fd(p, (int32_t)value);
		return;
	case KIND_FCNTL:
		syscall_put_fcntl(p, other, value);
		return;
	case KIND_SOCK_PROTOCOL:
		syscall_put_protocol(p, other, value & UINT32_MAX);
		return;
	case KIND_SOCKOPT:
		syscall_print_sockopt(p, other, value & UINT32_MAX);
		return;
	case KIND_FUTEX_MORE:
	case KIND_PRCTL_MORE:
		if (arg->kind == KIND_FUTEX_MORE && arg->of == 5)
			syscall_put_hex(p->t, value);
		else if (arg->kind == KIND_PRCTL_MORE && value < 4096)
			text_u64(p->t, value);
		else
			syscall_put_address(p->t, value);
		return;
	default:
		syscall_put_address(p->t, value);
		return;
	}
}

static bool syscall_put_number(struct syscall_printer *p, unsigned kind, uint64_t value)
{
	switch (kind) {
	case KIND_INT:
		text_i64(p->t, (int32_t)value);
		return true;
	case KIND_UINT:
		text_u64(p->t, value & UINT32_MAX);
		return true;
	case KIND_LONG:
		text_i64(p->t, p->word == 4 ? (int32_t)value : (int64_t)value);
		return true;
	case KIND_ULONG:
		text_u64(p->t, value);
		return true;
	case KIND_HEX:
		syscall_put_hex(p->t, value);
		return true;
	case KIND_ADDRESS:
		syscall_put_address(p->t, value);
		return true;
	case KIND_UID:
		if ((uint32_t)value == UINT32_MAX)
			text_str(p->t, "-1");
		else
			text_u64(p->t, value & UINT32_MAX);
		return true;
	case KIND_DEV:
		syscall_put_dev(p->t, value);
		return true;
	case KIND_MODE:
	case KIND_MODE_OPEN:
		syscall_put_octal(p->t, value & 07777777);
		return true;
	case KIND_MODE_TYPE:
		syscall_put_mode(p->t, value & UINT16_MAX, true);
		return true;
	default:
		return false;
	}
}

bool syscall_print_word(struct syscall_printer *p, const struct syscall_arg *arg, uint64_t value)
{
	if (syscall_put_number(p, arg->kind, value))
		return true;
	switch (arg->kind) {
	case KIND_FD:
		syscall_put_fd(p, (int32_t)value);
		return true;
	case KIND_DIRFD:
		syscall_put_dirfd(p, (int32_t)value);
		return true;
	case KIND_PID:
		syscall_put_pid(p, (int32_t)value);
		return true;
	case KIND_SIGNAL:
		syscall_put_signal(p, (int32_t)value);
		return true;
	case KIND_OPEN:
		syscall_put_open_flags(p, value & UINT32_MAX);
		return true;
	case KIND_ACCESS:
		syscall_put_access(p, value & UINT32_MAX);
		return true;
	case KIND_FLAGS:
		syscall_put_words(p, arg->words, value);
		return true;
	case KIND_ENUM: /* Some enums are of type int, for which only the low 32 bits of the register count. */
		syscall_put_words(p, arg->words, syscall_word_find(arg->words, value) ? value : value & UINT32_MAX);
		return true;
	case KIND_CLOCK: /* With BTF, a clock is printed as a number. */
		if (p->options->force_btf || (int32_t)value < 0)
			text_i64(p->t, (int32_t)value);
		else
			syscall_put_words(p, &syscall_words_clock, value & UINT32_MAX);
		return true;
	case KIND_CLONE:
		syscall_put_clone_flags(p, value, true);
		return true;
	case KIND_FUTEX:
		syscall_put_futex(p, value & UINT32_MAX);
		return true;
	case KIND_IOCTL:
		syscall_put_ioctl(p->t, value);
		return true;
	case KIND_SCHED:
		syscall_put_sched(p, value & UINT32_MAX);
		return true;
	case KIND_IPC_FLAGS:
		syscall_put_ipc_flags(p, value & UINT32_MAX);
		return true;
	case KIND_QUOTA:
		syscall_put_quota(p, value & UINT32_MAX);
		return true;
	case KIND_SOCK_TYPE:
		syscall_put_sock_type(p, value & UINT32_MAX);
		return true;
	default:
		if (arg->kind >= KIND_PATH || arg->kind == KIND_FUTEX_TIME)
			return false;
		syscall_put_dependent(p, arg, value);
		return true;
	}
}
