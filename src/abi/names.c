/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/names.h"

#include <strings.h>

#include "base/array.h"

const struct event_symbol event_symbols[] = {
	{"cycles", "cpu-cycles", EVENT_HARDWARE, HW_CPU_CYCLES, "CPU cycles, at whatever frequency the CPU runs"},
	{"instructions", NULL, EVENT_HARDWARE, HW_INSTRUCTIONS, "Instructions retired"},
	{"cache-references", NULL, EVENT_HARDWARE, HW_CACHE_REFERENCES,
		"Accesses of the last-level cache, as this CPU defines them"},
	{"cache-misses", NULL, EVENT_HARDWARE, HW_CACHE_MISSES,
		"Misses of the last-level cache, as this CPU defines them"},
	{"branches", "branch-instructions", EVENT_HARDWARE, HW_BRANCH_INSTRUCTIONS, "Branch instructions retired"},
	{"branch-misses", NULL, EVENT_HARDWARE, HW_BRANCH_MISSES, "Branches that were mispredicted"},
	{"bus-cycles", NULL, EVENT_HARDWARE, HW_BUS_CYCLES, "Bus cycles"},
	{"stalled-cycles-frontend", "idle-cycles-frontend", EVENT_HARDWARE, HW_STALLED_CYCLES_FRONTEND,
		"Cycles in which no instruction was issued because none had been fetched"},
	{"stalled-cycles-backend", "idle-cycles-backend", EVENT_HARDWARE, HW_STALLED_CYCLES_BACKEND,
		"Cycles in which no instruction was issued because resources or operands were missing"},
	{"ref-cycles", NULL, EVENT_HARDWARE, HW_REF_CPU_CYCLES, "Cycles at a constant reference frequency"},
	{"cpu-clock", NULL, EVENT_SOFTWARE, SW_CPU_CLOCK, "CPU time in nanoseconds, measured by a kernel timer"},
	{"task-clock", NULL, EVENT_SOFTWARE, SW_TASK_CLOCK,
		"Time that the task ran in nanoseconds, measured by a kernel timer"},
	{"page-faults", "faults", EVENT_SOFTWARE, SW_PAGE_FAULTS, "Page faults, minor and major"},
	{"context-switches", "cs", EVENT_SOFTWARE, SW_CONTEXT_SWITCHES, "Switches from one task to another"},
	{"cpu-migrations", "migrations", EVENT_SOFTWARE, SW_CPU_MIGRATIONS, "Moves of a task to another CPU"},
	{"minor-faults", NULL, EVENT_SOFTWARE, SW_PAGE_FAULTS_MIN, "Page faults that needed no I/O"},
	{"major-faults", NULL, EVENT_SOFTWARE, SW_PAGE_FAULTS_MAJ, "Page faults that needed I/O"},
	{"alignment-faults", NULL, EVENT_SOFTWARE, SW_ALIGNMENT_FAULTS, "Unaligned accesses that the kernel fixed up"},
	{"emulation-faults", NULL, EVENT_SOFTWARE, SW_EMULATION_FAULTS, "Instructions that the kernel emulated"},
	{"dummy", NULL, EVENT_SOFTWARE, SW_DUMMY, "Counts nothing; carries side-band records"},
	{"bpf-output", NULL, EVENT_SOFTWARE, SW_BPF_OUTPUT, "What BPF programs write with bpf_perf_event_output"},
	{"cgroup-switches", NULL, EVENT_SOFTWARE, SW_CGROUP_SWITCHES, "Switches to a task of another cgroup"},
};
const size_t event_symbol_count = ARRAY_LEN(event_symbols);

/* The first spelling is the one that is printed. */
#define SPELLINGS 4
static const char *const names_cache_names[CACHE_COUNT][SPELLINGS] = {
	[CACHE_L1D] = {"L1-dcache", "L1-data", "l1-d", "l1d"},
	[CACHE_L1I] = {"L1-icache", "L1-instruction", "l1-i", "l1i"},
	[CACHE_LL] = {"LLC", "L2"},
	[CACHE_DTLB] = {"dTLB", "Data-TLB", "d-tlb"},
	[CACHE_ITLB] = {"iTLB", "Instruction-TLB", "i-tlb"},
	[CACHE_BPU] = {"branch", "bpu", "btb", "bpc"},
	[CACHE_NODE] = {"node"},
};
/* The first spelling is the singular, which is printed before a result; without a result, the plural is. */
static const char *const op_names[CACHE_OP_COUNT][SPELLINGS] = {
	[CACHE_OP_READ] = {"load", "loads", "read"},
	[CACHE_OP_WRITE] = {"store", "stores", "write"},
	[CACHE_OP_PREFETCH] = {"prefetch", "prefetches", "speculative-read", "speculative-load"},
};
static const char *const result_names[CACHE_RESULT_COUNT][SPELLINGS] = {
	[CACHE_RESULT_ACCESS] = {"refs", "Reference", "ops", "access"},
	[CACHE_RESULT_MISS] = {"misses", "miss"},
};

const struct event_symbol *event_symbol_find(struct tally_str name)
{
	for (size_t i = 0; i < event_symbol_count; i++) {
		const struct event_symbol *s = &event_symbols[i];
		if (str_equal(name, str_from(s->name)) || (s->alias && str_equal(name, str_from(s->alias))))
			return s;
	}
	return NULL;
}

/* Removes the longest spelling that begins *rest and ends at a dash or the end. Returns its row, or SIZE_MAX. */
static size_t spelling_take(const char *const (*rows)[SPELLINGS], size_t row_count, struct tally_str *rest)
{
	size_t best = SIZE_MAX, best_len = 0;
	for (size_t row = 0; row < row_count; row++) {
		for (size_t i = 0; i < SPELLINGS && rows[row][i]; i++) {
			size_t len = strlen(rows[row][i]);
			bool fits = len <= rest->len && strncasecmp(rest->data, rows[row][i], len) == 0;
			if (fits && len > best_len && (len == rest->len || rest->data[len] == '-')) {
				best = row;
				best_len = len;
			}
		}
	}
	if (best != SIZE_MAX) {
		size_t skip = best_len < rest->len ? best_len + 1 : best_len;
		rest->data += skip;
		rest->len -= skip;
	}
	return best;
}

bool cache_event_is_possible(unsigned cache, unsigned op)
{
	static const uint8_t ops[CACHE_COUNT] = {
		[CACHE_L1D] = 7,
		[CACHE_L1I] = 5,
		[CACHE_LL] = 7,
		[CACHE_DTLB] = 7,
		[CACHE_ITLB] = 1,
		[CACHE_BPU] = 1,
		[CACHE_NODE] = 7,
	};
	return cache < CACHE_COUNT && op < CACHE_OP_COUNT && (ops[cache] >> op & 1) != 0;
}

bool cache_event_find(struct tally_str name, uint64_t *config)
{
	if (name.len > 0 && name.data[name.len - 1] == '-')
		return false;
	size_t cache = spelling_take(names_cache_names, CACHE_COUNT, &name);
	if (cache == SIZE_MAX)
		return false;
	size_t op = spelling_take(op_names, CACHE_OP_COUNT, &name);
	size_t result = spelling_take(result_names, CACHE_RESULT_COUNT, &name);
	if (op == SIZE_MAX) /* perf also accepts "LLC-misses-load". */
		op = spelling_take(op_names, CACHE_OP_COUNT, &name);
	if (name.len > 0)
		return false;
	if (op == SIZE_MAX)
		op = CACHE_OP_READ;
	if (result == SIZE_MAX)
		result = CACHE_RESULT_ACCESS;
	if (!cache_event_is_possible((unsigned)cache, (unsigned)op))
		return false;
	*config = cache | op << 8 | result << 16;
	return true;
}

bool cache_event_append(struct text *text, uint64_t config)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
	if (config >> 24 || cache >= CACHE_COUNT || op >= CACHE_OP_COUNT || result >= CACHE_RESULT_COUNT)
		return false;
	text_str(text, names_cache_names[cache][0]);
	text_char(text, '-');
	text_str(text, op_names[op][result == CACHE_RESULT_MISS ? 0 : 1]);
	if (result == CACHE_RESULT_MISS)
		text_str(text, "-misses");
	return true;
}

/* Returns perf's name for a cache event that has no regular one; NULL if it has one. */
static const char *cache_event_refusal(uint64_t config)
{
	unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
	if (cache >= CACHE_COUNT)
		return "unknown-ext-hardware-cache-type";
	if (op >= CACHE_OP_COUNT)
		return "unknown-ext-hardware-cache-op";
	if (result >= CACHE_RESULT_COUNT)
		return "unknown-ext-hardware-cache-result";
	return cache_event_is_possible(cache, op) ? NULL : "invalid-cache";
}

static const char *event_symbol_name(uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < event_symbol_count; i++) {
		if (event_symbols[i].type == type && event_symbols[i].config == config)
			return event_symbols[i].name;
	}
	return NULL;
}

void event_name_append(struct text *text, uint32_t type, uint64_t config)
{
	const char *name = event_symbol_name(type, config);
	switch (type) {
	case EVENT_HARDWARE:
		text_str(text, name ? name : "unknown-hardware");
		break;
	case EVENT_SOFTWARE:
		text_str(text, name ? name : "unknown-software");
		break;
	case EVENT_HW_CACHE:
		name = cache_event_refusal(config);
		if (name)
			text_str(text, name);
		else
			(void)cache_event_append(text, config & CACHE_EVENT_MASK);
		break;
	case EVENT_RAW:
		text_str(text, "raw 0x");
		text_hex(text, config, 0);
		break;
	default:
		text_printf(text, "unknown attr type: %u", type);
		break;
	}
}
