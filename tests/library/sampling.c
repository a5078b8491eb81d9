/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.c - checks of tally/ring.h and tally/sampler.h on the running kernel, with events that give one sample
 * for each thing that the program does (counted.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tally/event.h>
#include <tally/fd.h>
#include <tally/sampler.h>
#include <unistd.h>

#include "counted.h"

static struct tally_error err;

static struct perf_event_attr on_writes(const struct counted *to)
{
	struct perf_event_attr attr = attr_of_writes(to);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	return attr;
}

static int open_self(const struct perf_event_attr *attr, int group)
{
	int fd = tally_fd_open(attr, 0, -1, group, 0, &err);
	if (fd < 0 && (err.status == TALLY_UNSUPPORTED || err.status == TALLY_DENIED))
		SKIP("%s", err.text);
	if (fd < 0)
		FAIL("%s", err.text);
	return fd;
}

static struct tally_ring *ring_of(int fd, const struct tally_ring_options *options)
{
	struct tally_ring *ring = tally_ring_open(fd, options, &err);
	if (!ring)
		FAIL("%s", err.text);
	return ring;
}

/* Reads the available samples, which must be of this thread and this cell; other records are ignored. */
static size_t drain(struct tally_ring *ring, const struct perf_event_attr *attr)
{
	struct tally_record record;
	struct tally_sample sample;
	size_t count = 0;
	while (tally_ring_next(ring, &record) == TALLY_OK) {
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		EXPECT_OK(tally_sample_decode(attr, &record, &sample, &err));
		EXPECT_EQ(sample.tid, gettid());
		EXPECT_EQ(sample.pid, getpid());
		EXPECT_EQ(sample.address, address_of(&cell));
		EXPECT_EQ(sample.period, 1);
		EXPECT(!sample.is_kernel && sample.ip && sample.time_ns);
		count++;
	}
	return count;
}

CHECK_BOTH(every_record_comes_once_across_the_end)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_ring_options options = {0};
	options.data_bytes = 1;
	int fd = open_self(&attr, -1);
	struct tally_ring *ring = ring_of(fd, &options);
	size_t total = 0;
	for (int turn = 0; turn < 200; turn++) { /* Many times the 4 KiB of the ring buffer. */
		write_cell(13);
		size_t got = drain(ring, &attr);
		EXPECT_EQ(got, 13);
		total += got;
	}
	EXPECT_EQ(total, 2600);
	tally_ring_close(ring);
	close(fd);
}

CHECK_BOTH(a_full_ring_loses_and_says_so)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_sampler_options options;
	struct tally_sample sample;
	size_t got = 0;
	tally_sampler_options_init(&options);
	attr.wakeup_events = 1;
	options.attr = &attr;
	options.ring_bytes = 1;
	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
	if (!sampler)
		SKIP("%s", err.text);
	write_cell(1000);
	while (tally_sampler_next(sampler, &sample, &err) == TALLY_OK)
		got++;
	EXPECT(got > 50 && got < 1000);
	EXPECT_OK(tally_sampler_wait(sampler, 0, &err));
	write_cell(1); /* The kernel reports losses when there is space again. */
	while (tally_sampler_next(sampler, &sample, &err) == TALLY_OK)
		got++;
	EXPECT_EQ(got + tally_sampler_lost(sampler), 1001);
	tally_sampler_close(sampler);
}

CHECK_BOTH(an_overwriting_ring_keeps_the_newest)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_ring_options options = {0};
	struct tally_record record;
	struct tally_sample sample;
	uint64_t last = UINT64_MAX;
	size_t count = 0;
	attr.write_backward = 1;
	options.data_bytes = 1;
	options.is_overwriting = true;
	int fd = open_self(&attr, -1);
	struct tally_ring *ring = ring_of(fd, &options);
	write_cell(1000);
	while (tally_ring_next(ring, &record) == TALLY_OK) {
		EXPECT_EQ(record.type, PERF_RECORD_SAMPLE);
		EXPECT_OK(tally_sample_decode(&attr, &record, &sample, &err));
		EXPECT(sample.time_ns <= last); /* Newest first. */
		last = sample.time_ns;
		count++;
	}
	EXPECT(count > 50 && count < 110);
	write_cell(5); /* The output has been resumed, and records are not returned twice. */
	count = 0;
	while (tally_ring_next(ring, &record) == TALLY_OK)
		count++;
	EXPECT_EQ(count, 5);
}

CHECK_BOTH(a_ring_takes_the_output_of_others)
{
	struct perf_event_attr attr = on_writes(&cell);
	int fd = open_self(&attr, -1);
	watch(&attr, &other);
	int second = open_self(&attr, -1);
	struct tally_ring *ring = ring_of(fd, NULL);
	struct tally_record record;
	size_t count = 0;
	EXPECT_OK(tally_fd_set_output(second, fd, &err));
	write_cell(3);
	write_other();
	while (tally_ring_next(ring, &record) == TALLY_OK)
		count++;
	EXPECT_EQ(count, 4);
	EXPECT_OK(tally_fd_set_output(second, -1, &err));
	write_other();
	EXPECT(tally_ring_next(ring, &record) == TALLY_END);
}

CHECK_BOTH(a_paused_ring_takes_nothing)
{
	struct perf_event_attr attr = on_writes(&cell);
	int fd = open_self(&attr, -1);
	struct tally_ring *ring = ring_of(fd, NULL);
	EXPECT_OK(tally_fd_pause_output(fd, true, &err));
	write_cell(3);
	EXPECT_EQ(drain(ring, &attr), 0);
	EXPECT_OK(tally_fd_pause_output(fd, false, &err));
	write_cell(2);
	EXPECT_EQ(drain(ring, &attr), 2);
}

CHECK_BOTH(a_sample_carries_its_group)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_record record;
	struct tally_sample sample;
	uint64_t ids[2];
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr.disabled = 1;
	int leader = open_self(&attr, -1);
	watch(&attr, &other);
	attr.sample_period = 0;
	attr.disabled = 0;
	int member = open_self(&attr, leader);
	attr = on_writes(&cell);
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
	struct tally_ring *ring = ring_of(leader, NULL);
	EXPECT_OK(tally_fd_id(leader, &ids[0], &err));
	EXPECT_OK(tally_fd_id(member, &ids[1], &err));
	EXPECT_OK(tally_fd_enable(leader, false, &err));
	for (int i = 0; i < 3; i++) {
		write_other();
		write_other();
		write_cell(1);
		EXPECT(tally_ring_next(ring, &record) == TALLY_OK);
		EXPECT_OK(tally_sample_decode(&attr, &record, &sample, &err));
		EXPECT_EQ(sample.id, ids[0]);
		EXPECT_EQ(sample.reading.count, 2);
		EXPECT(sample.reading.enabled_ns > 0);
		EXPECT_EQ(sample.reading.first.value, i + 1);
		EXPECT_EQ(tally_sample_reading(&sample, 1).value, 2 * (i + 1));
		EXPECT_EQ(tally_sample_reading(&sample, 1).id, ids[1]);
		EXPECT_EQ(tally_sample_reading(&sample, 2).id, 0);
	}
}

static __attribute__((noinline)) void inner(void)
{
	if (is_by_tracepoints)
		write_cell(1);
	else
		cell.value = 1;
	__asm__ volatile("" ::: "memory");
}

CHECK_BOTH(a_sample_carries_what_was_asked)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_sampler_options options;
	struct tally_sample sample;
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_STREAM_ID;
	attr.sample_regs_user = 0x1ff; /* The first nine registers. */
	attr.sample_stack_user = 512;
	attr.exclude_callchain_kernel = 1;
	attr.precise_ip = 0;
	attr.wakeup_events = 1;
	tally_sampler_options_init(&options);
	options.attr = &attr;
	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
	if (!sampler)
		SKIP("%s", err.text);
	inner();
	uint64_t id = 0;
	EXPECT_OK(tally_fd_id(tally_sampler_fd(sampler), &id, &err));
	EXPECT_OK(tally_sampler_wait(sampler, 10000, &err));
	EXPECT_OK(tally_sampler_next(sampler, &sample, &err));
	EXPECT_EQ(sample.present, attr.sample_type);
	EXPECT_EQ(sample.address, address_of(&cell));
	EXPECT_EQ(sample.stream_id, id);
	EXPECT(sample.callchain_count >= 2);
	EXPECT_EQ(sample.callchain[0], PERF_CONTEXT_USER);
	EXPECT_EQ(sample.callchain[1], sample.ip);
	/* The system call instruction is in the C library. */
	EXPECT(is_by_tracepoints || sample.ip - (uintptr_t)inner < 64);
	EXPECT_EQ(sample.user_registers.count, 9);
	EXPECT_EQ(sample.user_registers.mask, 0x1ff);
	EXPECT(sample.user_registers.abi != 0 && sample.user_stack.len > 0 && sample.user_stack.len <= 512);
	EXPECT_EQ(sample.branch_count, 0);
	EXPECT_EQ(sample.raw.len, 0);
	EXPECT(tally_sampler_next(sampler, &sample, &err) == TALLY_END);
	tally_sampler_close(sampler);
}

CHECK(a_tracepoint_carries_its_fields)
{
	struct tally_sampler_options options;
	struct tally_sample sample;
	tally_sampler_options_init(&options);
	options.event = "raw_syscalls:sys_enter";
	options.period = 1;
	options.sample_type = PERF_SAMPLE_RAW;
	options.starts_disabled = true;
	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
	if (!sampler)
		SKIP("%s", err.text);
	char filter[32];
	snprintf(filter, sizeof(filter), "id == %d", SYS_getppid);
	EXPECT_OK(tally_fd_set_filter(tally_sampler_fd(sampler), filter, &err));
	tally_sampler_enable(sampler);
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid);
	tally_sampler_disable(sampler);
	for (int i = 0; i < 5; i++) {
		int64_t id;
		EXPECT_OK(tally_sampler_next(sampler, &sample, &err));
		EXPECT(sample.raw.len >= 16);
		memcpy(&id, (const char *)sample.raw.bytes + 8, sizeof(id));
		EXPECT_EQ(id, SYS_getppid);
		EXPECT(sample.is_kernel);
	}
	EXPECT(tally_sampler_next(sampler, &sample, &err) == TALLY_END);
}

CHECK_BOTH(a_sampler_ends_with_its_thread)
{
	struct tally_sampler_options options;
	int pipes[2];
	char byte = 0;
	/* Opened before the fork: a check that is skipped here leaves no child behind. */
	struct perf_event_attr attr = on_writes(&cell);
	EXPECT(pipe(pipes) == 0);
	pid_t child = fork();
	if (child == 0) {
		close(pipes[1]); /* So that the child ends if the check is skipped. */
		if (read(pipes[0], &byte, 1) == 1)
			write_cell(3);
		_exit(0);
	}
	struct tally_sample sample;
	size_t count = 0;
	tally_sampler_options_init(&options);
	options.attr = &attr;
	options.thread = child;
	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
	EXPECT(write(pipes[1], "x", 1) == 1);
	if (!sampler)
		SKIP("%s", err.text);
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK) {
		status = tally_sampler_wait(sampler, 10000, &err);
		while (tally_sampler_next(sampler, &sample, &err) == TALLY_OK)
			count += sample.pid == child;
	}
	EXPECT_EQ(status, TALLY_END);
	EXPECT_EQ(count, 3);
	EXPECT(waitpid(child, NULL, 0) == child);
	tally_sampler_close(sampler);
}

CHECK_BOTH(the_rings_clock_converts_both_ways)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_ring *ring = ring_of(open_self(&attr, -1), NULL);
	uint64_t cycles, time;
	if (!tally_ring_cycles_of_time(ring, 5000000000, &cycles))
		SKIP("the kernel does not publish its clock here");
	EXPECT(tally_ring_time_of_cycles(ring, cycles, &time));
	EXPECT(time <= 5000000000 && time > 5000000000 - 1000);
}

CHECK_BOTH(what_cannot_be_mapped_is_refused)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_ring_options options = {0};
	int fd = open_self(&attr, -1);
	options.aux_bytes = 1 << 16;
	EXPECT(tally_ring_open(fd, &options, &err) == NULL);
	EXPECT_EQ(err.status, TALLY_UNSUPPORTED); /* a breakpoint has no AUX area */
	options.is_overwriting = true;
	EXPECT(tally_ring_open(fd, &options, &err) == NULL);
	EXPECT_EQ(err.status, TALLY_INVALID);
	options = (struct tally_ring_options){0};
	options.data_bytes = SIZE_MAX / 2;
	EXPECT(tally_ring_open(fd, &options, &err) == NULL);
	EXPECT_EQ(err.status, TALLY_INVALID);
	options.data_bytes = (size_t)1 << 40;
	EXPECT(tally_ring_open(fd, &options, &err) == NULL);
	EXPECT_EQ(err.status, TALLY_LIMIT);
	options = (struct tally_ring_options){0};
	options.reserved[1] = 1;
	EXPECT(tally_ring_open(fd, &options, &err) == NULL);
	EXPECT(tally_ring_open(0, NULL, &err) == NULL);
}

CHECK_BOTH(a_record_that_is_no_sample_is_told)
{
	struct perf_event_attr attr = on_writes(&cell);
	struct tally_sample sample;
	uint64_t words[2] = {PERF_RECORD_SAMPLE | (uint64_t)16 << 48, 1};
	struct tally_record record = {PERF_RECORD_SAMPLE, 0, 16, words};
	EXPECT(tally_sample_decode(&attr, &record, &sample, &err) == TALLY_CORRUPT);
	record.type = PERF_RECORD_COMM;
	EXPECT(tally_sample_decode(&attr, &record, &sample, &err) == TALLY_INVALID);
}

int main(int argc, char **argv)
{
	return checks_main(argc, argv);
}
