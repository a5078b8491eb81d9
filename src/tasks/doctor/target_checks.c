/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/doctor/target_checks.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/attr.h"
#include "base/error.h"
#include "base/text.h"
#include "code/process_files.h"
#include "code/unwind/unwind_table.h"
#include "kernel/events/event_spec.h"
#include "kernel/events/privileges.h"
#include "kernel/recording/proc_maps.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/system/kernel_files.h"
#include "kernel/system/program_path.h"
#include "tasks/reporting/package_hint.h"

#define TARGET_FILES_MAX 4096 /* of a process; what maps more is no program of people */

struct target_checking {
	const struct kernel_seam *kernel;
	struct binary_store *store;
	struct target_checks *target;
	VEC(struct binary_key) keys; /* by file */
	VEC(uint32_t) ids; /* in the store */
	struct package_hints hints;
};

struct frame_pointer_survey {
	const struct arch *arch;
	uint64_t last; /* address of the row before */
	bool has_last, last_has_rule, last_keeps;
	uint64_t all, kept; /* bytes of code */
};

static bool saves_register(const struct unwind_rule *rule, uint8_t number)
{
	for (size_t i = 0; i < rule->saved_count; i++)
		if (rule->saved[i].number == number)
			return true;
	return false;
}

/* Whether a walk by frame pointers finds the caller: the frame is found by it, or the pair of frame pointer and return
 * address is saved together. */
static bool rule_keeps_frame_pointer(const struct arch *arch, const struct unwind_rule *rule)
{
	if (!rule->cfa_is_expression && rule->cfa_register == arch->dwarf_fp)
		return true;
	return arch->link != ARCH_NO_REGISTER && saves_register(rule, arch->dwarf_fp) &&
	       saves_register(rule, arch->dwarf_link);
}

static bool survey_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct frame_pointer_survey *s = context;
	if (s->has_last && s->last_has_rule && address > s->last) {
		s->all += address - s->last;
		s->kept += s->last_keeps ? address - s->last : 0;
	}
	s->last = address;
	s->has_last = true;
	s->last_has_rule = rule != NULL;
	s->last_keeps = rule && rule_keeps_frame_pointer(s->arch, rule);
	return true;
}

static unsigned percent_of(uint64_t part, uint64_t whole)
{
	return whole ? (unsigned)(100.0 * (double)part / (double)whole + 0.5) : 0;
}

static const char *target_keep(struct target_checks *target, const char *text)
{
	return text ? arena_string(&target->arena, text, strlen(text)) : NULL;
}

static const char *target_hint(struct target_checking *c, const struct binary_info *info, const char *path)
{
	char build_id[2 * sizeof(info->build_id) + 1] = "";
	struct text text = {0};
	for (size_t i = 0; i < info->build_id_size; i++)
		snprintf(build_id + 2 * i, 3, "%02x", info->build_id[i]);
	package_hint_print(&c->hints, &text, path, build_id);
	const char *kept = text.failed ? NULL : arena_string(&c->target->arena, text.data ? text.data : "", text.len);
	text_deinit(&text);
	return kept;
}

/* Symbols and debug information of the file that the store found names in. */
static void check_names(struct target_checking *c, struct target_file *file, uint32_t id)
{
	struct binary_info info = binary_store_info(c->store, id);
	struct elf_image *image;
	file->names = info.status == BINARY_OK && info.symbol_count > 0 ? TARGET_EXPORTED_NAMES : TARGET_NO_NAMES;
	file->names_from = target_keep(c->target, info.used_path);
	file->trouble = target_keep(c->target, info.text);
	if (info.used_path && elf_image_open(info.used_path, &image, NULL) == TALLY_OK) {
		if (elf_image_has_symtab(image))
			file->names = TARGET_ALL_NAMES;
		file->has_lines = elf_image_section(image, ".debug_info").len > 0;
		elf_image_close(image);
	}
	if (file->names != TARGET_ALL_NAMES)
		file->hint = target_hint(c, &info, file->path);
}

static void check_stacks(struct target_checking *c, struct target_file *file, uint32_t id)
{
	const struct unwind_table *table = binary_store_unwind(c->store, id);
	const struct arch *arch = record_host_arch();
	file->has_unwind_table = table != NULL;
	if (!table || !arch)
		return;
	struct frame_pointer_survey survey = {.arch = arch};
	unwind_table_each(table, survey_row, &survey);
	file->frame_pointer_percent = percent_of(survey.kept, survey.all);
}

static int by_code_bytes(const void *a, const void *b)
{
	const struct target_file *one = a, *other = b;
	if (one->code_bytes != other->code_bytes)
		return one->code_bytes < other->code_bytes ? 1 : -1;
	return strcmp(one->path, other->path);
}

static enum tally_status check_files(struct target_checking *c, struct tally_error *err)
{
	struct target_checks *target = c->target;
	uint64_t all = 0, kept = 0;
	for (size_t i = 0; i < c->keys.len; i++) {
		uint32_t id;
		enum tally_status status = binary_store_add(c->store, &c->keys.items[i], &id, err);
		if (status != TALLY_OK)
			return status;
		if (!vec_push(&c->ids, id))
			return error_nomem(err);
	}
	binary_store_load(c->store, c->ids.items, c->ids.len);
	for (size_t i = 0; i < c->ids.len; i++) {
		struct target_file *file = &target->files.items[i];
		check_names(c, file, c->ids.items[i]);
		check_stacks(c, file, c->ids.items[i]);
		all += file->code_bytes;
		kept += file->code_bytes * file->frame_pointer_percent / 100;
	}
	target->frame_pointer_percent = percent_of(kept, all);
	qsort(target->files.items, target->files.len, sizeof(struct target_file), by_code_bytes);
	return TALLY_OK;
}

static enum tally_status add_file(
	struct target_checking *c, const struct binary_key *key, uint64_t bytes, struct tally_error *err)
{
	for (size_t i = 0; i < c->keys.len; i++)
		if (str_equal(c->keys.items[i].path, key->path) && c->keys.items[i].inode == key->inode) {
			c->target->files.items[i].code_bytes += bytes;
			return TALLY_OK;
		}
	if (c->keys.len == TARGET_FILES_MAX)
		return error_set(err, TALLY_LIMIT, "the process maps more than %d files to execute", TARGET_FILES_MAX);
	struct binary_key kept = *key;
	const char *path = arena_string(&c->target->arena, key->path.data, key->path.len);
	if (!path)
		return error_nomem(err);
	kept.path = (struct tally_str){path, key->path.len};
	return vec_push(&c->keys, kept) &&
			       vec_push(&c->target->files, ((struct target_file){.path = path, .code_bytes = bytes}))
		       ? TALLY_OK
		       : error_nomem(err);
}

static enum tally_status add_mapping(struct target_checking *c, const struct proc_map *map, struct tally_error *err)
{
	uint64_t bytes = map->end - map->start;
	if (!(map->prot & PROT_EXEC))
		return TALLY_OK;
	if (map->path.len == 0 || str_starts_with(map->path, STR("//anon")) ||
		str_starts_with(map->path, STR("[anon"))) {
		c->target->generated_bytes += bytes;
		return TALLY_OK;
	}
	if (map->path.data[0] != '/' || str_starts_with(map->path, STR("/memfd:")) ||
		str_starts_with(map->path, STR("/dev/")))
		return TALLY_OK;
	struct binary_key key = {.kind = BINARY_USER,
		.path = map->path,
		.pid = c->target->pid,
		.major = map->major,
		.minor = map->minor,
		.inode = map->inode};
	return add_file(c, &key, bytes, err);
}

static enum tally_status add_mappings(struct target_checking *c, struct tally_error *err)
{
	char *text = NULL;
	enum tally_status status = kernel_text(c->kernel, &text, err, "/proc/%d/maps", (int)c->target->pid);
	if (status == TALLY_DENIED)
		return error_set(err, TALLY_DENIED,
			"the mappings of process %d may not be read: it belongs to another user or is not dumpable; "
			"run as "
			"its user, or with CAP_SYS_PTRACE",
			(int)c->target->pid);
	if (status != TALLY_OK)
		return error_set(err, TALLY_NOT_FOUND, "there is no process %d", (int)c->target->pid);
	struct tally_str rest = str_from(text), line;
	while (status == TALLY_OK && str_next(&rest, '\n', &line)) {
		struct proc_map map;
		if (proc_map_parse(line, &map))
			status = add_mapping(c, &map, err);
	}
	free(text);
	return status;
}

/* Whether the events that record opens would open for this process. */
static void check_access(struct target_checking *c)
{
	const struct kernel_seam *kernel = c->kernel;
	struct event_spec spec = {
		.attr = {.type = EVENT_SOFTWARE, .size = 64}, .name = "cpu-clock:u", .scale = 1, .unit = ""};
	struct text reason = {0};
	spec.attr.flags =
		ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
	int fd = kernel->perf_event_open(kernel->context, &spec.attr, c->target->pid, -1, -1, 0);
	if (fd >= 0) {
		kernel->close(kernel->context, fd);
		return;
	}
	refusal_reason(kernel, &spec, c->target->pid, -1, errno, &reason);
	if (!reason.failed)
		c->target->refusal = arena_string(&c->target->arena, reason.data, reason.len);
	text_deinit(&reason);
}

static void check_generated_code(struct target_checking *c)
{
	struct text path = {0};
	if (c->target->generated_bytes == 0)
		return;
	text_printf(&path, "/tmp/perf-%d.map", (int)c->target->pid);
	if (!path.failed && kernel_has(c->kernel, "%.*s", (int)path.len, path.data))
		c->target->generated_map = arena_string(&c->target->arena, path.data, path.len);
	text_deinit(&path);
}

static enum tally_status target_run(struct target_checking *c, const struct binary_store_options *options,
	enum tally_status (*add)(struct target_checking *c, struct tally_error *err), struct tally_error *err)
{
	enum tally_status status = add(c, err);
	package_hints_init(&c->hints);
	if (status == TALLY_OK)
		status = binary_store_create(options, &c->store, err);
	if (status == TALLY_OK) {
		status = check_files(c, err);
		binary_store_destroy(c->store);
	}
	vec_free(&c->keys);
	vec_free(&c->ids);
	if (status != TALLY_OK)
		target_checks_deinit(c->target);
	return status;
}

enum tally_status target_checks_of_process(const struct kernel_seam *kernel, const struct binary_store_options *options,
	int32_t pid, struct target_checks *target, struct tally_error *err)
{
	struct target_checking c = {.kernel = kernel, .target = target};
	char *name = NULL;
	*target = (struct target_checks){.pid = pid};
	arena_init(&target->arena);
	if (kernel_text(kernel, &name, NULL, "/proc/%d/comm", (int)pid) == TALLY_OK)
		target->name = target_keep(target, name);
	free(name);
	enum tally_status status = target_run(&c, options, add_mappings, err);
	if (status != TALLY_OK)
		return status;
	check_access(&c);
	check_generated_code(&c);
	return TALLY_OK;
}

static enum tally_status add_program(struct target_checking *c, struct tally_error *err)
{
	const struct binary_key key = {.kind = BINARY_USER, .path = str_from(c->target->name), .pid = -1};
	struct elf_image *image;
	uint64_t bytes = 0;
	enum tally_status status = elf_image_open(c->target->name, &image, err);
	if (status != TALLY_OK)
		return status;
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++)
		bytes += segments[i].is_executable ? segments[i].file_size : 0;
	elf_image_close(image);
	return add_file(c, &key, bytes, err);
}

enum tally_status target_checks_of_command(const struct kernel_seam *kernel, const struct binary_store_options *options,
	const char *command, struct target_checks *target, struct tally_error *err)
{
	struct target_checking c = {.kernel = kernel, .target = target};
	char path[PATH_MAX], real[PATH_MAX];
	*target = (struct target_checks){0};
	if (!program_path_find(command, path))
		return error_set(err, TALLY_NOT_FOUND, "there is no program '%s' to run", command);
	arena_init(&target->arena);
	target->name = target_keep(target, realpath(path, real) ? real : path);
	if (!target->name) {
		target_checks_deinit(target);
		return error_nomem(err);
	}
	return target_run(&c, options, add_program, err);
}

void target_checks_deinit(struct target_checks *target)
{
	vec_free(&target->files);
	arena_deinit(&target->arena);
	*target = (struct target_checks){0};
}
