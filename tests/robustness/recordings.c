/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recordings.c - truncates and damages real recordings, and runs the reader and the verbs on them: they must not
 * crash, hang or use much memory, must return all complete records, and report errors with an offset.
 *
 * usage: recordings [FOLDER [WORK]]. Each file below FOLDER ($TALLY_TEST_DATA/corpus/files) is cut at every 97th byte
 * and gets seeded byte flips; large files get fewer of both, so that about WORK megabytes are read per file (0: no
 * limit). The reader is run on all of them, the verbs on fewer. Each CPU has a process that takes its share of the
 * files. Meant for a build with sanitizers; the memory limit is checked only there.
 */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_MALLOC_HOOKS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_MALLOC_HOOKS 1
#endif
#ifdef HAS_MALLOC_HOOKS
#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include "base/array.h"
#include "base/file.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "perfdata/time_order.h"

#define CUT_STEP       97
#define FLIPS	       400
#define HANG_SECONDS   20 /* In CPU time, because other programs may be running. */
#define WAIT_SECONDS   300
#define MEMORY_FACTOR  4
#define MEMORY_BASE    ((size_t)24 << 20) /* Caches of fixed size, and a zstd window. */
#define VERB_WORK_PART 16 /* The verbs get this fraction of the work of the reader. */

static char current[4096 + 100]; /* Description of the current case, for error messages. */
static char symfs[] = "/tmp/tally-robust-XXXXXX";
static uint64_t work_bytes = (uint64_t)24 << 20;
static size_t cases, files, plain_files;
static long process, processes; /* This process takes the files whose number leaves this remainder. */
static int work_fd, say_fd;

static void fail(const char *what)
{
	dprintf(say_fd, "%s: %s\n", current, what);
	abort();
}

static void on_alarm(int signal_number)
{
	dprintf(say_fd, "%s: takes more than %d s\n", current, signal_number == SIGPROF ? HANG_SECONDS : WAIT_SECONDS);
	abort();
}

#ifdef HAS_MALLOC_HOOKS
/* Allocated bytes since the last reset. Negative while a late thread of the previous recording frees its memory. */
static _Atomic int64_t live_bytes, peak_bytes;

static void on_malloc(const volatile void *memory, size_t size)
{
	int64_t now = atomic_fetch_add(&live_bytes, (int64_t)size) + (int64_t)size;
	int64_t peak = atomic_load(&peak_bytes);
	while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now))
		;
}

static void on_free(const volatile void *memory)
{
	if (memory)
		atomic_fetch_sub(&live_bytes, (int64_t)__sanitizer_get_allocated_size(memory));
}

static void check_memory(size_t size)
{
	if (atomic_load(&peak_bytes) <= (int64_t)(size * MEMORY_FACTOR + MEMORY_BASE))
		return;
	char text[100];
	snprintf(text, sizeof(text), "took %lld bytes of memory for %zu", (long long)atomic_load(&peak_bytes), size);
	fail(text);
}
#else
static void check_memory(size_t size)
{
}
#endif

static void set_alarms(unsigned cpu_seconds, unsigned seconds)
{
	struct itimerval timer = {.it_value.tv_sec = cpu_seconds};
	if (setitimer(ITIMER_PROF, &timer, NULL) != 0)
		abort();
	alarm(seconds);
}

static void begin_case(size_t size)
{
	cases++;
	set_alarms(HANG_SECONDS, WAIT_SECONDS);
#ifdef HAS_MALLOC_HOOKS
	atomic_store(&live_bytes, 0);
	atomic_store(&peak_bytes, 0);
#endif
}

static void end_case(size_t size)
{
	set_alarms(0, 0);
	check_memory(size);
}

/* End offsets of the records of the complete recording, to compute what must be readable after truncation. */
struct ends {
	VEC(uint64_t) at;
	bool is_plain; /* True if the recording is not compressed, not a pipe, and a single file. */
};

static enum tally_status walk(struct perfdata_reader *reader, struct ends *ends, struct tally_error *err)
{
	struct record record;
	enum tally_status status;
	while ((status = perfdata_reader_next(reader, &record, err)) == TALLY_OK) {
		struct record_fields fields;
		struct sample sample;
		const struct perfdata_event *event = perfdata_reader_event_of(reader, &record);
		if (record.type == RECORD_SAMPLE && event)
			(void)!sample_decode(&event->layout, &record, &sample, NULL);
		else
			(void)!record_decode(&record, &fields, NULL);
		if (ends &&
			!vec_push(&ends->at, record.offset + record.bytes.len + perfdata_reader_payload(reader).len))
			abort();
	}
	return status;
}

static void order(struct perfdata_reader *reader, uint64_t records)
{
	struct time_order *time_order;
	struct time_order_item item;
	perfdata_reader_rewind(reader);
	if (time_order_create(reader, &time_order, NULL) != TALLY_OK)
		return;
	uint64_t count = 0;
	while (time_order_next(time_order, &item, NULL) == TALLY_OK)
		count++;
	time_order_destroy(time_order);
	if (count != records)
		fail("not every record comes out in order of time");
}

static uint64_t complete_records(const struct ends *ends, size_t cut)
{
	uint64_t count = 0;
	while (count < ends->at.len && ends->at.items[count] <= cut)
		count++;
	return count;
}

/* whole is NULL, or the record ends of the complete recording if the data is a truncated copy of it. */
static void read_case(const uint8_t *data, size_t size, const struct ends *whole)
{
	struct perfdata_reader *reader;
	struct tally_error err = {0};
	/* The copy has exactly that size, so that the sanitizer detects a read past the end. */
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	memcpy(copy, data, size);
	begin_case(size);
	enum tally_status status = perfdata_reader_open_bytes((struct tally_bytes){copy, size}, &reader, &err);
	if (status != TALLY_OK) {
		if (err.text[0] == '\0')
			fail("is refused without a word");
	} else {
		status = walk(reader, NULL, &err);
		const struct input_health *health = perfdata_reader_health(reader);
		uint64_t records = health->records;
		if (status != TALLY_END && err.text[0] == '\0')
			fail("ends in an error without a word");
		if (status == TALLY_CORRUPT && (!health->is_cut || health->cut_offset > size))
			fail("is cut, and it is not said where");
		if (whole && records != complete_records(whole, size))
			fail("not every complete record is there");
		order(reader, records);
		perfdata_reader_destroy(reader);
	}
	end_case(size);
	free(copy);
}

static void run_verb(const char *verb, size_t size)
{
	struct cli cli = {.program = "tally"};
	char path[32];
	char *lines[][10] = {
		{(char *)"evlist", (char *)"-v", (char *)"-i", path, NULL},
		{(char *)"script", (char *)"--kallsyms", (char *)"/dev/null", (char *)"--symfs", symfs, (char *)"-i",
			path, NULL},
		/* Reads from standard input; a pipe is then read round by round. */
		{(char *)"script", (char *)"--kallsyms", (char *)"/dev/null", (char *)"--symfs", symfs, (char *)"-i",
			(char *)"-", NULL},
		{(char *)"report", (char *)"--stdio", (char *)"--header", (char *)"--kallsyms", (char *)"/dev/null",
			(char *)"--symfs", symfs, (char *)"-i", path},
	};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", work_fd);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char *words[12] = {0};
		int count = 0;
		if (strcmp(lines[i][0], verb) != 0)
			continue;
		for (; count < 10 && lines[i][count]; count++)
			words[count] = lines[i][count];
		const struct command *command = command_find(verb);
		if (lseek(work_fd, 0, SEEK_SET) != 0 || dup2(work_fd, STDIN_FILENO) < 0)
			abort();
		begin_case(size);
		int code = command->run(&cli, command, count, words);
		fflush(stdout);
		if (code != 0 && code != EXIT_FAILED)
			fail("ends with a strange exit code");
		end_case(size);
	}
}

static void verbs_case(const uint8_t *data, size_t size)
{
	static const char *const verbs[] = {"evlist", "script", "report"};
	char what[sizeof(current)];
	if (ftruncate(work_fd, 0) != 0 || file_write_all_at(work_fd, data, size, 0, NULL) != TALLY_OK)
		abort();
	snprintf(what, sizeof(what), "%s", current);
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		snprintf(current, sizeof(current), "%.4100s: %s", what, verbs[i]);
		run_verb(verbs[i], size);
	}
	snprintf(current, sizeof(current), "%s", what);
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Returns the number of cases with a file of that size that amount to the work. */
static size_t tries(size_t size, uint64_t work, size_t wanted)
{
	size_t most = (size_t)(work / (size + 1)) + 3;
	return work == 0 || wanted < most ? wanted : most;
}

static void try_cuts(const char *path, const uint8_t *data, size_t size, const struct ends *ends)
{
	size_t wanted = size / CUT_STEP + 1;
	/* On average, half of the file remains. */
	size_t count = tries(size, work_bytes * 2, wanted);
	size_t verbs = tries(size, work_bytes * 2 / VERB_WORK_PART, wanted);
	size_t every = (count + verbs - 1) / verbs;
	for (size_t i = 0; i < count; i++) {
		size_t cut = i * wanted / count * CUT_STEP;
		snprintf(current, sizeof(current), "%.4000s cut at %zu", path, cut);
		read_case(data, cut, ends->is_plain && cut >= 104 ? ends : NULL);
		if (i % every == 0)
			verbs_case(data, cut);
	}
}

static void try_flips(const char *path, uint8_t *data, size_t size)
{
	size_t count = size ? tries(size, work_bytes, FLIPS) : 0;
	size_t verbs = tries(size, work_bytes / VERB_WORK_PART, FLIPS);
	size_t every = (count + verbs - 1) / verbs;
	uint32_t state = 0x7a11u;
	for (size_t i = 0; i < count; i++) {
		/* Half of the changes are near the beginning, where each byte matters more. */
		size_t at = next_random(&state) % (i % 2 || size < 2000 ? size : 2000);
		uint8_t old = data[at];
		data[at] = (uint8_t)(i % 4 == 0 ? 0xff : next_random(&state));
		snprintf(current, sizeof(current), "%.4000s with byte %zu changed to 0x%02x", path, at, data[at]);
		read_case(data, size, NULL);
		if (i % every == 0)
			verbs_case(data, size);
		data[at] = old;
	}
}

static struct ends find_ends(const uint8_t *data, size_t size)
{
	struct ends ends = {0};
	struct perfdata_reader *reader;
	uint64_t offset;
	if (perfdata_reader_open_bytes((struct tally_bytes){data, size}, &reader, NULL) != TALLY_OK)
		return ends;
	ends.is_plain = walk(reader, &ends, NULL) == TALLY_END && !perfdata_reader_is_pipe(reader) &&
			perfdata_reader_data(reader, &offset).len > 0;
	/* The feature sections must follow the records; otherwise truncation removes more than records. */
	struct perfdata_layout layout = perfdata_reader_layout(reader);
	ends.is_plain = ends.is_plain && layout.data_offset < layout.feature_offset;
	perfdata_reader_destroy(reader);
	return ends;
}

static int try_file(const char *path, const struct stat *st, int type, struct FTW *where)
{
	char *data;
	size_t size;
	static long number;
	if (type != FTW_F || number++ % processes != process)
		return 0;
	if (file_read(path, SIZE_MAX / 2, &data, &size, NULL) != TALLY_OK)
		abort();
	files++;
	snprintf(current, sizeof(current), "%.4000s", path);
	struct ends ends = find_ends((const uint8_t *)data, size);
	plain_files += ends.is_plain;
	try_cuts(path, (const uint8_t *)data, size, &ends);
	snprintf(current, sizeof(current), "%.4000s", path);
	read_case((const uint8_t *)data, size, NULL);
	verbs_case((const uint8_t *)data, size);
	try_flips(path, (uint8_t *)data, size);
	vec_free(&ends.at);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	char folder[4096];
	const char *data = getenv("TALLY_TEST_DATA");
	if (argc < 2 && !data) {
		printf("skip: TALLY_TEST_DATA is not set\n");
		return 77;
	}
	snprintf(folder, sizeof(folder), "%s%s", argc < 2 ? data : argv[1], argc < 2 ? "/corpus/files" : "");
	if (access(folder, R_OK) != 0) {
		printf("skip: there are no recordings in %s\n", folder);
		return 77;
	}
	if (argc > 2)
		work_bytes = strtoull(argv[2], NULL, 10) << 20;
	say_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	int out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (say_fd < 0 || out_fd < 0 || null_fd < 0 || !mkdtemp(symfs))
		abort();
	signal(SIGALRM, on_alarm);
	signal(SIGPROF, on_alarm);
#ifdef HAS_MALLOC_HOOKS
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	__sanitizer_set_report_fd((void *)(intptr_t)say_fd); /* Standard error is redirected to /dev/null below. */
#endif
	dup2(null_fd, STDOUT_FILENO);
	dup2(null_fd, STDERR_FILENO);
	int status = 0, ended;
	processes = MAX(1, sysconf(_SC_NPROCESSORS_ONLN));
	for (; process < processes; process++) {
		pid_t child = fork();
		if (child < 0)
			abort();
		if (child == 0) {
			work_fd = memfd_create("recording", MFD_CLOEXEC);
			if (work_fd < 0)
				abort();
			status = nftw(folder, try_file, 16, FTW_PHYS);
			dprintf(out_fd, "%zu files (%zu whose records are counted at every cut), %zu cases\n", files,
				plain_files, cases);
			_exit(status == 0 ? 0 : 1);
		}
	}
	while (wait(&ended) > 0)
		status |= ended;
	rmdir(symfs);
	return status == 0 ? 0 : 1;
}
