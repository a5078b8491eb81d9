/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/order.h"
#include "view/export/firefox_writer.h"

static void firefox_thread_put_address(struct firefox *w, uint32_t frame)
{
	const struct profile_frame *f = firefox_frame(w, frame);
	if (f->binary == PROFILE_NONE) {
		text_str(w->out, "-1");
		return;
	}
	uint64_t base = w->base_of_binary[f->binary];
	text_u64(w->out, base != UINT64_MAX && f->address >= base ? f->address - base : f->address);
}

static uint32_t firefox_thread_symbol_of(struct firefox *w, uint32_t frame)
{
	const struct profile_frame *f = firefox_frame(w, frame);
	if (f->function == PROFILE_NONE || f->binary == PROFILE_NONE || firefox_is_inlined(w, frame))
		return UINT32_MAX;
	return firefox_local_id(w, &w->symbols, f->function);
}

static const struct stack_node *firefox_thread_node(const struct firefox *w, uint32_t id)
{
	return &w->tables.nodes.items[id % w->tables.nodes.len];
}

/* The stack of a wait gets the category of the thread's state, which Firefox draws as idle. */
static uint32_t firefox_thread_node_of(const struct firefox *w, const struct profile_row *row)
{
	enum profile_state state = export_state(w->view->profile, &w->view->profile->samples[row->sample]);
	uint32_t node = w->tables.node_of_sample[row->sample];
	bool is_wait = w->has_states && state != PROFILE_STATE_RUNNING && state < PROFILE_STATES;
	return is_wait ? node + (uint32_t)state * (uint32_t)w->tables.nodes.len : node;
}

static unsigned firefox_thread_category(const struct firefox *w, uint32_t id)
{
	unsigned state = id / (uint32_t)w->tables.nodes.len;
	return state ? FIREFOX_CATEGORY_WAITS + state : w->frames[firefox_thread_node(w, id)->frame].category;
}

static void firefox_thread_add_stacks(struct firefox *w)
{
	const uint32_t *nodes = w->nodes.items.items;
	size_t count = w->nodes.items.len;
	text_printf(w->out, ",\n\"stackTable\":{\"length\":%zu", count);
	FIREFOX_COLUMN(w, "prefix", count,
		firefox_put_id(w->out, firefox_thread_node(w, nodes[at])->parent == PROFILE_NONE
					       ? UINT32_MAX
					       : w->nodes.local[firefox_thread_node(w, nodes[at])->parent]));
	FIREFOX_COLUMN(w, "frame", count,
		text_u64(w->out, firefox_local_id(w, &w->used_frames, firefox_thread_node(w, nodes[at])->frame)));
	FIREFOX_COLUMN(w, "category", count, text_u64(w->out, firefox_thread_category(w, nodes[at])));
	FIREFOX_COLUMN(w, "subcategory", count, text_char(w->out, '0'));
	text_char(w->out, '}');
}

static void firefox_thread_add_frames(struct firefox *w)
{
	const uint32_t *frames = w->used_frames.items.items;
	size_t count = w->used_frames.items.len;
	text_printf(w->out, ",\n\"frameTable\":{\"length\":%zu", count);
	FIREFOX_COLUMN(w, "address", count, firefox_thread_put_address(w, frames[at]));
	FIREFOX_COLUMN(w, "inlineDepth", count, text_u64(w->out, w->frames[frames[at]].inline_depth));
	FIREFOX_COLUMN(w, "category", count, text_u64(w->out, w->frames[frames[at]].category));
	FIREFOX_COLUMN(w, "subcategory", count, text_char(w->out, '0'));
	FIREFOX_COLUMN(w, "func", count,
		text_u64(w->out, firefox_local_id(w, &w->used_functions, w->frames[frames[at]].function)));
	FIREFOX_COLUMN(w, "nativeSymbol", count, firefox_put_id(w->out, firefox_thread_symbol_of(w, frames[at])));
	FIREFOX_COLUMN(w, "innerWindowID", count, text_char(w->out, '0'));
	FIREFOX_COLUMN(w, "implementation", count, text_str(w->out, "null"));
	FIREFOX_COLUMN(w, "line", count,
		firefox_put_id(w->out, w->frames[frames[at]].line ? w->frames[frames[at]].line : UINT32_MAX));
	FIREFOX_COLUMN(w, "column", count, text_str(w->out, "null"));
	text_char(w->out, '}');
}

static void firefox_thread_add_functions(struct firefox *w)
{
	const uint32_t *ids = w->used_functions.items.items;
	const struct whole_function *all = w->functions.items;
	size_t count = w->used_functions.items.len;
	text_printf(w->out, ",\n\"funcTable\":{\"length\":%zu", count);
	FIREFOX_COLUMN(w, "name", count, text_u64(w->out, firefox_local_id(w, &w->texts, all[ids[at]].name)));
	FIREFOX_COLUMN(w, "isJS", count, text_str(w->out, "false"));
	FIREFOX_COLUMN(w, "relevantForJS", count, text_str(w->out, "false"));
	FIREFOX_COLUMN(w, "resource", count,
		text_i64(w->out, all[ids[at]].binary == PROFILE_NONE
					 ? -1
					 : (int64_t)firefox_local_id(w, &w->resources, all[ids[at]].binary)));
	FIREFOX_COLUMN(w, "fileName", count,
		firefox_put_id(w->out, all[ids[at]].file == INTERN_NONE
					       ? UINT32_MAX
					       : firefox_local_id(w, &w->texts, all[ids[at]].file)));
	FIREFOX_COLUMN(w, "lineNumber", count, text_str(w->out, "null"));
	FIREFOX_COLUMN(w, "columnNumber", count, text_str(w->out, "null"));
	text_char(w->out, '}');
}

static void firefox_thread_add_symbols(struct firefox *w)
{
	const struct profile *p = w->view->profile;
	const uint32_t *ids = w->symbols.items.items;
	size_t count = w->symbols.items.len;
	text_printf(w->out, ",\n\"nativeSymbols\":{\"length\":%zu", count);
	FIREFOX_COLUMN(w, "libIndex", count, text_u64(w->out, w->lib_of_binary[p->functions[ids[at]].binary]));
	FIREFOX_COLUMN(w, "address", count, {
		const struct profile_function *f = &p->functions[ids[at]];
		uint64_t base = w->base_of_binary[f->binary];
		text_u64(w->out, base != UINT64_MAX && f->start >= base ? f->start - base
				 : f->start < ADDRESS_EXACT		? f->start
									: 0);
	});
	FIREFOX_COLUMN(w, "name", count,
		firefox_put_id(w->out, firefox_text(w, profile_string(p, p->functions[ids[at]].name))));
	FIREFOX_COLUMN(w, "functionSize", count, {
		if (p->functions[ids[at]].size < ADDRESS_EXACT)
			text_u64(w->out, p->functions[ids[at]].size);
		else
			text_str(w->out, "null");
	});
	text_char(w->out, '}');
}

static void add_resources(struct firefox *w)
{
	const struct profile *p = w->view->profile;
	const uint32_t *ids = w->resources.items.items;
	size_t count = w->resources.items.len;
	text_printf(w->out, ",\n\"resourceTable\":{\"length\":%zu", count);
	FIREFOX_COLUMN(w, "lib", count, text_u64(w->out, w->lib_of_binary[ids[at]]));
	FIREFOX_COLUMN(w, "name", count,
		firefox_put_id(w->out, firefox_text(w, profile_string(p, p->binaries[ids[at]].name))));
	FIREFOX_COLUMN(w, "host", count, text_str(w->out, "null"));
	FIREFOX_COLUMN(w, "type", count, text_char(w->out, '1'));
	text_char(w->out, '}');
}

/* Writes the CPU time of the sample: 0 if the thread waited. */
static void firefox_thread_put_cpu(struct firefox *w, const struct profile_row *row)
{
	const struct profile *p = w->view->profile;
	text_u64(w->out, export_state(p, &p->samples[row->sample]) == PROFILE_STATE_RUNNING ? row->period / 1000 : 0);
}

static void firefox_thread_add_samples(struct firefox *w, size_t first, size_t count, bool has_durations)
{
	text_printf(w->out, ",\n\"samples\":{\"length\":%zu,\"weightType\":\"%s\"", count,
		has_durations ? "tracing-ms" : "samples");
	const struct export_groups *g = &w->groups;
	FIREFOX_COLUMN(w, "stack", count,
		text_u64(w->out, w->nodes.local[firefox_thread_node_of(w, export_group_row(g, first + at))]));
	FIREFOX_COLUMN(w, "time", count,
		export_decimal(w->out, export_group_row(g, first + at)->time - w->tables.first_time, 6));
	if (has_durations)
		FIREFOX_COLUMN(w, "weight", count, export_decimal(w->out, export_group_row(g, first + at)->period, 6));
	else
		text_str(w->out, ",\"weight\":null");
	if (w->view->profile->facets >> FACET_STATE & 1)
		FIREFOX_COLUMN(w, "threadCPUDelta", count, firefox_thread_put_cpu(w, export_group_row(g, first + at)));
	text_char(w->out, '}');
}

static int firefox_thread_compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return COMPARE(a, b);
}

/* Collects the nodes of the thread's stacks, parents first. */
static void use_nodes(struct firefox *w, size_t first, size_t last)
{
	struct local_ids *nodes = &w->nodes;
	for (size_t i = first; i < last; i++) {
		uint32_t node = firefox_thread_node_of(w, export_group_row(&w->groups, i));
		for (; node != PROFILE_NONE && nodes->stamp[node] != w->thread_stamp;
			node = firefox_thread_node(w, node)->parent)
			(void)firefox_local_id(w, nodes, node);
	}
	if (nodes->items.len)
		qsort(nodes->items.items, nodes->items.len, sizeof(*nodes->items.items), firefox_thread_compare_ids);
	for (size_t i = 0; i < nodes->items.len; i++)
		nodes->local[nodes->items.items[i]] = (uint32_t)i;
}

static void begin_thread(struct firefox *w)
{
	w->thread_stamp++;
	w->nodes.items.len = w->used_frames.items.len = w->used_functions.items.len = 0;
	w->symbols.items.len = w->texts.items.len = w->resources.items.len = 0;
}

static void add_thread_names(struct firefox *w, const struct export_track *track, struct tally_str event)
{
	const struct profile *p = w->view->profile;
	struct tally_str comm = profile_string(p, track->comm);
	text_clear(&w->room);
	text_bytes(&w->room, comm.data, comm.len);
	if (w->names_events) {
		text_str(&w->room, " (");
		text_bytes(&w->room, event.data, event.len);
		text_char(&w->room, ')');
	}
	text_str(w->out, w->has_thread ? ",\n{\"name\":" : "\n{\"name\":");
	export_json_string(w->out, (struct tally_str){w->room.data, w->room.len});
	text_str(w->out, ",\"processName\":");
	export_json_string(w->out, comm);
	text_printf(w->out,
		",\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d,\"registerTime\":0,"
		"\"unregisterTime\":null,\"processStartupTime\":0,\"processShutdownTime\":null,\"pausedRanges\":[]",
		track->pid == track->tid ? "true" : "false", track->pid, track->tid);
}

void firefox_add_thread(struct firefox *w, size_t group)
{
	const struct profile *p = w->view->profile;
	const struct export_track *track = &w->tables.tracks[group / p->event_count];
	struct tally_str event = profile_string(p, p->events[group % p->event_count].name);
	size_t first = w->groups.begin[group], last = w->groups.begin[group + 1];
	begin_thread(w);
	use_nodes(w, first, last);
	add_thread_names(w, track, event);
	firefox_thread_add_samples(w, first, last - first, strcmp(export_event_unit(event), "nanoseconds") == 0);
	firefox_add_markers(w, group);
	firefox_thread_add_stacks(w);
	firefox_thread_add_frames(w);
	firefox_thread_add_functions(w);
	firefox_thread_add_symbols(w);
	add_resources(w);
	text_str(w->out, ",\n\"stringArray\":[");
	for (size_t i = 0; i < w->texts.items.len; i++) {
		if (i)
			text_char(w->out, ',');
		export_json_string(w->out, intern_get(&w->strings, w->texts.items.items[i]));
		byte_sink_step(w->sink);
	}
	text_str(w->out, "]}");
	w->has_thread = true;
}
