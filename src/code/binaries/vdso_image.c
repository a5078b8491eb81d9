/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/vdso_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupts.h"
#include "base/limits.h"

#define MAP_VDSO_32	      0x2002 /* ARCH_MAP_VDSO_32 of arch_prctl(2). */
#define VDSO_IMAGE_PAGE_BYTES 4096
#define ROOM_BYTES	      (16 * VDSO_IMAGE_PAGE_BYTES) /* Room for the image and the data pages that precede it. */
#define RANGES_MAX	      8

struct vdso_ranges { /* Mappings of [vdso] and [vvar] in this process. */
	struct tally_bytes items[RANGES_MAX];
	size_t count;
	struct tally_bytes vdso;
};

static struct vdso_ranges find_ranges(void)
{
	struct vdso_ranges ranges = {.count = 0};
	char *maps;
	size_t len;
	if (file_read("/proc/self/maps", LIMIT_SMALL_FILE, &maps, &len, NULL) != TALLY_OK)
		return ranges;
	struct tally_str rest = {maps, len};
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct tally_str whole = line;
		struct tally_str start_text;
		struct tally_str end_text;
		uint64_t start;
		uint64_t end;
		bool is_vdso = str_ends_with(whole, STR("[vdso]"));
		if (!(is_vdso || str_ends_with(whole, STR("[vvar]")) || str_ends_with(whole, STR("[vvar_vclock]"))) ||
			!str_next(&line, '-', &start_text) || !str_next(&line, ' ', &end_text) ||
			!str_to_u64(start_text, 16, &start) || !str_to_u64(end_text, 16, &end))
			continue;
		struct tally_bytes range = {(const uint8_t *)(uintptr_t)start, (size_t)(end - start)};
		if (is_vdso)
			ranges.vdso = range;
		if (ranges.count < RANGES_MAX)
			ranges.items[ranges.count++] = range;
	}
	free(maps);
	return ranges;
}

#if defined(__x86_64__) && defined(__LP64__)

/* Runs in the child, which has only a copy of one thread, so it makes nothing but system calls. For a page that cannot
 * be read, such as that of a clock that this machine lacks, write fails; reading it ourselves would crash. */
_Noreturn static void map_and_write(const struct vdso_ranges *ranges, uint8_t *room, int out)
{
	static const uint8_t nothing[VDSO_IMAGE_PAGE_BYTES];
	for (size_t i = 0; i < ranges->count; i++)
		(void)munmap((void *)(uintptr_t)ranges->items[i].data, ranges->items[i].len);
	(void)munmap(room, ROOM_BYTES);
	long size = syscall(SYS_arch_prctl, MAP_VDSO_32, room);
	if (size <= 0 || write(out, &size, sizeof(size)) != sizeof(size))
		_exit(1);
	for (size_t at = 0; at < ROOM_BYTES; at += VDSO_IMAGE_PAGE_BYTES)
		if (write(out, room + at, VDSO_IMAGE_PAGE_BYTES) != VDSO_IMAGE_PAGE_BYTES &&
			write(out, nothing, VDSO_IMAGE_PAGE_BYTES) != VDSO_IMAGE_PAGE_BYTES)
			_exit(1);
	_exit(0);
}

static size_t vdso_image_read_all(int fd, uint8_t *bytes, size_t len)
{
	size_t done = 0;
	unsigned interrupts = 0;
	while (done < len) {
		ssize_t got = read(fd, bytes + done, len - done);
		if (got < 0 && is_interrupted(&interrupts))
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* The child sends no signal when it ends, so code that waits for children does not notice it. */
static bool read_from_child(const struct vdso_ranges *ranges, uint8_t *room, long *size, uint8_t *bytes)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	long child = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (child == 0)
		map_and_write(ranges, room, ends[1]);
	close(ends[1]);
	bool ok = child > 0 && vdso_image_read_all(ends[0], (uint8_t *)size, sizeof(*size)) == sizeof(*size) &&
		  vdso_image_read_all(ends[0], bytes, ROOM_BYTES) == ROOM_BYTES;
	close(ends[0]);
	if (child > 0)
		(void)wait_for_process((pid_t)child, NULL, __WALL);
	return ok;
}

static bool open_compat(const struct vdso_ranges *ranges, struct vdso_image *image)
{
	/* Reserves an address range that is free in the child. */
	uint8_t *room = mmap(NULL, ROOM_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *bytes = malloc(ROOM_BYTES);
	long size = 0;
	if (room == MAP_FAILED || !bytes || !read_from_child(ranges, room, &size, bytes))
		size = 0;
	if (room != MAP_FAILED)
		(void)munmap(room, ROOM_BYTES);
	for (size_t at = 0; size > 0 && at + (size_t)size <= ROOM_BYTES; at += VDSO_IMAGE_PAGE_BYTES)
		if (memcmp(bytes + at, "\177ELF", 4) == 0) {
			*image = (struct vdso_image){{bytes + at, (size_t)size}, bytes};
			return true;
		}
	free(bytes);
	return false;
}

#else

static bool open_compat(const struct vdso_ranges *ranges, struct vdso_image *image)
{
	(void)ranges;
	(void)image;
	return false;
}

#endif

bool vdso_image_open(struct tally_str name, struct vdso_image *image)
{
	const struct vdso_ranges ranges = find_ranges();
	*image = (struct vdso_image){.owned = NULL};
	if (str_equal(name, STR(VDSO_NAME_32)))
		return open_compat(&ranges, image);
	if (!str_equal(name, STR(VDSO_NAME)))
		return false;
	image->bytes = ranges.vdso;
	return image->bytes.len > 0;
}

void vdso_image_close(struct vdso_image *image)
{
	free(image->owned);
	*image = (struct vdso_image){.owned = NULL};
}
