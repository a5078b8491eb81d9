/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/tally_sample.h"

#include "base/error.h"
#include "kernel/events/attr_bytes.h"

#define BRANCH_WORDS 3

/* Returns the words if they are aligned for a program to load; otherwise *is_good becomes false. */
static const uint64_t *words_of(const struct sample_array *array, bool *is_good)
{
	if (array->count == 0)
		return NULL;
	*is_good &= (uintptr_t)array->data % sizeof(uint64_t) == 0;
	return (const uint64_t *)(const void *)array->data;
}

static struct tally_registers registers_of(const struct sample_regs *regs, bool *is_good)
{
	return (struct tally_registers){regs->abi, regs->mask, words_of(&regs->values, is_good), regs->values.count};
}

static struct tally_slice slice_of(struct tally_bytes bytes)
{
	return (struct tally_slice){bytes.data, bytes.len};
}

static void present_reading(const struct read_values *from, struct tally_sample *to)
{
	to->read_format = from->format;
	to->reading.count = (size_t)from->count;
	to->reading.enabled_ns = from->time_enabled;
	to->reading.running_ns = from->time_running;
	to->reading.first.value = from->single;
	to->readings = (struct tally_slice){from->entries, (size_t)from->count * from->entry_bytes};
	if (from->count)
		to->reading.first = tally_sample_reading(to, 0);
}

enum tally_status sample_present(const struct record_layout *layout, const struct record *record,
	struct tally_sample *sample, struct tally_error *err)
{
	struct sample s;
	bool is_good = true;
	enum tally_status status = sample_decode(layout, record, &s, err);
	if (status != TALLY_OK)
		return status;
	struct tally_sample made = {
		.present = s.present,
		.ip = s.ip,
		.time_ns = s.time,
		.period = s.period,
		.pid = (pid_t)s.pid,
		.tid = (pid_t)s.tid,
		.cpu = s.cpu,
		.is_kernel = (record->misc & MISC_CPUMODE_MASK) == MISC_CPUMODE_KERNEL,
		.misc = record->misc,
		.address = s.addr,
		.physical_address = s.phys_addr,
		.id = s.id,
		.stream_id = s.stream_id,
		.cgroup = s.cgroup,
		.weight = s.weight,
		.data_source = s.data_src,
		.transaction = s.transaction,
		.data_page_bytes = s.data_page_size,
		.code_page_bytes = s.code_page_size,
		.callchain = words_of(&s.callchain, &is_good),
		.callchain_count = s.callchain.count,
		.branches = (const void *)words_of(&s.branches.entries, &is_good),
		.branch_count = s.branches.entries.count / BRANCH_WORDS,
		.user_registers = registers_of(&s.regs_user, &is_good),
		.interrupted_registers = registers_of(&s.regs_intr, &is_good),
		.user_stack = {s.stack_user.bytes.data, (size_t)s.stack_user.dyn_size},
		.raw = slice_of(s.raw),
		.aux = slice_of(s.aux),
	};
	if (s.present & SAMPLE_READ)
		present_reading(&s.read, &made);
	if (!is_good)
		return error_set(err, TALLY_CORRUPT, "a sample is not aligned to 8 bytes");
	*sample = made;
	return TALLY_OK;
}

enum tally_status tally_sample_decode(
	const void *bytes, const struct tally_record *given, struct tally_sample *sample, struct tally_error *err)
{
	struct perf_attr attr;
	struct record record;
	if (given->type != RECORD_SAMPLE)
		return error_set(err, TALLY_INVALID, "a record of type %u is not a sample", given->type);
	enum tally_status status = attr_from_bytes(bytes, &attr, err);
	if (status == TALLY_OK)
		status = record_at(tally_record_inside(given).bytes, false, 0, &record, err);
	if (status != TALLY_OK)
		return status;
	struct record_layout layout = record_layout_make(&attr, false);
	return sample_present(&layout, &record, sample, err);
}

struct tally_reading_value tally_sample_reading(const struct tally_sample *sample, size_t index)
{
	if (index >= sample->reading.count)
		return (struct tally_reading_value){0};
	struct read_values values = {
		.format = sample->read_format,
		.single = sample->reading.first.value,
		.entries = sample->readings.bytes,
		.entry_bytes = (uint32_t)(sample->readings.len / sample->reading.count),
	};
	struct read_value got = read_value_get(&values, index);
	return (struct tally_reading_value){got.value, got.id, got.lost};
}
