/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/operation_decode.h"

#define STACK_POINTER 31

/* Returns the number of a 64-bit register; OPERATION_NO_REGISTER for none, the lower half of one, and the zero
 * register. */
static uint8_t operation_arm64_number_of(unsigned reg)
{
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return (uint8_t)(reg - ARM64_REG_X0);
	if (reg == ARM64_REG_X29)
		return 29;
	if (reg == ARM64_REG_X30)
		return 30;
	return reg == ARM64_REG_SP ? STACK_POINTER : OPERATION_NO_REGISTER;
}

/* Returns the number of the register that reg is, or is the lower half of. */
static uint8_t holder_of(unsigned reg)
{
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return (uint8_t)(reg - ARM64_REG_W0);
	return operation_arm64_number_of(reg);
}

static uint8_t operation_arm64_whole(const cs_arm64_op *operand)
{
	return operand->type == ARM64_OP_REG ? operation_arm64_number_of(operand->reg) : OPERATION_NO_REGISTER;
}

/* at is the index of the memory operand. An immediate after it is added to the base register after the access. */
static void operation_arm64_set_memory(const cs_insn *insn, unsigned at, struct operation *to)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *operand = &arm->operands[at];
	struct operation_memory *memory = &to->memory;
	memory->is_there = true;
	memory->base = operation_arm64_number_of(operand->mem.base);
	memory->index = holder_of(operand->mem.index);
	memory->offset = operand->mem.disp;
	memory->is_address_only = insn->id == ARM64_INS_PRFM || insn->id == ARM64_INS_PRFUM;
	if (!arm->writeback)
		return;
	bool is_after = at + 1 < arm->op_count && arm->operands[at + 1].type == ARM64_OP_IMM;
	to->step = is_after ? arm->operands[at + 1].imm : operand->mem.disp;
}

static void set_accesses(const cs_arm64 *arm, unsigned id, struct operation *to)
{
	bool is_load = id == ARM64_INS_LDR || id == ARM64_INS_LDUR || id == ARM64_INS_LDP;
	bool is_store = id == ARM64_INS_STR || id == ARM64_INS_STUR || id == ARM64_INS_STP;
	bool is_pair = id == ARM64_INS_LDP || id == ARM64_INS_STP;
	uint8_t first = operation_arm64_whole(&arm->operands[0]);
	if (!to->memory.is_there || (!is_load && !is_store) || first == OPERATION_NO_REGISTER)
		return;
	to->kind = is_load ? OPERATION_LOAD : OPERATION_STORE;
	*(is_load ? &to->to : &to->from) = first;
	if (is_pair && arm->op_count > 1)
		to->second = operation_arm64_whole(&arm->operands[1]);
	to->memory.bytes = is_pair ? 16 : 8;
}

static void operation_arm64_set_sums(const cs_arm64 *arm, unsigned id, struct operation *to)
{
	const cs_arm64_op *source = &arm->operands[1], *last = &arm->operands[2];
	uint8_t target = operation_arm64_whole(&arm->operands[0]);
	if (target == OPERATION_NO_REGISTER || arm->op_count < 2 || to->kind != OPERATION_OTHER)
		return;
	if (id == ARM64_INS_ADRP || id == ARM64_INS_ADR) {
		to->kind = OPERATION_CONSTANT;
		to->constant = source->imm;
	} else if (id == ARM64_INS_MOV && operation_arm64_whole(source) != OPERATION_NO_REGISTER) {
		to->kind = OPERATION_COPY;
		to->from = operation_arm64_whole(source);
	} else if ((id == ARM64_INS_ADD || id == ARM64_INS_SUB) && arm->op_count == 3 &&
		   operation_arm64_whole(source) != OPERATION_NO_REGISTER) {
		int64_t by = last->type == ARM64_OP_IMM ? (int64_t)((uint64_t)last->imm << last->shift.value) : 0;
		to->from = operation_arm64_whole(source);
		to->second = holder_of(last->type == ARM64_OP_REG ? last->reg : 0);
		to->constant = id == ARM64_INS_ADD ? by : -by;
		if (last->type == ARM64_OP_IMM)
			to->kind = OPERATION_ADD_CONSTANT;
		else if (id == ARM64_INS_ADD)
			to->kind = OPERATION_ADD_REGISTER;
	}
	if (to->kind != OPERATION_OTHER)
		to->to = target;
}

static void operation_arm64_set_flow(csh handle, const cs_insn *insn, struct operation *to)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	if (insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR)
		to->kind = OPERATION_CALL;
	else if (insn->id == ARM64_INS_RET)
		to->kind = OPERATION_RETURN;
	else if (cs_insn_group(handle, insn, CS_GRP_JUMP))
		to->kind = OPERATION_JUMP;
	else
		return;
	bool is_always = insn->id == ARM64_INS_BR ||
			 (insn->id == ARM64_INS_B && (arm->cc == ARM64_CC_INVALID || arm->cc == ARM64_CC_AL));
	to->goes_on = to->kind == OPERATION_CALL || (to->kind == OPERATION_JUMP && !is_always);
	const cs_arm64_op *last = arm->op_count ? &arm->operands[arm->op_count - 1] : NULL;
	if (last && last->type == ARM64_OP_IMM) {
		to->has_target = true;
		to->target = (uint64_t)last->imm;
	}
}

void operation_decode_arm64(csh handle, const cs_insn *insn, struct operation *to)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	cs_regs read, written;
	uint8_t read_count, written_count;
	for (unsigned i = 0; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM64_OP_MEM)
			operation_arm64_set_memory(insn, i, to);
	if (arm->op_count > 0) {
		set_accesses(arm, insn->id, to);
		operation_arm64_set_sums(arm, insn->id, to);
	}
	operation_arm64_set_flow(handle, insn, to);
	if (cs_regs_access(handle, insn, read, &read_count, written, &written_count) != CS_ERR_OK)
		return;
	for (unsigned i = 0; i < written_count; i++)
		if (holder_of(written[i]) != OPERATION_NO_REGISTER)
			to->written |= UINT64_C(1) << holder_of(written[i]);
}
