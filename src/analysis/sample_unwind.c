/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_unwind.h"

#include <sys/mman.h>

#include "analysis/store_entry.h"
#include "base/array.h"
#include "base/error.h"

#define SAMPLE_UNWIND_NOT_ASKED (STORE_ENTRY_NONE - 1)
/* A process may have mapped other files over parts of the mappings that it inherited, so what is found in an inherited
 * one is valid only for one page. */
#define PAGE_BYTES UINT64_C(4096)

void unwind_files_init(struct unwind_files *files, const struct machine *machine, struct binary_store *store)
{
	*files = (struct unwind_files){.machine = machine, .store = store};
}

void unwind_files_deinit(struct unwind_files *files)
{
	vec_free(&files->ids);
}

static enum tally_status sample_unwind_add_file(struct unwind_files *files, uint32_t binary, struct tally_error *err)
{
	enum machine_binary_kind kind = machine_binary_get(files->machine, binary)->kind;
	while (files->ids.len <= binary)
		if (!vec_push(&files->ids, SAMPLE_UNWIND_NOT_ASKED))
			return error_nomem(err);
	uint32_t *id = &files->ids.items[binary];
	if (*id != SAMPLE_UNWIND_NOT_ASKED)
		return TALLY_OK;
	*id = STORE_ENTRY_NONE;
	if (kind != MACHINE_USER_FILE && kind != MACHINE_VDSO && kind != MACHINE_ANON_JIT && kind != MACHINE_JITDUMP)
		return TALLY_OK;
	return store_entry_id(files->machine, files->store, binary, id, err);
}

enum tally_status unwind_files_add_all(struct unwind_files *files, struct tally_error *err)
{
	size_t count = machine_binary_count(files->machine);
	enum tally_status status = TALLY_OK;
	for (uint32_t i = 0; i < count && status == TALLY_OK; i++)
		status = sample_unwind_add_file(files, i, err);
	return status;
}

static uint32_t file_id(struct unwind_files *files, uint32_t binary)
{
	if (binary >= files->ids.len || files->ids.items[binary] == SAMPLE_UNWIND_NOT_ASKED)
		if (sample_unwind_add_file(files, binary, NULL) != TALLY_OK)
			return STORE_ENTRY_NONE;
	return files->ids.items[binary];
}

void sample_unwinder_init(
	struct sample_unwinder *u, struct unwind_files *files, const struct perfdata_features *features, bool swap)
{
	*u = (struct sample_unwinder){.files = files, .features = features, .swap = swap, .last_pid = -1};
}

void sample_unwinder_deinit(struct sample_unwinder *u)
{
	for (size_t i = 0; i < 2; i++) {
		unwinder_destroy(u->unwinders[i]);
		u->unwinders[i] = NULL;
	}
}

void sample_unwinder_forget(struct sample_unwinder *u)
{
	for (size_t i = 0; i < 2; i++)
		if (u->unwinders[i])
			unwinder_forget(u->unwinders[i]);
}

struct sample_unwind_look_up {
	struct sample_unwinder *u;
	const struct unwind_where *where;
};

static bool sample_unwind_find_module(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct sample_unwind_look_up *look_up = context;
	struct unwind_files *files = look_up->u->files;
	const struct unwind_where *where = look_up->where;
	const struct mapping *map =
		machine_find_mapping(files->machine, where->pid, where->time_ns, MISC_CPUMODE_USER, VA(pc));
	if (!map || (map->prot != 0 && !(map->prot & PROT_EXEC)))
		return false;
	*module = (struct unwind_module){.low = map->start, .high = map->end};
	if (map->pid != where->pid) {
		uint64_t page = pc & ~(PAGE_BYTES - 1);
		module->low = MAX(page, map->start);
		module->high = map->end - page > PAGE_BYTES ? page + PAGE_BYTES : map->end;
	}
	uint32_t id = file_id(files, map->binary);
	struct tally_elf_va va;
	uint64_t address = machine_address_in_binary(files->machine, map, VA(pc));
	if (id == STORE_ENTRY_NONE || !binary_store_unwind_va(files->store, id, FILE_OFF(address), &va))
		return true;
	module->table = binary_store_unwind(files->store, id);
	module->bias = pc - va.value;
	return true;
}

/* Returns the architecture of a sample's program. The ABI of its registers matters, because a 64-bit kernel also runs
 * 32-bit programs. Returns NULL if unknown. */
static const struct arch *arch_of(const struct sample_unwinder *u, uint64_t abi)
{
	const struct arch *arch = u->features->arch.len > 0 ? arch_find(u->features->arch.data) : NULL;
	return arch ? sample_registers_arch(arch, abi) : NULL;
}

static void sample_unwind_read_registers(
	const struct arch *arch, const struct sample *sample, struct unwind_registers *registers)
{
	uint32_t i = 0;
	registers->known = 0;
	registers->pc = 0;
	for (uint64_t mask = sample->regs_user.mask; mask && i < sample->regs_user.values.count; mask &= mask - 1)
		unwind_registers_set(registers, arch, (uint32_t)__builtin_ctzll(mask),
			sample_u64_at(sample->regs_user.values.data, i++, sample->swap));
}

static struct unwinder *unwinder_for(struct sample_unwinder *u, const struct arch *arch, uint64_t abi)
{
	struct unwinder **unwinder = &u->unwinders[abi == REGS_ABI_32];
	if (!*unwinder && unwinder_create(arch, unwinder, NULL) != TALLY_OK)
		u->failed = true;
	return *unwinder;
}

static struct unwind_result sample_unwind_run(struct sample_unwinder *u, const struct unwind_where *where,
	const struct sample *sample, uint64_t *ips, size_t max)
{
	struct unwind_result none = {.end = UNWIND_NO_REGISTERS};
	struct unwind_registers registers;
	struct sample_unwind_look_up look_up = {u, where};
	const struct unwind_modules modules = {sample_unwind_find_module, &look_up};
	const struct arch *arch = arch_of(u, sample->regs_user.abi);
	struct unwinder *unwinder = arch ? unwinder_for(u, arch, sample->regs_user.abi) : NULL;
	if (!unwinder)
		return none;
	if (where->pid != u->last_pid || where->epoch != u->last_epoch)
		sample_unwinder_forget(u);
	u->last_pid = where->pid;
	u->last_epoch = where->epoch;
	sample_unwind_read_registers(arch, sample, &registers);
	if (!(registers.known & UINT64_C(1) << arch->dwarf_sp))
		return none;
	struct unwind_stack stack = {
		.address = registers.values[arch->dwarf_sp], .bytes = sample->stack_user.bytes, .swap = u->swap};
	if (sample->stack_user.dyn_size < stack.bytes.len)
		stack.bytes.len = (size_t)sample->stack_user.dyn_size;
	struct unwind_result result = unwinder_run(unwinder, &registers, &stack, &modules, ips, max);
	struct unwind_module module;
	if (result.count == 1 && !(sample_unwind_find_module(&look_up, ips[0], &module) && module.table))
		result.count = 0;
	return result;
}

struct unwind_result sample_unwind(struct sample_unwinder *u, const struct unwind_where *where,
	const struct sample *sample, uint64_t *ips, size_t max)
{
	struct unwind_result result = sample_unwind_run(u, where, sample, ips, max);
	stack_ends_add(&u->ends, &result);
	return result;
}
