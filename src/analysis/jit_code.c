/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/jit_code.h"

#include <sys/mman.h>
#include <time.h>

#include "arch/arch.h"

/* Parses the number in "jit-4711.dump", which is the PID of the process in its own namespace. */
static bool number_in_name(struct tally_str path, uint64_t *number)
{
	const struct tally_str front = STR("jit-");
	const struct tally_str back = STR(".dump");
	if (!str_ends_with(path, back))
		return false;
	size_t start = path.len;
	while (start > 0 && path.data[start - 1] != '/')
		start--;
	struct tally_str name = {path.data + start, path.len - start};
	if (!str_starts_with(name, front) || name.len <= front.len + back.len)
		return false;
	return str_to_u64((struct tally_str){name.data + front.len, name.len - front.len - back.len}, 10, number);
}

bool jit_code_is_marker(const struct record_mmap *mmap)
{
	uint64_t number;
	return (mmap->prot & PROT_EXEC) && number_in_name(mmap->filename, &number);
}

bool jit_code_is_of(struct tally_str path, uint32_t pid)
{
	uint64_t number;
	return number_in_name(path, &number) && number == pid;
}

enum tally_status jit_code_dump(struct binary_store *store, struct perfdata_reader *reader, int32_t pid,
	struct tally_str path, const struct jitdump **dump, struct tally_error *err)
{
	const struct tally_str machine = perfdata_reader_features(reader)->arch;
	uint32_t id;
	struct binary_key key = {.kind = BINARY_JITDUMP, .path = path, .pid = pid};
	enum tally_status status = binary_store_add(store, &key, &id, err);
	if (status != TALLY_OK)
		return status;
	binary_store_set_arch(store, machine.len > 0 ? arch_find(machine.data) : NULL);
	binary_store_load(store, &id, 1);
	*dump = binary_store_jitdump(store, id);
	if (*dump && !jit_code_is_of(path, (*dump)->pid))
		*dump = NULL;
	return TALLY_OK;
}

bool jit_code_has_times(struct perfdata_reader *reader, const struct jitdump *dump)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	if (dump->has_cpu_time || count == 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!ATTR_HAS(&events[i].attr, USE_CLOCKID) || events[i].attr.clockid != CLOCK_MONOTONIC)
			return false;
	return true;
}
