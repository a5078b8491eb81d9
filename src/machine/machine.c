/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/machine.h"

#include <string.h>

#include "base/error.h"
#include "machine/binary_id.h"
#include "machine/file_table.h"
#include "machine/process.h"
#include "machine/remapped_text.h"

#define PREFETCH	  4 /* Number of address spaces between the prefetch and its use. */
#define PREFETCH_MAPPINGS 6 /* Number of mappings to prefetch: most address spaces have no more. */

struct machine {
	struct intern strings;
	struct binary_table binaries;
	struct file_table files;
	struct process_table processes;
	struct address_space kernel;
	size_t remapped_texts;
};

void machine_set_32_bit(struct machine *machine)
{
	machine->binaries.is_32_bit = true;
}

enum tally_status machine_create(struct machine **machine, struct tally_error *err)
{
	struct machine *m = calloc(1, sizeof(*m));
	if (!m)
		return error_nomem(err);
	intern_init(&m->strings);
	binary_table_init(&m->binaries, &m->strings);
	file_table_init(&m->files);
	process_table_init(&m->processes, &m->strings);
	address_space_init(&m->kernel, &m->processes.arena);
	if (!process_table_name(&m->processes, 0, STR("swapper"), 0)) {
		machine_destroy(m);
		return error_nomem(err);
	}
	*machine = m;
	return TALLY_OK;
}

void machine_destroy(struct machine *machine)
{
	if (!machine)
		return;
	process_table_deinit(&machine->processes);
	file_table_deinit(&machine->files);
	binary_table_deinit(&machine->binaries);
	intern_deinit(&machine->strings);
	free(machine);
}

static bool map_user(struct machine *machine, const struct record_mmap *mmap, struct mapping *map)
{
	struct address_space *space = process_table_space(&machine->processes, map->pid, map->time_from_ns);
	if (!space || !binary_table_add_user(&machine->binaries, mmap, &map->binary))
		return false;
	enum machine_binary_kind kind = machine_binary_get(machine, map->binary)->kind;
	bool is_anonymous = kind == MACHINE_ANON_JIT || kind == MACHINE_ANON_DATA;
	if (is_anonymous && remapped_text_find(space, &machine->binaries, map))
		machine->remapped_texts++;
	bool is_mapped = is_anonymous ? address_space_map_below(space, map) : address_space_map(space, map);
	if (!is_mapped)
		return false;
	space->has_anonymous |= is_anonymous;
	if (!is_anonymous && space->has_anonymous && remapped_text_join(space, &machine->binaries, map))
		machine->remapped_texts++;
	return true;
}

static bool machine_apply_mmap(
	struct machine *machine, const struct record *record, const struct record_mmap *mmap, uint64_t time_ns)
{
	/* Data mappings are kept: perf resolves samples in anything that is mapped, executable or not. */
	struct mapping map = {
		.start = mmap->start,
		.pgoff = mmap->pgoff,
		.time_from_ns = time_ns,
		.time_to_ns = MAPPING_FOREVER,
		.prot = mmap->prot,
		.flags = mmap->flags,
		.pid = (int32_t)mmap->pid,
	};
	if (__builtin_add_overflow(mmap->start, mmap->len, &map.end))
		map.end = UINT64_MAX;
	unsigned mode = record->misc & MISC_CPUMODE_MASK;
	if (mode == MISC_CPUMODE_KERNEL || (mode != MISC_CPUMODE_USER && mmap->pid == UINT32_MAX)) {
		if (!binary_table_add_kernel(&machine->binaries, mmap, &map.binary))
			return false;
		/*
		 * The record covers only .text; init code and the rest of the kernel image follow it. Modules later
		 * replace parts of this range. Old recorders wrote a length of 0.
		 */
		if (machine_binary_get(machine, map.binary)->kind == MACHINE_KERNEL)
			map.end = UINT64_MAX;
		return address_space_map(&machine->kernel, &map);
	}
	return file_table_add(&machine->files, mmap, &map.file) && map_user(machine, mmap, &map);
}

static bool apply_ksymbol(struct machine *machine, const struct record_ksymbol *ksymbol, uint64_t time_ns)
{
	struct mapping map = {
		.start = ksymbol->addr, .time_from_ns = time_ns, .time_to_ns = MAPPING_FOREVER, .pid = -1};
	if (__builtin_add_overflow(ksymbol->addr, (uint64_t)ksymbol->len, &map.end))
		return true;
	if (ksymbol->flags & KSYMBOL_FLAG_UNREGISTER)
		return address_space_unmap(&machine->kernel, map.start, map.end, time_ns);
	return binary_table_add_bpf(&machine->binaries, ksymbol, &map.binary) &&
	       address_space_map(&machine->kernel, &map);
}

enum tally_status machine_apply(struct machine *machine, const struct record *record,
	const struct record_fields *fields, uint64_t time_ns, struct tally_error *err)
{
	bool ok = true;
	switch (fields->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		ok = machine_apply_mmap(machine, record, &fields->mmap, time_ns);
		break;
	case RECORD_COMM:
		if (fields->comm.is_exec)
			ok = process_table_exec(&machine->processes, (int32_t)fields->comm.pid, time_ns);
		ok = ok &&
		     process_table_name(&machine->processes, (int32_t)fields->comm.tid, fields->comm.comm, time_ns);
		break;
	case RECORD_FORK:
		ok = process_table_fork(&machine->processes, &fields->task, time_ns);
		break;
	case RECORD_KSYMBOL:
		ok = apply_ksymbol(machine, &fields->ksymbol, time_ns);
		break;
	default:
		break;
	}
	return ok ? TALLY_OK : error_nomem(err);
}

enum tally_status machine_add_generated(
	struct machine *machine, const struct machine_generated *code, uint64_t time_ns, struct tally_error *err)
{
	struct mapping map = {
		.start = code->start,
		.pgoff = code->offset,
		.time_from_ns = time_ns,
		.time_to_ns = MAPPING_FOREVER,
		.pid = code->pid,
		.is_generated = true,
	};
	if (__builtin_add_overflow(code->start, code->len, &map.end))
		return TALLY_OK;
	struct address_space *space = process_table_space(&machine->processes, code->pid, time_ns);
	if (!space || !binary_table_add_jitdump(&machine->binaries, code->path, code->pid, &map.binary) ||
		!address_space_map(space, &map))
		return error_nomem(err);
	return TALLY_OK;
}

enum tally_status machine_add_build_id(
	struct machine *machine, const struct machine_listed_id *entry, struct tally_error *err)
{
	return binary_table_add_build_id(&machine->binaries, entry) ? TALLY_OK : error_nomem(err);
}

bool machine_lists_build_ids(const struct machine *machine)
{
	return binary_table_lists_build_ids(&machine->binaries);
}

const struct record_build_id *machine_listed_build_id(const struct machine *machine, uint32_t binary)
{
	return binary_table_listed_build_id(&machine->binaries, binary);
}

/*
 * The recorded kernel mapping ends with its text; start-up code follows it, and belongs to the kernel up to the next
 * module.
 */
static void extend_kernel_image(struct machine *machine)
{
	struct address_space *kernel = &machine->kernel;
	for (size_t i = 0; i < kernel->mappings.len; i++) {
		struct mapping *image = &kernel->mappings.items[i];
		uint64_t end = UINT64_MAX;
		struct machine_binary *binary = &machine->binaries.binaries.items[image->binary];
		if (binary->kind != MACHINE_KERNEL)
			continue;
		binary->text_end = binary->end == UINT64_MAX ? 0 : binary->end;
		for (size_t k = 0; k < kernel->mappings.len; k++) {
			uint64_t start = kernel->mappings.items[k].start;
			/*
			 * Old recorders end the kernel where the next mapping begins, so the end of its text remains
			 * unknown.
			 */
			if (k != i && start == binary->end)
				binary->text_end = 0;
			if (k != i && start >= image->end && start < end)
				end = start;
		}
		image->end = end;
	}
}

enum tally_status machine_finish(struct machine *machine, struct tally_error *err)
{
	extend_kernel_image(machine);
	if (!binary_table_finish(&machine->binaries) || !file_table_finish(&machine->files) ||
		!address_space_finish(&machine->kernel))
		return error_nomem(err);
	uint32_t epoch = 1; /* 0 means that there is no address space. */
	struct address_space **spaces = machine->processes.spaces.items;
	size_t count = machine->processes.spaces.len;
	for (size_t i = 0; i < count; i++) {
		struct address_space *space = spaces[i];
		if (i + PREFETCH < count) {
			const struct mapping *next = spaces[i + PREFETCH]->mappings.items;
			/* An array of mappings has room for at least PREFETCH_MAPPINGS of them. */
			for (size_t k = 0; next && k < PREFETCH_MAPPINGS; k++)
				__builtin_prefetch(&next[k].time_from_ns);
		}
		space->epoch_base = epoch;
		epoch += (uint32_t)space->change_times_ns.len + 1;
		if (!address_space_finish(space))
			return error_nomem(err);
	}
	return TALLY_OK;
}

const struct mapping *machine_find_mapping(
	const struct machine *machine, int32_t pid, uint64_t time_ns, unsigned cpumode, struct tally_va va)
{
	if (cpumode == MISC_CPUMODE_KERNEL)
		return address_space_find(&machine->kernel, time_ns, va.value);
	if (cpumode != MISC_CPUMODE_USER)
		return NULL;
	const struct address_space *space = process_table_space_at(&machine->processes, pid, time_ns, NULL);
	return space ? address_space_find(space, time_ns, va.value) : NULL;
}

const struct mapping *machine_find_mapping_range(
	const struct machine *machine, const struct machine_place *place, struct address_range *range)
{
	const struct address_space *space = NULL;
	if (place->cpumode == MISC_CPUMODE_KERNEL)
		space = &machine->kernel;
	else if (place->cpumode == MISC_CPUMODE_USER)
		space = process_table_space_at(&machine->processes, place->pid, place->time_ns, NULL);
	return space ? address_space_find_range(space, place->time_ns, place->address, range) : NULL;
}

uint64_t machine_address_in_binary(const struct machine *machine, const struct mapping *mapping, struct tally_va va)
{
	switch (machine->binaries.binaries.items[mapping->binary].kind) {
	case MACHINE_USER_FILE:
	case MACHINE_VDSO:
	case MACHINE_JITDUMP:
		return va.value - mapping->start + mapping->pgoff;
	case MACHINE_KERNEL:
	case MACHINE_KERNEL_MODULE:
	case MACHINE_ANON_JIT:
	case MACHINE_ANON_DATA:
	case MACHINE_NO_FILE:
	case MACHINE_BPF:
		break;
	}
	return va.value;
}

uint32_t machine_comm_at(const struct machine *machine, int32_t tid, uint64_t time_ns)
{
	return process_table_name_at(&machine->processes, tid, time_ns, NULL);
}

uint32_t machine_comm_during(const struct machine *machine, int32_t tid, uint64_t time_ns, struct valid_span *span)
{
	return process_table_name_at(&machine->processes, tid, time_ns, span);
}

uint32_t machine_epoch_during(const struct machine *machine, int32_t pid, uint64_t time_ns, struct valid_span *span)
{
	const struct address_space *space = process_table_space_at(&machine->processes, pid, time_ns, span);
	return space ? space->epoch_base + (uint32_t)address_space_changes(space, time_ns, span) : 0;
}

uint32_t machine_kernel_epoch_during(const struct machine *machine, uint64_t time_ns, struct valid_span *span)
{
	return (uint32_t)address_space_changes(&machine->kernel, time_ns, span);
}

const struct machine_binary *machine_binary_get(const struct machine *machine, uint32_t index)
{
	return &machine->binaries.binaries.items[index];
}

uint64_t machine_generated_since(const struct machine *machine, int32_t pid)
{
	const struct process_table *table = &machine->processes;
	uint64_t first = UINT64_MAX, index;
	if (!map_u64_find(&table->by_pid, (uint64_t)(uint32_t)pid, &index))
		return 0;
	const struct process *process = &table->processes.items[index];
	for (size_t i = 0; i < process->images.len; i++) {
		const struct address_space *space = process->images.items[i].space;
		for (size_t k = 0; k < space->mappings.len; k++)
			if (machine_binary_get(machine, space->mappings.items[k].binary)->kind == MACHINE_ANON_JIT)
				first = MIN(first, space->mappings.items[k].time_from_ns);
		if (first == UINT64_MAX && space->parent && i + 1 == process->images.len)
			first = space->fork_time_ns;
	}
	return first == UINT64_MAX ? 0 : first;
}

size_t machine_binary_count(const struct machine *machine)
{
	return machine->binaries.binaries.len;
}

uint32_t machine_file_rank(const struct machine *machine, uint32_t file)
{
	return file_table_rank(&machine->files, file);
}

size_t machine_remapped_texts(const struct machine *machine)
{
	return machine->remapped_texts;
}

struct tally_str machine_string(const struct machine *machine, uint32_t id)
{
	return intern_get(&machine->strings, id);
}
