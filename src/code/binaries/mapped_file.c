/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/mapped_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "code/process_files.h"

#define MAPPED_FILE_PROC_PATH_BYTES 64
#define MAPPED_FILE_DELETED	    " (deleted)"

/* This is struct procmap_query of linux/fs.h, which older headers lack. */
struct map_query {
	uint64_t bytes, flags, address;
	uint64_t start, end, map_flags, page_bytes, offset, inode;
	uint32_t major, minor, name_bytes, id_bytes;
	uint64_t name, id;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)

bool mapped_file_ask_id(const struct mapped_file *file, struct elf_build_id *found)
{
	char path[MAPPED_FILE_PROC_PATH_BYTES];
	struct elf_build_id id = {.size = 0};
	struct map_query query = {.bytes = sizeof(query),
		.address = file->start,
		.id_bytes = sizeof(id.bytes),
		.id = (uintptr_t)id.bytes};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)file->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool ok = file_ioctl(fd, MAP_QUERY, &query) == 0 && query.id_bytes <= sizeof(id.bytes);
	close(fd);
	if (!ok || (file->inode &&
			   (query.inode != file->inode || query.major != file->major || query.minor != file->minor)))
		return false;
	id.size = (uint8_t)query.id_bytes;
	*found = id;
	return true;
}

/* Returns the device and inode that the kernel shows for our own mapping at an address. */
static bool own_mapping(const void *address, uint32_t *major, uint32_t *minor, uint64_t *inode)
{
	char *maps;
	size_t len;
	struct tally_str line;
	bool found = false;
	if (file_read("/proc/self/maps", LIMIT_SMALL_FILE, &maps, &len, NULL) != TALLY_OK)
		return false;
	struct tally_str rest = {maps, len};
	while (!found && str_next(&rest, '\n', &line)) {
		unsigned long long start;
		int n = sscanf(line.data, "%llx-%*x %*4s %*x %x:%x %llu", &start, major, minor, // NOLINT(cert-err34-c)
			(unsigned long long *)inode);
		found = n == 4 && start == (uintptr_t)address;
	}
	free(maps);
	return found;
}

/* Returns false if the file has another generation. Not every file system provides generations, so returns true if one
 * of the two is not known. */
static bool has_generation(int fd, uint64_t wanted)
{
	long generation = 0;
	return wanted == 0 || file_ioctl(fd, FS_IOC_GETVERSION, &generation) != 0 ||
	       (uint32_t)generation == (uint32_t)wanted;
}

bool mapped_file_is_same(int fd, const struct mapped_file *file)
{
	struct stat st;
	uint32_t own_major, own_minor;
	uint64_t own_inode;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (!has_generation(fd, file->generation))
		return false;
	if (makedev(file->major, file->minor) == st.st_dev)
		return st.st_ino == file->inode;
	/* On Btrfs and overlayfs, stat(2) returns other devices and inodes than /proc/PID/maps. */
	if (st.st_size == 0)
		return false;
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return false;
	bool is_same = own_mapping(page, &own_major, &own_minor, &own_inode) && own_major == file->major &&
		       own_minor == file->minor && own_inode == file->inode;
	munmap(page, 1);
	return is_same;
}

static bool has_id(int fd, const struct elf_build_id *id)
{
	char path[MAPPED_FILE_PROC_PATH_BYTES];
	struct elf_build_id found;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return elf_file_build_id(path, &found, NULL) == TALLY_OK && found.size == id->size &&
	       memcmp(found.bytes, id->bytes, id->size) == 0;
}

static bool is_it(int fd, const struct mapped_file *file)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (file->inode)
		return mapped_file_is_same(fd, file);
	return file->id.size > 0 && has_id(fd, &file->id);
}

/* Returns fd if it is the wanted file; otherwise closes it and returns -1. */
static int if_it(int fd, const struct mapped_file *file)
{
	if (fd < 0 || is_it(fd, file))
		return fd;
	close(fd);
	return -1;
}

/* A magic link of /proc leads to the file itself, even if it was renamed or deleted. O_PATH does not block on a
 * FIFO. */
static int open_link(const char *link)
{
	struct stat st;
	int place = open(link, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -1;
	char path[MAPPED_FILE_PROC_PATH_BYTES];
	bool is_regular = fstat(place, &st) == 0 && S_ISREG(st.st_mode);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	int fd = is_regular ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
	close(place);
	return fd;
}

static int open_of_process(const struct mapped_file *file, const char *path)
{
	char link[MAPPED_FILE_PROC_PATH_BYTES];
	int fd = -1;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", (int)file->pid, (unsigned long long)file->start,
		(unsigned long long)file->end);
	fd = if_it(open_link(link), file);
	if (fd >= 0)
		return fd;
	if (process_root_open(file->pid, path, &fd, NULL) == TALLY_OK)
		fd = if_it(fd, file);
	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)file->pid);
	return if_it(open_link(link), file);
}

int mapped_file_open(const struct mapped_file *file)
{
	size_t len = strlen(file->path);
	if (file->path[0] != '/' || (file->inode == 0 && file->id.size == 0))
		return -1;
	char *path = strdup(file->path);
	if (!path)
		return -1;
	if (len > strlen(MAPPED_FILE_DELETED) &&
		strcmp(path + len - strlen(MAPPED_FILE_DELETED), MAPPED_FILE_DELETED) == 0)
		path[len - strlen(MAPPED_FILE_DELETED)] = '\0';
	int fd = file->pid > 0 ? open_of_process(file, path) : -1;
	if (fd < 0)
		fd = if_it(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), file);
	free(path);
	return fd;
}
