/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a live stream: every record is returned, and the addresses of each sample are resolved in the machine as known
 * so far. */
#include "analysis/live/live_records.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void take(struct perfdata_reader *reader, struct resolver *resolver, const struct time_order_item *item)
{
	struct sample sample;
	const struct perfdata_event *event = perfdata_reader_event_of(reader, &item->record);
	if (item->record.type != RECORD_SAMPLE || !event ||
		sample_decode(&event->layout, &item->record, &sample, NULL) != TALLY_OK)
		return;
	struct resolve_where where = resolver_where(resolver, (int32_t)sample.pid, sample.time);
	struct sample_array chain = resolver_sample_chain(resolver, &where, &event->layout, &sample);
	(void)resolver_frame(resolver, &where, item->record.misc & MISC_CPUMODE_MASK, sample.ip);
	(void)resolver_chain_frames(resolver, &where, &chain);
}

static void read_live(struct perfdata_reader *reader)
{
	struct sideband sideband;
	struct live_records *live;
	struct resolver resolver;
	struct time_order_item item;
	if (live_records_create(reader, &sideband, &live, NULL) != TALLY_OK)
		return;
	if (resolver_init(&resolver, sideband.machine, perfdata_reader_is_swapped(reader))) {
		live_records_tell(live, &resolver);
		while (live_records_next(live, &item, NULL) == TALLY_OK)
			take(reader, &resolver, &item);
	}
	if (live_records_next(live, &item, NULL) == TALLY_OK)
		abort(); /* The end is permanent. */
	resolver_deinit(&resolver);
	live_records_destroy(live);
	sideband_deinit(&sideband);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	int fd = memfd_create("stream", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0 &&
		perfdata_reader_open_fd(fd, &reader, NULL) == TALLY_OK) {
		read_live(reader);
		perfdata_reader_destroy(reader);
	}
	close(fd);
	return 0;
}
