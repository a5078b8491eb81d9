/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/cfi.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/leb128.h"
#include "base/limits.h"
#include "base/order.h"
#include "object/frame_numbers.h"

/* Maximum nesting of remembered rows: compilers nest one, hand-written code sometimes two. */
#define CFI_STACK_DEPTH 16

struct cie {
	uint64_t code_align;
	int64_t data_align;
	struct cfi_frame frame;
	uint8_t pointer_encoding;
	uint8_t address_size;
	bool has_data; /* FDEs of this CIE have augmentation data. */
	size_t program, end;
};

static struct cursor cursor_of(const struct cfi_table *table)
{
	return cursor_make(table->section.bytes, table->section.swap);
}

/* Reads a pointer in an encoding of .eh_frame (DW_EH_PE_*). */
static uint64_t encoded_pointer(
	const struct cfi_table *table, struct cursor *c, uint8_t encoding, uint8_t address_size, uint64_t function)
{
	uint64_t at = table->section.address + c->pos;
	uint64_t value;
	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		value = cursor_uint(c, address_size);
		break;
	case DW_EH_PE_uleb128:
		value = cursor_uleb(c);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)cursor_sleb(c);
		break;
	case DW_EH_PE_udata2:
		value = cursor_u16(c);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)cursor_u16(c);
		break;
	case DW_EH_PE_udata4:
		value = cursor_u32(c);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)cursor_u32(c);
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = cursor_u64(c);
		break;
	default:
		c->failed = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_pcrel:
		value += at;
		break;
	case DW_EH_PE_datarel:
		value += table->section.data_address;
		break;
	case DW_EH_PE_textrel:
		value += table->section.text_address;
		break;
	case DW_EH_PE_funcrel:
		value += function;
		break;
	default:
		break;
	}
	return address_size == 4 ? (uint32_t)value : value;
}

static void read_augmentation(const struct cfi_table *table, struct cursor *c, struct tally_str text, struct cie *cie)
{
	if (text.len == 0 || text.data[0] != 'z')
		return;
	cie->has_data = true;
	uint64_t length = cursor_uleb(c);
	if (length > cursor_left(c)) {
		c->failed = true;
		return;
	}
	size_t end = c->pos + (size_t)length;
	for (size_t i = 1; i < text.len && !c->failed; i++) {
		switch (text.data[i]) {
		case 'R':
			cie->pointer_encoding = cursor_u8(c);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(c);
			(void)encoded_pointer(table, c, encoding, cie->address_size, 0);
			break;
		}
		case 'L':
			cursor_u8(c);
			break;
		case 'S':
			cie->frame.is_signal = true;
			break;
		case 'B': /* aarch64's second authentication key and memory tags do not affect unwinding. */
		case 'G':
			break;
		/* The data of an unknown letter has an unknown size, but the size of all augmentation data is known. */
		default:
			i = text.len;
			break;
		}
	}
	c->pos = end;
}

struct entry {
	uint64_t offset, end; /* Range of the entry in the section, without its length field. */
	uint64_t cie; /* Offset of the entry's CIE; UINT64_MAX if the entry is a CIE itself. */
	size_t body; /* Offset after the CIE ID or pointer. */
};

/* Reads the header of the entry at c, and moves c after the entry. Returns false at the end of the section or if it is
 * damaged. */
static bool cfi_next_entry(const struct cfi_table *table, struct cursor *c, struct entry *entry)
{
	entry->offset = c->pos;
	uint64_t length = cursor_u32(c);
	unsigned size = 4;
	if (length == UINT32_MAX) {
		length = cursor_u64(c);
		size = 8;
	}
	if (c->failed || length > cursor_left(c))
		return false;
	if (length == 0) { /* A zero length terminates .eh_frame, but linkers may leave one in the middle. */
		entry->end = c->pos;
		entry->cie = UINT64_MAX;
		entry->body = c->pos;
		return true;
	}
	entry->end = c->pos + length;
	if (length < size)
		return false;
	size_t id_at = c->pos;
	uint64_t id = cursor_uint(c, table->section.is_eh ? 4 : size);
	entry->body = c->pos;
	if (table->section.is_eh)
		entry->cie = id == 0 ? UINT64_MAX : id_at - id;
	else
		entry->cie = id == (size == 8 ? UINT64_MAX : UINT32_MAX) ? UINT64_MAX : id;
	c->pos = (size_t)entry->end;
	return true;
}

static bool read_cie(const struct cfi_table *table, uint64_t offset, struct cie *cie)
{
	struct cursor c = cursor_of(table);
	struct entry entry;
	*cie = (struct cie){.address_size = table->section.address_size};
	if (offset >= c.len)
		return false;
	c.pos = (size_t)offset;
	if (!cfi_next_entry(table, &c, &entry) || entry.cie != UINT64_MAX || entry.body == entry.end)
		return false;
	c.pos = entry.body;
	c.len = (size_t)entry.end;
	uint8_t version = cursor_u8(&c);
	if (version != 1 && version != 3 && version != 4)
		return false;
	struct tally_str augmentation = {(const char *)c.data + c.pos, 0};
	augmentation.len = strnlen(augmentation.data, cursor_left(&c));
	cursor_skip(&c, augmentation.len + 1);
	if (augmentation.len >= 2 && memcmp(augmentation.data, "eh", 2) == 0)
		cursor_skip(&c, cie->address_size); /* Skips the pointer to exception tables that gcc 2 wrote. */
	if (version >= 4) {
		cie->address_size = cursor_u8(&c);
		cursor_skip(&c, 1);
		if (cie->address_size != 4 && cie->address_size != 8)
			return false;
	}
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	cie->frame.return_register = version == 1 ? cursor_u8(&c) : (uint32_t)cursor_uleb(&c);
	read_augmentation(table, &c, augmentation, cie);
	cie->program = c.pos;
	cie->end = c.len;
	return !c.failed && c.len - c.pos <= LIMIT_CFI_INITIAL_BYTES;
}

/* Reads the code range of an entry, and moves c to the entry's instructions. */
static bool read_fde(const struct cfi_table *table, const struct entry *entry, const struct cie *cie, struct cursor *c,
	struct cfi_fde *fde)
{
	*c = cursor_of(table);
	c->pos = entry->body;
	c->len = (size_t)entry->end;
	fde->offset = entry->offset;
	fde->low = encoded_pointer(table, c, cie->pointer_encoding, cie->address_size, 0);
	fde->high = fde->low + encoded_pointer(table, c, cie->pointer_encoding & 0x0f, cie->address_size, 0);
	if (cie->has_data)
		cursor_skip(c, cursor_uleb(c));
	return !c->failed;
}

static int cfi_by_low(const void *a, const void *b)
{
	const struct cfi_fde *left = a;
	const struct cfi_fde *right = b;
	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return COMPARE(left->offset, right->offset);
}

enum tally_status cfi_open(struct cfi_table *table, const struct cfi_section *section, struct tally_error *err)
{
	*table = (struct cfi_table){.section = *section};
	struct cursor c = cursor_of(table);
	struct entry entry;
	struct cie cie;
	uint64_t cie_offset = UINT64_MAX; /* Offset in the section of the entry that `cie` was decoded from. */
	bool cie_is_good = false;
	bool is_sorted = true;
	while (cursor_left(&c) > 0) {
		struct cfi_fde fde;
		struct cursor program;
		if (!cfi_next_entry(table, &c, &entry)) {
			table->damaged++;
			break;
		}
		if (section->ends_at_zero && entry.body == entry.end)
			break;
		if (entry.cie == UINT64_MAX)
			continue;
		if (entry.cie != cie_offset) {
			cie_offset = entry.cie;
			cie_is_good = read_cie(table, cie_offset, &cie);
		}
		if (!cie_is_good || !read_fde(table, &entry, &cie, &program, &fde)) {
			table->damaged++;
			continue;
		}
		if (fde.low == 0 || fde.high <= fde.low) /* The linker discarded the code. */
			continue;
		is_sorted =
			is_sorted && (table->fdes.len == 0 || table->fdes.items[table->fdes.len - 1].low <= fde.low);
		if (!vec_push(&table->fdes, fde)) {
			cfi_deinit(table);
			return error_nomem(err);
		}
	}
	if (!is_sorted)
		qsort(table->fdes.items, table->fdes.len, sizeof(*table->fdes.items), cfi_by_low);
	return TALLY_OK;
}

void cfi_deinit(struct cfi_table *table)
{
	vec_free(&table->fdes);
}

struct tally_bytes cfi_expression(const struct cfi_table *table, const struct cfi_rule *rule)
{
	return (struct tally_bytes){table->section.bytes.data + rule->value, rule->size};
}

struct program {
	const struct cfi_table *table;
	const struct cie *cie;
	struct cursor c;
	uint64_t pc; /* The row for this address is wanted. */
	uint64_t location;
	struct cfi_row row, initial;
	struct cfi_row *stack;
	unsigned depth;
	bool is_initial; /* It runs the initial instructions of a CIE. */
	bool is_over; /* The row for pc is complete. */
};

static void set_rule(struct program *p, uint64_t reg, enum cfi_rule_kind kind, int64_t value)
{
	if (reg < CFI_REGISTERS)
		p->row.registers[reg] = (struct cfi_rule){.kind = (uint8_t)kind, .value = value};
}

static void set_expression(struct program *p, uint64_t reg, enum cfi_rule_kind kind)
{
	uint64_t size = cursor_uleb(&p->c);
	size_t at = p->c.pos;
	cursor_skip(&p->c, size);
	if (!p->c.failed && reg < CFI_REGISTERS)
		p->row.registers[reg] =
			(struct cfi_rule){.kind = (uint8_t)kind, .value = (int64_t)at, .size = (uint32_t)size};
}

static void set_cfa(struct program *p, uint64_t reg, int64_t offset)
{
	p->row.cfa_is_expression = false;
	p->row.cfa_register = (uint32_t)reg;
	p->row.cfa = (struct cfi_rule){.kind = CFI_IS_OFFSET, .value = offset};
}

static void set_cfa_expression(struct program *p)
{
	uint64_t size = cursor_uleb(&p->c);
	p->row.cfa = (struct cfi_rule){.kind = CFI_IS_EXPRESSION, .value = (int64_t)p->c.pos, .size = (uint32_t)size};
	p->row.cfa_is_expression = true;
	cursor_skip(&p->c, size);
}

static void move_to(struct program *p, uint64_t location)
{
	if (location > p->pc) {
		p->row.high = location;
		p->is_over = true;
		return;
	}
	p->location = p->row.low = location;
}

static void cfi_restore(struct program *p, uint64_t reg)
{
	if (reg < CFI_REGISTERS)
		p->row.registers[reg] = p->initial.registers[reg];
}

static void cfi_remember(struct program *p)
{
	if (p->depth == CFI_STACK_DEPTH)
		p->c.failed = true;
	else
		p->stack[p->depth++] = p->row;
}

static void cfi_recall(struct program *p)
{
	if (p->depth == 0) {
		p->c.failed = true;
		return;
	}
	uint64_t low = p->row.low;
	uint64_t high = p->row.high;
	p->row = p->stack[--p->depth];
	p->row.low = low;
	p->row.high = high;
}

/* Multiplies as unsigned numbers, because factors in a malicious table may overflow. */
static int64_t cfi_scaled(const struct program *p, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)p->cie->data_align);
}

static void run_cfa(struct program *p, uint8_t opcode)
{
	struct cursor *c = &p->c;
	uint64_t reg;
	switch (opcode) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		set_cfa(p, reg, (int64_t)cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		set_cfa(p, reg, cfi_scaled(p, (uint64_t)cursor_sleb(c)));
		break;
	case DW_CFA_def_cfa_register:
		reg = cursor_uleb(c);
		set_cfa(p, reg, p->row.cfa_is_expression ? 0 : p->row.cfa.value);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa(p, p->row.cfa_register, (int64_t)cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(p, p->row.cfa_register, cfi_scaled(p, (uint64_t)cursor_sleb(c)));
		break;
	default:
		set_cfa_expression(p);
		break;
	}
}

/* Handles register rules with operands after the opcode. Returns false for other opcodes. */
static bool run_register(struct program *p, uint8_t opcode)
{
	struct cursor *c = &p->c;
	uint64_t reg;
	switch (opcode) {
	case DW_CFA_offset_extended:
		reg = cursor_uleb(c);
		set_rule(p, reg, CFI_AT_OFFSET, cfi_scaled(p, cursor_uleb(c)));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = cursor_uleb(c);
		set_rule(p, reg, CFI_AT_OFFSET, cfi_scaled(p, (uint64_t)cursor_sleb(c)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = cursor_uleb(c);
		set_rule(p, reg, CFI_AT_OFFSET, cfi_scaled(p, 0 - cursor_uleb(c)));
		return true;
	case DW_CFA_val_offset:
		reg = cursor_uleb(c);
		set_rule(p, reg, CFI_IS_OFFSET, cfi_scaled(p, cursor_uleb(c)));
		return true;
	case DW_CFA_val_offset_sf:
		reg = cursor_uleb(c);
		set_rule(p, reg, CFI_IS_OFFSET, cfi_scaled(p, (uint64_t)cursor_sleb(c)));
		return true;
	case DW_CFA_restore_extended:
		cfi_restore(p, cursor_uleb(c));
		return true;
	case DW_CFA_undefined:
		set_rule(p, cursor_uleb(c), CFI_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(p, cursor_uleb(c), CFI_SAME, 0);
		return true;
	case DW_CFA_register:
		reg = cursor_uleb(c);
		set_rule(p, reg, CFI_REGISTER, (int64_t)cursor_uleb(c));
		return true;
	case DW_CFA_expression:
		set_expression(p, cursor_uleb(c), CFI_AT_EXPRESSION);
		return true;
	case DW_CFA_val_expression:
		set_expression(p, cursor_uleb(c), CFI_IS_EXPRESSION);
		return true;
	default:
		return false;
	}
}

static bool run_move(struct program *p, uint8_t opcode)
{
	struct cursor *c = &p->c;
	uint64_t align = p->cie->code_align;
	switch (opcode) {
	case DW_CFA_set_loc:
		move_to(p, encoded_pointer(p->table, c, p->cie->pointer_encoding, p->cie->address_size, p->location));
		return true;
	case DW_CFA_advance_loc1:
		move_to(p, p->location + cursor_u8(c) * align);
		return true;
	case DW_CFA_advance_loc2:
		move_to(p, p->location + cursor_u16(c) * align);
		return true;
	case DW_CFA_advance_loc4:
		move_to(p, p->location + cursor_u32(c) * align);
		return true;
	default:
		return false;
	}
}

static void cfi_run_one(struct program *p)
{
	uint8_t opcode = cursor_u8(&p->c);
	uint8_t low = opcode & 0x3f;
	switch (opcode & 0xc0) {
	case DW_CFA_advance_loc:
		move_to(p, p->location + low * p->cie->code_align);
		return;
	case DW_CFA_offset:
		set_rule(p, low, CFI_AT_OFFSET, cfi_scaled(p, cursor_uleb(&p->c)));
		return;
	case DW_CFA_restore:
		cfi_restore(p, low);
		return;
	default:
		break;
	}
	if (run_move(p, opcode) || run_register(p, opcode))
		return;
	switch (opcode) {
	case DW_CFA_nop:
		break;
	case DW_CFA_remember_state:
		cfi_remember(p);
		break;
	case DW_CFA_restore_state:
		cfi_recall(p);
		break;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		run_cfa(p, opcode);
		break;
	/* On aarch64, this is DW_CFA_AARCH64_negate_ra_state: the return address is signed from here on, or no longer
	 * signed. */
	case DW_CFA_GNU_window_save:
		p->row.is_return_signed = !p->row.is_return_signed;
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(&p->c);
		break;
	default: /* The length of an unknown opcode's operands is not known either. */
		p->c.failed = true;
		break;
	}
}

static bool cfi_run(struct program *p, size_t begin, size_t end)
{
	p->c = cursor_of(p->table);
	p->c.pos = begin;
	p->c.len = end;
	while (cursor_left(&p->c) > 0 && !p->is_over)
		cfi_run_one(p);
	return !p->c.failed;
}

bool cfi_fde_at(const struct cfi_table *table, uint64_t offset, struct cfi_fde *fde)
{
	struct cursor c = cursor_of(table);
	struct entry entry;
	struct cie cie;
	if (offset >= c.len)
		return false;
	c.pos = (size_t)offset;
	return cfi_next_entry(table, &c, &entry) && read_cie(table, entry.cie, &cie) &&
	       read_fde(table, &entry, &cie, &c, fde);
}

bool cfi_row_at(const struct cfi_table *table, const struct cfi_fde *fde, uint64_t pc, struct cfi_row *row,
	struct cfi_frame *frame)
{
	struct cursor c = cursor_of(table);
	struct entry entry;
	struct cie cie;
	struct cfi_fde range;
	struct cfi_row stack[CFI_STACK_DEPTH];
	c.pos = (size_t)fde->offset;
	if (!cfi_next_entry(table, &c, &entry) || !read_cie(table, entry.cie, &cie) ||
		!read_fde(table, &entry, &cie, &c, &range))
		return false;
	struct program p = {.table = table, .cie = &cie, .stack = stack, .pc = UINT64_MAX};
	size_t begin = c.pos;
	if (!cfi_run(&p, cie.program, cie.end))
		return false;
	p.initial = p.row;
	p.pc = pc;
	p.location = p.row.low = fde->low;
	p.row.high = fde->high;
	p.depth = 0;
	if (!cfi_run(&p, begin, (size_t)entry.end) && !p.is_over)
		return false;
	*row = p.row;
	*frame = cie.frame;
	return true;
}

/* Returns whether instructions may mark the return address as undefined. It only searches the bytes for such an
 * opcode. */
static bool may_have_no_caller(const struct cfi_table *table, const struct cie *cie, size_t begin, size_t end)
{
	const uint8_t *bytes = table->section.bytes.data, *at = bytes + begin;
	/* A larger number is encoded in two bytes, but no architecture has one. */
	if (cie->frame.return_register > INT8_MAX)
		return true;
	while ((at = memchr(at, DW_CFA_undefined, (size_t)(bytes + end - at))) != NULL)
		if (++at < bytes + end && *at == cie->frame.return_register)
			return true;
	return false;
}

enum cfi_caller cfi_caller_at(const struct cfi_section *section, uint64_t offset, uint64_t pc, struct cfi_fde *whole)
{
	const struct cfi_table table = {.section = *section};
	struct cursor c = cursor_of(&table), program;
	struct entry entry;
	struct cie cie;
	struct cfi_fde fde;
	*whole = (struct cfi_fde){0};
	cursor_skip(&c, offset);
	if (c.failed || !cfi_next_entry(&table, &c, &entry) || entry.cie == UINT64_MAX ||
		!read_cie(&table, entry.cie, &cie) || !read_fde(&table, &entry, &cie, &program, &fde) || fde.low == 0 ||
		pc < fde.low || pc >= fde.high)
		return CFI_CALLER_UNKNOWN;
	if (!may_have_no_caller(&table, &cie, cie.program, cie.end) &&
		!may_have_no_caller(&table, &cie, program.pos, (size_t)entry.end)) {
		*whole = fde;
		return CFI_HAS_CALLER;
	}
	struct cfi_row row;
	struct cfi_frame frame;
	bool has_row = cfi_row_at(&table, &fde, pc, &row, &frame) && frame.return_register < CFI_REGISTERS;
	bool has_cfa = has_row && (row.cfa_is_expression || row.cfa.kind == CFI_IS_OFFSET);
	bool is_lost = has_cfa && row.registers[frame.return_register].kind == CFI_UNDEFINED;
	return is_lost ? CFI_HAS_NO_CALLER : CFI_HAS_CALLER;
}

struct cfi_cie {
	uint64_t offset; /* UINT64_MAX before the first CIE was read. */
	bool is_good;
	struct cie cie;
	struct cfi_row initial;
	struct cfi_row stack[CFI_STACK_DEPTH];
};

enum tally_status cfi_walk_init(struct cfi_walk *walk, const struct cfi_table *table, struct tally_error *err)
{
	walk->table = table;
	walk->cie = calloc(1, sizeof(*walk->cie));
	if (!walk->cie)
		return error_nomem(err);
	walk->cie->offset = UINT64_MAX;
	return TALLY_OK;
}

void cfi_walk_deinit(struct cfi_walk *walk)
{
	free(walk->cie);
	walk->cie = NULL;
}

static bool walk_cie(struct cfi_walk *walk, uint64_t offset)
{
	struct cfi_cie *known = walk->cie;
	if (known->offset == offset)
		return known->is_good;
	known->offset = offset;
	known->is_good = read_cie(walk->table, offset, &known->cie);
	if (!known->is_good)
		return false;
	struct program p = {.table = walk->table, .cie = &known->cie, .stack = known->stack, .pc = UINT64_MAX};
	known->is_good = cfi_run(&p, known->cie.program, known->cie.end);
	known->initial = p.row;
	return known->is_good;
}

bool cfi_walk_entry(struct cfi_walk *walk, const struct cfi_fde *fde)
{
	struct cursor c = cursor_of(walk->table);
	struct entry entry;
	struct cfi_fde range;
	struct cfi_cie *known = walk->cie;
	c.pos = (size_t)fde->offset;
	if (!cfi_next_entry(walk->table, &c, &entry) || !walk_cie(walk, entry.cie) ||
		!read_fde(walk->table, &entry, &known->cie, &c, &range))
		return false;
	struct program p = {.table = walk->table, .cie = &known->cie, .stack = known->stack, .pc = fde->low};
	size_t begin = c.pos;
	p.row = p.initial = known->initial;
	p.location = p.row.low = fde->low;
	p.row.high = fde->high;
	while (cfi_run(&p, begin, (size_t)entry.end) || p.is_over) {
		if (p.row.high > fde->high)
			p.row.high = fde->high;
		if (p.row.low != p.pc || !walk->take(walk->context, &p.row, &known->cie.frame) || !p.is_over)
			return p.row.low == p.pc;
		begin = p.c.pos;
		p.pc = p.location = p.row.low = p.row.high;
		p.row.high = fde->high;
		p.is_over = false;
		if (p.pc >= fde->high)
			return true;
	}
	return false;
}
