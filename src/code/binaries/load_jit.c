/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "code/binaries/binary_trail.h"
#include "code/process_files.h"
#include "code/symbols/perf_map.h"

#define LOAD_JIT_PROC_PATH_BYTES 64

struct load_jit_runtime { /* The process that wrote the file. */
	bool is_running;
	int32_t own_pid; /* PID in the process's own namespace. */
	uid_t uid;
	/* Start of the process on the clock of file times; 0 if it is not known or the process is not running. */
	uint64_t began_ns;
	bool is_later; /* The PID was reused after the recording. */
};

#define LOAD_JIT_NS UINT64_C(1000000000)
/* Clocks of files, processes and recordings differ in resolution. */
#define LOAD_JIT_SLACK_NS (2 * LOAD_JIT_NS)
/* Index of starttime among the fields of /proc/PID/stat after the command name, in clock ticks since boot. */
#define STAT_START_FIELD 20

/* Parses the last number of "NSpid:\t4711\t7", which is the PID in the process's own namespace. */
static int32_t last_number(struct tally_str text, int32_t otherwise)
{
	size_t start = text.len;
	uint64_t number;
	while (start > 0 && text.data[start - 1] >= '0' && text.data[start - 1] <= '9')
		start--;
	if (!str_to_u64((struct tally_str){text.data + start, text.len - start}, 10, &number) || number > INT32_MAX)
		return otherwise;
	return (int32_t)number;
}

/* Parses the first number of "Uid:\t1000\t1000...", which is the real user ID. */
static bool first_number(struct tally_str text, uint64_t *number)
{
	struct tally_str word;
	while (text.len > 0 && (text.data[0] == '\t' || text.data[0] == ' '))
		text = (struct tally_str){text.data + 1, text.len - 1};
	return str_next(&text, '\t', &word) && str_to_u64(word, 10, number);
}

/* Returns the start of a running process in ns on the clock of file times, or 0 if it is not known. */
static uint64_t process_began_ns(int32_t pid)
{
	char path[LOAD_JIT_PROC_PATH_BYTES], *stat;
	struct timespec boot, now;
	uint64_t ticks = 0;
	size_t len;
	long per_second = sysconf(_SC_CLK_TCK);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (per_second <= 0 || clock_gettime(CLOCK_BOOTTIME, &boot) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
		file_read(path, LIMIT_SMALL_FILE, &stat, &len, NULL) != TALLY_OK)
		return 0;
	const char *end = memrchr(stat, ')', len);
	struct tally_str rest = str_from(end ? end + 1 : ""), word = {0};
	for (size_t i = 0; i <= STAT_START_FIELD && str_next(&rest, ' ', &word); i++)
		;
	bool is_number = str_to_u64(word, 10, &ticks);
	free(stat);
	if (!is_number)
		return 0;
	uint64_t since_boot = (uint64_t)boot.tv_sec * LOAD_JIT_NS + (uint64_t)boot.tv_nsec;
	uint64_t wall = (uint64_t)now.tv_sec * LOAD_JIT_NS + (uint64_t)now.tv_nsec;
	return wall - since_boot + ticks * (LOAD_JIT_NS / (uint64_t)per_second);
}

static struct load_jit_runtime load_jit_runtime_of(const struct binary_store_options *options, int32_t pid)
{
	struct load_jit_runtime runtime = {.own_pid = pid};
	char path[LOAD_JIT_PROC_PATH_BYTES], *status;
	size_t len;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (pid <= 0 || file_read(path, LIMIT_SMALL_FILE, &status, &len, NULL) != TALLY_OK)
		return runtime;
	struct tally_str rest = {status, len};
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		uint64_t uid;
		if (str_starts_with(line, STR("NSpid:"))) {
			runtime.own_pid = last_number(line, pid);
		} else if (str_starts_with(line, STR("Uid:")) &&
			   first_number((struct tally_str){line.data + 4, line.len - 4}, &uid)) {
			runtime.uid = (uid_t)uid;
			runtime.is_running = true;
		}
	}
	free(status);
	runtime.began_ns = runtime.is_running ? process_began_ns(pid) : 0;
	if (options->recorded_ns > 0 && runtime.began_ns > options->recorded_ns + LOAD_JIT_SLACK_NS)
		runtime = (struct load_jit_runtime){.own_pid = pid, .began_ns = runtime.began_ns, .is_later = true};
	return runtime;
}

struct load_jit_place {
	const char *source;
	const char *shown; /* Path for messages; NULL if memory ran out. */
	int32_t pid; /* If > 0, inside is a path in the root of that process. */
	const char *inside;
};

static bool is_trusted(uid_t owner, const struct load_jit_runtime *runtime)
{
	return owner == 0 || owner == geteuid() || (runtime->is_running && owner == runtime->uid);
}

static enum tally_status load_jit_open_place(const struct load_jit_place *place, int *fd)
{
	if (place->pid > 0)
		return process_root_open_itself(place->pid, place->inside, fd, NULL);
	*fd = open(place->shown, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd >= 0)
		return TALLY_OK;
	if (errno == ENOENT || errno == ENOTDIR)
		return TALLY_NOT_FOUND;
	return errno == EACCES ? TALLY_DENIED : TALLY_INVALID;
}

/* Returns why a perf map is not from the recorded process, by its modification time, or NULL. A dump needs no such
 * check, because the process itself mapped it. */
static const char *load_jit_other_process(const struct binary_store_options *options, struct binary_entry *entry,
	const struct load_jit_runtime *runtime, const struct stat *st)
{
	static const char older[] =
		"last written before the process had generated code: an older process of its number made it";
	uint64_t written = (uint64_t)st->st_mtim.tv_sec * LOAD_JIT_NS + (uint64_t)st->st_mtim.tv_nsec;
	if (entry->key.kind != BINARY_PERF_MAP)
		return NULL;
	if (runtime->is_later)
		return written >= runtime->began_ns ? "written by a later process of the same number" : NULL;
	if (written + LOAD_JIT_SLACK_NS < runtime->began_ns)
		return older;
	uint64_t since = entry->key.generated_since_ns;
	if (since == 0 || options->recorded_to_file_ns == 0 ||
		written + LOAD_JIT_SLACK_NS >= since + (uint64_t)options->recorded_to_file_ns)
		return NULL;
	if (options->is_clock_exact)
		return older;
	/* The time of the recording's file does not prove it, because the file may be a copy. */
	entry->is_unproven = true;
	entry->doubt =
		"it was last written before the process had generated code, as far as the time of the recording's "
		"file tells (record with -k mono to be sure)";
	return NULL;
}

/* Returns -1 if the file cannot be used; the trail then has the reason. */
static int open_trusted(const struct binary_store_options *options, struct binary_entry *entry,
	const struct load_jit_place *place, const struct load_jit_runtime *runtime)
{
	const char *other;
	struct stat st;
	int fd;
	enum tally_status status = load_jit_open_place(place, &fd);
	if (status != TALLY_OK) {
		binary_trail_add(entry, place->source, place->shown, binary_trail_found(status), NULL);
		return -1;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		binary_trail_add(entry, place->source, place->shown, BINARY_FOUND_NO_REGULAR_FILE, NULL);
	else if (!is_trusted(st.st_uid, runtime))
		binary_trail_add(entry, place->source, place->shown, BINARY_FOUND_UNREADABLE,
			"owned neither by root, by you, nor by the process");
	else if ((other = load_jit_other_process(options, entry, runtime, &st)))
		binary_trail_add(entry, place->source, place->shown, BINARY_FOUND_OTHER_PROCESS, other);
	else
		return fd;
	close(fd);
	return -1;
}

static struct generated_file version_of(int fd)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		return (struct generated_file){0};
	return (struct generated_file){.device = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.changed_s = st.st_mtim.tv_sec,
		.changed_ns = st.st_mtim.tv_nsec};
}

/* Returns the file's text, allocated with malloc; NULL if it cannot be read, and the trail then has the reason. */
static char *load_jit_read_place(const struct binary_store_options *options, struct binary_entry *entry,
	const struct load_jit_place *place, const struct load_jit_runtime *runtime, size_t limit, size_t *len)
{
	char *text = NULL;
	int fd = open_trusted(options, entry, place, runtime);
	if (fd < 0)
		return NULL;
	/* The version is determined before reading, so that later writes count as a change. */
	entry->generated = version_of(fd);
	if (file_read_fd(fd, limit, &text, len, NULL) != TALLY_OK)
		text = NULL;
	close(fd);
	return text;
}

bool load_jit_python_line(const struct binary_entry *entry, uint64_t address, struct source_place *place)
{
	const struct symbol *symbol = perf_map_is_python(address) ? symbol_table_find(&entry->symbols, address) : NULL;
	uint64_t first;
	if (!symbol)
		return false;
	/* perf_map_split_python has terminated each part of the name with a NUL. */
	const char *end = entry->names + entry->names_len, *file = symbol->name + strlen(symbol->name) + 1;
	const char *line = file < end ? file + strlen(file) + 1 : end;
	if (line >= end || !str_to_u64(str_from(line), 10, &first) || first == 0)
		return false;
	*place = (struct source_place){.function = symbol->name,
		.path = file,
		.line = (uint32_t)(first + (address - symbol->start) / PERF_MAP_PYTHON_LINE)};
	return true;
}

struct load_jit_places {
	struct load_jit_place items[2];
	size_t count;
};

/* inside is the path in the process's root, outside the path in ours. */
static struct load_jit_places places_of(const struct binary_store_options *options, struct binary_entry *entry,
	const struct load_jit_runtime *runtime, const char *inside, const char *outside)
{
	struct load_jit_places places = {.count = 0};
	struct arena *arena = &entry->arena;
	bool is_here = !options->symfs || !*options->symfs;
	if (is_here && runtime->is_running)
		places.items[places.count++] = (struct load_jit_place){.source = "in the process's root",
			.shown = arena_printf(arena, "/proc/%d/root%s", (int)entry->key.pid, inside),
			.pid = entry->key.pid,
			.inside = inside};
	places.items[places.count++] =
		(struct load_jit_place){.source = is_here ? "as its runtime writes it" : "under --symfs",
			.shown = arena_printf(arena, "%s%s", is_here ? "" : options->symfs, outside)};
	return places;
}

/* Returns the places where a map or a dump may be; none if memory ran out or there is no path. */
static struct load_jit_places places_of_entry(
	const struct binary_store_options *options, struct binary_entry *entry, const struct load_jit_runtime *runtime)
{
	if (entry->key.kind == BINARY_PERF_MAP) {
		const char *inside = arena_printf(&entry->arena, "/tmp/perf-%d.map", (int)runtime->own_pid);
		const char *outside = arena_printf(&entry->arena, "/tmp/perf-%d.map", (int)entry->key.pid);
		return inside && outside ? places_of(options, entry, runtime, inside, outside)
					 : (struct load_jit_places){0};
	}
	const char *path = arena_string(&entry->arena, entry->key.path.data, entry->key.path.len);
	return path && path[0] == '/' ? places_of(options, entry, runtime, path, path) : (struct load_jit_places){0};
}

static char *load_jit_read_first(const struct binary_store_options *options, struct binary_entry *entry,
	const struct load_jit_places *places, const struct load_jit_runtime *runtime, size_t limit, size_t *len)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct load_jit_place *place = &places->items[i];
		char *text = place->shown ? load_jit_read_place(options, entry, place, runtime, limit, len) : NULL;
		if (!text)
			continue;
		binary_trail_add(entry, place->source, place->shown, BINARY_FOUND_USED, NULL);
		entry->used_path = place->shown;
		return text;
	}
	return NULL;
}

/* Sets the status of an entry without a file. The reason is the first file that was rejected, or else `otherwise`. */
static void set_absent(struct binary_entry *entry, const char *otherwise)
{
	for (size_t i = 0; i < entry->trail.len; i++) {
		const struct binary_step *step = &entry->trail.items[i];
		if (step->found == BINARY_FOUND_NOTHING)
			continue;
		const char *why = step->detail					? step->detail
				  : step->found == BINARY_FOUND_CLOSED		? "no permission"
				  : step->found == BINARY_FOUND_NO_REGULAR_FILE ? "not a regular file"
										: "it cannot be read";
		entry->is_refused = true;
		binary_entry_set(entry, BINARY_NO_FILE,
			arena_printf(&entry->arena, "%s of its generated code is there and is not read: %s", step->path,
				why));
		return;
	}
	binary_entry_set(entry, BINARY_NO_FILE, otherwise);
}

void load_perf_map(const struct binary_store_options *options, struct binary_entry *entry)
{
	const struct load_jit_runtime runtime = load_jit_runtime_of(options, entry->key.pid);
	const struct load_jit_places places = places_of_entry(options, entry, &runtime);
	size_t len = 0;
	entry->names = load_jit_read_first(options, entry, &places, &runtime, LIMIT_PERF_MAP, &len);
	/* The last line of a map that is still being written may be incomplete. */
	if (entry->names && runtime.is_running)
		while (len > 0 && entry->names[len - 1] != '\n')
			entry->names[--len] = '\0';
	if (!entry->names)
		set_absent(entry, "generated code, and its runtime wrote no /tmp/perf-PID.map");
	else if (!perf_map_parse(entry->names, entry->names_len = len, &entry->symbols))
		binary_entry_out_of_memory(entry);
	else if (entry->symbols.symbols.len == 0)
		binary_entry_set(entry, BINARY_NO_SYMBOLS, "the perf map that the runtime wrote has no functions");
	else
		binary_entry_set(entry, BINARY_OK, NULL);
	perf_map_split_python(&entry->symbols);
}

/* Returns the dump's bytes, allocated with malloc. */
static char *load_jit_read_dump(const struct binary_store_options *options, struct binary_entry *entry, size_t *len)
{
	const struct load_jit_runtime runtime = load_jit_runtime_of(options, entry->key.pid);
	const struct load_jit_places places = places_of_entry(options, entry, &runtime);
	return load_jit_read_first(options, entry, &places, &runtime, LIMIT_JITDUMP, len);
}

const struct arch *load_jit_arch(const struct binary_store_options *options, uint16_t elf_machine)
{
	struct utsname host;
	const struct arch *arch = arch_find_elf(elf_machine, 8);
	if (!arch)
		arch = arch_find_elf(elf_machine, 4);
	if (!arch)
		arch = options->recorded_arch;
	return arch || uname(&host) != 0 ? arch : arch_find(host.machine);
}

int load_jit_open(const struct binary_store_options *options, const struct binary_key *key)
{
	struct binary_entry own = {.key = *key};
	const struct load_jit_runtime runtime = load_jit_runtime_of(options, key->pid);
	int fd = -1;
	arena_init(&own.arena);
	const struct load_jit_places places = places_of_entry(options, &own, &runtime);
	for (size_t i = 0; i < places.count && fd < 0; i++)
		fd = places.items[i].shown ? open_trusted(options, &own, &places.items[i], &runtime) : -1;
	vec_free(&own.trail);
	arena_deinit(&own.arena);
	return fd;
}

bool load_jit_has_changed(const struct binary_store_options *options, const struct binary_entry *entry, uint64_t *bytes)
{
	int fd = load_jit_open(options, &entry->key);
	const struct generated_file now = version_of(fd), *then = &entry->generated;
	*bytes = now.size;
	if (fd < 0)
		return false; /* The file was removed, and the names that were read remain valid. */
	close(fd);
	return now.device != then->device || now.inode != then->inode || now.size != then->size ||
	       now.changed_s != then->changed_s || now.changed_ns != then->changed_ns;
}

static bool load_jit_add_functions(struct binary_entry *entry)
{
	const struct jitdump *dump = &entry->jitdump;
	for (size_t i = 0; i < dump->codes.len; i++) {
		const struct jitdump_code *code = &dump->codes.items[i];
		if (!symbol_table_add(&entry->symbols, code->offset, code->size, code->name, 'g'))
			return false;
	}
	return symbol_table_finish(&entry->symbols, SYMBOLS_SIZED);
}

void load_jitdump(const struct binary_store_options *options, struct binary_entry *entry)
{
	size_t len = 0;
	char *bytes = load_jit_read_dump(options, entry, &len);
	if (bytes)
		load_jitdump_bytes(options, entry, bytes, len);
	else
		set_absent(entry, arena_printf(&entry->arena, "%.*s, the dump of its generated code, does not exist",
					  (int)entry->key.path.len, entry->key.path.data));
}

void load_jitdump_bytes(const struct binary_store_options *options, struct binary_entry *entry, char *bytes, size_t len)
{
	entry->names = bytes;
	enum tally_status status =
		jitdump_parse(&entry->jitdump, (struct tally_bytes){(const uint8_t *)entry->names, len}, NULL);
	const struct arch *arch = load_jit_arch(options, entry->jitdump.elf_machine);
	entry->jitdump.elf_machine = arch ? arch->e_machine : entry->jitdump.elf_machine;
	if (status == TALLY_NOMEM || (status == TALLY_OK && !load_jit_add_functions(entry)))
		binary_entry_out_of_memory(entry);
	else if (status != TALLY_OK)
		binary_entry_set(entry, BINARY_DAMAGED,
			arena_printf(&entry->arena,
				"%.*s, the dump of its generated code, does not have version 1 of the format",
				(int)entry->key.path.len, entry->key.path.data));
	else if (entry->jitdump.codes.len == 0)
		binary_entry_set(entry, BINARY_NO_SYMBOLS, "the dump of its generated code has no functions");
	else
		binary_entry_set(entry, BINARY_OK, NULL);
}

static struct unwind_table *unwind_of(const struct binary_store_options *options, const struct jitdump *dump)
{
	const struct arch *arch = load_jit_arch(options, dump->elf_machine);
	struct unwind_table *table = NULL;
	VEC(struct cfi_section) sections = {0};
	for (size_t i = 0; arch && i < dump->codes.len; i++) {
		const struct jitdump_code *code = &dump->codes.items[i];
		struct cfi_section section = {.bytes = code->eh_frame,
			.address = code->offset + ((code->size + 7) & ~UINT64_C(7)),
			.text_address = code->offset,
			.is_eh = true,
			.swap = dump->swap,
			.address_size = arch->pointer_bytes};
		if (code->eh_frame.len > 0 && !vec_push(&sections, section))
			break;
	}
	struct unwind_table_source source = {.arch = arch, .sections = sections.items, .section_count = sections.len};
	if (sections.len == 0 || unwind_table_create(&source, &table, NULL) != TALLY_OK)
		table = NULL;
	vec_free(&sections);
	return table;
}

struct unwind_table *load_jit_unwind(const struct binary_store_options *options, const struct binary_key *key)
{
	struct binary_entry own = {.key = *key};
	struct unwind_table *table = NULL;
	size_t len;
	arena_init(&own.arena);
	char *bytes = load_jit_read_dump(options, &own, &len);
	if (bytes && jitdump_parse(&own.jitdump, (struct tally_bytes){(const uint8_t *)bytes, len}, NULL) == TALLY_OK) {
		table = unwind_of(options, &own.jitdump);
		jitdump_deinit(&own.jitdump);
	}
	free(bytes);
	vec_free(&own.trail);
	arena_deinit(&own.arena);
	return table;
}
