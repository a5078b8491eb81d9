/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_place.h - says what passes between the parts of probing: the binary that is probed, a place in it, and what the
 * kernel fetches there.
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

struct probe_binary { /* see probe_binary.h; borrowed by everything that was found in it */
	enum probe_binary_kind kind;
	const char *path; /* real and absolute, as the kernel takes it; of a running kernel "[kernel.kallsyms]" */
	bool is_offline; /* a vmlinux that was named: it need not be the running kernel's */
	struct tally_str module; /* of a module: its name; else empty */
	struct elf_image *image; /* the program file, whose segments and symbols count; NULL: only kallsyms is there */
	const struct elf_image *debug_image; /* has the debug information: image or a file of its own; NULL: none */
	const char *debug_path; /* of debug_image */
	struct debug_info *info; /* of debug_image; NULL: none */
	const struct arch *arch; /* NULL: not one of arch.h */
	uint64_t moved; /* from addresses in debug_image to those in image */
	struct probe_symbols *symbols; /* made when they are first asked for: probe_binary_symbols */
	struct probe_functions *functions; /* the index of probe_places.h, made when it is first needed */
	struct probe_variables_cache *variables; /* likewise, of probe_variables_cache.h */
};

struct probe_scope { /* where the variables of a place are declared, in debug information */
	const struct dwarf_file *file; /* NULL: the place is known by a symbol alone, or no function is there */
	const struct dwarf_unit *unit;
	uint64_t function; /* entry of the subprogram whose code it is (not the abstract one) */
	uint64_t inlined; /* entry of the inlined_subroutine that the point names, in function; 0: none */
	const struct elf_image *split_image; /* that file is of; NULL: debug_image, or a package */
	const struct dwarf_location_lists *packaged; /* of a unit in a package: its location lists; else NULL */
};

struct probe_place {
	uint64_t address; /* as image has it: where the breakpoint goes */
	uint64_t file_offset; /* the same in the program file, for a uprobe; UINT64_MAX: no segment has it */
	const char *function; /* the function that the point names or that holds the address; as the source has it */
	const char *symbol; /* the symbol of its code ("foo.constprop.0"), for the kernel's "symbol+offset" */
	uint64_t entry; /* the symbol's address; address - entry is the offset of the kernel's text */
	const char *source; /* path of its source; NULL: not known */
	uint32_t line; /* of the source at the address; 0: not known */
	uint32_t declared; /* line of the function's declaration; 0: not known */
	bool is_entry; /* of the function */
	bool is_return; /* the probe is at the function's return: only its result is there */
	bool is_inlined; /* function was inlined there: it has no return */
	struct probe_scope scope;
};

struct probe_places { /* owned by the caller: probe_places_deinit */
	VEC(struct probe_place) items;
	struct arena arena; /* names and notes */
	VEC(const char *) notes; /* sentences for stderr: "Target program is compiled without optimization..." */
};

struct probe_fetch { /* one argument in the kernel's words: name=text:type */
	const char *name; /* NULL: none; the kernel calls it argN */
	const char *text; /* "+32(+0(%di))" */
	const char *type; /* "s64"; NULL: none */
};

struct probe_fetches { /* owned by the caller: probe_fetches_deinit */
	VEC(struct probe_fetch) items;
	struct arena arena; /* texts and notes */
	VEC(const char *) notes; /* sentences for stderr: what $vars left out and why */
	bool types_results; /* $retval gets the type of the function's result; perf gives it none */
};

void probe_places_init(struct probe_places *places);
void probe_places_deinit(struct probe_places *places);
void probe_fetches_init(struct probe_fetches *fetches);
void probe_fetches_deinit(struct probe_fetches *fetches);

#endif
