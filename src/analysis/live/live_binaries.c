/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_binaries.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/jit_code.h"
#include "base/error.h"
#include "code/binaries/jit_tail.h"

#define TAIL_READ_NOW (1u << 20) /* Up to this many new bytes of a jitdump are read at once; the thread reads more. */
/* All jitdumps are closed when more than TAILS_MAX are open, or when together they hold more than TAIL_CODES functions;
 * those still needed are read again. */
#define TAILS_MAX	64
#define TAIL_CODES	(1u << 20)
#define TAIL_CODE_BYTES 256 /* Memory limit per function of a jitdump. */

struct live_binaries_opened {
	bool is_opened;
	uint32_t id; /* Index in the store. */
	const struct unwind_table *table; /* NULL if the file has no unwind table. */
	struct jit_tail *tail; /* Reader of a jitdump; NULL for other files. */
};

struct live_binaries {
	const struct live_maps *maps;
	struct binary_store_options options;
	struct binary_store *store;
	VEC(struct live_binaries_opened) files; /* Indexed by the file number in maps. */
	/* The thread opens one file at a time (is_waiting); meanwhile nobody changes the store. has_missed: an answer
	 * was not available because a file was not open, or a jitdump not read, yet. The check whether the thread is
	 * done must not sleep: on a busy machine the thread that would wake us may have to wait long for a CPU. */
	bool is_waiting, has_missed, has_thread;
	uint32_t waits_for; /* Number of the file that is being opened. */
	bool is_up_to_date; /* Dumps have already been checked for new data for the current stack. */
	pthread_t thread;
	pthread_mutex_t mutex; /* Protects the members from has_work to table. */
	pthread_cond_t is_wanted, is_opened;
	bool has_work, wants_end;
	uint32_t id;
	uint64_t bytes; /* Limit for the memory of the table. */
	struct jit_tail *tail; /* The dump to read; NULL: the file id is opened. */
	bool is_refused; /* Valid only after is_done is set. */
	_Atomic bool is_done;
	const struct unwind_table *table; /* Valid only after is_done is set. */
	uint64_t memory; /* Limit for the memory of all unwind tables, in bytes. */
	uint64_t table_bytes, refused;
};

enum tally_status live_binaries_create(const struct live_maps *maps, const struct binary_store_options *store,
	struct live_binaries **out, struct tally_error *err)
{
	struct live_binaries *b = calloc(1, sizeof(*b));
	if (!b)
		return error_nomem(err);
	b->maps = maps;
	b->memory = UINT64_MAX;
	pthread_mutex_init(&b->mutex, NULL);
	pthread_cond_init(&b->is_wanted, NULL);
	pthread_cond_init(&b->is_opened, NULL);
	b->options = *store;
	b->options.threads = 1;
	enum tally_status status = binary_store_create(&b->options, &b->store, err);
	if (status != TALLY_OK) {
		live_binaries_destroy(b);
		return status;
	}
	*out = b;
	return TALLY_OK;
}

static void end_thread(struct live_binaries *b)
{
	if (b->has_thread) {
		pthread_mutex_lock(&b->mutex);
		b->wants_end = true;
		pthread_cond_signal(&b->is_wanted);
		pthread_mutex_unlock(&b->mutex);
		(void)pthread_join(b->thread, NULL);
	}
	pthread_cond_destroy(&b->is_wanted);
	pthread_cond_destroy(&b->is_opened);
	pthread_mutex_destroy(&b->mutex);
}

static void close_files(struct live_binaries *b)
{
	for (size_t i = 0; i < b->files.len; i++)
		jit_tail_destroy(b->files.items[i].tail);
	b->files.len = 0;
	b->table_bytes = 0;
}

void live_binaries_destroy(struct live_binaries *b)
{
	if (!b)
		return;
	end_thread(b);
	close_files(b);
	binary_store_destroy(b->store);
	vec_free(&b->files);
	free(b);
}

enum tally_status live_binaries_reset(struct live_binaries *b, struct tally_error *err)
{
	struct binary_store *fresh;
	enum tally_status status = binary_store_create(&b->options, &fresh, err);
	if (status != TALLY_OK)
		return status;
	binary_store_destroy(b->store);
	b->store = fresh;
	close_files(b);
	return TALLY_OK;
}

static const struct unwind_table *do_work(
	struct live_binaries *b, uint32_t id, struct jit_tail *tail, uint64_t bytes, bool *is_refused)
{
	*is_refused = false;
	if (!tail)
		return binary_store_unwind_within(b->store, id, bytes, is_refused);
	jit_tail_read(tail);
	return NULL;
}

static void *open_apart(void *context)
{
	struct live_binaries *b = context;
	pthread_mutex_lock(&b->mutex);
	while (!b->wants_end) {
		if (!b->has_work) {
			pthread_cond_wait(&b->is_wanted, &b->mutex);
			continue;
		}
		b->has_work = false;
		uint32_t id = b->id;
		struct jit_tail *tail = b->tail;
		uint64_t bytes = b->bytes;
		bool is_refused;
		pthread_mutex_unlock(&b->mutex);
		const struct unwind_table *table = do_work(b, id, tail, bytes, &is_refused);
		pthread_mutex_lock(&b->mutex);
		b->table = table;
		b->is_refused = is_refused;
		atomic_store(&b->is_done, true);
		pthread_cond_signal(&b->is_opened);
	}
	pthread_mutex_unlock(&b->mutex);
	return NULL;
}

bool live_binaries_has_missed(struct live_binaries *b)
{
	bool has_missed = b->has_missed;
	b->has_missed = false;
	b->is_up_to_date &= has_missed;
	return has_missed;
}

static void live_binaries_take_table(
	struct live_binaries *b, struct live_binaries_opened *opened, const struct unwind_table *table, bool is_refused)
{
	opened->table = table;
	b->refused += is_refused;
	if (table)
		b->table_bytes += unwind_table_size(table).bytes;
}

bool live_binaries_poll(struct live_binaries *b, bool wait)
{
	if (!b->is_waiting)
		return true;
	if (wait) {
		pthread_mutex_lock(&b->mutex);
		while (!atomic_load(&b->is_done))
			pthread_cond_wait(&b->is_opened, &b->mutex);
		pthread_mutex_unlock(&b->mutex);
	} else if (!atomic_load(&b->is_done)) {
		return false;
	}
	live_binaries_take_table(b, &b->files.items[b->waits_for], b->table, b->is_refused);
	b->is_waiting = false;
	return true;
}

static uint64_t memory_left(const struct live_binaries *b)
{
	return b->table_bytes < b->memory ? b->memory - b->table_bytes : 0;
}

/* Returns false if no thread can be created. */
static bool ask_thread(struct live_binaries *b, uint32_t id, struct jit_tail *tail)
{
	if (!b->has_thread)
		b->has_thread = pthread_create(&b->thread, NULL, open_apart, b) == 0;
	if (!b->has_thread)
		return false;
	pthread_mutex_lock(&b->mutex);
	b->id = id;
	b->tail = tail;
	b->bytes = memory_left(b);
	b->has_work = true;
	atomic_store(&b->is_done, false);
	pthread_cond_signal(&b->is_wanted);
	pthread_mutex_unlock(&b->mutex);
	return true;
}

/* Opens a file or reads more of a dump, in the thread if one can be created. */
static void work_on(struct live_binaries *b, uint32_t number, struct live_binaries_opened *opened)
{
	b->waits_for = number;
	b->is_waiting = ask_thread(b, opened->id, opened->tail);
	if (b->is_waiting)
		return;
	bool is_refused;
	const struct unwind_table *table = do_work(b, opened->id, opened->tail, memory_left(b), &is_refused);
	live_binaries_take_table(b, opened, table, is_refused);
}

static void live_binaries_open_file(struct live_binaries *b, uint32_t number, struct live_binaries_opened *opened)
{
	const struct live_file *file = &b->maps->files.items[number];
	struct binary_key key = {.kind = file->kind == LIVE_VDSO ? BINARY_VDSO : BINARY_USER,
		.path = live_maps_path(b->maps, file),
		.pid = file->pid,
		.build_id_size = file->build_id.size};
	opened->is_opened = true;
	memcpy(key.build_id, file->build_id.bytes, sizeof(key.build_id));
	if (file->build_id.size == 0) {
		key.major = file->major;
		key.minor = file->minor;
		key.inode = file->inode;
		key.generation = file->generation;
	}
	if (file->kind == LIVE_DUMP) {
		key.kind = BINARY_JITDUMP;
		opened->tail = jit_tail_create(&b->options, &key);
		if (!opened->tail)
			return;
	} else if (file->kind == LIVE_NO_FILE || binary_store_add(b->store, &key, &opened->id, NULL) != TALLY_OK) {
		return;
	}
	work_on(b, number, opened);
}

/* Returns NULL if the file is not open yet or memory runs out. Only one file is opened at a time. */
static const struct live_binaries_opened *opened_of(struct live_binaries *b, uint32_t number)
{
	if (!vec_reserve(&b->files, (size_t)number + 1))
		return NULL;
	while (b->files.len <= number)
		b->files.items[b->files.len++] = (struct live_binaries_opened){0};
	if (!b->files.items[number].is_opened && !b->is_waiting)
		live_binaries_open_file(b, number, &b->files.items[number]);
	if (!b->files.items[number].is_opened || (b->is_waiting && b->waits_for == number)) {
		b->has_missed = true;
		return NULL;
	}
	return &b->files.items[number];
}

/* Returns false if so much was appended to the dump that the thread has to read it first. */
static bool is_tail_current(struct live_binaries *b, uint32_t number, struct jit_tail *tail)
{
	uint64_t behind = b->is_up_to_date ? 0 : jit_tail_behind(tail);
	if (behind > TAIL_READ_NOW) {
		b->has_missed = true;
		if (!b->is_waiting)
			work_on(b, number, &b->files.items[number]);
		return false;
	}
	if (behind > 0)
		jit_tail_read(tail);
	return true;
}

struct when_where {
	uint64_t time, pc;
};

/* Also returns true, with has_missed set, if the answer is not known yet. */
static bool find_generated(
	struct live_binaries *b, uint32_t number, const struct when_where *at, struct unwind_module *module)
{
	const struct live_binaries_opened *known = opened_of(b, number);
	struct jit_tail *tail = known ? known->tail : NULL;
	struct jit_tail_code code;
	if (!known)
		return true;
	if (!tail)
		return false;
	if (!is_tail_current(b, number, tail))
		return true;
	uint32_t pid = jit_tail_pid(tail);
	if (!pid || !jit_code_is_of(live_maps_path(b->maps, &b->maps->files.items[number]), pid) ||
		!jit_tail_find(tail, at->pc, at->time, &code))
		return false;
	module->table = code.table;
	module->bias = code.low - JIT_TAIL_BASE;
	return true;
}

bool live_binaries_find(struct live_binaries *b, const struct live_process *process, uint64_t time, uint64_t pc,
	struct unwind_module *module)
{
	const struct live_mapping *map = live_maps_find(process, pc);
	bool is_anonymous = !map || b->maps->files.items[map->file].kind == LIVE_NO_FILE;
	struct tally_elf_va va;
	/* Generated functions in anonymous memory come and go: an empty range keeps the unwinder from caching the
	 * answer. */
	*module = (struct unwind_module){.low = 0, .high = 0};
	for (unsigned i = 0; is_anonymous && i < process->dump_count; i++)
		if (find_generated(b, process->dumps[i], &(struct when_where){time, pc}, module))
			return true;
	b->is_up_to_date |= is_anonymous && process->dump_count > 0;
	if (!map)
		return false;
	if (is_anonymous && process->dump_count)
		return true;
	*module = (struct unwind_module){.low = map->start, .high = map->end};
	const struct live_binaries_opened *opened = opened_of(b, map->file);
	if (!opened || !opened->table ||
		!binary_store_unwind_va(
			b->store, opened->id, (struct tally_file_off){pc - map->start + map->pgoff}, &va))
		return true;
	module->table = opened->table;
	module->bias = pc - va.value;
	return true;
}

bool live_binaries_trim(struct live_binaries *b)
{
	size_t codes = 0, tails = 0;
	for (size_t i = 0; i < b->files.len; i++)
		if (b->files.items[i].tail) {
			tails++;
			codes += jit_tail_count(b->files.items[i].tail);
		}
	bool is_small = codes <= TAIL_CODES && codes <= b->memory / TAIL_CODE_BYTES;
	if (b->is_waiting || (is_small && tails <= TAILS_MAX))
		return false;
	for (size_t i = 0; i < b->files.len; i++)
		if (b->files.items[i].tail) {
			jit_tail_destroy(b->files.items[i].tail);
			b->files.items[i] = (struct live_binaries_opened){0};
		}
	return true;
}

void live_binaries_limit(struct live_binaries *b, uint64_t bytes)
{
	b->memory = bytes;
}

uint64_t live_binaries_refused(const struct live_binaries *b)
{
	return b->refused;
}

uint64_t live_binaries_memory(const struct live_binaries *b)
{
	return b->table_bytes;
}
