#include "cli/script_places.h"

unsigned script_cpumode_of(const struct script_places *p, uint64_t ip)
{
	uint64_t kernel_start = p->arch ? p->arch->kernel_start : UINT64_C(1) << 63;
	return ip >= kernel_start ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
}

static struct script_place place_of(const struct script_places *p, struct frame_name *name, uint32_t frame, uint64_t ip)
{
	struct resolved_frame resolved = resolved_frame_get(&p->resolver->frames, frame);
	struct script_place place = {.name = name, .ip = ip, .offset = resolved.address, .frame = frame};
	if (resolved.binary == RESOLVE_NONE)
		return place;
	const struct machine_binary *binary = machine_binary_get(p->machine, resolved.binary);
	place.has_offset = !name->is_kernel;
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
	*place = place_of(p, name, frame, ip);
	return true;
}

const char *script_kernel_symbol(void *context, uint64_t *address, const char **module)
{
	struct script_places *p = context;
	struct script_place place;
	if (!script_place_find(p, &p->now, MISC_CPUMODE_KERNEL, *address, &place) || !place.name->symbol)
		return NULL;
	uint32_t binary = resolved_frame_get(&p->resolver->frames, place.frame).binary;
	if (machine_binary_get(p->machine, binary)->kind == MACHINE_KERNEL_MODULE)
		*module = place.name->shown.data;
	*address -= place.name->symbol_offset;
	return place.name->symbol;
}

void script_print_dso(const struct script_places *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	const struct frame_name *name = place->name;
	struct tally_str dso = name->is_kernel && !p->full_kernel_path ? name->shown : name->path;
	text_char(t, '(');
	text_bytes(t, dso.data, dso.len);
	if ((fields & FIELD_DSOFF) && place->has_offset) {
		text_str(t, "+0x");
		text_hex(t, place->offset, 0);
	}
	text_char(t, ')');
}

/* " name+0x1f (path)": what follows a frame's address. Made once per frame where the caller keeps it. */
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

/* "\n  file.c:12" under the frame's line; where nothing says the line, "\n  program[1234]". */
static void print_source(const struct script_places *p, struct text *t, const struct frame_name *name, size_t place)
{
	const struct source_place *at = place < name->place_count ? &name->places[place] : NULL;
	if (str_equal(name->path, STR("[unknown]")))
		return;
	text_str(t, "\n  ");
	if (at && at->path) {
		const char *slash = p->full_source_path ? NULL : strrchr(at->path, '/');
		text_str(t, slash ? slash + 1 : at->path);
		text_char(t, ':');
		text_u64(t, at->line);
	} else {
		text_bytes(t, name->shown.data, name->shown.len);
		text_char(t, '[');
		text_hex(t, name->link_address, 0);
		text_char(t, ']');
	}
}

/* " name+0x1f\n  file.c:12 (inlined)" */
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
		print_source(p, t, name, place);
	text_str(t, " (inlined)\n");
}

static bool keep_line(struct script_places *p, struct frame_name *name, const struct text *line)
{
	char *copy = line->failed ? NULL : arena_string(&p->names->arena, line->data, line->len);
	name->lines[name->line_count++] = (struct tally_str){copy, line->len};
	return copy != NULL;
}

/* What follows the address in a frame's lines, one for each call that was inlined there; kept with the frame. */
static bool make_lines(struct script_places *p, uint32_t frame, uint64_t ip, struct frame_name *name, uint64_t fields)
{
	if ((fields & FIELD_SRCLINE || !p->no_inline) && !frame_names_places(p->names, frame, name))
		return false;
	size_t inlined = p->no_inline || name->place_count == 0 ? 0 : name->place_count - 1;
	struct text line = {0};
	name->lines = arena_array(&p->names->arena, struct tally_str, inlined + 1);
	name->line_count = 0;
	name->line_form = (uint32_t)(fields & FRAME_FIELDS);
	bool ok = name->lines != NULL;
	for (size_t i = 0; i < inlined && ok; i++) {
		text_clear(&line);
		print_inlined(p, &line, name, i, fields);
		ok = keep_line(p, name, &line);
	}
	if (ok) {
		text_clear(&line);
		struct script_place where = place_of(p, name, frame, ip);
		script_print_name(p, &line, &where, fields);
		if (fields & FIELD_SRCLINE)
			print_source(p, &line, name, inlined);
		text_char(&line, '\n');
		ok = keep_line(p, name, &line);
	}
	text_deinit(&line);
	if (!ok)
		name->lines = NULL;
	return ok;
}

static bool print_chain_frame(struct script_places *p, struct text *t, uint32_t frame, uint64_t ip, uint64_t fields)
{
	struct frame_name *name = frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	if ((!name->lines || name->line_form != (uint32_t)(fields & FRAME_FIELDS)) &&
		!make_lines(p, frame, ip, name, fields))
		return false;
	for (uint32_t i = 0; i < name->line_count; i++) {
		text_char(t, '\t');
		script_print_address(t, ip);
		text_bytes(t, name->lines[i].data, name->lines[i].len);
	}
	return true;
}

bool script_print_chain(struct script_places *p, struct text *t, const struct resolve_where *where,
	const struct sample_array *callchain, uint64_t fields)
{
	struct resolved_chain chain = resolver_chain_frames(p->resolver, where, callchain);
	if (p->resolver->failed)
		return false;
	text_char(t, '\n');
	for (size_t i = 0; i < chain.count; i++)
		if (!print_chain_frame(p, t, chain.frames[i], chain.ips[i], fields))
			return false;
	if (chain.count > 0)
		frame_names_get(p->names, chain.frames[0], NULL)->samples++;
	return true;
}

bool script_print_leaf(struct script_places *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	text_char(t, ' ');
	script_print_address(t, place->ip);
	script_print_name(p, t, place, fields);
	if (fields & FIELD_SRCLINE) {
		if (!frame_names_places(p->names, place->frame, place->name))
			return false;
		print_source(p, t, place->name, 0);
	}
	return true;
}
