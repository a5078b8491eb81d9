/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_entry.h - describes one binary of the store and what was loaded for it; only the store and its loaders use it.
 *
 * The store owns entries. One worker loads an entry; then it is read-only. The data for unwinding has its own lock.
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

struct binary_root { /* a folder that stands for "/" */
	const char *prefix; /* before paths as they are shown; "" none */
	int32_t pid; /* > 0: the root of this process, whose links must not lead out of it */
};

/* The data for unwinding. It is separate from the rest, because any thread may load it, before symbols. */
struct load_unwind {
	pthread_mutex_t lock; /* held by the thread that builds it */
	_Atomic bool is_built;
	struct unwind_table *table; /* NULL: no file, or nothing in it */
	bool is_refused; /* it would take more memory than there is */
	struct elf_segment *segments;
	size_t segment_count;
	uint64_t entry; /* link-time address of the program's entry point; 0: it has none */
};

struct generated_file { /* the state of a file that a runtime writes; zeros: there was none */
	uint64_t device, inode, size;
	int64_t changed_s, changed_ns;
};

struct binary_entry {
	struct binary_key key; /* path is in the store's intern */
	struct arena arena; /* paths and copied names; used by the one worker that loads the entry */
	enum binary_status status;
	const char *used_path;
	struct binary_root root; /* where the program was found: debug files are looked for in the same */
	bool is_cached; /* the program is the cache's copy, which may lack symbols that the file at the path has */
	const char *text;
	struct elf_image *image; /* the program file: segments */
	struct elf_image *debug; /* the file with the names, if it is another one */
	char *names; /* the bytes that the names point into; malloc'ed */
	size_t names_len; /* of a perf map */
	struct file_map kernel_list; /* a copy of kallsyms */
	struct jitdump jitdump; /* borrows names */
	struct generated_file generated; /* of a map or dump, when it was read */
	VEC(struct binary_step) trail; /* see binary_trail.h */
	struct symbol_table symbols;
	struct kernel_symbols *kernel_symbols; /* of the kernel: instead of symbols; NULL none */
	struct elf_build_id
		kernel_id; /* of the kernel: the recorded one, or this machine's if the recording is of it */
	uint64_t moved; /* of the kernel: from addresses in its file or list to those where it ran */
	bool is_unproven; /* named by the running kernel's list, or by a file at the path, which may be another */
	const char *doubt; /* of a user's file or perf map that is_unproven: why; static */
	bool is_refused; /* a map or dump is there, and was not read */
	_Atomic bool is_one_of_several; /* files without a build id that the recording has by this path */
	bool is_loaded_now; /* of a module: this machine runs the recorded one */
	struct source_lines *lines; /* NULL: not asked for, or the file has none */
	bool lines_are_looked_for;
	const char *package_path; /* the .dwp file that lines were opened with; NULL: there is none */
	struct binary_lack_text lacks[BINARY_LACK_KINDS]; /* what the debug information of lines lacks */
	uint64_t lacking_splits, damaged_units; /* the numbers of units that the texts in lacks state */
	struct go_lines go_lines; /* instead of lines, of a Go program without debug information; image NULL: none */
	struct line_program *line_program; /* instead of lines, where the options name one; NULL: not asked for */
	struct data_types *types; /* NULL: not asked for, or the file has none */
	bool types_are_looked_for;
	struct line_index index; /* of the lines that were read in earlier runs */
	struct file_map index_map;
	bool index_is_looked_for;
	bool is_loaded;
	struct elf_image *code_image; /* of the kernel: its vmlinux, opened for its code; NULL none, or image has it */
	const char *code_path;
	uint64_t code_moved; /* as moved, of code_image */
	bool code_is_looked_for;
	struct address_names address_names; /* of what code refers to */
	bool names_are_made;
	const struct pack_object *packed; /* its object in the store's pack, from which it was loaded; NULL: none */
	struct binary_entry
		*unpacked; /* the same from files, for what the pack lacks; owned; NULL: not needed so far */
	struct load_unwind unwind;
};

void binary_entry_init(
	struct binary_entry *entry, const struct binary_store_options *options, const struct binary_key *key);
/* Frees what load_user_file made; the store frees the rest before that, so that programs that only need names do not
 * link the other loaders. */
void binary_entry_deinit(struct binary_entry *entry);

/* text NULL: out of memory; only the sentence is lost then. */
static inline void binary_entry_set(struct binary_entry *entry, enum binary_status status, const char *text)
{
	entry->status = status;
	entry->text = text;
}

/* The number of symbols that were read from files. */
static inline size_t binary_entry_symbol_count(const struct binary_entry *entry)
{
	return entry->kernel_symbols ? kernel_symbols_marks(entry->kernel_symbols)->count : entry->symbols.symbols.len;
}

static inline void binary_entry_out_of_memory(struct binary_entry *entry)
{
	entry->symbols.symbols.len = 0;
	binary_entry_set(entry, BINARY_DAMAGED, "out of memory for its symbols");
}

#endif
