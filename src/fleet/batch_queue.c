/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "fleet/batch_queue_names.h"

#define LOCK_NAME      "lock"
#define TEMPORARY_NAME "new.tmp"
#define ZSTD_MAGIC     "\x28\xb5\x2f\xfd"

struct batch_queue {
	pthread_mutex_t mutex;
	char *folder; /* Path for messages. */
	int fd, lock_fd; /* Descriptors of the folder and of its lock file. */
	struct batch_queue_limits limits;
	VEC(struct queue_entry) entries; /* The oldest entry comes first. */
	uint64_t bytes;
	struct queue_state state;
	char state_name[QUEUE_NAME_BYTES]; /* Name of the state file; that of an older state if renaming has failed. */
	bool is_saved; /* Whether state_name is that of the present state. */
	/* Whether the file of the batch that was counted last could not be removed; `remaining` is that batch. */
	bool remains;
	struct queue_entry remaining;
};

static enum tally_status batch_queue_fail(
	const struct batch_queue *q, int errnum, const char *what, struct tally_error *err)
{
	enum tally_status status = errnum == EACCES || errnum == EPERM || errnum == EROFS ? TALLY_DENIED : TALLY_IO;
	return error_set_errno(err, status, errnum, "cannot %s in the queue '%s'", what, q->folder);
}

static int batch_queue_compare(const struct batch_queue_item *a, const struct batch_queue_item *b)
{
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return memcmp(a->id, b->id, sizeof(a->id));
}

static int batch_queue_compare_entries(const void *left, const void *right)
{
	return batch_queue_compare(
		&((const struct queue_entry *)left)->item, &((const struct queue_entry *)right)->item);
}

/* After this, files that are named in the folder survive a power failure. */
static void batch_queue_sync(const struct batch_queue *q)
{
	(void)fsync(q->fd);
}

static bool batch_queue_create(const struct batch_queue *q, const char *name)
{
	int fd = openat(q->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static enum tally_status batch_queue_save(struct batch_queue *q, struct tally_error *err)
{
	char name[QUEUE_NAME_BYTES];
	queue_state_name(&q->state, name);
	q->is_saved = strcmp(name, q->state_name) == 0 || renameat(q->fd, q->state_name, q->fd, name) == 0 ||
		      (errno == ENOENT && batch_queue_create(q, name)); /* Someone has removed the file. */
	if (!q->is_saved)
		return batch_queue_fail(q, errno, "count losses", err);
	memcpy(q->state_name, name, sizeof(name));
	batch_queue_sync(q);
	return TALLY_OK;
}

static void batch_queue_forget(struct batch_queue *q, size_t index)
{
	q->bytes -= q->entries.items[index].bytes;
	q->entries.len--;
	memmove(&q->entries.items[index], &q->entries.items[index + 1],
		(q->entries.len - index) * sizeof(*q->entries.items));
}

static void batch_queue_count(struct batch_queue_losses *losses, const struct batch_queue_item *item)
{
	losses->batches += 1 + item->reported.batches;
	losses->samples += item->samples + item->reported.samples;
	losses->lost_samples += item->lost_samples + item->reported.lost_samples;
}

static uint64_t batch_queue_less(uint64_t value, uint64_t by)
{
	return value > by ? value - by : 0;
}

/* A batch in the queue reports these losses, so they are not pending any more. */
static void batch_queue_consume(struct batch_queue_losses *pending, const struct batch_queue_losses *reported)
{
	pending->batches = batch_queue_less(pending->batches, reported->batches);
	pending->samples = batch_queue_less(pending->samples, reported->samples);
	pending->lost_samples = batch_queue_less(pending->lost_samples, reported->lost_samples);
}

/* Removes the file of the batch that was counted last. */
static bool batch_queue_remove_counted(struct batch_queue *q, const struct queue_entry *entry)
{
	char name[QUEUE_NAME_BYTES];
	queue_entry_name(entry, name);
	q->remains = unlinkat(q->fd, name, 0) != 0 && errno != ENOENT;
	q->remaining = *entry;
	return !q->remains;
}

/* Drops a batch and counts it as lost. The counts are in the name of the state file, so one rename stores them; the new name
 * also says which batch was dropped, so that its file is removed later if the process ends before that. */
static enum tally_status batch_queue_drop(struct batch_queue *q, size_t index, struct tally_error *err)
{
	const struct queue_entry entry = q->entries.items[index], remaining = q->remaining;
	struct queue_state before = q->state;
	if (q->remains && !batch_queue_remove_counted(q, &remaining))
		return batch_queue_fail(q, errno, "remove a dropped batch", err);
	batch_queue_count(&q->state.pending, &entry.item);
	q->state.counted = (struct queue_key){.begin_ns = entry.item.begin_ns};
	memcpy(q->state.counted.id, entry.item.id, sizeof(entry.item.id));
	enum tally_status status = batch_queue_save(q, err);
	if (status != TALLY_OK) {
		q->state = before;
		return status;
	}
	batch_queue_forget(q, index);
	(void)batch_queue_remove_counted(q, &entry);
	return TALLY_OK;
}

/* Returns the index of the oldest batch that is not being sent; SIZE_MAX if there is none. */
static size_t batch_queue_first_idle(const struct batch_queue *q)
{
	for (size_t i = 0; i < q->entries.len; i++)
		if (!q->entries.items[i].is_busy)
			return i;
	return SIZE_MAX;
}

static bool batch_queue_is_old(const struct batch_queue *q, const struct queue_entry *entry)
{
	uint64_t newest = q->entries.items[q->entries.len - 1].item.begin_ns;
	return q->limits.max_age_ns > 0 && newest - entry->item.begin_ns > q->limits.max_age_ns;
}

/*
 * Drops the oldest idle batches until the queue is within its limits. If a drop cannot be counted, the queue remains
 * too large until the next batch triggers another attempt.
 */
static void batch_queue_limit(struct batch_queue *q)
{
	for (;;) {
		size_t i = batch_queue_first_idle(q);
		if (i == SIZE_MAX ||
			(q->bytes <= q->limits.max_bytes && !batch_queue_is_old(q, &q->entries.items[i])) ||
			batch_queue_drop(q, i, NULL) != TALLY_OK)
			return;
	}
}

static enum tally_status batch_queue_read_names(struct batch_queue *q, struct tally_error *err)
{
	int fd = openat(q->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	enum tally_status status = TALLY_OK;
	struct dirent *file;
	if (!dir) {
		status = batch_queue_fail(q, errno, "list the files", err);
		if (fd >= 0)
			close(fd);
		return status;
	}
	while (status == TALLY_OK && (file = file_next_entry(dir))) {
		struct queue_entry entry;
		struct queue_state state;
		struct stat about;
		if (queue_state_parse(file->d_name, &state)) {
			if (q->state_name[0] && state.generation < q->state.generation)
				continue; /* Only the state with the highest generation is valid. */
			q->state = state;
			snprintf(q->state_name, sizeof(q->state_name), "%s", file->d_name);
		} else if (queue_entry_parse(file->d_name, &entry) &&
			   fstatat(q->fd, file->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode)) {
			entry.bytes = (uint64_t)about.st_size;
			q->bytes += entry.bytes;
			if (!vec_push(&q->entries, entry))
				status = error_nomem(err);
		}
	}
	if (status == TALLY_OK && errno != 0)
		status = batch_queue_fail(q, errno, "list the files", err);
	closedir(dir);
	return status;
}

/* Completes what a previous process was about to do: removing a dropped batch, and counting reported losses. */
static enum tally_status batch_queue_recover(struct batch_queue *q, struct tally_error *err)
{
	uint64_t generation = q->state.generation;
	(void)unlinkat(q->fd, TEMPORARY_NAME, 0);
	for (size_t i = q->entries.len; i-- > 0;) {
		const struct queue_entry *entry = &q->entries.items[i];
		bool is_counted = entry->item.begin_ns == q->state.counted.begin_ns &&
				  memcmp(entry->item.id, q->state.counted.id, sizeof(entry->item.id)) == 0;
		char name[QUEUE_NAME_BYTES];
		if (is_counted) {
			queue_entry_name(entry, name);
			if (unlinkat(q->fd, name, 0) != 0)
				return batch_queue_fail(q, errno, "remove a dropped batch", err);
			batch_queue_forget(q, i);
		} else if (entry->generation >= generation) {
			batch_queue_consume(&q->state.pending, &entry->item.reported);
			q->state.generation = MAX(q->state.generation, entry->generation + 1);
		}
	}
	return batch_queue_save(q, err);
}

static enum tally_status batch_queue_load(struct batch_queue *q, struct tally_error *err)
{
	enum tally_status status = batch_queue_read_names(q, err);
	if (status != TALLY_OK)
		return status;
	if (q->entries.len > 1)
		qsort(q->entries.items, q->entries.len, sizeof(*q->entries.items), batch_queue_compare_entries);
	if (!q->state_name[0]) {
		queue_state_name(&q->state, q->state_name);
		if (!batch_queue_create(q, q->state_name))
			return batch_queue_fail(q, errno, "create a file", err);
	}
	return batch_queue_recover(q, err);
}

static enum tally_status batch_queue_lock(struct batch_queue *q, struct tally_error *err)
{
	q->lock_fd = openat(q->fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (q->lock_fd < 0)
		return batch_queue_fail(q, errno, "create a file", err);
	if (flock(q->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return TALLY_OK;
	if (errno == EWOULDBLOCK)
		return error_set(err, TALLY_INVALID,
			"another process uses the queue '%s': end it, or name another folder", q->folder);
	return batch_queue_fail(q, errno, "lock a file", err);
}

static enum tally_status batch_queue_open_folder(struct batch_queue *q, struct tally_error *err)
{
	enum tally_status status = file_make_private_parents(q->folder, err);
	if (status != TALLY_OK)
		return status;
	if (mkdir(q->folder, 0700) != 0 && errno != EEXIST)
		return error_set_errno(err, errno == EACCES || errno == EROFS ? TALLY_DENIED : TALLY_IO, errno,
			"cannot create the folder '%s' for the queue", q->folder);
	q->fd = open(q->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (q->fd < 0)
		return error_set_errno(err, errno == EACCES ? TALLY_DENIED : TALLY_IO, errno,
			"cannot open the folder '%s' of the queue", q->folder);
	status = batch_queue_lock(q, err);
	return status == TALLY_OK ? batch_queue_load(q, err) : status;
}

enum tally_status batch_queue_open(const char *folder, const struct batch_queue_limits *limits,
	struct batch_queue **queue, struct tally_error *err)
{
	struct batch_queue *q = calloc(1, sizeof(*q));
	if (!q)
		return error_nomem(err);
	pthread_mutex_init(&q->mutex, NULL);
	q->fd = q->lock_fd = -1;
	q->limits = *limits;
	q->folder = strdup(folder);
	enum tally_status status = q->folder ? batch_queue_open_folder(q, err) : error_nomem(err);
	if (status != TALLY_OK) {
		batch_queue_close(q);
		return status;
	}
	if (q->entries.len > 0)
		batch_queue_limit(q);
	*queue = q;
	return TALLY_OK;
}

void batch_queue_close(struct batch_queue *q)
{
	if (!q)
		return;
	if (q->lock_fd >= 0)
		close(q->lock_fd);
	if (q->fd >= 0)
		close(q->fd);
	vec_free(&q->entries);
	free(q->folder);
	pthread_mutex_destroy(&q->mutex);
	free(q);
}

struct batch_queue_losses batch_queue_pending(struct batch_queue *q)
{
	pthread_mutex_lock(&q->mutex);
	struct batch_queue_losses pending = q->state.pending;
	pthread_mutex_unlock(&q->mutex);
	return pending;
}

struct batch_queue_figures batch_queue_figures(struct batch_queue *q)
{
	pthread_mutex_lock(&q->mutex);
	struct batch_queue_figures figures = {.batches = q->entries.len, .bytes = q->bytes};
	for (size_t i = 0; i < q->entries.len; i++)
		figures.samples += q->entries.items[i].item.samples;
	pthread_mutex_unlock(&q->mutex);
	return figures;
}

/* Returns 0 or the errno of the failure. */
static int batch_queue_write_file(const struct batch_queue *q, struct tally_bytes bytes)
{
	struct tally_error err;
	int fd = openat(q->fd, TEMPORARY_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	int errnum = file_write_all(fd, bytes.data, bytes.len, &err) == TALLY_OK ? 0 : err.errnum;
	if (!errnum && fsync(fd) != 0)
		errnum = errno;
	if (close(fd) != 0 && !errnum)
		errnum = errno;
	return errnum;
}

static int batch_queue_put_file(const struct batch_queue *q, const struct queue_entry *entry, struct tally_bytes bytes)
{
	char name[QUEUE_NAME_BYTES];
	int errnum = batch_queue_write_file(q, bytes);
	queue_entry_name(entry, name);
	if (!errnum && renameat(q->fd, TEMPORARY_NAME, q->fd, name) != 0)
		errnum = errno;
	if (errnum)
		(void)unlinkat(q->fd, TEMPORARY_NAME, 0);
	else
		batch_queue_sync(q);
	return errnum;
}

/* On a full disk, older batches are dropped. */
static enum tally_status batch_queue_write(
	struct batch_queue *q, const struct queue_entry *entry, struct tally_bytes bytes, struct tally_error *err)
{
	for (;;) {
		int errnum = batch_queue_put_file(q, entry, bytes);
		if (!errnum)
			return TALLY_OK;
		size_t oldest = batch_queue_first_idle(q);
		bool may_drop = (errnum == ENOSPC || errnum == EDQUOT) && oldest != SIZE_MAX &&
				batch_queue_compare(&q->entries.items[oldest].item, &entry->item) < 0;
		if (!may_drop || batch_queue_drop(q, oldest, NULL) != TALLY_OK)
			return batch_queue_fail(q, errnum, "keep a batch", err);
	}
}

static enum tally_status batch_queue_check(
	const struct batch_queue *q, const struct batch_queue_item *item, struct tally_error *err)
{
	const struct batch_queue_losses *pending = &q->state.pending, *reported = &item->reported;
	if (reported->batches > pending->batches || reported->samples > pending->samples ||
		reported->lost_samples > pending->lost_samples)
		return error_set(err, TALLY_INVALID, "a batch reports more losses than the queue '%s' has", q->folder);
	for (size_t i = 0; i < q->entries.len; i++)
		if (memcmp(q->entries.items[i].item.id, item->id, sizeof(item->id)) == 0)
			return error_set(err, TALLY_INVALID, "the queue '%s' has a batch of the same ID", q->folder);
	return TALLY_OK;
}

static enum tally_status batch_queue_add_entry(
	struct batch_queue *q, const struct queue_entry *entry, struct tally_bytes bytes, struct tally_error *err)
{
	enum tally_status status = vec_reserve(&q->entries, q->entries.len + 1) ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK)
		status = batch_queue_write(q, entry, bytes, err);
	if (status != TALLY_OK) { /* The batch is lost, too; what it would have reported is still pending. */
		struct batch_queue_item lost = entry->item;
		lost.reported = (struct batch_queue_losses){0};
		batch_queue_count(&q->state.pending, &lost);
		(void)batch_queue_save(q, NULL);
		return status;
	}
	size_t at = q->entries.len++;
	for (; at > 0 && batch_queue_compare(&q->entries.items[at - 1].item, &entry->item) > 0; at--)
		q->entries.items[at] = q->entries.items[at - 1];
	q->entries.items[at] = *entry;
	q->bytes += entry->bytes;
	batch_queue_consume(&q->state.pending, &entry->item.reported);
	q->state.generation++;
	(void)batch_queue_save(q, NULL);
	batch_queue_limit(q);
	return TALLY_OK;
}

enum tally_status batch_queue_add(
	struct batch_queue *q, const struct batch_queue_item *item, struct tally_bytes bytes, struct tally_error *err)
{
	pthread_mutex_lock(&q->mutex);
	struct queue_entry entry = {.item = *item,
		.generation = q->state.generation,
		.bytes = bytes.len,
		.is_packed = bytes.len >= 4 && memcmp(bytes.data, ZSTD_MAGIC, 4) == 0};
	enum tally_status status = batch_queue_check(q, item, err);
	if (status == TALLY_OK)
		status = batch_queue_add_entry(q, &entry, bytes, err);
	pthread_mutex_unlock(&q->mutex);
	return status;
}

static enum tally_status batch_queue_read_file(
	const struct batch_queue *q, const struct queue_entry *entry, struct text *bytes, struct tally_error *err)
{
	char name[QUEUE_NAME_BYTES], *data;
	size_t len;
	queue_entry_name(entry, name);
	int fd = openat(q->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return batch_queue_fail(q, errno, "read a batch", err);
	enum tally_status status = file_read_fd(fd, FLEET_BATCH_BYTES, &data, &len, err);
	close(fd);
	if (status != TALLY_OK)
		return status;
	text_clear(bytes);
	text_bytes(bytes, data, len);
	free(data);
	return bytes->failed ? error_nomem(err) : TALLY_OK;
}

/* An unreadable file is dropped, so that it does not block those behind it. */
enum tally_status batch_queue_oldest(
	struct batch_queue *q, struct batch_queue_item *item, struct text *bytes, struct tally_error *err)
{
	enum tally_status status = TALLY_END;
	pthread_mutex_lock(&q->mutex);
	for (size_t i = batch_queue_first_idle(q); i != SIZE_MAX; i = batch_queue_first_idle(q)) {
		status = batch_queue_read_file(q, &q->entries.items[i], bytes, err);
		if (status == TALLY_OK) {
			q->entries.items[i].is_busy = true;
			*item = q->entries.items[i].item;
			break;
		}
		if (status == TALLY_NOMEM || batch_queue_drop(q, i, NULL) != TALLY_OK)
			break;
		status = TALLY_END;
	}
	pthread_mutex_unlock(&q->mutex);
	return status;
}

enum batch_queue_outcome { QUEUE_SENT, QUEUE_REFUSED, QUEUE_LATER };

static void batch_queue_end(struct batch_queue *q, size_t index, enum batch_queue_outcome outcome)
{
	struct queue_entry *entry = &q->entries.items[index];
	char name[QUEUE_NAME_BYTES];
	entry->is_busy = false;
	if (outcome == QUEUE_SENT) {
		if (!q->is_saved)
			(void)batch_queue_save(q, NULL);
		queue_entry_name(entry, name);
		/* A file that cannot be removed is sent again after a restart; the server recognizes it by its ID. */
		(void)unlinkat(q->fd, name, 0);
		batch_queue_forget(q, index);
	} else if (outcome == QUEUE_REFUSED) {
		(void)batch_queue_drop(q, index, NULL); /* If this fails, the batch is sent and refused again. */
	}
}

static void batch_queue_finish(
	struct batch_queue *q, const uint8_t id[FLEET_BATCH_ID_BYTES], enum batch_queue_outcome outcome)
{
	pthread_mutex_lock(&q->mutex);
	for (size_t i = 0; i < q->entries.len; i++)
		if (q->entries.items[i].is_busy && memcmp(q->entries.items[i].item.id, id, FLEET_BATCH_ID_BYTES) == 0) {
			batch_queue_end(q, i, outcome);
			break;
		}
	pthread_mutex_unlock(&q->mutex);
}

void batch_queue_sent(struct batch_queue *q, const uint8_t id[FLEET_BATCH_ID_BYTES])
{
	batch_queue_finish(q, id, QUEUE_SENT);
}

void batch_queue_refused(struct batch_queue *q, const uint8_t id[FLEET_BATCH_ID_BYTES])
{
	batch_queue_finish(q, id, QUEUE_REFUSED);
}

void batch_queue_later(struct batch_queue *q, const uint8_t id[FLEET_BATCH_ID_BYTES])
{
	batch_queue_finish(q, id, QUEUE_LATER);
}
