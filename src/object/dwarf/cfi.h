/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h - reads call-frame information (.eh_frame, .debug_frame): how to find the caller's frame and registers for the
 * code at an address. Versions 1, 3 and 4, the pointer encodings of .eh_frame, and any CFA rule are supported.
 *
 * A table borrows the section; the caller owns the table (cfi_deinit). After cfi_open it is not changed, and any thread
 * may use it. Addresses are link-time addresses. Register numbers are those of DWARF.
 *
 * Bad input: a damaged entry is skipped and counted; a CFA program that cannot be executed completely ends at its last
 * valid row.
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

/* Covers the general registers of every architecture; others (vectors) are not needed to find frames. */
#define CFI_REGISTERS 40

enum cfi_rule_kind {
	CFI_UNSET, /* No rule: the architecture's convention applies, usually the same value. */
	CFI_UNDEFINED, /* The value is lost; for the return address, there is no caller. */
	CFI_SAME,
	CFI_AT_OFFSET, /* Saved at address CFA + value. */
	CFI_IS_OFFSET, /* The value is CFA + value. */
	CFI_REGISTER, /* Stored in another register. */
	CFI_AT_EXPRESSION, /* Saved at the address that the expression computes. */
	CFI_IS_EXPRESSION
};

struct cfi_rule {
	uint8_t kind;
	int64_t value; /* Offset, register, or position of the expression in the section. */
	uint32_t size; /* Size of the expression in bytes. */
};

struct cfi_row {
	uint64_t low, high; /* Range of code for which the row is valid. */
	bool cfa_is_expression;
	uint32_t cfa_register;
	struct cfi_rule cfa; /* value is the offset from cfa_register, or the expression. */
	struct cfi_rule registers[CFI_REGISTERS];
	bool is_return_signed; /* aarch64: the return address has a pointer authentication code. */
};

struct cfi_section {
	struct tally_bytes bytes;
	uint64_t address; /* Address of the section, from which pc-relative pointers are computed. */
	uint64_t data_address; /* Address of .got or .eh_frame_hdr; 0 if unknown. */
	uint64_t text_address;
	bool is_eh;
	bool ends_at_zero; /* The entries end at the terminating entry, not at the end of bytes. */
	bool swap;
	uint8_t address_size;
};

struct cfi_fde {
	uint64_t low, high;
	uint64_t offset; /* Offset of the entry in the section. */
};

struct cfi_table {
	struct cfi_section section;
	VEC(struct cfi_fde) fdes; /* Sorted by low. */
	uint64_t damaged;
};

/* Properties that all code of an entry shares. */
struct cfi_frame {
	uint32_t return_register;
	/* The frame is a signal trampoline ('S' in the CIE's augmentation): its caller was interrupted, so that the
	 * caller's pc is exact. */
	bool is_signal;
};

/* Lists the entries of a section. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status cfi_open(
	struct cfi_table *table, const struct cfi_section *section, struct tally_error *err);
void cfi_deinit(struct cfi_table *table);
/* Reads the entry at an offset in the section, for a table that has only its section set, without reading all entries.
 * Returns false if it is damaged. */
bool cfi_fde_at(const struct cfi_table *table, uint64_t offset, struct cfi_fde *fde);
/* Computes the row for pc, which is inside the entry. Returns false if the CFA program cannot be executed up to
 * there. */
bool cfi_row_at(const struct cfi_table *table, const struct cfi_fde *fde, uint64_t pc, struct cfi_row *row,
	struct cfi_frame *frame);
enum cfi_caller {
	CFI_CALLER_UNKNOWN, /* The entry is damaged, or is for other code. */
	CFI_HAS_CALLER,
	CFI_HAS_NO_CALLER
};
/* Determines from the entry at an offset in the section whether the code at pc has a caller. Reads no other entry, and
 * needs no table. *whole becomes the entry if all of its code has callers; otherwise zeros. */
enum cfi_caller cfi_caller_at(const struct cfi_section *section, uint64_t offset, uint64_t pc, struct cfi_fde *whole);
/* Passes the rows of an entry to take, sorted by address; the CIE is read once for consecutive entries that share
 * it. */
struct cfi_walk {
	const struct cfi_table *table;
	struct cfi_cie *cie; /* The last CIE that was read. */
	/* Returns false to stop. */
	bool (*take)(void *context, const struct cfi_row *row, const struct cfi_frame *frame);
	void *context;
};
/* Starts a walk; the caller must end it with cfi_walk_deinit. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status cfi_walk_init(
	struct cfi_walk *walk, const struct cfi_table *table, struct tally_error *err);
void cfi_walk_deinit(struct cfi_walk *walk);
/* Passes the rows of one entry. Returns false if the CFA program cannot be executed to its end; the rows before that
 * have been passed. */
bool cfi_walk_entry(struct cfi_walk *walk, const struct cfi_fde *fde);
/* Returns the bytes of a rule's expression. */
struct tally_bytes cfi_expression(const struct cfi_table *table, const struct cfi_rule *rule);

#endif
