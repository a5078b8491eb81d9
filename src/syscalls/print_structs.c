/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "syscalls/btf_types.h"
#include "syscalls/syscall_printer.h"

enum print_field {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_HEX,
	FIELD_MODE,
	FIELD_WORDS,
	FIELD_ADDRESS,
	FIELD_STRING,
	FIELD_PID,
	FIELD_TIME
};

/* A field of a struct in 64-bit programs. */
struct print_layout_field {
	const char *name;
	uint16_t offset;
	uint8_t size, form;
	const struct syscall_words *words;
};

struct print_layout {
	struct print_layout_field fields[12];
	bool is_partial; /* The struct has more fields than are printed. */
};

static const struct print_layout layout_stat_x86_64 = {
	{{"st_mode", 24, 4, FIELD_MODE, NULL}, {"st_size", 48, 8, FIELD_SIGNED, NULL}}, true};
static const struct print_layout layout_stat_arm64 = {
	{{"st_mode", 16, 4, FIELD_MODE, NULL}, {"st_size", 48, 8, FIELD_SIGNED, NULL}}, true};
static const struct print_layout layout_statx = {
	{{"stx_mask", 0, 4, FIELD_WORDS, &syscall_words_statx_mask}, {"stx_mode", 28, 2, FIELD_MODE, NULL},
		{"stx_size", 40, 8, FIELD_UNSIGNED, NULL}},
	true};
static const struct print_layout layout_statfs = {
	{{"f_type", 0, 8, FIELD_HEX, NULL}, {"f_bsize", 8, 8, FIELD_UNSIGNED, NULL},
		{"f_blocks", 16, 8, FIELD_UNSIGNED, NULL}, {"f_bfree", 24, 8, FIELD_UNSIGNED, NULL},
		{"f_bavail", 32, 8, FIELD_UNSIGNED, NULL}, {"f_files", 40, 8, FIELD_UNSIGNED, NULL},
		{"f_ffree", 48, 8, FIELD_UNSIGNED, NULL}, {"f_namelen", 64, 8, FIELD_UNSIGNED, NULL},
		{"f_frsize", 72, 8, FIELD_UNSIGNED, NULL}, {"f_flags", 80, 8, FIELD_HEX, NULL}},
	true};
static const struct print_layout layout_utsname = {
	{{"sysname", 0, 65, FIELD_STRING, NULL}, {"nodename", 65, 65, FIELD_STRING, NULL},
		{"release", 130, 65, FIELD_STRING, NULL}},
	true};
static const struct print_layout layout_sysinfo = {
	{{"uptime", 0, 8, FIELD_SIGNED, NULL}, {"totalram", 32, 8, FIELD_UNSIGNED, NULL},
		{"freeram", 40, 8, FIELD_UNSIGNED, NULL}, {"totalswap", 64, 8, FIELD_UNSIGNED, NULL},
		{"freeswap", 72, 8, FIELD_UNSIGNED, NULL}, {"procs", 80, 2, FIELD_UNSIGNED, NULL},
		{"mem_unit", 104, 4, FIELD_UNSIGNED, NULL}},
	true};
static const struct print_layout layout_rusage = {
	{{"ru_utime", 0, 16, FIELD_TIME, NULL}, {"ru_stime", 16, 16, FIELD_TIME, NULL},
		{"ru_maxrss", 32, 8, FIELD_SIGNED, NULL}},
	true};
static const struct print_layout layout_sigaltstack = {
	{{"ss_sp", 0, 8, FIELD_ADDRESS, NULL}, {"ss_flags", 8, 4, FIELD_WORDS, &syscall_words_sigaltstack},
		{"ss_size", 16, 8, FIELD_UNSIGNED, NULL}},
	false};
static const struct print_layout layout_open_how = {{{"flags", 0, 8, FIELD_HEX, NULL}, {"mode", 8, 8, FIELD_MODE, NULL},
							    {"resolve", 16, 8, FIELD_WORDS, &syscall_words_resolve}},
	false};
static const struct print_layout layout_sched_param = {{{"sched_priority", 0, 4, FIELD_SIGNED, NULL}}, false};
static const struct print_layout layout_sembuf = {
	{{"sem_num", 0, 2, FIELD_UNSIGNED, NULL}, {"sem_op", 2, 2, FIELD_SIGNED, NULL},
		{"sem_flg", 4, 2, FIELD_WORDS, &syscall_words_ipc}},
	false};

/* ---- by layout ---- */

static void syscall_put_times(struct syscall_printer *p, struct tally_bytes bytes, unsigned word, const char *second)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	syscall_braces_field(&braces, "tv_sec");
	text_i64(p->t, syscall_take_signed(bytes, 0, word));
	syscall_braces_field(&braces, second);
	text_i64(p->t, syscall_take_signed(bytes, word, word));
	syscall_braces_end(&braces, false);
}

static void syscall_put_field(struct syscall_printer *p, struct tally_bytes bytes, const struct print_layout_field *f)
{
	struct tally_bytes part = bytes_part(bytes, f->offset, f->size);
	uint64_t value = syscall_take(bytes, f->offset, f->size);
	switch ((enum print_field)f->form) {
	case FIELD_UNSIGNED:
		text_u64(p->t, value);
		break;
	case FIELD_SIGNED:
		text_i64(p->t, syscall_take_signed(bytes, f->offset, f->size));
		break;
	case FIELD_HEX:
		text_str(p->t, value ? "0x" : "");
		text_hex(p->t, value, 1);
		break;
	case FIELD_MODE:
		syscall_put_mode(p->t, value, true);
		break;
	case FIELD_WORDS:
		syscall_put_words(p, f->words, value);
		break;
	case FIELD_ADDRESS:
		syscall_put_address(p->t, value);
		break;
	case FIELD_STRING:
		syscall_put_string(p->t, &(struct syscall_copied){part, false});
		break;
	case FIELD_PID:
		syscall_put_pid(p, (int32_t)value);
		break;
	case FIELD_TIME:
		syscall_put_times(p, part, 8, "tv_usec");
		break;
	}
}

static void syscall_put_layout(struct syscall_printer *p, const struct print_layout *layout, struct tally_bytes bytes)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	for (size_t i = 0; i < ARRAY_LEN(layout->fields) && layout->fields[i].name; i++) {
		if ((size_t)layout->fields[i].offset + layout->fields[i].size > bytes.len)
			break;
		syscall_braces_field(&braces, layout->fields[i].name);
		syscall_put_field(p, bytes, &layout->fields[i]);
	}
	syscall_braces_end(&braces, layout->is_partial);
}

static const struct print_layout *syscall_layout_of(enum syscall_kind kind, enum syscall_abi abi)
{
	switch ((unsigned)kind) {
	case KIND_STAT:
		return abi == SYSCALLS_ARM64 ? &layout_stat_arm64 : &layout_stat_x86_64;
	case KIND_STATX:
		return &layout_statx;
	case KIND_STATFS:
		return &layout_statfs;
	case KIND_UTSNAME:
		return &layout_utsname;
	case KIND_SYSINFO:
		return &layout_sysinfo;
	case KIND_RUSAGE:
		return &layout_rusage;
	case KIND_SIGALTSTACK:
		return &layout_sigaltstack;
	case KIND_SCHED_PARAM:
		return &layout_sched_param;
	default:
		return NULL;
	}
}

/* ---- structs with a syntax of their own ---- */

/* Prints a struct stat: for a device its number, for other files the size. */
static void syscall_put_stat(struct syscall_printer *p, struct tally_bytes bytes)
{
	bool is_arm = p->call->abi == SYSCALLS_ARM64;
	uint64_t mode = syscall_take(bytes, is_arm ? 16 : 24, 4);
	if ((mode & 0170000) != 0020000 && (mode & 0170000) != 0060000) {
		syscall_put_layout(p, syscall_layout_of(KIND_STAT, p->call->abi), bytes);
		return;
	}
	struct syscall_braces braces = syscall_braces_begin(p);
	syscall_braces_field(&braces, "st_mode");
	syscall_put_mode(p->t, mode, true);
	syscall_braces_field(&braces, "st_rdev");
	syscall_print_word(p, &(const struct syscall_arg){.kind = KIND_DEV}, syscall_take(bytes, is_arm ? 32 : 40, 8));
	syscall_braces_end(&braces, true);
}

static void syscall_put_sigset(struct syscall_printer *p, uint64_t set)
{
	bool is_inverted = __builtin_popcountll(set) > 32, is_first = true;
	if (is_inverted)
		set = ~set;
	text_str(p->t, is_inverted ? "~[" : "[");
	for (unsigned i = 0; i < 64; i++) {
		if (!(set >> i & 1))
			continue;
		if (!is_first)
			text_char(p->t, ' ');
		is_first = false;
		syscall_put_signal(p, i + 1);
	}
	text_char(p->t, ']');
}

static void syscall_put_sigaction(struct syscall_printer *p, struct tally_bytes bytes)
{
	static const char *const handlers[] = {"SIG_DFL", "SIG_IGN"};
	struct syscall_braces braces = syscall_braces_begin(p);
	uint64_t handler = syscall_take(bytes, 0, p->word), flags = syscall_take(bytes, p->word, p->word);
	syscall_braces_field(&braces, "sa_handler");
	if (handler < ARRAY_LEN(handlers))
		text_str(p->t, handlers[handler]);
	else
		syscall_put_address(p->t, handler);
	syscall_braces_field(&braces, "sa_mask");
	syscall_put_sigset(p, syscall_take(bytes, 3u * p->word, 8));
	syscall_braces_field(&braces, "sa_flags");
	syscall_put_words(p, &syscall_words_sigaction, flags & UINT32_MAX);
	if (flags & 0x4000000) {
		syscall_braces_field(&braces, "sa_restorer");
		syscall_put_address(p->t, syscall_take(bytes, 2u * p->word, p->word));
	}
	syscall_braces_end(&braces, false);
}

static void syscall_put_siginfo(struct syscall_printer *p, struct tally_bytes bytes)
{
	static const char *const children[] = {
		"CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"};
	static const char *const senders[] = {
		"SI_USER", "SI_QUEUE", "SI_TIMER", "SI_MESGQ", "SI_ASYNCIO", "SI_SIGIO", "SI_TKILL"};
	struct syscall_braces braces = syscall_braces_begin(p);
	int64_t number = syscall_take_signed(bytes, 0, 4), code = syscall_take_signed(bytes, 8, 4);
	syscall_braces_field(&braces, "si_signo");
	syscall_put_signal(p, number);
	syscall_braces_field(&braces, "si_code");
	if (number == 17 && code > 0 && code <= (int64_t)ARRAY_LEN(children))
		text_str(p->t, children[code - 1]);
	else if (code <= 0 && -code < (int64_t)ARRAY_LEN(senders) && senders[-code])
		text_str(p->t, senders[-code]);
	else
		text_i64(p->t, code);
	bool is_fault = code > 0 && (number == 4 || number == 7 || number == 8 || number == 11);
	if (is_fault && code != 0x80) { /* SI_KERNEL has no address. */
		syscall_braces_field(&braces, "si_addr");
		syscall_put_address(p->t, syscall_take(bytes, 16, 8));
	}
	if (code <= 0 || number == 17) { /* A process sent the signal, or it is SIGCHLD. */
		syscall_braces_field(&braces, "si_pid");
		syscall_put_pid(p, (int32_t)syscall_take(bytes, 16, 4));
		syscall_braces_field(&braces, "si_uid");
		text_u64(p->t, syscall_take(bytes, 20, 4));
		if (number == 17) {
			syscall_braces_field(&braces, "si_status");
			if (code == 1) /* CLD_EXITED */
				text_i64(p->t, syscall_take_signed(bytes, 24, 4));
			else
				syscall_put_signal(p, syscall_take_signed(bytes, 24, 4));
		}
	}
	syscall_braces_end(&braces, true);
}

static void syscall_put_wait_status(struct syscall_printer *p, uint32_t status)
{
	static const char *const texts[] = {"WIFEXITED(s) && WEXITSTATUS(s) == ", "WIFSTOPPED(s) && WSTOPSIG(s) == ",
		"WIFSIGNALED(s) && WTERMSIG(s) == "};
	uint32_t low = status & 0x7f, high = status >> 8 & 0xff;
	text_char(p->t, '[');
	if (status == 0xffff) {
		text_str(p->t, "WIFCONTINUED(s)");
	} else {
		text_str(p->t, texts[low == 0 ? 0 : low == 0x7f ? 1 : 2]);
		if (low == 0)
			text_u64(p->t, high);
		else
			syscall_put_signal(p, low == 0x7f ? high & 0x7f : low);
		if (low && low != 0x7f && status & 0x80)
			text_str(p->t, " && WCOREDUMP(s)");
	}
	text_char(p->t, ']');
}

static void syscall_put_clone_args(struct syscall_printer *p, struct tally_bytes bytes)
{
	static const struct print_layout rest = {
		{{"child_tid", 16, 8, FIELD_ADDRESS, NULL}, {"parent_tid", 24, 8, FIELD_ADDRESS, NULL},
			{"exit_signal", 32, 8, FIELD_UNSIGNED, NULL}, {"stack", 40, 8, FIELD_ADDRESS, NULL},
			{"stack_size", 48, 8, FIELD_UNSIGNED, NULL}, {"tls", 56, 8, FIELD_ADDRESS, NULL},
			{"set_tid", 64, 8, FIELD_ADDRESS, NULL}, {"set_tid_size", 72, 8, FIELD_UNSIGNED, NULL},
			{"cgroup", 80, 8, FIELD_UNSIGNED, NULL}},
		false};
	struct syscall_braces braces = syscall_braces_begin(p);
	syscall_braces_field(&braces, "flags");
	syscall_put_clone_flags(p, syscall_take(bytes, 0, 8), false);
	for (size_t i = 0; i < ARRAY_LEN(rest.fields) && rest.fields[i].name; i++) {
		const struct print_layout_field *f = &rest.fields[i];
		if (syscall_take(bytes, f->offset, f->size) == 0)
			continue;
		syscall_braces_field(&braces, f->name);
		if (f->offset == 32)
			syscall_put_signal(p, syscall_take_signed(bytes, f->offset, f->size));
		else
			syscall_put_field(p, bytes, f);
	}
	syscall_braces_end(&braces, false);
}

static void syscall_put_open_how(struct syscall_printer *p, struct tally_bytes bytes)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	syscall_braces_field(&braces, "flags");
	syscall_put_open_flags(p, syscall_take(bytes, 0, 8));
	for (size_t i = 1; i < 3; i++) {
		const struct print_layout_field *f = &layout_open_how.fields[i];
		if (syscall_take(bytes, f->offset, f->size) == 0)
			continue;
		syscall_braces_field(&braces, f->name);
		syscall_put_field(p, bytes, f);
	}
	syscall_braces_end(&braces, false);
}

static void syscall_put_limit(struct syscall_printer *p, uint64_t value, unsigned word)
{
	uint64_t infinite = word == 4 ? UINT32_MAX : UINT64_MAX;
	if (value == infinite)
		text_str(p->t, "RLIM_INFINITY");
	else
		text_u64(p->t, value);
}

static void syscall_put_rlimit(struct syscall_printer *p, struct tally_bytes bytes, unsigned word)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	syscall_braces_field(&braces, "rlim_cur");
	syscall_put_limit(p, syscall_take(bytes, 0, word), word);
	syscall_braces_field(&braces, "rlim_max");
	syscall_put_limit(p, syscall_take(bytes, word, word), word);
	syscall_braces_end(&braces, false);
}

/* Prints the interval and the value of a timer. */
static void syscall_put_interval(struct syscall_printer *p, struct tally_bytes bytes, unsigned word, bool is_ns)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	const char *second = is_ns ? "tv_nsec" : "tv_usec";
	syscall_braces_field(&braces, "it_interval");
	syscall_put_times(p, bytes_part(bytes, 0, 2 * word), word, second);
	syscall_braces_field(&braces, "it_value");
	syscall_put_times(p, bytes_part(bytes, 2 * word, 2 * word), word, second);
	syscall_braces_end(&braces, false);
}

static void syscall_put_file_time(struct syscall_printer *p, struct tally_bytes bytes, unsigned word, bool is_ns)
{
	int64_t ns = syscall_take_signed(bytes, word, word);
	if (is_ns && (ns == 0x3fffffff || ns == 0x3ffffffe))
		text_str(p->t, ns == 0x3fffffff ? "UTIME_NOW" : "UTIME_OMIT");
	else
		syscall_put_times(p, bytes, word, is_ns ? "tv_nsec" : "tv_usec");
}

static void syscall_put_file_times(struct syscall_printer *p, struct tally_bytes bytes, unsigned word, bool is_ns)
{
	text_char(p->t, '[');
	syscall_put_file_time(p, bytes_part(bytes, 0, 2 * word), word, is_ns);
	text_str(p->t, ", ");
	syscall_put_file_time(p, bytes_part(bytes, 2 * word, 2 * word), word, is_ns);
	text_char(p->t, ']');
}

/* Prints the numbers of the set bits: CPUs or descriptors. */
static void syscall_put_bits(struct syscall_printer *p, struct syscall_copied copied)
{
	bool is_first = true;
	text_char(p->t, '[');
	for (size_t bit = 0; bit < copied.bytes.len * 8; bit++) {
		if (!(copied.bytes.data[bit / 8] >> bit % 8 & 1))
			continue;
		if (!is_first)
			text_char(p->t, ' ');
		is_first = false;
		text_u64(p->t, bit);
	}
	text_str(p->t, copied.is_truncated ? "...]" : "]");
}

static void syscall_put_array(
	struct syscall_printer *p, struct syscall_copied copied, size_t size, const struct print_layout *layout)
{
	text_char(p->t, '[');
	for (size_t at = 0; at + size <= copied.bytes.len; at += size) {
		if (at)
			text_str(p->t, ", ");
		if (layout)
			syscall_put_layout(p, layout, bytes_part(copied.bytes, at, size));
		else
			text_u64(p->t, syscall_take(copied.bytes, at, (unsigned)size));
	}
	text_str(p->t, copied.is_truncated ? ", ...]" : "]");
}

static bool syscall_put_time(struct syscall_printer *p, unsigned kind, struct tally_bytes bytes)
{
	switch (kind) {
	case KIND_TIMESPEC:
	case KIND_FUTEX_TIME:
		syscall_put_times(p, bytes, p->word, "tv_nsec");
		return true;
	case KIND_TIMESPEC64:
		syscall_put_times(p, bytes, 8, "tv_nsec");
		return true;
	case KIND_TIMEVAL:
		syscall_put_times(p, bytes, p->word, "tv_usec");
		return true;
	case KIND_TIMESPECS:
		syscall_put_file_times(p, bytes, p->word, true);
		return true;
	case KIND_TIMESPECS64:
		syscall_put_file_times(p, bytes, 8, true);
		return true;
	case KIND_TIMEVALS:
		syscall_put_file_times(p, bytes, p->word, false);
		return true;
	case KIND_ITIMERSPEC:
		syscall_put_interval(p, bytes, p->word, true);
		return true;
	case KIND_ITIMERSPEC64:
		syscall_put_interval(p, bytes, 8, true);
		return true;
	case KIND_ITIMERVAL:
		syscall_put_interval(p, bytes, p->word, false);
		return true;
	default:
		return false;
	}
}

static void syscall_put_pair(
	struct syscall_printer *p, struct tally_bytes bytes, const char *first, const char *second, unsigned count)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	for (unsigned i = 0; i < count; i++) {
		static const char *const times[] = {"tms_utime", "tms_stime", "tms_cutime", "tms_cstime"};
		syscall_braces_field(&braces, count == 4 ? times[i] : i ? second : first);
		text_i64(p->t, syscall_take_signed(bytes, i * p->word, p->word));
	}
	syscall_braces_end(&braces, false);
}

static bool syscall_put_small(struct syscall_printer *p, unsigned kind, struct syscall_copied copied)
{
	struct tally_bytes bytes = copied.bytes;
	switch (kind) {
	case KIND_FD_PAIR:
		text_char(p->t, '[');
		syscall_put_fd(p, (int32_t)syscall_take(bytes, 0, 4));
		text_str(p->t, ", ");
		syscall_put_fd(p, (int32_t)syscall_take(bytes, 4, 4));
		text_char(p->t, ']');
		return true;
	case KIND_INT_PTR:
	case KIND_LONG_PTR:
		text_char(p->t, '[');
		text_i64(p->t, syscall_take_signed(bytes, 0, kind == KIND_INT_PTR ? 4 : 8));
		text_char(p->t, ']');
		return true;
	case KIND_UINTS:
		syscall_put_array(p, copied, 4, NULL);
		return true;
	case KIND_MASK:
	case KIND_FDSET:
		syscall_put_bits(p, copied);
		return true;
	case KIND_SEMBUF:
		syscall_put_array(p, copied, 6, &layout_sembuf);
		return true;
	case KIND_UTIMBUF:
		syscall_put_pair(p, bytes, "actime", "modtime", 2);
		return true;
	case KIND_TMS:
		syscall_put_pair(p, bytes, NULL, NULL, 4);
		return true;
	case KIND_RLIMIT:
		syscall_put_rlimit(p, bytes, p->word);
		return true;
	case KIND_RLIMIT64:
		syscall_put_rlimit(p, bytes, 8);
		return true;
	case KIND_WAIT_STATUS:
		syscall_put_wait_status(p, (uint32_t)syscall_take(bytes, 0, 4));
		return true;
	default:
		return false;
	}
}

void syscall_print_ioctl_arg(struct syscall_printer *p, unsigned index, struct tally_bytes bytes)
{
	static const char *const ints[] = {"FIONREAD", "TIOCGPGRP", "TIOCSPGRP", "TIOCGSID", "TIOCOUTQ", "TIOCGPTN",
		"TIOCSPTLCK", "TIOCMGET", "TIOCGETD", "TIOCSETD", "FIONBIO", "FIOASYNC", "SIOCOUTQ", "BLKSSZGET",
		"BLKROGET"};
	static const struct print_layout window = {
		{{"ws_row", 0, 2, FIELD_UNSIGNED, NULL}, {"ws_col", 2, 2, FIELD_UNSIGNED, NULL},
			{"ws_xpixel", 4, 2, FIELD_UNSIGNED, NULL}, {"ws_ypixel", 6, 2, FIELD_UNSIGNED, NULL}},
		false};
	const char *command = syscall_word_find(&syscall_words_ioctl, p->call->args[1] & UINT32_MAX);
	struct tally_str name = str_from(command ? command : "");
	if (str_equal(name, STR("TIOCGWINSZ")) || str_equal(name, STR("TIOCSWINSZ"))) {
		syscall_put_layout(p, &window, bytes);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(ints); i++)
		if (str_equal(name, str_from(ints[i]))) {
			syscall_put_small(p, KIND_INT_PTR, (struct syscall_copied){bytes, false});
			return;
		}
	syscall_put_address(p->t, p->call->args[index]);
}

void syscall_print_struct(struct syscall_printer *p, const struct syscall_arg *arg, struct syscall_copied copied)
{
	const struct print_layout *layout = syscall_layout_of((enum syscall_kind)arg->kind, p->call->abi);
	if (syscall_put_time(p, arg->kind, copied.bytes) || syscall_put_small(p, arg->kind, copied))
		return;
	switch (arg->kind) {
	case KIND_STAT:
		syscall_put_stat(p, copied.bytes);
		return;
	case KIND_SIGSET:
		syscall_put_sigset(p, syscall_take(copied.bytes, 0, 8));
		return;
	case KIND_SIGACTION:
		syscall_put_sigaction(p, copied.bytes);
		return;
	case KIND_SIGINFO:
		syscall_put_siginfo(p, copied.bytes);
		return;
	case KIND_CLONE_ARGS:
		syscall_put_clone_args(p, copied.bytes);
		return;
	case KIND_OPEN_HOW:
		syscall_put_open_how(p, copied.bytes);
		return;
	default:
		if (layout)
			syscall_put_layout(p, layout, copied.bytes);
		else
			syscall_put_quoted(p->t, copied.bytes, syscall_string_bytes(p), copied.is_truncated);
		return;
	}
}
