/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_files.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "abi/perf_constants.h"
#include "abi/record.h"
#include "abi/record_slices.h"
#include "base/array.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/vec.h"
#include "code/binaries/mapped_file.h"
#include "kernel/system/fd_limit.h"

#define FILES_MAX      2048
#define FDS_LEFT_SHARE 4 /* One in so many of the available descriptors is left for the rest of the program. */
#define TRIES_MAX      8 /* Maximum number of attempts to open one file, each by another mapping of it. */
#define PAUSE_LEAST_MS 4
#define PAUSE_MOST_MS  64
#define KEY_WORDS      4
#define MMAP_BYTES_MAX (8u << 10) /* Maximum size of a map record, of which the file name takes at most 4 KiB. */

struct held_file {
	int fd; /* -1 until the file has been opened. */
	unsigned tries;
};

struct record_files {
	pthread_mutex_t mutex; /* Protects all members except pause_ms. */
	struct id_table keys; /* Maps a build ID, or device and inode, to an index in files. */
	VEC(struct held_file) files;
	size_t held, held_max;
	_Atomic int pause_ms;
};

/* Raises the limit of open files, and returns how many files may be kept open. This must not happen before the command
 * has started, because it would inherit the limit. */
static size_t held_at_most(void)
{
	struct rlimit limit;
	(void)fd_limit_make_room(FILES_MAX + FILES_MAX / FDS_LEFT_SHARE);
	int lowest = dup(STDERR_FILENO); /* The lowest free descriptor is about the number of open ones. */
	if (lowest < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= (rlim_t)lowest) {
		if (lowest >= 0)
			close(lowest);
		return 1;
	}
	close(lowest);
	size_t left = (size_t)(limit.rlim_cur - (rlim_t)lowest);
	left -= left / FDS_LEFT_SHARE;
	return left == 0 ? 1 : MIN(left, FILES_MAX);
}

enum tally_status record_files_create(struct record_files **out, struct tally_error *err)
{
	struct record_files *files = calloc(1, sizeof(*files));
	if (!files)
		return error_nomem(err);
	pthread_mutex_init(&files->mutex, NULL);
	files->keys.words = KEY_WORDS;
	files->pause_ms = PAUSE_LEAST_MS;
	*out = files;
	return TALLY_OK;
}

void record_files_destroy(struct record_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->files.len; i++)
		if (files->files.items[i].fd >= 0)
			close(files->files.items[i].fd);
	vec_free(&files->files);
	id_table_deinit(&files->keys);
	pthread_mutex_destroy(&files->mutex);
	free(files);
}

static void key_of_id(const uint8_t *bytes, size_t size, uint64_t key[KEY_WORDS])
{
	memset(key, 0, KEY_WORDS * sizeof(*key));
	memcpy(key, bytes, MIN(size, 3 * sizeof(*key)));
	key[3] = 1 + size;
}

static void key_of_inode(uint32_t major, uint32_t minor, uint64_t inode, uint64_t generation, uint64_t key[KEY_WORDS])
{
	key[0] = (uint64_t)major << 32 | minor;
	key[1] = inode;
	key[2] = generation;
	key[3] = 0;
}

static bool may_hold(const struct record_mmap *m)
{
	return (m->prot & PROT_EXEC) && str_starts_with(m->filename, STR("/")) &&
	       !str_starts_with(m->filename, STR("//anon")) && !str_starts_with(m->filename, STR("/anon_hugepage")) &&
	       !str_starts_with(m->filename, STR("/dev/")) && !str_starts_with(m->filename, STR("/SYSV")) &&
	       m->filename.len < PATH_MAX && (m->build_id.size > 0 || m->inode > 0);
}

static int open_mapped(const struct record_mmap *m)
{
	char path[PATH_MAX];
	struct mapped_file file = {.pid = (int32_t)m->pid,
		.start = m->start,
		.end = m->start + m->len,
		.path = path,
		.major = m->major,
		.minor = m->minor,
		.inode = m->inode,
		.generation = m->inode_generation,
		.id = {.size = m->build_id.size}};
	memcpy(file.id.bytes, m->build_id.bytes, sizeof(file.id.bytes));
	snprintf(path, sizeof(path), "%.*s", (int)m->filename.len, m->filename.data);
	return mapped_file_open(&file);
}

static void record_files_hold(struct record_files *files, const struct record_mmap *m)
{
	uint64_t key[KEY_WORDS];
	bool is_new;
	if (m->build_id.size)
		key_of_id(m->build_id.bytes, m->build_id.size, key);
	else
		key_of_inode(m->major, m->minor, m->inode, m->inode_generation, key);
	uint32_t index = id_table_find(&files->keys, key);
	if (index == ID_TABLE_NONE) {
		/* files is extended first, so that each index in keys has an entry even if memory runs out. */
		if (!vec_push(&files->files, ((struct held_file){.fd = -1})))
			return;
		index = id_table_add(&files->keys, key, &is_new);
		if (index == ID_TABLE_NONE) {
			files->files.len--;
			return;
		}
	}
	files->pause_ms = PAUSE_LEAST_MS; /* After one program has started, others are likely to follow. */
	struct held_file *file = &files->files.items[index];
	if (files->held_max == 0)
		files->held_max = held_at_most();
	if (file->fd >= 0 || file->tries >= TRIES_MAX || files->held >= files->held_max)
		return;
	file->tries++;
	file->fd = open_mapped(m);
	files->held += file->fd >= 0;
}

static void look_at_map(struct record_files *files, const struct record_slices *from, size_t at, size_t size)
{
	uint8_t bytes[MMAP_BYTES_MAX];
	struct record record;
	struct record_fields fields;
	if (size > sizeof(bytes) || !record_slices_copy(from, at, bytes, size) ||
		record_at((struct tally_bytes){bytes, size}, false, 0, &record, NULL) != TALLY_OK ||
		record_decode(&record, &fields, NULL) != TALLY_OK || !may_hold(&fields.mmap))
		return;
	pthread_mutex_lock(&files->mutex);
	record_files_hold(files, &fields.mmap);
	pthread_mutex_unlock(&files->mutex);
}

void record_files_look(void *context, const struct tally_bytes *slices, size_t count)
{
	struct record_files *files = context;
	const struct record_slices from = {slices, count};
	struct record_slice_header header;
	for (size_t at = 0; record_slices_header(&from, at, &header); at += header.size)
		if (header.type == RECORD_MMAP2 && (header.misc & MISC_CPUMODE_MASK) == MISC_CPUMODE_USER)
			look_at_map(files, &from, at, header.size);
}

int record_files_pause_ms(struct record_files *files)
{
	int pause = files->pause_ms;
	files->pause_ms = MIN(pause * 2, PAUSE_MOST_MS);
	return pause;
}

int record_files_find(void *context, const struct binary_key *key)
{
	struct record_files *files = context;
	uint64_t words[KEY_WORDS];
	if (key->build_id_size)
		key_of_id(key->build_id, key->build_id_size, words);
	else if (key->inode)
		key_of_inode(key->major, key->minor, key->inode, key->generation, words);
	else
		return -1;
	pthread_mutex_lock(&files->mutex);
	uint32_t index = id_table_find(&files->keys, words);
	int fd = index == ID_TABLE_NONE ? -1 : files->files.items[index].fd;
	pthread_mutex_unlock(&files->mutex);
	return fd;
}
