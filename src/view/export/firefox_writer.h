/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox_writer.h - declares the state that the parts of the Firefox export share: the tables of the whole profile,
 * and their entries that one thread uses.
 *
 * Private to the export: export_firefox.c creates and frees the writer, firefox_thread.c writes a thread,
 * firefox_markers.c its markers and the counters. One thread.
 *
 *	for (size_t group = 0; group < w.groups.count; group++) firefox_add_thread(&w, group);
 */
#ifndef VIEW_EXPORT_FIREFOX_WRITER_H
#define VIEW_EXPORT_FIREFOX_WRITER_H

#include "base/id_table.h"
#include "base/vec.h"
#include "view/export/export_view.h"

#define ADDRESS_EXACT	       (UINT64_C(1) << 53) /* JSON numbers below are exact. */
#define FIREFOX_CATEGORY_OTHER "4" /* Index in the format's list of categories. */
/* The category of a waiting state is this plus the number of the state (enum profile_state); these categories follow
 * FIREFOX_CATEGORY_OTHER. */
#define FIREFOX_CATEGORY_WAITS 4

struct whole_frame { /* Data of one of the tables' frames. */
	uint32_t function; /* Index in firefox.functions. */
	uint32_t line;
	unsigned category, inline_depth;
};

struct whole_function {
	uint32_t name, file; /* Numbers in firefox.strings; file is INTERN_NONE if unknown. */
	uint32_t binary; /* The profile's binary; PROFILE_NONE if there is none. */
};

struct local_ids { /* Maps IDs of the whole profile to those of one thread, in order of use. */
	/* Indexed by ID of the whole profile; local is valid if stamp is that of the thread. */
	uint32_t *local, *stamp;
	VEC(uint32_t) items; /* IDs of the whole profile. */
};

struct firefox {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	struct export_groups groups;
	struct intern strings;
	struct id_table function_ids; /* Keys of name, file, binary and function. */
	VEC(struct whole_function) functions;
	struct whole_frame *frames;
	uint32_t *lib_of_binary; /* Index of each binary in the format's list of libraries; PROFILE_NONE if not used. */
	uint64_t *base_of_binary;
	/* Linked lists of marks, indexed by track and by mark; PROFILE_NONE ends a list. */
	uint32_t *first_mark, *next_mark;
	uint32_t thread_stamp;
	/* The ID is that of a node in the tables plus, for a wait, the number of its state times the number of
	 * nodes. */
	struct local_ids nodes;
	struct local_ids used_frames, used_functions, symbols, texts, resources;
	struct text room;
	bool *is_trace; /* Indexed by event; true for tracepoints, because their samples are markers too. */
	bool has_thread, names_events, has_states;
};

/* Writes a column of a table: its name, then each item. */
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

/* Appends an ID; UINT32_MAX stands for null. */
static inline void firefox_put_id(struct text *out, uint32_t id)
{
	if (id == UINT32_MAX)
		text_str(out, "null");
	else
		text_u64(out, id);
}

/* Returns the ID in the current thread, which is assigned at the first use. */
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

/* Returns the ID of a string in the current thread; INTERN_NONE if it is not in strings. */
static inline uint32_t firefox_text(struct firefox *w, struct tally_str s)
{
	uint32_t id = intern_find(&w->strings, s.data ? s.data : "", s.len);
	return id == INTERN_NONE ? id : firefox_local_id(w, &w->texts, id);
}

/* Writes a thread with the samples of one event. */
void firefox_add_thread(struct firefox *w, size_t group);
/* Links the marks of each thread in order of time. Returns false when out of memory. */
bool firefox_list_marks(struct firefox *w);
/* Writes the markers of a thread: its marks, and its tracepoint samples with their texts. */
void firefox_add_markers(struct firefox *w, size_t group);
/* Writes the profile's counters: for each process and each event that counts something, a rate over time. */
void firefox_add_counters(struct firefox *w);

#endif
