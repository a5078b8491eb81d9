/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/export_formats.h"
#include "view/flame/flame_page.h"

static void export_folded_add_event(struct byte_sink *sink, const struct export_view *view, uint32_t event)
{
	struct flame_options options = {
		.event = event, .group = FLAME_BY_COMM, .filter = view->filter, .by_state = true};
	struct flame_tree tree;
	if (flame_tree_init(&tree, view->profile, &options, NULL) != TALLY_OK) {
		sink->failed = true;
		return;
	}
	flame_folded_write(&sink->text, &tree, false);
	flame_tree_deinit(&tree);
	byte_sink_step(sink);
}

/* Writes one event, like a flame graph: the requested one, or the first that has samples. */
void export_folded(struct byte_sink *sink, const struct export_view *view)
{
	const struct profile *p = view->profile;
	if (view->event != PROFILE_NONE) {
		export_folded_add_event(sink, view, view->event);
		return;
	}
	for (uint32_t i = 0; i < p->event_count; i++) {
		if (p->events[i].sample_count == 0)
			continue;
		export_folded_add_event(sink, view, i);
		return;
	}
}
