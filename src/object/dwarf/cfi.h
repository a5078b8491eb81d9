/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h - reads call-frame information (.eh_frame, .debug_frame): for the code at an address, how to find its caller's
 * frame and registers. Versions 1, 3 and 4, .eh_frame's encodings, any CFA rule.
 *
 * A table borrows the section; the caller owns it (cfi_deinit). After open it is read-only: any thread. Addresses are
 * link-time. Register numbers are DWARF's.
 *
 * Bad input: a damaged entry is skipped and counted; a program that cannot be followed ends at its last good row.
 *
 *	cfi_open(&table, &(struct cfi_section){.bytes = eh_frame, .address = va, .is_eh = true, ...}, err);
 *	for (size_t i = 0; i < table.fdes.len; i++)
 *		if (cfi_row_at(&table, &table.fdes.items[i], pc, &row, &frame)) ...
 */
#ifndef OBJECT_DWARF_CFI_H
#define OBJECT_DWARF_CFI_H

#include <tally/status.h>

#include "base/cursor.h"
#include "base/vec.h"

#define CFI_REGISTERS 40 /* general ones of every architecture; others (vectors) are not needed to find frames */

enum cfi_rule_kind {
	CFI_UNSET, /* no rule: the architecture's convention, usually the same value */
	CFI_UNDEFINED, /* lost; of the return address: there is no caller */
	CFI_SAME,
	CFI_AT_OFFSET, /* saved at CFA + value */
	CFI_IS_OFFSET, /* is CFA + value */
	CFI_REGISTER, /* in another register */
	CFI_AT_EXPRESSION, /* saved where the expression says */
	CFI_IS_EXPRESSION
};

struct cfi_rule {
	uint8_t kind;
	int64_t value; /* offset or register; of an expression its position in the section */
	uint32_t size; /* of an expression, bytes */
};

struct cfi_row {
	uint64_t low, high; /* code for which it is valid */
	bool cfa_is_expression;
	uint32_t cfa_register;
	struct cfi_rule cfa; /* value: offset, or the expression */
	struct cfi_rule registers[CFI_REGISTERS];
	bool is_return_signed; /* aarch64: the return address carries an authentication code */
};

struct cfi_section {
	struct tally_bytes bytes;
	uint64_t address; /* of the section; what pc-relative pointers count from */
	uint64_t data_address; /* of .got or .eh_frame_hdr; 0: unknown */
	uint64_t text_address;
	bool is_eh;
	bool ends_at_zero; /* at the terminating entry, not at the end of bytes */
	bool swap;
	uint8_t address_size;
};

struct cfi_fde {
	uint64_t low, high;
	uint64_t offset; /* of the entry in the section */
};

struct cfi_table {
	struct cfi_section section;
	VEC(struct cfi_fde) fdes; /* by low */
	uint64_t damaged;
};

struct cfi_frame { /* the properties of all code of an entry */
	uint32_t return_register;
	bool is_signal; /* the frame was interrupted, not called: its pc is exact */
};

/* NOMEM only. */
TALLY_MUST_CHECK enum tally_status cfi_open(
	struct cfi_table *table, const struct cfi_section *section, struct tally_error *err);
void cfi_deinit(struct cfi_table *table);
/* The entry at an offset in the section: for a table of which only the section is set, without a search of all entries.
 * False: it is damaged. */
bool cfi_fde_at(const struct cfi_table *table, uint64_t offset, struct cfi_fde *fde);
/* The row of pc, which lies in the entry. False: the entry cannot be followed to there. */
bool cfi_row_at(const struct cfi_table *table, const struct cfi_fde *fde, uint64_t pc, struct cfi_row *row,
	struct cfi_frame *frame);
enum cfi_caller {
	CFI_CALLER_UNKNOWN, /* the entry is damaged or of other code */
	CFI_HAS_CALLER,
	CFI_HAS_NO_CALLER
};
/* What the entry at an offset in the section says about the code at pc. Reads no other entry, and needs no table.
 * whole: the entry, if all of its code has callers; otherwise zeros. */
enum cfi_caller cfi_caller_at(const struct cfi_section *section, uint64_t offset, uint64_t pc, struct cfi_fde *whole);
/* Gives the rows of an entry one after the other, by address; the CIE is read once for entries that share it. */
struct cfi_walk {
	const struct cfi_table *table;
	struct cfi_cie *cie; /* the last one */
	bool (*take)(void *context, const struct cfi_row *row, const struct cfi_frame *frame); /* false: no more */
	void *context;
};
/* NOMEM only. The caller must end the walk. */
TALLY_MUST_CHECK enum tally_status cfi_walk_init(
	struct cfi_walk *walk, const struct cfi_table *table, struct tally_error *err);
void cfi_walk_deinit(struct cfi_walk *walk);
/* False: the entry cannot be followed to its end; the rows before that were given. */
bool cfi_walk_entry(struct cfi_walk *walk, const struct cfi_fde *fde);
/* The bytes of a rule's expression. */
struct tally_bytes cfi_expression(const struct cfi_table *table, const struct cfi_rule *rule);

#endif
