/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/export/export_code.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/store_entry.h"
#include "base/error.h"
#include "tasks/listing/annotate_listing.h"
#include "view/html/page_code.h"

#define FROM_PERCENT	   0.5 /* Functions with a smaller share of an event have no listing. */
#define EXPORT_CODE_LISTED 0 /* Marks a function that needs a listing until the listing is made. */

struct coding {
	const struct export_run *run;
	struct export_code *code;
	struct annotate_samples samples; /* Contains no samples, only the run's reader and store. */
	struct annotate_source source;
	struct annotate_sum nothing;
	uint32_t count; /* Number of listings. */
};

static uint32_t export_code_function_of(const struct profile *p, const struct profile_sample *sample)
{
	return p->frames[sample->leaf].function;
}

/* Marks the functions that have a sufficient share of the samples from first to end, which are of one event. */
static void mark_hot(const struct coding *c, uint64_t *sums, size_t first, size_t end)
{
	const struct export_view *view = &c->run->view;
	uint64_t whole = 0;
	for (size_t i = first; i < end; i++) {
		const struct profile_sample *sample = &view->profile->samples[i];
		uint32_t function = export_code_function_of(view->profile, sample);
		if (!export_wants(view, sample))
			continue;
		whole += sample->period;
		if (function != PROFILE_NONE)
			sums[function] += sample->period;
	}
	for (size_t i = first; i < end; i++) {
		uint32_t function = export_code_function_of(view->profile, &view->profile->samples[i]);
		if (function == PROFILE_NONE || sums[function] == 0)
			continue;
		if (100.0 * (double)sums[function] >= FROM_PERCENT * (double)whole)
			c->code->listing_of_function[function] = EXPORT_CODE_LISTED;
		sums[function] = 0;
	}
}

static bool export_code_choose(const struct coding *c)
{
	const struct profile *p = c->run->view.profile;
	uint64_t *sums = calloc(p->function_count + 1, sizeof(*sums));
	size_t end = 0;
	for (size_t first = 0; sums && first < p->sample_count; first = end) {
		while (end < p->sample_count && p->samples[end].event == p->samples[first].event)
			end++;
		mark_hot(c, sums, first, end);
	}
	free(sums);
	return sums != NULL;
}

/* Returns the function's symbol and its file in the store, or NULL if it belongs to no file. */
static const struct symbol *export_code_find_symbol(const struct coding *c, uint32_t function, uint32_t *store_id)
{
	const struct profile_function *from = &c->run->view.profile->functions[function];
	if (from->is_inlined || from->binary >= c->run->result.machine_binaries.len)
		return NULL;
	uint32_t binary = c->run->result.machine_binaries.items[from->binary];
	if (store_entry_id(c->run->result.machine, c->run->source.store, binary, store_id, NULL) != TALLY_OK ||
		*store_id == STORE_ENTRY_NONE)
		return NULL;
	const struct symbol *symbol = binary_store_find(c->run->source.store, *store_id, from->start);
	return symbol && symbol->start == from->start ? symbol : NULL;
}

/* A function without code is not an error; the page shows that its code is missing. */
static enum tally_status add_listing(struct coding *c, uint32_t function, struct tally_error *err)
{
	const struct profile *p = c->run->view.profile;
	const struct annotate_listing_options options = {.with_source = true, .event_count = 1};
	struct annotate_listing listing;
	uint32_t store_id;
	const struct symbol *symbol = export_code_find_symbol(c, function, &store_id);
	c->code->listing_of_function[function] = PROFILE_NONE;
	if (!symbol)
		return TALLY_OK;
	const struct frame_name name = {.symbol = profile_string(p, p->functions[function].name).data,
		.path = profile_string(p, p->binaries[p->functions[function].binary].long_name)};
	const struct annotate_target target = {
		.store_id = store_id, .symbol = symbol, .frame = &name, .sums = &c->nothing};
	enum tally_status status = annotate_listing_make(&listing, &c->samples, &target, &c->source, &options, NULL);
	if (status == TALLY_OK) {
		text_str(&c->code->listings, c->count ? ",\n" : "\n");
		page_code_function(&c->code->listings, &listing.function);
		c->code->listing_of_function[function] = c->count++;
	}
	annotate_listing_deinit(&listing);
	return status == TALLY_NOMEM ? error_nomem(err) : TALLY_OK;
}

enum tally_status export_code_make(struct export_code *code, const struct export_run *run, struct tally_error *err)
{
	size_t count = run->view.profile->function_count;
	struct coding c = {.run = run, .code = code};
	*code = (struct export_code){0};
	code->listing_of_function = malloc((count + 1) * sizeof(*code->listing_of_function));
	if (!code->listing_of_function)
		return error_nomem(err);
	memset(code->listing_of_function, 0xff, (count + 1) * sizeof(*code->listing_of_function));
	c.samples.source.reader = run->source.reader;
	c.samples.source.store = run->source.store;
	c.samples.events = &c.nothing;
	annotate_source_init(&c.source, NULL, 0);
	enum tally_status status = export_code_choose(&c) ? TALLY_OK : error_nomem(err);
	for (uint32_t i = 0; i < count && status == TALLY_OK; i++)
		if (code->listing_of_function[i] == EXPORT_CODE_LISTED)
			status = add_listing(&c, i, err);
	annotate_source_tell(&c.source, "tally");
	annotate_source_deinit(&c.source);
	return status == TALLY_OK && code->listings.failed ? error_nomem(err) : status;
}

void export_code_deinit(struct export_code *code)
{
	text_deinit(&code->listings);
	free(code->listing_of_function);
	*code = (struct export_code){0};
}
