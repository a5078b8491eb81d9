/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_store.h - opens the program files of a recording on demand, and finds their symbols by file offset.
 *
 * The caller creates one store per analysis and destroys it after the last name was read: names of symbols are borrowed
 * from it. Entries are added by one thread; binary_store_load builds the indexes of all requested entries, in parallel;
 * after it, any thread may look up. A file that is missing, or whose build ID differs from the recording's, gives an
 * entry without symbols, whose status says why.
 *
 *	uint32_t id;
 *	binary_store_add(store, &(struct binary_key){.kind = BINARY_USER, .path = path, ...}, &id, err);
 *	binary_store_load(store, wanted, count);
 *	const struct symbol *s = binary_store_find(store, id, offset);
 */
#ifndef CODE_BINARY_STORE_H
#define CODE_BINARY_STORE_H

#include <tally/status.h>

#include "base/address.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "code/binary.h"
#include "code/data_access.h"
#include "code/symbol.h"

struct arch;
struct binary_kept { /* files that someone holds open: see tasks/recording/record_files.h */
	/* A borrowed descriptor; -1: the file is not kept open. Any thread. */
	int (*find)(void *context, const struct binary_key *key);
	void *context;
};

struct binary_store_options {
	const char *symfs; /* NULL or "" none */
	const char *kallsyms; /* NULL: /proc/kallsyms when the recording is of this boot's kernel */
	const char *vmlinux; /* NULL: none */
	const struct tally_str
		*kernel_release; /* of the recording, as uname -r; borrowed, read when a kernel is loaded (a
						    stream may tell it late); NULL or empty: this machine's */
	const struct arch *recorded_arch; /* of the recording; NULL: not known */
	struct tally_str cpu_id; /* of the recording; borrowed; empty: not known */
	bool ignore_vmlinux; /* the kernel's file is not searched */
	const char *build_id_dir; /* NULL: .debug of symfs, or ~/.debug */
	const struct binary_kept *kept; /* searched first; borrowed; NULL: none */
	/* What to add to a time of the recording for one on the clock of file times; 0: not known. */
	int64_t recorded_to_file_ns;
	bool is_clock_exact; /* else it was derived from the time of the recording's file, which a copy has not */
	uint64_t recorded_ns; /* when the recording ended, on the clock of file times; 0: not known */
	const char *index_dir; /* of what is kept between runs; NULL: see code/binaries/index_cache.h; "" none */
	const char *system_root; /* NULL: this machine's /proc and /sys; tests give a directory that has them */
	struct tally_bytes pack; /* the pack in the recording, see code/pack/pack.h; borrowed; len 0: none */
	bool no_demangle;
	const char
		*line_program; /* NULL: lines and inlined calls are read here; else see code/binaries/line_program.h */
	unsigned threads; /* that load; 0: one per CPU */
	uint64_t unwind_bytes; /* that making the unwind table of one file may take; 0: any */
};

struct binary_store;
struct unwind_table;
struct elf_segment;
struct jitdump;
struct pack_object;

/* Whether files are looked for below another root, whose .debug has entries by build id; symfs may be NULL. */
bool binary_store_has_root(const char *symfs);
/* NOT_FOUND: the options name a vmlinux or kallsyms that is not there. */
TALLY_MUST_CHECK enum tally_status binary_store_create(
	const struct binary_store_options *options, struct binary_store **store, struct tally_error *err);
void binary_store_destroy(struct binary_store *store);
/* Sets the architecture, which a stream may have late. Call it before anything that depends on it is loaded. */
void binary_store_set_arch(struct binary_store *store, const struct arch *arch);
/* Adds or finds the entry of this key (path, build id, kind and, for JIT, pid make it unique). Opens nothing. */
TALLY_MUST_CHECK enum tally_status binary_store_add(
	struct binary_store *store, const struct binary_key *key, uint32_t *id, struct tally_error *err);
/* Opens and indexes the named entries that are not loaded yet, on all CPUs. Failures are in the entries' status. */
void binary_store_load(struct binary_store *store, const uint32_t *ids, size_t count);
/* Lets a separate thread load this entry, until the next binary_store_load, which does the rest. It is for a caller
 * that continues with single-threaded work and knows that the entry will very likely be needed. A kernel may be named
 * only if it is the only one of the recording. It does nothing if there is only one CPU. */
void binary_store_load_ahead(struct binary_store *store, uint32_t id);
/* Named entries whose loading has not begun wait for the next load, because all CPUs have other work now. */
void binary_store_end_ahead(struct binary_store *store);
/* Frees what was loaded from a program file; it is loaded again when needed. Do not call it while anything borrowed
 * from the entry is in use. It frees nothing of the kernel, its modules, the vdso and packed binaries. */
void binary_store_forget(struct binary_store *store, uint32_t id);
/* Whether the map or dump of generated code has changed since it was loaded (its runtime continues to write), and how
 * long it is now. */
bool binary_store_has_grown(const struct binary_store *store, uint32_t id, uint64_t *bytes);
/* The function that covers address (file offset or run-time address, by kind); NULL if none. */
const struct symbol *binary_store_find(const struct binary_store *store, uint32_t id, uint64_t address);
/* The same, and sets the span of addresses that have the same answer. */
void binary_store_find_span(const struct binary_store *store, uint32_t id, uint64_t address, struct symbol_span *span);
/* Reads the debug information that covers these addresses (as of binary_store_find), for binary_store_places, from
 * loaded user files, kernels and modules. One thread; information that was read before is not read again. */
TALLY_MUST_CHECK enum tally_status binary_store_load_places(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, struct tally_error *err);
/* At most max places, borrowed from the store; 0: the file has no line information for the address, or it was not
 * loaded. One thread per entry at a time. */
size_t binary_store_places(
	struct binary_store *store, uint32_t id, uint64_t address, struct source_place *places, size_t max);
/* The same for all code of a loaded user file. NOT_FOUND: it has no debug information, or no build id to keep it by. */
TALLY_MUST_CHECK enum tally_status binary_store_load_all_places(
	struct binary_store *store, uint32_t id, struct tally_error *err);
/* Caches the debug information that was read. An error is that of the last file that could not be cached. */
TALLY_MUST_CHECK enum tally_status binary_store_save_places(struct binary_store *store, struct tally_error *err);
/* The file that the lines came from; NULL: none, or lines were not searched. */
const char *binary_store_places_path(const struct binary_store *store, uint32_t id);
/* Lines were searched, and there are none. */
bool binary_store_lacks_places(const struct binary_store *store, uint32_t id);
/* The name as people read it: demangled in the arena, with the types of parameters, which tell overloads apart. */
const char *binary_store_display_name(
	const struct binary_store *store, const struct symbol *symbol, struct arena *arena);
/* The same for any name of the linker's. */
const char *binary_store_readable(const struct binary_store *store, const char *name, struct arena *arena);
/* The places that were searched for names of a loaded entry, in order; borrowed. */
const struct binary_step *binary_store_trail(const struct binary_store *store, uint32_t id, size_t *count);
struct binary_info binary_store_info(const struct binary_store *store, uint32_t id);
/* Says what is lacking of the debug information that was read so far. */
struct binary_lack_text binary_store_lack(const struct binary_store *store, uint32_t id, enum binary_lack lack);
/* The number of entries. Their ids are below it. */
size_t binary_store_count(const struct binary_store *store);
/* Link-time address of a file offset, as objdump and addr2line take it; false if no segment has it. */
bool binary_store_elf_va(
	const struct binary_store *store, uint32_t id, struct tally_file_off offset, struct tally_elf_va *va);

/* The code between two addresses, as of binary_store_find; it may end earlier. One thread. NOT_FOUND: err says why. */
TALLY_MUST_CHECK enum tally_status binary_store_code(struct binary_store *store, uint32_t id, uint64_t start,
	uint64_t end, struct binary_code *code, struct tally_error *err);
/* address: of the kind of binary_code's. False: nothing is known of it. One thread. */
bool binary_store_name_at(struct binary_store *store, uint32_t id, uint64_t address, struct binary_name *name);

/* Which data the instruction at an address accesses (as of binary_store_find). One thread. NOMEM only. */
TALLY_MUST_CHECK enum tally_status binary_store_data_access(
	struct binary_store *store, uint32_t id, uint64_t address, struct data_access *access, struct tally_error *err);
/* The layout of a type that an access of this entry has; borrowed from the store. One thread. NOMEM only. */
TALLY_MUST_CHECK enum tally_status binary_store_data_fields(struct binary_store *store, uint32_t id,
	const struct dwarf_type *type, const struct data_field **fields, size_t *count, struct tally_error *err);

/* Why options.pack cannot be used; NULL: it can, or there is none. */
const char *binary_store_pack_damage(const struct binary_store *store);
/* Sets the part of a pack's object that describes a loaded entry as a whole; borrowed from the store. False: out of
 * memory. */
TALLY_MUST_CHECK bool binary_store_describe(const struct binary_store *store, uint32_t id, struct pack_object *object);

/* The dump of a loaded BINARY_JITDUMP entry; NULL: it was not found, or is none. */
const struct jitdump *binary_store_jitdump(const struct binary_store *store, uint32_t id);

/* The unwind table of the file's code, built on first use, by any thread, whether or not the file is loaded, but not
 * while entries are added. It lives as long as the store. NULL: the file is missing, or has no call-frame
 * information. */
const struct unwind_table *binary_store_unwind(struct binary_store *store, uint32_t id);
/* The same, but if building it may need more memory than this, there is no table, now and later, and is_refused is
 * set. */
const struct unwind_table *binary_store_unwind_within(
	struct binary_store *store, uint32_t id, uint64_t bytes, bool *is_refused);
/* As binary_store_elf_va, of a file that is not loaded yet; same rules. */
bool binary_store_unwind_va(
	struct binary_store *store, uint32_t id, struct tally_file_off offset, struct tally_elf_va *va);
/* Of which parts of the file the table is, borrowed, and where the program begins (0: nowhere); same rules. */
const struct elf_segment *binary_store_unwind_segments(
	struct binary_store *store, uint32_t id, size_t *count, uint64_t *entry);

/* Tells for each address (as of binary_store_find) whether its code has no caller, because its call-frame information
 * says so or because the program begins there. It opens the file, and reads the parts that the addresses need. Same
 * rules as for binary_store_unwind. */
void binary_store_find_roots(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, bool *are_roots);

#endif
