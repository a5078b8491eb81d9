/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/recorder.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "kernel/recording/record_attrs.h"
#include "unit_test.h"

/* A scripted kernel: it refuses events as refuse returns, maps rings in memory, and writes a log. */
struct fake_kernel {
	int (*refuse)(const struct perf_attr *attr, pid_t pid, int cpu); /* Returns errno, or 0 to open the event. */
	size_t ring_limit; /* Larger mappings are refused with EPERM; 0 for no limit. */
	int next_fd;
	int open_count;
	struct text log;
	uint8_t *rings[8];
	size_t ring_bytes[8];
	size_t ring_count;
	short revents; /* Result of poll for all descriptors but the last. */
	size_t polled; /* Number of polled descriptors. */
};

static int fake_open(void *context, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	struct fake_kernel *k = context;
	int errnum = k->refuse ? k->refuse(attr, pid, cpu) : 0;
	text_printf(&k->log, "open type %u config %llu pid %d cpu %d group %d", attr->type,
		(unsigned long long)attr->config, flags & PERF_FLAG_PID_CGROUP ? 0 : pid, cpu, group_fd);
	if (flags & PERF_FLAG_PID_CGROUP)
		text_str(&k->log, " cgroup");
	if (errnum) {
		text_printf(&k->log, " refused %d\n", errnum);
		errno = errnum;
		return -1;
	}
	text_printf(&k->log, " = %d\n", k->next_fd);
	k->open_count++;
	return k->next_fd++;
}

static int set_filter(struct fake_kernel *k, int fd, const char *filter)
{
	text_printf(&k->log, "filter %d %s\n", fd, filter);
	if (strncmp(filter, "nofield", 7) != 0)
		return 0;
	errno = EINVAL;
	return -1;
}

static int fake_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	struct fake_kernel *k = context;
	if (request == PERF_EVENT_IOC_ID)
		*(uint64_t *)argument = 100u + (uint64_t)fd;
	else if (request == PERF_EVENT_IOC_SET_OUTPUT)
		text_printf(&k->log, "output %d -> %d\n", fd, (int)(intptr_t)argument);
	else if (request == PERF_EVENT_IOC_ENABLE)
		text_printf(&k->log, "enable %d\n", fd);
	else if (request == PERF_EVENT_IOC_PERIOD)
		text_printf(&k->log, "period %d %llu\n", fd, (unsigned long long)*(uint64_t *)argument);
	else if (request == PERF_EVENT_IOC_DISABLE)
		text_printf(&k->log, "disable %d\n", fd);
	else if (request == PERF_EVENT_IOC_SET_FILTER)
		return set_filter(k, fd, argument);
	else if (request == PERF_EVENT_IOC_PAUSE_OUTPUT)
		text_printf(&k->log, "%s %d\n", argument ? "pause" : "go on", fd);
	return 0;
}

/* The format of PERF_FORMAT_ID | PERF_FORMAT_LOST: value, ID and lost count. */
static ssize_t fake_read(void *context, int fd, void *buffer, size_t size)
{
	const uint64_t values[] = {5, 100u + (uint64_t)fd, (uint64_t)fd};
	assert_true(size >= sizeof(values));
	memcpy(buffer, values, sizeof(values));
	return (ssize_t)sizeof(values);
}

static void *fake_mmap(void *context, size_t size, int protection, int fd, off_t offset)
{
	struct fake_kernel *k = context;
	if (k->ring_limit && size > k->ring_limit) {
		errno = EPERM;
		return MAP_FAILED;
	}
	text_printf(&k->log, "map %d %zu KiB%s\n", fd, size / 1024, protection & PROT_WRITE ? "" : " to read");
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(ring != MAP_FAILED && k->ring_count < 8);
	k->ring_bytes[k->ring_count] = size;
	k->rings[k->ring_count++] = ring;
	return ring;
}

static int fake_munmap(void *context, void *address, size_t size)
{
	struct fake_kernel *k = context;
	for (size_t i = 0; i < k->ring_count; i++)
		if (k->rings[i] == address) {
			k->ring_count--;
			memmove(&k->rings[i], &k->rings[i + 1], (k->ring_count - i) * sizeof(k->rings[0]));
			return munmap(address, size);
		}
	fail_msg("a ring that is not there is unmapped");
	return -1;
}

static int fake_close(void *context, int fd)
{
	((struct fake_kernel *)context)->open_count--;
	return 0;
}

static int fake_poll(void *context, void *pollfds, size_t count, int timeout_ms)
{
	struct pollfd *polls = pollfds;
	((struct fake_kernel *)context)->polled = count - 1;
	for (size_t i = 0; i + 1 < count; i++)
		polls[i].revents = polls[i].fd >= 0 ? ((struct fake_kernel *)context)->revents : 0;
	if (count > 1)
		polls[count - 1].revents = 0;
	else
		polls[0].revents = ((struct fake_kernel *)context)->revents;
	return 1;
}

struct fixture {
	struct fake_kernel fake;
	struct kernel_seam seam;
	struct event_list events;
	struct diag diag;
	struct recorder_config config;
	struct recorder *recorder;
};

static const int two_cpus[] = {0, 1};
static const pid_t one_thread[] = {42};
static const pid_t any_thread[] = {-1};

static void start(struct fixture *f, uint32_t type, uint64_t config, const char *name)
{
	*f = (struct fixture){.fake = {.next_fd = 10}};
	f->seam = (struct kernel_seam){&f->fake, "/nonexistent-root", fake_open, fake_ioctl, fake_read, fake_mmap,
		fake_munmap, fake_close, fake_poll, NULL};
	f->events = (struct event_list){.len = 1, .cap = 1};
	f->events.specs = calloc(1, sizeof(*f->events.specs));
	assert_non_null(f->events.specs);
	f->events.specs[0] =
		(struct event_spec){.name = name, .member_count = 1, .scale = 1, .unit = "", .is_precise_max = true};
	f->events.specs[0].attr.type = type;
	f->events.specs[0].attr.config = config;
	arena_init(&f->events.arena);
	f->events.has_arena = true;
	diag_init(&f->diag);
	struct record_attr_options options = {.has_command = true, .rate.freq = 4000};
	assert_int_equal(record_attrs_apply(&f->events, &options, NULL), TALLY_OK);
	f->config = (struct recorder_config){.kernel = &f->seam,
		.events = &f->events,
		.cpus = two_cpus,
		.cpu_count = 2,
		.threads = one_thread,
		.thread_count = 1,
		.ring_bytes = 512 << 10,
		.diag = &f->diag};
}

static const char *log_of(struct fixture *f)
{
	text_char(&f->fake.log, '\0');
	f->fake.log.len--;
	return f->fake.log.data;
}

static void finish(struct fixture *f)
{
	recorder_destroy(f->recorder);
	assert_int_equal(f->fake.open_count, 0);
	assert_int_equal(f->fake.ring_count, 0);
	event_list_deinit(&f->events);
	diag_deinit(&f->diag);
	text_deinit(&f->fake.log);
}

static void test_rings_per_cpu(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.events.specs = realloc(f.events.specs, 2 * sizeof(*f.events.specs));
	assert_non_null(f.events.specs);
	f.events.specs[1] = f.events.specs[0];
	f.events.specs[1].leader = 0; /* Both events are in one group. */
	f.events.len = f.events.cap = 2;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "open type 1 config 0 pid 42 cpu 0 group -1 = 10\n"
					"open type 1 config 0 pid 42 cpu 1 group -1 = 11\n"
					"open type 1 config 0 pid 42 cpu 0 group 10 = 12\n"
					"open type 1 config 0 pid 42 cpu 1 group 11 = 13\n"
					"map 10 516 KiB\n"
					"map 11 516 KiB\n"
					"output 12 -> 10\n"
					"output 13 -> 11\n");
	size_t count;
	const struct recorder_source *sources = recorder_sources(f.recorder, &count);
	assert_int_equal(count, 4);
	assert_int_equal(sources[3].id, 113);
	assert_int_equal(sources[3].ring, 1);
	assert_int_equal(recorder_lost(f.recorder, &sources[3]), 13);
	finish(&f);
}

/* With -C 0 on a machine with two CPUs, side-band events are opened on the other CPU too. */
static void test_only_side_band_is_on_other_cpus(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.events.specs = realloc(f.events.specs, 2 * sizeof(*f.events.specs));
	assert_non_null(f.events.specs);
	f.events.specs[1] = f.events.specs[0];
	f.events.specs[1].leader = 1;
	f.events.specs[1].attr.config = SW_DUMMY;
	f.events.specs[1].is_everywhere = true;
	f.events.len = f.events.cap = 2;
	f.config.threads = any_thread;
	f.config.measured_count = 1;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "open type 1 config 0 pid -1 cpu 0 group -1 = 10\n"
					"open type 1 config 9 pid -1 cpu 0 group -1 = 11\n"
					"open type 1 config 9 pid -1 cpu 1 group -1 = 12\n"
					"map 10 516 KiB\n"
					"output 11 -> 10\n"
					"map 12 516 KiB\n");
	finish(&f);
}

static void test_filters_are_set_as_events_open(void **state)
{
	struct fixture f;
	start(&f, EVENT_TRACEPOINT, 7, "sched:sched_switch");
	f.config.cpu_count = 1;
	f.events.specs[0].filter = "prev_pid > 0";
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "open type 2 config 7 pid 42 cpu 0 group -1 = 10\n"
					"filter 10 prev_pid > 0\n"
					"map 10 516 KiB\n");
	finish(&f);
}

static void test_a_refused_filter_is_named(void **state)
{
	struct fixture f;
	struct tally_error err = {0};
	start(&f, EVENT_TRACEPOINT, 7, "sched:sched_switch");
	f.events.specs[0].filter = "nofield > 0";
	assert_int_equal(recorder_create(&f.config, &f.recorder, &err), TALLY_INVALID);
	assert_int_equal(err.errnum, EINVAL);
	assert_non_null(strstr(err.text, "\"nofield > 0\" on event sched:sched_switch"));
	finish(&f);
}

static void test_a_cgroup_takes_the_place_of_the_thread(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.config.threads = any_thread;
	f.events.specs[0].cgroup_path = "/proc"; /* Any directory. */
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "open type 1 config 0 pid 0 cpu 0 group -1 cgroup = 10\n"
					"open type 1 config 0 pid 0 cpu 1 group -1 cgroup = 11\n"
					"map 10 516 KiB\n"
					"map 11 516 KiB\n");
	finish(&f);
}

static void test_a_cgroup_that_is_gone(void **state)
{
	struct fixture f;
	struct tally_error err = {0};
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.events.specs[0].cgroup_path = "/nonexistent/group";
	assert_int_equal(recorder_create(&f.config, &f.recorder, &err), TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "/nonexistent/group"));
	finish(&f);
}

static int refuse_hardware(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return attr->type == EVENT_HARDWARE ? ENOENT : 0;
}
static int refuse_hardware_otherwise(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return attr->type == EVENT_HARDWARE ? EOPNOTSUPP : 0;
}

static void check_becomes_cpu_clock(int (*refuse)(const struct perf_attr *, pid_t, int))
{
	struct fixture f;
	start(&f, EVENT_HARDWARE, HW_CPU_CYCLES, "cycles:P");
	f.fake.refuse = refuse;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_string_equal(f.events.specs[0].name, "cpu-clock:ppp");
	assert_int_equal(f.events.specs[0].attr.type, EVENT_SOFTWARE);
	assert_int_equal(f.events.specs[0].attr.config, SW_CPU_CLOCK);
	assert_int_equal(f.events.specs[0].attr.sample_period_or_freq, 4000);
	assert_int_equal(f.diag.len, 1);
	assert_non_null(strstr(f.diag.entries[0].text, "cpu-clock"));
	finish(&f);
}

static void test_cycles_become_cpu_clock(void **state)
{
	check_becomes_cpu_clock(refuse_hardware);
	check_becomes_cpu_clock(refuse_hardware_otherwise);
}

/* Refuses such events like kernels before 6.13. */
static int refuse_inherited_reads(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return attr->sample_type & SAMPLE_READ && ATTR_HAS(attr, INHERIT) ? EINVAL : 0;
}

static void test_a_group_gives_up_its_children(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock:S");
	f.events.specs[0].attr.sample_type |= SAMPLE_READ;
	f.events.specs[0].attr.flags |= ATTR_FLAG(ATTR_BIT_INHERIT);
	f.fake.refuse = refuse_inherited_reads;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_false(ATTR_HAS(&f.events.specs[0].attr, INHERIT));
	assert_int_equal(f.diag.len, 1);
	assert_non_null(strstr(f.diag.entries[0].text, "samples of new threads and children"));
	finish(&f);
}

/* Only cycles can be replaced by another event. */
static void test_other_hardware_events_fail(void **state)
{
	struct fixture f;
	struct tally_error err;
	start(&f, EVENT_HARDWARE, HW_INSTRUCTIONS, "instructions");
	f.fake.refuse = refuse_hardware;
	assert_int_not_equal(recorder_create(&f.config, &f.recorder, &err), TALLY_OK);
	assert_non_null(strstr(err.text, "instructions"));
	finish(&f);
}

static int refuse_kernel(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return ATTR_HAS(attr, EXCLUDE_KERNEL) ? 0 : EACCES;
}

static void test_without_rights_to_see_the_kernel(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.fake.refuse = refuse_kernel;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_string_equal(f.events.specs[0].name, "cpu-clock:u");
	assert_int_equal(f.diag.len, 1);
	finish(&f);

	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock:k");
	f.events.specs[0].has_exclude = true; /* The user requested kernel mode explicitly. */
	f.fake.refuse = refuse_kernel;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_DENIED);
	finish(&f);
}

/* The value would be 0 in user mode: such an event is refused if it is alone, and reported if there are others. */
static void test_events_of_the_kernel_without_its_samples(void **state)
{
	static const uint64_t configs[] = {SW_CONTEXT_SWITCHES, SW_CPU_MIGRATIONS, SW_BPF_OUTPUT, SW_CGROUP_SWITCHES};
	for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
		struct fixture f;
		start(&f, EVENT_SOFTWARE, configs[i], "event");
		f.fake.refuse = refuse_kernel;
		assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_DENIED);
		assert_int_equal(f.diag.len, 0);
		finish(&f);
	}
	struct fixture f;
	struct event_spec specs[2];
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	specs[0] = specs[1] = f.events.specs[0];
	specs[1].leader = 1;
	specs[1].name = "cs";
	specs[1].attr.config = SW_CONTEXT_SWITCHES;
	struct event_spec *own = f.events.specs;
	f.events.specs = specs;
	f.events.len = 2;
	f.fake.refuse = refuse_kernel;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_int_equal(f.diag.len, 2);
	assert_non_null(strstr(f.diag.entries[1].text, "'cs' occurs only in the kernel"));
	recorder_destroy(f.recorder);
	f.recorder = NULL;
	f.events.specs = own;
	f.events.len = 1;
	finish(&f);
}

static int refuse_with_eperm(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return EPERM;
}

/* A fallback that does not help is not reported: only the error is. */
static void test_a_fallback_in_vain_is_not_said(void **state)
{
	struct fixture f;
	start(&f, EVENT_HARDWARE, HW_CPU_CYCLES, "cycles:P");
	f.fake.refuse = refuse_with_eperm;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_DENIED);
	assert_string_equal(f.events.specs[0].name, "cycles:Pu"); /* The fallback was tried. */
	assert_int_equal(f.diag.len, 0);
	finish(&f);
}

static int refuse_new_features(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return attr->read_format & READ_FORMAT_LOST || ATTR_HAS(attr, BPF_EVENT) ? EINVAL : 0;
}

static void test_old_kernel(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.events.specs[0].is_precise_max = false;
	f.events.specs[0].attr.flags &= ~(UINT64_C(3) << ATTR_BIT_PRECISE_IP);
	f.fake.refuse = refuse_new_features;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_true(ATTR_HAS(&f.events.specs[0].attr, KSYMBOL)); /* Only as many flags are dropped as necessary. */
	assert_false(ATTR_HAS(&f.events.specs[0].attr, BPF_EVENT));
	assert_int_equal(f.diag.len, 2);
	size_t count;
	assert_int_equal(recorder_lost(f.recorder, recorder_sources(f.recorder, &count)), 0);
	finish(&f);
}

static int refuse_all(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return EINVAL;
}

static void test_refusal_of_everything_ends(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.fake.refuse = refuse_all;
	assert_int_not_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	finish(&f);
}

static void test_rings_are_halved(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.fake.ring_limit = (128 << 10) + 4096;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_int_equal(recorder_ring_bytes(f.recorder), 128 << 10);
	assert_int_equal(f.diag.len, 1);
	assert_non_null(strstr(f.diag.entries[0].text, "128 KiB instead of 512 KiB"));
	finish(&f);

	struct tally_error err;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.fake.ring_limit = 1;
	assert_int_equal(recorder_create(&f.config, &f.recorder, &err), TALLY_LIMIT);
	assert_int_equal(err.errnum, EPERM);
	finish(&f);
}

static int refuse_files(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return cpu == 1 ? EMFILE : 0;
}

static void test_too_many_files(void **state)
{
	struct fixture f;
	struct tally_error err;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.fake.refuse = refuse_files;
	assert_int_equal(recorder_create(&f.config, &f.recorder, &err), TALLY_LIMIT);
	assert_non_null(strstr(err.text, "ulimit -n 66"));
	finish(&f);
}

static int refuse_ended_thread(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return pid == 43 ? ESRCH : 0;
}

static void test_threads_that_end(void **state)
{
	static const pid_t threads[] = {43, 44};
	struct fixture f;
	bool other_ready = false;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.config.threads = threads;
	f.config.thread_count = 2;
	f.fake.refuse = refuse_ended_thread;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_int_equal(f.fake.ring_count, 2);
	assert_false(recorder_target_is_over(f.recorder));
	f.fake.revents = POLLHUP;
	assert_int_equal(recorder_wait(f.recorder, -1, -1, &other_ready, NULL), TALLY_OK);
	assert_true(recorder_target_is_over(f.recorder));
	finish(&f);
}

static void test_system_wide_never_ends_by_itself(void **state)
{
	struct fixture f;
	bool other_ready = false;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.config.threads = any_thread;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	f.fake.revents = POLLHUP;
	assert_int_equal(recorder_wait(f.recorder, -1, -1, &other_ready, NULL), TALLY_OK);
	assert_false(recorder_target_is_over(f.recorder));
	finish(&f);
}

static int refuse_other_core(const struct perf_attr *attr, pid_t pid, int cpu)
{
	return (int)attr->config != cpu ? ENOENT : 0;
}

/* With one event per type of core, each is opened only on its CPUs, and every ring is polled. */
static void test_kinds_of_cores(void **state)
{
	struct fixture f;
	start(&f, EVENT_RAW, 0, "cpu_core/x/");
	struct event_spec *specs = realloc(f.events.specs, 2 * sizeof(*specs));
	assert_non_null(specs);
	specs[1] = specs[0];
	specs[1].attr.config = 1;
	specs[1].leader = 1;
	specs[0].cpus = "0";
	specs[1].cpus = "1,7";
	f.events.specs = specs;
	f.events.len = f.events.cap = 2;
	f.fake.refuse = refuse_other_core;
	f.config.threads = any_thread;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "open type 4 config 0 pid -1 cpu 0 group -1 = 10\n"
					"open type 4 config 1 pid -1 cpu 1 group -1 = 11\n"
					"map 10 516 KiB\n"
					"map 11 516 KiB\n");
	bool other_ready;
	assert_int_equal(recorder_wait(f.recorder, -1, 0, &other_ready, NULL), TALLY_OK);
	assert_int_equal(f.fake.polled, 2);
	finish(&f);
}

static enum tally_status add_up(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	for (size_t i = 0; i < slice_count; i++)
		*(size_t *)context += slices[i].len;
	return TALLY_OK;
}

static void test_drain_visits_all_rings(void **state)
{
	struct fixture f;
	size_t total = 0;
	uint64_t bytes;
	struct record_sink sink = {add_up, &total};
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	for (size_t i = 0; i < f.fake.ring_count; i++)
		((struct perf_event_mmap_page *)(void *)f.fake.rings[i])->data_head = 64 * (i + 1);
	assert_int_equal(recorder_drain(f.recorder, &sink, &bytes, NULL), TALLY_OK);
	assert_int_equal(total, 192);
	assert_int_equal(bytes, 192);
	assert_int_equal(recorder_drain(f.recorder, &sink, &bytes, NULL), TALLY_OK);
	assert_int_equal(bytes, 0);
	finish(&f);
}

static void note_look(void *context, const struct tally_bytes *slices, size_t slice_count)
{
	struct text *t = context;
	for (size_t i = 0; i < slice_count; i++)
		text_printf(t, "%s%zu", i ? "+" : "", slices[i].len);
	text_str(t, " ");
}

/* Each byte is inspected once, whether the recorder waits for it, drains it, or returns it in place. */
static void test_what_comes_is_looked_at_once(void **state)
{
	struct fixture f;
	struct text looks = {0};
	size_t total = 0;
	uint64_t bytes;
	struct tally_bytes slices[2];
	struct record_sink sink = {add_up, &total};
	bool other_ready;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.config.look = note_look;
	f.config.look_context = &looks;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)(void *)f.fake.rings[0];
	page->data_head = 64;
	recorder_look(f.recorder); /* 64 bytes. */
	recorder_look(f.recorder); /* There are no new bytes. */
	page->data_head = 104;
	assert_int_equal(recorder_drain(f.recorder, &sink, &bytes, NULL), TALLY_OK); /* The other 40 bytes. */
	assert_int_equal(total, 104);
	/* A record that wraps around the end of the ring. */
	page->data_head = f.fake.ring_bytes[0] - (size_t)sysconf(_SC_PAGESIZE) + 24;
	(void)recorder_ring_peek(f.recorder, 0, slices);
	recorder_look(f.recorder);
	page->data_head += 8;
	recorder_look(f.recorder);
	text_char(&looks, '\0');
	char expected[64];
	(void)snprintf(expected, sizeof(expected), "64 40 %zu+24 8 ",
		f.fake.ring_bytes[0] - (size_t)sysconf(_SC_PAGESIZE) - 104);
	assert_string_equal(looks.data, expected);
	text_deinit(&looks);
	f.fake.revents = 0;
	assert_int_equal(recorder_wait(f.recorder, -1, 0, &other_ready, NULL), TALLY_OK);
	assert_false(recorder_has_news(f.recorder));
	f.fake.revents = POLLIN;
	assert_int_equal(recorder_wait(f.recorder, -1, 0, &other_ready, NULL), TALLY_OK);
	assert_true(recorder_has_news(f.recorder));
	finish(&f);
}

static void test_rings_are_read_in_place(void **state)
{
	struct fixture f;
	struct tally_bytes slices[2];
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_int_equal(recorder_ring_count(f.recorder), 2);
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)(void *)f.fake.rings[1];
	page->data_head = 64;
	assert_int_equal(recorder_ring_peek(f.recorder, 0, slices), 0);
	assert_int_equal(recorder_ring_peek(f.recorder, 1, slices), 1);
	assert_int_equal(slices[0].len, 64);
	recorder_ring_release(f.recorder, 1, 24);
	assert_int_equal(page->data_tail, 24);
	assert_int_equal(recorder_ring_peek(f.recorder, 1, slices), 1);
	assert_int_equal(slices[0].len, 40);
	finish(&f);
}

/* The timers of the kernel have periods in nanoseconds, which are derived from a frequency. */
static void test_a_frequency_is_lowered(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config, value;
		bool is_period;
	} rows[] = {{EVENT_SOFTWARE, SW_CPU_CLOCK, 1000000, false}, {EVENT_SOFTWARE, SW_TASK_CLOCK, 1000000, false},
		{EVENT_SOFTWARE, SW_PAGE_FAULTS, 1000, false}, {EVENT_HARDWARE, 0, 1000, false},
		{EVENT_HARDWARE, 0, 0, true}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		char wanted[64] = "";
		start(&f, rows[i].type, rows[i].config, "event");
		f.config.cpu_count = 1;
		if (rows[i].is_period)
			f.events.specs[0].attr.flags &= ~ATTR_FLAG(ATTR_BIT_FREQ);
		assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
		text_clear(&f.fake.log);
		assert_int_equal(recorder_set_freq(f.recorder, 1000), !rows[i].is_period);
		if (!rows[i].is_period)
			snprintf(wanted, sizeof(wanted), "period 10 %llu\n", (unsigned long long)rows[i].value);
		assert_string_equal(log_of(&f), wanted);
		finish(&f);
	}
}

static void test_enable_leaves_exec_to_the_kernel(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	text_clear(&f.fake.log);
	assert_int_equal(recorder_enable(f.recorder, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "");
	f.events.specs[0].attr.flags &= ~ATTR_FLAG(ATTR_BIT_ENABLE_ON_EXEC);
	assert_int_equal(recorder_enable(f.recorder, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "enable 10\nenable 11\n");
	finish(&f);
}

static void test_rings_that_overwrite(void **state)
{
	struct fixture f;
	size_t total = 0;
	uint64_t bytes;
	struct record_sink sink = {add_up, &total};
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.config.overwrites = true;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	assert_non_null(strstr(log_of(&f), " to read\n"));
	for (size_t i = 0; i < f.fake.ring_count; i++)
		((struct perf_event_mmap_page *)(void *)f.fake.rings[i])->data_head = (uint64_t)0 - 64 * (i + 1);
	assert_int_equal(recorder_drain(f.recorder, &sink, &bytes, NULL), TALLY_OK);
	assert_int_equal(bytes, 0);
	text_clear(&f.fake.log);
	assert_int_equal(recorder_snapshot(f.recorder, &sink, &bytes, NULL), TALLY_OK);
	assert_int_equal(total, 192);
	assert_int_equal(bytes, 192);
	assert_string_equal(log_of(&f), "pause 10\ngo on 10\npause 11\ngo on 11\n");
	assert_int_equal(recorder_snapshot(f.recorder, &sink, &bytes, NULL), TALLY_OK);
	assert_int_equal(bytes, 0);
	finish(&f);
}

static void test_little_stays_in_the_ring_until_the_end(void **state)
{
	struct fixture f;
	size_t total = 0;
	uint64_t bytes;
	struct record_sink sink = {add_up, &total};
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	f.config.flush_bytes = 100;
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	for (size_t i = 0; i < f.fake.ring_count; i++)
		((struct perf_event_mmap_page *)(void *)f.fake.rings[i])->data_head = 64 * (i + 1);
	assert_int_equal(recorder_drain(f.recorder, &sink, &bytes, NULL), TALLY_OK);
	assert_int_equal(bytes, 128);
	recorder_disable(f.recorder);
	assert_int_equal(recorder_drain(f.recorder, &sink, &bytes, NULL), TALLY_OK);
	assert_int_equal(bytes, 64);
	assert_int_equal(total, 192);
	finish(&f);
}

static void test_events_stop_and_go(void **state)
{
	struct fixture f;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	text_clear(&f.fake.log);
	assert_int_equal(recorder_set_running(f.recorder, RECORDER_ALL, false, NULL), TALLY_OK);
	assert_int_equal(recorder_set_running(f.recorder, 0, true, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "disable 10\ndisable 11\nenable 10\nenable 11\n");
	f.events.specs[0].attr.config = SW_DUMMY; /* The dummy tracks processes and is never stopped. */
	text_clear(&f.fake.log);
	assert_int_equal(recorder_set_running(f.recorder, RECORDER_ALL, false, NULL), TALLY_OK);
	assert_string_equal(log_of(&f), "");
	finish(&f);
}

/* Threads that start later are added to the existing rings, in the same state as the others. */
static void test_threads_that_come_later(void **state)
{
	static const pid_t threads[] = {50, 51};
	struct fixture f;
	size_t joined, count;
	start(&f, EVENT_SOFTWARE, SW_CPU_CLOCK, "cpu-clock");
	assert_int_equal(recorder_create(&f.config, &f.recorder, NULL), TALLY_OK);
	text_clear(&f.fake.log);
	assert_int_equal(recorder_join(f.recorder, threads, 2, &joined, NULL), TALLY_OK);
	assert_int_equal(joined, 2);
	assert_int_equal(f.fake.ring_count, 2);
	assert_int_equal(f.fake.open_count, 6);
	const struct recorder_source *sources = recorder_sources(f.recorder, &count);
	assert_int_equal(count, 6);
	assert_int_equal(sources[5].thread, 51);
	assert_int_equal(sources[5].ring, 1);
	assert_true(sources[5].id != sources[4].id);
	recorder_forget_ended(f.recorder); /* The threads are running. */
	assert_int_equal(f.fake.open_count, 6);
	f.fake.revents = POLLHUP;
	recorder_forget_ended(f.recorder);
	assert_int_equal(f.fake.open_count, 2);
	assert_int_equal(recorder_join(f.recorder, threads, 1, &joined, NULL), TALLY_OK);
	(void)recorder_sources(f.recorder, &count);
	assert_int_equal(count, 6); /* The slots are reused. */
	f.fake.refuse = refuse_ended_thread;
	assert_int_equal(recorder_join(f.recorder, (const pid_t[]){43}, 1, &joined, NULL), TALLY_OK);
	assert_int_equal(joined, 0);
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings_per_cpu),
		cmocka_unit_test(test_cycles_become_cpu_clock),
		cmocka_unit_test(test_other_hardware_events_fail),
		cmocka_unit_test(test_without_rights_to_see_the_kernel),
		cmocka_unit_test(test_events_of_the_kernel_without_its_samples),
		cmocka_unit_test(test_a_fallback_in_vain_is_not_said),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_refusal_of_everything_ends),
		cmocka_unit_test(test_rings_are_halved),
		cmocka_unit_test(test_too_many_files),
		cmocka_unit_test(test_threads_that_end),
		cmocka_unit_test(test_threads_that_come_later),
		cmocka_unit_test(test_system_wide_never_ends_by_itself),
		cmocka_unit_test(test_kinds_of_cores),
		cmocka_unit_test(test_drain_visits_all_rings),
		cmocka_unit_test(test_enable_leaves_exec_to_the_kernel),
		cmocka_unit_test(test_rings_that_overwrite),
		cmocka_unit_test(test_little_stays_in_the_ring_until_the_end),
		cmocka_unit_test(test_events_stop_and_go),
		cmocka_unit_test(test_what_comes_is_looked_at_once),
		cmocka_unit_test(test_rings_are_read_in_place),
		cmocka_unit_test(test_a_frequency_is_lowered),
		cmocka_unit_test(test_only_side_band_is_on_other_cpus),
		cmocka_unit_test(test_filters_are_set_as_events_open),
		cmocka_unit_test(test_a_group_gives_up_its_children),
		cmocka_unit_test(test_a_refused_filter_is_named),
		cmocka_unit_test(test_a_cgroup_takes_the_place_of_the_thread),
		cmocka_unit_test(test_a_cgroup_that_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
