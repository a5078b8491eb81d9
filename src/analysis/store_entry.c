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

enum tally_status store_entry_id(const struct machine *machine, struct binary_store *store, uint32_t binary,
	uint32_t *store_id, struct tally_error *err)
{
	const struct machine_binary *from = machine_binary_get(machine, binary);
	struct binary_key key = {.pid = from->pid, .start = from->start, .build_id_size = from->build_id.size};
	if (!store_kind(from->kind, &key.kind)) {
		*store_id = STORE_ENTRY_NONE;
		return TALLY_OK;
	}
	memcpy(key.build_id, from->build_id.bytes, sizeof(key.build_id));
	key.path = machine_string(machine, key.kind == BINARY_MODULE ? from->short_name : from->path);
	if (key.kind == BINARY_MODULE)
		key.file = machine_string(machine, from->path);
	return binary_store_add(store, &key, store_id, err);
}
