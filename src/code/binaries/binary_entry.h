/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_entry.h - describes one binary of the store and what was loaded for it; only the store and its loaders use it.
 *
 * The store owns the entries. One worker thread loads an entry, which is read-only afterwards, except for its unwinding
 * data, which has a lock.
 */
#ifndef CODE_BINARIES_BINARY_ENTRY_H
#define CODE_BINARIES_BINARY_ENTRY_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/vec.h"
#include "code/binary_store.h"
#include "code/symbols/address_names.h"
#include "code/symbols/jitdump.h"
#include "code/symbols/kernel_symbols.h"
#include "code/symbols/line_index.h"
#include "code/symbols/source_lines.h"
#include "code/symbols/symbol_table.h"
#include "code/unwind/unwind_table.h"
#include "object/elf/elf_image.h"
#include "object/elf/go_lines.h"

struct data_types;
struct line_program;
struct pack_object;

/* A directory that replaces "/" in the search for files. */
struct binary_root {
	const char *prefix; /* The directory, which precedes paths; "" if it is "/". */
	/* PID of the process that has this root, which symbolic links must not leave; 0 if it is an ordinary
	 * directory. */
	int32_t pid;
};

/* The unwinding data of an entry. It is separate because any thread may load it, even before the symbols. */
struct load_unwind {
	pthread_mutex_t lock; /* Held by the thread that builds the table. */
	_Atomic bool is_built;
	struct unwind_table *table; /* NULL if the file is missing or has no call-frame information. */
	bool is_refused; /* The table was not built because it would exceed options.unwind_bytes. */
	struct elf_segment *segments;
	size_t segment_count;
	uint64_t entry; /* Link-time address of the program's entry point; 0 if it has none. */
};

/* Identity and state of a file that a runtime writes, at the time at which it was read; all zeros if there was none. */
struct generated_file {
	uint64_t device, inode, size;
	int64_t changed_s, changed_ns;
};

struct binary_entry {
	struct binary_key key; /* The strings are in the store's intern table. */
	struct arena arena; /* Paths and copied names; only the worker that loads the entry allocates from it. */
	enum binary_status status;
	const char *used_path;
	/* The root in which the program was found; its debug files are searched in the same root. */
	struct binary_root root;
	/* The program is the copy in the build-ID cache, which may lack symbols that the file at the path has. */
	bool is_cached;
	const char *text; /* Says why there are no symbols; NULL if there is nothing to explain. */
	struct elf_image *image; /* The program file, which defines the segments. */
	struct elf_image *debug; /* The separate file that has the symbol names; NULL if image has them. */
	char *names; /* Buffer of a perf map or jitdump into which symbol names point; malloc'ed. */
	size_t names_len; /* Length of names; set for perf maps only. */
	struct file_map kernel_list; /* A mapped copy of kallsyms. */
	struct jitdump jitdump; /* Borrows names. */
	struct generated_file generated; /* State of the perf map or jitdump when it was read. */
	VEC(struct binary_step) trail; /* The places that were searched; see binary_trail.h. */
	struct symbol_table symbols;
	/* Symbols of a kernel list, used instead of symbols; NULL for other entries. */
	struct kernel_symbols *kernel_symbols;
	/* Kernel entries: the recorded build ID, or the build ID of this machine if the recording was made on it. */
	struct elf_build_id kernel_id;
	uint64_t moved; /* Kernel entries: what is added to addresses in the file or list to get run-time addresses. */
	/* The symbols may be those of another file: they come from the running kernel or from a file found by path
	 * only. */
	bool is_unproven;
	const char *doubt; /* Reason for is_unproven; a static string; NULL for a kernel. */
	bool is_refused; /* A perf map or jitdump exists, but was not read, for the reason in text. */
	_Atomic bool is_one_of_several; /* The recording has several files with this path and without a build ID. */
	bool is_loaded_now; /* Kernel modules: the recorded module is loaded on this machine. */
	struct source_lines *lines; /* NULL until the lines are requested, or if the file has none. */
	bool lines_are_looked_for;
	const char *package_path; /* Path of the .dwp file that lines uses; NULL if there is none. */
	struct binary_lack_text lacks[BINARY_LACK_KINDS]; /* Parts that the debug information of lines lacks. */
	uint64_t lacking_splits, damaged_units; /* Unit counts that the texts in lacks state. */
	/* Used instead of lines for a Go program without debug information; its image is NULL otherwise. */
	struct go_lines go_lines;
	/* Used instead of lines if the options name an addr2line program; NULL until lines are requested. */
	struct line_program *line_program;
	struct data_types *types; /* NULL until the types are requested, or if the file has none. */
	bool types_are_looked_for;
	struct line_index index; /* Cached lines that earlier runs read. */
	struct file_map index_map;
	bool index_is_looked_for;
	bool is_loaded;
	/* The vmlinux, opened for its code; NULL if image has the code, or for other entries. */
	struct elf_image *code_image;
	const char *code_path;
	uint64_t code_moved; /* What is added to addresses in code_image to get run-time addresses. */
	bool code_is_looked_for;
	struct address_names address_names; /* Names of the addresses that code refers to. */
	bool names_are_made;
	/* The object in the store's pack from which the entry was loaded; NULL if it was loaded from files. */
	const struct pack_object *packed;
	/* The same binary loaded from files, for what the pack lacks; owned; NULL until it is needed. */
	struct binary_entry *unpacked;
	struct load_unwind unwind;
};

void binary_entry_init(
	struct binary_entry *entry, const struct binary_store_options *options, const struct binary_key *key);
/* Frees what load_user_file allocated. The caller frees what other loaders allocated before, so that a program that
 * only uses load_user_file is not linked with the others. */
void binary_entry_deinit(struct binary_entry *entry);

/* Sets the status and the sentence that explains it. text may be NULL (out of memory): the sentence is then missing. */
static inline void binary_entry_set(struct binary_entry *entry, enum binary_status status, const char *text)
{
	entry->status = status;
	entry->text = text;
}

/* Returns the number of symbols that were read from files. */
static inline size_t binary_entry_symbol_count(const struct binary_entry *entry)
{
	return entry->kernel_symbols ? kernel_symbols_marks(entry->kernel_symbols)->count : entry->symbols.symbols.len;
}

/* Removes all symbols, and sets the status for a lack of memory. */
static inline void binary_entry_out_of_memory(struct binary_entry *entry)
{
	entry->symbols.symbols.len = 0;
	binary_entry_set(entry, BINARY_DAMAGED, "out of memory for its symbols");
}

#endif
