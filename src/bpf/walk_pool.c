/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/walk_pool.h"

#include <string.h>

#include "base/leb128.h"

#define WALK_POOL_R10 10 /* DWARF register numbers of x86-64. */
#define WALK_POOL_RBX 3

bool walk_pool_init(
	struct walk_pool *pool, uint32_t chunk_max, uint32_t rule_max, const struct walk_pool_grower *grower)
{
	const struct walk_rule none = {.cfa = WALK_CFA_NONE};
	uint32_t id;
	*pool = (struct walk_pool){.grower = *grower, .chunk_max = chunk_max, .rule_max = rule_max};
	intern_init(&pool->rules);
	return intern_add(&pool->rules, &none, sizeof(none), &id);
}

void walk_pool_deinit(struct walk_pool *pool)
{
	intern_deinit(&pool->rules);
	vec_free(&pool->blocks);
}

/* Matches DW_OP_bregN OFFSET, DW_OP_deref. */
static bool walk_pool_is_word_at(struct tally_bytes code, uint8_t *number, int32_t *offset)
{
	struct cursor c = cursor_make(code, false);
	uint8_t operation = cursor_u8(&c);
	int64_t value = cursor_sleb(&c);
	uint8_t deref = cursor_u8(&c);
	if (c.failed || c.pos != code.len || operation < 0x70 || operation > 0x8f || deref != 0x06 ||
		value != (int32_t)value)
		return false;
	*number = (uint8_t)(operation - 0x70);
	*offset = (int32_t)value;
	return true;
}

/* Matches the expression that linkers write for the PLT of x86-64: rsp + 8 + ((rip & 15) >= N) * 8. */
static bool walk_pool_is_plt(struct tally_bytes code, int32_t *pushed)
{
	static const uint8_t before[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a}, behind[] = {0x2a, 0x33, 0x24, 0x22};
	if (code.len != 11 || memcmp(code.data, before, 6) != 0 || memcmp(code.data + 7, behind, 1) != 0 ||
		code.data[6] < 0x30 || code.data[6] > 0x4f || memcmp(code.data + 8, behind + 1, 3) != 0)
		return false;
	*pushed = code.data[6] - 0x30;
	return true;
}

static void walk_pool_set_cfa(
	const struct arch *arch, const struct unwind_table *table, const struct unwind_rule *from, struct walk_rule *to)
{
	uint8_t number;
	to->cfa = WALK_CFA_OTHER;
	if (from->cfa_is_expression) {
		struct tally_bytes code = unwind_table_expression(table, from->cfa);
		bool is_x86 = arch->dwarf_link == ARCH_NO_DWARF;
		if (is_x86 && walk_pool_is_plt(code, &to->cfa_offset))
			to->cfa = WALK_CFA_PLT;
		else if (walk_pool_is_word_at(code, &number, &to->cfa_offset))
			to->cfa = number == arch->dwarf_fp   ? WALK_CFA_AT_FP
				  : number == arch->dwarf_sp ? WALK_CFA_AT_SP
							     : WALK_CFA_OTHER;
		return;
	}
	if (from->cfa != (int32_t)from->cfa)
		return;
	to->cfa_offset = (int32_t)from->cfa;
	if (from->cfa_register == arch->dwarf_sp)
		to->cfa = WALK_CFA_SP;
	else if (from->cfa_register == arch->dwarf_fp)
		to->cfa = from->is_switch ? WALK_CFA_SWITCH : WALK_CFA_FP;
	else if (from->cfa_register == WALK_POOL_R10 && arch->dwarf_link == ARCH_NO_DWARF)
		to->cfa = WALK_CFA_R10;
	else if (from->cfa_register == WALK_POOL_RBX && arch->dwarf_link == ARCH_NO_DWARF)
		to->cfa = WALK_CFA_BX;
}

/* Returns false if the walk does not support the rule. */
static bool walk_pool_set_place(const struct arch *arch, const struct unwind_table *table,
	const struct unwind_saved *saved, uint8_t *place, int32_t *offset)
{
	struct tally_bytes code;
	switch ((enum cfi_rule_kind)saved->kind) {
	case CFI_AT_OFFSET:
		*place = WALK_IS_AT_CFA;
		*offset = (int32_t)saved->value;
		return saved->value == *offset;
	case CFI_AT_EXPRESSION:
		/* gcc emits this for the frame pointer if it realigns the stack: DW_OP_bregFP OFFSET. */
		code = unwind_table_expression(table, saved->value);
		*place = WALK_IS_AT_FP;
		struct cursor c = cursor_make(code, false);
		uint8_t operation = cursor_u8(&c);
		int64_t value = cursor_sleb(&c);
		*offset = (int32_t)value;
		return !c.failed && c.pos == code.len && operation == 0x70 + arch->dwarf_fp && value == *offset;
	case CFI_SAME:
	case CFI_UNSET:
		*place = WALK_IS_SAME;
		return true;
	case CFI_UNDEFINED:
	case CFI_IS_OFFSET:
	case CFI_REGISTER:
	case CFI_IS_EXPRESSION:
		break;
	}
	*place = WALK_IS_LOST;
	return saved->kind == CFI_UNDEFINED;
}

struct walk_rule walk_rule_of(const struct arch *arch, const struct unwind_table *table, const struct unwind_rule *from)
{
	struct walk_rule to = {.cfa = WALK_CFA_NONE};
	if (!from)
		return to;
	if (from->is_root)
		return (struct walk_rule){.cfa = from->is_switch ? WALK_CFA_SWITCH_ROOT : WALK_CFA_ROOT};
	if (from->is_switch && from->return_index == UNWIND_NOT_SAVED)
		return (struct walk_rule){.cfa = WALK_CFA_SWITCH_CUT};
	if (from->is_signal)
		return (struct walk_rule){.cfa = WALK_CFA_SIGNAL};
	walk_pool_set_cfa(arch, table, from, &to);
	if (from->return_index != UNWIND_NOT_SAVED &&
		!walk_pool_set_place(
			arch, table, &from->saved[from->return_index], &to.return_place, &to.return_offset))
		to.cfa = WALK_CFA_OTHER;
	if (to.return_place != WALK_IS_AT_CFA && to.return_place != WALK_IS_SAME)
		to.cfa = WALK_CFA_OTHER;
	for (unsigned i = 0; i < from->saved_count; i++)
		if (from->saved[i].number == arch->dwarf_fp &&
			!walk_pool_set_place(arch, table, &from->saved[i], &to.fp_place, &to.fp_offset))
			to.fp_place = WALK_IS_LOST;
		else if (from->saved[i].number == WALK_POOL_RBX && arch->dwarf_link == ARCH_NO_DWARF &&
			 !walk_pool_set_place(arch, table, &from->saved[i], &to.bx_place, &to.bx_offset))
			to.bx_place = WALK_IS_LOST;
	return to.cfa == WALK_CFA_OTHER ? (struct walk_rule){.cfa = WALK_CFA_OTHER} : to;
}

struct walk_pool_build {
	struct walk_pool *pool;
	const struct arch *arch;
	const struct unwind_table *table;
	struct walk_place *place;
	struct walk_chunk *chunk; /* The last chunk of the table. */
	uint32_t rows; /* Number of rows of this table. */
	uint32_t last_rule;
	const struct unwind_rule *known; /* The unwind rule that last_rule was made from. */
	bool has_failed;
};

/* Returns the next unused chunk; NULL if there is no room. */
static struct walk_chunk *walk_pool_next_chunk(struct walk_pool *pool)
{
	uint32_t block = pool->chunks_used / WALK_BLOCK_CHUNKS;
	if (pool->chunks_used == pool->chunk_max || !vec_reserve(&pool->blocks, (size_t)block + 1))
		return NULL;
	if (block == pool->blocks.len) {
		struct walk_chunk *made = pool->grower.grow(pool->grower.context, block);
		if (!made)
			return NULL;
		pool->blocks.items[pool->blocks.len++] = made;
	}
	return &pool->blocks.items[block][pool->chunks_used++ % WALK_BLOCK_CHUNKS];
}

static bool walk_pool_put_row(struct walk_pool_build *b, uint32_t address, uint32_t rule)
{
	if (b->rows % WALK_CHUNK_ROWS == 0) {
		b->chunk = b->place->chunk_count < WALK_CHUNKS_A_TABLE ? walk_pool_next_chunk(b->pool) : NULL;
		if (!b->chunk)
			return false;
		for (unsigned i = 0; i < WALK_CHUNK_ROWS; i++)
			b->chunk->rows[i] = (struct walk_row){WALK_NO_ADDRESS, WALK_NO_RULE};
		b->place->chunk_count++;
	}
	b->chunk->rows[b->rows % WALK_CHUNK_ROWS] = (struct walk_row){address, rule};
	b->rows++;
	return true;
}

static bool walk_pool_take_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct walk_pool_build *b = context;
	uint32_t id = b->last_rule;
	if (b->rows == 0)
		b->place->base = address;
	if (address - b->place->base >= WALK_NO_ADDRESS)
		return true; /* No walk reaches an address so far away. */
	if (b->rows == 0 || rule != b->known) {
		struct walk_rule made = walk_rule_of(b->arch, b->table, rule);
		if (!intern_add(&b->pool->rules, &made, sizeof(made), &id) || id >= b->pool->rule_max)
			id = WALK_NO_RULE;
	}
	b->known = rule;
	if (b->rows > 0 && id == b->last_rule)
		return true;
	b->last_rule = id;
	b->has_failed = !walk_pool_put_row(b, (uint32_t)(address - b->place->base), id);
	return !b->has_failed;
}

bool walk_pool_add(
	struct walk_pool *pool, const struct arch *arch, const struct unwind_table *table, struct walk_place *place)
{
	struct walk_place made = {.chunk = pool->chunks_used};
	struct walk_pool_build build = {.pool = pool, .arch = arch, .table = table, .place = &made};
	unwind_table_each(table, walk_pool_take_row, &build);
	if (build.has_failed || build.rows == 0) {
		pool->chunks_used = made.chunk;
		pool->refused += build.has_failed;
		return false;
	}
	*place = made;
	return true;
}
