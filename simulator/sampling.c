/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling.h"

#include "counting.h"
#include "options.h"
#include "output.h"
#include "registers.h"
#include "sideband.h"

/* The part of a sample before the registers. */
struct sampling_begin {
	ULong identifier;
	ULong ip;
	UInt pid, tid;
	ULong time;
	ULong period;
	ULong abi;
};

/* Returns the number of bytes from sp on that the program can read, at most most. They may span adjacent mappings. */
static UInt sampling_stack_size(Addr sp, UInt most)
{
	UInt size = 0;
	while (size < most) {
		const NSegment *segment = VG_(am_find_nsegment)(sp + size);
		if (!segment || !(segment->kind & (SkAnonC | SkFileC | SkShmC)) || !segment->hasR)
			break;
		ULong here = segment->end - (sp + size) + 1;
		size = here > most - size ? most : size + (UInt)here;
	}
	return size & ~7u;
}

static UInt sampling_index(enum sim_event event)
{
	UInt i = 0;
	while (sim_options.sampled[i].event != event)
		i++;
	return i;
}

static void sampling_write(enum sim_event event, ULong time, Addr ip, Addr registers_ip, Addr sp)
{
	UInt index = sampling_index(event), stack_size = 0;
	ULong registers[SIM_REGISTER_COUNT];
	struct sampling_begin begin = {.identifier = index + 1,
		.ip = ip,
		.pid = sim_sideband_pid(),
		.tid = sim_sideband_tid(VG_(get_running_tid)()),
		.time = time,
		.period = sim_options.sampled[index].period,
		.abi = sim_options.stack_bytes ? 2 : 0};
	sim_next[event] += begin.period;
	if (sim_options.stack_bytes) {
		sp = sim_registers_read(VG_(get_running_tid)(), registers_ip, sp, registers);
		stack_size = sampling_stack_size(sp, sim_options.stack_bytes);
	}
	UInt register_size = begin.abi ? (UInt)sizeof registers : 0;
	UInt size = (UInt)sizeof begin + register_size + 8 + (stack_size ? stack_size + 8 : 0);
	UChar *at = sim_output_record(SIM_OUTPUT_SAMPLE, SIM_OUTPUT_MISC_USER, size);
	ULong bytes = stack_size;
	VG_(memcpy)(at, &begin, sizeof begin);
	at += sizeof begin;
	VG_(memcpy)(at, registers, register_size);
	at += register_size;
	VG_(memcpy)(at, &bytes, 8);
	if (stack_size) {
		VG_(memcpy)(at + 8, (const void *)sp, stack_size);
		VG_(memcpy)(at + 8 + stack_size, &bytes, 8);
	}
}

void sim_sampling_due(enum sim_event event, Addr ip, Addr sp)
{
	sampling_write(event, sim_raw[SIM_INSTRUCTIONS], ip, ip, sp);
}

void sim_sampling_piece(const struct sim_piece *piece)
{
	ULong before = sim_raw[SIM_INSTRUCTIONS] - piece->count;
	while (sim_raw[SIM_INSTRUCTIONS] >= sim_next[SIM_INSTRUCTIONS]) {
		ULong time = sim_next[SIM_INSTRUCTIONS];
		ULong nth = time - before; /* 1 for the first instruction of the piece. */
		Addr ip = piece->ips[nth && nth <= piece->count ? nth - 1 : 0];
		sampling_write(SIM_INSTRUCTIONS, time, ip, piece->ips[0], 0);
	}
}
