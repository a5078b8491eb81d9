/* SPDX-License-Identifier: Apache-2.0 */
#include "sideband.h"

#include "counting.h"
#include "output.h"

#define SIDEBAND_COMM_BYTES 16u

static UInt sideband_pid;
struct sideband_thread {
	UInt tid, parent_tid;
};
static struct sideband_thread *sideband_threads; /* Indexed by ThreadId. */

UInt sim_sideband_pid(void)
{
	return sideband_pid;
}

UInt sim_sideband_tid(ThreadId thread)
{
	return sideband_threads[thread].tid;
}

static ThreadId sideband_running(void)
{
	ThreadId running = VG_(get_running_tid)();
	/* No thread runs before the program begins and after it has ended. */
	return running == VG_INVALID_THREADID ? 1 : running;
}

/* Begins a record with size bytes after its header, followed by a struct sim_id of this thread. */
static UChar *sideband_record(enum sim_output_type type, UInt misc, UInt size, ThreadId thread)
{
	UChar *at = sim_output_record(type, misc, size + (UInt)sizeof(struct sim_id));
	struct sim_id id = {.pid = sideband_pid, .tid = sim_sideband_tid(thread), .time = sim_raw[SIM_INSTRUCTIONS]};
	VG_(memcpy)(at + size, &id, sizeof id);
	return at;
}

static void sideband_comm(ThreadId thread, UInt misc, const HChar *name)
{
	struct {
		UInt pid, tid;
		HChar name[SIDEBAND_COMM_BYTES];
	} comm = {.pid = sideband_pid, .tid = sim_sideband_tid(thread)};
	VG_(strlcpy)(comm.name, name, sizeof comm.name);
	UInt size = 8 + (((UInt)VG_(strlen)(comm.name) + 8) & ~7u);
	VG_(memcpy)(sideband_record(SIM_OUTPUT_COMM, misc, size, thread), &comm, size);
}

void sim_sideband_begin(void)
{
	sideband_pid = (UInt)VG_(getpid)();
	sideband_threads = VG_(calloc)("tally.tids", VG_N_THREADS, sizeof *sideband_threads);
	sideband_threads[1].tid = (UInt)VG_(gettid)();
	sideband_comm(1, SIM_OUTPUT_MISC_EXEC, VG_(basename)(VG_(args_the_exename)));
}

void sim_sideband_forked(ThreadId thread)
{
	sideband_pid = (UInt)VG_(getpid)();
	sideband_threads[thread].tid = sideband_pid;
}

static void sideband_write_mapping(const NSegment *segment, Addr start, Addr end)
{
	static HChar record[64 + VKI_PATH_MAX];
	const HChar *name = VG_(am_get_filename)(segment);
	struct {
		UInt pid, tid;
		ULong start, length, offset;
		UInt major, minor;
		ULong inode, generation;
		UInt prot, flags;
	} map = {.pid = sideband_pid,
		.tid = sim_sideband_tid(sideband_running()),
		.start = start,
		.length = end - start,
		.prot = (segment->hasR ? VKI_PROT_READ : 0u) | (segment->hasW ? VKI_PROT_WRITE : 0u) | VKI_PROT_EXEC,
		.flags = VKI_MAP_PRIVATE};
	if (segment->kind == SkFileC) {
		map.offset = (ULong)segment->offset + (start - segment->start);
		map.major = (UInt)(segment->dev >> 8) & 0xfff;
		map.minor = (UInt)(segment->dev & 0xff) | ((UInt)(segment->dev >> 12) & 0xfff00);
		map.inode = segment->ino;
	}
	VG_(memset)(record, 0, sizeof record);
	VG_(memcpy)(record, &map, sizeof map);
	VG_(strlcpy)(record + sizeof map, name ? name : "//anon", VKI_PATH_MAX);
	UInt size = (UInt)sizeof map + (((UInt)VG_(strlen)(record + sizeof map) + 8) & ~7u);
	VG_(memcpy)(sideband_record(SIM_OUTPUT_MMAP2, SIM_OUTPUT_MISC_USER, size, sideband_running()), record, size);
}

void sim_sideband_mapping(Addr start, SizeT length)
{
	Addr end = start + length;
	while (start < end) {
		const NSegment *segment = VG_(am_find_nsegment)(start);
		if (!segment)
			return;
		Addr here = segment->end < end - 1 ? segment->end + 1 : end;
		if (segment->kind & (SkFileC | SkAnonC | SkShmC))
			sideband_write_mapping(segment, start, here);
		start = here;
	}
}

/* Writes a FORK or EXIT record; both have the same layout. */
static void sideband_task(enum sim_output_type type, ThreadId thread, const UInt ids[4])
{
	struct {
		UInt pid, ppid, tid, ptid;
		ULong time;
	} task = {ids[0], ids[1], ids[2], ids[3], sim_raw[SIM_INSTRUCTIONS]};
	VG_(memcpy)(sideband_record(type, 0, sizeof task, thread), &task, sizeof task);
}

void sim_sideband_thread_made(ThreadId parent, ThreadId thread)
{
	if (parent != VG_INVALID_THREADID)
		sideband_threads[thread].parent_tid = sim_sideband_tid(parent);
}

void sim_sideband_thread_begins(ThreadId thread)
{
	UInt parent = sideband_threads[thread].parent_tid;
	sideband_threads[thread].tid = (UInt)VG_(gettid)();
	if (parent) /* The first thread has no parent. */
		sideband_task(SIM_OUTPUT_FORK, thread,
			(UInt[4]){sideband_pid, sideband_pid, sim_sideband_tid(thread), parent});
}

void sim_sideband_thread_ends(ThreadId thread)
{
	UInt tid = sim_sideband_tid(thread);
	sideband_task(SIM_OUTPUT_EXIT, thread, (UInt[4]){sideband_pid, sideband_pid, tid, tid});
}

void sim_sideband_process_made(ThreadId parent, UInt child)
{
	sideband_task(SIM_OUTPUT_FORK, parent, (UInt[4]){child, sideband_pid, child, sim_sideband_tid(parent)});
}

void sim_sideband_renamed(ThreadId thread, const HChar *name)
{
	sideband_comm(thread, 0, name);
}
