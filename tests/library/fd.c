/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.c - checks of tally/fd.h on the running kernel, with events that count exactly what the program does (counted.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <tally/event.h>
#include <tally/fd.h>
#include <unistd.h>

#include "counted.h"

static struct tally_error err;
static struct tally_signal signals[64];
static _Atomic size_t signal_count;

static int open_self(const struct perf_event_attr *attr, int group)
{
	int fd = tally_fd_open(attr, 0, -1, group, 0, &err);
	if (fd < 0 && (err.status == TALLY_UNSUPPORTED || err.status == TALLY_DENIED))
		SKIP("%s", err.text);
	if (fd < 0)
		FAIL("%s", err.text);
	return fd;
}

static uint64_t value_of(int fd, uint64_t format)
{
	struct tally_reading reading;
	struct tally_reading_value values[4];
	EXPECT_OK(tally_fd_read(fd, format, &reading, values, 4, &err));
	EXPECT(!reading.is_in_error);
	return reading.first.value;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	size_t at = signal_count++;
	if (at < 64)
		tally_signal_decode(info, &signals[at]);
}

static void catch (int number)
{
	struct sigaction action = {0};
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO;
	EXPECT(sigaction(number, &action, NULL) == 0);
}

CHECK_BOTH(counts_what_happens_while_enabled)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	attr.disabled = 1;
	int fd = open_self(&attr, -1);
	write_cell(5);
	EXPECT_EQ(value_of(fd, 0), 0);
	EXPECT_OK(tally_fd_enable(fd, false, &err));
	write_cell(7);
	EXPECT_OK(tally_fd_disable(fd, false, &err));
	write_cell(3);
	EXPECT_EQ(value_of(fd, 0), 7);
	EXPECT_OK(tally_fd_reset(fd, false, &err));
	EXPECT_EQ(value_of(fd, 0), 0);
}

CHECK_BOTH(reads_every_format)
{
	for (uint64_t format = 0; format < 16; format++) {
		struct perf_event_attr attr = attr_of_writes(&cell);
		struct tally_reading reading;
		struct tally_reading_value values[2];
		attr.read_format = format;
		int fd = open_self(&attr, -1);
		uint64_t id = 0;
		EXPECT_OK(tally_fd_id(fd, &id, &err));
		write_cell(4);
		EXPECT_OK(tally_fd_read(fd, format, &reading, values, 2, &err));
		EXPECT_EQ(reading.count, 1);
		EXPECT_EQ(reading.first.value, 4);
		EXPECT_EQ(reading.first.id, format & PERF_FORMAT_ID ? id : 0);
		EXPECT((reading.enabled_ns != 0) == ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0));
		EXPECT((reading.running_ns != 0) == ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0));
		close(fd);
	}
}

CHECK_BOTH(reads_a_group_at_once)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	struct tally_reading reading;
	struct tally_reading_value values[2];
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	attr.disabled = 1;
	int leader = open_self(&attr, -1);
	watch(&attr, &other);
	attr.disabled = 0;
	int member = open_self(&attr, leader);
	EXPECT_OK(tally_fd_enable(member, true, &err));
	write_cell(6);
	write_other();
	EXPECT_OK(tally_fd_disable(leader, true, &err));
	EXPECT(tally_fd_read(leader, attr.read_format, &reading, values, 1, &err) == TALLY_LIMIT);
	EXPECT_OK(tally_fd_read(leader, attr.read_format, &reading, values, 2, &err));
	EXPECT_EQ(reading.count, 2);
	EXPECT_EQ(values[0].value, 6);
	EXPECT_EQ(values[1].value, 1);
	uint64_t id = 0;
	EXPECT_OK(tally_fd_id(member, &id, &err));
	EXPECT_EQ(values[1].id, id);
}

/* Breakpoints are not tested: on Linux 6.18, one that a refresh has stopped can never be started again. */
CHECK(refresh_ends_with_the_last_signal)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr;
	EXPECT(memory != MAP_FAILED && madvise(memory, 64 * page, MADV_NOHUGEPAGE) == 0);
	EXPECT_OK(tally_event_attr("page-faults:u", &attr, sizeof(attr), &err));
	attr.sample_period = 1;
	attr.disabled = 1;
	int number = SIGRTMIN + 1, fd = open_self(&attr, -1);
	catch (number);
	raise(number); /* The first signal touches the pages of the handler. */
	signal_count = 0;
	EXPECT_OK(tally_fd_signal(fd, number, TALLY_OWNER_THREAD, 0, &err));
	EXPECT(tally_fd_refresh(fd, 0, &err) == TALLY_INVALID);
	for (int turn = 0; turn < 2; turn++) {
		EXPECT_OK(tally_fd_refresh(fd, 3, &err));
		for (int i = 0; i < 8; i++, memory += page)
			*(volatile char *)memory = 1;
		EXPECT_EQ(signal_count, 3);
		for (int i = 0; i < 3; i++) {
			EXPECT_EQ(signals[i].kind, i < 2 ? TALLY_SIGNAL_OVERFLOW : TALLY_SIGNAL_LAST);
			EXPECT_EQ(signals[i].fd, fd);
		}
		EXPECT_EQ(value_of(fd, 0), 3 * (turn + 1));
		signal_count = 0;
	}
}

CHECK_BOTH(signals_stop_when_told)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	attr.sample_period = 1;
	int number = SIGRTMIN + 2, fd = open_self(&attr, -1);
	catch (number);
	EXPECT_OK(tally_fd_signal(fd, number, TALLY_OWNER_PROCESS, 0, &err));
	write_cell(2);
	EXPECT_OK(tally_fd_signal(fd, 0, TALLY_OWNER_PROCESS, 0, &err));
	write_cell(2);
	EXPECT_EQ(signal_count, 2);
	EXPECT(tally_fd_signal(fd, number, TALLY_OWNER_THREAD, 0x3ffffff, &err) == TALLY_NOT_FOUND);
}

CHECK_BOTH(a_new_period_holds)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	attr.sample_period = 2;
	int number = SIGRTMIN + 3, fd = open_self(&attr, -1);
	catch (number);
	EXPECT_OK(tally_fd_signal(fd, number, TALLY_OWNER_THREAD, 0, &err));
	write_cell(6);
	EXPECT_EQ(signal_count, 3);
	EXPECT(tally_fd_set_period(fd, 0, &err) == TALLY_INVALID);
	EXPECT_OK(tally_fd_set_period(fd, 5, &err));
	while (signal_count == 4 || signal_count == 3) /* The current period ends early. */
		write_cell(1);
	for (size_t count = signal_count; count < 10; count++) {
		write_cell(4);
		EXPECT_EQ(signal_count, count);
		write_cell(1);
		EXPECT_EQ(signal_count, count + 1);
	}
}

CHECK_BOTH(traps_say_where_and_which)
{
#ifdef __aarch64__
	SKIP("arm64 kernels do not step over a watchpoint that traps");
#endif
	struct perf_event_attr attr = attr_of_writes(&cell);
	attr.sample_period = 1;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = 0x1234567890;
	catch (SIGTRAP);
	int fd = open_self(&attr, -1);
	write_cell(4);
	EXPECT_OK(tally_fd_disable(fd, false, &err));
	EXPECT_EQ(signal_count, 4);
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(signals[i].kind, TALLY_SIGNAL_TRAP);
		EXPECT_EQ(signals[i].sig_data, 0x1234567890);
		EXPECT_EQ(signals[i].type, attr.type);
		EXPECT_EQ(signals[i].address, address_of(&cell));
		EXPECT(!signals[i].is_async);
	}
}

CHECK(other_signals_are_told_apart)
{
	catch (SIGUSR1);
	raise(SIGUSR1);
	EXPECT_EQ(signal_count, 1);
	EXPECT_EQ(signals[0].kind, TALLY_SIGNAL_OTHER);
	EXPECT(signals[0].fd == -1);
}

CHECK_BOTH(prctl_stops_all_of_the_thread)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	int first = open_self(&attr, -1);
	watch(&attr, &other);
	int second = open_self(&attr, -1);
	EXPECT_OK(tally_task_disable(&err));
	write_cell(3);
	write_other();
	EXPECT_OK(tally_task_enable(&err));
	write_cell(2);
	write_other();
	EXPECT_EQ(value_of(first, 0), 2);
	EXPECT_EQ(value_of(second, 0), 1);
}

CHECK(a_breakpoint_moves)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	int fd = open_self(&attr, -1);
	write_cell(2);
	watch(&attr, &other);
	EXPECT_OK(tally_fd_modify(fd, &attr, &err));
	write_cell(5);
	write_other();
	EXPECT_EQ(value_of(fd, 0), 3);
}

CHECK(only_breakpoints_move)
{
	struct perf_event_attr attr;
	EXPECT_OK(tally_event_attr("page-faults:u", &attr, sizeof(attr), &err));
	int fd = open_self(&attr, -1);
	EXPECT(tally_fd_modify(fd, &attr, &err) != TALLY_OK && err.text[0]);
}

CHECK(a_filter_lets_pass_what_it_says)
{
	struct perf_event_attr attr;
	if (tally_event_attr("raw_syscalls:sys_enter", &attr, sizeof(attr), &err) != TALLY_OK)
		SKIP("%s", err.text);
	int fd = open_self(&attr, -1);
	char filter[64];
	snprintf(filter, sizeof(filter), "id == %d", SYS_getppid);
	EXPECT(tally_fd_set_filter(fd, "no_such_field == 1", &err) == TALLY_INVALID);
	EXPECT_OK(tally_fd_set_filter(fd, filter, &err));
	EXPECT_OK(tally_fd_reset(fd, false, &err));
	for (int i = 0; i < 9; i++)
		syscall(SYS_getppid);
	EXPECT_EQ(value_of(fd, 0), 9);
}

/* The program returns 0, which filters out every sample of the event that it is attached to. */
static int load_bpf(void)
{
	struct bpf_insn program[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr load = {0};
	load.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	load.insns = (uintptr_t)program;
	load.insn_cnt = 2;
	load.license = (uintptr_t) "GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
}

CHECK(bpf_programs_are_attached_and_listed)
{
	struct perf_event_attr attr;
	uint32_t ids[4] = {0};
	size_t count = 99;
	if (tally_event_attr("raw_syscalls:sys_enter", &attr, sizeof(attr), &err) != TALLY_OK)
		SKIP("%s", err.text);
	int fd = open_self(&attr, -1), program = load_bpf();
	EXPECT(tally_fd_set_bpf(fd, fd, &err) != TALLY_OK);
	if (program < 0)
		SKIP("cannot load a BPF program: %s", strerror(errno));
	EXPECT_OK(tally_fd_set_bpf(fd, program, &err));
	EXPECT(tally_fd_query_bpf(fd, ids, 0, &count, &err) == TALLY_LIMIT || count == 1);
	EXPECT_EQ(count, 1);
	EXPECT_OK(tally_fd_query_bpf(fd, ids, 4, &count, &err));
	EXPECT_EQ(count, 1);
	EXPECT(ids[0] != 0);
}

CHECK_BOTH(a_poll_ends_at_an_overflow_and_at_the_threads_end)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	enum tally_wake wake;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ADDR;
	attr.wakeup_events = 1;
	int fd = open_self(&attr, -1);
	EXPECT_OK(tally_fd_wait(fd, 0, &wake, &err));
	EXPECT_EQ(wake, TALLY_WAKE_HANGUP); /* No ring buffer is mapped. */
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	EXPECT(mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
	EXPECT_OK(tally_fd_wait(fd, 0, &wake, &err));
	EXPECT_EQ(wake, TALLY_WAKE_TIMEOUT);
	write_cell(1);
	EXPECT_OK(tally_fd_wait(fd, 10000, &wake, &err));
	EXPECT_EQ(wake, TALLY_WAKE_OVERFLOW);
	EXPECT(tally_fd_wait(0x3ffffff, 0, &wake, &err) == TALLY_IO);
}

CHECK(a_refusal_says_what_was_asked)
{
	struct perf_event_attr attr = {0};
	EXPECT(tally_fd_open(&attr, 0, -1, -1, 0, &err) == -1);
	EXPECT_EQ(err.status, TALLY_INVALID); /* The size is 0. */
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.exclude_kernel = 1;
	EXPECT(tally_fd_open(&attr, 0x3ffffff, -1, -1, 0, &err) == -1);
	EXPECT_EQ(err.status, TALLY_NOT_FOUND);
	EXPECT_EQ(err.errnum, ESRCH);
	EXPECT(strstr(err.text, "page-faults"));
	EXPECT(tally_fd_enable(-1, false, &err) == TALLY_IO);
	EXPECT_EQ(err.errnum, EBADF);
}

CHECK_BOTH(descriptors_close_on_exec)
{
	struct perf_event_attr attr = attr_of_writes(&cell);
	EXPECT(fcntl(open_self(&attr, -1), F_GETFD) & FD_CLOEXEC);
}

CHECK(scales_by_the_times)
{
	EXPECT_EQ(tally_scale(100, 10, 10), 100);
	EXPECT_EQ(tally_scale(100, 30, 10), 300);
	EXPECT_EQ(tally_scale(100, 30, 0), 0);
	EXPECT_EQ(tally_scale(UINT64_MAX, 30, 10), UINT64_MAX);
}

int main(int argc, char **argv)
{
	return checks_main(argc, argv);
}
