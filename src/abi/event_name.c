#include "abi/event_name.h"

static const char *const hardware_names[HW_COUNT] = {
	[HW_CPU_CYCLES] = "cycles",
	[HW_INSTRUCTIONS] = "instructions",
	[HW_CACHE_REFERENCES] = "cache-references",
	[HW_CACHE_MISSES] = "cache-misses",
	[HW_BRANCH_INSTRUCTIONS] = "branches",
	[HW_BRANCH_MISSES] = "branch-misses",
	[HW_BUS_CYCLES] = "bus-cycles",
	[HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const software_names[SW_COUNT] = {
	[SW_CPU_CLOCK] = "cpu-clock",
	[SW_TASK_CLOCK] = "task-clock",
	[SW_PAGE_FAULTS] = "page-faults",
	[SW_CONTEXT_SWITCHES] = "context-switches",
	[SW_CPU_MIGRATIONS] = "cpu-migrations",
	[SW_PAGE_FAULTS_MIN] = "minor-faults",
	[SW_PAGE_FAULTS_MAJ] = "major-faults",
	[SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[SW_EMULATION_FAULTS] = "emulation-faults",
	[SW_DUMMY] = "dummy",
	[SW_BPF_OUTPUT] = "bpf-output",
	[SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static const char *const cache_names[CACHE_COUNT] = {
	[CACHE_L1D] = "L1-dcache",
	[CACHE_L1I] = "L1-icache",
	[CACHE_LL] = "LLC",
	[CACHE_DTLB] = "dTLB",
	[CACHE_ITLB] = "iTLB",
	[CACHE_BPU] = "branch",
	[CACHE_NODE] = "node",
};

static const char *const cache_ops[CACHE_OP_COUNT] = {
	[CACHE_OP_READ] = "load",
	[CACHE_OP_WRITE] = "store",
	[CACHE_OP_PREFETCH] = "prefetch",
};

const char *event_hardware_name(uint64_t config)
{
	config &= HW_EVENT_MASK;
	return config < HW_COUNT ? hardware_names[config] : NULL;
}

const char *event_software_name(uint64_t config)
{
	return config < SW_COUNT ? software_names[config] : NULL;
}

bool event_cache_name(struct text *t, uint64_t config)
{
	config &= HW_EVENT_MASK;
	uint64_t id = config & 0xff;
	uint64_t op = config >> 8 & 0xff;
	uint64_t result = config >> 16 & 0xff;
	if (id >= CACHE_COUNT || op >= CACHE_OP_COUNT || result >= CACHE_RESULT_COUNT || config >> 24)
		return false;
	text_str(t, cache_names[id]);
	text_char(t, '-');
	text_str(t, cache_ops[op]);
	if (result == CACHE_RESULT_MISS)
		text_str(t, "-misses");
	else
		text_str(t, op == CACHE_OP_PREFETCH ? "es" : "s");
	return true;
}

void event_modifiers_of_attr(struct text *t, const struct perf_attr *attr)
{
	bool is_first = true;
	char letters[8]; /* ukh ppp HG */
	size_t count = 0;
	bool some_level_excluded =
		ATTR_HAS(attr, EXCLUDE_USER) || ATTR_HAS(attr, EXCLUDE_KERNEL) || ATTR_HAS(attr, EXCLUDE_HV);
	if (some_level_excluded) {
		if (!ATTR_HAS(attr, EXCLUDE_USER))
			letters[count++] = 'u';
		if (!ATTR_HAS(attr, EXCLUDE_KERNEL))
			letters[count++] = 'k';
		if (!ATTR_HAS(attr, EXCLUDE_HV))
			letters[count++] = 'h';
	}
	for (unsigned i = 0; i < attr_precise_ip(attr); i++)
		letters[count++] = 'p';
	/* perf's recorder sets exclude_guest of itself for a plain event, and clears it beside other modifiers. */
	bool guest_by_default = some_level_excluded || attr_precise_ip(attr) > 0;
	if (ATTR_HAS(attr, EXCLUDE_HOST) || ATTR_HAS(attr, EXCLUDE_GUEST) == guest_by_default) {
		if (!ATTR_HAS(attr, EXCLUDE_HOST))
			letters[count++] = 'H';
		if (!ATTR_HAS(attr, EXCLUDE_GUEST))
			letters[count++] = 'G';
	}
	for (size_t i = 0; i < count; i++) {
		if (is_first)
			text_char(t, ':');
		is_first = false;
		text_char(t, letters[i]);
	}
}

static void breakpoint_name(struct text *t, const struct perf_attr *attr)
{
	text_str(t, "mem:0x");
	text_hex(t, attr->config1, 0);
	text_char(t, ':');
	if (attr->bp_type & BREAKPOINT_R)
		text_char(t, 'r');
	if (attr->bp_type & BREAKPOINT_W)
		text_char(t, 'w');
	if (attr->bp_type & BREAKPOINT_X)
		text_char(t, 'x');
}

void event_name_of_attr(struct text *t, const struct perf_attr *attr)
{
	const char *name = NULL;
	switch (attr->type) {
	case EVENT_HARDWARE:
		name = event_hardware_name(attr->config);
		break;
	case EVENT_SOFTWARE:
		name = event_software_name(attr->config);
		break;
	case EVENT_HW_CACHE:
		if (event_cache_name(t, attr->config)) {
			event_modifiers_of_attr(t, attr);
			return;
		}
		break;
	case EVENT_TRACEPOINT:
		text_str(t, "unknown tracepoint");
		return;
	case EVENT_BREAKPOINT:
		breakpoint_name(t, attr);
		event_modifiers_of_attr(t, attr);
		return;
	default:
		break;
	}
	if (name)
		text_str(t, name);
	else if (attr->type == EVENT_RAW)
		text_printf(t, "raw 0x%llx", (unsigned long long)attr->config);
	else
		text_printf(t, "unknown attr type: %u", attr->type);
	event_modifiers_of_attr(t, attr);
}
