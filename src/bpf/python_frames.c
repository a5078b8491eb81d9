/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/python_frames.h"

#include "tally_config.h"

#if HAVE_BPF
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/order.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/writer.h"
#include "bpf/bpf_load.h"
#include "bpf/python_code.h"
#include "bpf/python_versions.h"
#include "code/symbols/perf_map.h"
#include "object/elf/elf_image.h"

#define UNKNOWN_CODE "py::[unknown Python code]:?:0"
/* Size of the address range of one recording, which is one of 2^20 such ranges, selected by time. */
#define RANGE_BYTES (UINT64_C(1) << 32)
#define KEPT_MOST   (UINT64_C(256) << 20) /* Maximum size of all line tables, in bytes. */
/* Maximum numbers of code objects and of their distinct symbols: a hostile process may create new ones forever. */
#define IDS_MOST     (1u << 22)
#define SYMBOLS_MOST (1u << 18)
/* Number of new code objects after which the kernel's map is emptied. */
#define SWEEP_AFTER (PYTHON_CODES_MOST / 4 * 3)

static const char *const python_map_names[] = {
	"python_binaries", "python_codes", "python_ring", "python_ids", "python_losses"};
enum python_frames_map {
	MAP_BINARIES,
	MAP_CODES,
	MAP_RING,
	MAP_IDS,
	PYTHON_FRAMES_MAP_LOSSES,
	PYTHON_FRAMES_MAP_COUNT
};

struct python_frames_code { /* A code object, by the ID that the BPF program assigned. */
	uint64_t base; /* Address of its first line; 0 if it is not known. */
	struct tally_bytes lines;
	int32_t first_line;
	uint32_t span; /* Number of lines. */
};

struct python_frames {
	struct python_map map;
	int fds[PYTHON_FRAMES_MAP_COUNT];
	struct ring_buffer *ring;
	uint32_t binary_count;
	pthread_mutex_t lock; /* Protects the members below. */
	struct arena kept;
	uint64_t kept_bytes;
	VEC(struct python_frames_code) codes;
	struct intern symbols; /* Symbols by name, file, line and span. */
	VEC(uint64_t) bases; /* Address of each symbol's first line, ascending. */
	uint64_t begin, end; /* Range of the addresses that are in use. */
	/*
	 * Generations of code by process ID: `latest` has the newest one, `told` the one of the last mapping that was
	 * emitted for the process.
	 */
	struct map_u64 latest, told;
	struct map_u64 named; /* Contains process and symbol if the process's perf map has the symbol. */
	struct text text;
	uint64_t unnamed, unwritten;
	unsigned codes_since_sweep;
};

static int python_frames_take_code(void *context, void *data, size_t size);

/* Assigns each CPU its own series of IDs, for each kind of program. */
static enum tally_status python_frames_deal_ids(const struct python_frames *f, struct tally_error *err)
{
	int cpus = libbpf_num_possible_cpus();
	struct python_ids *ids = cpus > 0 ? calloc((size_t)cpus, sizeof(*ids)) : NULL;
	if (!ids)
		return cpus > 0 ? error_nomem(err)
				: error_set_errno(err, TALLY_IO, -cpus, "cannot count the CPUs of this machine");
	int failed = 0;
	for (uint32_t kind = 0; kind < PYTHON_IDS && !failed; kind++) {
		for (uint32_t i = 0; i < (uint32_t)cpus; i++)
			ids[i] = (struct python_ids){1 + i * PYTHON_IDS + kind, (uint32_t)cpus * PYTHON_IDS};
		failed = bpf_map_update_elem(f->fds[MAP_IDS], &kind, ids, BPF_ANY);
	}
	free(ids);
	return failed ? error_set_errno(err, TALLY_IO, -failed, "cannot write a map of the BPF program") : TALLY_OK;
}

enum tally_status python_frames_create(
	struct bpf_object *object, const struct python_map *map, struct python_frames **out, struct tally_error *err)
{
	*out = NULL;
	if (!map->put)
		return TALLY_OK;
	struct python_frames *f = calloc(1, sizeof(*f));
	if (!f)
		return error_nomem(err);
	f->map = *map;
	f->begin = f->end = PERF_MAP_PYTHON_START + (clock_ns() * UINT64_C(0x9e3779b97f4a7c15) >> 44) * RANGE_BYTES;
	arena_init(&f->kept);
	intern_init(&f->symbols);
	pthread_mutex_init(&f->lock, NULL);
	enum tally_status status = bpf_find_maps(object, python_map_names, PYTHON_FRAMES_MAP_COUNT, f->fds, err);
	if (status == TALLY_OK)
		status = python_frames_deal_ids(f, err);
	if (status == TALLY_OK) {
		f->ring = ring_buffer__new(f->fds[MAP_RING], python_frames_take_code, f, NULL);
		if (!f->ring)
			status = error_set_errno(err, TALLY_IO, errno, "cannot read the ring of the BPF program");
	}
	if (status != TALLY_OK) {
		python_frames_destroy(f);
		return status;
	}
	*out = f;
	return TALLY_OK;
}

void python_frames_destroy(struct python_frames *f)
{
	if (!f)
		return;
	ring_buffer__free(f->ring);
	arena_deinit(&f->kept);
	intern_deinit(&f->symbols);
	vec_free(&f->codes);
	vec_free(&f->bases);
	map_u64_deinit(&f->latest);
	map_u64_deinit(&f->told);
	map_u64_deinit(&f->named);
	text_deinit(&f->text);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

enum tally_status python_frames_share(struct bpf_object *object, struct bpf_object *from, struct tally_error *err)
{
	return bpf_share_maps(object, from, python_map_names, PYTHON_FRAMES_MAP_COUNT, err);
}

/* ---- files ---- */

static bool python_frames_read_symbols(struct elf_image *image, struct python_binary *binary)
{
	struct elf_symbol_list list = {0};
	bool ok = elf_image_symbols(image, &list, NULL) == TALLY_OK;
	for (size_t i = 0; ok && i < list.symbols.len; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		if (strcmp(symbol->name, "_PyRuntime") == 0)
			binary->runtime = symbol->vaddr;
		if (strcmp(symbol->name, "_PyEval_EvalFrameDefault") != 0)
			continue;
		binary->eval_start = symbol->vaddr;
		binary->eval_end = symbol->vaddr + symbol->size;
	}
	vec_free(&list.symbols);
	return binary->runtime && binary->eval_start && binary->eval_end > binary->eval_start;
}

uint32_t python_frames_add(struct python_frames *f, const struct python_version *version, int fd, uint64_t base)
{
	struct python_binary binary;
	struct elf_image *image;
	if (!f || !version || fd < 0 || f->binary_count + 1 >= PYTHON_BINARIES ||
		elf_image_open_fd(fd, version->program, &image, NULL) != TALLY_OK)
		return 0;
	memset(&binary, 0, sizeof(binary));
	binary.at = version->at;
	bool is_good = elf_image_pointer_bytes(image) == 8 && !elf_image_is_swapped(image) &&
		       python_frames_read_symbols(image, &binary);
	elf_image_close(image);
	binary.eval_start -= base;
	binary.eval_end -= base;
	binary.runtime -= base;
	uint32_t number = f->binary_count + 1;
	if (!is_good || bpf_map_update_elem(f->fds[MAP_BINARIES], &number, &binary, BPF_ANY) != 0)
		return 0;
	f->binary_count = number;
	return number;
}

/* ---- names ---- */

/* Returns the address of a symbol's first line; 0 if there is no room. */
static uint64_t python_frames_symbol(struct python_frames *f, const void *name, size_t len, uint32_t span)
{
	uint32_t id;
	if (f->bases.len >= SYMBOLS_MOST && intern_find(&f->symbols, name, len) >= f->bases.len)
		return 0;
	if (!intern_add(&f->symbols, name, len, &id))
		return 0;
	if (id < f->bases.len)
		return f->bases.items[id];
	uint64_t base = f->end;
	uint64_t bytes = (uint64_t)span * PERF_MAP_PYTHON_LINE;
	if (id > f->bases.len || bytes > f->begin + RANGE_BYTES - f->end || !vec_push(&f->bases, base))
		return 0;
	f->end += bytes;
	return base;
}

/* The key is "py::NAME:FILE:LINE", a NUL, and the span, which distinguishes versions of a file. */
static uint64_t python_frames_symbol_of(struct python_frames *f, const struct python_code *code, uint32_t span)
{
	struct writer w = {0};
	char line[32];
	int len = snprintf(line, sizeof(line), ":%d", (int)code->first_line);
	writer_bytes(&w, "py::", 4);
	python_code_text(&w, &code->name);
	writer_u8(&w, ':');
	python_code_text(&w, &code->file);
	writer_bytes(&w, line, (size_t)len + 1);
	writer_u32(&w, span);
	uint64_t base = w.failed ? 0 : python_frames_symbol(f, w.data, w.len, span);
	writer_deinit(&w);
	return base;
}

/* Code that cannot be stored remains unknown. */
static int python_frames_take_code(void *context, void *data, size_t size)
{
	struct python_frames *f = context;
	const struct python_code *code = data;
	if (size < sizeof(*code) || code->id == PYTHON_UNKNOWN || code->id >= IDS_MOST ||
		!vec_reserve(&f->codes, (size_t)code->id + 1))
		return 0;
	while (f->codes.len <= code->id)
		f->codes.items[f->codes.len++] = (struct python_frames_code){0};
	struct tally_bytes lines = python_code_lines(code);
	uint32_t last = python_code_last_line(code->first_line, lines);
	uint32_t first = code->first_line > 0 ? (uint32_t)code->first_line : 1;
	struct python_frames_code *kept = &f->codes.items[code->id];
	*kept = (struct python_frames_code){
		.first_line = code->first_line, .span = last >= first ? last - first + 1 : 1};
	kept->base = python_frames_symbol_of(f, code, kept->span);
	uint8_t *copy = f->kept_bytes < KEPT_MOST ? arena_alloc(&f->kept, lines.len ? lines.len : 1, 1) : NULL;
	if (copy) {
		memcpy(copy, lines.data, lines.len);
		kept->lines = (struct tally_bytes){copy, lines.len};
		f->kept_bytes += lines.len;
	}
	(void)map_u64_set(&f->latest, code->pid, code->generation);
	if (++f->codes_since_sweep >= SWEEP_AFTER) {
		/* The kernel's map is emptied before code that no longer exists fills it. Live code is sent again, and
		 * has the same address. */
		struct python_code_key key;
		f->codes_since_sweep = 0;
		for (int left = PYTHON_CODES_MOST; left > 0 && bpf_map_get_next_key(f->fds[MAP_CODES], NULL, &key) == 0;
			left--)
			(void)bpf_map_delete_elem(f->fds[MAP_CODES], &key);
	}
	return 0;
}

static const struct python_frames_code *python_frames_code(const struct python_frames *f, uint32_t id)
{
	return id < f->codes.len && f->codes.items[id].base ? &f->codes.items[id] : NULL;
}

static uint64_t python_frames_address(struct python_frames *f, uint64_t frame)
{
	uint32_t id = (uint32_t)(frame >> PYTHON_ID_SHIFT), index = (uint32_t)frame & PYTHON_INDEX_MOST;
	/* The record of a new code object is still in the ring, unless the ring had no room for it. */
	if (!python_frames_code(f, id))
		(void)ring_buffer__consume(f->ring);
	const struct python_frames_code *code = python_frames_code(f, id);
	f->unnamed += !code;
	if (!code) {
		uint64_t base = python_frames_symbol(f, UNKNOWN_CODE, sizeof(UNKNOWN_CODE), 1);
		return base ? base + PERF_MAP_PYTHON_LINE - 1 : 0;
	}
	uint32_t line = python_code_line(code->first_line, code->lines, index);
	uint32_t first = code->first_line > 0 ? (uint32_t)code->first_line : 1;
	uint64_t lines = line > first && line - first < code->span ? line - first : 0;
	return code->base + lines * PERF_MAP_PYTHON_LINE + PERF_MAP_PYTHON_LINE - 1;
}

bool python_frames_name(struct python_frames *f, uint64_t *ips, size_t count)
{
	bool has_python = false;
	if (!f)
		return false;
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < count; i++) {
		if ((ips[i] & PYTHON_TAG_MASK) != PYTHON_TAG)
			continue;
		ips[i] = python_frames_address(f, ips[i]);
		has_python = true;
	}
	pthread_mutex_unlock(&f->lock);
	return has_python;
}

/* Returns the symbol at an address that this object assigned. */
static uint32_t python_frames_find(const struct python_frames *f, uint64_t address)
{
	size_t behind;
	LOWER_BOUND(behind, f->bases.len, i, f->bases.items[i] <= address);
	return (uint32_t)(behind ? behind - 1 : 0);
}

/* Appends the symbol's line of a perf map. */
static void python_frames_put_line(struct python_frames *f, uint32_t symbol)
{
	uint64_t base = f->bases.items[symbol];
	uint64_t end = symbol + 1 < f->bases.len ? f->bases.items[symbol + 1] : f->end;
	const char *name = intern_get(&f->symbols, symbol).data;
	text_hex(&f->text, base, 0);
	text_char(&f->text, ' ');
	text_hex(&f->text, end - base, 0);
	text_char(&f->text, ' ');
	text_str(&f->text, name);
	text_char(&f->text, '\n');
}

static bool python_frames_put_lines(struct python_frames *f, uint32_t pid, const uint64_t *ips, size_t count)
{
	bool has_python = false;
	uint64_t lines = 0;
	text_clear(&f->text);
	for (size_t i = 0; i < count; i++) {
		bool is_new = false;
		if (ips[i] < f->begin || ips[i] >= f->end)
			continue;
		has_python = true;
		uint32_t symbol = python_frames_find(f, ips[i]);
		if (!map_u64_at(&f->named, (uint64_t)pid << 32 | symbol, &is_new) || !is_new)
			continue;
		python_frames_put_line(f, symbol);
		lines++;
	}
	if (lines && (f->text.failed || !f->map.put(f->map.context, pid,
						(struct tally_bytes){(const uint8_t *)f->text.data, f->text.len})))
		f->unwritten += lines;
	return has_python;
}

bool python_frames_tell(
	struct python_frames *f, uint32_t pid, const uint64_t *ips, size_t count, struct record_mmap *mapping)
{
	uint64_t latest = 0, told;
	bool is_needed = false;
	if (!f)
		return false;
	pthread_mutex_lock(&f->lock);
	if (python_frames_put_lines(f, pid, ips, count)) {
		(void)map_u64_find(&f->latest, pid, &latest);
		is_needed = !map_u64_find(&f->told, pid, &told) || told != latest;
		is_needed = is_needed && map_u64_set(&f->told, pid, latest);
	}
	pthread_mutex_unlock(&f->lock);
	if (is_needed)
		*mapping = (struct record_mmap){.pid = pid,
			.tid = pid,
			.start = f->begin,
			.len = RANGE_BYTES,
			.pgoff = f->begin,
			.prot = PROT_READ | PROT_EXEC,
			.flags = MAP_PRIVATE | MAP_ANONYMOUS,
			.filename = STR("//anon")};
	return is_needed;
}

struct python_losses_total python_frames_losses(struct python_frames *f)
{
	struct python_losses_total total = {.unnamed = f ? f->unnamed : 0, .unwritten = f ? f->unwritten : 0};
	int cpus = libbpf_num_possible_cpus();
	uint32_t zero = 0;
	struct python_losses *losses = f && cpus > 0 ? calloc((size_t)cpus, sizeof(*losses)) : NULL;
	if (losses && bpf_map_lookup_elem(f->fds[PYTHON_FRAMES_MAP_LOSSES], &zero, losses) == 0)
		for (int i = 0; i < cpus; i++) {
			total.threads += losses[i].threads;
			total.frames += losses[i].frames;
			total.codes += losses[i].codes;
		}
	free(losses);
	return total;
}
#else
/* In a build without BPF, no program can be loaded, so these functions never receive an object. */
bool python_frames_name(struct python_frames *frames, uint64_t *ips, size_t count)
{
	return false;
}

bool python_frames_tell(
	struct python_frames *frames, uint32_t pid, const uint64_t *ips, size_t count, struct record_mmap *mapping)
{
	return false;
}

struct python_losses_total python_frames_losses(struct python_frames *frames)
{
	return (struct python_losses_total){0};
}
#endif
