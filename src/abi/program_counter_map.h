/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * program_counter_map.h - defines the values of the maps by which events are counted while a BPF program runs
 * (src/bpf/program_counter.bpf.c).
 *
 * The BPF program includes it, too, so it uses only plain types and includes no other header.
 */
#ifndef ABI_PROGRAM_COUNTER_MAP_H
#define ABI_PROGRAM_COUNTER_MAP_H

#define PROGRAM_COUNTER_EVENTS 64 /* Maximum number of events of a session. */

struct program_counter_reading {
	unsigned long long value, enabled_ns, running_ns;
};

#endif
