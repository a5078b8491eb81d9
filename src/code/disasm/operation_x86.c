/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/operation_decode.h"

/* Indexes are DWARF register numbers (System V ABI, AMD64 supplement, figure 3.36). */
static const struct {
	uint8_t first[5]; /* Capstone's registers for 64, 32, 16 and 8 bits, and the high byte (0 if none). */
} names[16] = {
	[0] = {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH}},
	[1] = {{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH}},
	[2] = {{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH}},
	[3] = {{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH}},
	[4] = {{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0}},
	[5] = {{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0}},
	[6] = {{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0}},
	[7] = {{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0}},
	[8] = {{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0}},
	[9] = {{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0}},
	[10] = {{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0}},
	[11] = {{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0}},
	[12] = {{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0}},
	[13] = {{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0}},
	[14] = {{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0}},
	[15] = {{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0}},
};

static uint8_t operation_x86_number_of(unsigned reg)
{
	for (unsigned i = 0; reg && i < 16; i++)
		for (unsigned width = 0; width < 5; width++)
			if (names[i].first[width] == reg)
				return (uint8_t)i;
	return OPERATION_NO_REGISTER;
}

/* Returns OPERATION_NO_REGISTER unless the operand is a whole 64-bit register. */
static uint8_t operation_x86_whole(const cs_x86_op *operand)
{
	return operand->type == X86_OP_REG && operand->size == 8 ? operation_x86_number_of(operand->reg)
								 : OPERATION_NO_REGISTER;
}

static void operation_x86_set_memory(const cs_insn *insn, const cs_x86_op *operand, struct operation *to)
{
	struct operation_memory *memory = &to->memory;
	memory->is_there = true;
	memory->bytes = operand->size;
	memory->base = operation_x86_number_of(operand->mem.base);
	memory->index = operation_x86_number_of(operand->mem.index);
	memory->offset = operand->mem.disp;
	memory->is_in_segment = operand->mem.segment == X86_REG_FS || operand->mem.segment == X86_REG_GS;
	memory->is_absolute = operand->mem.base == X86_REG_RIP || operand->mem.base == X86_REG_INVALID;
	if (memory->is_absolute)
		memory->address = (uint64_t)operand->mem.disp;
	if (operand->mem.base == X86_REG_RIP)
		memory->address += insn->address + insn->size;
}

static void set_moves(const cs_x86 *x86, unsigned id, struct operation *to)
{
	const cs_x86_op *first = &x86->operands[0], *last = &x86->operands[1];
	uint8_t target = operation_x86_whole(first);
	if (id == X86_INS_MOV && first->type == X86_OP_REG && last->type == X86_OP_IMM) {
		to->kind = OPERATION_CONSTANT;
		to->to = operation_x86_number_of(first->reg);
		to->constant = first->size == 4 ? (int64_t)(uint32_t)last->imm : last->imm;
	} else if ((id == X86_INS_MOV || id == X86_INS_MOVABS) && last->type == X86_OP_MEM &&
		   target != OPERATION_NO_REGISTER) {
		to->kind = OPERATION_LOAD;
		to->to = target;
	} else if (id == X86_INS_MOV && first->type == X86_OP_MEM &&
		   operation_x86_whole(last) != OPERATION_NO_REGISTER) {
		to->kind = OPERATION_STORE;
		to->from = operation_x86_whole(last);
	} else if (id == X86_INS_MOV && target != OPERATION_NO_REGISTER &&
		   operation_x86_whole(last) != OPERATION_NO_REGISTER) {
		to->kind = OPERATION_COPY;
		to->to = target;
		to->from = operation_x86_whole(last);
	} else if (id == X86_INS_LEA && target != OPERATION_NO_REGISTER) {
		to->kind = OPERATION_ADDRESS;
		to->to = target;
	}
}

static void operation_x86_set_sums(const cs_x86 *x86, unsigned id, struct operation *to)
{
	const cs_x86_op *first = &x86->operands[0], *last = &x86->operands[1];
	uint8_t target = operation_x86_whole(first);
	if (target == OPERATION_NO_REGISTER)
		return;
	if ((id == X86_INS_ADD || id == X86_INS_SUB) && last->type == X86_OP_IMM) {
		to->kind = OPERATION_ADD_CONSTANT;
		to->constant = id == X86_INS_ADD ? last->imm : (int64_t)(0 - (uint64_t)last->imm);
	} else if (id == X86_INS_ADD && operation_x86_whole(last) != OPERATION_NO_REGISTER) {
		to->kind = OPERATION_ADD_REGISTER;
		to->second = operation_x86_whole(last);
	} else if (id == X86_INS_INC || id == X86_INS_DEC) {
		to->kind = OPERATION_ADD_CONSTANT;
		to->constant = id == X86_INS_INC ? 1 : -1;
	} else {
		return;
	}
	to->to = to->from = target;
}

static void operation_x86_set_flow(csh handle, const cs_insn *insn, struct operation *to)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool is_call = cs_insn_group(handle, insn, CS_GRP_CALL), is_jump = cs_insn_group(handle, insn, CS_GRP_JUMP);
	if (cs_insn_group(handle, insn, CS_GRP_RET) || cs_insn_group(handle, insn, CS_GRP_IRET)) {
		to->kind = OPERATION_RETURN;
		to->is_stack = true;
	} else if (is_call) {
		to->kind = OPERATION_CALL;
		to->is_stack = true;
	} else if (is_jump) {
		to->kind = OPERATION_JUMP;
	}
	to->goes_on = to->kind != OPERATION_RETURN && insn->id != X86_INS_JMP && insn->id != X86_INS_LJMP &&
		      insn->id != X86_INS_UD2 && insn->id != X86_INS_HLT;
	if ((is_call || is_jump) && x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM) {
		to->has_target = true;
		to->target = (uint64_t)x86->operands[0].imm;
	}
}

static void set_stack(const cs_insn *insn, struct operation *to)
{
	const cs_x86 *x86 = &insn->detail->x86;
	switch (insn->id) {
	case X86_INS_PUSH:
		to->kind = OPERATION_PUSH;
		to->from = operation_x86_whole(&x86->operands[0]);
		break;
	case X86_INS_POP:
		to->kind = OPERATION_POP;
		to->to = operation_x86_whole(&x86->operands[0]);
		break;
	case X86_INS_LEAVE:
		to->kind = OPERATION_LEAVE;
		break;
	default:
		return;
	}
	to->is_stack = true;
}

static enum operation_fusing fusing_of(const cs_insn *insn)
{
	if (insn->detail->x86.prefix[0] == X86_PREFIX_LOCK)
		return OPERATION_FUSES_NEVER;
	switch (insn->id) {
	case X86_INS_CMP:
	case X86_INS_TEST:
		return OPERATION_FUSES_COMPARE;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	/* The CPU does not fuse these, but their samples arrive as late, and perf handles them in the same way. */
	case X86_INS_ADDSD:
	case X86_INS_ADDSS:
	case X86_INS_ADDPD:
	case X86_INS_ADDPS:
	case X86_INS_SUBSD:
	case X86_INS_SUBSS:
	case X86_INS_SUBPD:
	case X86_INS_SUBPS:
		return OPERATION_FUSES_SUM;
	case X86_INS_INC:
	case X86_INS_DEC:
		return OPERATION_FUSES_STEP;
	case X86_INS_OR:
	case X86_INS_XOR:
		return OPERATION_FUSES_LOGIC;
	default:
		return OPERATION_FUSES_NEVER;
	}
}

void operation_decode_x86(csh handle, const cs_insn *insn, struct operation *to)
{
	const cs_x86 *x86 = &insn->detail->x86;
	cs_regs read, written;
	uint8_t read_count, written_count;
	for (unsigned i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM)
			operation_x86_set_memory(insn, &x86->operands[i], to);
	to->memory.is_address_only = insn->id == X86_INS_LEA || insn->id == X86_INS_NOP ||
				     insn->id == X86_INS_PREFETCHT0 || insn->id == X86_INS_PREFETCHT1 ||
				     insn->id == X86_INS_PREFETCHT2 || insn->id == X86_INS_PREFETCHNTA ||
				     insn->id == X86_INS_PREFETCHW || insn->id == X86_INS_PREFETCH;
	to->fusing = fusing_of(insn);
	operation_x86_set_flow(handle, insn, to);
	if (x86->op_count == 2) {
		set_moves(x86, insn->id, to);
		operation_x86_set_sums(x86, insn->id, to);
	} else if (x86->op_count == 1) {
		operation_x86_set_sums(x86, insn->id, to);
	}
	set_stack(insn, to);
	if (cs_regs_access(handle, insn, read, &read_count, written, &written_count) != CS_ERR_OK)
		return;
	for (unsigned i = 0; i < written_count; i++)
		if (operation_x86_number_of(written[i]) != OPERATION_NO_REGISTER)
			to->written |= UINT64_C(1) << operation_x86_number_of(written[i]);
}
