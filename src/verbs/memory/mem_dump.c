/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/memory/mem_dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/script_values.h"

static enum tally_status mem_dump_check_events(const struct data_source *source, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(source->reader, &count);
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.sample_type & SAMPLE_DATA_SRC)
			return TALLY_OK;
	return error_set(
		err, TALLY_INVALID, "mem -D needs data sources, and this recording has none: was it made without -d?");
}

static enum tally_status mem_dump_print_sample(struct data_source *source, const struct mem_dump *dump,
	const struct data_sample *s, struct text *out, struct tally_error *err)
{
	const struct sample *sample = &s->sample;
	const char *sep = dump->separator ? dump->separator : " ";
	struct resolve_where where = resolver_where(&source->pass.resolver, (int32_t)sample->pid, s->clock);
	uint32_t frame = resolver_frame(&source->pass.resolver, &where, s->record.misc & MISC_CPUMODE_MASK, sample->ip);
	struct frame_name *name = source->pass.resolver.failed ? NULL : frame_names_get(&source->names, frame, err);
	bool is_struct = (s->event->attr.sample_type & SAMPLE_WEIGHT_STRUCT) != 0;
	if (!name)
		return error_nomem(err);
	if (dump->hides_unresolved && !name->symbol)
		return TALLY_OK;
	bool is_mapped = resolved_frame_get(&source->pass.resolver.frames, frame).binary != RESOLVE_NONE;
	text_printf(out, "%d%s%d%s0x%" PRIx64 "%s0x%" PRIx64 "%s", (int)sample->pid, sep, (int)sample->tid, sep,
		sample->ip, sep, sample->addr, sep);
	if (dump->with_physical)
		text_printf(out, "0x%016" PRIx64 "%s", sample->phys_addr, sep);
	if (dump->with_data_pages) {
		script_print_page_size(out, sample->data_page_size);
		text_str(out, sep);
	}
	text_printf(out, "%" PRIu64 "%s0x%" PRIx64 "%s", is_struct ? (uint32_t)sample->weight : sample->weight, sep,
		sample->data_src, sep);
	size_t start = out->len;
	text_printf(out, "%.*s:%s", is_mapped ? (int)name->path.len : 3, is_mapped ? name->path.data : "???",
		name->symbol ? name->symbol : "???");
	text_mask_from(out, start, dump->separator);
	text_char(out, '\n');
	return TALLY_OK;
}

static enum tally_status mem_dump_print_all(
	struct data_source *source, const struct mem_dump *dump, struct text *out, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status = mem_dump_check_events(source, err);
	if (status == TALLY_OK) {
		text_str(out, "# PID, TID, IP, ADDR, ");
		text_str(out, dump->with_physical ? "PHYS ADDR, " : "");
		text_str(out, dump->with_data_pages ? "DATA PAGE SIZE, " : "");
		text_str(out, "LOCAL WEIGHT, DSRC, SYMBOL\n");
	}
	while (status == TALLY_OK) {
		status = data_source_next(source, &sample, err);
		if (status == TALLY_OK && sample.event->attr.sample_type & SAMPLE_DATA_SRC)
			status = mem_dump_print_sample(source, dump, &sample, out, err);
	}
	return status == TALLY_END ? TALLY_OK : status;
}

enum tally_status mem_dump(
	const struct cli *cli, const struct mem_dump *dump, struct text *out, struct tally_error *err)
{
	struct data_source source = {0};
	enum tally_status status = data_source_open(cli, &dump->input, &source, err);
	if (status == TALLY_OK)
		status = mem_dump_print_all(&source, dump, out, err);
	if (source.reader)
		cli_print_health(cli, &source.pass.sideband.health);
	data_source_close(&source);
	return status;
}
