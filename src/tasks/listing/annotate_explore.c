/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/visible.h"
#include "tasks/listing/annotate_data.h"
#include "tasks/terminal/tui_print.h"
#include "view/tui/annotate_draw.h"

#define MAX_ENTERED 100 /* Maximum number of nested calls, because each keeps a function in memory. */
#define NO_RANK	    SIZE_MAX

struct annotate_explore_opened {
	const struct annotate_target *target;
	struct annotate_listing listing;
	struct annotate_screen screen;
};

struct exploring {
	struct annotate_explore *request;
	uint32_t first_event, event_count; /* The events that are shown. */
	struct annotate_source source;
	struct text events;
	const struct annotate_ranked *ranked;
	/* Functions that were entered one from another; the last one is shown. */
	struct annotate_explore_opened *opened;
	size_t depth;
};

/* Sets the events whose counts and ranking are shown. */
static bool choose_events(struct exploring *x, uint32_t first_event, uint32_t event_count)
{
	size_t count;
	struct annotate_samples *samples = x->request->samples;
	const struct perfdata_event *events = perfdata_reader_events(samples->source.reader, &count);
	struct text names = {0};
	for (uint32_t i = first_event; i < first_event + event_count && i < count; i++) {
		text_str(&names, i > first_event ? ", " : "");
		text_bytes(&names, events[i].name.data, events[i].name.len);
	}
	text_char(&names, 0);
	const struct annotate_ranked *ranked = annotate_samples_rank(samples, first_event, event_count);
	if (names.failed || !ranked) {
		text_deinit(&names);
		return false;
	}
	text_deinit(&x->events);
	x->events = names;
	x->ranked = ranked;
	x->first_event = first_event;
	x->event_count = event_count;
	return true;
}

static struct annotate_explore_opened *annotate_explore_shown(struct exploring *x)
{
	return &x->opened[x->depth - 1];
}

static enum tally_status open_function(struct exploring *x, const struct annotate_target *target,
	struct annotate_explore_opened *opened, struct tally_error *err)
{
	const struct annotate_explore *r = x->request;
	const struct annotate_settings *settings =
		x->depth ? &annotate_explore_shown(x)->screen.settings : &r->settings;
	struct annotate_listing_options options = {.objdump = r->objdump,
		.style = r->style,
		.is_intel = r->is_intel,
		.with_source = true,
		.first_event = x->first_event,
		.event_count = x->event_count,
		.percent = settings->percent};
	struct annotate_explore_opened made = {.target = target};
	enum tally_status status = annotate_listing_make(&made.listing, r->samples, target, &x->source, &options, err);
	if (status == TALLY_OK && settings->shows_types)
		status = annotate_data_add(&made.listing, r->samples, target, true, err);
	if (status == TALLY_OK) {
		const char *events = arena_string(&made.listing.arena, x->events.data, x->events.len - 1);
		made.listing.function.event_name = events ? events : "";
		*opened = made;
		status = annotate_screen_init(&opened->screen, &opened->listing.function, settings, err);
	}
	if (status != TALLY_OK)
		annotate_listing_deinit(&made.listing);
	return status;
}

static void close_function(struct exploring *x)
{
	struct annotate_explore_opened *last = annotate_explore_shown(x);
	annotate_screen_deinit(&last->screen);
	annotate_listing_deinit(&last->listing);
	x->depth--;
}

/* Returns an error only if memory runs out; missing code is reported on the screen. */
static enum tally_status annotate_explore_enter(
	struct exploring *x, const struct annotate_target *target, struct tally_error *err)
{
	struct annotate_screen *from = &annotate_explore_shown(x)->screen;
	struct tally_error why = {0};
	if (x->depth == MAX_ENTERED) {
		tui_frame_say(&from->frame, "at most %d calls can be followed: q goes back", MAX_ENTERED);
		return TALLY_OK;
	}
	enum tally_status status = open_function(x, target, &x->opened[x->depth], &why);
	if (status == TALLY_OK)
		x->depth++;
	else if (status == TALLY_NOMEM)
		return error_nomem(err);
	else
		tui_frame_say(&from->frame, "%s: %s", target->frame->symbol, why.text);
	return TALLY_OK;
}

static const struct annotate_target *target_of_symbol(
	const struct annotate_samples *samples, const struct symbol *symbol)
{
	uint64_t id;
	if (!map_u64_find(&samples->target_ids, (uint64_t)(uintptr_t)symbol, &id) || id >= samples->targets.len)
		return NULL;
	return samples->targets.items[id];
}

/* Makes a target for a function without samples. */
static const struct annotate_target *make_target(
	struct annotate_samples *samples, uint32_t store_id, const struct symbol *symbol, struct tally_str path)
{
	struct annotate_target *target = arena_new(&samples->arena, struct annotate_target);
	struct annotate_sum *sums = arena_array(&samples->arena, struct annotate_sum, samples->event_count);
	struct frame_name *name = arena_new(&samples->arena, struct frame_name);
	if (!target || !sums || !name)
		return NULL;
	*name = (struct frame_name){
		.symbol = binary_store_display_name(samples->source.store, symbol, &samples->arena), .path = path};
	memset(sums, 0, samples->event_count * sizeof(*sums));
	*target = (struct annotate_target){.store_id = store_id, .symbol = symbol, .frame = name, .sums = sums};
	return target;
}

static const struct annotate_target *target_named(const struct annotate_samples *samples, struct tally_str name)
{
	for (size_t i = 0; i < samples->targets.len; i++)
		if (str_equal(str_from(samples->targets.items[i]->frame->symbol), name))
			return samples->targets.items[i];
	return NULL;
}

static enum tally_status enter_call(struct exploring *x, struct tally_error *err)
{
	struct annotate_explore_opened *from = annotate_explore_shown(x);
	struct annotate_samples *samples = x->request->samples;
	struct binary_store *store = samples->source.store;
	uint32_t id = from->target->store_id;
	uint64_t address = from->screen.callee;
	uint64_t stored = address - from->listing.code.address + from->target->symbol->start;
	struct binary_name name = {0};
	bool has_name = binary_store_name_at(store, id, address, &name);
	const struct annotate_target *target = NULL;
	if (has_name && name.is_plt) {
		const char *readable = binary_store_readable(store, name.name, &samples->arena);
		target = target_named(samples, str_from(readable));
		if (!target) {
			tui_frame_say(
				&from->screen.frame, "%.100s is in another file, and no samples fell on it", readable);
			return TALLY_OK;
		}
		return annotate_explore_enter(x, target, err);
	}
	const struct symbol *symbol = binary_store_find(store, id, stored);
	if (!symbol) {
		tui_frame_say(&from->screen.frame, "no function is known at the target");
		return TALLY_OK;
	}
	target = target_of_symbol(samples, symbol);
	if (!target)
		target = make_target(samples, id, symbol, from->target->frame->path);
	return target ? annotate_explore_enter(x, target, err) : error_nomem(err);
}

static size_t annotate_explore_rank_of(const struct exploring *x, const struct annotate_target *target)
{
	for (size_t i = 0; i < x->request->samples->targets.len; i++)
		if (x->ranked[i].target == target)
			return i;
	return NO_RANK;
}

static void annotate_explore_replace(struct exploring *x, const struct annotate_explore_opened *made)
{
	close_function(x);
	struct annotate_explore_opened *place = &x->opened[x->depth++];
	*place = *made;
	place->screen.function = &place->listing.function;
}

/* Lists the function again with the current settings; the cursor stays at its instruction. */
static enum tally_status show_again(struct exploring *x, struct tally_error *err)
{
	const struct annotate_line *line = annotate_screen_line(&annotate_explore_shown(x)->screen);
	uint64_t address = line ? line->address : 0;
	struct annotate_explore_opened made;
	if (open_function(x, annotate_explore_shown(x)->target, &made, NULL) != TALLY_OK)
		return error_nomem(err);
	annotate_explore_replace(x, &made);
	annotate_screen_go(&annotate_explore_shown(x)->screen, address);
	return TALLY_OK;
}

/* Switches between all events and those of the request. The functions from which this one was entered keep the events
 * that they were opened with. */
static enum tally_status switch_events(struct exploring *x, struct tally_error *err)
{
	const struct annotate_explore *r = x->request;
	bool is_all = x->event_count == r->samples->event_count;
	if (r->samples->event_count < 2) {
		tui_frame_say(&annotate_explore_shown(x)->screen.frame, "the recording has one event");
		return TALLY_OK;
	}
	if (!choose_events(x, is_all ? r->first_event : 0, is_all ? r->event_count : (uint32_t)r->samples->event_count))
		return error_nomem(err);
	return show_again(x, err);
}

static bool has_types(const struct annotate_explore_opened *opened)
{
	for (size_t i = 0; i < opened->listing.lines.len; i++)
		if (opened->listing.lines.items[i].has_type)
			return true;
	return false;
}

static enum tally_status switch_types(struct exploring *x, struct tally_error *err)
{
	enum tally_status status = show_again(x, err);
	if (status == TALLY_OK && annotate_explore_shown(x)->screen.settings.shows_types &&
		!has_types(annotate_explore_shown(x)))
		tui_frame_say(&annotate_explore_shown(x)->screen.frame,
			"no data types are known here: they come from debug information");
	return status;
}

static enum tally_status show_neighbour(struct exploring *x, bool is_next, struct tally_error *err)
{
	struct annotate_screen *screen = &annotate_explore_shown(x)->screen;
	size_t count = x->request->samples->targets.len,
	       rank = annotate_explore_rank_of(x, annotate_explore_shown(x)->target);
	struct tally_error why;
	for (;;) {
		if (rank == NO_RANK || (is_next ? rank + 1 >= count : rank == 0)) {
			tui_frame_say(&screen->frame, rank == NO_RANK ? "no samples fell on this function"
						      : is_next	      ? "this is the coldest function"
								      : "this is the hottest function");
			return TALLY_OK;
		}
		rank = is_next ? rank + 1 : rank - 1;
		if (!x->ranked[rank].period)
			continue;
		struct annotate_explore_opened made;
		enum tally_status status = open_function(x, x->ranked[rank].target, &made, &why);
		if (status == TALLY_NOMEM)
			return error_nomem(err);
		if (status != TALLY_OK)
			continue; /* A function without code is skipped. */
		annotate_explore_replace(x, &made);
		return TALLY_OK;
	}
}

static enum tally_status annotate_explore_open_first(
	struct exploring *x, const struct annotate_target *target, struct tally_error *err)
{
	size_t count = x->request->samples->targets.len;
	enum tally_status status = target ? open_function(x, target, x->opened, err)
					  : error_set(err, TALLY_NOT_FOUND, "no samples fell on a function");
	for (size_t i = 0; !target && i < count && x->ranked[i].period; i++) {
		status = open_function(x, x->ranked[i].target, x->opened, err);
		if (status == TALLY_OK || status == TALLY_NOMEM)
			break;
	}
	if (status == TALLY_OK)
		x->depth = 1;
	return status;
}

/* ---- Refreshed samples ---- */

struct kept_target { /* Identifies a function when its samples are replaced. */
	uint32_t store_id;
	const struct symbol *symbol;
	uint64_t start;
	char *name;
	struct text path;
};

static bool keep_target(const struct annotate_target *target, struct kept_target *kept)
{
	*kept = (struct kept_target){.store_id = target->store_id,
		.symbol = target->symbol,
		.start = target->symbol->start,
		.name = strdup(target->frame->symbol)};
	text_bytes(&kept->path, target->frame->path.data, target->frame->path.len);
	return kept->name && !kept->path.failed;
}

static void drop_target(struct kept_target *kept)
{
	free(kept->name);
	text_deinit(&kept->path);
}

/* Finds the function even if it has no samples any more, as long as the store is the same. */
static const struct annotate_target *find_again(
	struct annotate_samples *samples, const struct kept_target *kept, bool is_same_store)
{
	struct tally_str path = {kept->path.data, kept->path.len};
	const struct annotate_target *target = annotate_explore_find(samples, str_from(kept->name), path, kept->start);
	const char *copy = target || !is_same_store ? NULL : arena_string(&samples->arena, path.data, path.len);
	return copy ? make_target(samples, kept->store_id, kept->symbol, (struct tally_str){copy, path.len}) : target;
}

/* Replaces the listing by one with the current samples; the screen keeps its position and settings. */
static enum tally_status renew_function(struct exploring *x, struct annotate_explore_opened *opened,
	const struct annotate_target *target, struct tally_error *err)
{
	struct annotate_listing old = opened->listing;
	struct annotate_explore_opened made;
	enum tally_status status = open_function(x, target, &made, err);
	if (status != TALLY_OK)
		return status;
	opened->target = target;
	opened->listing = made.listing;
	annotate_screen_deinit(&made.screen);
	opened->screen.function = &old.function;
	status = annotate_screen_renew(&opened->screen, &opened->listing.function, err);
	annotate_listing_deinit(&old);
	return status;
}

static enum tally_status renew_functions(
	struct exploring *x, struct kept_target *kept, bool is_same_store, struct tally_error *err)
{
	if (!choose_events(x, x->first_event, x->event_count))
		return error_nomem(err);
	for (size_t i = 0; i < x->depth; i++) {
		const struct annotate_target *target = find_again(x->request->samples, &kept[i], is_same_store);
		if (!target)
			return error_set(err, TALLY_NOT_FOUND, "the program of %s has ended", kept[i].name);
		enum tally_status status = renew_function(x, &x->opened[i], target, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

static enum tally_status begin_anew(struct exploring *x, struct tally_error *err)
{
	struct annotate_explore *r = x->request;
	r->begins_anew = false;
	while (x->depth)
		close_function(x);
	return choose_events(x, r->first_event, r->event_count) ? annotate_explore_open_first(x, NULL, err)
								: error_nomem(err);
}

static enum tally_status annotate_explore_renew(struct exploring *x, struct tally_error *err)
{
	struct annotate_explore *r = x->request;
	struct annotate_samples *samples = NULL;
	const struct binary_store *store = r->samples->source.store;
	struct kept_target *kept = calloc(x->depth, sizeof(*kept));
	size_t depth = x->depth, count = 0;
	while (kept && count < depth && keep_target(x->opened[count].target, &kept[count]))
		count++;
	enum tally_status status = count == depth ? r->renew(r->data, &samples, err) : error_nomem(err);
	bool is_changed = status == TALLY_OK && samples != NULL;
	if (is_changed) {
		r->samples = samples;
		status = r->begins_anew ? begin_anew(x, err)
					: renew_functions(x, kept, samples->source.store == store, err);
	}
	for (size_t i = 0; kept && i < depth; i++)
		drop_target(&kept[i]);
	free(kept);
	return status;
}

static void print_screen(void *data, struct text *out)
{
	annotate_screen_print(data, out);
}

static void annotate_explore_print_function(struct annotate_screen *s)
{
	char base[TUI_MESSAGE_BYTES];
	snprintf(base, sizeof(base), "%.80s.annotation", s->function->name);
	tui_print(&(struct tui_printed){.base = base, .print = print_screen, .data = s}, s->frame.message,
		sizeof(s->frame.message));
}

static enum tally_status annotate_explore_draw(struct exploring *x, struct tally_error *err)
{
	unsigned rows, columns;
	struct annotate_screen *s = &annotate_explore_shown(x)->screen;
	tui_terminal_size(x->request->terminal, &rows, &columns);
	annotate_screen_resize(s, rows, columns);
	bool tells = x->request->tell && !s->frame.message[0];
	if (tells)
		x->request->tell(x->request->data, s->frame.message, sizeof(s->frame.message));
	bool is_drawn = annotate_draw(s, x->request->grid);
	if (tells)
		s->frame.message[0] = '\0';
	if (!is_drawn)
		return error_nomem(err);
	tui_terminal_show(x->request->terminal, x->request->grid);
	return TALLY_OK;
}

/* Returns to the calling function; the current settings are applied there, too. */
static void go_back(struct exploring *x)
{
	struct annotate_settings settings = annotate_explore_shown(x)->screen.settings;
	close_function(x);
	if (x->depth == 0) {
		x->request->settings = settings;
		return;
	}
	annotate_explore_shown(x)->screen.settings = settings;
	annotate_screen_update(&annotate_explore_shown(x)->screen);
}

static enum tally_status annotate_explore_take_key(
	struct exploring *x, uint32_t key, bool *leaves, struct tally_error *err)
{
	switch (annotate_screen_key(&annotate_explore_shown(x)->screen, key)) {
	case ANNOTATE_STAY:
		break;
	case ANNOTATE_LEAVE:
		*leaves = true;
		break;
	case ANNOTATE_BACK:
		go_back(x);
		break;
	case ANNOTATE_RETURNS:
		if (x->depth > 1)
			go_back(x);
		else
			tui_frame_say(&annotate_explore_shown(x)->screen.frame, "this function was not entered by a "
										"call: q goes back");
		break;
	case ANNOTATE_CALLS:
		return enter_call(x, err);
	case ANNOTATE_NEXT:
	case ANNOTATE_PREVIOUS:
		return show_neighbour(x, key == '>', err);
	case ANNOTATE_EVENTS:
		return switch_events(x, err);
	case ANNOTATE_TYPES:
		return switch_types(x, err);
	case ANNOTATE_PRINTS:
		annotate_explore_print_function(&annotate_explore_shown(x)->screen);
		break;
	}
	return TALLY_OK;
}

enum tally_status annotate_explore(
	struct annotate_explore *request, const struct annotate_target *target, bool *leaves, struct tally_error *err)
{
	struct exploring x = {
		.request = request, .opened = calloc(MAX_ENTERED, sizeof(struct annotate_explore_opened))};
	*leaves = false;
	annotate_source_init(&x.source, request->prefix, request->strip);
	bool is_ready = x.opened && choose_events(&x, request->first_event, request->event_count);
	enum tally_status status = is_ready ? annotate_explore_open_first(&x, target, err) : error_nomem(err);
	while (status == TALLY_OK && x.depth && !*leaves) {
		status = annotate_explore_draw(&x, err);
		if (status != TALLY_OK)
			break;
		uint32_t key = request->key ? request->key(request->data) : tui_terminal_key(request->terminal);
		if (key == TUI_KEY_CTRL('l'))
			tui_terminal_redraw(request->terminal);
		status = key == TUI_KEY_NONE && request->renew ? annotate_explore_renew(&x, err)
							       : annotate_explore_take_key(&x, key, leaves, err);
	}
	while (x.depth)
		close_function(&x);
	annotate_source_deinit(&x.source);
	text_deinit(&x.events);
	free(x.opened);
	return status;
}

const struct annotate_target *annotate_explore_find(
	struct annotate_samples *samples, struct tally_str symbol, struct tally_str path, uint64_t start)
{
	struct frame_names *names = &samples->source.names;
	for (size_t i = 0; i < samples->targets.len; i++) {
		const struct annotate_target *target = samples->targets.items[i];
		if (target->symbol->start == start && str_equal(target->frame->path, path) &&
			str_equal(str_from(target->frame->symbol), symbol))
			return target;
	}
	for (size_t i = 0; i < machine_binary_count(names->machine); i++) {
		const struct machine_binary *binary = machine_binary_get(names->machine, (uint32_t)i);
		uint32_t id;
		struct tally_str shown = visible_str(&samples->arena, machine_string(names->machine, binary->path));
		if (!shown.data || !str_equal(shown, path) ||
			frame_names_store_id(names, (uint32_t)i, &id, NULL) != TALLY_OK || id == RESOLVE_NONE)
			continue;
		const struct symbol *found = binary_store_find(samples->source.store, id, start);
		if (found && found->start == start)
			return make_target(samples, id, found, shown);
	}
	return NULL;
}
