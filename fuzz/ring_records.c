/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a ring buffer with arbitrary contents: records are contiguous and decode as samples. Also decodes the data of
 * read(2). */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/counting/read_format.h"
#include "kernel/recording/ring_reader.h"
#include "kernel/recording/tally_sample.h"

#define PAGE 4096u
#define DATA 1024u

static uint8_t memory[PAGE + DATA] __attribute__((aligned(PAGE)));

static void read_ring(const uint8_t *data, size_t size, bool is_backward)
{
	struct perf_event_mmap_page *page = (void *)memory;
	struct perf_attr attr = {.sample_type = SAMPLE_KNOWN_MASK & ~SAMPLE_WEIGHT_STRUCT, .read_format = 31};
	struct record_layout layout = record_layout_make(&attr, false);
	static struct ring_reader reader;
	struct record record;
	struct tally_sample sample;
	uint64_t start;
	if (size < sizeof(start))
		return;
	memcpy(&start, data, sizeof(start));
	data += sizeof(start);
	size = (size - sizeof(start)) & ~(size_t)7; /* The kernel aligns records to 8 bytes. */
	start &= ~UINT64_C(7);
	memset(memory, 0, sizeof(memory));
	for (size_t i = 0; i < size; i++)
		memory[PAGE + (start + i) % DATA] = data[i];
	page->data_tail = is_backward ? 0 : start;
	page->data_head = is_backward ? start : start + size;
	struct ring ring = ring_attach(memory, PAGE, DATA);
	ring.is_backward = is_backward;
	reader = (struct ring_reader){.ring = &ring};
	for (size_t i = 0; i <= DATA / RECORD_HEADER_BYTES && ring_reader_next(&reader, &record); i++)
		if (sample_present(&layout, &record, &sample, NULL) == TALLY_OK)
			for (size_t k = 0; k < sample.reading.count && k < 4; k++)
				tally_sample_reading(&sample, k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t words[64];
	struct tally_reading reading;
	struct tally_reading_value values[8];
	if (size < 2)
		return 0;
	read_ring(data + 1, size - 1, data[0] & 1);
	size_t count = (size - 1) / sizeof(uint64_t) < 64 ? (size - 1) / sizeof(uint64_t) : 64;
	memcpy(words, data + 1, count * sizeof(uint64_t));
	(void)!reading_decode(words, count, data[0] >> 1, &reading, values, 8);
	return 0;
}
