/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_places.h - prints addresses and call chains of samples in the form of `perf script`: symbol, offset, file and
 * source line.
 *
 * Arguments are borrowed. Text that depends only on a frame is cached. Not thread-safe.
 *
 *	struct script_places places = {.machine = m, .resolver = &resolver, .names = &names, .arch = arch};
 *	script_places_init(&places);
 *	script_print_chain(&places, &text, &where, &sample->callchain, fields);
 */
#ifndef VERBS_SCRIPT_SCRIPT_PLACES_H
#define VERBS_SCRIPT_SCRIPT_PLACES_H

#include "analysis/frame_names.h"
#include "arch/arch.h"
#include "verbs/script/script_fields.h"

struct script_line;

struct script_places {
	const struct machine *machine;
	struct resolver *resolver;
	struct frame_names *names;
	const struct arch *arch; /* NULL if unknown. */
	bool full_kernel_path, full_source_path;
	bool no_inline;
	const char *stop_symbols; /* Call chains end after these symbols, separated by commas; NULL for none. */
	struct script_line *lines; /* A cache of printed lines, allocated by script_places_init. */
	struct text scratch; /* Buffer for one line. */
	struct resolve_where now; /* Process and time of the current sample. */
};

struct script_place { /* An address with its names. */
	struct frame_name *name;
	uint64_t ip;
	uint64_t offset; /* Offset in the file or the kernel image; the address itself if nothing is mapped there. */
	bool has_offset; /* Whether FIELD_DSOFF prints the offset for this file. */
	uint32_t frame;
};

/* Must be called before the first chain is printed. All bool functions here return false if out of memory. */
bool script_places_init(struct script_places *places);
/* Has no effect on a zero-initialised structure. */
void script_places_deinit(struct script_places *places);
/* Finds the names of an address. */
bool script_place_find(struct script_places *places, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_place *place);
/* Returns the CPU mode of an address that was recorded without one. */
unsigned script_cpumode_of(const struct script_places *places, uint64_t ip);
/* Returns the CPU mode of accessed data, where cpumode is that of the code: the kernel also accesses data in user
 * space. */
unsigned script_data_cpumode(const struct script_places *places, unsigned cpumode, uint64_t address);

/* A callback of type tracepoint_symbol that names kernel addresses; context is a struct script_places. */
const char *script_kernel_symbol(void *context, uint64_t *address, const char **module);

/* Prints the address in hexadecimal, right-aligned in 16 columns. */
void script_print_address(struct text *t, uint64_t address);
/* Prints "(path)", or "(path+0x12)" with FIELD_DSOFF. */
void script_print_dso(
	const struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* Prints the requested parts of " name+0x1f (path)". */
void script_print_name(
	const struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* Prints " address name (path)", followed by the source line, for a sample without call chain. */
bool script_print_leaf(struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* Prints a line "\taddress name (path)\n" of a call chain, after the lines of the functions inlined there. */
bool script_print_frame(
	struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* Prints a newline, and a line for each frame of the call chain. */
bool script_print_chain(struct script_places *places, struct text *t, const struct resolve_where *where,
	const struct sample_array *chain, uint64_t fields);

#endif
