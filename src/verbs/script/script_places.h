/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_places.h - prints addresses of samples in the form of `perf script`: name, offset, file, source line; and call
 * chains.
 *
 * It borrows its arguments. Text that depends only on a frame is made once. One thread.
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
	const struct arch *arch; /* NULL: unknown */
	bool full_kernel_path, full_source_path;
	bool no_inline;
	const char *stop_symbols; /* call chains end behind these: names with commas; NULL: none */
	struct script_line *lines; /* of script_places_init */
	struct text scratch; /* for one line */
	struct resolve_where now; /* of the sample that is printed */
};

struct script_place { /* an address, named */
	struct frame_name *name;
	uint64_t ip;
	uint64_t offset; /* in its file, in the kernel's image; the address where nothing is */
	bool has_offset; /* worth printing with FIELD_DSOFF */
	uint32_t frame;
};

/* Before the first chain. False: out of memory; so for all of these. Deinit is harmless without it. */
bool script_places_init(struct script_places *places);
void script_places_deinit(struct script_places *places);
bool script_place_find(struct script_places *places, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_place *place);
/* The mode of an address that comes without one. */
unsigned script_cpumode_of(const struct script_places *places, uint64_t ip);
/* The mode of the accessed data: the kernel also accesses data of programs. */
unsigned script_data_cpumode(const struct script_places *places, unsigned cpumode, uint64_t address);

/* A tracepoint_symbol for addresses in the kernel: context is the places. */
const char *script_kernel_symbol(void *context, uint64_t *address, const char **module);

/* Sixteen digits wide. */
void script_print_address(struct text *t, uint64_t address);
/* "(path)", "(path+0x12)" with FIELD_DSOFF. */
void script_print_dso(
	const struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* " name+0x1f (path)", the parts that fields request. */
void script_print_name(
	const struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* " address name (path)" and the source line below: of a sample without call chain. */
bool script_print_leaf(struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* "\taddress name (path)\n": a line of a call chain, behind those of what was inlined there. */
bool script_print_frame(
	struct script_places *places, struct text *t, const struct script_place *place, uint64_t fields);
/* A line end, and a line for each frame. */
bool script_print_chain(struct script_places *places, struct text *t, const struct resolve_where *where,
	const struct sample_array *chain, uint64_t fields);

#endif
