/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names.h - looks up the names of a resolver's frames on demand, for views that print samples one by one and
 * cannot wait until symbolise has seen all of them.
 *
 * Owned by the caller; borrows resolver, machine and store. One thread. A binary is loaded at the first look-up of one
 * of its frames.
 *
 *	const struct frame_name *n = frame_names_get(&names, frame, err);  // NULL: out of memory
 */
#ifndef ANALYSIS_FRAME_NAMES_H
#define ANALYSIS_FRAME_NAMES_H

#include "analysis/binary_hits.h"
#include "analysis/bpf_lines.h"
#include "analysis/resolve.h"
#include "base/arena.h"
#include "base/map_u64.h"
#include "code/binary_store.h"

struct frame_name {
	const char *symbol; /* NULL if there is no symbol. */
	uint64_t symbol_offset; /* Distance of the address from the symbol's start. */
	uint64_t symbol_size;
	bool symbol_is_local;
	struct tally_str path; /* Path of the binary as recorded; "[unknown]" if nothing was mapped at the address. */
	struct tally_str shown; /* Short name of the binary. */
	bool has_short_name; /* Script prints `shown` instead of `path` unless paths are requested (kernel modules). */
	uint64_t samples; /* Number of samples that the caller printed with this frame as the innermost one. */
	bool is_kernel;
	/* The address as objdump and addr2line expect it; the run-time address if there is no file. */
	uint64_t link_address;
	const struct source_place *places; /* Set by frame_names_places. */
	size_t place_count;
	bool has_places; /* Whether places were already looked up. */
	struct tally_str *lines; /* For the caller's use: texts that it formats once per frame. */
	uint32_t line_count;
	uint32_t line_form; /* For the caller's use: the options with which lines were formatted. */
};

struct named_binary {
	uint32_t store_id;
	struct tally_str path; /* Path as displayed; its data is NULL until the first look-up. */
};

struct frame_names {
	const struct resolver *resolver;
	const struct machine *machine;
	struct binary_store *store;
	/* Borrowed from the caller, who may set it after frame_names_init; NULL if the lines of BPF programs are not
	 * needed. */
	const struct bpf_lines *bpf_lines;
	VEC(struct frame_name *) names; /* Indexed by the resolver's frame; NULL for frames that were not looked up. */
	VEC(struct named_binary) binaries; /* Indexed by the machine's binary. */
	struct map_u64 readable; /* Maps the address of a function name in the store to its demangled name. */
	struct arena arena;
};

void frame_names_init(struct frame_names *names, const struct resolver *resolver, const struct machine *machine,
	struct binary_store *store);
void frame_names_deinit(struct frame_names *names);
/* Finds the store's entry for one of the machine's binaries and sets *id to it, or to RESOLVE_NONE if there is no
 * file. */
TALLY_MUST_CHECK enum tally_status frame_names_store_id(
	struct frame_names *names, uint32_t binary, uint32_t *id, struct tally_error *err);
/* Returns the name of a frame, which is looked up at the first call and valid until frame_names_deinit; NULL when out
 * of memory. */
struct frame_name *frame_names_get(struct frame_names *names, uint32_t frame, struct tally_error *err);
/* Returns the symbol that contains the frame's address, and its file in the store. NULL if there is no symbol, or if no
 * frame of the file was looked up yet. */
const struct symbol *frame_names_symbol(
	const struct frame_names *names, const struct resolved_frame *frame, uint32_t *store_id);
/* Returns the name of the kernel function at *address and sets *address to its start. For a function of a module, also
 * sets *module to the module's name in brackets; otherwise leaves *module unchanged. Returns NULL if no function is
 * known. resolver must be the one that was passed to frame_names_init. */
const char *frame_names_kernel(struct frame_names *names, struct resolver *resolver, const struct resolve_where *where,
	uint64_t *address, const char **module);
/* Finds the source places of the calls inlined at the frame's address, innermost first, and of the function that
 * contains them. Debug information is read at the first request. Returns false when out of memory. */
bool frame_names_places(struct frame_names *names, uint32_t frame, struct frame_name *name);
/* Appends the source line of the innermost call of a frame, after frame_names_places: "file.c:12", or "function+4",
 * "program[1234]". */
void frame_name_line_text(const struct frame_name *name, bool with_whole_path, struct text *t);
/* Fills hits, which must be empty, with the files of the frames that were looked up and the samples that the caller
 * counted. */
TALLY_MUST_CHECK enum tally_status frame_names_hits(
	const struct frame_names *names, struct binary_hits *hits, struct tally_error *err);

#endif
