/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox_writer.h - declares what the parts of the Firefox export share: the tables of the whole profile, and those
 * entries that one thread uses.
 *
 * Private to the export: export_firefox.c makes and frees the writer, firefox_thread.c writes a thread,
 * firefox_markers.c its markers and the counters. One thread.
 *
 *	for (size_t group = 0; group < w.groups.count; group++) firefox_add_thread(&w, group);
 */
#ifndef VIEW_EXPORT_FIREFOX_WRITER_H
#define VIEW_EXPORT_FIREFOX_WRITER_H

#include "base/id_table.h"
#include "base/vec.h"
#include "view/export/export_view.h"

#define ADDRESS_EXACT	       (UINT64_C(1) << 53) /* JSON numbers are exact below */
#define FIREFOX_CATEGORY_OTHER "4" /* of its list of categories */
#define FIREFOX_CATEGORY_WAITS 4 /* and the number of a state: what is behind OTHER are those of waits */

struct whole_frame { /* of the tables' frames */
	uint32_t function; /* of functions */
	uint32_t line;
	unsigned category, inline_depth;
};

struct whole_function {
	uint32_t name, file; /* of strings; file INTERN_NONE: not known */
	uint32_t binary; /* the profile's; PROFILE_NONE: none */
};

struct local_ids { /* the ids of one thread for ids of the whole profile, in order of use */
	uint32_t *local, *stamp; /* by id of the whole; valid where the stamp is the thread's */
	VEC(uint32_t) items; /* ids of the whole */
};

struct firefox {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	struct export_groups groups;
	struct intern strings;
	struct id_table function_ids; /* name, file, binary and function */
	VEC(struct whole_function) functions;
	struct whole_frame *frames;
	uint32_t *lib_of_binary; /* PROFILE_NONE: not used */
	uint64_t *base_of_binary;
	uint32_t *first_mark, *next_mark; /* by track, by mark: PROFILE_NONE ends */
	uint32_t thread_stamp;
	struct local_ids
		nodes; /* those of the tables, and behind them, times the number of a state, the nodes of waits */
	struct local_ids used_frames, used_functions, symbols, texts, resources;
	struct text room;
	bool *is_trace; /* by event: a tracepoint, whose samples are markers too */
	bool has_thread, names_events, has_states;
};

/* A column of a table: opened with its name, then an item each. */
#define FIREFOX_COLUMN(w, name, count, item)                                               \
	do {                                                                               \
		text_str((w)->out, ",\"" name "\":[");                                     \
		for (size_t at = 0; at < (count) && !byte_sink_is_lost((w)->sink); at++) { \
			if (at)                                                            \
				text_char((w)->out, ',');                                  \
			item;                                                              \
			byte_sink_step((w)->sink);                                         \
		}                                                                          \
		text_char((w)->out, ']');                                                  \
	} while (0)

static inline uint32_t firefox_string(struct firefox *w, struct tally_str s)
{
	uint32_t id = 0;
	if (!intern_add(&w->strings, s.data ? s.data : "", s.len, &id))
		w->sink->failed = true;
	return id;
}

static inline const struct profile_frame *firefox_frame(const struct firefox *w, uint32_t frame)
{
	return &w->view->profile->frames[w->tables.frames[frame]];
}

static inline bool firefox_is_inlined(const struct firefox *w, uint32_t frame)
{
	return profile_frame_is_inlined(w->view->profile, w->tables.frames[frame]);
}

/* UINT32_MAX is null. */
static inline void firefox_put_id(struct text *out, uint32_t id)
{
	if (id == UINT32_MAX)
		text_str(out, "null");
	else
		text_u64(out, id);
}

/* The id in the current thread; it is assigned at the first use. */
static inline uint32_t firefox_local_id(struct firefox *w, struct local_ids *ids, uint32_t id)
{
	if (ids->stamp[id] != w->thread_stamp) {
		ids->stamp[id] = w->thread_stamp;
		ids->local[id] = (uint32_t)ids->items.len;
		if (!vec_push(&ids->items, id))
			w->sink->failed = true;
	}
	return ids->local[id];
}

/* Writes a string's id; null if there is no string. */
static inline uint32_t firefox_text(struct firefox *w, struct tally_str s)
{
	uint32_t id = intern_find(&w->strings, s.data ? s.data : "", s.len);
	return id == INTERN_NONE ? id : firefox_local_id(w, &w->texts, id);
}

/* A thread with the samples of one event. */
void firefox_add_thread(struct firefox *w, size_t group);
/* Each thread's marks as a list, in order of time. False: out of memory. */
bool firefox_list_marks(struct firefox *w);
/* Those of a thread: what happened to it, and its samples of a tracepoint with what they print. */
void firefox_add_markers(struct firefox *w, size_t group);
/* Events that count something, as rates over time. */
void firefox_add_counters(struct firefox *w);

#endif
