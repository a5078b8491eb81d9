/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_renew.h"

#include <string.h>

#include "base/error.h"
#include "view/text/report_cells.h"
#include "view/tui/explorer_changes.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"

static void frame_name(const struct profile *p, uint32_t id, struct text *name)
{
	const struct profile_frame *frame = &p->frames[id];
	if (frame->function == PROFILE_NONE) {
		text_hex(name, frame->address, 0);
	} else {
		struct tally_str function = profile_string(p, p->functions[frame->function].name);
		text_bytes(name, function.data, function.len);
	}
	text_char(name, ';');
}

/* Appends the path from a node up to the row, innermost frame first: all frames of the nodes on it, but only the
 * first ones of the node itself. */
static void node_name(
	const struct explorer *e, const struct explorer_fold *fold, uint32_t node, uint32_t frames, struct text *name)
{
	for (uint32_t at = node; at != 0; at = fold->nodes[at].parent)
		for (uint32_t i = at == node ? frames : fold->nodes[at].frame_count; i-- > 0;)
			frame_name(e->table->profile, fold->frames[fold->nodes[at].first_frame + i], name);
}

static void explorer_renew_thread_name(const struct profile *p, uint32_t id, struct text *name)
{
	const struct profile_thread *thread = &p->threads[id];
	struct tally_str comm = profile_string(p, thread->comm);
	text_printf(name, "%d/%d ", thread->pid, thread->tid);
	text_bytes(name, comm.data, comm.len);
}

static void explorer_renew_function_name(const struct profile *p, uint32_t id, struct text *name)
{
	const struct profile_function *function = &p->functions[id];
	struct tally_str own = profile_string(p, function->name), binary = {0};
	if (function->binary != PROFILE_NONE)
		binary = profile_string(p, p->binaries[function->binary].long_name);
	text_bytes(name, binary.data, binary.len);
	text_printf(name, " %llx ", (unsigned long long)function->start);
	text_bytes(name, own.data, own.len);
}

static void explorer_renew_note(struct explorer_memory *m, const struct text *name)
{
	uint32_t id;
	m->failed = m->failed || name->failed || !intern_add(&m->open, name->data, name->len, &id);
}

static void remember_fold(
	const struct explorer *e, const struct explorer_fold *fold, uint32_t table_row, struct explorer_memory *m)
{
	struct text row = {0}, node = {0};
	explorer_row_name(e, table_row, &row);
	explorer_renew_note(m, &row);
	for (uint32_t i = 1; i < fold->node_count; i++) {
		/* Notes the path to each frame of the node, because it may be split into several nodes later. */
		for (uint32_t frames = 1; fold->nodes[i].is_open && frames <= fold->nodes[i].frame_count; frames++) {
			text_clear(&node);
			text_bytes(&node, row.data, row.len);
			node_name(e, fold, i, frames, &node);
			explorer_renew_note(m, &node);
		}
	}
	text_deinit(&row);
	text_deinit(&node);
}

void explorer_remember(struct explorer *e, struct explorer_memory *m)
{
	const struct profile *p = e->table->profile;
	size_t position = 0;
	uint64_t row, index;
	*m = (struct explorer_memory){.cursor_row = e->cursor.row, .cursor_line = e->cursor.line};
	intern_init(&m->open);
	while (map_u64_next(&e->fold_of_row, &position, &row, &index))
		if (e->folds.items[index].is_open)
			remember_fold(e, &e->folds.items[index], (uint32_t)row, m);
	if (e->visible_count && e->cursor.row > 0)
		explorer_row_name(e, e->visible[e->cursor.row], &m->cursor);
	/* m->above counts the lines from the top of the screen to the cursor. */
	struct explorer_position at = e->top;
	while (e->visible_count && m->above < e->rows && (at.row != e->cursor.row || at.line != e->cursor.line) &&
		explorer_next_line(e, &at))
		m->above++;
	if (explorer_is_zoomed(e, ZOOM_THREAD))
		explorer_renew_thread_name(p, e->zoom_thread, &m->thread);
	if (explorer_is_zoomed(e, ZOOM_DSO) && e->zoom_binary < p->binary_count) {
		struct tally_str name = profile_string(p, p->binaries[e->zoom_binary].long_name);
		text_bytes(&m->binary, name.data, name.len);
	}
	if (explorer_is_zoomed(e, ZOOM_FUNCTION))
		explorer_renew_function_name(p, e->zoom_function, &m->function);
	m->failed = m->failed || m->function.failed || m->cursor.failed || m->thread.failed || m->binary.failed;
}

void explorer_memory_deinit(struct explorer_memory *m)
{
	intern_deinit(&m->open);
	text_deinit(&m->cursor);
	text_deinit(&m->thread);
	text_deinit(&m->binary);
	text_deinit(&m->function);
}

static bool is_text(const struct text *a, const struct text *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static bool explorer_renew_find_thread(struct explorer *e, const struct text *wanted)
{
	const struct profile *p = e->table->profile;
	struct text name = {0};
	bool is_found = false;
	for (uint32_t i = 0; i < p->thread_count && !is_found; i++) {
		text_clear(&name);
		explorer_renew_thread_name(p, i, &name);
		is_found = is_text(&name, wanted);
		if (is_found)
			e->zoom_thread = i;
	}
	text_deinit(&name);
	return is_found;
}

static bool find_binary(struct explorer *e, const struct text *wanted)
{
	const struct profile *p = e->table->profile;
	for (uint32_t i = 0; i < p->binary_count; i++)
		if (str_equal(profile_string(p, p->binaries[i].long_name),
			    (struct tally_str){wanted->data, wanted->len})) {
			e->zoom_binary = i;
			return true;
		}
	e->zoom_binary = PROFILE_NONE;
	return wanted->len == 0; /* An empty name means that there is no binary. */
}

static bool explorer_renew_find_function(struct explorer *e, const struct text *wanted)
{
	const struct profile *p = e->table->profile;
	struct text name = {0};
	bool is_found = false;
	for (uint32_t i = 0; i < p->function_count && !is_found; i++) {
		text_clear(&name);
		explorer_renew_function_name(p, i, &name);
		is_found = is_text(&name, wanted);
		if (is_found)
			e->zoom_function = i;
	}
	text_deinit(&name);
	return is_found;
}

static bool find_zoom(struct explorer *e, enum explorer_zoom zoom, const struct explorer_memory *m)
{
	switch (zoom) {
	case ZOOM_THREAD:
		return explorer_renew_find_thread(e, &m->thread);
	case ZOOM_DSO:
		return find_binary(e, &m->binary);
	case ZOOM_FUNCTION:
		return explorer_renew_find_function(e, &m->function);
	case ZOOM_SYMBOL:
	case ZOOM_KERNEL:
	case ZOOM_SOCKET: /* The number of a socket stays valid. */
	case ZOOM_COUNT:
		break;
	}
	return true;
}

static void resume_fold(struct explorer *e, uint32_t table_row, const struct text *row, const struct explorer_memory *m)
{
	struct explorer_fold *fold = explorer_open_row(e, table_row);
	struct text node = {0};
	for (uint32_t i = 1; fold && i < fold->node_count; i++) {
		text_clear(&node);
		text_bytes(&node, row->data, row->len);
		node_name(e, fold, i, fold->nodes[i].frame_count, &node);
		bool was_open = intern_find(&m->open, node.data, node.len) != INTERN_NONE;
		if (was_open != fold->nodes[i].is_open)
			explorer_fold_toggle(fold, i);
	}
	e->failed = e->failed || node.failed;
	text_deinit(&node);
}

static void resume_rows(struct explorer *e, const struct explorer_memory *m)
{
	struct text name = {0};
	if (m->cursor.len && e->visible_count)
		e->cursor.row = m->cursor_row < e->visible_count ? m->cursor_row : e->visible_count - 1;
	for (size_t i = 0; i < e->visible_count && (m->open.len || m->cursor.len); i++) {
		text_clear(&name);
		explorer_row_name(e, e->visible[i], &name);
		if (m->open.len && intern_find(&m->open, name.data, name.len) != INTERN_NONE &&
			explorer_has_chains(e, e->visible[i]))
			resume_fold(e, e->visible[i], &name, m);
		if (m->cursor.len && is_text(&name, &m->cursor))
			e->cursor = (struct explorer_position){.row = i, .line = m->cursor_line};
	}
	e->failed = e->failed || name.failed;
	text_deinit(&name);
}

enum tally_status explorer_renew(struct explorer *e, const struct explorer_memory *m, const struct flat_table *table,
	const char *title, struct tally_error *err)
{
	enum tally_status status = explorer_set_table(e, table, title, err);
	if (status != TALLY_OK)
		return status;
	/* Zooms into something that has no samples any more are dropped. */
	unsigned kept = 0;
	for (unsigned i = 0; i < e->zoom_count; i++)
		if (find_zoom(e, e->zooms[i], m))
			e->zooms[kept++] = e->zooms[i];
	e->zoom_count = kept;
	explorer_select_rows(e);
	resume_rows(e, m);
	explorer_place(e, m->cursor.len ? m->above : 0);
	return e->failed || m->failed ? error_nomem(err) : TALLY_OK;
}
