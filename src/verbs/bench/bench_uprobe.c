/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_uprobe.c - measures the overhead of a probe on libc's usleep, with a BPF program of two or eight instructions
 * on its entry or return, in all processes. The probe is opened by perf_event_open and ends with this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "kernel/recording/own_code.h"
#include "verbs/bench/bench.h"

#define BENCH_UPROBE_DEFAULT_LOOPS 1000
#define SLEEP_US		   1000
#define PMU_TYPE		   "/sys/bus/event_source/devices/uprobe/type"

struct bench_uprobe {
	uint64_t loops;
};

static const struct option bench_uprobe_options[] = {
	{.name = "loop",
		.letter = 'l',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct bench_uprobe, loops),
		.help = "Specify number of loops"},
};
static const struct option_table bench_uprobe_table = {bench_uprobe_options, ARRAY_LEN(bench_uprobe_options), false};

enum bench_uprobe_program { PROGRAM_NONE, PROGRAM_EMPTY, PROGRAM_PRINTS };

/* Results of the first and the previous benchmark of this process in microseconds, which "all" compares. 0 if not
 * measured. */
static double bench_uprobe_baseline, bench_uprobe_previous;

/* ---- the probe ---- */

static int bench_uprobe_load(enum bench_uprobe_program program)
{
	/* The string "bench\n" as two words in memory order. */
	static const char text[8] = "bench\n";
	uint32_t words[2];
	memcpy(words, text, sizeof(text));
	const struct bpf_insn prints[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .imm = (int32_t)words[0]},
		{.imm = (int32_t)words[1]},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_1, .off = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = sizeof(text)},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_trace_printk},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	bool is_empty = program == PROGRAM_EMPTY;
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_KPROBE};
	attr.insns = (uintptr_t)(is_empty ? prints + ARRAY_LEN(prints) - 2 : prints);
	attr.insn_cnt = is_empty ? 2 : ARRAY_LEN(prints);
	attr.license = (uintptr_t) "GPL";
	return (int)syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int bench_uprobe_open(bool returns)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_period = 1, .wakeup_events = 1};
	char path[PATH_MAX], *text;
	uint64_t offset = 0, type;
	size_t len;
	if (file_read(PMU_TYPE, 64, &text, &len, NULL) != TALLY_OK)
		return errno = ENODEV, -1;
	bool has_type = str_to_u64(str_trim((struct tally_str){text, len}), 10, &type);
	free(text);
	if (!has_type || !own_code_find((uintptr_t)usleep, path, &offset))
		return errno = ENOENT, -1;
	attr.type = (uint32_t)type;
	attr.config = returns;
	attr.uprobe_path = (uintptr_t)path;
	attr.probe_offset = offset;
	return (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Returns -1 after a message. */
static int bench_uprobe_attach(const struct bench *bench, enum bench_uprobe_program program, bool returns)
{
	int code = bench_uprobe_load(program);
	if (code < 0)
		return bench_fail(bench, "the kernel refuses the BPF program (root, or CAP_BPF and CAP_PERFMON)"), -1;
	int probe = bench_uprobe_open(returns);
	if (probe < 0) {
		(void)bench_fail(bench, "the kernel refuses a probe on usleep of libc");
	} else if (ioctl(probe, PERF_EVENT_IOC_SET_BPF, code) != 0 || ioctl(probe, PERF_EVENT_IOC_ENABLE, 0) != 0) {
		(void)bench_fail(bench, "the BPF program cannot be attached to the probe");
		close(probe);
		probe = -1;
	}
	close(code);
	return probe;
}

/* ---- measuring ---- */

static void bench_uprobe_say(const struct bench *bench, uint64_t loops, double us)
{
	double baseline = us - bench_uprobe_baseline, previous = us - bench_uprobe_previous;
	bool has_baseline = bench_uprobe_baseline > 0, has_previous = bench_uprobe_previous > 0;
	if (bench->format == BENCH_SIMPLE)
		printf("%.0f\n", us);
	if (bench->format != BENCH_DEFAULT)
		return;
	printf("# Executed %" PRIu64 " usleep(%d) calls\n     Total time: %.0f usecs", loops, SLEEP_US, us);
	if (has_baseline)
		printf(" %+.0f to baseline", baseline);
	if (has_previous)
		printf(" %+.0f to previous", previous);
	printf("\n\n %.3f usecs/op", us / (double)loops);
	if (has_baseline)
		printf(" %.3f usecs/op to baseline", baseline / (double)loops);
	if (has_previous)
		printf(" %.3f usecs/op to previous", previous / (double)loops);
	putchar('\n');
}

static int bench_uprobe_measure(const struct bench *bench, const struct command *command, int argc, char **argv,
	enum bench_uprobe_program program, bool returns)
{
	struct bench_uprobe job = {.loops = BENCH_UPROBE_DEFAULT_LOOPS};
	int rest, probe = -1;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.loops == 0)
		return cli_usagef(bench->cli, command, "loop", "a loop at least, and no words");
	if (program != PROGRAM_NONE && (probe = bench_uprobe_attach(bench, program, returns)) < 0)
		return EXIT_FAILED;
	uint64_t start = clock_ns();
	for (uint64_t i = 0; i < job.loops; i++)
		(void)usleep(SLEEP_US);
	uint64_t ns = clock_ns() - start;
	if (probe >= 0)
		close(probe);
	if (bench->format == BENCH_JSON)
		bench_time(bench, &(struct bench_result){.operations = job.loops, .ns = ns});
	bench_uprobe_say(bench, job.loops, (double)ns / 1000);
	if (program == PROGRAM_NONE)
		bench_uprobe_baseline = (double)ns / 1000;
	else
		bench_uprobe_previous = (double)ns / 1000;
	return 0;
}

#define BENCH_UPROBE(name, program, returns)                                                     \
	static int bench_uprobe_##name(                                                          \
		const struct bench *bench, const struct command *command, int argc, char **argv) \
	{                                                                                        \
		return bench_uprobe_measure(bench, command, argc, argv, program, returns);       \
	}
BENCH_UPROBE(none, PROGRAM_NONE, false)
BENCH_UPROBE(empty, PROGRAM_EMPTY, false)
BENCH_UPROBE(prints, PROGRAM_PRINTS, false)
BENCH_UPROBE(empty_return, PROGRAM_EMPTY, true)
BENCH_UPROBE(prints_return, PROGRAM_PRINTS, true)

static const struct benchmark bench_uprobe_benchmarks[] = {
	{"baseline", "Baseline libc usleep(1000) call", &bench_uprobe_table, bench_uprobe_none},
	{"empty", "Attach empty BPF prog to uprobe on usleep, system wide", &bench_uprobe_table, bench_uprobe_empty},
	{"trace_printk", "Attach trace_printk BPF prog to uprobe on usleep syswide", &bench_uprobe_table,
		bench_uprobe_prints},
	{"empty_ret", "Attach empty BPF prog to uretprobe on usleep, system wide", &bench_uprobe_table,
		bench_uprobe_empty_return},
	{"trace_printk_ret", "Attach trace_printk BPF prog to uretprobe on usleep syswide", &bench_uprobe_table,
		bench_uprobe_prints_return},
};
const struct bench_collection bench_uprobe = {"uprobe", "uprobe benchmarks", "Run all uprobe benchmarks",
	bench_uprobe_benchmarks, ARRAY_LEN(bench_uprobe_benchmarks)};
