/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/disassembler.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "code/disasm/capstone_load.h"
#include "code/disasm/capstone_memory.h"
#include "code/disasm/instruction_text.h"
#include "code/disasm/operation_decode.h"

struct disassembler {
	csh handle;
	cs_insn *insn; /* Reused for each instruction. */
	struct disassembler_options options;
	bool is_x86;
	unsigned step; /* Number of bytes to skip if they cannot be decoded. */
};

struct machine_mode {
	unsigned elf_machine;
	cs_arch arch;
	unsigned mode;
	unsigned step;
};

static const struct machine_mode modes[] = {
	{EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1},
	{EM_386, CS_ARCH_X86, CS_MODE_32, 1},
	{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, 4},
	{EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, 4},
	{EM_PPC64, CS_ARCH_PPC, CS_MODE_64, 4},
	{EM_MIPS, CS_ARCH_MIPS, CS_MODE_32, 4},
	{EM_S390, CS_ARCH_SYSZ, (unsigned)CS_MODE_BIG_ENDIAN, 2},
	{EM_SPARCV9, CS_ARCH_SPARC, CS_MODE_V9, 4},
#if CS_API_MAJOR >= 5
	{EM_RISCV, CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC, 2},
#endif
};

static enum tally_status open_handle(struct disassembler *d, struct tally_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct machine_mode *found = NULL;
	enum tally_status status = capstone_load(err);
	if (status != TALLY_OK)
		return status;
	pthread_once(&once, capstone_memory_set);
	if (capstone_memory_ran_out())
		return error_nomem(err);
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (modes[i].elf_machine == d->options.elf_machine)
			found = &modes[i];
	if (!found)
		return error_set(err, TALLY_UNSUPPORTED, "no disassembler for ELF machine %u", d->options.elf_machine);
	unsigned mode = found->mode;
	/* Code of aarch64 is little-endian even if its data is big-endian. */
	d->options.is_big_endian &= d->options.elf_machine != EM_AARCH64;
	if (d->options.is_big_endian)
		mode |= (unsigned)CS_MODE_BIG_ENDIAN;
	if (cs_open(found->arch, (cs_mode)mode, &d->handle) != CS_ERR_OK)
		return error_set(
			err, TALLY_UNSUPPORTED, "this build's capstone has no ELF machine %u", d->options.elf_machine);
	d->is_x86 = found->arch == CS_ARCH_X86;
	d->step = found->step;
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (d->is_x86)
		cs_option(d->handle, CS_OPT_SYNTAX, d->options.is_intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	d->insn = cs_malloc(d->handle);
	return d->insn && !capstone_memory_ran_out() ? TALLY_OK : error_nomem(err);
}

enum tally_status disassembler_create(
	const struct disassembler_options *options, struct disassembler **out, struct tally_error *err)
{
	struct disassembler *d = calloc(1, sizeof(*d));
	if (!d)
		return error_nomem(err);
	d->options = *options;
	enum tally_status status = open_handle(d, err);
	if (status != TALLY_OK) {
		disassembler_destroy(d);
		return status;
	}
	*out = d;
	return TALLY_OK;
}

void disassembler_destroy(struct disassembler *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->handle)
		cs_close(&d->handle);
	free(d);
}

unsigned disassembler_mnemonic_width(const struct disassembler *d)
{
	return d->is_x86 ? 6 : 0;
}

static uint32_t load_word(const struct disassembler *d, struct tally_bytes bytes, unsigned size)
{
	uint32_t word = 0;
	for (unsigned i = 0; i < size; i++)
		word |= (uint32_t)bytes.data[i] << 8 * (d->options.is_big_endian ? size - 1 - i : i);
	return word;
}

static void set_bad(const struct disassembler *d, struct tally_bytes bytes, struct instruction *to)
{
	to->kind = INSTRUCTION_BAD;
	to->size = bytes.len < d->step ? (unsigned)bytes.len : d->step;
	if (d->is_x86) {
		snprintf(to->mnemonic, sizeof(to->mnemonic), "(bad)");
		return;
	}
	uint32_t word = load_word(d, bytes, to->size);
	snprintf(to->mnemonic, sizeof(to->mnemonic), to->size == 2 ? ".short" : ".inst");
	snprintf(to->operands, sizeof(to->operands), "0x%0*x", (int)to->size * 2, word);
}

static enum instruction_kind disassembler_kind_of(const struct disassembler *d, const cs_insn *insn)
{
	bool is_arm64 = d->options.elf_machine == EM_AARCH64;
	if (is_arm64 && (insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR))
		return INSTRUCTION_CALL;
	if (cs_insn_group(d->handle, insn, CS_GRP_CALL))
		return INSTRUCTION_CALL;
	if (cs_insn_group(d->handle, insn, CS_GRP_RET))
		return INSTRUCTION_RETURN;
	if (cs_insn_group(d->handle, insn, CS_GRP_JUMP))
		return INSTRUCTION_JUMP;
	return INSTRUCTION_OTHER;
}

static bool always_leaves(const struct disassembler *d, const cs_insn *insn, enum instruction_kind kind)
{
	struct operation operation = {.goes_on = true};
	if (kind == INSTRUCTION_OTHER)
		return cs_insn_group(d->handle, insn, CS_GRP_INT) || cs_insn_group(d->handle, insn, CS_GRP_IRET);
	if (kind != INSTRUCTION_JUMP)
		return true;
	if (d->is_x86)
		return insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP;
	if (d->options.elf_machine == EM_AARCH64)
		operation_decode_arm64(d->handle, insn, &operation);
	return !operation.goes_on;
}

/* fwait and a following x87 instruction form one instruction: fwait, fnstsw is fstsw. */
static bool is_waiting(struct tally_bytes bytes)
{
	return bytes.len > 1 && bytes.data[0] == 0x9b && (bytes.data[1] & 0xf8) == 0xd8;
}

/* Returns false if the instruction after fwait cannot be decoded. */
static bool spell_waiting(struct disassembler *d, struct tally_bytes bytes, uint64_t address, struct instruction *to)
{
	struct tally_bytes rest = {bytes.data + 1, bytes.len - 1};
	struct instruction made;
	disassembler_next(d, rest, address + 1, &made);
	if (made.kind == INSTRUCTION_BAD)
		return false;
	made.address = address;
	made.size++;
	if (!strncmp(made.mnemonic, "fn", 2) && strcmp(made.mnemonic, "fnop"))
		memmove(made.mnemonic + 1, made.mnemonic + 2, strlen(made.mnemonic + 2) + 1);
	*to = made;
	return true;
}

void disassembler_next(struct disassembler *d, struct tally_bytes bytes, uint64_t address, struct instruction *to)
{
	const uint8_t *code = bytes.data;
	size_t len = bytes.len;
	uint64_t at = address;
	*to = (struct instruction){.address = address};
	struct x86_style style = {.is_64 = d->options.elf_machine == EM_X86_64, .is_intel = d->options.is_intel};
	if (d->is_x86 && x86_masked_decode(bytes, address, &style, to))
		return;
	if (d->options.elf_machine == EM_AARCH64 && len >= 4 && arm64_atomic_decode(load_word(d, bytes, 4), to))
		return;
	if (d->is_x86 && is_waiting(bytes) && spell_waiting(d, bytes, address, to))
		return;
	if (!cs_disasm_iter(d->handle, &code, &len, &at, d->insn)) {
		set_bad(d, bytes, to);
		return;
	}
	to->size = d->insn->size;
	to->kind = disassembler_kind_of(d, d->insn);
	to->always_leaves = always_leaves(d, d->insn, to->kind);
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s", d->insn->mnemonic);
	snprintf(to->operands, sizeof(to->operands), "%s", d->insn->op_str);
	if (d->is_x86)
		objdump_x86(d->handle, d->insn, bytes, &style, to);
	else if (d->options.elf_machine == EM_AARCH64)
		objdump_arm64(d->handle, d->insn, to);
}

bool disassembler_operation(
	struct disassembler *d, struct tally_bytes bytes, uint64_t address, struct operation *operation)
{
	const uint8_t *code = bytes.data;
	size_t len = bytes.len;
	uint64_t at = address;
	*operation = (struct operation){.size = bytes.len < d->step ? (unsigned)bytes.len : d->step,
		.to = OPERATION_NO_REGISTER,
		.from = OPERATION_NO_REGISTER,
		.second = OPERATION_NO_REGISTER,
		.memory = {.base = OPERATION_NO_REGISTER, .index = OPERATION_NO_REGISTER},
		.goes_on = true};
	if (!cs_disasm_iter(d->handle, &code, &len, &at, d->insn)) {
		/* disassembler_next also knows some instructions that Capstone does not: it finds the size to skip. */
		struct instruction text;
		disassembler_next(d, bytes, address, &text);
		operation->size = text.size;
		return false;
	}
	operation->size = d->insn->size;
	if (d->options.elf_machine == EM_X86_64)
		operation_decode_x86(d->handle, d->insn, operation);
	else if (d->options.elf_machine == EM_AARCH64)
		operation_decode_arm64(d->handle, d->insn, operation);
	else
		return false;
	return true;
}
