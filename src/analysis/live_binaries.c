#include "analysis/live_binaries.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/binary_store.h"

struct opened {
	bool is_opened;
	uint32_t id; /* in the store */
	const struct unwind_table *table; /* NULL: none */
};

struct live_binaries {
	const struct live_maps *maps;
	struct binary_store_options options;
	struct binary_store *store;
	VEC(struct opened) files; /* by number in the maps */
};

enum tally_status live_binaries_create(
	const struct live_maps *maps, const char *build_id_dir, struct live_binaries **out, struct tally_error *err)
{
	struct live_binaries *b = calloc(1, sizeof(*b));

	if (!b)
		return error_nomem(err);
	b->maps = maps;
	b->options = (struct binary_store_options){.build_id_dir = build_id_dir, .threads = 1};
	enum tally_status st = binary_store_create(&b->options, &b->store, err);
	if (st != TALLY_OK) {
		free(b);
		return st;
	}
	*out = b;
	return TALLY_OK;
}

void live_binaries_destroy(struct live_binaries *b)
{
	if (!b)
		return;
	binary_store_destroy(b->store);
	vec_free(&b->files);
	free(b);
}

enum tally_status live_binaries_reset(struct live_binaries *b, struct tally_error *err)
{
	struct binary_store *fresh;
	enum tally_status st = binary_store_create(&b->options, &fresh, err);

	if (st != TALLY_OK)
		return st;
	binary_store_destroy(b->store);
	b->store = fresh;
	b->files.len = 0;
	return TALLY_OK;
}

static void open_file(struct live_binaries *b, uint32_t number, struct opened *opened)
{
	const struct live_file *file = &b->maps->files.items[number];
	struct binary_key key = {.kind = file->kind == LIVE_VDSO ? BINARY_VDSO : BINARY_USER,
		.path = live_maps_path(b->maps, file),
		.pid = file->pid,
		.build_id_size = file->build_id.size};

	opened->is_opened = true;
	memcpy(key.build_id, file->build_id.bytes, sizeof(key.build_id));
	if (file->kind != LIVE_NO_FILE && binary_store_add(b->store, &key, &opened->id, NULL) == TALLY_OK)
		opened->table = binary_store_unwind(b->store, opened->id);
}

static struct opened *opened_of(struct live_binaries *b, uint32_t number)
{
	if (!vec_reserve(&b->files, (size_t)number + 1))
		return NULL;
	while (b->files.len <= number)
		b->files.items[b->files.len++] = (struct opened){0};
	if (!b->files.items[number].is_opened)
		open_file(b, number, &b->files.items[number]);
	return &b->files.items[number];
}

bool live_binaries_find(
	struct live_binaries *b, const struct live_process *process, uint64_t pc, struct unwind_module *module)
{
	const struct live_mapping *map = live_maps_find(process, pc);
	const struct opened *opened = map ? opened_of(b, map->file) : NULL;
	struct tally_elf_va va;

	if (!map)
		return false;
	*module = (struct unwind_module){.low = map->start, .high = map->end};
	if (!opened || !opened->table ||
		!binary_store_unwind_va(
			b->store, opened->id, (struct tally_file_off){pc - map->start + map->pgoff}, &va))
		return true;
	module->table = opened->table;
	module->bias = pc - va.value;
	return true;
}
