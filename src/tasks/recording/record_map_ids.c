/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_map_ids.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "code/binaries/mapped_file.h"
#include "tasks/session/build_id.h"

#define RECORD_MAP_IDS_KERNEL_NAME     "[kernel.kallsyms]"
#define RECORD_MAP_IDS_NOTES_BYTES_MAX (64u << 10)

static void read_map_id(uint32_t pid, const struct proc_map *map, struct record_build_id *id)
{
	char path[PATH_MAX];
	struct mapped_file file = {.pid = (int32_t)pid,
		.start = map->start,
		.end = map->end,
		.path = path,
		.major = map->major,
		.minor = map->minor,
		.inode = map->inode};
	struct elf_build_id found = {.size = 0};
	snprintf(path, sizeof(path), "%.*s", (int)map->path.len, map->path.data);
	if (mapped_file_ask_id(&file, &found)) {
		id->size = found.size;
		memcpy(id->bytes, found.bytes, found.size);
		return;
	}
	int fd = mapped_file_open(&file);
	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)build_id_of_file(path, id);
	close(fd);
}

static bool id_of_map(void *context, uint32_t pid, const struct proc_map *map, struct record_build_id *id)
{
	struct record_map_ids *ids = context;
	const uint64_t key[] = {(uint64_t)map->major << 32 | map->minor, map->inode};
	bool is_new;
	if (map->inode == 0 || map->path.len >= PATH_MAX)
		return false;
	uint32_t index = id_table_add(&ids->files, key, &is_new);
	if (index == ID_TABLE_NONE)
		return false;
	if (is_new) {
		struct record_build_id found = {.size = 0};
		read_map_id(pid, map, &found);
		/* If memory runs out, the indexes in ids->files do not match ids->known any more, so both are
		 * cleared. */
		if (!vec_push(&ids->known, found)) {
			id_table_deinit(&ids->files);
			ids->files = (struct id_table){.words = 2};
			ids->known.len = 0;
			return false;
		}
	}
	*id = ids->known.items[index];
	return id->size > 0;
}

/* Converts "/lib/modules/6.1/kernel/net/nf-nat.ko.xz" and "[nf_nat]" to "nf_nat". */
static void record_map_ids_module_of(struct tally_str name, char *out, size_t size)
{
	size_t len = 0;
	for (size_t i = name.len; i > 0; i--)
		if (name.data[i - 1] == '/' || name.data[i - 1] == '[') {
			name.data += i;
			name.len -= i;
			break;
		}
	while (len < name.len && len + 1 < size && name.data[len] != '.' && name.data[len] != ']') {
		out[len] = name.data[len] == '-' ? '_' : name.data[len];
		len++;
	}
	out[len] = '\0';
}

static bool id_of_kernel(void *context, struct tally_str name, struct record_build_id *id)
{
	char module[NAME_MAX], path[NAME_MAX + 64], *notes;
	size_t len;
	(void)context;
	if (str_starts_with(name, STR(RECORD_MAP_IDS_KERNEL_NAME)))
		return build_id_of_kernel(id);
	record_map_ids_module_of(name, module, sizeof(module));
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	if (!*module || file_read(path, RECORD_MAP_IDS_NOTES_BYTES_MAX, &notes, &len, NULL) != TALLY_OK)
		return false;
	bool is_found = build_id_in_notes((struct tally_bytes){(const uint8_t *)notes, len}, false, id);
	free(notes);
	return is_found;
}

void record_map_ids_init(struct record_map_ids *ids)
{
	*ids = (struct record_map_ids){
		.source = {.of_file = id_of_map, .of_kernel = id_of_kernel, .context = ids}, .files = {.words = 2}};
}

void record_map_ids_deinit(struct record_map_ids *ids)
{
	id_table_deinit(&ids->files);
	vec_free(&ids->known);
}
