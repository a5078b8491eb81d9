/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_places.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/symbol_name.h"

unsigned script_cpumode_of(const struct script_places *p, uint64_t ip)
{
	uint64_t kernel_start = p->arch ? p->arch->kernel_start : UINT64_C(1) << 63;
	return ip >= kernel_start ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
}

unsigned script_data_cpumode(const struct script_places *p, unsigned cpumode, uint64_t address)
{
	return cpumode == MISC_CPUMODE_KERNEL ? script_cpumode_of(p, address) : cpumode;
}

static struct script_place script_places_place_of(
	const struct script_places *p, struct frame_name *name, uint32_t frame, uint64_t ip)
{
	struct resolved_frame resolved = resolved_frame_get(&p->resolver->frames, frame);
	struct script_place place = {.name = name, .ip = ip, .offset = resolved_frame_shown(&resolved), .frame = frame};
	if (resolved.binary == RESOLVE_NONE)
		return place;
	const struct machine_binary *binary = machine_binary_get(p->machine, resolved.binary);
	place.has_offset = !name->is_kernel || binary->kind == MACHINE_KERNEL_MODULE;
	if (name->is_kernel)
		place.offset = ip - binary->start;
	return place;
}

bool script_place_find(struct script_places *p, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_place *place)
{
	uint32_t frame = resolver_frame(p->resolver, where, cpumode, ip);
	struct frame_name *name = p->resolver->failed ? NULL : frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	*place = script_places_place_of(p, name, frame, ip);
	return true;
}

const char *script_kernel_symbol(void *context, uint64_t *address, const char **module)
{
	struct script_places *p = context;
	return frame_names_kernel(p->names, p->resolver, &p->now, address, module);
}

void script_print_dso(const struct script_places *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	const struct frame_name *name = place->name;
	struct tally_str dso = name->has_short_name && !p->full_kernel_path ? name->shown : name->path;
	text_char(t, '(');
	text_bytes(t, dso.data, dso.len);
	if ((fields & FIELD_DSOFF) && place->has_offset) {
		text_str(t, "+0x");
		text_hex(t, place->offset, 0);
	}
	text_char(t, ')');
}

/* Prints " name+0x1f (path)", which follows a frame's address. */
void script_print_name(const struct script_places *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	const struct frame_name *name = place->name;
	if (fields & FIELD_SYM) {
		text_char(t, ' ');
		text_str(t, name->symbol ? name->symbol : "[unknown]");
		if (name->symbol && (fields & FIELD_SYMOFF)) {
			text_str(t, "+0x");
			text_hex(t, name->symbol_offset, 0);
		}
	}
	if (fields & (FIELD_DSO | FIELD_DSOFF)) {
		text_char(t, ' ');
		script_print_dso(p, t, place, fields);
	}
}

void script_print_address(struct text *t, uint64_t address)
{
	text_hex_right(t, address, 16);
}

#define FRAME_FIELDS (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF | FIELD_SRCLINE)

/* Prints "\n  file.c:12" below the frame's line or, without line information, "\n  program[1234]". */
static void script_places_print_source(
	const struct script_places *p, struct text *t, const struct frame_name *name, size_t place)
{
	const struct source_place *at = place < name->place_count ? &name->places[place] : NULL;
	if (str_equal(name->path, STR("[unknown]")))
		return;
	text_str(t, "\n  ");
	if (at && at->path) {
		const char *slash = p->full_source_path ? NULL : strrchr(at->path, '/');
		text_visible(t, str_from(slash ? slash + 1 : at->path));
		text_char(t, ':');
		text_u64(t, at->line);
	} else {
		text_bytes(t, name->shown.data, name->shown.len);
		text_char(t, '[');
		text_hex(t, name->link_address, 0);
		text_char(t, ']');
	}
}

/* Prints " name+0x1f\n  file.c:12 (inlined)". */
static void print_inlined(
	const struct script_places *p, struct text *t, const struct frame_name *name, size_t place, uint64_t fields)
{
	if (fields & FIELD_SYM) {
		text_char(t, ' ');
		text_str(t, name->places[place].function ? name->places[place].function : "[unknown]");
		if (name->symbol && (fields & FIELD_SYMOFF)) {
			text_str(t, "+0x");
			text_hex(t, name->symbol_offset, 0);
		}
	}
	if (fields & FIELD_SRCLINE)
		script_places_print_source(p, t, name, place);
	text_str(t, " (inlined)\n");
}

static size_t inlined_count(const struct script_places *p, const struct frame_name *name)
{
	return p->no_inline || name->place_count == 0 ? 0 : name->place_count - 1;
}

/* Prints what follows the address in a frame's line. The inlined calls are the first lines, the containing function
 * is the last. */
static void script_places_print_line(
	const struct script_places *p, struct text *t, const struct script_place *place, size_t line, uint64_t fields)
{
	if (line < inlined_count(p, place->name)) {
		print_inlined(p, t, place->name, line, fields);
		return;
	}
	script_print_name(p, t, place, fields);
	if (fields & FIELD_SRCLINE)
		script_places_print_source(p, t, place->name, line);
	text_char(t, '\n');
}

static uint32_t form_of(uint64_t fields)
{
	return (uint32_t)(fields & FRAME_FIELDS);
}

/* Caches the frame's lines for the first requested combination of fields; other events may use other fields. */
static bool keep_lines(struct script_places *p, const struct script_place *place, uint64_t fields)
{
	struct frame_name *name = place->name;
	size_t count = inlined_count(p, name) + 1;
	struct text *line = &p->scratch;
	struct tally_str *lines = arena_array(&p->names->arena, struct tally_str, count);
	bool ok = lines != NULL;
	for (size_t i = 0; i < count && ok; i++) {
		text_clear(line);
		script_places_print_line(p, line, place, i, fields);
		char *copy = line->failed ? NULL : arena_string(&p->names->arena, line->data, line->len);
		lines[i] = (struct tally_str){copy, line->len};
		ok = copy != NULL;
	}
	if (!ok)
		return false;
	name->lines = lines;
	name->line_count = (uint32_t)count;
	name->line_form = form_of(fields);
	return true;
}

static bool print_frame(
	struct script_places *p, struct text *t, uint32_t frame, uint64_t ip, struct frame_name *name, uint64_t fields)
{
	bool is_kept = name->lines && name->line_form == form_of(fields);
	struct script_place place = {0};
	if (!is_kept) {
		if ((fields & FIELD_SRCLINE || !p->no_inline) && !frame_names_places(p->names, frame, name))
			return false;
		place = script_places_place_of(p, name, frame, ip);
		if (!name->lines && !keep_lines(p, &place, fields))
			return false;
		is_kept = name->line_form == form_of(fields);
	}
	size_t count = is_kept ? name->line_count : inlined_count(p, name) + 1;
	for (size_t i = 0; i < count; i++) {
		text_char(t, '\t');
		script_print_address(t, ip);
		if (is_kept)
			text_bytes(t, name->lines[i].data, name->lines[i].len);
		else
			script_places_print_line(p, t, &place, i, fields);
	}
	return true;
}

bool script_print_frame(struct script_places *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	return print_frame(p, t, place->frame, place->ip, place->name, fields);
}

/* The cache of formatted text has 2^LINE_SLOTS_LOG slots (struct script_line), indexed by a hash of the address. A slot
 * fills two cache lines of the CPU; longer text is not cached. */
#define LINE_SLOTS_LOG	14
#define LINE_SLOT_BYTES 104

struct script_line {
	uint64_t ip;
	struct frame_name *name; /* NULL if the slot is empty. */
	uint32_t epoch;
	uint16_t len;
	uint8_t cpumode;
	uint8_t form;
	char text[LINE_SLOT_BYTES];
};

bool script_places_init(struct script_places *p)
{
	p->lines = calloc((size_t)1 << LINE_SLOTS_LOG, sizeof(*p->lines));
	return p->lines != NULL;
}

void script_places_deinit(struct script_places *p)
{
	free(p->lines);
	p->lines = NULL;
	text_deinit(&p->scratch);
}

/* The hash uses only the address, so that slots of the following frames can be prefetched before their epochs are
 * known. */
static size_t line_slot(uint64_t ip)
{
	return (size_t)(ip * HASH_FACTOR >> (64 - LINE_SLOTS_LOG));
}

#define LINES_AHEAD 3 /* Prefetch distance in frames, about the latency of a cache miss. */

static void fetch_line(const struct script_places *p, uint64_t ip)
{
	const char *slot = (const char *)&p->lines[line_slot(ip)];
	__builtin_prefetch(slot);
	__builtin_prefetch(slot + 64);
}

/* Encodes FRAME_FIELDS in a byte. */
static uint8_t packed_form(uint64_t fields)
{
	return (uint8_t)((fields & FIELD_SYM ? 1 : 0) | (fields & FIELD_SYMOFF ? 2 : 0) | (fields & FIELD_DSO ? 4 : 0) |
			 (fields & FIELD_DSOFF ? 8 : 0) | (fields & FIELD_SRCLINE ? 16 : 0));
}

/* Returns NULL if out of memory. */
static struct frame_name *print_new_frame(struct script_places *p, struct text *t, const struct resolve_where *where,
	const struct script_line *key, struct script_line *slot, uint64_t fields)
{
	size_t start = t->len;
	uint32_t frame = resolver_frame(p->resolver, where, key->cpumode, key->ip);
	struct frame_name *name = p->resolver->failed ? NULL : frame_names_get(p->names, frame, NULL);
	if (!name || !print_frame(p, t, frame, key->ip, name, fields))
		return NULL;
	slot->name = NULL;
	if (t->failed || t->len - start > LINE_SLOT_BYTES)
		return t->failed ? NULL : name;
	*slot = *key;
	slot->name = name;
	slot->len = (uint16_t)(t->len - start);
	memcpy(slot->text, t->data + start, slot->len);
	return name;
}

/* Prints the cookie that identifies a deferred call chain that is shown separately. */
static void print_cookie(struct text *t, uint64_t cookie, uint64_t fields)
{
	text_char(t, '\t');
	script_print_address(t, cookie);
	text_str(t, fields & FIELD_SYM ? " (cookie)" : "");
	text_str(t, fields & (FIELD_DSO | FIELD_DSOFF) ? " ([unknown])\n" : "\n");
}

bool script_print_chain(struct script_places *p, struct text *t, const struct resolve_where *where,
	const struct sample_array *chain, uint64_t fields)
{
	struct script_line key = {.form = packed_form(fields)};
	struct chain_modes modes = chain_modes_of(p->resolver);
	size_t start = t->len;
	struct chain_bound bound = chain_bound_of(p->resolver);
	unsigned count = 0;
	uint64_t cookie;
	bool has_cookie = p->resolver->keeps_cookies && deferred_chains_cookie(chain, p->resolver->swap, &cookie);
	uint32_t frames = chain->count - has_cookie;
	text_char(t, '\n');
	for (uint32_t i = 0; i < frames; i++) {
		key.ip = sample_u64_at(chain->data, i, p->resolver->swap);
		if (key.ip >= CONTEXT_MAX) {
			if (chain_modes_mark(&modes, key.ip)) {
				chain_bound_mark(&bound, key.ip);
				continue;
			}
			/* perf prints no frames of a chain with a guest's or an unknown context marker. */
			t->len = start;
			text_char(t, '\n');
			return !t->failed;
		}
		if (chain_bound_is_over(&bound))
			break;
		key.cpumode = (uint8_t)chain_modes_next(&modes);
		if (!chain_bound_takes(&bound))
			continue;
		key.epoch = modes.cpumode == MISC_CPUMODE_KERNEL ? where->kernel_epoch : where->user_epoch;
		struct script_line *slot = &p->lines[line_slot(key.ip)];
		if (i + LINES_AHEAD < frames)
			fetch_line(p, sample_u64_at(chain->data, i + LINES_AHEAD, p->resolver->swap));
		char *room = text_room(t, LINE_SLOT_BYTES);
		bool is_kept = slot->name && slot->ip == key.ip && slot->epoch == key.epoch &&
			       slot->cpumode == key.cpumode && slot->form == key.form;
		struct frame_name *name = slot->name;
		if (is_kept && room) {
			/* Copying a constant size is fastest; only the first len bytes become part of the text. */
			memcpy(room, slot->text, LINE_SLOT_BYTES);
			t->len += slot->len;
		} else {
			name = print_new_frame(p, t, where, &key, slot, fields);
			if (!name)
				return false;
		}
		if (count++ == 0)
			name->samples++;
		if (p->stop_symbols && name->symbol && symbol_list_has(p->stop_symbols, str_from(name->symbol)))
			return !t->failed;
	}
	if (has_cookie && chain_bound_takes(&bound))
		print_cookie(t, cookie, fields);
	return !t->failed;
}

bool script_print_leaf(struct script_places *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	text_char(t, ' ');
	script_print_address(t, place->ip);
	script_print_name(p, t, place, fields);
	if (fields & FIELD_SRCLINE) {
		if (!frame_names_places(p->names, place->frame, place->name))
			return false;
		script_places_print_source(p, t, place->name, 0);
	}
	return true;
}
