#include "profile/keys.h"

#include <strings.h>

static const struct profile_key_info keys[PROFILE_KEY_COUNT] = {
	[KEY_OVERHEAD] = {"overhead", "Overhead", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_SYS] = {"overhead_sys", "sys", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_US] = {"overhead_us", "usr", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_GUEST_SYS] = {"overhead_guest_sys", "guest sys", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_GUEST_US] = {"overhead_guest_us", "guest usr", .is_value = true, .is_percent = true},
	[KEY_OVERHEAD_CHILDREN] = {"overhead_children", "Children", .is_value = true, .is_percent = true},
	[KEY_SAMPLE] = {"sample", "Samples", .is_value = true},
	[KEY_PERIOD] = {"period", "Period", .is_value = true},
	[KEY_PID] = {"pid", .header = "    Pid:Command"},
	[KEY_TGID] = {"tgid", .header = "   Tgid:Command"},
	[KEY_COMM] = {"comm", .header = "Command"},
	[KEY_DSO] = {"dso", .header = "Shared Object"},
	[KEY_SYMBOL] = {"symbol", .header = "Symbol"},
	[KEY_SRCLINE] = {"srcline", .header = "Source:Line"},
	[KEY_SRCFILE] = {"srcfile", .header = "Source File"},
	[KEY_CPU] = {"cpu", .header = "CPU"},
	[KEY_PARENT] = {"parent", .header = "Parent symbol"},
	[KEY_TRACE] = {"trace", .header = "Trace output"},
	[KEY_SYMBOL_SIZE] = {"symbol_size", .header = "Symbol size"},
	[KEY_IPC_NULL] = {"ipc_null", .header = "IPC   [IPC Coverage]"},
};

/* In the order in which a prefix is looked up; -1: known by name, not built. */
static const struct {
	const char *name;
	int key;
} lookup[] = {
	{"pid", KEY_PID},
	{"comm", KEY_COMM},
	{"dso", KEY_DSO},
	{"symbol", KEY_SYMBOL},
	{"parent", KEY_PARENT},
	{"cpu", KEY_CPU},
	{"socket", -1},
	{"srcline", KEY_SRCLINE},
	{"srcfile", KEY_SRCFILE},
	{"local_weight", -1},
	{"weight", -1},
	{"transaction", -1},
	{"trace", KEY_TRACE},
	{"symbol_size", KEY_SYMBOL_SIZE},
	{"dso_size", -1},
	{"cgroup", -1},
	{"cgroup_id", -1},
	{"ipc_null", KEY_IPC_NULL},
	{"time", -1},
	{"code_page_size", -1},
	{"local_ins_lat", -1},
	{"ins_lat", -1},
	{"local_p_stage_cyc", -1},
	{"p_stage_cyc", -1},
	{"addr", -1},
	{"type", -1},
	{"typeoff", -1},
	{"symoff", -1},
	{"simd", -1},
	{"overhead", KEY_OVERHEAD},
	{"overhead_sys", KEY_OVERHEAD_SYS},
	{"overhead_us", KEY_OVERHEAD_US},
	{"overhead_guest_sys", KEY_OVERHEAD_GUEST_SYS},
	{"overhead_guest_us", KEY_OVERHEAD_GUEST_US},
	{"overhead_children", KEY_OVERHEAD_CHILDREN},
	{"sample", KEY_SAMPLE},
	{"period", KEY_PERIOD},
	{"tgid", KEY_TGID},
	{"weight1", -1},
	{"weight2", -1},
	{"weight3", -1},
	{"latency", -1},
	{"parallelism", -1},
	{"dso_from", -1},
	{"dso_to", -1},
	{"symbol_from", -1},
	{"symbol_to", -1},
	{"mispredict", -1},
	{"abort", -1},
	{"in_tx", -1},
	{"cycles", -1},
	{"srcline_from", -1},
	{"srcline_to", -1},
	{"ipc_lbr", -1},
	{"addr_from", -1},
	{"addr_to", -1},
	{"symbol_daddr", -1},
	{"dso_daddr", -1},
	{"locked", -1},
	{"tlb", -1},
	{"mem", -1},
	{"snoop", -1},
	{"dcacheline", -1},
	{"symbol_iaddr", -1},
	{"phys_daddr", -1},
	{"data_page_size", -1},
	{"blocked", -1},
};

const struct profile_key_info *profile_key_get(enum profile_key key)
{
	return &keys[key];
}

enum profile_key_match profile_key_find(struct tally_str text, enum profile_key *key)
{
	for (size_t i = 0; i < sizeof(lookup) / sizeof(lookup[0]); i++) {
		if (text.len == 0 || strncasecmp(lookup[i].name, text.data, text.len) != 0)
			continue;
		if (lookup[i].key < 0)
			return PROFILE_KEY_KNOWN;
		*key = (enum profile_key)lookup[i].key;
		return PROFILE_KEY_FOUND;
	}
	return PROFILE_KEY_UNKNOWN;
}
