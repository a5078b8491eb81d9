/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/metrics/metric_table.h"

#include <strings.h>

#include "base/array.h"

/* CPU time in nanoseconds. */
#define CLOCK "(cpu\\-clock if #target_cpu else task\\-clock)"

#define PER_SECOND(metric_name, event, unit_text, text)                                                      \
	{                                                                                                    \
		.name = metric_name, .groups = "Default", .scale = 1, .expression = event " * 1e9 / " CLOCK, \
		.unit = unit_text, .description = text " per CPU second"                                     \
	}
#define SHARE(metric_name, group, part, whole, sign, limit, text)                                                \
	{                                                                                                        \
		.name = metric_name, .groups = group, .expression = part " / " whole, .scale = 100, .unit = "%", \
		.threshold_sign = sign, .threshold = limit, .description = text                                  \
	}
#define SLOTS(metric_name, group, expr, text)                                                        \
	{                                                                                            \
		.name = metric_name, .groups = group, .expression = expr, .scale = 100, .unit = "%", \
		.description = "Share of the pipeline's slots " text                                 \
	}
#define L1	  "TopdownL1"
#define L2	  "TopdownL2"
#define ARM_SLOTS "(#slots * cpu_cycles)"
#define ARM_USED  "(1 - stall_slot / " ARM_SLOTS ")"
/* Sum of all slots; the event "slots" contributes nothing but must lead the group. */
#define NEW_SLOTS                                                                                  \
	"(topdown\\-fe\\-bound + topdown\\-bad\\-spec + topdown\\-retiring + topdown\\-be\\-bound" \
	" + 0 * slots)"
#define OLD_SLOTS "topdown\\-total\\-slots"

const struct metric metric_table[] = {
	{.name = "CPUs_utilized",
		.groups = "Default",
		.expression = CLOCK " / (duration_time * 1e9)",
		.scale = 1,
		.unit = "CPUs",
		.description = "CPUs that were busy on average"},
	PER_SECOND("cs_per_second", "context\\-switches", "cs/sec", "Context switches"),
	PER_SECOND("migrations_per_second", "cpu\\-migrations", "migrations/sec", "Moves to another CPU"),
	PER_SECOND("page_faults_per_second", "page\\-faults", "faults/sec", "Page faults"),
	{.name = "cycles_frequency",
		.other_name = "GHz",
		.groups = "Default",
		.expression = "cpu\\-cycles / " CLOCK,
		.scale = 1,
		.unit = "GHz",
		.description = "Cycles per CPU second"},
	{.name = "insn_per_cycle",
		.groups = "Default",
		.expression = "instructions / cpu\\-cycles",
		.scale = 1,
		.unit = "instructions",
		.threshold_sign = '<',
		.threshold = 1,
		.description = "Instructions per cycle"},
	{.name = "IPC",
		.groups = "Summary",
		.expression = "instructions / cpu\\-cycles",
		.scale = 1,
		.unit = "",
		.description = "Instructions per cycle"},
	{.name = "CPI",
		.groups = "Summary",
		.expression = "cpu\\-cycles / instructions",
		.scale = 1,
		.unit = "",
		.description = "Cycles per instruction"},
	{.name = "branch_frequency",
		.groups = "Default",
		.expression = "branches / " CLOCK,
		.scale = 1000,
		.unit = "M/sec",
		.description = "Branches per CPU second"},
	SHARE("branch_miss_rate", "Default", "branch\\-misses", "branches", '>', 0.05,
		"Branches that were mispredicted"),
	{.name = "frontend_cycles_idle",
		.groups = "Default",
		.expression = "stalled\\-cycles\\-frontend / cpu\\-cycles",
		.scale = 1,
		.unit = "",
		.threshold_sign = '>',
		.threshold = 0.1,
		.description = "Share of cycles that stalled because the front end delivered no instruction"},
	{.name = "backend_cycles_idle",
		.groups = "Default",
		.expression = "stalled\\-cycles\\-backend / cpu\\-cycles",
		.scale = 1,
		.unit = "",
		.threshold_sign = '>',
		.threshold = 0.2,
		.description = "Share of cycles that stalled because the back end accepted no instruction"},
	{.name = "stalled_cycles_per_instruction",
		.groups = "Default",
		.expression =
			"max(stalled\\-cycles\\-frontend, stalled\\-cycles\\-backend) / instructions"
			" if has_event(stalled\\-cycles\\-frontend) & has_event(stalled\\-cycles\\-backend) else "
			"stalled\\-cycles\\-frontend / instructions if has_event(stalled\\-cycles\\-frontend) else "
			"stalled\\-cycles\\-backend / instructions",
		.scale = 1,
		.unit = "",
		.description = "Stalled cycles per instruction, of the end that stalled more"},
	SHARE("cache_miss_rate", "Summary", "cache\\-misses", "cache\\-references", '>', 0.05,
		"Last-level cache accesses that missed"),
	SHARE("l1d_miss_rate", "Default2", "L1\\-dcache\\-load\\-misses", "L1\\-dcache\\-loads", '>', 0.05,
		"L1 data cache loads that missed"),
	SHARE("llc_miss_rate", "Default2", "LLC\\-load\\-misses", "LLC\\-loads", '>', 0.05,
		"Last-level cache loads that missed"),
	SHARE("l1i_miss_rate", "Default3", "L1\\-icache\\-load\\-misses", "L1\\-icache\\-loads", '>', 0.05,
		"L1 instruction cache fetches that missed"),
	SHARE("dtlb_miss_rate", "Default3", "dTLB\\-load\\-misses", "dTLB\\-loads", '>', 0.05,
		"Data TLB loads that missed"),
	SHARE("itlb_miss_rate", "Default3", "iTLB\\-load\\-misses", "iTLB\\-loads", '>', 0.05,
		"Instruction TLB fetches that missed"),
	SHARE("l1_prefetch_miss_rate", "Default4", "L1\\-dcache\\-prefetch\\-misses", "L1\\-dcache\\-prefetches", '>',
		0.05, "L1 data cache prefetches that missed"),

	/* Variants in this order: Intel since Ice Lake with slots and shares of them, older Intel cores, Arm. */
	SLOTS("tma_retiring", L1, "topdown\\-retiring / " NEW_SLOTS, "that did useful work"),
	SLOTS("tma_retiring", L1, "topdown\\-slots\\-retired / " OLD_SLOTS, "that did useful work"),
	SLOTS("tma_retiring", L1, "op_retired / op_spec * " ARM_USED, "that did useful work"),
	SLOTS("tma_bad_speculation", L1, "topdown\\-bad\\-spec / " NEW_SLOTS, "that were lost to wrong speculation"),
	SLOTS("tma_bad_speculation", L1,
		"(topdown\\-slots\\-issued - topdown\\-slots\\-retired + topdown\\-recovery\\-bubbles) / " OLD_SLOTS,
		"that were lost to wrong speculation"),
	SLOTS("tma_bad_speculation", L1, "(1 - op_retired / op_spec) * " ARM_USED,
		"that were lost to wrong speculation"),
	SLOTS("tma_frontend_bound", L1, "topdown\\-fe\\-bound / " NEW_SLOTS, "that the front end did not fill"),
	SLOTS("tma_frontend_bound", L1, "topdown\\-fetch\\-bubbles / " OLD_SLOTS, "that the front end did not fill"),
	SLOTS("tma_frontend_bound", L1, "stall_slot_frontend / " ARM_SLOTS, "that the front end did not fill"),
	SLOTS("tma_backend_bound", L1, "topdown\\-be\\-bound / " NEW_SLOTS, "that the back end could not accept"),
	SLOTS("tma_backend_bound", L1,
		"1 - (topdown\\-fetch\\-bubbles + topdown\\-slots\\-issued + topdown\\-recovery\\-bubbles) "
		"/ " OLD_SLOTS,
		"that the back end could not accept"),
	SLOTS("tma_backend_bound", L1, "stall_slot_backend / " ARM_SLOTS, "that the back end could not accept"),
	SLOTS("tma_heavy_operations", L2, "topdown\\-heavy\\-ops / " NEW_SLOTS,
		"that did useful work for instructions of several operations"),
	SLOTS("tma_light_operations", L2, "max(topdown\\-retiring - topdown\\-heavy\\-ops, 0) / " NEW_SLOTS,
		"that did useful work for instructions of one operation"),
	SLOTS("tma_branch_mispredicts", L2, "topdown\\-br\\-mispredict / " NEW_SLOTS, "lost to mispredicted branches"),
	SLOTS("tma_machine_clears", L2, "max(topdown\\-bad\\-spec - topdown\\-br\\-mispredict, 0) / " NEW_SLOTS,
		"lost to machine clears"),
	SLOTS("tma_fetch_latency", L2, "topdown\\-fetch\\-lat / " NEW_SLOTS, "that waited for fetches"),
	SLOTS("tma_fetch_bandwidth", L2, "max(topdown\\-fe\\-bound - topdown\\-fetch\\-lat, 0) / " NEW_SLOTS,
		"that fetches did not fill"),
	SLOTS("tma_memory_bound", L2, "topdown\\-mem\\-bound / " NEW_SLOTS, "that waited for memory"),
	SLOTS("tma_core_bound", L2, "max(topdown\\-be\\-bound - topdown\\-mem\\-bound, 0) / " NEW_SLOTS,
		"that waited for execution units"),

	SHARE("tsx_transactional_cycles", "transaction", "cycles\\-t", "cycles", 0, 0, "Cycles in transactions"),
	SHARE("tsx_aborted_cycles", "transaction", "max(cycles\\-t - cycles\\-ct, 0)", "cycles", 0, 0,
		"Cycles in transactions that were aborted"),
	{.name = "tsx_cycles_per_transaction",
		.groups = "transaction",
		.expression = "cycles\\-t / tx\\-start",
		.scale = 1,
		.unit = "cycles / transaction",
		.description = "Cycles in transactions per transaction"},
	{.name = "tsx_cycles_per_elision",
		.groups = "transaction",
		.expression = "cycles\\-t / el\\-start",
		.scale = 1,
		.unit = "cycles / elision",
		.description = "Cycles in transactions per elided lock"},
	{.name = "smi_num",
		.groups = "smi",
		.expression = "msr@smi@",
		.scale = 1,
		.unit = "SMI#",
		.description = "System management interrupts"},
	{.name = "smi_cycles",
		.groups = "smi",
		.expression = "(msr@aperf@ - cycles) / msr@aperf@ if msr@smi@ > 0 else 0",
		.scale = 100,
		.unit = "%",
		.threshold_sign = '>',
		.threshold = 0.1,
		.description = "Cycles spent in system management interrupts"},
};
const size_t metric_table_len = ARRAY_LEN(metric_table);

static bool metric_table_is_same(const char *name, struct tally_str word)
{
	return name && strncasecmp(name, word.data, word.len) == 0 && name[word.len] == '\0';
}

bool metric_is_in_group(const struct metric *metric, struct tally_str group)
{
	struct tally_str rest = str_from(metric->groups), one;
	while (str_next(&rest, ';', &one))
		if (str_equal(one, group))
			return true;
	return false;
}

bool metric_is_meant(const struct metric *metric, struct tally_str word)
{
	return word.len > 0 &&
	       (metric_table_is_same(metric->name, word) || metric_table_is_same(metric->other_name, word) ||
		       metric_is_in_group(metric, word) || str_equal(word, STR("all")));
}
