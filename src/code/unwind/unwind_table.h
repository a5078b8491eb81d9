/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_table.h - stores the call-frame information of one DSO as searchable rows, which say how to find the caller of
 * any code in it; for code of Go programs that has none, what Go's function table says. Each row names a rule; equal rules
 * are kept once. Applying the rules is the task of unwinder.h.
 *
 * The caller owns the table; once made it is read-only: any thread. It borrows nothing: expressions are copied.
 * Addresses are link-time. Bad input: code whose information cannot be decoded has no rule, and is counted.
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

struct unwind_saved { /* a register of the caller */
	uint8_t kind; /* enum cfi_rule_kind; UNSET and SAME are not kept */
	uint8_t number;
	uint8_t zero[6];
	int64_t value; /* offset or register; of an expression its id */
};

struct unwind_rule {
	int64_t cfa; /* offset, or the id of an expression */
	uint8_t cfa_register;
	bool cfa_is_expression;
	bool is_plain; /* CFA is a register and an offset, and everything is saved at an offset of it */
	bool is_signal; /* the caller was interrupted, so that its pc is exact */
	uint8_t return_register;
	uint8_t return_index; /* in saved; UNWIND_NOT_SAVED: it is still in its register */
	uint8_t saved_count;
	bool is_root; /* nobody has called it */
	/* It changes to another stack: only its frame pointer leads back to its caller. If it has none (nothing is saved), or
	 * is_root, the rule holds for callers only, not for an innermost frame. */
	bool is_switch;
	struct unwind_saved saved[];
};

struct unwind_stub { /* code without call-frame information whose frame is known: an entry of the PLT, a trampoline */
	uint64_t low, high;
	int64_t cfa_offset; /* from the stack pointer */
	bool is_signal; /* aarch64's return from a signal handler: registers lie in what the kernel put on the stack */
};

struct unwind_table_source {
	const struct arch *arch;
	const struct cfi_section *sections; /* the first that has a rule counts */
	size_t section_count;
	const struct unwind_stub *stubs; /* by address; where no section has a rule */
	size_t stub_count;
	const struct go_frame
		*go_frames; /* by address; where no section has a rule, and where stacks begin or change */
	size_t go_frame_count;
};

struct unwind_table_size {
	size_t rows, rules, bytes;
	uint64_t damaged;
};

struct unwind_table;

/* Only NOMEM fails. */
TALLY_MUST_CHECK enum tally_status unwind_table_create(
	const struct unwind_table_source *source, struct unwind_table **table, struct tally_error *err);
void unwind_table_destroy(struct unwind_table *table);
/* The rule of the instruction at address; NULL: there is none. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t address);
/* Passes all rows to take, in the order of addresses: the rule holds from address to that of the next row; NULL: there
 * is no rule. take returns false to stop. */
void unwind_table_each(const struct unwind_table *table,
	bool (*take)(void *context, uint64_t address, const struct unwind_rule *rule), void *context);
struct tally_bytes unwind_table_expression(const struct unwind_table *table, int64_t id);
/* Byte order of the object's expressions. */
bool unwind_table_is_swapped(const struct unwind_table *table);
struct unwind_table_size unwind_table_size(const struct unwind_table *table);

#endif
