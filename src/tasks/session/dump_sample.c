/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/dump_sample.h"

#include "abi/branch.h"
#include "base/array.h"
#include "tasks/session/script_values.h"

static void dump_sample_print_hex(struct text *t, const char *label, uint64_t v)
{
	text_str(t, label);
	text_str(t, "0x");
	text_hex(t, v, 0);
	text_char(t, '\n');
}

/* Prints "..... 12: 0000000000401234". */
static void print_numbered(struct text *t, uint64_t number, uint64_t address)
{
	text_str(t, "..... ");
	text_u64_right(t, number, 2);
	text_str(t, ": ");
	text_hex(t, address, 16);
}

static void dump_sample_print_address(struct text *t, uint64_t number, uint64_t address)
{
	print_numbered(t, number, address);
	text_char(t, '\n');
}

static void dump_sample_print_count(struct text *t, const char *label, uint64_t count)
{
	text_str(t, label);
	text_u64(t, count);
	text_char(t, '\n');
}

/* Prints a call stack that the CPU has recorded as branches: the target of the newest branch, followed by the sources
 * of all branches. */
static void print_callstack(struct text *t, const struct sample *sample, uint64_t number)
{
	for (uint32_t i = 0; i < sample_branch_count(sample); i++) {
		struct sample_branch branch = sample_branch_at(sample, i);
		if (i == 0)
			dump_sample_print_address(t, number++, branch.to);
		dump_sample_print_address(t, number++, branch.from);
	}
}

static uint64_t chain_at(const struct sample *sample, uint32_t index)
{
	return sample_u64_at(sample->callchain.data, index, sample->swap);
}

/* Prints the call chain that consists of the kernel's frames and of the call stack that the CPU recorded as branches
 * (LBR). */
static void print_lbr_chain(struct text *t, const struct sample *sample)
{
	uint32_t kernel = 0;
	while (kernel < sample->callchain.count && chain_at(sample, kernel) != CONTEXT_USER)
		kernel++;
	if (kernel == sample->callchain.count || sample_branch_count(sample) == 0)
		return;
	dump_sample_print_count(t, "... LBR call chain: nr:", (uint64_t)kernel + 2 + sample_branch_count(sample));
	for (uint32_t i = 0; i <= kernel; i++)
		dump_sample_print_address(t, i, chain_at(sample, i));
	print_callstack(t, sample, (uint64_t)kernel + 1);
}

static void dump_sample_print_chain(struct text *t, const struct sample *sample, bool is_callstack)
{
	if (is_callstack)
		print_lbr_chain(t, sample);
	dump_sample_print_count(t, "... FP chain: nr:", sample->callchain.count);
	for (uint32_t i = 0; i < sample->callchain.count; i++)
		dump_sample_print_address(t, i, chain_at(sample, i));
}

static void dump_sample_print_branches(struct text *t, const struct sample *sample, bool is_callstack)
{
	uint32_t count = sample_branch_count(sample);
	if (is_callstack) {
		dump_sample_print_count(t, "... branch callstack: nr:", (uint64_t)count + 1);
		print_callstack(t, sample, 0);
		return;
	}
	dump_sample_print_count(t, "... branch stack: nr:", count);
	for (uint32_t i = 0; i < count; i++) {
		struct sample_branch branch = sample_branch_at(sample, i);
		print_numbered(t, i, branch.from);
		text_str(t, " -> ");
		text_hex(t, branch.to, 16);
		text_char(t, ' ');
		text_i64(t, (int16_t)branch.cycles);
		text_str(t, " cycles ");
		text_char(t, branch.is_mispredicted ? 'M' : ' ');
		text_char(t, branch.is_predicted ? 'P' : ' ');
		text_char(t, branch.is_abort ? 'A' : ' ');
		text_char(t, branch.in_transaction ? 'T' : ' ');
		text_str(t, " 0 ");
		sample_branch_type_print(t, &branch);
		text_char(t, '\n');
	}
}

static void print_registers(struct text *t, const char *kind, const struct sample_regs *regs,
	const struct sample *sample, const struct arch *arch)
{
	static const char *const abis[] = {"none", "32-bit", "64-bit"};
	if (regs->abi == 0)
		return;
	text_str(t, "... ");
	text_str(t, kind);
	text_str(t, " regs: mask 0x");
	text_hex(t, regs->mask, 0);
	text_str(t, " ABI ");
	text_str(t, regs->abi < ARRAY_LEN(abis) ? abis[regs->abi] : "unknown");
	text_char(t, '\n');
	uint64_t mask = regs->mask;
	for (uint32_t i = 0; i < regs->values.count && mask; i++, mask &= mask - 1) {
		uint32_t number = (uint32_t)__builtin_ctzll(mask);
		const char *name = arch ? arch_register_name(arch, number) : NULL;
		text_str(t, ".... ");
		if (name)
			text_str_left(t, str_from(name), 5);
		else
			text_printf(t, "%-5u", number);
		text_str(t, " 0x");
		text_hex(t, sample_u64_at(regs->values.data, i, sample->swap), 16);
		text_char(t, '\n');
	}
}

static void print_stack(struct text *t, const struct record *record, const struct sample *sample)
{
	text_str(t, "... ustack: size ");
	text_u64(t, sample->stack_user.dyn_size);
	text_str(t, ", offset ");
	uint64_t offset = 0;
	if (sample->stack_user.bytes.data) /* The word before the stack is its size. */
		offset = (uint64_t)(sample->stack_user.bytes.data - record->bytes.data) - sizeof(uint64_t);
	if (offset)
		text_str(t, "0x");
	text_hex(t, offset, 0);
	text_char(t, '\n');
}

static void dump_sample_print_read(struct text *t, const struct sample *sample)
{
	const struct read_values *read = &sample->read;
	bool is_group = (read->format & READ_FORMAT_GROUP) != 0;
	text_str(t, "... sample_read:\n");
	if (read->format & READ_FORMAT_TOTAL_TIME_ENABLED)
		text_printf(t, "...... time enabled %016llx\n", (unsigned long long)read->time_enabled);
	if (read->format & READ_FORMAT_TOTAL_TIME_RUNNING)
		text_printf(t, "...... time running %016llx\n", (unsigned long long)read->time_running);
	if (is_group)
		text_printf(t, ".... group nr %llu\n", (unsigned long long)read->count);
	for (uint64_t i = 0; i < read->count; i++) {
		struct read_value value = read_value_get(read, i);
		text_printf(t, "..... id %016llx, value %016llx",
			(unsigned long long)(read->format & READ_FORMAT_ID ? value.id : sample->id),
			(unsigned long long)value.value);
		if (read->format & READ_FORMAT_LOST)
			text_printf(t, ", lost %llu", (unsigned long long)value.lost);
		text_char(t, '\n');
	}
}

/* Prints the memory access that the sample describes. */
static void dump_sample_print_access(struct text *t, const struct sample *sample)
{
	uint64_t present = sample->present;
	if (present & SAMPLE_WEIGHT_STRUCT)
		text_printf(t, "... weight: %u,0x%x,0x%x\n", (uint32_t)sample->weight,
			(unsigned)(sample->weight >> 32 & 0xffff), (unsigned)(sample->weight >> 48));
	else if (present & SAMPLE_WEIGHT)
		text_printf(t, "... weight: %llu\n", (unsigned long long)sample->weight);
	if (present & SAMPLE_DATA_SRC)
		dump_sample_print_hex(t, " . data_src: ", sample->data_src);
	if (present & SAMPLE_PHYS_ADDR)
		dump_sample_print_hex(t, " .. phys_addr: ", sample->phys_addr);
	if (present & SAMPLE_DATA_PAGE_SIZE) {
		text_str(t, " .. data page size: ");
		script_print_page_size(t, sample->data_page_size);
		text_char(t, '\n');
	}
	if (present & SAMPLE_CODE_PAGE_SIZE) {
		text_str(t, " .. code page size: ");
		script_print_page_size(t, sample->code_page_size);
		text_char(t, '\n');
	}
	if (present & SAMPLE_TRANSACTION) {
		text_str(t, "... transaction: ");
		text_hex(t, sample->transaction, 0);
		text_char(t, '\n');
	}
}

void dump_sample(struct text *t, const struct record_layout *layout, const struct record *record,
	const struct sample *sample, const struct arch *arch)
{
	bool is_callstack = (layout->branch_sample_type & BRANCH_CALL_STACK) != 0;
	uint64_t present = sample->present;
	text_printf(t, "(IP, 0x%x): %d/%d: ", record->misc, (int32_t)sample->pid, (int32_t)sample->tid);
	text_str(t, sample->ip ? "0x" : "");
	text_hex(t, sample->ip, 0);
	text_str(t, " period: ");
	text_u64(t, sample->period);
	text_str(t, sample->addr ? " addr: 0x" : " addr: ");
	text_hex(t, sample->addr, 0);
	text_char(t, '\n');
	if (present & SAMPLE_CALLCHAIN)
		dump_sample_print_chain(t, sample, is_callstack);
	if (present & SAMPLE_BRANCH_STACK)
		dump_sample_print_branches(t, sample, is_callstack);
	if (present & SAMPLE_REGS_USER)
		print_registers(t, "user", &sample->regs_user, sample, arch);
	if (present & SAMPLE_REGS_INTR)
		print_registers(t, "intr", &sample->regs_intr, sample, arch);
	if (present & SAMPLE_STACK_USER)
		print_stack(t, record, sample);
	dump_sample_print_access(t, sample);
	if (present & SAMPLE_READ)
		dump_sample_print_read(t, sample);
}
