/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/doctor/target_checks.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/attr.h"
#include "base/array.h"
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

#define TARGET_KERNEL_THREAD 0x00200000 /* PF_KTHREAD in the flags of /proc/PID/stat. */
#define TARGET_SHEBANG	     256 /* Number of bytes of the first line that the kernel reads. */
#define TARGET_SCRIPTS_MAX   5 /* Maximum depth of scripts with scripts as interpreters. */
#define TARGET_FILES_MAX     4096 /* Maximum number of mapped files of a process; ordinary programs have far fewer. */

struct target_checking {
	const struct kernel_seam *kernel;
	struct binary_store *store;
	struct target_checks *target;
	VEC(struct binary_key) keys; /* Same indexes as target->files. */
	VEC(uint32_t) ids; /* IDs of the files in the store, with the same indexes. */
	struct package_hints hints;
};

struct frame_pointer_survey {
	const struct arch *arch;
	bool is_go; /* Go functions have a frame pointer, but their unwind rules do not mention it. */
	uint64_t last; /* Address of the previous row of the unwind table. */
	bool has_last, last_has_rule, last_keeps;
	/* Sizes of the code in bytes: all that has unwind rules, and the part with frame pointers. */
	uint64_t all, kept;
};

static bool saves_register(const struct unwind_rule *rule, uint8_t number)
{
	for (size_t i = 0; i < rule->saved_count; i++)
		if (rule->saved[i].number == number)
			return true;
	return false;
}

/* Returns whether the rule is that of a Go function with a frame: on x86-64 and arm64, such a function saves the frame
 * pointer next to the return address. */
static bool rule_has_go_frame(const struct arch *arch, const struct unwind_rule *rule)
{
	int64_t least = arch->link == ARCH_NO_REGISTER ? (int64_t)sizeof(uint64_t) : 0;
	return !rule->cfa_is_expression && rule->cfa_register == arch->dwarf_sp && rule->cfa > least;
}

/* Returns whether unwinding by frame pointers finds the caller: the CFA is relative to the frame pointer, or, on
 * machines with a link register, the frame pointer and the return address are both saved. */
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
	s->last_keeps =
		rule && (rule_keeps_frame_pointer(s->arch, rule) || (s->is_go && rule_has_go_frame(s->arch, rule)));
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

/* Checks the symbols and debug information of the file from which the store has read the names. */
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
	file->is_from_package = file->hint && strstr(file->hint, " install ");
}

static bool file_is_go(const struct target_checking *c, uint32_t id)
{
	struct binary_info info = binary_store_info(c->store, id);
	struct elf_image *image;
	if (!info.used_path || elf_image_open(info.used_path, &image, NULL) != TALLY_OK)
		return false;
	bool is_go = elf_image_section(image, ".gopclntab").len > 0 ||
		     elf_image_section(image, ".data.rel.ro.gopclntab").len > 0;
	elf_image_close(image);
	return is_go;
}

static void check_stacks(struct target_checking *c, struct target_file *file, uint32_t id)
{
	const struct unwind_table *table = binary_store_unwind(c->store, id);
	const struct arch *arch = record_host_arch();
	file->has_unwind_table = table != NULL;
	if (!table || !arch)
		return;
	struct frame_pointer_survey survey = {.arch = arch, .is_go = file_is_go(c, id)};
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
	if (target->files.len > 0)
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

static void target_refuse(struct target_checking *c, const char *reason)
{
	c->target->refusal = target_keep(c->target, reason);
}

static enum tally_status add_mappings(struct target_checking *c, struct tally_error *err)
{
	char *text = NULL;
	enum tally_status status = kernel_text(c->kernel, &text, err, "/proc/%d/maps", (int)c->target->pid);
	if (status == TALLY_DENIED) {
		target_refuse(c,
			"its mappings may not be read: it belongs to another user or is not dumpable; run as its "
			"user, or with CAP_SYS_PTRACE");
		return TALLY_OK;
	}
	if (status != TALLY_OK)
		return error_set(err, TALLY_NOT_FOUND, "there is no process %d%s", (int)c->target->pid,
			kernel_has(c->kernel, "/proc/self") ? ""
							    : " that could be looked at: /proc is not mounted here");
	struct tally_str rest = str_from(text), line;
	while (status == TALLY_OK && str_next(&rest, '\n', &line)) {
		struct proc_map map;
		if (proc_map_parse(line, &map))
			status = add_mapping(c, &map, err);
	}
	free(text);
	return status;
}

/* Reads the state and the flags. They follow the process name, which may contain any character. */
static void check_state(struct target_checking *c)
{
	char *text = NULL, state;
	unsigned flags;
	if (kernel_text(c->kernel, &text, NULL, "/proc/%d/stat", (int)c->target->pid) != TALLY_OK)
		return;
	const char *rest = strrchr(text, ')');
	if (rest && sscanf(rest, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2) {
		c->target->is_kernel_thread = (flags & TARGET_KERNEL_THREAD) != 0;
		if (state == 'Z')
			target_refuse(c, "it has ended, and its parent has not waited for it yet (a zombie)");
	}
	free(text);
}

/* Tries to open an event like those of record for this process. */
static void check_access(struct target_checking *c)
{
	const struct kernel_seam *kernel = c->kernel;
	struct event_spec spec = {
		.attr = {.type = EVENT_SOFTWARE, .size = 64}, .name = "cpu-clock:u", .scale = 1, .unit = ""};
	struct text reason = {0};
	spec.attr.flags = ATTR_FLAG(ATTR_BIT_DISABLED);
	if (!c->target->is_kernel_thread)
		spec.attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
	int fd = kernel->perf_event_open(kernel->context, &spec.attr, c->target->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0) {
		kernel->close(kernel->context, fd);
		return;
	}
	refusal_reason(kernel, &spec, c->target->pid, -1, errno, &reason);
	text_char(&reason, '\0');
	if (!reason.failed)
		target_refuse(c, reason.data);
	text_deinit(&reason);
}

/* Returns how the mapped runtime can be made to write the names of its code. */
static const char *generated_code_hint(struct target_checks *target, int32_t inner)
{
	static const struct {
		const char *word, *hint; /* word is a prefix of the file name of the program or library. */
	} runtimes[] = {
		{"/node", "start it as 'node --perf-basic-prof'"},
		{"/libnode.so", "start it as 'node --perf-basic-prof'"},
		{"/libcoreclr.so", "start it with DOTNET_PerfMapEnabled=1"},
		{"/libpython3", "start it as 'python3 -X perf' (Python 3.12 and newer)"},
		{"/python3", "start it as 'python3 -X perf' (Python 3.12 and newer)"},
		{"/libruby", "start it as 'ruby --yjit --yjit-perf' (Ruby 3.3 and newer)"},
		{"/ruby", "start it as 'ruby --yjit --yjit-perf' (Ruby 3.3 and newer)"},
		{"/chrome", "start it with --js-flags=--perf-basic-prof"},
	};
	for (size_t k = 0; k < ARRAY_LEN(runtimes); k++)
		for (size_t i = 0; i < target->files.len; i++) {
			const char *name = strrchr(target->files.items[i].path, '/');
			if (name && strcmp(name, "/libjvm.so") == 0)
				return arena_printf(&target->arena,
					"'jcmd %d Compiler.perfmap' (Java 17 and newer) writes them while it runs",
					(int)inner);
			if (name && strncmp(name, runtimes[k].word, strlen(runtimes[k].word)) == 0)
				return runtimes[k].hint;
		}
	return "its runtime has to write /tmp/perf-PID.map";
}

/* Looks for the perf map, in which a runtime lists the names of its generated code. It is at the path that the process
 * sees: a container has its own /tmp and PIDs. */
static void check_generated_code(struct target_checking *c)
{
	struct target_checks *target = c->target;
	char *status_text = NULL;
	int32_t inner = target->pid;
	struct text path = {0};
	if (target->generated_bytes == 0)
		return;
	if (kernel_text(c->kernel, &status_text, NULL, "/proc/%d/status", (int)target->pid) == TALLY_OK) {
		const char *pids = strstr(status_text, "\nNSpid:"), *last = NULL;
		/* The last PID is the one in the innermost namespace. */
		for (const char *at = pids ? pids + strlen("\nNSpid:") : NULL; at && (*at == '\t' || *at == ' ');
			at += 1 + strspn(at + 1, "0123456789"))
			last = at + 1;
		inner = last ? (int32_t)strtol(last, NULL, 10) : inner;
	}
	free(status_text);
	text_printf(&path, "/tmp/perf-%d.map", (int)inner);
	if (!path.failed && kernel_has(c->kernel, "/proc/%d/root%.*s", (int)target->pid, (int)path.len, path.data))
		target->generated_map = arena_string(&target->arena, path.data, path.len);
	else
		target->generated_hint = generated_code_hint(target, inner);
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
	check_state(&c);
	if (!target->refusal)
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
	if (status != TALLY_OK && c->target->script)
		return error_set(err, status, "cannot look at '%s', which runs '%s': it is not there, or no program",
			c->target->name, c->target->script);
	if (status != TALLY_OK)
		return error_set(err, status,
			"cannot look at '%s': it may be executed, but is no ELF file and no script with #!",
			c->target->name);
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++)
		bytes += segments[i].is_executable ? segments[i].file_size : 0;
	elf_image_close(image);
	return add_file(c, &key, bytes, err);
}

/* Returns the reason why a command cannot be found, to follow a colon. */
static const char *command_trouble(const char *command)
{
	struct stat st;
	if (!strchr(command, '/'))
		return "no folder of $PATH has it; a path, or a PID, can be given, too";
	if (stat(command, &st) != 0)
		return strerror(errno);
	if (S_ISDIR(st.st_mode))
		return "it is a folder";
	return S_ISREG(st.st_mode) ? "it may not be executed ('chmod +x' allows that)" : "it is no regular file";
}

/* Reads the interpreter from the first line of a script. Returns false if the file is not a script. */
static bool script_interpreter(const char *path, char interpreter[PATH_MAX])
{
	char line[TARGET_SHEBANG] = "";
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
	if (file)
		fclose(file);
	if (len < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[2 + strcspn(line + 2, "\n")] = '\0';
	char *rest = NULL, *word = strtok_r(line + 2, " \t", &rest);
	const char *name = word ? strrchr(word, '/') : NULL;
	/* The interpreter of "env NAME" and "env -S NAME" is NAME. */
	while (word && name && strcmp(name, "/env") == 0) {
		char *argument = strtok_r(NULL, " \t", &rest);
		if (!argument)
			break;
		if (argument[0] != '-' && !strchr(argument, '='))
			return program_path_find(argument, interpreter);
	}
	return word && snprintf(interpreter, PATH_MAX, "%s", word) < PATH_MAX;
}

/* Replaces path by the interpreter as long as it is a script, as the kernel does, up to a maximum depth. Sets
 * target->script to the script and target->name to the program. Returns false if memory runs out. */
static bool command_follow_scripts(struct target_checks *target, char path[PATH_MAX])
{
	char interpreter[PATH_MAX], real[PATH_MAX];
	for (int depth = 0; depth < TARGET_SCRIPTS_MAX && script_interpreter(path, interpreter); depth++) {
		if (!target->script) {
			target->script = target_keep(target, path);
			if (!target->script)
				return false;
		}
		memcpy(path, interpreter, PATH_MAX);
	}
	target->name = target_keep(target, realpath(path, real) ? real : path);
	return target->name != NULL;
}

enum tally_status target_checks_of_command(const struct kernel_seam *kernel, const struct binary_store_options *options,
	const char *command, struct target_checks *target, struct tally_error *err)
{
	struct target_checking c = {.kernel = kernel, .target = target};
	char path[PATH_MAX];
	*target = (struct target_checks){0};
	if (!program_path_find(command, path))
		return error_set(
			err, TALLY_NOT_FOUND, "there is no program '%s': %s", command, command_trouble(command));
	arena_init(&target->arena);
	if (!command_follow_scripts(target, path)) {
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
