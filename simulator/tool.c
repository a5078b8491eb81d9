/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool.c - the Valgrind tool `tally`: registers the functions of the other files with the core.
 */
#include "core.h"
#include "counting.h"
#include "instrument.h"
#include "options.h"
#include "output.h"
#include "sideband.h"

#define TOOL_AT_NULL	  0u
#define TOOL_AT_IGNORE	  1u
#define TOOL_AT_RANDOM	  25u
#define TOOL_CLONE_THREAD 0x10000u
#define TOOL_PR_SET_NAME  15u

/* The kernel gives each program 16 random bytes, which seed its stack protector and, in some languages, its hash
 * tables. Remains of them on the stack can change what the program reads later, and so its counts. */
static void tool_fix_random(void)
{
	for (UWord *entry = VG_(client_auxv); entry && entry[0] != TOOL_AT_NULL; entry += 2) {
		if (entry[0] == TOOL_AT_IGNORE)
			entry[1] = 0; /* This is an address that the kernel chose, in an entry that the core hides. */
		if (entry[0] == TOOL_AT_RANDOM && VG_(am_is_valid_for_client)(entry[1], 16, VKI_PROT_WRITE))
			VG_(memcpy)((void *)entry[1], "\0tally simulates", 16);
	}
}

static void tool_begin(void)
{
	sim_options_check();
	tool_fix_random();
	sim_counting_begin();
	sim_output_open(False);
	sim_sideband_begin();
	sim_instrument_init();
}

static void tool_end(Int exit_code)
{
	sim_sideband_thread_ends(1);
	sim_output_flush(True);
}

static void tool_before_fork(ThreadId tid)
{
	sim_output_flush(False);
}

static void tool_forked(ThreadId tid)
{
	sim_output_leave();
	sim_counting_begin();
	sim_output_open(True);
	sim_sideband_forked(tid);
}

static void tool_mapped(Addr start, SizeT length, Bool reads, Bool writes, Bool executes, ULong debug_info)
{
	if (executes)
		sim_sideband_mapping(start, length);
}

static void tool_protected(Addr start, SizeT length, Bool reads, Bool writes, Bool executes)
{
	if (executes)
		sim_sideband_mapping(start, length);
}

static void tool_remapped(Addr from, Addr to, SizeT length)
{
	const NSegment *segment = VG_(am_find_nsegment)(to);
	if (segment && segment->hasX)
		sim_sideband_mapping(to, length);
}

static void tool_runs(ThreadId tid, ULong blocks)
{
	sim_counting_run(tid);
}

static void tool_stops(ThreadId tid, ULong blocks)
{
	sim_counting_stop(tid);
	sim_output_keep_up();
}

static void tool_thread_made(ThreadId parent, ThreadId thread)
{
	sim_counting_forget(thread);
	sim_sideband_thread_made(parent, thread);
}

static void tool_thread_ends(ThreadId thread)
{
	if (thread != 1) /* The EXIT record of the process is written when it ends. */
		sim_sideband_thread_ends(thread);
}

static void tool_before_syscall(ThreadId tid, UInt number, UWord *arguments, UInt count)
{
	if (number == __NR_execve || number == __NR_execveat)
		sim_output_flush(True);
}

static Bool tool_makes_process(UInt number, const UWord *arguments)
{
#if defined(VGA_amd64)
	if (number == __NR_fork || number == __NR_vfork)
		return True;
#endif
	return number == __NR_clone && !(arguments[0] & TOOL_CLONE_THREAD);
}

static void tool_after_syscall(ThreadId tid, UInt number, UWord *arguments, UInt count, SysRes result)
{
	HChar name[16];
	if (number == __NR_execve || number == __NR_execveat)
		sim_output_flush(False); /* The exec failed. */
	if (sr_isError(result))
		return;
	if (tool_makes_process(number, arguments) && sr_Res(result))
		sim_sideband_process_made(tid, (UInt)sr_Res(result));
	if (number == __NR_prctl && arguments[0] == TOOL_PR_SET_NAME) {
		VG_(strlcpy)(name, (const HChar *)arguments[1], sizeof name);
		sim_sideband_renamed(tid, name);
	}
}

static Bool tool_request(ThreadId tid, UWord *arguments, UWord *result)
{
	enum sim_scope scope = arguments[1] == SIM_SCOPE_THREAD ? SIM_SCOPE_THREAD : SIM_SCOPE_PROCESS;
	switch ((UInt)arguments[0]) {
	case SIM_REQUEST_BEGIN:
	case SIM_REQUEST_END:
		sim_counting_window(scope, arguments[0] == SIM_REQUEST_BEGIN);
		break;
	case SIM_REQUEST_ZERO:
		sim_counting_zero();
		break;
	default:
		return False;
	}
	*result = 1;
	return True;
}

static void tool_register(void)
{
	VG_(details_name)("tally");
	VG_(details_version)(TALLY_VERSION);
	VG_(details_description)("a simulator of hardware events");
	VG_(details_copyright_author)("The authors of tally, under the Apache License 2.0; Valgrind under the GPL.");
	VG_(details_bug_reports_to)("the authors of tally");
	VG_(details_avg_translation_sizeB)(400);
	VG_(basic_tool_funcs)(tool_begin, sim_instrument, tool_end);
	VG_(needs_superblock_discards)(sim_instrument_discard);
	VG_(needs_command_line_options)(sim_options_read, sim_options_usage, sim_options_debug_usage);
	VG_(needs_client_requests)(tool_request);
	VG_(needs_syscall_wrapper)(tool_before_syscall, tool_after_syscall);
	VG_(atfork)(tool_before_fork, NULL, tool_forked);
	VG_(track_new_mem_startup)(tool_mapped);
	VG_(track_new_mem_mmap)(tool_mapped);
	VG_(track_change_mem_mprotect)(tool_protected);
	VG_(track_copy_mem_remap)(tool_remapped);
	VG_(track_start_client_code)(tool_runs);
	VG_(track_stop_client_code)(tool_stops);
	VG_(track_pre_thread_ll_create)(tool_thread_made);
	VG_(track_pre_thread_first_insn)(sim_sideband_thread_begins);
	VG_(track_pre_thread_ll_exit)(tool_thread_ends);
}

VG_DETERMINE_INTERFACE_VERSION(tool_register)
