/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets every allocation of a history fail once: the caller gets an error, and nothing is lost or freed twice.
 */
#include <string.h>

#include "base/array.h"
#include "failing_malloc.h"
#include "machine/machine.h"
#include "unit_test.h"

#define PROCESSES 40 /* A longer chain of forks than address spaces are chained. */

static enum tally_status feed(struct machine *m, struct record_fields fields, uint16_t misc, uint64_t time)
{
	struct record record = {.type = fields.type, .misc = misc};
	return machine_apply(m, &record, &fields, time, NULL);
}

static enum tally_status map(struct machine *m, uint32_t pid, uint64_t start, const char *name, uint64_t time)
{
	struct record_fields f = {.type = RECORD_MMAP2,
		.mmap = {.pid = pid,
			.tid = pid,
			.start = start,
			.len = 0x1000,
			.prot = 5,
			.inode = start,
			.filename = str_from(name)}};
	return feed(m, f, pid == UINT32_MAX ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER, time);
}

static enum tally_status feed_processes(struct machine *m)
{
	enum tally_status status = TALLY_OK;
	for (uint32_t pid = 1; status == TALLY_OK && pid <= PROCESSES; pid++) {
		struct record_fields fork = {.type = RECORD_FORK, .task = {pid + 1, pid, pid + 1, pid, pid * 10}};
		struct record_fields comm = {.type = RECORD_COMM,
			.comm = {.pid = pid, .tid = pid, .is_exec = pid % 4 == 0, .comm = STR("name")}};
		status = map(m, pid, 0x10000 + pid * 0x800, pid % 2 ? "/lib/odd" : "//anon", pid * 10 - 2);
		if (status == TALLY_OK)
			status = feed(m, comm, 0, pid * 10 - 1);
		if (status == TALLY_OK)
			status = feed(m, fork, 0, pid * 10);
	}
	return status;
}

static enum tally_status feed_kernel(struct machine *m)
{
	static const struct machine_listed_id listed[] = {
		{MISC_CPUMODE_KERNEL, -1, {"/boot/vmlinux-6.1", 17}, {.size = 20, .bytes = {1}}},
		{MISC_CPUMODE_KERNEL, -1, {"[veth]", 6}, {.size = 20, .bytes = {2}}},
		{MISC_CPUMODE_GUEST_KERNEL, 5, {"/guest/vmlinux", 14}, {.size = 20, .bytes = {3}}},
		{MISC_CPUMODE_USER, -1, {"/lib/odd", 8}, {.size = 20, .bytes = {4}}}};
	struct record_fields bpf = {.type = RECORD_KSYMBOL,
		.ksymbol = {.addr = UINT64_C(0xffffffffb0000000), .len = 64, .name = STR("bpf_prog_1")}};
	struct machine_generated code = {3, STR("/tmp/jit.dump"), 0x10000, 0x100, 0};
	enum tally_status status = map(m, UINT32_MAX, UINT64_C(0xffffffff81000000), "[kernel.kallsyms]_text", 0);
	if (status == TALLY_OK)
		status = map(m, UINT32_MAX, UINT64_C(0xffffffffa0000000), "/lib/modules/6.1/veth.ko", 0);
	if (status == TALLY_OK)
		status = feed(m, bpf, 0, 5);
	bpf.ksymbol.flags = KSYMBOL_FLAG_UNREGISTER;
	if (status == TALLY_OK)
		status = feed(m, bpf, 0, 9);
	if (status == TALLY_OK)
		status = machine_add_generated(m, &code, 1000, NULL);
	for (size_t i = 0; status == TALLY_OK && i < ARRAY_LEN(listed); i++)
		status = machine_add_build_id(m, &listed[i], NULL);
	return status;
}

static enum tally_status live(void)
{
	struct machine *m;
	enum tally_status status = machine_create(&m, NULL);
	if (status != TALLY_OK)
		return status;
	status = feed_processes(m);
	if (status == TALLY_OK)
		status = feed_kernel(m);
	if (status == TALLY_OK)
		status = machine_finish(m, NULL);
	if (status == TALLY_OK) {
		assert_non_null(machine_find_mapping(m, PROCESSES, 2000, MISC_CPUMODE_USER, VA(0x10800)));
		assert_true(str_equal(machine_string(m, machine_comm_at(m, 1, 9)), STR("name")));
	}
	machine_destroy(m);
	return status;
}

static void test_each_allocation(void **state)
{
	bool has_failed = true;
	assert_int_equal(live(), TALLY_OK);
	for (size_t n = 0; has_failed; n++) {
		assert_true(n < 10000);
		failing_malloc_begin(n);
		enum tally_status status = live();
		has_failed = failing_malloc_end();
		assert_int_equal(failing_malloc_held(), 0);
		assert_int_equal(status, has_failed ? TALLY_NOMEM : TALLY_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
	machine_destroy(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
