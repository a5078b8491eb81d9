/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.c - attaches to a thread and prints its code address after every COUNT occurrences of an event: the
 * monitoring demo of the announcement of performance counters (seeds/2008-announcement.txt).
 *
 * usage: monitor [-e EVENT] [-c COUNT] [-n SAMPLES] [-d FILE] THREAD
 *
 * Ends with the thread, or after SAMPLES samples. With -d, addresses in the program FILE are shown as its functions.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <tally/sampler.h>
#include <tally/symbols.h>

struct monitor {
	struct tally_sampler *sampler;
	struct tally_symbols *symbols;
	struct stat file; /* Status of the file of -d. */
	pid_t thread;
	unsigned long left; /* Number of samples still to print; 0 for no limit. */
};

/* Converts an address of the thread to an offset in the file of -d. */
static int find_offset(const struct monitor *monitor, uint64_t address, uint64_t *offset)
{
	char line[4096 + 128], path[64];
	int is_found = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", monitor->thread);
	FILE *maps = fopen(path, "r");
	while (maps && !is_found && fgets(line, sizeof(line), maps)) {
		unsigned long long start, end, file_offset, inode;
		unsigned major_number, minor_number;
		if (sscanf(line, "%llx-%llx %*s %llx %x:%x %llu", &start, &end, &file_offset, &major_number,
			    &minor_number, &inode) != 6)
			continue;
		is_found = address >= start && address < end && inode == monitor->file.st_ino &&
			   makedev(major_number, minor_number) == monitor->file.st_dev;
		*offset = address - start + file_offset;
	}
	if (maps)
		fclose(maps);
	return is_found;
}

static void show(const struct monitor *monitor, uint64_t ip)
{
	struct tally_symbol symbol;
	uint64_t offset;
	printf("IP: 0x%016llx", (unsigned long long)ip);
	if (monitor->symbols && find_offset(monitor, ip, &offset)) {
		if (tally_symbols_find(monitor->symbols, offset, &symbol))
			printf(" %s+0x%llx", symbol.name, (unsigned long long)(offset - symbol.start));
		else
			printf(" ?");
	}
	putchar('\n');
}

static int run(struct monitor *monitor)
{
	struct tally_error err;
	struct tally_sample sample;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK) {
		status = tally_sampler_wait(monitor->sampler, -1, &err);
		while (tally_sampler_next(monitor->sampler, &sample, &err) == TALLY_OK) {
			show(monitor, sample.ip);
			if (monitor->left && --monitor->left == 0)
				return 0;
		}
		fflush(stdout);
	}
	if (status == TALLY_END)
		return 0;
	fprintf(stderr, "%s\n", err.text);
	return 1;
}

static int open_symbols(struct monitor *monitor, const char *file)
{
	struct tally_error err;
	monitor->symbols = tally_symbols_open(file, &err);
	if (!monitor->symbols || stat(file, &monitor->file) != 0) {
		fprintf(stderr, "%s\n", monitor->symbols ? "the file is gone" : err.text);
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct tally_sampler_options options = {
		.event = "instructions:u|cpu-clock:u", .period = 10000000, .wakes_at_once = true};
	struct monitor monitor = {0};
	const char *file = NULL;
	struct tally_error err;
	int letter;
	while ((letter = getopt(argc, argv, "e:c:n:d:")) != -1) {
		switch (letter) {
		case 'e':
			options.event = optarg;
			break;
		case 'c':
			options.period = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			monitor.left = strtoul(optarg, NULL, 10);
			break;
		case 'd':
			file = optarg;
			break;
		default:
			optind = argc;
			break;
		}
	}
	if (optind != argc - 1) {
		fprintf(stderr, "usage: monitor [-e EVENT] [-c COUNT] [-n SAMPLES] [-d FILE] THREAD\n");
		return 2;
	}
	options.thread = monitor.thread = (pid_t)strtol(argv[optind], NULL, 10);
	if (file && !open_symbols(&monitor, file))
		return 1;
	monitor.sampler = tally_sampler_open(&options, &err);
	if (!monitor.sampler) {
		fprintf(stderr, "%s\n", err.text);
		tally_symbols_close(monitor.symbols);
		return 1;
	}
	if (tally_sampler_fallback_reason(monitor.sampler))
		fprintf(stderr, "sampling %s: %s\n", tally_sampler_label(monitor.sampler),
			tally_sampler_fallback_reason(monitor.sampler));
	int code = run(&monitor);
	tally_sampler_close(monitor.sampler);
	tally_symbols_close(monitor.symbols);
	return code;
}
