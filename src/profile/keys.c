/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/keys.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"

#define FACET_KEY(the_name, the_header, the_facet, the_form, the_width)                                          \
	{                                                                                                        \
		.name = the_name, .header = the_header, .facet = FACET_##the_facet, .form = KEY_FORM_##the_form, \
		.width = the_width                                                                               \
	}
#define AVERAGE(the_name, the_header, the_facet)                                              \
	{                                                                                     \
		.name = the_name, .header = the_header, .is_value = true, .is_average = true, \
		.facet = FACET_##the_facet                                                    \
	}
#define IN_PARTS(the_name, the_header, the_parts)                                             \
	{                                                                                     \
		.name = the_name, .header = the_header, .is_value = true, .parts = the_parts, \
		.facet = FACET_MEM_PARTS, .mode = KEY_MODE_MEMORY                             \
	}
#define BRANCH_KEY(the_name, the_header, the_facet, the_form)                                                    \
	{                                                                                                        \
		.name = the_name, .header = the_header, .facet = FACET_##the_facet, .form = KEY_FORM_##the_form, \
		.mode = KEY_MODE_BRANCH                                                                          \
	}
#define MEMORY_KEY(the_name, the_header, the_facet, the_form, the_width)                                         \
	{                                                                                                        \
		.name = the_name, .header = the_header, .facet = FACET_##the_facet, .form = KEY_FORM_##the_form, \
		.mode = KEY_MODE_MEMORY, .width = the_width                                                      \
	}

static const char *const operations[] = {"Load", "Store", "Ld+St", "Pfetch", "Exec", "Other", NULL};
static const char *const caches[] = {"L1", "L2", "L3", "L4", "L1-buf", "L2-buf", "Other", NULL};
static const char *const memories[] = {"RAM", "MSC", "Uncach", "CXL", "IO", "PMEM", "Other", NULL};
static const char *const snoops[] = {"Hit", "HitM", "Miss", "Other", NULL};
static const char *const translations[] = {"L1-Hit", "L2-Hit", "L?-Hit", "Miss", "Other", NULL};

static const struct profile_key_info keys[KEY_FIELD] = {
	[KEY_OVERHEAD] = {"overhead", "Overhead", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_SYS] = {"overhead_sys", "sys", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_US] = {"overhead_us", "usr", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_GUEST_SYS] = {"overhead_guest_sys", "guest sys", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_GUEST_US] = {"overhead_guest_us", "guest usr", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_CHILDREN] = {"overhead_children", "Children", .is_value = true, .is_percent = true},
	[KEY_LATENCY] = {"latency", "Latency", .is_value = true, .is_percent = true},
	[KEY_LATENCY_CHILDREN] = {"latency_children", "Latency", .is_value = true, .is_percent = true, .width = 7},
	[KEY_SAMPLE] = {"sample", "Samples", .is_value = true},
	[KEY_PERIOD] = {"period", "Period", .is_value = true},
	[KEY_WAIT] = {"wait", "Wait ms", .is_value = true, .is_duration = true, .facet = FACET_STATE},
	[KEY_RUN_LATENCY] = {"run_latency", "To run ms", .is_value = true, .is_duration = true, .facet = FACET_STATE},
	[KEY_WEIGHT1] = AVERAGE("weight1", "Weight1", WEIGHT),
	[KEY_WEIGHT2] = AVERAGE("weight2", "Weight2", INS_LAT),
	[KEY_WEIGHT3] = AVERAGE("weight3", "Weight3", STAGE_CYCLES),
	[KEY_PART_OPERATION] = IN_PARTS("op", "Mem Op", operations),
	[KEY_PART_CACHE] = IN_PARTS("cache", "Cache", caches),
	[KEY_PART_MEMORY] = IN_PARTS("memory", "Memory", memories),
	[KEY_PART_SNOOP] = IN_PARTS("snoop", "Snoop", snoops),
	[KEY_PART_TLB] = IN_PARTS("dtlb", "D-TLB", translations),
	[KEY_PID] = {"pid", .header = "    Pid:Command"},
	[KEY_TGID] = {"tgid", .header = "   Tgid:Command"},
	[KEY_COMM] = {"comm", .header = "Command"},
	[KEY_DSO] = {"dso", .header = "Shared Object"},
	[KEY_SYMBOL] = {"symbol", .header = "Symbol"},
	[KEY_SRCLINE] = {"srcline", .header = "Source:Line"},
	[KEY_SRCFILE] = {"srcfile", .header = "Source File"},
	[KEY_CPU] = {"cpu", .header = "CPU"},
	[KEY_PARENT] = {"parent", .header = "Parent symbol"},
	[KEY_TRACE] = FACET_KEY("trace", "Trace output", TRACE, TEXT, 0),
	[KEY_SYMBOL_SIZE] = {"symbol_size", .header = "Symbol size"},
	[KEY_IPC_NULL] = {"ipc_null", .header = "IPC   [IPC Coverage]"},
	[KEY_IPC_LBR] = {"ipc_lbr", .header = "IPC   [IPC Coverage]", .mode = KEY_MODE_BRANCH},
	[KEY_CHAIN_PREDICTED] = {"callchain_branch_predicted", .header = "Predicted"},
	[KEY_CHAIN_ABORTS] = {"callchain_branch_abort", .header = "Abort"},
	[KEY_CHAIN_CYCLES] = {"callchain_branch_cycles", .header = "Cycles"},
	[KEY_COMM_NODIGIT] = FACET_KEY("comm_nodigit", "CommandNoDigit", COMM_NODIGIT, TEXT, 0),
	[KEY_SOCKET] = FACET_KEY("socket", "Socket", SOCKET, SOCKET, 0),
	[KEY_TIME] = FACET_KEY("time", "Time", TIME, TIME, 12),
	[KEY_ADDRESS] = FACET_KEY("addr", "Address", ADDRESS, HEX, 18),
	[KEY_SYMBOL_OFFSET] = FACET_KEY("symoff", "Symbol Offset", PLACE, OFFSET, 0),
	[KEY_LOCAL_WEIGHT] = FACET_KEY("local_weight", "Local Weight", WEIGHT, NUMBER, 0),
	[KEY_WEIGHT] = FACET_KEY("weight", "Weight", WEIGHT, SUM, 12),
	[KEY_LOCAL_INS_LAT] = FACET_KEY("local_ins_lat", "Local INSTR Latency", INS_LAT, NUMBER, 0),
	[KEY_INS_LAT] = FACET_KEY("ins_lat", "INSTR Latency", INS_LAT, SUM, 0),
	[KEY_LOCAL_STAGE_CYCLES] = FACET_KEY("local_p_stage_cyc", "Local Retire Latency", STAGE_CYCLES, NUMBER, 0),
	[KEY_STAGE_CYCLES] = FACET_KEY("p_stage_cyc", "Retire Latency", STAGE_CYCLES, SUM, 0),
	[KEY_TRANSACTION] = FACET_KEY("transaction", "Transaction", TRANSACTION, TEXT, 27),
	[KEY_PARALLELISM] = FACET_KEY("parallelism", "Parallelism", PARALLELISM, COUNT, 0),
	[KEY_DSO_SIZE] = FACET_KEY("dso_size", "DSO size", MAPPED_SIZE, SIZE, 0),
	[KEY_CGROUP] = FACET_KEY("cgroup", "Cgroup", CGROUP, TEXT, 0),
	[KEY_CGROUP_ID] = FACET_KEY("cgroup_id", "cgroup id (dev/inode)", NAMESPACE, TEXT, 0),
	[KEY_CODE_PAGE_SIZE] = FACET_KEY("code_page_size", "Code Page Size", CODE_PAGE, PAGE, 0),
	[KEY_SIMD] = FACET_KEY("simd", "Simd   ", TRACE, NOTHING, 0),
	[KEY_TYPE] = FACET_KEY("type", "Data Type", TYPE, TYPE, 0),
	[KEY_TYPE_OFFSET] = FACET_KEY("typeoff", "Data Type Offset", TYPE_OFFSET, TYPE_OFFSET, 0),
	[KEY_TYPE_CACHELINE] = FACET_KEY("typecln", "Data Type Cacheline", TYPE, TYPE_CACHELINE, 0),
	[KEY_STATE] = FACET_KEY("state", "State", STATE, TEXT, 0),
	[KEY_WAKER] = FACET_KEY("waker", "Waker", WAKER, TEXT, 0),
	[KEY_DSO_FROM] = BRANCH_KEY("dso_from", "Source Shared Object", BRANCH_FROM, OBJECT),
	[KEY_DSO_TO] = BRANCH_KEY("dso_to", "Target Shared Object", BRANCH_TO, OBJECT),
	[KEY_SYMBOL_FROM] = BRANCH_KEY("symbol_from", "Source Symbol", BRANCH_FROM, SYMBOL),
	[KEY_SYMBOL_TO] = BRANCH_KEY("symbol_to", "Target Symbol", BRANCH_TO, SYMBOL),
	[KEY_ADDRESS_FROM] = BRANCH_KEY("addr_from", "Source Address", BRANCH_FROM, PLACE),
	[KEY_ADDRESS_TO] = BRANCH_KEY("addr_to", "Target Address", BRANCH_TO, PLACE),
	[KEY_SRCLINE_FROM] = BRANCH_KEY("srcline_from", "From Source:Line", BRANCH_FROM, LINE),
	[KEY_SRCLINE_TO] = BRANCH_KEY("srcline_to", "To Source:Line", BRANCH_TO, LINE),
	[KEY_MISPREDICT] = BRANCH_KEY("mispredict", "Branch Mispredicted", BRANCH_FLAGS, PREDICTED),
	[KEY_IN_TX] = BRANCH_KEY("in_tx", "Branch in transaction", BRANCH_FLAGS, IN_TX),
	[KEY_ABORT] = BRANCH_KEY("abort", "Transaction abort", BRANCH_FLAGS, ABORT),
	[KEY_CYCLES] = BRANCH_KEY("cycles", "Basic Block Cycles", BRANCH_CYCLES, CYCLES),
	[KEY_SYMBOL_DATA] = MEMORY_KEY("symbol_daddr", "Data Symbol", DATA, DATUM, 0),
	[KEY_DSO_DATA] = MEMORY_KEY("dso_daddr", "Data Object", DATA, OBJECT, 0),
	[KEY_SYMBOL_CODE] = MEMORY_KEY("symbol_iaddr", "Code Symbol", CODE, DATUM, 0),
	[KEY_CACHELINE] = MEMORY_KEY("dcacheline", "Data Cacheline", DATA_MEMORY, CACHELINE, 0),
	[KEY_MEM] = MEMORY_KEY("mem", "Memory access", MEM_LEVEL, TEXT, 39),
	[KEY_TLB] = MEMORY_KEY("tlb", "TLB access", MEM_TLB, TEXT, 22),
	[KEY_LOCKED] = MEMORY_KEY("locked", "Locked", MEM_LOCK, TEXT, 0),
	[KEY_SNOOP] = MEMORY_KEY("snoop", "Snoop", MEM_SNOOP, TEXT, 12),
	[KEY_BLOCKED] = MEMORY_KEY("blocked", "Blocked", MEM_BLOCK, TEXT, 10),
	[KEY_PHYSICAL] = MEMORY_KEY("phys_daddr", "Data Physical Address", PHYSICAL, PHYSICAL, 22),
	[KEY_DATA_PAGE_SIZE] = MEMORY_KEY("data_page_size", "Data Page Size", DATA_PAGE, PAGE, 22),
};

/* In the order in which a prefix is looked up: the first match counts. */
static const struct {
	const char *name;
	enum profile_key key;
} lookup[] = {
	{"pid", KEY_PID},
	{"comm", KEY_COMM},
	{"comm_nodigit", KEY_COMM_NODIGIT},
	{"dso", KEY_DSO},
	{"symbol", KEY_SYMBOL},
	{"parent", KEY_PARENT},
	{"cpu", KEY_CPU},
	{"socket", KEY_SOCKET},
	{"srcline", KEY_SRCLINE},
	{"srcfile", KEY_SRCFILE},
	{"local_weight", KEY_LOCAL_WEIGHT},
	{"weight", KEY_WEIGHT},
	{"transaction", KEY_TRANSACTION},
	{"trace", KEY_TRACE},
	{"symbol_size", KEY_SYMBOL_SIZE},
	{"dso_size", KEY_DSO_SIZE},
	{"cgroup", KEY_CGROUP},
	{"cgroup_id", KEY_CGROUP_ID},
	{"ipc_null", KEY_IPC_NULL},
	{"time", KEY_TIME},
	{"code_page_size", KEY_CODE_PAGE_SIZE},
	{"local_ins_lat", KEY_LOCAL_INS_LAT},
	{"ins_lat", KEY_INS_LAT},
	{"local_p_stage_cyc", KEY_LOCAL_STAGE_CYCLES},
	{"p_stage_cyc", KEY_STAGE_CYCLES},
	{"addr", KEY_ADDRESS},
	{"local_retire_lat", KEY_LOCAL_STAGE_CYCLES},
	{"retire_lat", KEY_STAGE_CYCLES},
	{"type", KEY_TYPE},
	{"typeoff", KEY_TYPE_OFFSET},
	{"typecln", KEY_TYPE_CACHELINE},
	{"symoff", KEY_SYMBOL_OFFSET},
	{"simd", KEY_SIMD},
	{"overhead", KEY_OVERHEAD},
	{"overhead_sys", KEY_OVERHEAD_SYS},
	{"overhead_us", KEY_OVERHEAD_US},
	{"overhead_guest_sys", KEY_OVERHEAD_GUEST_SYS},
	{"overhead_guest_us", KEY_OVERHEAD_GUEST_US},
	{"overhead_children", KEY_OVERHEAD_CHILDREN},
	{"sample", KEY_SAMPLE},
	{"period", KEY_PERIOD},
	{"tgid", KEY_TGID},
	{"weight1", KEY_WEIGHT1},
	{"weight2", KEY_WEIGHT2},
	{"weight3", KEY_WEIGHT3},
	{"latency", KEY_LATENCY},
	{"latency_children", KEY_LATENCY_CHILDREN},
	{"callchain_branch_predicted", KEY_CHAIN_PREDICTED},
	{"callchain_branch_abort", KEY_CHAIN_ABORTS},
	{"callchain_branch_cycles", KEY_CHAIN_CYCLES},
	{"parallelism", KEY_PARALLELISM},
	{"dso_from", KEY_DSO_FROM},
	{"dso_to", KEY_DSO_TO},
	{"symbol_from", KEY_SYMBOL_FROM},
	{"symbol_to", KEY_SYMBOL_TO},
	{"mispredict", KEY_MISPREDICT},
	{"abort", KEY_ABORT},
	{"in_tx", KEY_IN_TX},
	{"cycles", KEY_CYCLES},
	{"srcline_from", KEY_SRCLINE_FROM},
	{"srcline_to", KEY_SRCLINE_TO},
	{"ipc_lbr", KEY_IPC_LBR},
	{"addr_from", KEY_ADDRESS_FROM},
	{"addr_to", KEY_ADDRESS_TO},
	{"symbol_daddr", KEY_SYMBOL_DATA},
	{"dso_daddr", KEY_DSO_DATA},
	{"locked", KEY_LOCKED},
	{"tlb", KEY_TLB},
	{"mem", KEY_MEM},
	{"snoop", KEY_SNOOP},
	{"dcacheline", KEY_CACHELINE},
	{"symbol_iaddr", KEY_SYMBOL_CODE},
	{"phys_daddr", KEY_PHYSICAL},
	{"data_page_size", KEY_DATA_PAGE_SIZE},
	{"blocked", KEY_BLOCKED},
	{"op", KEY_PART_OPERATION},
	{"cache", KEY_PART_CACHE},
	{"memory", KEY_PART_MEMORY},
	{"dtlb", KEY_PART_TLB},
	{"state", KEY_STATE},
	{"waker", KEY_WAKER},
	{"wait", KEY_WAIT},
	{"run_latency", KEY_RUN_LATENCY},
};

const struct profile_key_info *profile_key_get(enum profile_key key)
{
	static const struct profile_key_info field = FACET_KEY("field", "field", FIELD, FIELD, 0);
	return key < KEY_FIELD ? &keys[key] : &field;
}

bool profile_key_find(struct tally_str text, enum profile_key *key)
{
	for (size_t i = 0; i < ARRAY_LEN(lookup); i++) {
		if (text.len == 0 || strncasecmp(lookup[i].name, text.data, text.len) != 0)
			continue;
		*key = lookup[i].key;
		return true;
	}
	return false;
}

const char *profile_key_nearest(struct tally_str text)
{
	enum { COUNT = ARRAY_LEN(lookup), LONGEST = 40 };
	const char *names[COUNT];
	char word[LONGEST + 1];
	snprintf(word, sizeof(word), "%.*s", (int)(MIN(text.len, LONGEST)), text.data);
	for (size_t i = 0; i < COUNT; i++)
		names[i] = lookup[i].name;
	size_t nearest = text_nearest(names, COUNT, word);
	return nearest == SIZE_MAX ? NULL : names[nearest];
}

/* perf lacks these keys: if a tracepoint has a field of this name, scripts mean the field. */
static bool profile_key_yields(enum profile_key key)
{
	return key == KEY_STATE || key == KEY_WAKER || key == KEY_WAIT || key == KEY_RUN_LATENCY;
}

bool profile_key_is_name(struct tally_str text)
{
	for (size_t i = 0; i < ARRAY_LEN(lookup); i++)
		if (!profile_key_yields(lookup[i].key) && strlen(lookup[i].name) == text.len &&
			strncasecmp(lookup[i].name, text.data, text.len) == 0)
			return true;
	return str_equal(text, STR("sym"));
}

enum profile_key profile_key_as_field(enum profile_key key)
{
	switch ((int)key) {
	case KEY_INS_LAT:
		return KEY_WEIGHT2;
	case KEY_STAGE_CYCLES:
		return KEY_WEIGHT3;
	case KEY_MEM: /* Found by a prefix of "memory". */
		return KEY_PART_MEMORY;
	case KEY_SNOOP:
		return KEY_PART_SNOOP;
	default:
		return key;
	}
}

unsigned profile_key_facet(enum profile_key key)
{
	return key < KEY_FIELD ? keys[key].facet : FACET_FIELD + (unsigned)(key - KEY_FIELD);
}
