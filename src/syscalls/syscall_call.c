/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_call.h"

bool syscall_call_read(struct tally_bytes raw, enum syscall_abi native, struct syscall_call *call)
{
	struct syscall_record r;
	if (raw.len < sizeof(r))
		return false;
	memcpy(&r, raw.data, sizeof(r));
	if (r.version != SYSCALL_RECORD_VERSION || r.kind < SYSCALL_RECORD_CALL || r.kind > SYSCALL_RECORD_ENDED ||
		r.captured > raw.len - sizeof(r) || native >= SYSCALLS_COUNT)
		return false;
	*call = (struct syscall_call){.abi = native,
		.number = r.number,
		.kind = (enum syscall_record_kind)r.kind,
		.has_args = !(r.flags & SYSCALL_FLAG_NO_ENTRY) || r.flags & SYSCALL_FLAG_LATE_ARGS,
		.has_begin = !(r.flags & SYSCALL_FLAG_NO_ENTRY),
		.is_within = r.flags & SYSCALL_FLAG_IN_TRACE,
		.has_result = r.kind == SYSCALL_RECORD_CALL || r.kind == SYSCALL_RECORD_EXIT,
		.is_truncated = r.flags & SYSCALL_FLAG_TRUNCATED,
		.result = r.result,
		.duration_ns = r.duration_ns,
		.captured = bytes_part(raw, sizeof(r), r.captured)};
	if (r.flags & SYSCALL_FLAG_COMPAT)
		call->abi = native == SYSCALLS_ARM64 ? SYSCALLS_ARM : SYSCALLS_I386;
	for (unsigned i = 0; i < SYSCALL_ARGS; i++)
		call->args[i] = r.args[i];
	memcpy(call->name, r.name, sizeof(call->name) - 1);
	return true;
}

bool syscall_result_failed(int64_t result, unsigned *error)
{
	if (result >= 0 || result < -4095)
		return false;
	*error = (unsigned)-result;
	return true;
}

bool syscall_part_find(
	const struct syscall_call *call, unsigned arg, unsigned item, bool at_exit, struct syscall_copied *copied)
{
	struct tally_bytes left = call->captured;
	struct syscall_part part;
	while (left.len >= sizeof(part)) {
		memcpy(&part, left.data, sizeof(part));
		left = bytes_part(left, sizeof(part), SIZE_MAX);
		if (part.bytes > left.len)
			return false;
		if (part.arg == arg && part.item == item && at_exit == ((part.flags & SYSCALL_PART_AT_EXIT) != 0)) {
			*copied = (struct syscall_copied){
				bytes_part(left, 0, part.bytes), (part.flags & SYSCALL_PART_TRUNCATED) != 0};
			return true;
		}
		left = bytes_part(left, ((size_t)part.bytes + 7) & ~(size_t)7, SIZE_MAX);
	}
	return false;
}

enum syscall_abi syscall_abi_of(const char *machine, bool is_compat)
{
	struct tally_str name = str_from(machine);
	if (str_equal(name, STR("x86_64")))
		return is_compat ? SYSCALLS_I386 : SYSCALLS_X86_64;
	if (str_equal(name, STR("aarch64")) || str_equal(name, STR("arm64")))
		return is_compat ? SYSCALLS_ARM : SYSCALLS_ARM64;
	if (str_starts_with(name, STR("i")) && str_ends_with(name, STR("86")))
		return SYSCALLS_I386;
	if (str_starts_with(name, STR("arm")))
		return SYSCALLS_ARM;
	return SYSCALLS_COUNT;
}

unsigned syscall_abi_word(enum syscall_abi abi)
{
	return abi == SYSCALLS_I386 || abi == SYSCALLS_ARM ? 4 : 8;
}
