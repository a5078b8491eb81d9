/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/kernel_maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "kernel/recording/proc_maps.h"

#define CHUNK_BYTES (64u << 10)

struct kernel_range {
	uint64_t start, end;
	const char *name;
};

/* Parses "ffffffff81000000 T _text[\t[module]]". */
static bool parse_symbol(struct tally_str line, uint64_t *address, struct tally_str *name)
{
	struct tally_str first, type;
	return str_next(&line, ' ', &first) && str_to_u64(first, 16, address) && str_next(&line, ' ', &type) &&
	       str_next(&line, '\t', name);
}

/* Looks for _text, _stext and _etext. Few lines end like these, so that is checked before the address is parsed. */
static void note_symbol(struct kernel_range *range, struct tally_str line)
{
	struct tally_str name;
	uint64_t address;
	if (!str_ends_with(line, STR("text")) || !parse_symbol(line, &address, &name) || address == 0)
		return;
	if (!range->name && str_equal(name, STR("_text"))) {
		range->start = address;
		range->name = "[kernel.kallsyms]_text";
	} else if (!range->name && str_equal(name, STR("_stext"))) {
		range->start = address;
		range->name = "[kernel.kallsyms]_stext";
	} else if (str_equal(name, STR("_etext"))) {
		range->end = address;
	}
}

static bool kernel_maps_is_whole(const struct kernel_range *range)
{
	return range->name && range->end;
}

/* Processes complete lines until the range is known; returns the number of bytes used. */
static size_t note_lines(struct kernel_range *range, struct tally_str text)
{
	size_t at = 0;
	const char *end;
	while (!kernel_maps_is_whole(range) && at < text.len && (end = memchr(text.data + at, '\n', text.len - at))) {
		size_t line_end = (size_t)(end - text.data);
		note_symbol(range, (struct tally_str){text.data + at, line_end - at});
		at = line_end + 1;
	}
	return at;
}

/* The list is read in chunks and only as far as needed: the kernel generates its hundred thousand lines while they are
 * read. */
static void kernel_maps_read_list(const struct kernel_seam *kernel, struct kernel_range *range)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/proc/kallsyms", kernel->root);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *chunk = malloc(CHUNK_BYTES);
	size_t kept = 0;
	while (fd >= 0 && chunk && !kernel_maps_is_whole(range)) {
		ssize_t n = read(fd, chunk + kept, CHUNK_BYTES - kept);
		if (n <= 0)
			break;
		size_t len = kept + (size_t)n, used = note_lines(range, (struct tally_str){chunk, len});
		kept = len - used;
		if (kept == CHUNK_BYTES)
			break; /* No kernel writes such a long line. */
		memmove(chunk, chunk + used, kept);
	}
	free(chunk);
	if (fd >= 0)
		close(fd);
}

static struct kernel_range find_kernel(const struct kernel_seam *kernel, struct tally_str list)
{
	struct kernel_range range = {0};
	if (list.len > 0)
		(void)note_lines(&range, list);
	else
		kernel_maps_read_list(kernel, &range);
	return range;
}

static bool is_same_module(struct tally_str file, struct tally_str module)
{
	if (file.len < module.len)
		return false;
	for (size_t i = 0; i < module.len; i++) {
		char a = file.data[i] == '-' ? '_' : file.data[i];
		char b = module.data[i] == '-' ? '_' : module.data[i];
		if (a != b)
			return false;
	}
	return str_starts_with((struct tally_str){file.data + module.len, file.len - module.len}, STR(".ko"));
}

/* Finds the path before the colon of the line of modules.dep for the module. */
static bool find_module_file(struct tally_str dep, struct tally_str module, struct tally_str *path)
{
	struct tally_str line, file;
	while (str_next(&dep, '\n', &line)) {
		if (!str_next(&line, ':', &file))
			continue;
		size_t base = file.len;
		while (base && file.data[base - 1] != '/')
			base--;
		if (is_same_module((struct tally_str){file.data + base, file.len - base}, module)) {
			*path = file;
			return true;
		}
	}
	return false;
}

static void kernel_maps_module_name(
	const char *directory, struct tally_str dep, struct tally_str module, char *out, size_t size)
{
	struct tally_str path;
	if (find_module_file(dep, module, &path))
		snprintf(out, size, "%s/%.*s", directory, (int)path.len, path.data);
	else
		snprintf(out, size, "[%.*s]", (int)module.len, module.data);
}

enum tally_status kernel_maps_each(const struct kernel_seam *kernel, struct tally_str list,
	enum tally_status (*visit)(void *context, const struct kernel_map *map, struct tally_error *err), void *context,
	struct tally_error *err)
{
	struct kernel_range range = find_kernel(kernel, list);
	char path[4096], directory[256], *modules = NULL, *dep = NULL;
	size_t modules_len = 0, dep_len = 0;
	enum tally_status status = TALLY_OK;
	struct utsname uts;
	if (range.name && range.end > range.start) {
		struct kernel_map map = {range.start, range.end - range.start, range.start, str_from(range.name)};
		status = visit(context, &map, err);
	}
	snprintf(path, sizeof(path), "%s/proc/modules", kernel->root);
	if (status != TALLY_OK || file_read(path, LIMIT_SMALL_FILE, &modules, &modules_len, NULL) != TALLY_OK)
		return status;
	snprintf(directory, sizeof(directory), "/lib/modules/%s", uname(&uts) == 0 ? uts.release : "");
	snprintf(path, sizeof(path), "%s%s/modules.dep", kernel->root, directory);
	if (file_read(path, LIMIT_SMALL_FILE, &dep, &dep_len, NULL) != TALLY_OK)
		dep = NULL;
	struct tally_str rest = {modules, modules_len}, line;
	while (status == TALLY_OK && str_next(&rest, '\n', &line)) {
		struct proc_module module;
		char name[4096];
		if (!proc_module_parse(line, &module) || module.start == 0 || module.size == 0)
			continue;
		kernel_maps_module_name(directory, (struct tally_str){dep ? dep : "", dep ? dep_len : 0}, module.name,
			name, sizeof(name));
		struct kernel_map map = {module.start, (module.size + 4095) & ~UINT64_C(4095), 0, str_from(name)};
		status = visit(context, &map, err);
	}
	free(modules);
	free(dep);
	return status;
}
