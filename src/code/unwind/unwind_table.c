/* SPDX-License-Identifier: Apache-2.0 */
#include "code/unwind/unwind_table.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/intern.h"
#include "base/limits.h"
#include "base/vec.h"
#include "code/unwind/unwind_go.h"

#define NO_RULE LIMIT_UNWIND_RULES

struct rows { /* Rows for disjoint ranges of code, sorted by address; each row extends to the next one. */
	uint64_t base, end;
	VEC(uint32_t) starts; /* Relative to base. */
	VEC(uint16_t) rules;
};

struct unwind_table {
	VEC(struct rows) rows; /* For each address, the first element that has a rule is used. */
	struct intern rules, expressions;
	bool swap;
	uint64_t damaged;
};

struct unwind_table_build {
	struct unwind_table *table;
	const struct cfi_table *cfi;
	struct rows *rows;
	uint64_t low, high; /* Code range of the entry that is being read. */
	uint64_t rule_bytes_left;
	bool is_out_of_memory;
	bool is_switch; /* The next rule is for code that changes to another stack. */
	struct unwind_rule *scratch; /* A rule with room for CFI_REGISTERS saved registers. */
};

static bool add_expression(struct unwind_table_build *b, const struct cfi_rule *rule, int64_t *id)
{
	uint32_t number;
	struct tally_bytes bytes = cfi_expression(b->cfi, rule);
	if (bytes.len > LIMIT_CFI_EXPRESSION || bytes.len > b->rule_bytes_left)
		return false;
	size_t before = b->table->expressions.len;
	if (!intern_add(&b->table->expressions, bytes.data, bytes.len, &number)) {
		b->is_out_of_memory = true;
		return false;
	}
	if (b->table->expressions.len > before)
		b->rule_bytes_left -= bytes.len;
	*id = number;
	return true;
}

static bool add_saved(struct unwind_table_build *b, uint8_t number, const struct cfi_rule *from)
{
	struct unwind_rule *rule = b->scratch;
	struct unwind_saved *saved = &rule->saved[rule->saved_count];
	if (from->kind == CFI_UNSET || (from->kind == CFI_SAME && number != rule->return_register))
		return true;
	*saved = (struct unwind_saved){.kind = from->kind, .number = number, .value = from->value};
	if (from->kind != CFI_AT_OFFSET)
		rule->is_plain = false;
	if ((from->kind == CFI_AT_EXPRESSION || from->kind == CFI_IS_EXPRESSION) &&
		!add_expression(b, from, &saved->value))
		return false;
	if (number == rule->return_register) {
		rule->return_index = rule->saved_count;
		rule->is_root = from->kind == CFI_UNDEFINED;
	}
	rule->saved_count++;
	return true;
}

/* Converts a row to its compact form. Returns NO_RULE if it has none, a limit is reached or memory runs out. */
static uint16_t make_rule(struct unwind_table_build *b, const struct cfi_row *row, const struct cfi_frame *frame)
{
	struct unwind_rule *rule = b->scratch;
	uint32_t id;
	bool has_cfa = row->cfa_is_expression || row->cfa.kind == CFI_IS_OFFSET;
	if (!has_cfa || frame->return_register >= CFI_REGISTERS ||
		(!row->cfa_is_expression && row->cfa_register >= CFI_REGISTERS))
		return NO_RULE;
	memset(rule, 0, sizeof(*rule));
	rule->cfa_is_expression = row->cfa_is_expression;
	rule->is_plain = !row->cfa_is_expression;
	rule->is_signal = frame->is_signal;
	rule->is_switch = b->is_switch;
	rule->return_register = (uint8_t)frame->return_register;
	rule->return_index = UNWIND_NOT_SAVED;
	if (row->cfa_is_expression) {
		if (!add_expression(b, &row->cfa, &rule->cfa))
			return NO_RULE;
	} else {
		rule->cfa_register = (uint8_t)row->cfa_register;
		rule->cfa = row->cfa.value;
	}
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		if (row->registers[i].kind != CFI_UNSET && !add_saved(b, (uint8_t)i, &row->registers[i]))
			return NO_RULE;
	size_t size = sizeof(*rule) + rule->saved_count * sizeof(rule->saved[0]);
	size_t before = b->table->rules.len;
	if (size > b->rule_bytes_left || before == LIMIT_UNWIND_RULES)
		return NO_RULE;
	if (!intern_add(&b->table->rules, rule, size, &id)) {
		b->is_out_of_memory = true;
		return NO_RULE;
	}
	if (b->table->rules.len > before)
		b->rule_bytes_left -= size;
	return (uint16_t)id;
}

/* Begins a row at the address, which ends the previous row. */
static bool append_row(struct unwind_table_build *b, uint64_t address, uint16_t rule)
{
	struct rows *rows = b->rows;
	size_t count = rows->starts.len;
	if (count > 0 && rows->base + rows->starts.items[count - 1] == address) {
		rows->rules.items[count - 1] = rule;
		return true;
	}
	if (count > 0 && rows->rules.items[count - 1] == rule)
		return true;
	if (!vec_push(&rows->starts, (uint32_t)(address - rows->base)) || !vec_push(&rows->rules, rule)) {
		b->is_out_of_memory = true;
		return false;
	}
	return true;
}

/* Makes room for rows of [low, high), with a row without a rule for any gap before. New rows are begun if 32-bit
 * offsets do not suffice. */
static bool begin_rows(struct unwind_table_build *b, uint64_t low, uint64_t high)
{
	struct rows *rows = b->rows;
	if (rows && high - rows->base <= UINT32_MAX) {
		if (low > rows->end && !append_row(b, rows->end, NO_RULE))
			return false;
		rows->end = high;
		return true;
	}
	if (!vec_push(&b->table->rows, (struct rows){.base = low})) {
		b->is_out_of_memory = true;
		return false;
	}
	b->rows = &b->table->rows.items[b->table->rows.len - 1];
	b->rows->end = high;
	return true;
}

static bool unwind_table_take_row(void *context, const struct cfi_row *row, const struct cfi_frame *frame)
{
	struct unwind_table_build *b = context;
	if (row->low >= b->high)
		return false;
	uint16_t rule = make_rule(b, row, frame);
	if (rule == NO_RULE)
		b->table->damaged++;
	return !b->is_out_of_memory && append_row(b, row->low, rule);
}

static bool add_entries(struct unwind_table_build *b)
{
	const struct cfi_fde *fdes = b->cfi->fdes.items;
	size_t count = b->cfi->fdes.len;
	struct cfi_walk walk = {.take = unwind_table_take_row, .context = b};
	if (cfi_walk_init(&walk, b->cfi, NULL) != TALLY_OK)
		return false;
	for (size_t i = 0; i < count && !b->is_out_of_memory; i++) {
		b->low = fdes[i].low;
		b->high = i + 1 < count && fdes[i + 1].low < fdes[i].high ? fdes[i + 1].low : fdes[i].high;
		if (b->low >= b->high || b->high - b->low > UINT32_MAX)
			continue;
		if (!begin_rows(b, b->low, b->high))
			break;
		/* If the entry's first row starts later, the previous entry's last row must not extend into this
		 * one. */
		if (!append_row(b, b->low, NO_RULE))
			break;
		if (!cfi_walk_entry(&walk, &fdes[i]))
			b->table->damaged++;
	}
	cfi_walk_deinit(&walk);
	return !b->is_out_of_memory;
}

static bool unwind_table_add_section(
	struct unwind_table *table, const struct cfi_section *section, struct unwind_rule *scratch)
{
	struct cfi_table cfi;
	if (cfi_open(&cfi, section, NULL) != TALLY_OK)
		return false;
	struct unwind_table_build b = {.table = table,
		.cfi = &cfi,
		.scratch = scratch,
		.rule_bytes_left = LIMIT_UNWIND_RULE_BYTES + section->bytes.len};
	table->damaged += cfi.damaged;
	bool ok = add_entries(&b);
	cfi_deinit(&cfi);
	return ok;
}

/* The offset from the stack pointer at which the aarch64 kernel stores the registers of interrupted code: after 128
 * bytes of siginfo and the fields of the context before them. */
#define AARCH64_SIGNAL_REGISTERS 312
#define AARCH64_SIGNAL_SAVED	 33 /* The registers are x0 to x30, the stack pointer and pc. */

static bool unwind_table_add_stub(struct unwind_table_build *b, const struct arch *arch, const struct unwind_stub *stub)
{
	struct cfi_frame frame = {.is_signal = stub->is_signal, .return_register = arch->dwarf_link};
	struct cfi_row row = {
		.cfa_register = arch->dwarf_sp, .cfa = {.kind = CFI_IS_OFFSET, .value = stub->cfa_offset}};
	if (stub->is_signal) {
		frame.return_register = arch->dwarf_ip;
		for (unsigned i = 0; i < AARCH64_SIGNAL_SAVED; i++)
			row.registers[i] = (struct cfi_rule){
				.kind = CFI_AT_OFFSET, .value = AARCH64_SIGNAL_REGISTERS + 8 * (int64_t)i};
	} else if (arch->dwarf_link == ARCH_NO_DWARF) {
		frame.return_register = arch->dwarf_ip;
		row.registers[arch->dwarf_ip] = (struct cfi_rule){.kind = CFI_AT_OFFSET, .value = -arch->pointer_bytes};
	}
	uint16_t rule = make_rule(b, &row, &frame);
	return rule == NO_RULE || (begin_rows(b, stub->low, stub->high) && append_row(b, stub->low, rule));
}

static bool add_stubs(struct unwind_table *table, const struct unwind_table_source *source, struct unwind_rule *scratch)
{
	struct unwind_table_build b = {.table = table, .scratch = scratch, .rule_bytes_left = LIMIT_UNWIND_RULE_BYTES};
	for (size_t i = 0; i < source->stub_count; i++) {
		const struct unwind_stub *stub = &source->stubs[i];
		bool is_in_order = !b.rows || stub->low >= b.rows->end;
		if (is_in_order && stub->high > stub->low && stub->high - stub->low <= UINT32_MAX &&
			!unwind_table_add_stub(&b, source->arch, stub))
			return false;
	}
	return true;
}

/* If is_special, adds the frames of code without a caller and of code that changes stacks, which have precedence over
 * all sections; otherwise, adds those of other code that no section covers. */
static bool add_go_frames(struct unwind_table *table, const struct unwind_table_source *source,
	struct unwind_rule *scratch, bool is_special)
{
	struct unwind_table_build b = {.table = table, .scratch = scratch, .rule_bytes_left = LIMIT_UNWIND_RULE_BYTES};
	for (size_t i = 0; i < source->go_frame_count; i++) {
		const struct go_frame *from = &source->go_frames[i];
		struct cfi_row row;
		struct cfi_frame frame;
		bool is_in_order = !b.rows || from->low >= b.rows->end;
		if (unwind_go_is_special(from) != is_special || !is_in_order || from->high <= from->low ||
			from->high - from->low > UINT32_MAX)
			continue;
		if (!is_special && unwind_table_find(table, from->low) && unwind_table_find(table, from->high - 1))
			continue;
		unwind_go_row(source->arch, from, &row, &frame);
		b.is_switch = from->kind == GO_FRAME_SWITCHED || from->kind == GO_FRAME_LEFT;
		uint16_t rule = make_rule(&b, &row, &frame);
		table->damaged += rule == NO_RULE;
		if (b.is_out_of_memory || (rule != NO_RULE && !(begin_rows(&b, from->low, from->high) &&
								      append_row(&b, from->low, rule))))
			return false;
	}
	return true;
}

/* Frees unused capacity, because tables live long. */
static void unwind_table_trim(struct rows *rows)
{
	uint32_t *starts = realloc(rows->starts.items, rows->starts.len * sizeof(*starts));
	uint16_t *rules = realloc(rows->rules.items, rows->rules.len * sizeof(*rules));
	if (starts)
		rows->starts.items = starts;
	if (rules)
		rows->rules.items = rules;
	rows->starts.cap = rows->starts.len;
	rows->rules.cap = rows->rules.len;
}

enum tally_status unwind_table_create(
	const struct unwind_table_source *source, struct unwind_table **out, struct tally_error *err)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	if (!table)
		return error_nomem(err);
	intern_init(&table->rules);
	intern_init(&table->expressions);
	struct unwind_rule *scratch = malloc(sizeof(*scratch) + CFI_REGISTERS * sizeof(scratch->saved[0]));
	bool ok = scratch != NULL && add_go_frames(table, source, scratch, true);
	for (size_t i = 0; i < source->section_count && ok; i++) {
		table->swap = source->sections[i].swap;
		ok = unwind_table_add_section(table, &source->sections[i], scratch);
	}
	ok = ok && add_stubs(table, source, scratch) && add_go_frames(table, source, scratch, false);
	free(scratch);
	for (size_t i = 0; i < table->rows.len && ok; i++)
		if (table->rows.items[i].starts.len > 0)
			unwind_table_trim(&table->rows.items[i]);
	if (!ok) {
		unwind_table_destroy(table);
		return error_nomem(err);
	}
	*out = table;
	return TALLY_OK;
}

void unwind_table_destroy(struct unwind_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->rows.len; i++) {
		vec_free(&table->rows.items[i].starts);
		vec_free(&table->rows.items[i].rules);
	}
	vec_free(&table->rows);
	intern_deinit(&table->rules);
	intern_deinit(&table->expressions);
	free(table);
}

static uint16_t unwind_table_find_row(const struct rows *rows, uint64_t address)
{
	uint32_t wanted = (uint32_t)(address - rows->base);
	const uint32_t *starts = rows->starts.items;
	size_t low = 0;
	for (size_t left = rows->starts.len; left > 1;) {
		size_t half = left / 2;
		low = starts[low + half] <= wanted ? low + half : low;
		left -= half;
	}
	return rows->rules.items[low];
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t address)
{
	for (size_t i = 0; i < table->rows.len; i++) {
		const struct rows *rows = &table->rows.items[i];
		if (address < rows->base || address >= rows->end || rows->starts.len == 0)
			continue;
		uint16_t rule = unwind_table_find_row(rows, address);
		if (rule != NO_RULE)
			return (const struct unwind_rule *)(const void *)intern_get(&table->rules, rule).data;
	}
	return NULL;
}

/* Returns the next address after the given one at which any of the rows changes; UINT64_MAX if there is none. */
static uint64_t unwind_table_next_change(const struct unwind_table *table, size_t *next, uint64_t address)
{
	uint64_t nearest = UINT64_MAX;
	for (size_t i = 0; i < table->rows.len; i++) {
		const struct rows *rows = &table->rows.items[i];
		while (next[i] < rows->starts.len && rows->base + rows->starts.items[next[i]] <= address)
			next[i]++;
		uint64_t change = next[i] < rows->starts.len ? rows->base + rows->starts.items[next[i]] : rows->end;
		if (change > address && change < nearest)
			nearest = change;
	}
	return nearest;
}

/* Returns the first rule for the address. next[i] is the index after the row that contains it in rows.items[i]. */
static const struct unwind_rule *unwind_table_rule_at(
	const struct unwind_table *table, const size_t *next, uint64_t address)
{
	for (size_t i = 0; i < table->rows.len; i++) {
		const struct rows *rows = &table->rows.items[i];
		if (next[i] == 0 || address < rows->base || address >= rows->end)
			continue;
		uint16_t rule = rows->rules.items[next[i] - 1];
		if (rule != NO_RULE)
			return (const struct unwind_rule *)(const void *)intern_get(&table->rules, rule).data;
	}
	return NULL;
}

void unwind_table_each(const struct unwind_table *table,
	bool (*take)(void *context, uint64_t address, const struct unwind_rule *rule), void *context)
{
	size_t *next = calloc(table->rows.len + 1, sizeof(*next));
	uint64_t address = UINT64_MAX;
	for (size_t i = 0; next && i < table->rows.len; i++)
		if (table->rows.items[i].starts.len > 0 && table->rows.items[i].base < address)
			address = table->rows.items[i].base;
	while (next && address < UINT64_MAX) {
		uint64_t behind = unwind_table_next_change(table, next, address);
		if (!take(context, address, unwind_table_rule_at(table, next, address)))
			break;
		address = behind;
	}
	free(next);
}

struct tally_bytes unwind_table_expression(const struct unwind_table *table, int64_t id)
{
	struct tally_str text = intern_get(&table->expressions, (uint32_t)id);
	return (struct tally_bytes){(const uint8_t *)text.data, text.len};
}

bool unwind_table_is_swapped(const struct unwind_table *table)
{
	return table->swap;
}

struct unwind_table_size unwind_table_size(const struct unwind_table *table)
{
	struct unwind_table_size size = {.rules = table->rules.len, .damaged = table->damaged};
	for (size_t i = 0; i < table->rows.len; i++) {
		size.rows += table->rows.items[i].starts.len;
		size.bytes += table->rows.items[i].starts.cap * sizeof(uint32_t);
		size.bytes += table->rows.items[i].rules.cap * sizeof(uint16_t);
	}
	size.bytes += table->rules.arena.used + table->expressions.arena.used;
	return size;
}
