/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_place.h - defines the data that the parts of probing exchange: the probed binary, a place in it, and the values
 * that the kernel fetches there.
 *
 *	probe_text.h -> struct probe_definition
 *	probe_binary.h -> struct probe_binary
 *	probe_places.h: point and binary -> struct probe_place (several: inlined calls, lines with several addresses)
 *	probe_variables.h: place and arguments -> struct probe_fetch
 *	tasks/probing: place and fetches -> the kernel's text (kernel/probes/probe_event.h)
 */
#ifndef CODE_PROBING_PROBE_PLACE_H
#define CODE_PROBING_PROBE_PLACE_H

#include "base/arena.h"
#include "base/vec.h"
#include "object/dwarf/debug_info.h"

struct arch;
struct dwarf_location_lists;
struct probe_functions;
struct probe_symbols;

enum probe_binary_kind { PROBE_PROGRAM, PROBE_KERNEL, PROBE_MODULE };

/* An open binary; see probe_binary.h. Everything that was found in it borrows from it. */
struct probe_binary {
	enum probe_binary_kind kind;
	/* Absolute path without symbolic links, as the kernel requires. If only kallsyms is available,
	 * "[kernel.kallsyms]" for the kernel, or the name of the module in brackets. */
	const char *path;
	bool is_offline; /* The vmlinux was given by the user: it may differ from the running kernel's. */
	struct tally_str module; /* Name of a module; otherwise empty. */
	/* The program file, which defines segments and symbols; NULL if only kallsyms is available. */
	struct elf_image *image;
	/* The file with the debug information: image or a separate file; NULL if none. */
	const struct elf_image *debug_image;
	const char *debug_path; /* Path of debug_image. */
	struct debug_info *info; /* Debug information of debug_image; NULL if none. */
	const struct arch *arch; /* NULL if the architecture is not supported. */
	uint64_t moved; /* What is added to addresses in debug_image to get those in image. */
	struct probe_symbols *symbols; /* Created by the first probe_binary_symbols. */
	struct probe_functions *functions; /* Index of probe_functions.h, created when needed. */
	struct probe_variables_cache *variables; /* See probe_variables_cache.h; created when needed. */
};

/* The scope of a place in the debug information, where its variables are declared. */
struct probe_scope {
	const struct dwarf_file *file; /* NULL if the place is known by a symbol only, or is in no function. */
	const struct dwarf_unit *unit;
	uint64_t function; /* Offset of the DW_TAG_subprogram entry of the code (not the abstract one). */
	/* Offset of the DW_TAG_inlined_subroutine entry in function that the point names; 0 if none. */
	uint64_t inlined;
	const struct elf_image *split_image; /* The image of file; NULL if it is debug_image, or a package. */
	const struct dwarf_location_lists *packaged; /* Location lists of a unit in a package; NULL for other units. */
};

struct probe_place {
	uint64_t address; /* Address of the breakpoint, in image. */
	uint64_t file_offset; /* Its offset in the program file, for a uprobe; UINT64_MAX if no segment contains it. */
	/* Source name of the function that the point names or that contains the address; NULL if not known. */
	const char *function;
	/* Symbol that contains the address ("foo.constprop.0"), for the kernel's "symbol+offset"; function if none. */
	const char *symbol;
	uint64_t entry; /* Address of the symbol; address - entry is the offset for the kernel. */
	const char *source; /* Path of its source file; NULL if not known. */
	uint32_t line; /* Source line at the address; 0 if not known. */
	uint32_t declared; /* Line of the function's declaration; 0 if not known. */
	bool is_entry; /* The address is the entry of the function. */
	bool is_return; /* The probe is at the function's return, where only its result is available. */
	bool is_inlined; /* The function was inlined there: it has no return. */
	struct probe_scope scope;
};

/* A list of places; the caller frees it with probe_places_deinit. */
struct probe_places {
	VEC(struct probe_place) items;
	struct arena arena; /* Holds names and notes. */
	/* Sentences for stderr, such as "Target program is compiled without optimization...". */
	VEC(const char *) notes;
};

/* One argument in the kernel's syntax, name=text:type. */
struct probe_fetch {
	const char *name; /* NULL if none; the kernel then names it argN. */
	const char *text; /* Fetch expression, such as "+32(+0(%di))". */
	const char *type; /* Type, such as "s64"; NULL if none. */
};

/* A list of fetches; the caller frees it with probe_fetches_deinit. */
struct probe_fetches {
	VEC(struct probe_fetch) items;
	struct arena arena; /* Holds texts and notes. */
	VEC(const char *) notes; /* Sentences for stderr that say what $vars left out and why. */
	bool types_results; /* $retval gets the type of the function's result; perf omits it. */
};

void probe_places_init(struct probe_places *places);
void probe_places_deinit(struct probe_places *places);
void probe_fetches_init(struct probe_fetches *fetches);
void probe_fetches_deinit(struct probe_fetches *fetches);

#endif
