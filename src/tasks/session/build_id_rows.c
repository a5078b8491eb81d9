/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/build_id_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "kernel/recording/kernel_maps.h"
#include "tasks/session/build_id.h"

#define BUILD_ID_ROWS_KERNEL_NAME "[kernel.kallsyms]"
#define ID_COLUMN		  40
#define BUILD_ID_ROWS_PATH_BYTES  4096

void build_id_rows_init(struct build_id_rows *rows)
{
	*rows = (struct build_id_rows){0};
	arena_init(&rows->arena);
	intern_init(&rows->seen);
}

void build_id_rows_deinit(struct build_id_rows *rows)
{
	intern_deinit(&rows->seen);
	vec_free(&rows->rows);
	arena_deinit(&rows->arena);
}

bool build_id_rows_add(struct build_id_rows *rows, struct tally_str name, const struct record_build_id *id)
{
	struct text key = {0};
	uint32_t index;
	size_t before = rows->seen.len;
	text_bytes(&key, (const char *)id->bytes, id->size);
	text_bytes(&key, name.data, name.len);
	bool ok = !key.failed && intern_add(&rows->seen, key.data ? key.data : "", key.len, &index);
	text_deinit(&key);
	if (!ok || rows->seen.len == before)
		return ok;
	char *copy = arena_string(&rows->arena, name.data, name.len);
	struct build_id_row row = {*id, {copy, name.len}};
	return copy && vec_push(&rows->rows, row);
}

void build_id_to_hex(const struct record_build_id *id, char hex[BUILD_ID_HEX_BYTES])
{
	size_t size = MIN(id->size, sizeof(id->bytes));
	for (size_t i = 0; i < size; i++) {
		hex[2 * i] = "0123456789abcdef"[id->bytes[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[id->bytes[i] & 15];
	}
	hex[2 * size] = '\0';
}

void build_id_rows_print(const struct build_id_rows *rows, struct text *t)
{
	for (size_t i = 0; i < rows->rows.len; i++) {
		const struct build_id_row *row = &rows->rows.items[i];
		char hex[BUILD_ID_HEX_BYTES];
		build_id_to_hex(&row->id, hex);
		text_str_left(t, str_from(hex), ID_COLUMN);
		text_char(t, ' ');
		text_visible(t, row->name);
		text_char(t, '\n');
	}
}

/* Converts "/lib/modules/6.1/kernel/net/rfcomm-x.ko.xz" and "[rfcomm_x]" to "rfcomm_x", the name in /sys/module. */
static void build_id_rows_module_of(struct tally_str path, char *module, size_t size)
{
	size_t start = path.len, len = 0;
	while (start > 0 && path.data[start - 1] != '/')
		start--;
	for (size_t i = start; i < path.len && path.data[i] != '.' && len + 1 < size; i++)
		if (path.data[i] != '[' && path.data[i] != ']')
			module[len++] = path.data[i] == '-' ? '_' : path.data[i];
	module[len] = '\0';
}

static bool build_id_of_module(struct tally_str path, struct record_build_id *id)
{
	char module[256], notes_path[BUILD_ID_ROWS_PATH_BYTES], *notes;
	size_t len;
	build_id_rows_module_of(path, module, sizeof(module));
	snprintf(notes_path, sizeof(notes_path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	if (file_read(notes_path, LIMIT_SMALL_FILE, &notes, &len, NULL) != TALLY_OK)
		return false;
	bool is_found = build_id_in_notes((struct tally_bytes){(const uint8_t *)notes, len}, false, id);
	free(notes);
	return is_found;
}

static enum tally_status print_map(void *context, const struct kernel_map *map, struct tally_error *err)
{
	struct text *t = context;
	struct record_build_id id = {0};
	char hex[BUILD_ID_HEX_BYTES];
	bool is_kernel = str_starts_with(map->name, STR(BUILD_ID_ROWS_KERNEL_NAME));
	struct tally_str name = is_kernel ? STR(BUILD_ID_ROWS_KERNEL_NAME) : map->name;
	if (!(is_kernel ? build_id_of_kernel(&id) : build_id_of_module(name, &id)))
		id.size = 0;
	build_id_to_hex(&id, hex);
	text_str_left(t, str_from(hex), ID_COLUMN);
	text_char(t, ' ');
	text_hex_right(t, map->start, 16);
	text_char(t, ' ');
	text_hex_right(t, map->start + map->len, 16);
	text_char(t, ' ');
	text_visible(t, name);
	text_char(t, '\n');
	return t->failed ? error_nomem(err) : TALLY_OK;
}

int build_id_print_kernel_maps(const struct cli *cli)
{
	struct tally_error err;
	struct text t = {0};
	enum tally_status status = kernel_maps_each(kernel_seam_linux(), STR(""), print_map, &t, &err);
	bool is_empty = t.len == 0;
	int code = cli_finish_text(cli, &t);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	if (is_empty)
		return cli_failf(cli, "the kernel hides its addresses: see /proc/sys/kernel/kptr_restrict");
	return code;
}
