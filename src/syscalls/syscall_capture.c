/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_capture.h"

#include "base/array.h"
#include "syscalls/syscall_forms.h"

#define CAPTURE_ELEMENTS    16 /* Maximum number of elements of an array: polled descriptors, events, operations. */
#define CAPTURE_STRUCT	    512 /* Maximum size of a struct that is printed by BTF; larger ones are cut there. */
#define CAPTURE_SOCKADDR    128
#define CAPTURE_FDSET	    128
#define CAPTURE_THREAD_NAME 16
#define CAPTURE_IOCTL	    8 /* Size of an int or of struct winsize. */

/*
 * Returns the size of the first version of a struct that contains its own size: a size of 0 in the struct stands for
 * it.
 */
static uint16_t syscall_capture_first_size(const char *type)
{
	static const struct {
		const char *type;
		uint16_t bytes;
	} firsts[] = {{"sched_attr", 48}, {"perf_event_attr", 64}};
	for (size_t i = 0; i < ARRAY_LEN(firsts); i++)
		if (strcmp(firsts[i].type, type) == 0)
			return firsts[i].bytes;
	return 0;
}

/* Plans the copy of an argument with a variable size; those with a fixed size are copied as they are. */
static void syscall_capture_vary(const struct syscall_arg *arg, enum syscall_abi abi,
	const struct syscall_capture_options *options, struct syscall_plan_arg *plan)
{
	bool is_64 = syscall_abi_word(abi) == 8;
	size_t bytes, string_bytes = options->string_bytes ? options->string_bytes : SYSCALL_STRING_BYTES;
	switch (arg->kind) {
	case KIND_PATH:
	case KIND_STRING:
		plan->copy = SYSCALL_COPY_STRING;
		plan->most = SYSCALL_PART;
		break;
	/* With PR_SET_NAME and PR_GET_NAME, the argument is the address of a thread's name; otherwise, no address. */
	case KIND_PRCTL:
		plan->copy = SYSCALL_COPY_STRING;
		plan->most = CAPTURE_THREAD_NAME;
		break;
	case KIND_BUFFER:
		plan->unit = 1;
		plan->most = (uint16_t)string_bytes;
		break;
	case KIND_STRINGS:
		plan->copy = is_64 ? SYSCALL_COPY_STRINGS : SYSCALL_COPY_NOTHING;
		plan->most = (uint16_t)MAX(string_bytes, (size_t)SYSCALL_PART / 16);
		break;
	case KIND_IOVEC:
		plan->copy = is_64 ? SYSCALL_COPY_IOVEC : SYSCALL_COPY_NOTHING;
		plan->most = (uint16_t)string_bytes;
		break;
	case KIND_MSGHDR:
		plan->copy = is_64 ? SYSCALL_COPY_MSGHDR : SYSCALL_COPY_NOTHING;
		plan->count = plan->when == SYSCALL_WHEN_EXIT ? SYSCALL_COUNT_RESULT : SYSCALL_COUNT_ONE;
		plan->unit = SYSCALL_MSGHDR;
		plan->most = (uint16_t)string_bytes;
		break;
	case KIND_MMSGHDR:
		plan->copy = is_64 ? SYSCALL_COPY_MSGHDR : SYSCALL_COPY_NOTHING;
		plan->unit = SYSCALL_MMSGHDR;
		plan->most = (uint16_t)string_bytes;
		break;
	case KIND_IOCTL_ARG:
		plan->unit = CAPTURE_IOCTL;
		plan->most = CAPTURE_IOCTL;
		break;
	case KIND_SOCKADDR:
		plan->unit = 1;
		plan->most = CAPTURE_SOCKADDR;
		break;
	case KIND_SOCKOPT_VALUE:
		plan->unit = 1;
		plan->most = (uint16_t)string_bytes;
		break;
	case KIND_MASK:
		plan->unit = 1;
		plan->most = CAPTURE_FDSET;
		break;
	case KIND_FDSET:
		plan->count = SYSCALL_COUNT_BITS;
		plan->unit = 8;
		plan->most = CAPTURE_FDSET;
		break;
	case KIND_STRUCT:
		bytes = options->types ? btf_types_size(options->types, str_from(arg->type)) : 0;
		plan->copy = is_64 && bytes ? SYSCALL_COPY_BYTES : SYSCALL_COPY_NOTHING;
		plan->most = (uint16_t)MIN(bytes, (size_t)CAPTURE_STRUCT);
		plan->unit = plan->count == SYSCALL_COUNT_ARG	 ? 1
			     : plan->count == SYSCALL_COUNT_SELF ? syscall_capture_first_size(arg->type)
								 : plan->most;
		break;
	default:
		plan->copy = SYSCALL_COPY_NOTHING;
		break;
	}
}

static struct syscall_plan_arg syscall_capture_arg(
	const struct syscall_arg *arg, enum syscall_abi abi, const struct syscall_capture_options *options)
{
	struct syscall_plan_arg plan = {
		.copy = SYSCALL_COPY_BYTES, .when = arg->when, .count = arg->count, .of = arg->of};
	unsigned bytes = syscall_kind_bytes((enum syscall_kind)arg->kind, abi);
	if (arg->kind == KIND_FUTEX_TIME) {
		/* Only some operations have a time. The argument with the index plan.of is the operation, not a
		 * count. */
		plan.when = SYSCALL_WHEN_ENTRY;
		plan.count = SYSCALL_COUNT_ONE;
		bytes = syscall_kind_bytes(KIND_TIMESPEC, abi);
	}
	/* Another argument contains the size of these structs. */
	if (arg->kind == KIND_CLONE_ARGS || arg->kind == KIND_OPEN_HOW) {
		plan.unit = 1;
		plan.most = (uint16_t)bytes;
		return plan;
	}
	if (arg->kind == KIND_FD || arg->kind == KIND_DIRFD || arg->kind == KIND_FD_IF_FILE)
		return options->no_files
			       ? (struct syscall_plan_arg){0}
			       : (struct syscall_plan_arg){.copy = SYSCALL_COPY_FILE, .when = SYSCALL_WHEN_ENTRY};
	if (plan.when == 0)
		return (struct syscall_plan_arg){0};
	if (bytes == 0) {
		syscall_capture_vary(arg, abi, options, &plan);
		return plan.copy == SYSCALL_COPY_NOTHING ? (struct syscall_plan_arg){0} : plan;
	}
	plan.unit = (uint16_t)bytes;
	plan.most = (uint16_t)(plan.count == SYSCALL_COUNT_ONE ? bytes : bytes * CAPTURE_ELEMENTS);
	return plan;
}

void syscall_capture_plan(
	enum syscall_abi abi, const struct syscall_capture_options *options, struct syscall_plan *plan)
{
	for (uint32_t number = 0; number < SYSCALL_NUMBERS; number++) {
		const struct syscall_form *form = syscall_form_find(abi, number);
		const char *name = syscall_name(abi, number);
		struct syscall_plan *p = &plan[number];
		*p = (struct syscall_plan){0};
		if (!options->wanted || options->wanted->has[number])
			p->flags |= SYSCALL_PLAN_WANTED;
		if (form && form->result == RESULT_NEVER)
			p->flags |= SYSCALL_PLAN_NO_RETURN;
		if (name && (strcmp(name, "execve") == 0 || strcmp(name, "execveat") == 0))
			p->flags |= SYSCALL_PLAN_NEW_IMAGE;
		if (name &&
			(str_ends_with(str_from(name), STR("fork")) || str_starts_with(str_from(name), STR("clone"))))
			p->flags |= SYSCALL_PLAN_FORKS;
		for (unsigned i = 0; form && !options->nothing && i < SYSCALL_ARGS; i++) {
			p->args[i] = syscall_capture_arg(&form->args[i], abi, options);
			if (p->args[i].copy >= SYSCALL_COPY_IOVEC)
				p->nested = i + 1;
			if (p->args[i].when & SYSCALL_WHEN_ENTRY)
				p->flags |= SYSCALL_PLAN_COPIES;
			if (p->args[i].when & SYSCALL_WHEN_EXIT)
				p->flags |= SYSCALL_PLAN_COPIES_OUT;
		}
	}
}

struct syscall_plan syscall_capture_others(const struct syscall_capture_options *options)
{
	bool is_wanted = !options->wanted || options->wanted->has_others;
	return (struct syscall_plan){.flags = is_wanted ? SYSCALL_PLAN_WANTED : 0};
}
