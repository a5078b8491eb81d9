/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.c - measures how fast one core reads a recording: the side-band pass, or the decoding of its samples with
 * their call chains. For bench/run.py.
 *
 * usage: reading sideband|samples FILE. Prints the seconds of CPU time and the number of records.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/sideband.h"

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t read_samples(struct perfdata_reader *reader, const struct record_run *run, uint64_t *sum)
{
	struct record record;
	struct sample sample;
	size_t position = 0;
	uint64_t count = 0;
	while (record_run_next(run, &position, &record, NULL) == TALLY_OK) {
		const struct perfdata_event *event;
		if (record.type != RECORD_SAMPLE || !(event = perfdata_reader_event_of(reader, &record)) ||
			sample_decode(&event->layout, &record, &sample, NULL) != TALLY_OK)
			continue;
		count++;
		for (uint32_t i = 0; i < sample.callchain.count; i++)
			*sum += sample_u64_at(sample.callchain.data, i, run->swap);
	}
	return count;
}

int main(int argc, char **argv)
{
	struct perfdata_reader *reader;
	struct record_run run;
	struct sideband sideband = {0};
	struct tally_error err;
	uint64_t count, sum = 0;
	if (argc != 3 || (strcmp(argv[1], "sideband") != 0 && strcmp(argv[1], "samples") != 0)) {
		fprintf(stderr, "usage: reading sideband|samples FILE\n");
		return 2;
	}
	if (perfdata_reader_open(argv[2], &reader, &err) != TALLY_OK ||
		record_run_open(reader, &run, &err) != TALLY_OK) {
		fprintf(stderr, "%s: %s\n", argv[2], err.text);
		return 1;
	}
	double begin = now();
	if (strcmp(argv[1], "samples") == 0) {
		count = read_samples(reader, &run, &sum);
	} else {
		if (sideband_read(reader, &run, &sideband, &err) != TALLY_OK) {
			fprintf(stderr, "%s: %s\n", argv[2], err.text);
			return 1;
		}
		count = sideband.health.records;
	}
	printf("%.6f %llu %llx\n", now() - begin, (unsigned long long)count, (unsigned long long)sum);
	sideband_deinit(&sideband);
	record_run_close(&run);
	perfdata_reader_destroy(reader);
	return 0;
}
