/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_before.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "verbs/trace/trace_calls.h"

#define ELF_CLASS_AT 4
#define ELF_CLASS_32 1

static size_t trace_before_read_proc(pid_t tid, const char *name, char *room, size_t bytes)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(room, 1, bytes - 1, file) : 0;
	if (file)
		fclose(file);
	room[len] = 0;
	return len;
}

static bool read_call(const struct trace_job *job, pid_t tid, struct syscall_call *call)
{
	char text[256], head[16];
	int64_t number;
	uint64_t *args = call->args;
	if (trace_before_read_proc(tid, "syscall", text, sizeof(text)) == 0 ||
		sscanf(text,
			"%" SCNi64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64,
			&number, &args[0], &args[1], &args[2], &args[3], &args[4], &args[5]) != 1 + SYSCALL_ARGS)
		return false;
	/* 32-bit programs have other system call numbers. */
	bool is_32_bit = trace_before_read_proc(tid, "exe", head, sizeof(head)) > ELF_CLASS_AT &&
			 head[ELF_CLASS_AT] == ELF_CLASS_32;
	call->abi = is_32_bit ? job->choice->compat : job->choice->native;
	call->number = (uint32_t)number;
	call->kind = SYSCALL_RECORD_ENTRY;
	call->has_args = true;
	return number >= 0 && number < SYSCALL_NUMBERS && call->abi != SYSCALLS_COUNT &&
	       trace_choice_wants(job->choice, call->abi, call->number);
}

enum tally_status trace_before_read(struct trace_job *job, const pid_t *tids, size_t count, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < count; i++) {
		struct syscall_call call = {0};
		if (read_call(job, tids[i], &call))
			status = trace_calls_take_before(job, tids[i], &call, clock_ns(), err);
	}
	return status;
}
