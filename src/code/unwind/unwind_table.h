/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_table.h - stores the call-frame information of one DSO as searchable rows, which say how to find the caller of
 * any code in it; for code of Go programs without such information, the rows come from Go's function table. Each row
 * refers to a rule; equal rules are stored once. unwinder.h applies the rules.
 *
 * The caller owns the table, which is read-only: any thread may use it. It borrows nothing: expressions are copied.
 * Addresses are link-time. Bad input: code with information that cannot be decoded has no rule, and is counted.
 *
 *	unwind_table_create(&(struct unwind_table_source){.sections = s, .section_count = 1}, &table, err);
 *	const struct unwind_rule *rule = unwind_table_find(table, address);
 */
#ifndef CODE_UNWIND_UNWIND_TABLE_H
#define CODE_UNWIND_UNWIND_TABLE_H

#include "arch/arch.h"
#include "object/dwarf/cfi.h"
#include "object/elf/go_frames.h"

#define UNWIND_NOT_SAVED 0xff

/* How a register of the caller is restored. */
struct unwind_saved {
	uint8_t kind; /* enum cfi_rule_kind; never UNSET, and SAME only for the return register. */
	uint8_t number;
	uint8_t zero[6];
	int64_t value; /* Offset, register, or ID of an expression. */
};

struct unwind_rule {
	int64_t cfa; /* Offset from cfa_register, or ID of an expression. */
	uint8_t cfa_register;
	bool cfa_is_expression;
	bool is_plain; /* The CFA is a register plus an offset, and all registers are saved at offsets from it. */
	bool is_signal; /* The caller was interrupted by a signal, so that its pc is exact. */
	uint8_t return_register;
	uint8_t return_index; /* Index in saved; UNWIND_NOT_SAVED if the return address is still in its register. */
	uint8_t saved_count;
	bool is_root; /* The code has no caller. */
	/* The code switches to another stack, so that only its frame pointer leads back to its caller. If the rule does
	 * not lead to the caller (saved is empty, or is_root is set), it is valid only for a frame whose pc is a return
	 * address, because otherwise it is not known on which stack the code runs. */
	bool is_switch;
	struct unwind_saved saved[];
};

/* Code without call-frame information that has a known frame: an entry of the PLT, a trampoline. */
struct unwind_stub {
	uint64_t low, high;
	int64_t cfa_offset; /* Offset of the CFA from the stack pointer. */
	bool is_signal; /* aarch64 signal return: the registers are in the frame that the kernel wrote to the stack. */
};

struct unwind_table_source {
	const struct arch *arch;
	const struct cfi_section *sections; /* The first section that has a rule for an address is used. */
	size_t section_count;
	const struct unwind_stub *stubs; /* Sorted by address; used if no section has a rule. */
	size_t stub_count;
	/* Sorted by address. Frames at which a stack begins or is switched have precedence over the sections; others
	 * are used if no section has a rule. */
	const struct go_frame *go_frames;
	size_t go_frame_count;
};

struct unwind_table_size {
	size_t rows, rules, bytes;
	uint64_t damaged; /* Number of pieces of code without a rule because their information cannot be decoded. */
};

struct unwind_table;

/* Builds a table. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status unwind_table_create(
	const struct unwind_table_source *source, struct unwind_table **table, struct tally_error *err);
void unwind_table_destroy(struct unwind_table *table);
/* Returns the rule for the instruction at address; NULL if there is none. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t address);
/* Passes all rows to take, in the order of addresses. A row is valid up to the address of the next one; rule is NULL if
 * there is none. take returns false to stop. */
void unwind_table_each(const struct unwind_table *table,
	bool (*take)(void *context, uint64_t address, const struct unwind_rule *rule), void *context);
/* Returns the DWARF expression with an ID from a rule; it lives as long as the table. */
struct tally_bytes unwind_table_expression(const struct unwind_table *table, int64_t id);
/* Returns whether the expressions have the other byte order than this host. */
bool unwind_table_is_swapped(const struct unwind_table *table);
struct unwind_table_size unwind_table_size(const struct unwind_table *table);

#endif
