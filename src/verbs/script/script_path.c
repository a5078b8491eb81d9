/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_path.h"

#include "abi/branch.h"
#include "analysis/store_entry.h"

/* Maximum number of bytes between two branches; larger distances indicate that the entries do not belong together. */
#define LONGEST_BLOCK UINT64_C(16384)
/* Number of bytes that are printed if the sample lies before the newest branch's target. */
#define LOST_BYTES	       128
#define NO_BRANCH	       SIZE_MAX
#define SCRIPT_PATH_TEXT_WIDTH 30 /* Width of the instruction column, so that the notes on branches are aligned. */

struct script_path_walk { /* The state of printing one sample's branches. */
	struct script_path *path;
	struct text *t;
	const struct resolve_where *where;
	const struct sample *sample;
	unsigned cpumode; /* The cpumode of the sample. */
	uint64_t fields;
	uint64_t function_start, function_end; /* The range of the function whose heading was printed last. */
	uint64_t cycles; /* Sum of the cycles of all branches so far. */
	unsigned steps; /* Number of instructions since the previous branch. */
};

static unsigned script_path_mode_of(const struct script_path_walk *w, uint64_t ip)
{
	return ip == w->sample->ip ? w->cpumode : script_cpumode_of(w->path->places, ip);
}

/* Prints a heading such as "\tmain+7:" if the address is in another function than the previous one. */
static bool script_path_print_heading(struct script_path_walk *w, uint64_t ip)
{
	struct script_place place;
	struct text *t = w->t;
	if (ip >= w->function_start && ip < w->function_end)
		return true;
	if (!script_place_find(w->path->places, w->where, script_path_mode_of(w, ip), ip, &place))
		return false;
	const struct frame_name *name = place.name;
	if (!name->symbol)
		return true;
	w->function_start = ip - name->symbol_offset;
	w->function_end = w->function_start + name->symbol_size;
	text_char(t, '\t');
	text_str(t, name->symbol);
	if (name->symbol_offset) {
		text_char(t, '+');
		text_u64(t, name->symbol_offset);
	}
	text_char(t, ':');
	if (w->fields & FIELD_SRCLINE) {
		if (!frame_names_places(w->path->places->names, place.frame, place.name))
			return false;
		text_char(t, '\t');
		frame_name_line_text(name, w->path->places->full_source_path, t);
	}
	text_char(t, '\n');
	return true;
}

static void print_branch(struct script_path_walk *w, size_t index)
{
	struct text *t = w->t;
	const struct sample_branch branch = sample_branch_at(w->sample, index);
	bool has_counters = (w->fields & FIELD_BRCNTR) && index < w->sample->branches.counters.count;
	text_str(t, has_counters ? "\t\t# br_cntr: " : "\t#");
	if (has_counters) {
		script_counters_print(w->path->counters, t, w->path->event,
			sample_u64_at(w->sample->branches.counters.data, index, w->sample->swap));
		text_char(t, ' ');
	}
	text_str(t, branch.is_predicted ? " PRED" : "");
	text_str(t, branch.is_mispredicted ? " MISPRED" : "");
	text_str(t, branch.in_transaction ? " INTX" : "");
	text_str(t, branch.is_abort ? " ABORT" : "");
	if (!branch.cycles)
		return;
	w->cycles += branch.cycles;
	text_printf(t, " %u cycles [%llu]", branch.cycles, (unsigned long long)w->cycles);
	if (w->steps)
		text_printf(t, " %.2f IPC", (double)w->steps / branch.cycles);
}

/* Prints one instruction. index is that of the branch that it took, or NO_BRANCH. */
static void print_step(
	struct script_path_walk *w, const struct script_spot *spot, const struct script_step *step, size_t index)
{
	struct text *t = w->t;
	struct script_path *path = w->path;
	uint64_t ip = step->instruction.address;
	text_char(t, '\t');
	text_hex(t, ip, 16);
	text_char(t, '\t');
	size_t start = t->len;
	if (w->fields & FIELD_BRSTACKDISASM)
		script_print_instruction(path->code, t, spot, step);
	else {
		text_str(t, "insn: ");
		script_print_bytes(t, step->bytes);
	}
	if (index != NO_BRANCH && t->len - start < SCRIPT_PATH_TEXT_WIDTH)
		text_repeat(t, ' ', SCRIPT_PATH_TEXT_WIDTH - (t->len - start));
	if (w->fields & FIELD_BRSTACKINSNLEN)
		text_printf(t, "\tilen: %u", step->instruction.size);
	if (index != NO_BRANCH)
		print_branch(w, index);
	text_char(t, '\n');
}

static bool script_path_print_source(struct script_path_walk *w, uint64_t ip)
{
	size_t before = w->t->len;
	struct script_source_spot line = {w->where, script_path_mode_of(w, ip), (int32_t)w->sample->tid, ip};
	if ((w->fields & FIELD_SRCCODE) && !script_source_print(w->path->source, w->t, &line, ""))
		return false;
	if (w->t->len > before)
		text_char(w->t, '\n');
	return !w->t->failed;
}

static void print_bad(struct script_path_walk *w, uint64_t ip)
{
	text_char(w->t, '\t');
	text_hex(w->t, ip, 16);
	text_str(w->t, "\t<bad>\n\tmismatch of LBR data and executable\n");
}

/* Returns false if out of memory; spot->store_id is STORE_ENTRY_NONE if there is no code. */
static bool find_code(struct script_path_walk *w, uint64_t start, uint64_t end, struct script_spot *spot)
{
	unsigned mode = script_path_mode_of(w, start);
	*spot = (struct script_spot){.store_id = STORE_ENTRY_NONE};
	if (script_path_mode_of(w, end) != mode || end < start || end - start >= LONGEST_BLOCK)
		return true;
	return script_code_find(w->path->code, w->where, mode, start, spot);
}

/* Prints the instructions from the target of a branch to the next branch inclusive. */
static bool script_path_print_block(struct script_path_walk *w, uint64_t start, size_t index)
{
	const uint64_t from = sample_branch_at(w->sample, index).from;
	struct script_spot spot;
	struct script_step step;
	if (!find_code(w, start, from, &spot))
		return false;
	w->steps = 0;
	if (!script_code_decode(w->path->code, &spot, start, &step))
		return true;
	for (uint64_t ip = start; ip <= from; ip += step.instruction.size) {
		if (!script_path_print_heading(w, ip))
			return false;
		if (!script_code_decode(w->path->code, &spot, ip, &step)) {
			print_bad(w, ip);
			return true;
		}
		bool is_last = ip == from;
		w->steps++;
		print_step(w, &spot, &step, is_last ? index : NO_BRANCH);
		if (!script_path_print_source(w, ip))
			return false;
		if (is_last)
			return true;
	}
	/* No instruction starts at the recorded address of the branch. */
	print_bad(w, from);
	return true;
}

/* Prints the instructions from the newest branch's target to the sample. */
static bool script_path_print_rest(struct script_path_walk *w, const struct sample_branch *newest)
{
	uint64_t start = newest->to, end = w->sample->ip;
	struct script_spot spot;
	struct script_step step;
	if (newest->from == w->sample->ip)
		return true;
	if (!script_path_print_heading(w, start) || !find_code(w, start, end < start ? start + LOST_BYTES : end, &spot))
		return false;
	if (!script_code_decode(w->path->code, &spot, start, &step)) {
		if (!find_code(w, end, end, &spot))
			return false;
		if (!script_code_decode(w->path->code, &spot, end, &step))
			return true;
		print_step(w, &spot, &step, NO_BRANCH);
		return script_path_print_source(w, end);
	}
	uint64_t last = end < start ? start + LOST_BYTES : end;
	for (uint64_t ip = start; ip <= last; ip += step.instruction.size) {
		if (!script_code_decode(w->path->code, &spot, ip, &step))
			break;
		print_step(w, &spot, &step, NO_BRANCH);
		if (ip != end && step.instruction.always_leaves) {
			text_str(w->t, "\t... not reaching sample ...\n");
			break;
		}
		if (!script_path_print_source(w, ip))
			return false;
	}
	return true;
}

bool script_path_print(struct script_path *path, struct text *t, const struct resolve_where *where, unsigned cpumode,
	const struct sample *sample, uint64_t fields)
{
	struct script_path_walk w = {
		.path = path, .t = t, .where = where, .sample = sample, .cpumode = cpumode, .fields = fields};
	uint64_t count = sample_branch_count(sample);
	if (path->max_blocks && count > path->max_blocks + 1)
		count = path->max_blocks + 1;
	if (count == 0)
		return true;
	text_char(t, '\n');
	struct sample_branch branch = sample_branch_at(sample, (size_t)count - 1);
	struct script_spot spot;
	struct script_step step;
	if (!find_code(&w, branch.from, branch.from, &spot))
		return false;
	if (script_code_decode(path->code, &spot, branch.from, &step)) {
		if (!script_path_print_heading(&w, branch.from))
			return false;
		print_step(&w, &spot, &step, (size_t)count - 1);
		if (!script_path_print_source(&w, branch.from))
			return false;
	}
	for (size_t i = (size_t)count - 1; i-- > 0;) {
		uint64_t start = branch.to;
		branch = sample_branch_at(sample, i);
		if (!script_path_print_block(&w, start, i))
			return false;
	}
	return (!(sample->present & SAMPLE_IP) || script_path_print_rest(&w, &branch)) && !t->failed;
}
