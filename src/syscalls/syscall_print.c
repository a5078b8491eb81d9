/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_print.h"

#include "syscalls/btf_types.h"
#include "syscalls/syscall_printer.h"

#define PRINT_O_CREAT		    0100
#define PRINT_TMPFILE		    020000000
#define PRINT_STATUS_SIGNAL	    0x7f /* Bits of the signal in a status from wait. */
#define PRINT_STATUS_CORE	    0x80
#define SYSCALL_PRINT_MAP_ANONYMOUS 0x20

/* ---- copied memory ---- */

static bool syscall_print_by_btf(
	struct syscall_printer *p, const struct syscall_arg *arg, const struct syscall_copied *copied)
{
	static const struct {
		uint8_t kind;
		const char *type;
	} types[] = {{KIND_TIMESPEC, "__kernel_timespec"}, {KIND_ITIMERSPEC, "__kernel_itimerspec"},
		{KIND_CLONE_ARGS, "clone_args"}, {KIND_OPEN_HOW, "open_how"}, {KIND_STATX, "statx"},
		{KIND_SYSINFO, "sysinfo"}, {KIND_RUSAGE, "rusage"}, {KIND_RLIMIT64, "rlimit64"},
		{KIND_RLIMIT, "rlimit"}, {KIND_UTSNAME, "new_utsname"}, {KIND_SCHED_PARAM, "sched_param"}};
	const char *type = arg->kind == KIND_STRUCT ? arg->type : NULL;
	for (size_t i = 0; p->options->force_btf && !type && i < ARRAY_LEN(types); i++)
		if (types[i].kind == arg->kind)
			type = types[i].type;
	return type && p->options->types && p->word == 8 &&
	       btf_types_print(p->options->types, str_from(type), copied->bytes, !p->options->no_names,
		       p->options->with_zeros, p->t);
}

static void syscall_print_copied(struct syscall_printer *p, const struct syscall_arg *arg, unsigned index, bool at_exit,
	const struct syscall_copied *copied)
{
	switch (arg->kind) {
	case KIND_PATH:
	case KIND_STRING:
	case KIND_PRCTL:
	case KIND_BUFFER:
	case KIND_STRINGS:
	case KIND_IOVEC:
	case KIND_MSGHDR:
	case KIND_MMSGHDR:
		syscall_print_buffer(p, arg, index, at_exit, copied);
		return;
	case KIND_SOCKADDR:
		syscall_print_sockaddr(p, copied->bytes);
		return;
	case KIND_IOCTL_ARG:
		syscall_print_ioctl_arg(p, index, copied->bytes);
		return;
	case KIND_SOCKOPT_VALUE:
		syscall_print_sockopt_value(p, *copied);
		return;
	case KIND_POLLFD:
		syscall_print_pollfds(p, copied->bytes, at_exit, copied->is_truncated);
		return;
	case KIND_EPOLL_EVENT:
		syscall_print_epoll_events(p, copied->bytes, copied->is_truncated);
		return;
	default:
		if (syscall_print_by_btf(p, arg, copied))
			return;
		if (arg->kind == KIND_STRUCT)
			syscall_put_address(p->t, p->call->args[index]);
		else
			syscall_print_struct(p, arg, *copied);
		return;
	}
}

/* The memory of an ioctl is printed only for known commands, and only if the call has not failed. */
static bool syscall_memory_is_shown(const struct syscall_call *call, const struct syscall_arg *arg)
{
	if (arg->kind != KIND_IOCTL_ARG)
		return true;
	return !(call->has_result && call->result < 0) &&
	       syscall_word_find(&syscall_words_ioctl, call->args[1] & UINT32_MAX);
}

static void syscall_print_memory(struct syscall_printer *p, const struct syscall_arg *arg, unsigned index)
{
	const struct syscall_call *call = p->call;
	unsigned item = arg->kind == KIND_STRINGS ? SYSCALL_ITEM_BUFFER : SYSCALL_ITEM_SELF;
	bool is_shown = syscall_memory_is_shown(call, arg);
	struct syscall_copied copied;
	if (arg->kind == KIND_PRCTL && !syscall_prctl_has_name(call->args[0]))
		syscall_put_prctl(p, call->args[index]);
	else if (arg->kind == KIND_FUTEX_TIME && !syscall_futex_has_time(call->args[arg->of]))
		text_u64(p->t, call->args[index]); /* Other operations have a number there. */
	else if (is_shown && syscall_part_find(call, index, item, true, &copied))
		syscall_print_copied(p, arg, index, true, &copied);
	else if (is_shown && syscall_part_find(call, index, item, false, &copied))
		syscall_print_copied(p, arg, index, false, &copied);
	else if (!is_shown || (arg->kind != KIND_PATH && arg->kind != KIND_STRING) || !syscall_put_mapped(p, index))
		syscall_put_address(p->t, call->args[index]);
}

/* ---- arguments ---- */

/* True for arguments that the kernel does not read in this call. */
static bool syscall_arg_is_unused(const struct syscall_call *call, const struct syscall_arg *arg)
{
	uint64_t other = call->args[arg->of < SYSCALL_ARGS ? arg->of : 0];
	if (arg->kind == KIND_MODE_OPEN)
		return !(other & (PRINT_O_CREAT | PRINT_TMPFILE));
	if (arg->kind == KIND_FCNTL)
		return syscall_fcntl_has_no_arg(other);
	if (arg->kind == KIND_FUTEX_TIME || arg->kind == KIND_FUTEX_MORE)
		return !syscall_futex_has_arg(call->args[1], arg->kind == KIND_FUTEX_TIME ? 3 : arg->of);
	/* The remaining arguments of prctl are whatever the registers contained. */
	return arg->kind == KIND_PRCTL_MORE && syscall_prctl_args(call->args[0]) < arg->of;
}

/* Zeros are left out if they are numbers, addresses or flags; descriptors, and numbers with names, are printed. */
static bool syscall_arg_is_shown(const struct syscall_call *call, const struct syscall_arg *arg, uint64_t value,
	const struct syscall_print_options *o)
{
	if (syscall_arg_is_unused(call, arg))
		return false;
	if (o->with_zeros || o->no_names)
		return true;
	/* mmap uses its descriptor only for files; for other memory, programs pass -1. */
	if (arg->kind == KIND_FD_IF_FILE)
		return !(call->args[arg->of] & SYSCALL_PRINT_MAP_ANONYMOUS) || (value && (int32_t)value != -1);
	if (value)
		return true;
	switch (arg->kind) {
	case KIND_FD:
	case KIND_DIRFD:
	case KIND_OPEN:
	case KIND_ACCESS:
	case KIND_FUTEX:
		return true;
	case KIND_ENUM:
		return syscall_word_find(arg->words, 0) != NULL;
	case KIND_SCHED:
		return true;
	case KIND_CLOCK:
		return !o->force_btf;
	default:
		return false;
	}
}

void syscall_print_args(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options)
{
	static const char *const names[SYSCALL_ARGS] = {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"};
	const struct syscall_form *form = syscall_form_find(call->abi, call->number);
	struct syscall_printer p = {.t = t, .call = call, .options = options, .word = syscall_abi_word(call->abi)};
	bool has_some = false;
	if (!call->has_args)
		return;
	for (unsigned i = 0; i < SYSCALL_ARGS; i++) {
		const struct syscall_arg plain = {.name = names[i], .kind = KIND_HEX};
		const struct syscall_arg *arg = form ? &form->args[i] : &plain;
		if (arg->kind == KIND_NONE)
			return;
		if (!syscall_arg_is_shown(call, arg, call->args[i], options))
			continue;
		if (has_some)
			text_str(t, ", ");
		has_some = true;
		if (!options->no_names) {
			text_str(t, arg->name);
			text_str(t, ": ");
		}
		p.arg = i;
		p.of_arg = true;
		bool is_word = syscall_print_word(&p, arg, call->args[i]);
		p.of_arg = false;
		if (!is_word)
			syscall_print_memory(&p, arg, i);
	}
}

/* ---- the result ---- */

static void syscall_print_error(struct text *t, unsigned error)
{
	const char *name = syscall_error_name(error), *text = syscall_error_text(error);
	text_str(t, "-1 ");
	if (!name) {
		text_str(t, "errno ");
		text_u64(t, error);
		return;
	}
	text_str(t, name);
	text_str(t, " (");
	text_str(t, text);
	text_char(t, ')');
}

static void syscall_print_fcntl_result(struct syscall_printer *p)
{
	const char *command = syscall_word_find(&syscall_words_fcntl_cmd, p->call->args[1] & UINT32_MAX);
	uint64_t value = (uint64_t)p->call->result;
	struct tally_str word = str_from(command && p->call->has_args ? command : "");
	if (str_equal(word, STR("GETFL")))
		syscall_put_open_flags(p, value);
	else if (str_equal(word, STR("GETFD")))
		syscall_put_words(p, &syscall_words_fd_flags, value);
	else if (str_equal(word, STR("GET_SEALS")))
		syscall_put_words(p, &syscall_words_seals, value);
	else if (str_equal(word, STR("GETLEASE")))
		syscall_put_words(p, &syscall_words_lock_type, value);
	else
		text_i64(p->t, p->call->result);
}

void syscall_print_result(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options)
{
	const struct syscall_form *form = syscall_form_find(call->abi, call->number);
	struct syscall_printer p = {.t = t, .call = call, .options = options, .word = syscall_abi_word(call->abi)};
	int64_t result = p.word == 4 ? (int32_t)call->result : call->result;
	unsigned error;
	if (!call->has_result) {
		text_char(t, '?');
		return;
	}
	if (syscall_result_failed(result, &error)) {
		syscall_print_error(t, error);
		return;
	}
	switch (form ? form->result : RESULT_LONG) {
	case RESULT_ADDRESS:
		text_str(t, result ? "0x" : "");
		text_hex(t, p.word == 4 ? (uint32_t)result : (uint64_t)result, 1);
		return;
	case RESULT_PID:
		syscall_put_pid(&p, (int32_t)result);
		return;
	case RESULT_MODE:
		syscall_print_word(&p, &(const struct syscall_arg){.kind = KIND_MODE}, (uint64_t)result);
		return;
	case RESULT_HEX:
		syscall_print_word(&p, &(const struct syscall_arg){.kind = KIND_HEX}, (uint64_t)result);
		return;
	case RESULT_FCNTL:
		syscall_print_fcntl_result(&p);
		return;
	case RESULT_INT:
		text_i64(t, result);
		if (result == 0)
			text_str(t, " (Timeout)");
		return;
	case RESULT_LONG:
	case RESULT_FD:
	case RESULT_NEVER:
		text_i64(t, result);
		return;
	}
}

void syscall_print_life(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options)
{
	struct syscall_print_options whole = *options;
	struct syscall_printer p = {.t = t, .call = call, .options = &whole, .word = syscall_abi_word(call->abi)};
	uint64_t status = (uint64_t)call->result, signal = status & PRINT_STATUS_SIGNAL;
	const struct syscall_arg info = {.kind = KIND_SIGINFO};
	struct syscall_copied copied;
	whole.with_prefixes = true;
	if (call->kind == SYSCALL_RECORD_SIGNAL) {
		text_str(t, "--- ");
		syscall_put_signal(&p, call->number);
		if (syscall_part_find(call, 0, SYSCALL_ITEM_SELF, false, &copied)) {
			text_char(t, ' ');
			syscall_print_struct(&p, &info, copied);
		}
		text_str(t, " ---");
	} else if (signal) {
		text_str(t, "+++ killed by ");
		syscall_put_signal(&p, (int64_t)signal);
		text_str(t, status & PRINT_STATUS_CORE ? " (core dumped) +++" : " +++");
	} else {
		text_str(t, "+++ exited with ");
		text_u64(t, status >> 8 & UINT8_MAX);
		text_str(t, " +++");
	}
}
