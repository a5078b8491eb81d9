/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/limits.h"

#define STEP_BYTES ((size_t)1 << 20) /* A multiple of every page size. */
/* Bytes to back (by memory or blocks of the file) at once, after as many have been backed already. */
#define LARGE_BYTES (STEP_BYTES * 16)
/* If addresses are limited and the spool cannot grow in place, it reserves this fraction of the limit. */
#define TIGHT_SHARE 16

#define RESERVED_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void spool_init(struct spool *spool)
{
	*spool = (struct spool){.fd = -1, .memory_from = SIZE_MAX, .memory_bytes = SPOOL_MEMORY_BYTES};
}

void spool_deinit(struct spool *spool)
{
	if (spool->base)
		munmap(spool->base, spool->reserved);
	if (spool->fd >= 0)
		close(spool->fd);
	spool_init(spool);
}

void spool_expect(struct spool *spool, size_t bytes)
{
	spool->memory_bytes = bytes > SPOOL_MEMORY_BYTES ? 0 : SPOOL_MEMORY_BYTES;
}

/* Finds a range of addresses with nothing mapped near it: if address space is limited (RLIMIT_AS), a spool reserves
 * only as much as it uses and grows in place, so the addresses after it must be free. */
#if UINTPTR_MAX > UINT32_MAX
#define SPARSE_BEGIN	  ((uintptr_t)0x2000 << 32)
#define SPARSE_SLOTS	  1024u
#define SPARSE_SLOT_BYTES ((uintptr_t)1 << 36)
#else
#define SPARSE_BEGIN	  ((uintptr_t)0x20000000)
#define SPARSE_SLOTS	  32u
#define SPARSE_SLOT_BYTES ((uintptr_t)1 << 25)
#endif
#define SPARSE_ATTEMPTS 16u

/* Reserves the addresses; false if any of them is mapped already. */
static bool map_addresses(uint8_t *at, size_t bytes)
{
	void *base = mmap(at, bytes, PROT_NONE, RESERVED_FLAGS | MAP_FIXED_NOREPLACE, -1, 0);
	if (base == at)
		return true;
	if (base != MAP_FAILED) /* A kernel that does not know the flag has mapped other addresses. */
		munmap(base, bytes);
	return false;
}

static bool reserve_sparsely(struct spool *spool, size_t bytes)
{
	uint64_t number = (uint64_t)(uintptr_t)spool;
	for (unsigned i = 0; i < SPARSE_ATTEMPTS; i++) {
		number = (number + i + 1) * HASH_FACTOR;
		uint8_t *at = (uint8_t *)(SPARSE_BEGIN + (uintptr_t)(number >> 40) % SPARSE_SLOTS * SPARSE_SLOT_BYTES);
		if (!map_addresses(at, bytes))
			continue;
		spool->base = at;
		spool->reserved = bytes;
		return spool->is_tight = true;
	}
	return false;
}

static bool reserve_amply(struct spool *spool, size_t wanted)
{
	for (; wanted >= STEP_BYTES; wanted /= 2) {
		void *base = mmap(NULL, wanted, PROT_NONE, RESERVED_FLAGS, -1, 0);
		if (base == MAP_FAILED)
			continue;
		spool->base = base;
		spool->reserved = wanted;
		return true;
	}
	return false;
}

static size_t whole_steps(size_t bytes)
{
	return (bytes + STEP_BYTES - 1) & ~(STEP_BYTES - 1);
}

static bool reserve_addresses(struct spool *spool, size_t n)
{
	struct rlimit limit;
	bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
	size_t most = sizeof(size_t) > 4 ? (size_t)LIMIT_SPOOL_BYTES : (size_t)1 << 30;
	if (!is_limited)
		return reserve_amply(spool, most);
	if (n <= most && reserve_sparsely(spool, whole_steps(n)))
		return true;
	return reserve_amply(spool, (size_t)limit.rlim_cur / TIGHT_SHARE);
}

static bool reserve_more(struct spool *spool, size_t n)
{
	if (!spool->is_tight || n > LIMIT_SPOOL_BYTES)
		return false;
	size_t bytes = whole_steps(n - (spool->reserved - spool->len));
	if (!map_addresses(spool->base + spool->reserved, bytes))
		return false;
	spool->reserved += bytes;
	return true;
}

static int open_unlinked(void)
{
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/var/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd >= 0)
		return fd;
	char path[4096];
	if (snprintf(path, sizeof(path), "%s/tally-XXXXXX", folder) >= (int)sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static bool spool_write_all(int fd, const uint8_t *data, size_t len, off_t offset)
{
	unsigned interrupts = 0;
	while (len > 0) {
		ssize_t n = pwrite(fd, data, len, offset);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n <= 0)
			return false;
		data += n;
		offset += n;
		len -= (size_t)n;
	}
	return true;
}

/* The caller has allocated the file's blocks, because a full disk would raise a signal on access. */
static bool map_file(struct spool *spool, int fd, size_t from, size_t to)
{
	return mmap(spool->base + from, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)from) !=
	       MAP_FAILED;
}

/* Creates the file, and moves everything but the first step from memory to it. */
static bool spool_begin_file(struct spool *spool)
{
	size_t from = MAX(spool->forgotten, STEP_BYTES);
	size_t bytes = spool->backed > from ? spool->backed - from : 0;
	int fd = open_unlinked();
	if (fd < 0)
		return false;
	if (bytes == 0 || (posix_fallocate(fd, (off_t)from, (off_t)bytes) == 0 &&
				  spool_write_all(fd, spool->base + from, bytes, (off_t)from) &&
				  map_file(spool, fd, from, spool->backed))) {
		spool->fd = fd;
		return true;
	}
	close(fd);
	return false;
}

static bool back_by_file(struct spool *spool, size_t bytes)
{
	if (spool->is_passing || spool->backed == 0 || spool->backed + bytes <= spool->memory_bytes)
		return false;
	if (spool->fd < 0 && !spool_begin_file(spool))
		return false;
	return posix_fallocate(spool->fd, (off_t)spool->backed, (off_t)bytes) == 0 &&
	       map_file(spool, spool->fd, spool->backed, spool->backed + bytes);
}

static bool back_by_memory(struct spool *spool, size_t bytes)
{
	if (mmap(spool->base + spool->backed, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		    -1, 0) == MAP_FAILED)
		return false;
	if (spool->fd >= 0 && spool->memory_from > spool->backed)
		spool->memory_from = spool->backed;
	return true;
}

/* Returns how many bytes to back (by memory or the file) for room up to end: whole steps, and more at once after some
 * were backed. */
static size_t bytes_to_back(const struct spool *spool, size_t end)
{
	size_t bytes = whole_steps(end - spool->backed);
	if (spool->is_passing || spool->is_tight || spool->backed == 0)
		return bytes;
	if (bytes + spool->backed <= spool->memory_bytes)
		return (spool->memory_bytes - spool->backed) & ~(STEP_BYTES - 1);
	return spool->backed >= LARGE_BYTES && bytes < LARGE_BYTES ? LARGE_BYTES : bytes;
}

static bool spool_back(struct spool *spool, size_t end)
{
	if (spool->backed == 0 && end > STEP_BYTES && !spool_back(spool, STEP_BYTES))
		return false;
	size_t bytes = bytes_to_back(spool, end);
	if (bytes > spool->reserved - spool->backed)
		return false;
	if (!back_by_file(spool, bytes) && !back_by_memory(spool, bytes))
		return false;
	/* Readers mostly keep up with the writer, so the pages of the data written last are dropped from memory. */
	size_t behind = spool->backed < 2 * LARGE_BYTES ? 0 : spool->backed - 2 * LARGE_BYTES;
	spool_drop(spool, (struct tally_bytes){spool->base + behind, spool->backed - behind});
	spool->backed += bytes;
	return true;
}

uint8_t *spool_reserve(struct spool *spool, size_t n)
{
	if (!spool->base && !reserve_addresses(spool, n))
		return NULL;
	if (n > spool->reserved - spool->len && !reserve_more(spool, n))
		return NULL;
	if (spool->len + n > spool->backed && !spool_back(spool, spool->len + n))
		return NULL;
	return spool->base + spool->len;
}

void spool_commit(struct spool *spool, size_t n)
{
	spool->len += n;
}

bool spool_append(struct spool *spool, const void *data, size_t len)
{
	uint8_t *room = spool_reserve(spool, len);
	if (!room)
		return false;
	if (len > 0)
		memcpy(room, data, len);
	spool->len += len;
	return true;
}

void spool_drop(const struct spool *spool, struct tally_bytes part)
{
	uintptr_t base = (uintptr_t)spool->base, at = (uintptr_t)part.data;
	if (at < base || at - base > spool->backed || part.len > spool->backed - (at - base))
		return;
	size_t begin =
		/* Rounding both ends down leaves no gap between adjacent parts. */
		(size_t)(part.data - spool->base) & ~(STEP_BYTES - 1);
	size_t end = ((size_t)(part.data - spool->base) + part.len) & ~(STEP_BYTES - 1);
	begin = MAX(begin, STEP_BYTES);
	end = MIN(end, spool->memory_from);
	if (spool->fd >= 0 && begin < end)
		(void)madvise(spool->base + begin, end - begin, MADV_DONTNEED);
}

void spool_forget(struct spool *spool, size_t end)
{
	end &= ~(STEP_BYTES - 1);
	if (end <= spool->forgotten || end > spool->len)
		return;
	size_t bytes = end - spool->forgotten;
#ifdef FALLOC_FL_PUNCH_HOLE
	if (spool->fd >= 0)
		(void)!fallocate(
			spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)spool->forgotten, (off_t)bytes);
#endif
	/* Mapping anew frees the page tables as well, which madvise would not. */
	if (mmap(spool->base + spool->forgotten, bytes, PROT_NONE, RESERVED_FLAGS | MAP_FIXED, -1, 0) != MAP_FAILED)
		spool->forgotten = end;
}

void spool_pass(struct spool *spool)
{
	spool->is_passing = true;
}

struct tally_bytes spool_view(const struct spool *spool)
{
	return (struct tally_bytes){spool->base ? spool->base : (const uint8_t *)"", spool->len};
}
