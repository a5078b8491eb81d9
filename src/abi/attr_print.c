/*
 * attr_print.c - an attr as `perf evlist -v` prints it: fields that are set, in the order of the struct.
 */
#include "abi/attr.h"

static const char *const sample_names[] = {"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD",
	"STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER",
	"TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT"};
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

static void field_name(struct text *t, const char *name)
{
	text_str(t, ", ");
	text_str(t, name);
	text_str(t, ": ");
}

static void decimal(struct text *t, const char *name, uint64_t value)
{
	if (value == 0)
		return;
	field_name(t, name);
	text_u64(t, value);
}

static void hex(struct text *t, const char *name, uint64_t value)
{
	if (value == 0)
		return;
	field_name(t, name);
	text_str(t, "0x");
	text_hex(t, value, 0);
}

static void bits(struct text *t, const char *name, uint64_t value, const char *const *names, size_t count)
{
	if (value == 0)
		return;
	field_name(t, name);
	bool is_first = true;
	for (size_t i = 0; i < 64; i++) {
		if (!(value >> i & 1))
			continue;
		if (!is_first)
			text_char(t, '|');
		is_first = false;
		if (i < count) {
			text_str(t, names[i]);
		} else {
			text_str(t, "0x");
			text_hex(t, UINT64_C(1) << i, 0);
		}
	}
}

#define BITS(t, name, value, names) bits(t, name, value, names, sizeof(names) / sizeof(names[0]))

void attr_print(struct text *t, const struct perf_attr *attr)
{
	text_str(t, "type: ");
	text_u64(t, attr->type);
	decimal(t, "size", attr->size);
	hex(t, "config", attr->config);
	decimal(t, "{ sample_period, sample_freq }", attr->sample_period_or_freq);
	BITS(t, "sample_type", attr->sample_type, sample_names);
	BITS(t, "read_format", attr->read_format, read_names);
	for (unsigned i = 0; i < ATTR_BIT_COUNT; i++) {
		if (i == ATTR_BIT_PRECISE_IP)
			decimal(t, "precise_ip", attr_precise_ip(attr));
		else if (flag_names[i])
			decimal(t, flag_names[i], attr->flags >> i & 1);
	}
	decimal(t, ATTR_HAS(attr, WATERMARK) ? "wakeup_watermark" : "{ wakeup_events, wakeup_watermark }",
		attr->wakeup);
	decimal(t, "bp_type", attr->bp_type);
	hex(t, "{ bp_addr, config1 }", attr->config1);
	hex(t, "{ bp_len, config2 }", attr->config2);
	BITS(t, "branch_sample_type", attr->branch_sample_type, branch_names);
	hex(t, "sample_regs_user", attr->sample_regs_user);
	decimal(t, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid != 0) {
		field_name(t, "clockid");
		text_i64(t, attr->clockid);
	}
	hex(t, "sample_regs_intr", attr->sample_regs_intr);
	decimal(t, "aux_watermark", attr->aux_watermark);
	decimal(t, "sample_max_stack", attr->sample_max_stack);
	decimal(t, "aux_sample_size", attr->aux_sample_size);
	hex(t, "sig_data", attr->sig_data);
	hex(t, "config3", attr->config3);
}
