/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/report_text.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "view/text/repeated_cells.h"
#include "view/text/report_cells.h"

#define CHUNK_ROWS	       128
#define ROUND_CHUNKS	       64
#define MAX_PRINTERS	       8 /* Limit of workers: each has its own memory for call graphs. */
#define REPORT_TEXT_ROWS_AHEAD 6

/* Prints the cell of a column, with the separator before it and the blanks up to the next one. */
static void print_cell(
	const struct report_layout *l, struct repeated_cells *cells, struct text *out, size_t column, uint32_t row)
{
	const char *separator = l->options->separator;
	uint64_t id;
	bool has_id = repeated_cell_id(l, column, row, &id);
	if (has_id && repeated_cells_copy(cells, column, id, out))
		return;
	size_t begin = out->len;
	if (!separator)
		text_str(out, "  ");
	else if (column)
		text_str(out, separator);
	size_t start = out->len;
	if (profile_key_get(l->columns[column])->is_value)
		report_value_cell(l, out, column, flat_table_stat(l->table, row, 0));
	else
		report_key_cell(l, out, column, &l->table->rows[row]);
	if (column + 1 < l->count)
		text_pad_from(out, start, l->widths[column]);
	report_mask_separator(l, out, column, start);
	if (has_id)
		repeated_cells_keep(cells, column, id, out, begin);
}

static void report_text_print_header(const struct report_layout *l, struct text *out)
{
	const char *separator = l->options->separator;
	if (report_has_upper_header(l)) {
		text_str(out, "# ");
		for (size_t i = 0; i < l->count; i++) {
			text_str(out, i == 0 ? "" : separator ? separator : "  ");
			report_upper_header_cell(l, out, i);
		}
		text_char(out, '\n');
	}
	text_str(out, "# ");
	for (size_t i = 0; i < l->count; i++) {
		text_str(out, i == 0 ? "" : separator ? separator : "  ");
		report_header_cell(l, out, i, l->widths[i]);
	}
	text_char(out, '\n');
	if (separator)
		return;
	text_str(out, "# ");
	for (size_t i = 0; i < l->count; i++) {
		if (i)
			text_str(out, "  ");
		text_repeat(out, '.', l->widths[i]);
	}
	text_str(out, "\n#\n");
}

struct row_printing {
	struct report_layout layout;
	const struct flat_table *table;
	const struct report_text_options *options;
	uint64_t total;
};

static void report_text_expect(const void *from, size_t bytes)
{
	__builtin_prefetch(from);
	__builtin_prefetch((const char *)from + bytes - 1);
}

/* Sorted rows are scattered in memory. The data of the next ones is prefetched in steps; each step needs the result
 * of the one before. */
static void report_text_expect_rows(const struct flat_table *t, size_t at)
{
	size_t steps = REPORT_NAME_STEPS + 1;
	if (at + steps * REPORT_TEXT_ROWS_AHEAD < t->shown_count) {
		uint32_t row = t->order[at + steps * REPORT_TEXT_ROWS_AHEAD];
		report_text_expect(&t->rows[row], sizeof(*t->rows));
		report_text_expect(flat_table_stat(t, row, 0), sizeof(struct flat_stat));
	}
	for (unsigned step = 0; step < REPORT_NAME_STEPS; step++) {
		size_t ahead = at + (REPORT_NAME_STEPS - step) * REPORT_TEXT_ROWS_AHEAD;
		if (ahead < t->shown_count)
			report_expect_name(t->profile, &t->rows[t->order[ahead]], step);
	}
	if (t->options.with_chains && at + REPORT_TEXT_ROWS_AHEAD < t->shown_count)
		__builtin_prefetch(&t->instances[t->rows[t->order[at + REPORT_TEXT_ROWS_AHEAD]].first_instance]);
}

struct row_printer { /* State of one worker. */
	struct chain_printer chains;
	struct repeated_cells cells;
};

/* Prints the row at a position of the order, and the chains below it. */
static enum tally_status print_shown(const struct row_printing *printing, struct row_printer *printer, struct text *out,
	size_t place, struct tally_error *err)
{
	const struct flat_table *table = printing->table;
	report_text_expect_rows(table, place);
	uint32_t row = table->order[place];
	const struct flat_stat *stat = flat_table_stat(table, row, 0);
	uint64_t period = table->options.with_children ? stat->children_period : stat->period;
	double percent = printing->total ? 100.0 * (double)period / (double)printing->total : 0;
	if (printing->options->percent_limit > 0 && percent < printing->options->percent_limit)
		return TALLY_OK;
	for (size_t i = 0; i < printing->layout.count; i++)
		print_cell(&printing->layout, &printer->cells, out, i, row);
	text_char(out, '\n');
	return chain_print(&printer->chains, out, row, period, err);
}

static enum tally_status print_in_turn(const struct row_printing *printing, struct text *out, struct tally_error *err)
{
	struct row_printer printer = {0};
	enum tally_status status =
		chain_printer_init(&printer.chains, printing->table, &printing->options->chains, printing->total, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < printing->table->shown_count && status == TALLY_OK; i++) {
		status = print_shown(printing, &printer, out, i, err);
		text_line_end(out);
	}
	chain_printer_deinit(&printer.chains);
	return status;
}

struct printed_round { /* The output of consecutive chunks, each in its own text. */
	struct text texts[ROUND_CHUNKS];
	size_t chunks; /* 0 if it has been written out. */
};

/* Several workers print rows, a round (up to ROUND_CHUNKS chunks of rows) at a time. Meanwhile the first worker writes
 * the previous round out, even if a slow pipe makes it wait. */
struct row_round {
	const struct row_printing *printing;
	struct row_printer *printers; /* Indexed by worker. */
	struct text *out;
	size_t first; /* Position of the first row of the round. */
	size_t chunk_rows;
	struct printed_round *round, *before;
};

/* Only the thread that began the report may write, because helpers do not get SIGPIPE. */
static void report_text_put_out(struct text *out, struct printed_round *round)
{
	for (size_t i = 0; i < round->chunks; i++) {
		struct text *text = &round->texts[i];
		out->failed = out->failed || text->failed;
		text_bytes(out, text->data, text->len);
		text_line_end(out);
		text_clear(text);
	}
	round->chunks = 0;
}

static void print_chunk(void *context, size_t index, unsigned worker)
{
	const struct row_round *round = context;
	if (worker == 0)
		report_text_put_out(round->out, round->before);
	/* A local variable: the next chunk's text is in the same cache line, and another worker writes to it. */
	struct text out = round->round->texts[index];
	size_t place = round->first + index * round->chunk_rows, shown = round->printing->table->shown_count;
	size_t end = MIN(place + round->chunk_rows, shown);
	for (; place < end; place++)
		if (print_shown(round->printing, &round->printers[worker], &out, place, NULL) != TALLY_OK)
			out.failed = true;
	round->round->texts[index] = out;
}

static void print_rounds(struct row_round *r, unsigned workers)
{
	size_t shown = r->printing->table->shown_count;
	/* The first rows have the large call graphs, so the first chunks have one row each. */
	r->chunk_rows = 1;
	while (r->first < shown && !r->out->failed) {
		size_t chunks = (shown - r->first + r->chunk_rows - 1) / r->chunk_rows;
		chunks = MIN(chunks, ROUND_CHUNKS);
		thread_pool_for(chunks, workers, print_chunk, r);
		report_text_put_out(r->out, r->before);
		struct printed_round *spare = r->before;
		r->before = r->round;
		r->before->chunks = chunks;
		r->round = spare;
		r->first += chunks * r->chunk_rows;
		r->chunk_rows = CHUNK_ROWS;
	}
	report_text_put_out(r->out, r->before);
}

static enum tally_status print_side_by_side(
	const struct row_printing *printing, unsigned workers, struct text *out, struct tally_error *err)
{
	struct printed_round *rounds = calloc(2, sizeof(*rounds));
	struct row_printer *printers = calloc(workers, sizeof(*printers));
	unsigned ready = 0;
	while (rounds && printers && ready < workers &&
		chain_printer_init(&printers[ready].chains, printing->table, &printing->options->chains,
			printing->total, NULL) == TALLY_OK)
		ready++;
	bool is_ready = ready == workers;
	struct row_round round = {.printing = printing, .printers = printers, .out = out};
	if (is_ready) {
		round.round = &rounds[0];
		round.before = &rounds[1];
		print_rounds(&round, workers);
	}
	for (unsigned i = 0; i < ready; i++)
		chain_printer_deinit(&printers[i].chains);
	for (size_t i = 0; rounds && i < ROUND_CHUNKS; i++) {
		text_deinit(&rounds[0].texts[i]);
		text_deinit(&rounds[1].texts[i]);
	}
	free(printers);
	free(rounds);
	return is_ready && !out->failed ? TALLY_OK : error_nomem(err);
}

enum tally_status report_text_rows(struct text *out, const struct flat_table *table,
	const struct report_text_options *options, struct tally_error *err)
{
	struct row_printing printing = {.layout = {.table = table, .options = options, .profile = table->profile},
		.table = table,
		.options = options};
	printing.total = report_member_total(&printing.layout, 0);
	report_layout_fit(&printing.layout);
	if (!options->is_quiet)
		report_text_print_header(&printing.layout, out);
	unsigned workers = thread_pool_workers(table->shown_count / CHUNK_ROWS, 0);
	workers = MIN(workers, MAX_PRINTERS);
	enum tally_status status =
		workers > 1 ? print_side_by_side(&printing, workers, out, err) : print_in_turn(&printing, out, err);
	if (status == TALLY_OK && out->failed)
		status = error_nomem(err);
	return status;
}

static void report_text_print_samples(struct text *out, const struct report_title *title)
{
	static const char units[] = " KMGTPE";
	uint64_t count = title->sample_count;
	size_t unit = 0;
	for (; count > 1000 && unit + 2 < sizeof(units); unit++)
		count /= 1000;
	text_str(out, "Samples: ");
	text_u64(out, count);
	text_char(out, units[unit]);
	text_str(out, title->is_group ? " of events '" : " of event '");
	text_str(out, title->event);
	text_char(out, '\'');
	if (title->has_reference)
		text_str(out, ", show reference callgraph");
	if (title->times) {
		text_str(out, " (time slices: ");
		text_str(out, title->times);
		text_char(out, ')');
	}
}

void report_text_title_line(struct text *out, const struct report_title *title)
{
	report_text_print_samples(out, title);
	text_str(out, title->sort_order ? ", Total weight: " : ", Event count (approx.): ");
	text_u64(out, title->total_period);
}

void report_text_title(struct text *out, const struct report_title *title)
{
	text_str(out, "# ");
	report_text_print_samples(out, title);
	text_str(out, title->sort_order ? "\n# Total weight : " : "\n# Event count (approx.): ");
	text_u64(out, title->total_period);
	if (title->sort_order) {
		text_str(out, "\n# Sort order   : ");
		text_str(out, title->sort_order);
	}
	if (title->socket) {
		text_str(out, "\n# Processor Socket: ");
		text_u64(out, *title->socket);
	}
	text_str(out, "\n#\n");
}
