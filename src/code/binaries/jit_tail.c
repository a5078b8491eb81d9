/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/jit_tail.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/limits.h"
#include "base/order.h"
#include "code/binaries/load_jit.h"
#include "code/symbols/jitdump.h"
#include "code/unwind/unwind_table.h"

#define WINDOW_BYTES	(64u << 10)
#define FRAME_BYTES_MAX (64u << 10) /* Maximum size of the call-frame information of one function. */
/* Places are sorted when more than this and a quarter of the sorted ones are unsorted, which are searched linearly. */
#define RECENT_MAX 1024

struct tail_place { /* The code of one function. */
	uint64_t address, time;
	uint64_t frames_at; /* Offset of its .eh_frame in the dump. */
	uint32_t size, frames_len;
	uint32_t order; /* A place with a higher order replaces earlier ones at the same addresses. */
	uint32_t table; /* Index in tables plus 1; 0 if the table has not been made yet. */
};

struct jit_tail {
	const struct binary_store_options *options;
	struct binary_key key;
	char *path;
	int fd; /* -1 if the dump is not open. */
	uint64_t done; /* Offset in the file up to which records were read. */
	bool is_over; /* The dump was closed or is damaged, so nothing more is read. */
	struct jitdump_header header;
	uint64_t frames_at; /* Call-frame information of the next function that is loaded. */
	uint32_t frames_len;
	/* The first `sorted` items are ordered by address, then order; the others are in the order of the file. */
	VEC(struct tail_place) places;
	size_t sorted;
	uint64_t longest; /* Largest code size among the sorted places, in bytes. */
	uint32_t next_order;
	/* Maps code size and .eh_frame to an index in tables, because many functions differ only in their address. */
	struct intern frames;
	VEC(struct unwind_table *) tables;
};

struct jit_tail *jit_tail_create(const struct binary_store_options *options, const struct binary_key *key)
{
	struct jit_tail *tail = calloc(1, sizeof(*tail));
	if (!tail)
		return NULL;
	tail->options = options;
	tail->fd = -1;
	tail->key = *key;
	tail->path = strndup(key->path.data, key->path.len);
	tail->key.path.data = tail->path;
	intern_init(&tail->frames);
	if (!tail->path) {
		jit_tail_destroy(tail);
		return NULL;
	}
	return tail;
}

void jit_tail_destroy(struct jit_tail *tail)
{
	if (!tail)
		return;
	if (tail->fd >= 0)
		close(tail->fd);
	for (size_t i = 0; i < tail->tables.len; i++)
		unwind_table_destroy(tail->tables.items[i]);
	vec_free(&tail->tables);
	vec_free(&tail->places);
	intern_deinit(&tail->frames);
	free(tail->path);
	free(tail);
}

static uint64_t file_size(const struct jit_tail *tail)
{
	struct stat st;
	return tail->fd >= 0 && fstat(tail->fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

uint64_t jit_tail_behind(const struct jit_tail *tail)
{
	uint64_t size = file_size(tail);
	if (size < tail->done)
		return size ? size : 1; /* The file was truncated and will be read from its beginning. */
	return tail->is_over ? 0 : size - tail->done;
}

/* Buffer for a part of the file. The code of functions, which is skipped, need not be read. */
struct tail_window {
	const struct jit_tail *tail;
	uint64_t start;
	size_t len;
	uint8_t bytes[WINDOW_BYTES];
};

static struct cursor jit_tail_window_at(struct tail_window *window, uint64_t position, size_t wanted)
{
	bool is_inside = position >= window->start && position - window->start <= window->len &&
			 wanted <= window->len - (size_t)(position - window->start);
	if (!is_inside) {
		ssize_t got = pread(window->tail->fd, window->bytes, sizeof(window->bytes), (off_t)position);
		window->start = position;
		window->len = got > 0 ? (size_t)got : 0;
	}
	size_t offset = (size_t)(position - window->start);
	struct tally_bytes bytes = {window->bytes + offset, window->len - offset};
	return cursor_make(bytes, window->tail->header.swap);
}

static int tail_compare(const void *a, const void *b)
{
	const struct tail_place *left = a, *right = b;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return COMPARE(left->order, right->order);
}

static bool jit_tail_is_same_place(const struct tail_place *a, const struct tail_place *b)
{
	return a->address == b->address && a->size == b->size;
}

/* Sorts all places. Of several with the same address and size, retains only the last two: the samples that are unwound
 * while recording are not older than that. */
static void sort_in(struct jit_tail *tail)
{
	struct tail_place *items = tail->places.items;
	size_t kept = 0;
	if (tail->places.len == 0)
		return;
	qsort(items, tail->places.len, sizeof(*items), tail_compare);
	for (size_t i = 1; i < tail->places.len; i++) {
		bool is_third = kept > 0 && jit_tail_is_same_place(&items[i], &items[kept]) &&
				jit_tail_is_same_place(&items[i], &items[kept - 1]);
		if (is_third)
			items[kept - 1] = items[kept];
		else
			kept++;
		items[kept] = items[i];
	}
	tail->places.len = tail->sorted = kept + 1;
	for (size_t i = 0; i < tail->places.len; i++)
		tail->longest = MAX(items[i].size, tail->longest);
}

static void tail_add(struct jit_tail *tail, struct tail_place place)
{
	if (place.size == 0 || place.size > UINT64_MAX - place.address || tail->places.len >= LIMIT_JIT_TAIL)
		return;
	place.order = tail->next_order++;
	if (vec_push(&tail->places, place) && tail->places.len - tail->sorted > RECENT_MAX + tail->sorted / 4)
		sort_in(tail);
}

/* Returns the last place that covers the address at that time, or NULL. */
static struct tail_place *tail_place_at(struct jit_tail *tail, uint64_t address, uint64_t time)
{
	struct tail_place *items = tail->places.items, *best = NULL;
	for (size_t i = tail->places.len; i-- > tail->sorted;)
		if (address - items[i].address < items[i].size && items[i].time <= time)
			return &items[i];
	size_t low;
	LOWER_BOUND(low, tail->sorted, middle, items[middle].address <= address);
	while (low-- > 0 && address - items[low].address < tail->longest)
		if (address - items[low].address < items[low].size && items[low].time <= time &&
			(!best || items[low].order > best->order))
			best = &items[low];
	return best;
}

static void take_load(struct jit_tail *tail, struct cursor *c, uint64_t time)
{
	struct tail_place place = {.time = time, .frames_at = tail->frames_at, .frames_len = tail->frames_len};
	tail->frames_len = 0;
	cursor_skip(c, 4 + 4 + 8); /* Skips process, thread and virtual address. */
	place.address = cursor_u64(c);
	uint64_t size = cursor_u64(c);
	place.size = (uint32_t)size;
	if (!c->failed && size <= UINT32_MAX)
		tail_add(tail, place);
}

static void take_move(struct jit_tail *tail, struct cursor *c, uint64_t time)
{
	cursor_skip(c, 4 + 4 + 8); /* Skips process, thread and virtual address. */
	uint64_t before = cursor_u64(c);
	uint64_t address = cursor_u64(c);
	uint64_t size = cursor_u64(c);
	const struct tail_place *from = c->failed ? NULL : tail_place_at(tail, before, UINT64_MAX);
	if (!from || from->address != before || from->size != size)
		return;
	struct tail_place place = *from;
	place.address = address;
	place.time = time;
	tail_add(tail, place);
}

static void take_unwinding(struct jit_tail *tail, struct cursor *c, uint64_t position, uint64_t record_end)
{
	uint64_t size = cursor_u64(c);
	uint64_t header_size = cursor_u64(c);
	cursor_skip(c, 8);
	tail->frames_len = 0;
	if (c->failed || header_size > size || size - header_size > FRAME_BYTES_MAX ||
		size > record_end - position - JITDUMP_RECORD_BYTES - JITDUMP_UNWINDING_BYTES)
		return;
	tail->frames_at = position + JITDUMP_RECORD_BYTES + JITDUMP_UNWINDING_BYTES;
	tail->frames_len = (uint32_t)(size - header_size);
}

/* Returns false if no further record can be read: it is incomplete or invalid, or it closes the dump. */
static bool jit_tail_take_record(struct jit_tail *tail, struct tail_window *window, uint64_t size)
{
	const size_t fixed = JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES;
	uint64_t left = size - tail->done;
	struct cursor c = jit_tail_window_at(window, tail->done, left < fixed ? (size_t)left : fixed);
	uint32_t id = cursor_u32(&c);
	uint32_t len = cursor_u32(&c);
	uint64_t time = cursor_u64(&c);
	if (c.failed || len > left)
		return false;
	if (len < JITDUMP_RECORD_BYTES) { /* Zeros may fill the rest of a page, and records may follow later. */
		tail->is_over = id != 0 || len != 0;
		return false;
	}
	if (c.len > len) /* The buffer may continue with the next record. */
		c.len = len;
	if (id == JITDUMP_CODE_LOAD)
		take_load(tail, &c, time);
	else if (id == JITDUMP_CODE_MOVE)
		take_move(tail, &c, time);
	else if (id == JITDUMP_CODE_UNWINDING && len >= JITDUMP_RECORD_BYTES + JITDUMP_UNWINDING_BYTES)
		take_unwinding(tail, &c, tail->done, tail->done + len);
	tail->done += len;
	tail->is_over = id == JITDUMP_CODE_CLOSE;
	return !tail->is_over;
}

void jit_tail_read(struct jit_tail *tail)
{
	if (tail->fd < 0)
		tail->fd = load_jit_open(tail->options, &tail->key);
	uint64_t size = file_size(tail);
	if (size < tail->done) {
		/* The file was truncated, so it is read from the beginning again. */
		tail->done = 0;
		tail->is_over = false;
		tail->header = (struct jitdump_header){.pid = 0};
		tail->frames_len = 0;
		tail->places.len = tail->sorted = 0;
		tail->longest = 0;
	}
	if (size == 0 || tail->is_over)
		return;
	struct tail_window *window = malloc(sizeof(*window));
	if (!window)
		return;
	*window = (struct tail_window){.tail = tail};
	if (tail->done == 0) {
		struct cursor c = jit_tail_window_at(window, 0, JITDUMP_HEADER_BYTES);
		tail->is_over = size >= JITDUMP_HEADER_BYTES && !jitdump_read_header(&c, &tail->header);
		/* A process that is being recorded writes its dump in this machine's byte order. */
		tail->is_over |= tail->header.swap;
		tail->done = tail->header.pid && !tail->is_over ? c.pos : 0;
	}
	while (tail->done > 0 && !tail->is_over && tail->done < size && jit_tail_take_record(tail, window, size))
		;
	free(window);
}

uint32_t jit_tail_pid(const struct jit_tail *tail)
{
	return tail->header.pid;
}

size_t jit_tail_count(const struct jit_tail *tail)
{
	return tail->places.len;
}

/* Functions that differ only in their address share a table, which has addresses relative to the function's start. */
static struct unwind_table *tail_make_table(const struct jit_tail *tail, struct tally_bytes frames, uint32_t size)
{
	const struct arch *arch = load_jit_arch(tail->options, tail->header.elf_machine);
	struct unwind_table *table = NULL;
	if (!arch)
		return NULL;
	struct cfi_section section = {.bytes = frames,
		.address = JIT_TAIL_BASE + (((uint64_t)size + 7) & ~UINT64_C(7)),
		.text_address = JIT_TAIL_BASE,
		.is_eh = true,
		.address_size = arch->pointer_bytes};
	struct unwind_table_source source = {.arch = arch, .sections = &section, .section_count = 1};
	return unwind_table_create(&source, &table, NULL) == TALLY_OK ? table : NULL;
}

static const struct unwind_table *tail_table(struct jit_tail *tail, struct tail_place *place)
{
	uint32_t index;
	if (place->table)
		return tail->tables.items[place->table - 1];
	if (place->frames_len == 0)
		return NULL;
	uint8_t *key = malloc(sizeof(place->size) + place->frames_len);
	if (!key)
		return NULL;
	struct tally_bytes frames = {key + sizeof(place->size), place->frames_len};
	memcpy(key, &place->size, sizeof(place->size));
	ssize_t got = pread(tail->fd, key + sizeof(place->size), frames.len, (off_t)place->frames_at);
	bool ok =
		got == (ssize_t)frames.len && intern_add(&tail->frames, key, sizeof(place->size) + frames.len, &index);
	while (ok && tail->tables.len <= index)
		ok = vec_push(&tail->tables, tail_make_table(tail, frames, place->size));
	free(key);
	if (!ok)
		return NULL;
	place->table = index + 1;
	return tail->tables.items[index];
}

bool jit_tail_find(struct jit_tail *tail, uint64_t pc, uint64_t time, struct jit_tail_code *code)
{
	struct tail_place *place = tail_place_at(tail, pc, tail->header.has_cpu_time ? UINT64_MAX : time);
	if (!place)
		return false;
	*code = (struct jit_tail_code){place->address, place->address + place->size, tail_table(tail, place)};
	return true;
}
