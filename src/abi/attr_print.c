/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attr_print.c - prints an attr as `perf evlist -v` does: type and configuration, then the fields that are set, in the
 * order of the struct. Constants of linux/perf_event.h are printed by name, as in perf 7.x. PMUs are printed by number,
 * because the numbers come from the recording machine and may denote other PMUs on this one.
 */
#include "abi/attr.h"
#include "base/array.h"

/* In perf's order, which differs from that of the bits. */
static const struct bit_name {
	uint64_t bit;
	const char *name;
} sample_names[] = {
	{SAMPLE_IP, "IP"},
	{SAMPLE_TID, "TID"},
	{SAMPLE_TIME, "TIME"},
	{SAMPLE_ADDR, "ADDR"},
	{SAMPLE_READ, "READ"},
	{SAMPLE_CALLCHAIN, "CALLCHAIN"},
	{SAMPLE_ID, "ID"},
	{SAMPLE_CPU, "CPU"},
	{SAMPLE_PERIOD, "PERIOD"},
	{SAMPLE_STREAM_ID, "STREAM_ID"},
	{SAMPLE_RAW, "RAW"},
	{SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	{SAMPLE_REGS_USER, "REGS_USER"},
	{SAMPLE_STACK_USER, "STACK_USER"},
	{SAMPLE_IDENTIFIER, "IDENTIFIER"},
	{SAMPLE_REGS_INTR, "REGS_INTR"},
	{SAMPLE_DATA_SRC, "DATA_SRC"},
	{SAMPLE_WEIGHT, "WEIGHT"},
	{SAMPLE_TRANSACTION, "TRANSACTION"},
	{SAMPLE_PHYS_ADDR, "PHYS_ADDR"},
	{SAMPLE_AUX, "AUX"},
	{SAMPLE_CGROUP, "CGROUP"},
	{SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
	{SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
	{SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"},
};
static const char *const read_names[] = {"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST"};
static const char *const branch_names[] = {"USER", "KERNEL", "HV", "ANY", "ANY_CALL", "ANY_RETURN", "IND_CALL",
	"ABORT_TX", "IN_TX", "NO_TX", "COND", "CALL_STACK", "IND_JUMP", "CALL", "NO_FLAGS", "NO_CYCLES", "TYPE_SAVE",
	"HW_INDEX", "PRIV_SAVE", "COUNTERS"};
static const char *const flag_names[ATTR_BIT_COUNT] = {
	[ATTR_BIT_DISABLED] = "disabled",
	[ATTR_BIT_INHERIT] = "inherit",
	[ATTR_BIT_PINNED] = "pinned",
	[ATTR_BIT_EXCLUSIVE] = "exclusive",
	[ATTR_BIT_EXCLUDE_USER] = "exclude_user",
	[ATTR_BIT_EXCLUDE_KERNEL] = "exclude_kernel",
	[ATTR_BIT_EXCLUDE_HV] = "exclude_hv",
	[ATTR_BIT_EXCLUDE_IDLE] = "exclude_idle",
	[ATTR_BIT_MMAP] = "mmap",
	[ATTR_BIT_COMM] = "comm",
	[ATTR_BIT_FREQ] = "freq",
	[ATTR_BIT_INHERIT_STAT] = "inherit_stat",
	[ATTR_BIT_ENABLE_ON_EXEC] = "enable_on_exec",
	[ATTR_BIT_TASK] = "task",
	[ATTR_BIT_WATERMARK] = "watermark",
	[ATTR_BIT_PRECISE_IP] = "precise_ip",
	[ATTR_BIT_MMAP_DATA] = "mmap_data",
	[ATTR_BIT_SAMPLE_ID_ALL] = "sample_id_all",
	[ATTR_BIT_EXCLUDE_HOST] = "exclude_host",
	[ATTR_BIT_EXCLUDE_GUEST] = "exclude_guest",
	[ATTR_BIT_EXCLUDE_CALLCHAIN_KERNEL] = "exclude_callchain_kernel",
	[ATTR_BIT_EXCLUDE_CALLCHAIN_USER] = "exclude_callchain_user",
	[ATTR_BIT_MMAP2] = "mmap2",
	[ATTR_BIT_COMM_EXEC] = "comm_exec",
	[ATTR_BIT_USE_CLOCKID] = "use_clockid",
	[ATTR_BIT_CONTEXT_SWITCH] = "context_switch",
	[ATTR_BIT_WRITE_BACKWARD] = "write_backward",
	[ATTR_BIT_NAMESPACES] = "namespaces",
	[ATTR_BIT_KSYMBOL] = "ksymbol",
	[ATTR_BIT_BPF_EVENT] = "bpf_event",
	[ATTR_BIT_AUX_OUTPUT] = "aux_output",
	[ATTR_BIT_CGROUP] = "cgroup",
	[ATTR_BIT_TEXT_POKE] = "text_poke",
	[ATTR_BIT_BUILD_ID] = "build_id",
	[ATTR_BIT_INHERIT_THREAD] = "inherit_thread",
	[ATTR_BIT_REMOVE_ON_EXEC] = "remove_on_exec",
	[ATTR_BIT_SIGTRAP] = "sigtrap",
	[ATTR_BIT_DEFER_CALLCHAIN] = "defer_callchain",
	[ATTR_BIT_DEFER_OUTPUT] = "defer_output",
};

static const char *const type_names[] = {
	[EVENT_HARDWARE] = "HARDWARE",
	[EVENT_SOFTWARE] = "SOFTWARE",
	[EVENT_TRACEPOINT] = "TRACEPOINT",
	[EVENT_HW_CACHE] = "HW_CACHE",
	[EVENT_RAW] = "RAW",
	[EVENT_BREAKPOINT] = "BREAKPOINT",
};
static const char *const hardware_names[] = {"CPU_CYCLES", "INSTRUCTIONS", "CACHE_REFERENCES", "CACHE_MISSES",
	"BRANCH_INSTRUCTIONS", "BRANCH_MISSES", "BUS_CYCLES", "STALLED_CYCLES_FRONTEND", "STALLED_CYCLES_BACKEND",
	"REF_CPU_CYCLES"};
static const char *const software_names[] = {"CPU_CLOCK", "TASK_CLOCK", "PAGE_FAULTS", "CONTEXT_SWITCHES",
	"CPU_MIGRATIONS", "PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ", "ALIGNMENT_FAULTS", "EMULATION_FAULTS", "DUMMY",
	"BPF_OUTPUT", "CGROUP_SWITCHES"};
static const char *const attr_print_cache_names[] = {"L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE"};
static const char *const cache_op_names[] = {"READ", "WRITE", "PREFETCH"};
static const char *const cache_result_names[] = {"ACCESS", "MISS"};

#define NAME_OF(names, index) ((index) < ARRAY_LEN(names) ? names[index] : NULL)

struct fields {
	struct text *text;
	const char *separator;
	bool has_some;
};

static void field_name(struct fields *f, const char *name)
{
	if (f->has_some)
		text_str(f->text, ", ");
	f->has_some = true;
	text_str(f->text, name);
	text_str(f->text, f->separator);
}

static void attr_print_decimal(struct fields *f, const char *name, uint64_t value)
{
	if (value == 0)
		return;
	field_name(f, name);
	text_u64(f->text, value);
}

static void attr_print_hex(struct fields *f, const char *name, uint64_t value)
{
	if (value == 0)
		return;
	field_name(f, name);
	text_str(f->text, "0x");
	text_hex(f->text, value, 0);
}

/* Collects the names of a bit set: "IP|TID|bit 25". */
struct bit_list {
	struct text *text;
	bool has_some;
};

static void bit_list_add(struct bit_list *list, const char *name)
{
	if (list->has_some)
		text_char(list->text, '|');
	list->has_some = true;
	text_str(list->text, name);
}

static void bit_list_add_unknown(struct bit_list *list, uint64_t unknown)
{
	for (; unknown != 0; unknown &= unknown - 1) {
		bit_list_add(list, "bit ");
		text_u64(list->text, (uint64_t)__builtin_ctzll(unknown));
	}
}

static void sample_type(struct fields *f, uint64_t value)
{
	if (value == 0)
		return;
	field_name(f, "sample_type");
	struct bit_list list = {.text = f->text};
	for (size_t i = 0; i < ARRAY_LEN(sample_names); i++)
		if (value & sample_names[i].bit)
			bit_list_add(&list, sample_names[i].name);
	bit_list_add_unknown(&list, value & ~SAMPLE_KNOWN_MASK);
}

static void attr_print_bits(struct fields *f, const char *name, uint64_t value, const char *const *names, size_t count)
{
	if (value == 0)
		return;
	field_name(f, name);
	struct bit_list list = {.text = f->text};
	for (size_t i = 0; i < count; i++)
		if (value >> i & 1)
			bit_list_add(&list, names[i]);
	bit_list_add_unknown(&list, value >> count << count);
}

#define BITS(f, name, value, names) attr_print_bits(f, name, value, names, ARRAY_LEN(names))

static void attr_print_flags(struct fields *f, const struct perf_attr *attr)
{
	for (unsigned i = 0; i < ATTR_BIT_COUNT; i++) {
		if (i == ATTR_BIT_PRECISE_IP)
			attr_print_decimal(f, "precise_ip", attr_precise_ip(attr));
		else if (flag_names[i])
			attr_print_decimal(f, flag_names[i], attr->flags >> i & 1);
	}
	uint64_t unknown = attr->flags >> ATTR_BIT_COUNT << ATTR_BIT_COUNT;
	if (unknown == 0)
		return;
	field_name(f, "unknown flags");
	struct bit_list list = {.text = f->text};
	bit_list_add_unknown(&list, unknown);
}

static void type_and_name(struct fields *f, uint32_t type)
{
	const char *name = NAME_OF(type_names, type);
	field_name(f, "type");
	text_u64(f->text, type);
	if (name)
		text_printf(f->text, " (PERF_TYPE_%s)", name);
}

static void config_and_name(struct fields *f, const struct perf_attr *attr)
{
	field_name(f, "config");
	text_str(f->text, attr->config ? "0x" : "");
	text_hex(f->text, attr->config, 0);
	/* The bits of a generic event above 32 identify the PMU that counts it. */
	uint64_t generic = attr->config & UINT32_MAX;
	const char *result = NAME_OF(cache_result_names, generic >> 16);
	const char *op = NAME_OF(cache_op_names, generic >> 8 & 0xff);
	const char *cache = NAME_OF(attr_print_cache_names, generic & 0xff);
	const char *name = attr->type == EVENT_HARDWARE	  ? NAME_OF(hardware_names, generic)
			   : attr->type == EVENT_SOFTWARE ? NAME_OF(software_names, attr->config)
							  : NULL;
	if (attr->type == EVENT_HW_CACHE && result && op && cache)
		text_printf(f->text,
			" (PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | PERF_COUNT_HW_CACHE_%s)", result,
			op, cache);
	else if (name)
		text_printf(f->text, " (PERF_COUNT_%s_%s)", attr->type == EVENT_HARDWARE ? "HW" : "SW", name);
}

static void all_fields(struct fields *f, const struct perf_attr *attr)
{
	type_and_name(f, attr->type);
	attr_print_decimal(f, "size", attr->declared_size ? attr->declared_size : attr->size);
	config_and_name(f, attr);
	attr_print_decimal(f, "{ sample_period, sample_freq }", attr->sample_period_or_freq);
	sample_type(f, attr->sample_type);
	BITS(f, "read_format", attr->read_format, read_names);
	attr_print_flags(f, attr);
	attr_print_decimal(f, "{ wakeup_events, wakeup_watermark }", attr->wakeup);
	attr_print_decimal(f, "bp_type", attr->bp_type);
	attr_print_hex(f, "{ bp_addr, config1 }", attr->config1);
	attr_print_hex(f, "{ bp_len, config2 }", attr->config2);
	BITS(f, "branch_sample_type", attr->branch_sample_type, branch_names);
	attr_print_hex(f, "sample_regs_user", attr->sample_regs_user);
	attr_print_decimal(f, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid != 0) {
		field_name(f, "clockid");
		text_i64(f->text, attr->clockid);
	}
	attr_print_hex(f, "sample_regs_intr", attr->sample_regs_intr);
	attr_print_decimal(f, "aux_watermark", attr->aux_watermark);
	attr_print_decimal(f, "sample_max_stack", attr->sample_max_stack);
	attr_print_decimal(f, "aux_sample_size", attr->aux_sample_size);
	attr_print_decimal(f, "sig_data", attr->sig_data);
	attr_print_decimal(f, "aux_start_paused", attr->aux_action & 1);
	attr_print_decimal(f, "aux_pause", attr->aux_action >> 1 & 1);
	attr_print_decimal(f, "aux_resume", attr->aux_action >> 2 & 1);
	attr_print_hex(f, "unknown aux_action", attr->aux_action & ~UINT32_C(7));
	attr_print_hex(f, "config3", attr->config3);
	attr_print_hex(f, "config4", attr->config4);
	if (attr->excess_is_nonzero)
		attr_print_decimal(f, "bytes beyond what is known", attr->excess_bytes);
}

void attr_print(struct text *t, const struct perf_attr *attr)
{
	struct fields f = {.text = t, .separator = ": "};
	all_fields(&f, attr);
}

void attr_print_header(struct text *t, const struct perf_attr *attr)
{
	struct fields f = {.text = t, .separator = " = "};
	all_fields(&f, attr);
}
