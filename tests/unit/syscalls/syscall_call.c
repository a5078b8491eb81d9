/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_call.h"

#include "unit_test.h"

static struct syscall_record call_test_record(void)
{
	return (struct syscall_record){.version = SYSCALL_RECORD_VERSION,
		.kind = SYSCALL_RECORD_CALL,
		.number = 257,
		.args = {1, 2, 3, 4, 5, 6},
		.result = -2,
		.duration_ns = 77,
		.name = "worker"};
}

static void records_become_calls(void **state)
{
	struct {
		struct syscall_record record;
		struct syscall_part part;
		char bytes[8];
		struct syscall_part exit_part;
		char exit_bytes[8];
	} raw = {call_test_record(), {1, SYSCALL_ITEM_SELF, 0, 0, 3}, "abc",
		{1, SYSCALL_ITEM_SELF, SYSCALL_PART_AT_EXIT | SYSCALL_PART_TRUNCATED, 0, 2}, "xy"};
	struct syscall_call call;
	struct syscall_copied copied;
	unsigned error = 0;
	raw.record.captured = 32;
	assert_true(
		syscall_call_read((struct tally_bytes){(const uint8_t *)&raw, sizeof(raw)}, SYSCALLS_X86_64, &call));
	assert_int_equal(call.abi, SYSCALLS_X86_64);
	assert_int_equal(call.number, 257);
	assert_int_equal(call.args[5], 6);
	assert_int_equal(call.duration_ns, 77);
	assert_true(call.has_begin && !call.is_within);
	assert_string_equal(call.name, "worker");
	assert_true(call.has_args && call.has_result && syscall_result_failed(call.result, &error));
	assert_int_equal(error, 2);
	assert_true(syscall_part_find(&call, 1, SYSCALL_ITEM_SELF, false, &copied));
	assert_int_equal(copied.bytes.len, 3);
	assert_memory_equal(copied.bytes.data, "abc", 3);
	assert_false(copied.is_truncated);
	assert_true(syscall_part_find(&call, 1, SYSCALL_ITEM_SELF, true, &copied));
	assert_memory_equal(copied.bytes.data, "xy", 2);
	assert_true(copied.is_truncated);
	assert_false(syscall_part_find(&call, 0, SYSCALL_ITEM_SELF, true, &copied));
	assert_false(syscall_part_find(&call, 1, SYSCALL_ITEM_NAME, true, &copied));
}

static void calls_without_beginning(void **state)
{
	struct syscall_record record = call_test_record();
	const struct tally_bytes raw = {(const uint8_t *)&record, sizeof(record)};
	struct syscall_call call;
	record.flags = SYSCALL_FLAG_NO_ENTRY;
	assert_true(syscall_call_read(raw, SYSCALLS_X86_64, &call));
	assert_true(!call.has_args && !call.has_begin && !call.is_within);
	record.flags |= SYSCALL_FLAG_LATE_ARGS | SYSCALL_FLAG_IN_TRACE;
	assert_true(syscall_call_read(raw, SYSCALLS_X86_64, &call));
	assert_true(call.has_args && !call.has_begin && call.is_within);
}

static void kinds_and_tables(void **state)
{
	struct syscall_record r = call_test_record();
	struct tally_bytes raw = {(const uint8_t *)&r, sizeof(r)};
	struct syscall_call call;
	r.kind = SYSCALL_RECORD_NO_RETURN;
	r.flags = SYSCALL_FLAG_COMPAT;
	assert_true(syscall_call_read(raw, SYSCALLS_X86_64, &call));
	assert_int_equal(call.abi, SYSCALLS_I386);
	assert_false(call.has_result);
	assert_true(syscall_call_read(raw, SYSCALLS_ARM64, &call));
	assert_int_equal(call.abi, SYSCALLS_ARM);
	r.flags = SYSCALL_FLAG_NO_ENTRY;
	assert_true(syscall_call_read(raw, SYSCALLS_ARM64, &call));
	assert_false(call.has_args);
	assert_int_equal(syscall_abi_of("x86_64", false), SYSCALLS_X86_64);
	assert_int_equal(syscall_abi_of("x86_64", true), SYSCALLS_I386);
	assert_int_equal(syscall_abi_of("aarch64", false), SYSCALLS_ARM64);
	assert_int_equal(syscall_abi_of("i686", false), SYSCALLS_I386);
	assert_int_equal(syscall_abi_of("armv7l", false), SYSCALLS_ARM);
	assert_int_equal(syscall_abi_of("riscv64", false), SYSCALLS_COUNT);
}

static void damaged_records_are_refused(void **state)
{
	struct syscall_record good = call_test_record(), r;
	struct syscall_call call;
	for (size_t len = 0; len < sizeof(good); len++)
		assert_false(
			syscall_call_read((struct tally_bytes){(const uint8_t *)&good, len}, SYSCALLS_X86_64, &call));
	r = good;
	r.version = 9;
	assert_false(syscall_call_read((struct tally_bytes){(const uint8_t *)&r, sizeof(r)}, SYSCALLS_X86_64, &call));
	r = good;
	r.kind = 0;
	assert_false(syscall_call_read((struct tally_bytes){(const uint8_t *)&r, sizeof(r)}, SYSCALLS_X86_64, &call));
	r = good;
	r.captured = 1;
	assert_false(syscall_call_read((struct tally_bytes){(const uint8_t *)&r, sizeof(r)}, SYSCALLS_X86_64, &call));
}

/* A part that is longer than the remaining bytes. */
static void damaged_parts_are_not_found(void **state)
{
	const struct syscall_part part = {.arg = 1, .bytes = UINT32_MAX};
	struct syscall_call call = {.captured = {(const uint8_t *)&part, sizeof(part)}};
	struct syscall_copied copied;
	assert_false(syscall_part_find(&call, 1, SYSCALL_ITEM_SELF, false, &copied));
	call.captured.len = 5;
	assert_false(syscall_part_find(&call, 1, SYSCALL_ITEM_SELF, false, &copied));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_become_calls),
		cmocka_unit_test(calls_without_beginning),
		cmocka_unit_test(kinds_and_tables),
		cmocka_unit_test(damaged_records_are_refused),
		cmocka_unit_test(damaged_parts_are_not_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
