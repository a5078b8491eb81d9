/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

#define PID 1000

struct fixture {
	struct machine *machine;
	struct binary_store *store;
	struct resolver resolver;
	struct frame_names names;
	struct cgroup_names cgroups;
	struct script_printer printer;
	struct perfdata_event event;
	struct record record;
	struct sample sample;
	uint64_t fields;
	bool swap;
	uint8_t words[8][256]; /* Arrays in the byte order of the file. */
	size_t arrays;
};

static void apply(struct fixture *f, const struct record_fields *fields, uint16_t misc)
{
	struct tally_error err;
	struct record record = {.type = fields->type, .misc = misc};
	assert_int_equal(machine_apply(f->machine, &record, fields, 0, &err), TALLY_OK);
}

static void init(struct fixture *f, bool swap)
{
	struct tally_error err;
	*f = (struct fixture){.swap = swap};
	assert_int_equal(machine_create(&f->machine, &err), TALLY_OK);
	struct record_fields comm = {.type = RECORD_COMM, .comm = {.pid = PID, .tid = PID, .comm = STR("prog")}};
	apply(f, &comm, 0);
	struct record_fields map = {.type = RECORD_MMAP,
		.mmap = {.pid = PID,
			.tid = PID,
			.start = 0x400000,
			.len = 0x100000,
			.filename = STR("/nonexistent/prog")}};
	apply(f, &map, MISC_CPUMODE_USER);
	assert_int_equal(machine_finish(f->machine, &err), TALLY_OK);
	struct binary_store_options options = {.symfs = "/nonexistent"};
	assert_int_equal(binary_store_create(&options, &f->store, &err), TALLY_OK);
	assert_true(resolver_init(&f->resolver, f->machine, swap));
	frame_names_init(&f->names, &f->resolver, f->machine, f->store);
	intern_init(&f->cgroups.paths);
	f->event = (struct perfdata_event){.attr = {.type = EVENT_RAW}, .name = STR("loads")};
	f->record = (struct record){.type = RECORD_SAMPLE, .misc = MISC_CPUMODE_USER};
	f->sample = (struct sample){.swap = swap,
		.present = SAMPLE_CPU,
		.pid = PID,
		.tid = PID,
		.time = 5000000123,
		.cpu = 3,
		.ip = 0x401234};
	f->printer = (struct script_printer){
		.places = {.machine = f->machine, .resolver = &f->resolver, .names = &f->names, .arch = &arch_x86_64},
		.fields = &f->fields,
		.cgroups = &f->cgroups,
		.event_name_width = 6,
	};
	assert_true(script_places_init(&f->printer.places));
}

static void deinit(struct fixture *f)
{
	script_places_deinit(&f->printer.places);
	frame_names_deinit(&f->names);
	resolver_deinit(&f->resolver);
	binary_store_destroy(f->store);
	machine_destroy(f->machine);
	cgroup_names_deinit(&f->cgroups);
}

static struct sample_array array(struct fixture *f, const uint64_t *values, uint32_t count)
{
	uint8_t *data = f->words[f->arrays++];
	for (uint32_t i = 0; i < count; i++) {
		uint64_t v = f->swap ? __builtin_bswap64(values[i]) : values[i];
		memcpy(data + i * sizeof(v), &v, sizeof(v));
	}
	return (struct sample_array){data, count};
}

#define ARRAY(f, ...) \
	array(f, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void assert_row(struct fixture *f, uint64_t fields, const char *expected)
{
	struct text t = {0};
	f->fields = fields;
	assert_true(script_print_sample(&f->printer, &t, &f->event, &f->record, &f->sample, f->sample.time));
	text_char(&t, '\0');
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void simple_fields(bool swap)
{
	struct fixture f;
	init(&f, swap);
	f.sample.period = 77;
	assert_row(&f, 0, "");
	assert_row(&f, FIELD_COMM, "            prog \n");
	assert_row(&f, FIELD_PID, " 1000 \n");
	assert_row(&f, FIELD_TID | FIELD_PID, " 1000/1000  \n");
	assert_row(&f, FIELD_CPU | FIELD_MISC | FIELD_TIME, "[003] U         5.000000: \n");
	assert_row(&f, FIELD_PERIOD | FIELD_EVENT, "        77  loads: \n");
	assert_row(&f, FIELD_EVENT | FIELD_FLAGS, " loads:                         \n");
	assert_row(&f, FIELD_IP, "           401234\n");
	assert_row(&f, FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO,
		"           401234 [unknown] (/nonexistent/prog)\n");
	assert_row(&f, FIELD_IP | FIELD_DSOFF, "           401234 (/nonexistent/prog+0x1234)\n");
	assert_row(&f, FIELD_SYNTH | FIELD_IPC | FIELD_MACHINE_PID | FIELD_VCPU, "\n");
	f.sample.ip = 0x7;
	assert_row(&f, FIELD_IP | FIELD_DSOFF, "                7 ([unknown])\n");
	f.record.misc = MISC_CPUMODE_KERNEL;
	assert_row(&f, FIELD_MISC, "K     \n");
	f.printer.time_form = TIME_NSEC;
	assert_row(&f, FIELD_TIME, "    5.000000123: \n");
	deinit(&f);
}

static void memory_fields(bool swap)
{
	struct fixture f;
	init(&f, swap);
	f.sample.present = SAMPLE_WEIGHT_STRUCT;
	f.sample.weight = UINT64_C(5) | UINT64_C(6) << 32 | UINT64_C(7) << 48;
	f.sample.addr = 0x402000;
	f.sample.data_src = 0x68100142;
	f.sample.phys_addr = 0x123456000;
	f.sample.data_page_size = 4096;
	f.sample.code_page_size = 2 << 20;
	assert_row(&f, FIELD_ADDR | FIELD_SYM | FIELD_DSO, "          402000\n");
	assert_row(
		&f, FIELD_DATA_SRC, "        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A\n");
	assert_row(&f, FIELD_WEIGHT | FIELD_INS_LAT | FIELD_RETIRE_LAT,
		"               5               6               7\n");
	f.sample.data_src = 0; /* Padded to the longest text so far. */
	f.sample.present = SAMPLE_WEIGHT;
	assert_row(&f, FIELD_DATA_SRC | FIELD_WEIGHT,
		"               0 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A               1970350606778373\n");
	assert_row(&f, FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE, "       123456000 4K 2M\n");
	f.sample.data_page_size = 0;
	f.sample.code_page_size = 1500;
	assert_row(&f, FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE, " N/A 1500B\n");
	f.sample.code_page_size = UINT64_C(1) << 40;
	assert_row(&f, FIELD_CODE_PAGE_SIZE, " 1024G\n");
	/* The address of a page fault is shown with its DSO; that of a taken branch comes second. */
	f.event.attr = (struct perf_attr){.type = EVENT_SOFTWARE, .config = SW_PAGE_FAULTS};
	assert_row(&f, FIELD_ADDR | FIELD_DSO, "          402000 (/nonexistent/prog)\n");
	f.event.attr = (struct perf_attr){
		.type = EVENT_HARDWARE, .config = HW_BRANCH_INSTRUCTIONS, .sample_period_or_freq = 1};
	assert_row(&f, FIELD_ADDR | FIELD_IP, "           401234 =>           402000\n");
	deinit(&f);
}

static void registers(bool swap)
{
	struct fixture f;
	init(&f, swap);
	f.sample.regs_user = (struct sample_regs){.abi = 2, .mask = 0x301, .values = ARRAY(&f, 1, 0xab, 3)};
	f.sample.regs_intr = (struct sample_regs){
		.abi = 1, .mask = UINT64_C(3) << 32 | 1u << 16 | 1u << 31, .values = ARRAY(&f, 4, 5, 6, 7)};
	assert_row(&f, FIELD_UREGS, " ABI:2    AX:0x1    IP:0xab FLAGS:0x3 \n");
	assert_row(&f, FIELD_IREGS, " ABI:1    R8:0x4 r31:0x5  XMM0:0x6  XMM0:0x7 \n");
	f.sample.regs_user.values.count = 0;
	assert_row(&f, FIELD_UREGS, "\n");
	f.printer.places.arch = &arch_aarch64;
	f.sample.regs_user = (struct sample_regs){.abi = 2, .mask = UINT64_C(1) << 32 | 1, .values = ARRAY(&f, 1, 2)};
	assert_row(&f, FIELD_UREGS, " ABI:2    x0:0x1    pc:0x2 \n");
	f.printer.places.arch = NULL;
	assert_row(&f, FIELD_UREGS, " ABI:2 r0:0x1 r32:0x2 \n");
	deinit(&f);
}

/* Packs the flags as numbered bits; on a big-endian machine the first is the highest bit. */
static uint64_t flags(bool swap, uint64_t bits, unsigned cycles, unsigned type, unsigned more)
{
	const unsigned shifts[] = {4, 20, 26}, widths[] = {16, 4, 4};
	const uint64_t values[] = {cycles, type, more};
	uint64_t result = 0;
	for (unsigned i = 0; i < 4; i++)
		result |= (bits >> i & 1) << (swap ? 63 - i : i);
	for (unsigned i = 0; i < 3; i++)
		result |= values[i] << (swap ? 64 - shifts[i] - widths[i] : shifts[i]);
	return result;
}

static void branches(bool swap)
{
	struct fixture f;
	init(&f, swap);
	f.sample.branches.entries =
		ARRAY(&f, 0x401000, 0x401100, flags(swap, 1, 5, 0, 0), 0x401200, UINT64_C(0xffffffff81000000),
			flags(swap, 2 | 4 | 8, 100, 3, 0), 0x7000, 0x401300, flags(swap, 0, 0, 15, 1));
	assert_row(&f, FIELD_BRSTACK | FIELD_BRSTACKSYM,
		" 0x401000/0x401100/M/-/-/5/  0x401200/0xffffffff81000000/P/X/A/100/IND "
		" 0x7000/0x401300/-/-/-/0/FAULT_DATA \n");
	assert_row(&f, FIELD_BRSTACKSYM,
		"[unknown]/[unknown]/M/-/-/5/ [unknown]/[unknown]/P/X/A/100/IND "
		"[unknown]/[unknown]/-/-/-/0/FAULT_DATA \n");
	assert_row(&f, FIELD_BRSTACKOFF | FIELD_DSO,
		" 0x1000(/nonexistent/prog)/0x1100(/nonexistent/prog)/M/-/-/5/ "
		" 0x1200(/nonexistent/prog)/0xffffffff81000000([unknown])/P/X/A/100/IND "
		" 0x7000([unknown])/0x1300(/nonexistent/prog)/-/-/-/0/FAULT_DATA \n");
	f.sample.branches.entries.count = 0;
	assert_row(&f, FIELD_BRSTACK, "\n");
	deinit(&f);
}

static void call_chains(bool swap)
{
	struct fixture f;
	init(&f, swap);
	const uint64_t fields = FIELD_COMM | FIELD_IP | FIELD_SYM | FIELD_DSO;
	f.event.attr.sample_type = SAMPLE_CALLCHAIN;
	f.sample.callchain = ARRAY(&f, CONTEXT_USER, 0x401234, 0x401500);
	assert_row(&f, fields | FIELD_PHYS_ADDR,
		"prog \n\t          401234 [unknown] (/nonexistent/prog)\n\t          401500 [unknown] "
		"(/nonexistent/prog)\n"
		"               0\n");
	f.printer.hide_call_graph = true;
	assert_row(&f, fields, "            prog            401234 [unknown] (/nonexistent/prog)\n");
	f.printer.hide_call_graph = false;
	/* A call stack in the branch records replaces the user part of the chain; an empty one does not. */
	f.event.layout.branch_sample_type = BRANCH_CALL_STACK;
	assert_row(&f, FIELD_IP, "\n\t          401234\n\t          401500\n\n");
	f.sample.callchain = ARRAY(&f, CONTEXT_KERNEL, 0x10, CONTEXT_USER, 0x401500);
	f.sample.branches.entries = ARRAY(&f, 0x401000, 0x401100, 0, 0x402000, 0x402100, 0);
	assert_row(
		&f, FIELD_IP, "\n\t              10\n\t          401100\n\t          401000\n\t          402000\n\n");
	f.event.layout.branch_sample_type = 0;
	f.sample.callchain.count = 0;
	assert_row(&f, fields, "prog \n\n");
	f.sample.stack_user.size = 8; /* A stack dump instead: without the binary it cannot be unwound. */
	assert_row(&f, FIELD_IP, "\n\n");
	f.sample.stack_user.size = 0;
	deinit(&f);
}

static void bpf_output(bool swap)
{
	struct fixture f;
	init(&f, swap);
	f.event.attr = (struct perf_attr){.type = EVENT_SOFTWARE, .config = SW_BPF_OUTPUT};
	f.sample.raw = (struct tally_bytes){(const uint8_t *)"hello\0\0\0\0\0\0\0", 12};
	assert_row(&f, FIELD_BPF_OUTPUT,
		"\n      BPF output: 0000: 68 65 6c 6c 6f 00 00 00  hello...\n"
		"                  0008: 00 00 00 00              ....    \n"
		"      BPF string: \"hello\"\n\n");
	f.sample.raw = (struct tally_bytes){(const uint8_t *)"a\tb", 4};
	assert_row(&f, FIELD_BPF_OUTPUT, "\n      BPF output: 0000: 61 09 62 00              a.b.    \n\n");
	f.sample.raw = (struct tally_bytes){NULL, 0};
	assert_row(&f, FIELD_BPF_OUTPUT, "\n\n");
	deinit(&f);
}

static void cgroups_and_clock(bool swap)
{
	struct fixture f;
	init(&f, swap);
	uint32_t path;
	assert_true(intern_add(&f.cgroups.paths, "/my/cg", 6, &path));
	assert_true(map_u64_set(&f.cgroups.ids, 9, path));
	f.sample.cgroup = 9;
	assert_row(&f, FIELD_CGROUP, " /my/cg\n");
	f.sample.cgroup = 8;
	assert_row(&f, FIELD_CGROUP, " unknown\n");
	setenv("TZ", "UTC", 1);
	f.printer.clock = script_clock_make(&(struct perfdata_features){0});
	assert_row(&f, FIELD_TOD, "disabled \n");
	const struct perfdata_features features = {.present = {UINT64_C(1) << FEATURE_CLOCK_DATA},
		.wall_clock_ns = UINT64_C(1700000000123456789),
		.clockid_time_ns = 4000000000};
	f.printer.clock = script_clock_make(&features);
	assert_row(&f, FIELD_TOD, "2023-11-14 22:13:21.123456 \n");
	f.sample.time += 900000000;
	f.printer.time_form = TIME_NSEC;
	assert_row(&f, FIELD_TOD, "2023-11-14 22:13:22.023456912 \n");
	deinit(&f);
}

static void both_byte_orders(void **state)
{
	void (*const cases[])(bool) = {
		simple_fields, memory_fields, registers, branches, call_chains, bpf_output, cgroups_and_clock};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cases[i](false);
		cases[i](true);
	}
}

static void misc_letters(void **state)
{
	static const struct {
		uint32_t type;
		uint16_t misc;
		const char *letters;
	} rows[] = {
		{RECORD_MMAP2, MISC_CPUMODE_USER | MISC_MMAP_DATA, "UM    "},
		{RECORD_COMM, MISC_COMM_EXEC, "E     "},
		{RECORD_FORK, MISC_FORK_EXEC, "      "},
		{RECORD_SWITCH, MISC_SWITCH_OUT, "S     "},
		{RECORD_SWITCH_CPU_WIDE, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT, "Sp    "},
		{RECORD_SAMPLE, MISC_CPUMODE_GUEST_USER, "g     "},
		{RECORD_SAMPLE, MISC_CPUMODE_GUEST_KERNEL | MISC_EXACT_IP, "G     "},
		{RECORD_SAMPLE, MISC_CPUMODE_HYPERVISOR, "H     "},
		{RECORD_SAMPLE, 7, "      "},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct text t = {0};
		script_print_misc(&t, rows[i].type, rows[i].misc);
		text_char(&t, '\0');
		assert_string_equal(t.data, rows[i].letters);
		text_deinit(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both_byte_orders), cmocka_unit_test(misc_letters)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
