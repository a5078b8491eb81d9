/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_maker.h - makes system calls with copied memory for tests, and prints them.
 */
#ifndef TESTS_CALL_MAKER_H
#define TESTS_CALL_MAKER_H

#include <string.h>

#include "syscalls/syscall_print.h"
#include "unit_test.h"

struct call_maker {
	struct syscall_call call;
	uint8_t parts[4096];
	struct syscall_print_options options;
	char text[4096];
};

static inline void call_begin(struct call_maker *m, const char *name, const uint64_t args[SYSCALL_ARGS], int64_t result)
{
	enum syscall_abi abi = m->call.abi;
	m->call = (struct syscall_call){.abi = abi,
		.number = syscall_number(abi, str_from(name)),
		.kind = SYSCALL_RECORD_CALL,
		.has_args = true,
		.has_result = true,
		.result = result};
	memcpy(m->call.args, args, sizeof(m->call.args));
	assert_int_not_equal(m->call.number, SYSCALL_UNKNOWN);
	m->call.captured = (struct tally_bytes){m->parts, 0};
}

static inline void call_copy(
	struct call_maker *m, unsigned arg, unsigned item, unsigned flags, const void *bytes, size_t len)
{
	struct syscall_part part = {
		.arg = (uint8_t)arg, .item = (uint8_t)item, .flags = (uint8_t)flags, .bytes = (uint32_t)len};
	size_t at = m->call.captured.len;
	assert_true(at + sizeof(part) + len + 8 < sizeof(m->parts));
	memcpy(m->parts + at, &part, sizeof(part));
	memcpy(m->parts + at + sizeof(part), bytes, len);
	m->call.captured.len = at + sizeof(part) + ((len + 7) & ~(size_t)7);
}

/* Returns "name(arguments) = result". */
static inline const char *call_text(struct call_maker *m)
{
	struct text t = text_over(m->text, sizeof(m->text) - 1);
	syscall_print_name(&t, m->call.abi, m->call.number);
	text_char(&t, '(');
	syscall_print_args(&t, &m->call, &m->options);
	text_str(&t, ") = ");
	syscall_print_result(&t, &m->call, &m->options);
	m->text[t.len] = 0;
	return m->text;
}

#endif
