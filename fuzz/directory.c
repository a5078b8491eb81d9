/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a recording that is a directory. The first two bytes of the input give the length of `data`, the next two
 * that of data.0; the rest is data.1. Reading everything twice gives the same records.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "perfdata/reader.h"

static char folder[] = "/tmp/tally-fuzz-XXXXXX";

static void remove_folder(void)
{
	static const char *const names[] = {"data", "data.0", "data.1"};
	char path[64];
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static bool put(const char *name, const uint8_t *data, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool is_good = fd >= 0 && file_write_all(fd, data, size, NULL) == TALLY_OK;
	if (fd >= 0)
		close(fd);
	return is_good;
}

static uint64_t walk(struct perfdata_reader *reader)
{
	struct record record;
	uint64_t count = 0;
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK)
		count++;
	if (perfdata_reader_health(reader)->records < count)
		abort();
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool has_folder;
	struct perfdata_reader *reader;
	if (size < 4)
		return 0;
	if (!has_folder) {
		if (!mkdtemp(folder))
			return 0;
		has_folder = true;
		atexit(remove_folder);
	}
	uint16_t ends[2];
	memcpy(ends, data, sizeof(ends));
	data += 4;
	size -= 4;
	size_t first = MIN(ends[0], size);
	size_t second = MIN(ends[1], size);
	if (second < first)
		second = first;
	if (!put("data", data, first) || !put("data.0", data + first, second - first) ||
		!put("data.1", data + second, size - second))
		return 0;
	if (perfdata_reader_open(folder, &reader, NULL) != TALLY_OK)
		return 0;
	uint64_t count = walk(reader);
	perfdata_reader_rewind(reader);
	if (walk(reader) != count)
		abort();
	perfdata_reader_destroy(reader);
	return 0;
}
