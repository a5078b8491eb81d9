/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include "counting.h"
#include "options.h"
#include "registers.h"
#include "toggles.h"

#define OUTPUT_BUFFER_BYTES 262144u
#define OUTPUT_MODEL_BYTES  1024u
/* The tool may not check the time again until a thread has run some millions of instructions. */
#define OUTPUT_COUNTS_EVERY (SIM_COUNTS_INSTRUCTIONS / 10 * 9)

static UChar output_buffer[OUTPUT_BUFFER_BYTES] __attribute__((aligned(8)));
static UInt output_used; /* Number of bytes used in the buffer; all records are multiples of 8 bytes. */
static Int output_fd = -1;
static ULong output_counts_at, output_end; /* Offsets in the file. */
static ULong output_counts_due;
static ULong output_lost_records, output_lost_samples;
static Bool output_complained;

/* Writes to the file at the offset. Returns the number of bytes written. */
static UInt output_write(ULong offset, const void *bytes, UInt size)
{
	UInt done = 0;
	if (output_fd < 0 || VG_(lseek)(output_fd, (Off64T)offset, VKI_SEEK_SET) < 0)
		return 0;
	while (done < size) {
		Int written = VG_(write)(output_fd, (const UChar *)bytes + done, (Int)(size - done));
		if (written <= 0)
			break;
		done += (UInt)written;
	}
	return done;
}

static UInt output_has_event(UInt event)
{
	static const UInt kinds[SIM_EVENT_COUNT] = {
#define OUTPUT_KIND(number, identifier, text, word) [number] = SIM_KIND_##word,
		SIM_EVENTS(OUTPUT_KIND)
#undef OUTPUT_KIND
	};
	return sim_options.kinds & kinds[event];
}

/* Writes the counts and the lost records as the first two records. */
static Bool output_write_counts(Bool is_final)
{
	struct {
		struct sim_counts counts;
		struct sim_lost lost;
	} records;
	ULong counts[SIM_EVENT_COUNT];
	struct sim_lost lost = {.type = SIM_RECORD_LOST,
		.size = sizeof lost,
		.time = sim_raw[SIM_INSTRUCTIONS],
		.records = output_lost_records,
		.samples = output_lost_samples};
	UInt used = 0;
	sim_counts_now(counts);
	records.counts.type = SIM_RECORD_COUNTS;
	records.counts.misc = (UShort)((is_final ? SIM_COUNTS_FINAL : 0) | sim_toggles_ran * SIM_COUNTS_TOGGLE(0));
	records.counts.time = sim_raw[SIM_INSTRUCTIONS];
	for (UInt e = 0; e < SIM_EVENT_COUNT; e++) {
		if (output_has_event(e))
			records.counts.counts[used++] = (struct sim_count){e, counts[e]};
	}
	records.counts.size = (UShort)(offsetof(struct sim_counts, counts) + used * sizeof(struct sim_count));
	VG_(memcpy)((UChar *)&records + records.counts.size, &lost, sizeof lost);
	output_counts_due = sim_raw[SIM_INSTRUCTIONS] + OUTPUT_COUNTS_EVERY;
	const UInt size = records.counts.size + (UInt)sizeof lost;
	if (output_end == output_counts_at)
		output_end += size;
	return output_write(output_counts_at, &records, size) == size;
}

static Bool output_write_header(UInt image)
{
	struct {
		struct sim_header header;
		HChar model[OUTPUT_MODEL_BYTES];
	} begin;
	VG_(memset)(&begin, 0, sizeof begin);
	UInt text = sim_options_model(begin.model, OUTPUT_MODEL_BYTES);
	struct sim_header *header = &begin.header;
	VG_(memcpy)(header->magic, SIM_MAGIC, sizeof header->magic);
	header->version = SIM_VERSION;
	header->size = ((UInt)sizeof *header + text + 8) & ~7u;
	header->machine = SIM_MACHINE;
	header->pid = (UInt)VG_(getpid)();
	header->ppid = (UInt)VG_(getppid)();
	header->image = image;
	header->flags = (sim_options.collects_at_start ? 0 : SIM_FLAG_STARTS_OFF) |
			(sim_options.toggle_count ? SIM_FLAG_TOGGLES : 0);
	header->kinds = sim_options.kinds;
	header->sampled_count = sim_options.sampled_count;
	header->stack_bytes = sim_options.stack_bytes;
	header->registers = sim_options.stack_bytes ? SIM_REGISTERS : 0;
	VG_(memcpy)(header->sampled, sim_options.sampled, sizeof header->sampled);
	output_counts_at = output_end = header->size;
	return output_write(0, &begin, header->size) == header->size;
}

/* Creates "DIR/<pid>.<n>" for the first unused n. The program cannot reach the descriptor. */
static Int output_create(HChar *path, UInt size, UInt *image)
{
	for (*image = 0; *image < 1000000; ++*image) {
		VG_(snprintf)(path, (Int)size, "%s/%d.%u", sim_options.stream_dir, VG_(getpid)(), *image);
		SysRes result = VG_(open)(path, VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY, 0600);
		if (!sr_isError(result))
			return VG_(safe_fd)((Int)sr_Res(result));
		if (sr_Err(result) != VKI_EEXIST)
			break;
	}
	return -1;
}

void sim_output_open(Bool is_forked)
{
	static HChar path[VKI_PATH_MAX];
	UInt image = 0;
	output_used = 0;
	output_complained = False;
	output_lost_records = output_lost_samples = 0;
	output_fd = -1;
	if (VG_(strlen)(sim_options.stream_dir) + 32 < sizeof path)
		output_fd = output_create(path, sizeof path, &image);
	if (output_fd >= 0 && output_write_header(image) && output_write_counts(False))
		return;
	VG_(umsg)
	("cannot write a stream into '%s': %s.\n", sim_options.stream_dir,
		output_fd < 0 ? "the file cannot be created" : "the disk is full, or the file too large");
	if (!is_forked)
		VG_(exit)(1);
	VG_(umsg)("The counts and samples of process %d are lost.\n", VG_(getpid)());
	output_complained = True;
}

static void output_complain(void)
{
	if (output_complained)
		return;
	output_complained = True;
	VG_(umsg)("'%s' cannot take more records: the disk is full, or the file too large.\n", sim_options.stream_dir);
	VG_(umsg)("The program goes on; its counts stay right, samples and mappings are lost and counted.\n");
}

/* The beginning of every record in the buffer. */
struct output_head {
	UInt type;
	UShort misc, size;
};

/* Counts the records in the buffer from this offset on as lost. */
static void output_lose(UInt at)
{
	while (at < output_used) {
		const struct output_head *head = (const struct output_head *)(output_buffer + at);
		output_lost_records++;
		output_lost_samples += head->type == SIM_OUTPUT_SAMPLE;
		at += head->size;
	}
}

/* Returns the size of the complete records within the first size bytes of the buffer. */
static UInt output_whole(UInt size)
{
	UInt at = 0;
	while (at < output_used) {
		UInt next = at + ((const struct output_head *)(output_buffer + at))->size;
		if (next > size)
			break;
		at = next;
	}
	return at;
}

/* Nothing is written after the first record that could not be written: readers would not find it. */
static void output_flush_records(void)
{
	UInt whole = output_complained ? 0 : output_whole(output_write(output_end, output_buffer, output_used));
	output_end += whole;
	if (whole < output_used) {
		output_lose(whole);
		output_complain();
	}
	output_used = 0;
}

UChar *sim_output_record(UInt type, UInt misc, UInt size)
{
	struct output_head head = {type, (UShort)misc, (UShort)(size + 8)};
	tl_assert(size + 8 <= 65535 && size % 8 == 0);
	if (output_used + size + 8 > OUTPUT_BUFFER_BYTES)
		output_flush_records();
	UChar *at = output_buffer + output_used;
	VG_(memcpy)(at, &head, sizeof head);
	output_used += size + 8;
	return at + 8;
}

void sim_output_flush(Bool is_final)
{
	output_flush_records();
	if (output_fd >= 0 && !output_write_counts(is_final))
		output_complain();
}

void sim_output_keep_up(void)
{
	if (UNLIKELY(sim_raw[SIM_INSTRUCTIONS] >= output_counts_due))
		sim_output_flush(False);
}

void sim_output_leave(void)
{
	if (output_fd >= 0)
		VG_(close)(output_fd);
	output_fd = -1;
}
