/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_builder.h - makes files in the format of the simulator (simulator/stream.h) in memory.
 *
 *	struct stream_builder b;
 *	stream_builder_begin(&b, &(struct stream_process){.pid = 10});
 *	stream_builder_comm(&b, 0, "sh", true);  stream_builder_sample(&b, &(struct stream_sample){.time = 7, .ip = 0x1000});
 *	... writer_view(&b.out) ...;  writer_deinit(&b.out);
 */
#ifndef SUPPORT_STREAM_BUILDER_H
#define SUPPORT_STREAM_BUILDER_H

#include "abi/encode.h"
#include "simulator/stream.h"

#define STREAM_MODEL "valgrind=3.19.0 d1=32768,8,64 predictor=test"

struct stream_process {
	uint32_t pid, ppid, image;
	uint32_t stack_bytes; /* Bytes of stack per sample; 0 for samples without stacks. */
};

struct stream_builder {
	struct writer out;
	struct stream_process process;
	struct record_layout layout;
};

struct stream_sample {
	uint64_t time, ip, period;
	uint32_t tid; /* 0 for the first thread of the process. */
	uint32_t event; /* Index of the event: 0 for instructions, 1 for LLC-load-misses. */
	uint64_t begin; /* IP at which the registers were valid. */
	uint64_t sp, bp;
	const uint64_t *stack;
	size_t words;
};

/* Writes the header and the descriptions of the sampled events instructions (period 1000) and LLC-load-misses (period
 * 10). */
void stream_builder_begin(struct stream_builder *b, const struct stream_process *process);
void stream_builder_comm(struct stream_builder *b, uint64_t time, const char *name, bool is_exec);
void stream_builder_map(struct stream_builder *b, uint64_t time, uint64_t start, uint64_t len, const char *file);
void stream_builder_fork(struct stream_builder *b, uint64_t time, uint32_t pid, uint32_t tid);
void stream_builder_exit(struct stream_builder *b, uint64_t time);
void stream_builder_sample(struct stream_builder *b, const struct stream_sample *sample);
void stream_builder_counts(struct stream_builder *b, uint64_t time, uint64_t instructions);
void stream_builder_lost(struct stream_builder *b, uint64_t time, uint64_t records, uint64_t samples);

#endif
