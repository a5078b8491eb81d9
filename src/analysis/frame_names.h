/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names.h - looks up the names of a resolver's frames on demand, for views that print samples one by one and
 * cannot wait until symbolise has seen all of them.
 *
 * Owned by the caller; borrows resolver, machine and store. One thread. A binary is loaded when the first of its frames
 * is looked up.
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
	const char *symbol; /* NULL: none */
	uint64_t symbol_offset; /* of the address in the symbol */
	uint64_t symbol_size;
	bool symbol_is_local;
	struct tally_str path; /* of the binary, as recorded; "[unknown]" if nothing was mapped */
	struct tally_str shown; /* its short name */
	bool has_short_name; /* shown by script unless paths are requested */
	uint64_t samples; /* that the caller printed with this frame as the leaf */
	bool is_kernel;
	uint64_t link_address; /* as objdump and addr2line expect it; the run-time address if there is no file */
	const struct source_place *places; /* see frame_names_places */
	size_t place_count;
	bool has_places; /* they were looked for */
	struct tally_str *lines; /* for the caller's own use: texts made once per frame */
	uint32_t line_count;
	uint32_t line_form; /* the options that lines were made with, for the caller's own use */
};

struct named_binary {
	uint32_t store_id;
	struct tally_str path; /* as it is shown; no data: nobody has asked yet */
};

struct frame_names {
	const struct resolver *resolver;
	const struct machine *machine;
	struct binary_store *store;
	const struct bpf_lines *bpf_lines; /* the caller's; NULL: none */
	VEC(struct frame_name *) names; /* by frame id */
	VEC(struct named_binary) binaries; /* as the machine numbers them */
	struct map_u64 readable; /* from the address of the store's name of a function to its demangled name */
	struct arena arena;
};

void frame_names_init(struct frame_names *names, const struct resolver *resolver, const struct machine *machine,
	struct binary_store *store);
void frame_names_deinit(struct frame_names *names);
/* Opens the file of one of the machine's binaries in the store, and sets id to it; RESOLVE_NONE: there is no file. */
TALLY_MUST_CHECK enum tally_status frame_names_store_id(
	struct frame_names *names, uint32_t binary, uint32_t *id, struct tally_error *err);
struct frame_name *frame_names_get(struct frame_names *names, uint32_t frame, struct tally_error *err);
/* The symbol that contains the frame's address, and its file in the store. NULL: there is none, or no frame of the file
 * has been looked up. */
const struct symbol *frame_names_symbol(
	const struct frame_names *names, const struct resolved_frame *frame, uint32_t *store_id);
/* Finds the kernel's function at *address, sets *address to its start, and, if the function belongs to a module, gives
 * the module's name in brackets. NULL: there is no function. The resolver is that of the names. */
const char *frame_names_kernel(struct frame_names *names, struct resolver *resolver, const struct resolve_where *where,
	uint64_t *address, const char **module);
/* The calls inlined at the frame's address, innermost first, and the function that contains them, with source lines.
 * They are read from debug information at the first request. False: out of memory. */
bool frame_names_places(struct frame_names *names, uint32_t frame, struct frame_name *name);
/* The source line of the innermost call of a frame whose source lines were looked up before: "file.c:12", or
 * "function+4", "program[1234]". */
void frame_name_line_text(const struct frame_name *name, bool with_whole_path, struct text *t);
/* Fills empty hits with the files of the frames that were looked up, and with the samples that the caller counted. */
TALLY_MUST_CHECK enum tally_status frame_names_hits(
	const struct frame_names *names, struct binary_hits *hits, struct tally_error *err);

#endif
