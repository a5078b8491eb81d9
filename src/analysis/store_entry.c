/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/store_entry.h"

#include <string.h>

static bool store_kind(enum machine_binary_kind kind, enum binary_kind *out)
{
	switch (kind) {
	case MACHINE_USER_FILE:
		*out = BINARY_USER;
		return true;
	case MACHINE_KERNEL:
		*out = BINARY_KERNEL;
		return true;
	case MACHINE_KERNEL_MODULE:
		*out = BINARY_MODULE;
		return true;
	case MACHINE_VDSO:
		*out = BINARY_VDSO;
		return true;
	case MACHINE_ANON_JIT:
		*out = BINARY_PERF_MAP;
		return true;
	case MACHINE_JITDUMP:
		*out = BINARY_JITDUMP;
		return true;
	case MACHINE_ANON_DATA:
	case MACHINE_NO_FILE:
	case MACHINE_BPF:
		break;
	}
	return false;
}

static enum tally_status store_entry_add(const struct machine *machine, struct binary_store *store,
	const struct machine_binary *from, uint32_t *store_id, struct tally_error *err)
{
	struct binary_key key = {
		.pid = from->pid, .start = from->start, .end = from->text_end, .build_id_size = from->build_id.size};
	if (!store_kind(from->kind, &key.kind)) {
		*store_id = STORE_ENTRY_NONE;
		return TALLY_OK;
	}
	memcpy(key.build_id, from->build_id.bytes, sizeof(key.build_id));
	if (from->build_id.size == 0) {
		key.major = from->file.major;
		key.minor = from->file.minor;
		key.inode = from->file.inode;
		key.generation = from->file.generation;
	}
	/* The kernel's path comes from the table of build IDs and is known late; a constant name serves as key. */
	key.path = key.kind == BINARY_KERNEL
			   ? STR("[kernel.kallsyms]")
			   : machine_string(machine, key.kind == BINARY_MODULE ? from->short_name : from->path);
	if (key.kind == BINARY_PERF_MAP)
		key.generated_since_ns = machine_generated_since(machine, from->pid);
	if (key.kind == BINARY_MODULE)
		key.file = machine_string(machine, from->path);
	return binary_store_add(store, &key, store_id, err);
}

enum tally_status store_entry_id(const struct machine *machine, struct binary_store *store, uint32_t binary,
	uint32_t *store_id, struct tally_error *err)
{
	return store_entry_add(machine, store, machine_binary_get(machine, binary), store_id, err);
}

enum tally_status store_entry_load_ahead(
	const struct machine *machine, struct binary_store *store, uint32_t binary, struct tally_error *err)
{
	struct machine_binary from = *machine_binary_get(machine, binary);
	const struct record_build_id *listed = machine_listed_build_id(machine, binary);
	uint32_t id = STORE_ENTRY_NONE;
	bool is_hit = listed && (from.kind == MACHINE_USER_FILE || from.kind == MACHINE_KERNEL);
	/* Without a table of build IDs, which lists the binaries with samples, only the kernel is assumed to have
	 * some. */
	bool may_be_hit = from.kind == MACHINE_KERNEL && from.build_id.size > 0 && !machine_lists_build_ids(machine);
	if (!is_hit && !may_be_hit)
		return TALLY_OK;
	if (listed)
		from.build_id = *listed;
	enum tally_status status = store_entry_add(machine, store, &from, &id, err);
	if (status == TALLY_OK && id != STORE_ENTRY_NONE)
		binary_store_load_ahead(store, id);
	return status;
}
