/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_store.h - opens the program files of a recording on demand, and finds their symbols by file offset.
 *
 * The caller creates one store per analysis and destroys it after the last use of a symbol name, because names are
 * borrowed from it. One thread adds entries; binary_store_load builds the indexes of all requested entries in parallel;
 * after it, any thread may search. A file that is missing, or has another build ID than recorded, results in an entry
 * without symbols; its status says why.
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
/* Files that the caller holds open; see tasks/recording/record_files.h. */
struct binary_kept {
	/* Returns a borrowed descriptor; -1 if the file is not held open. Any thread may call it. */
	int (*find)(void *context, const struct binary_key *key);
	void *context;
};

struct binary_store_options {
	const char *symfs; /* Directory that replaces "/" for files; NULL or "" if none. */
	/* Path of a kallsyms file; NULL means /proc/kallsyms if the recording is of the kernel that runs since this
	 * boot. */
	const char *kallsyms;
	const char *vmlinux; /* Path of a vmlinux; NULL if none was given. */
	/* Kernel release of the recording as uname -r prints it; NULL or empty means this machine's. Borrowed; read
	 * when a kernel is loaded, because a stream may have it late. */
	const struct tally_str *kernel_release;
	const struct arch *recorded_arch; /* Architecture of the recording; NULL if not known. */
	struct tally_str cpu_id; /* CPU ID of the recording; borrowed; empty if not known. */
	bool ignore_vmlinux; /* Do not search for a vmlinux. */
	const char *build_id_dir; /* Directory of the build-ID cache; NULL means .debug in symfs, or ~/.debug. */
	const struct binary_kept *kept; /* Open files, which are used first; borrowed; NULL if none. */
	/* Nanoseconds to add to a time of the recording to convert it to the clock of file times; 0 if not known. */
	int64_t recorded_to_file_ns;
	/* False: recorded_to_file_ns was derived from the modification time of the recording's file, which a copy does
	 * not keep. */
	bool is_clock_exact;
	uint64_t recorded_ns; /* End of the recording, on the clock of file times; 0 if not known. */
	/* Directory of caches between runs; NULL means the default of code/binaries/index_cache.h; "" means no
	 * cache. */
	const char *index_dir;
	/* Directory that contains the proc and sys directories to use; NULL means this machine's. Used by tests. */
	const char *system_root;
	struct tally_bytes pack; /* Pack in the recording, see code/pack/pack.h; borrowed; len is 0 if there is none. */
	bool no_demangle;
	/* External addr2line program, see code/binaries/line_program.h; NULL if debug information is read by tally
	 * itself. */
	const char *line_program;
	unsigned threads; /* Number of threads that load entries; 0 means one per CPU. */
	uint64_t unwind_bytes; /* Limit on the memory for building the unwind table of one file; 0 means none. */
};

struct binary_store;
struct unwind_table;
struct elf_segment;
struct jitdump;
struct pack_object;

/* Returns whether symfs names a root other than "/", so that its .debug directory is the build-ID cache. symfs may be
 * NULL. */
bool binary_store_has_root(const char *symfs);
/* Creates a store. NOT_FOUND: the options name a vmlinux or kallsyms file that does not exist. */
TALLY_MUST_CHECK enum tally_status binary_store_create(
	const struct binary_store_options *options, struct binary_store **store, struct tally_error *err);
void binary_store_destroy(struct binary_store *store);
/* Sets the architecture, which a stream may contain late. Call it before anything that depends on it is loaded. */
void binary_store_set_arch(struct binary_store *store, const struct arch *arch);
/* Adds or finds the entry with this key (path, build ID, kind and, for JIT code, PID make it unique). Opens no
 * files. */
TALLY_MUST_CHECK enum tally_status binary_store_add(
	struct binary_store *store, const struct binary_key *key, uint32_t *id, struct tally_error *err);
/* Opens and indexes those of the given entries that are not loaded yet, on all CPUs. Failures are reported in the
 * entries' status. */
void binary_store_load(struct binary_store *store, const uint32_t *ids, size_t count);
/* Queues this entry for a separate thread, which loads queued entries until the next binary_store_load. It is for a
 * caller that continues with single-threaded work and will very likely need the entry. A kernel entry may be given only
 * if it is the only one of the recording. Does nothing if there is only one CPU. */
void binary_store_load_ahead(struct binary_store *store, uint32_t id);
/* Ends loading ahead, because all CPUs are needed for other work now: queued entries that are not being loaded yet are
 * left to the next binary_store_load. */
void binary_store_end_ahead(struct binary_store *store);
/* Frees what was loaded from a program file; it is loaded again when needed. Do not call it while anything borrowed
 * from the entry is in use. Does nothing for the kernel, its modules, the vDSO and packed binaries. */
void binary_store_forget(struct binary_store *store, uint32_t id);
/* Returns whether the file of a perf map or jitdump has changed since the entry was loaded, because its runtime
 * continues to write; *bytes becomes the current size of the file. False for other kinds, and for packed entries. */
bool binary_store_has_grown(const struct binary_store *store, uint32_t id, uint64_t *bytes);
/* Returns the function that contains address (file offset or run-time address, depending on the kind); NULL if none. */
const struct symbol *binary_store_find(const struct binary_store *store, uint32_t id, uint64_t address);
/* Finds the function that contains address, and a range of addresses around it that have the same result. */
void binary_store_find_span(const struct binary_store *store, uint32_t id, uint64_t address, struct symbol_span *span);
/* Reads the debug information for these addresses (as in binary_store_find), for binary_store_places, from loaded user
 * files, kernels and modules. One thread; information that was read before is not read again. */
TALLY_MUST_CHECK enum tally_status binary_store_load_places(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, struct tally_error *err);
/* Returns at most max places, borrowed from the store; 0 if the file has no line information for the address, or it was
 * not loaded. One thread per entry at a time. */
size_t binary_store_places(
	struct binary_store *store, uint32_t id, uint64_t address, struct source_place *places, size_t max);
/* Reads the debug information for all code of a loaded user file. NOT_FOUND: it has no debug information, or no build
 * ID that could be its key in the cache. */
TALLY_MUST_CHECK enum tally_status binary_store_load_all_places(
	struct binary_store *store, uint32_t id, struct tally_error *err);
/* Caches the debug information that was read. Returns the error of the last file that could not be cached. */
TALLY_MUST_CHECK enum tally_status binary_store_save_places(struct binary_store *store, struct tally_error *err);
/* Returns the path of the file from which the lines were read; NULL if there is none, or lines were not requested. */
const char *binary_store_places_path(const struct binary_store *store, uint32_t id);
/* Returns whether lines of the entry were requested and none were found. */
bool binary_store_lacks_places(const struct binary_store *store, uint32_t id);
/* Returns the demangled name with parameter types, which distinguish overloads, in the arena. */
const char *binary_store_display_name(
	const struct binary_store *store, const struct symbol *symbol, struct arena *arena);
/* Returns the demangled form of any symbol name, with control characters escaped, in the arena. */
const char *binary_store_readable(const struct binary_store *store, const char *name, struct arena *arena);
/* Returns the places that were searched for symbols of a loaded entry, in order; borrowed. */
const struct binary_step *binary_store_trail(const struct binary_store *store, uint32_t id, size_t *count);
struct binary_info binary_store_info(const struct binary_store *store, uint32_t id);
/* Says what debug information of this kind is missing, according to what was read so far. */
struct binary_lack_text binary_store_lack(const struct binary_store *store, uint32_t id, enum binary_lack lack);
/* Returns the number of entries; IDs are below it. */
size_t binary_store_count(const struct binary_store *store);
/* Converts a file offset to the link-time address that objdump and addr2line use; false if no segment contains it. */
bool binary_store_elf_va(
	const struct binary_store *store, uint32_t id, struct tally_file_off offset, struct tally_elf_va *va);

/* Finds the code between two addresses (as in binary_store_find); it may end before end. One thread. NOT_FOUND: the
 * code is not available, for the reason in err. */
TALLY_MUST_CHECK enum tally_status binary_store_code(struct binary_store *store, uint32_t id, uint64_t start,
	uint64_t end, struct binary_code *code, struct tally_error *err);
/* Finds the name of an address of the same kind as those of binary_code. Returns false if there is none. One thread. */
bool binary_store_name_at(struct binary_store *store, uint32_t id, uint64_t address, struct binary_name *name);

/* Finds the data that the instruction at an address (as in binary_store_find) accesses. One thread. NOMEM is the only
 * error. */
TALLY_MUST_CHECK enum tally_status binary_store_data_access(
	struct binary_store *store, uint32_t id, uint64_t address, struct data_access *access, struct tally_error *err);
/* Returns the layout of a type of a data access in this entry; borrowed from the store. One thread. NOMEM is the only
 * error. */
TALLY_MUST_CHECK enum tally_status binary_store_data_fields(struct binary_store *store, uint32_t id,
	const struct dwarf_type *type, const struct data_field **fields, size_t *count, struct tally_error *err);

/* Returns why options.pack cannot be used; NULL if it can, or there is none. */
const char *binary_store_pack_damage(const struct binary_store *store);
/* Sets the members of a pack object that describe a loaded entry as a whole; borrowed from the store. Returns false if
 * memory runs out. */
TALLY_MUST_CHECK bool binary_store_describe(const struct binary_store *store, uint32_t id, struct pack_object *object);

/* Returns the dump of a loaded BINARY_JITDUMP entry; NULL if the dump was not found, or the entry is of another
 * kind. */
const struct jitdump *binary_store_jitdump(const struct binary_store *store, uint32_t id);

/* Returns the unwind table of the file's code. The first call from any thread builds it, whether or not the file is
 * loaded, but not while entries are added. It lives as long as the store. NULL: the file is missing, or has no
 * call-frame information. */
const struct unwind_table *binary_store_unwind(struct binary_store *store, uint32_t id);
/* Works like binary_store_unwind with a limit: if building the table may need more than this number of bytes, the table
 * is not built, now or later; then *is_refused becomes true and NULL is returned. */
const struct unwind_table *binary_store_unwind_within(
	struct binary_store *store, uint32_t id, uint64_t bytes, bool *is_refused);
/* Works like binary_store_elf_va, but the entry need not be loaded; threads and lifetimes are as for
 * binary_store_unwind. */
bool binary_store_unwind_va(
	struct binary_store *store, uint32_t id, struct tally_file_off offset, struct tally_elf_va *va);
/* Returns the segments that the unwind table covers, borrowed, and the address of the program's entry point (0 if
 * none); threads and lifetimes are as for binary_store_unwind. */
const struct elf_segment *binary_store_unwind_segments(
	struct binary_store *store, uint32_t id, size_t *count, uint64_t *entry);

/* Determines for each address (as in binary_store_find) whether its code has no caller, because its call-frame
 * information says so or because the program begins there. Opens the file and reads the parts that the addresses need.
 * Threads are as for binary_store_unwind. */
void binary_store_find_roots(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, bool *are_roots);

#endif
