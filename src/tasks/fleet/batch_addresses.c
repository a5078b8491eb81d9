/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/batch_addresses.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "code/pack/pack.h"

#define USER_BASE UINT64_C(0x10000000000)
#define USER_ROOM (UINT64_C(1) << 32) /* Size of the address range of a file. */
/* In the range of a file, lower offsets are the real ones, and made-up addresses start here. */
#define MADE_UP_FROM (UINT64_C(1) << 31)
#define FIRST_OFFSET UINT64_C(0x1000)
/* The kernel of x86-64 maps nothing in the 2 GiB from here. */
#define KERNEL_BASE UINT64_C(0xffffffff00000000)
#define MODULE_BASE UINT64_C(0xffffffffc0000000)
#define MODULE_ROOM (UINT64_C(1) << 22)
#define MODULES_MAX 200
/* Size of the made-up range for an address without a function, and alignment of all made-up ranges. */
#define SLOT_BYTES 16
/* Bits that distinguish the keys of batch_addresses.places: IP_KEY | frame gives the final address of a frame,
 * FUNCTION_KEY | function the start of the made-up range of a function, and FUNCTION_KEY << 1 | frame that of a single
 * address. */
#define IP_KEY			    (UINT64_C(1) << 32)
#define FUNCTION_KEY		    (UINT64_C(2) << 32)
#define BATCH_ADDRESSES_KERNEL_NAME "[kernel.kallsyms]"
#define BATCH_ADDRESSES_NAME_BYTES  4000 /* Maximum length of a file name, so that a map record stays below 64 KiB. */

static uint8_t hex_value(char c)
{
	return (uint8_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

static void read_build_id(struct tally_str hex, struct binary_key *key)
{
	uint64_t number;
	size_t bytes = hex.len / 2;
	for (size_t i = 0; i < bytes && bytes <= sizeof(key->build_id); i++) {
		if (!str_to_u64((struct tally_str){hex.data + 2 * i, 2}, 16, &number))
			return;
		key->build_id[i] = (uint8_t)(hex_value(hex.data[2 * i]) << 4 | hex_value(hex.data[2 * i + 1]));
	}
	if (bytes <= sizeof(key->build_id))
		key->build_id_size = (uint8_t)bytes;
}

/* A user file gets an absolute path, because other names would be read as names of the kernel or of generated
 * code. */
static const char *file_name_of(struct batch_addresses *a, const struct profile_binary *binary)
{
	const struct profile *p = a->batch->profile;
	struct tally_str path = profile_string(p, binary->long_name), name = profile_string(p, binary->name);
	path.len = MIN(path.len, BATCH_ADDRESSES_NAME_BYTES);
	name.len = MIN(name.len, BATCH_ADDRESSES_NAME_BYTES);
	if (binary->is_kernel)
		return arena_printf(
			&a->arena, name.len && name.data[0] == '[' ? "%.*s" : "[%.*s]", (int)name.len, name.data);
	bool is_file = path.len > 0 && path.data[0] == '/' && !str_starts_with(path, STR("//")) &&
		       !str_starts_with(path, STR("/tmp/perf-"));
	if (is_file || str_starts_with(name, STR("[vdso")))
		return arena_string(&a->arena, is_file ? path.data : name.data, is_file ? path.len : name.len);
	char *made = arena_printf(&a->arena, "/generated/%.*s", (int)name.len, name.data);
	for (char *c = made ? made + strlen("/generated/") : NULL; c && *c; c++)
		*c = *c == '/' ? '_' : *c;
	return made;
}

static bool region_init(struct batch_addresses *a, size_t index, size_t *modules)
{
	const struct profile_binary *binary = &a->batch->profile->binaries[index];
	struct batch_region *r = &a->regions[index];
	r->file_name = file_name_of(a, binary);
	if (!r->file_name)
		return false;
	r->key = (struct binary_key){.kind = BINARY_USER, .path = str_from(r->file_name), .pid = -1};
	read_build_id(profile_string(a->batch->profile, binary->build_id), &r->key);
	r->is_kernel = binary->is_kernel;
	r->base = USER_BASE + index * USER_ROOM;
	if (str_starts_with(r->key.path, STR("[vdso")))
		r->key.kind = BINARY_VDSO;
	if (r->is_kernel) {
		bool is_module = !str_equal(r->key.path, STR(BATCH_ADDRESSES_KERNEL_NAME));
		r->key.kind = is_module ? BINARY_MODULE : BINARY_KERNEL;
		r->key.file = is_module ? r->key.path : STR("");
		/* The build ID is dropped, because the made-up addresses do not match the kernel with that build
		 * ID. */
		r->key.build_id_size = 0;
		r->base = is_module ? MODULE_BASE + (*modules)++ % MODULES_MAX * MODULE_ROOM : KERNEL_BASE;
		r->key.start = r->base;
	}
	r->keeps_addresses = !r->is_kernel && r->key.kind == BINARY_USER && r->key.build_id_size > 0;
	r->next = r->is_kernel ? FIRST_OFFSET : MADE_UP_FROM;
	return true;
}

bool batch_addresses_init(struct batch_addresses *a, const struct fleet_batch *batch)
{
	size_t modules = 0;
	*a = (struct batch_addresses){.batch = batch};
	arena_init(&a->arena);
	a->regions = calloc(batch->profile->binary_count + 1, sizeof(*a->regions));
	a->failed = !a->regions;
	for (size_t i = 0; !a->failed && i < batch->profile->binary_count; i++)
		a->failed = !region_init(a, i, &modules);
	return !a->failed;
}

void batch_addresses_deinit(struct batch_addresses *a)
{
	for (size_t i = 0; a->regions && i < a->batch->profile->binary_count; i++)
		vec_free(&a->regions[i].spots);
	free(a->regions);
	map_u64_deinit(&a->places);
	arena_deinit(&a->arena);
}

/* Returns the start of the made-up address range for a key (a function, or an address without one), and reserves it in
 * the file if the key is new. Sets a->failed if memory runs out. */
static uint64_t make_place(struct batch_addresses *a, struct batch_region *r, uint64_t key, uint64_t bytes)
{
	bool was_new;
	uint64_t *place = map_u64_at(&a->places, key, &was_new);
	if (!place) {
		a->failed = true;
		return FIRST_OFFSET;
	}
	if (was_new) {
		*place = r->next;
		r->next += (bytes + 2 * SLOT_BYTES - 1) / SLOT_BYTES * SLOT_BYTES;
	}
	return *place;
}

/* Returns whether the range from start on keeps its real offset: in user files with a build ID; elsewhere, except in
 * kernel modules, only without a function, because such an address gets no symbol, even if another machine has a
 * function there. */
static bool keeps_address(const struct batch_region *r, uint32_t function, uint64_t start, uint64_t size)
{
	if (r->key.kind == BINARY_KERNEL)
		return function == PROFILE_NONE && start >= r->base + MADE_UP_FROM && start < MODULE_BASE - size;
	bool keeps = r->keeps_addresses || (!r->is_kernel && function == PROFILE_NONE);
	return keeps && start < MADE_UP_FROM && size <= MADE_UP_FROM - start;
}

static struct batch_spot make_spot(
	struct batch_addresses *a, struct batch_region *r, const struct batch_location *location)
{
	const struct profile *p = a->batch->profile;
	uint32_t last = location->frames[location->frame_count - 1], number = p->frames[last].function;
	struct batch_spot spot = {.frames = location->frames, .frame_count = location->frame_count};
	uint64_t address = location->address, start = address, size = SLOT_BYTES;
	bool is_within = number != PROFILE_NONE && p->functions[number].size > 0 &&
			 address >= p->functions[number].start &&
			 address - p->functions[number].start < p->functions[number].size;
	if (is_within) {
		start = p->functions[number].start;
		size = p->functions[number].size;
	}
	if (keeps_address(r, number, start, size)) {
		spot.start = r->key.kind == BINARY_KERNEL ? start - r->base : start;
	} else {
		/* Limits the size, so that damaged data cannot exceed the range of a file. */
		size = MIN(size, MODULE_ROOM / 4);
		uint64_t key = is_within ? FUNCTION_KEY | number : FUNCTION_KEY << 1 | last;
		spot.start = make_place(a, r, key, size);
	}
	spot.address = spot.start + MIN(address - start, size - 1);
	spot.end = spot.start + size;
	return spot;
}

uint64_t batch_addresses_find(struct batch_addresses *a, const struct batch_location *location)
{
	uint64_t known, key = IP_KEY | location->frames[location->frame_count - 1];
	if (location->binary == PROFILE_NONE)
		return location->address;
	struct batch_region *r = &a->regions[location->binary];
	r->is_used = true;
	if (map_u64_find(&a->places, key, &known))
		return known;
	struct batch_spot spot = make_spot(a, r, location);
	uint64_t ip = r->base + spot.address;
	r->size = MAX(r->size, spot.end + 1);
	a->failed |= !vec_push(&r->spots, spot) || !map_u64_set(&a->places, key, ip);
	return ip;
}

static int batch_addresses_compare(const void *left, const void *right)
{
	const struct batch_spot *a = left, *b = right;
	return a->start != b->start ? COMPARE(a->start, b->start) : COMPARE(a->address, b->address);
}

static bool pack_spot_places(
	const struct profile *p, const struct batch_spot *spot, uint64_t delta, struct pack_object *object)
{
	struct pack_range range = {.start = spot->address + delta,
		.size = 1,
		.first = (uint32_t)object->places.len,
		.count = spot->frame_count};
	for (uint32_t i = 0; i < spot->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[spot->frames[i]];
		const struct profile_line line = profile_frame_line(p, frame);
		struct source_place place = {.line = (uint32_t)MIN(line.number, UINT32_MAX),
			.path = line.file.len ? line.file.data : NULL,
			.is_inlined = i + 1 < spot->frame_count,
			.function = frame->function == PROFILE_NONE
					    ? NULL
					    : profile_string(p, p->functions[frame->function].name).data};
		if (!vec_push(&object->places, place))
			return false;
	}
	return vec_push(&object->ranges, range);
}

static bool pack_spot_symbol(
	const struct profile *p, const struct batch_spot *spot, uint64_t delta, struct pack_object *object)
{
	uint32_t function = p->frames[spot->frames[spot->frame_count - 1]].function;
	struct symbol *last = object->symbols.len ? &object->symbols.items[object->symbols.len - 1] : NULL;
	if (function == PROFILE_NONE || (last && spot->start + delta == last->start))
		return true;
	if (last && spot->start + delta < last->end)
		last->end = spot->start + delta;
	const struct symbol symbol = {.start = spot->start + delta,
		.end = spot->end + delta,
		.name = profile_string(p, p->functions[function].name).data,
		.binding = 'g'};
	return vec_push(&object->symbols, symbol);
}

static bool pack_region(const struct profile *p, struct batch_region *r, struct pack_object *object)
{
	uint64_t delta = r->is_kernel ? r->base : 0; /* In packs, addresses of the kernel are those at run time. */
	uint64_t before = UINT64_MAX;
	const struct pack_segment whole = {0, 0, USER_ROOM};
	qsort(r->spots.items, r->spots.len, sizeof(*r->spots.items), batch_addresses_compare);
	*object = (struct pack_object){.key = r->key, .status = BINARY_OK, .used_path = "a store of profiles"};
	object->places_path = object->used_path;
	bool has_room = r->is_kernel || vec_push(&object->segments, whole);
	for (size_t i = 0; has_room && i < r->spots.len; i++) {
		const struct batch_spot *spot = &r->spots.items[i];
		has_room = pack_spot_symbol(p, spot, delta, object);
		bool is_next = object->ranges.len == 0 || spot->address > before;
		if (has_room && is_next)
			has_room = pack_spot_places(p, spot, delta, object);
		before = is_next ? spot->address : before;
	}
	object->symbol_count = object->symbols.len;
	return has_room;
}

enum tally_status batch_addresses_pack(struct batch_addresses *a, struct writer *section, struct tally_error *err)
{
	const struct profile *p = a->batch->profile;
	size_t count = 0;
	struct pack_object *objects = calloc(p->binary_count + 1, sizeof(*objects));
	bool has_room = objects != NULL;
	for (size_t i = 0; has_room && i < p->binary_count; i++)
		if (a->regions[i].is_used)
			has_room = pack_region(p, &a->regions[i], &objects[count++]);
	pack_set_order(section);
	enum tally_status status = has_room ? pack_encode(objects, count, section, err) : error_nomem(err);
	for (size_t i = 0; i < count; i++)
		pack_object_deinit(&objects[i]);
	free(objects);
	return status;
}
