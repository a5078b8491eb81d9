/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording from a pipe once, and inspects its description afterwards. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/reader.h"

static uint64_t look_at_events(const struct perfdata_reader *reader)
{
	size_t count;
	uint64_t sum = 0;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++) {
		if (events[i].name.len == 0)
			abort(); /* Every event has a name, whatever the stream contains. */
		sum += (uint64_t)events[i].name.data[events[i].name.len - 1];
		for (size_t k = 0; k < events[i].id_count; k++)
			sum += events[i].ids[k];
	}
	return sum;
}

static uint64_t look_at_features(const struct perfdata_reader *reader)
{
	const struct perfdata_features *f = perfdata_reader_features(reader);
	uint64_t sum = 0;
	for (unsigned bit = 0; bit < FEATURE_COUNT; bit++)
		for (size_t i = 0; i < f->raw[bit].len; i++)
			sum += f->raw[bit].data[i];
	for (size_t i = 0; i < f->tracing_data.len; i++)
		sum += f->tracing_data.data[i];
	for (size_t i = 0; i < f->cmdline.len; i++)
		for (size_t k = 0; k < f->cmdline.items[i].len; k++)
			sum += (uint64_t)f->cmdline.items[i].data[k];
	return sum;
}

static void read_through(struct perfdata_reader *reader)
{
	struct record record;
	struct sample_id id;
	enum tally_status status;
	uint64_t records = 0;
	while ((status = perfdata_reader_next(reader, &record, NULL)) == TALLY_OK) {
		(void)perfdata_reader_sample_id(reader, &record, &id);
		records++;
	}
	/* An error is permanent, and the record count includes every returned record. */
	if (status != TALLY_END && perfdata_reader_next(reader, &record, NULL) != TALLY_END)
		abort();
	if (perfdata_reader_health(reader)->records != records)
		abort();
	volatile uint64_t sum = look_at_events(reader) + look_at_features(reader);
	(void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	int fd = memfd_create("stream", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0 &&
		perfdata_reader_open_fd(fd, &reader, NULL) == TALLY_OK) {
		read_through(reader);
		perfdata_reader_destroy(reader);
	}
	close(fd);
	return 0;
}
