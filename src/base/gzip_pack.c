/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gzip_pack.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/helper_thread.h"
#include "base/thread_pool.h"

#define GZIP_PACK_LEVEL	       1 /* Level 1 takes a tenth of the time of level 6, for a quarter more bytes. */
#define RAW_WINDOW	       (-15) /* Negative values make zlib write neither header nor checksum. */
#define PACK_MEMORY	       8
#define MOST_THREADS	       8 /* More threads would wait for the thread that produces the texts. */
#define JOBS		       (MOST_THREADS + 2)
#define GZIP_PACK_HEAD_BYTES   10
#define TAIL_BYTES	       8
#define GZIP_PACK_PACKED_BYTES ((size_t)64 << 10)

struct gzip_pack_job { /* A text to compress. */
	struct text text, packed;
	uint32_t crc;
	bool is_done, is_last;
};

struct gzip_pack {
	gzip_pack_put put;
	void *context;
	z_stream stream; /* Stream of the caller's thread. */
	uint32_t crc; /* CRC of the texts that were written. */
	uint64_t bytes; /* Size of the texts that were written, before compression. */
	bool failed;
	unsigned thread_limit, thread_count;
	pthread_t threads[MOST_THREADS];
	pthread_mutex_t mutex; /* Protects the members below. */
	pthread_cond_t changed;
	struct gzip_pack_job jobs[JOBS];
	size_t begin, taken, end; /* Running counts of jobs: written before begin, assigned to a thread before taken. */
	bool is_ending;
};

static struct gzip_pack_job *job_at(struct gzip_pack *pack, size_t index)
{
	return &pack->jobs[index % JOBS];
}

static bool gzip_pack_open_stream(z_stream *z)
{
	return deflateInit2(z, GZIP_PACK_LEVEL, Z_DEFLATED, RAW_WINDOW, PACK_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* The output ends at a byte boundary, and refers to nothing before its beginning, so it can follow any other output. */
static void pack_job(z_stream *z, struct gzip_pack_job *job)
{
	size_t left = job->text.len;
	int flush = Z_NO_FLUSH, end = job->is_last ? Z_FINISH : Z_SYNC_FLUSH;
	job->crc = (uint32_t)crc32_z(0, (const Bytef *)job->text.data, left);
	z->next_in = (Bytef *)job->text.data;
	z->avail_in = 0;
	text_clear(&job->packed);
	do {
		char *to = text_room(&job->packed, GZIP_PACK_PACKED_BYTES);
		if (!to)
			break;
		if (z->avail_in == 0 && flush == Z_NO_FLUSH) {
			z->avail_in = left > UINT_MAX ? UINT_MAX : (uInt)left;
			left -= z->avail_in;
			flush = left ? Z_NO_FLUSH : end;
		}
		z->next_out = (Bytef *)to;
		z->avail_out = GZIP_PACK_PACKED_BYTES;
		/* For a stream that was set up, deflate reports at most that there is nothing to do. */
		(void)deflate(z, flush);
		job->packed.len += GZIP_PACK_PACKED_BYTES - z->avail_out;
	} while (z->avail_out == 0 || flush == Z_NO_FLUSH);
	(void)deflateReset(z);
}

/* Called with the mutex held, and unlocks it during the compression. */
static void take_job(struct gzip_pack *pack, z_stream *z)
{
	struct gzip_pack_job *job = job_at(pack, pack->taken++);
	pthread_mutex_unlock(&pack->mutex);
	pack_job(z, job);
	pthread_mutex_lock(&pack->mutex);
	job->is_done = true;
	pthread_cond_broadcast(&pack->changed);
}

static void *pack_along(void *context)
{
	struct gzip_pack *pack = context;
	z_stream stream = {0};
	if (!gzip_pack_open_stream(&stream))
		return NULL; /* The other threads continue. */
	pthread_mutex_lock(&pack->mutex);
	while (!pack->is_ending) {
		if (pack->taken < pack->end)
			take_job(pack, &stream);
		else
			pthread_cond_wait(&pack->changed, &pack->mutex);
	}
	pthread_mutex_unlock(&pack->mutex);
	(void)deflateEnd(&stream);
	return NULL;
}

static void put_first(struct gzip_pack *pack)
{
	struct gzip_pack_job *job = job_at(pack, pack->begin);
	pthread_mutex_unlock(&pack->mutex);
	pack->failed = pack->failed || job->packed.failed || job->text.failed;
	if (!pack->failed)
		pack->put(pack->context, job->packed.data, job->packed.len);
	pack->crc = (uint32_t)crc32_combine(pack->crc, job->crc, (z_off_t)job->text.len);
	pack->bytes += job->text.len;
	job->text.len = 0;
	pthread_mutex_lock(&pack->mutex);
	pack->begin++;
}

/* Writes compressed jobs and helps to compress, until at most left jobs remain. Called with the mutex held. */
static void gzip_pack_work_off(struct gzip_pack *pack, size_t left)
{
	while (pack->begin < pack->end) {
		if (pack->begin < pack->taken && job_at(pack, pack->begin)->is_done)
			put_first(pack);
		else if (pack->end - pack->begin <= left)
			return;
		else if (pack->taken < pack->end)
			take_job(pack, &pack->stream);
		else
			pthread_cond_wait(&pack->changed, &pack->mutex);
	}
}

/* Called with the mutex held. */
static void add_job(struct gzip_pack *pack, struct text *text, bool is_last)
{
	struct gzip_pack_job *job = job_at(pack, pack->end++);
	struct text empty = job->text;
	job->text = *text;
	*text = empty;
	job->is_done = false;
	job->is_last = is_last;
	pthread_cond_broadcast(&pack->changed);
}

struct gzip_pack *gzip_pack_create(gzip_pack_put put, void *context)
{
	struct gzip_pack *pack = calloc(1, sizeof(*pack));
	if (!pack || !gzip_pack_open_stream(&pack->stream)) {
		free(pack);
		return NULL;
	}
	static const uint8_t head[GZIP_PACK_HEAD_BYTES] = {
		0x1f, 0x8b, Z_DEFLATED, [8] = 4 /* fastest */, [9] = 3 /* Unix */};
	pack->put = put;
	pack->context = context;
	/* The caller produces texts; even with one CPU, a thread overlaps that with waits for the disk. */
	unsigned cpus = thread_pool_workers(MOST_THREADS + 1, 0);
	pack->thread_limit = cpus > 1 ? cpus - 1 : 1;
	(void)pthread_mutex_init(&pack->mutex, NULL);
	(void)pthread_cond_init(&pack->changed, NULL);
	put(context, head, sizeof(head));
	return pack;
}

void gzip_pack_add(struct gzip_pack *pack, struct text *text)
{
	pthread_mutex_lock(&pack->mutex);
	gzip_pack_work_off(pack, pack->thread_limit + 1);
	add_job(pack, text, false);
	bool wants_thread = pack->end - pack->taken > 0 && pack->thread_count < pack->thread_limit;
	pthread_mutex_unlock(&pack->mutex);
	if (wants_thread && helper_thread_create(&pack->threads[pack->thread_count], pack_along, pack))
		pack->thread_count++;
}

bool gzip_pack_finish(struct gzip_pack *pack, struct text *text)
{
	pthread_mutex_lock(&pack->mutex);
	gzip_pack_work_off(pack, pack->thread_limit + 1);
	add_job(pack, text, true);
	gzip_pack_work_off(pack, 0);
	pack->is_ending = true;
	pthread_cond_broadcast(&pack->changed);
	pthread_mutex_unlock(&pack->mutex);
	for (unsigned i = 0; i < pack->thread_count; i++)
		(void)pthread_join(pack->threads[i], NULL);
	uint8_t tail[TAIL_BYTES];
	for (unsigned i = 0; i < 4; i++) {
		tail[i] = (uint8_t)(pack->crc >> 8 * i);
		tail[4 + i] = (uint8_t)(pack->bytes >> 8 * i);
	}
	bool is_whole = !pack->failed;
	if (is_whole)
		pack->put(pack->context, tail, sizeof(tail));
	for (size_t i = 0; i < JOBS; i++) {
		text_deinit(&pack->jobs[i].text);
		text_deinit(&pack->jobs[i].packed);
	}
	(void)deflateEnd(&pack->stream);
	(void)pthread_cond_destroy(&pack->changed);
	(void)pthread_mutex_destroy(&pack->mutex);
	free(pack);
	return is_whole;
}
