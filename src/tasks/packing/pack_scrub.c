/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/packing/pack_scrub.h"

#include <stdio.h>
#include <string.h>

#include "abi/encode.h"
#include "abi/names.h"
#include "base/array.h"
#include "perfdata/feature_encode.h"
#include "tasks/packing/pack_formats.h"

#define PACK_SCRUB_COMM_BYTES 15 /* Maximum length of a thread's name without the NUL byte. */
#define RAW_KEPT_BYTES	      8 /* Size in bytes of the common fields of a tracepoint up to the PID, which are kept. */

static const char *const system_folders[] = {
	"/usr/lib/",
	"/usr/lib32/",
	"/usr/lib64/",
	"/usr/libexec/",
	"/usr/bin/",
	"/usr/sbin/",
	"/lib/",
	"/lib32/",
	"/lib64/",
	"/bin/",
	"/sbin/",
};
/* Names of the kernel for mappings that are not files. */
static const char *const known_places[] = {
	"[vdso]", "[vsyscall]", "[heap]", "[stack]", "//anon", "/anon_hugepage", "/dev/zero"};
static const char *const known_comms[] = {"swapper", "kthreadd", "perf-exec", "perf", "tally"};

void pack_scrub_init(struct pack_scrub *scrub, const struct perfdata_reader *reader)
{
	*scrub = (struct pack_scrub){.reader = reader};
	arena_init(&scrub->arena);
	intern_init(&scrub->hidden);
	intern_init(&scrub->kept);
	intern_init(&scrub->programs);
}

void pack_scrub_deinit(struct pack_scrub *scrub)
{
	arena_deinit(&scrub->arena);
	intern_deinit(&scrub->hidden);
	intern_deinit(&scrub->kept);
	intern_deinit(&scrub->programs);
}

static bool begins_with(struct tally_str text, const char *start)
{
	size_t len = strlen(start);
	return text.len >= len && memcmp(text.data, start, len) == 0;
}

static bool pack_scrub_is_one_of(struct tally_str text, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(text, str_from(names[i])))
			return true;
	return false;
}

#define IS_ONE_OF(text, names) pack_scrub_is_one_of((text), (names), ARRAY_LEN(names))

static struct tally_str pack_scrub_keep(struct pack_scrub *scrub, struct tally_str name)
{
	uint32_t id;
	if (!intern_add(&scrub->kept, name.data, name.len, &id))
		scrub->failed = true;
	return name;
}

static unsigned pack_scrub_number_of(struct pack_scrub *scrub, struct tally_str name)
{
	uint32_t id = 0;
	if (!intern_add(&scrub->hidden, name.data, name.len, &id))
		scrub->failed = true;
	return id + 1;
}

static struct tally_str pack_scrub_made(struct pack_scrub *scrub, const char *text)
{
	const char *copy = arena_string(&scrub->arena, text, strlen(text));
	scrub->failed = scrub->failed || !copy;
	return copy ? str_from(copy) : (struct tally_str){"", 0};
}

static struct tally_str pack_scrub_hide(struct pack_scrub *scrub, struct tally_str name)
{
	char text[16];
	snprintf(text, sizeof(text), "x%u", pack_scrub_number_of(scrub, name));
	return pack_scrub_made(scrub, text);
}

/* Matches "jit-123.dump", which identifies a mapping of a jitdump and contains only the PID. */
static bool is_jitdump_name(struct tally_str name)
{
	static const char start[] = "jit-", end[] = ".dump";
	size_t at = sizeof(start) - 1;
	if (!begins_with(name, start))
		return false;
	while (at < name.len && name.data[at] >= '0' && name.data[at] <= '9')
		at++;
	return at > sizeof(start) - 1 && str_equal((struct tally_str){name.data + at, name.len - at}, str_from(end));
}

/* Converts "/home/me/bin/program" to "/x1/x2". Directory and name have separate numbers, so that a thread with the
 * program's name gets the same one. */
static struct tally_str hide_path(struct pack_scrub *scrub, struct tally_str path)
{
	char text[48];
	size_t slash = path.len;
	while (slash > 0 && path.data[slash - 1] != '/')
		slash--;
	if (slash == 0)
		return pack_scrub_hide(scrub, path);
	struct tally_str folder = {path.data, slash}, name = {path.data + slash, path.len - slash};
	unsigned before = pack_scrub_number_of(scrub, folder);
	if (is_jitdump_name(name)) {
		snprintf(text, sizeof(text), "/x%u/%.*s", before, (int)name.len, name.data);
		return name.len < sizeof(text) - 13 ? pack_scrub_made(scrub, text) : pack_scrub_hide(scrub, path);
	}
	snprintf(text, sizeof(text), "/x%u/x%u", before, pack_scrub_number_of(scrub, name));
	return pack_scrub_made(scrub, text);
}

static bool is_of_system(struct tally_str path)
{
	if (path.len >= 3 && memmem(path.data, path.len, "/..", 3))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(system_folders); i++)
		if (begins_with(path, system_folders[i]))
			return true;
	return false;
}

static struct tally_str scrub_path(struct pack_scrub *scrub, struct tally_str path, bool is_kernel)
{
	bool is_module = is_kernel && path.len > 0 && path.data[0] == '[';
	if (path.len == 0)
		return path;
	if (is_module || IS_ONE_OF(path, known_places) || is_of_system(path))
		return pack_scrub_keep(scrub, path);
	return hide_path(scrub, path);
}

/* Thread names are arbitrary, so only known names and those of system programs in the recording are retained. */
static struct tally_str scrub_comm(struct pack_scrub *scrub, struct tally_str comm)
{
	if (comm.len == 0)
		return comm;
	bool is_known =
		IS_ONE_OF(comm, known_comms) || intern_find(&scrub->programs, comm.data, comm.len) != INTERN_NONE;
	return is_known ? pack_scrub_keep(scrub, comm) : pack_scrub_hide(scrub, comm);
}

static enum inject_change pack_scrub_put(
	struct pack_scrub *scrub, const struct record *record, const struct record_fields *fields, struct writer *out)
{
	const struct perfdata_event *event = perfdata_reader_event_of(scrub->reader, record);
	struct sample_id id;
	bool has_id = event && perfdata_reader_sample_id(scrub->reader, record, &id);
	out->swap = record->swap;
	if (!record_encode(out, fields, record->misc, has_id ? &event->layout : NULL, has_id ? &id : NULL))
		return out->failed ? INJECT_NO_MEMORY : INJECT_DROPPED;
	return scrub->failed ? INJECT_NO_MEMORY : INJECT_CHANGED;
}

static enum inject_change scrub_named(struct pack_scrub *scrub, const struct record *record, struct writer *out)
{
	struct record_fields fields;
	bool is_kernel = (record->misc & MISC_CPUMODE_MASK) != MISC_CPUMODE_USER;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return INJECT_DROPPED;
	switch (record->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		fields.mmap.filename = scrub_path(scrub, fields.mmap.filename, is_kernel);
		break;
	case RECORD_COMM:
		fields.comm.comm = scrub_comm(scrub, fields.comm.comm);
		break;
	case RECORD_CGROUP:
		fields.cgroup.path = hide_path(scrub, fields.cgroup.path);
		break;
	case RECORD_KSYMBOL:
		fields.ksymbol.name = pack_scrub_hide(scrub, fields.ksymbol.name);
		break;
	default:
		return INJECT_DROPPED;
	}
	return pack_scrub_put(scrub, record, &fields, out);
}

/* Overwrites bytes of the record with zeros in its copy in out. */
static void pack_scrub_clear(const struct record *record, struct writer *out, const uint8_t *from, size_t len)
{
	if (!out->failed && from && len > 0 && from >= record->bytes.data &&
		(size_t)(from - record->bytes.data) + len <= record->bytes.len)
		memset(out->data + (from - record->bytes.data), 0, len);
}

static enum inject_change scrub_sample(struct pack_scrub *scrub, const struct record *record, struct writer *out)
{
	const struct perfdata_event *event = perfdata_reader_event_of(scrub->reader, record);
	struct sample sample;
	if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return INJECT_DROPPED;
	writer_bytes(out, record->bytes.data, record->bytes.len);
	if ((sample.present & SAMPLE_RAW) && sample.raw.len > RAW_KEPT_BYTES)
		pack_scrub_clear(record, out, sample.raw.data + RAW_KEPT_BYTES, sample.raw.len - RAW_KEPT_BYTES);
	if (sample.present & SAMPLE_STACK_USER)
		pack_scrub_clear(record, out, sample.stack_user.bytes.data, sample.stack_user.bytes.len);
	if (sample.present & SAMPLE_REGS_USER)
		pack_scrub_clear(
			record, out, sample.regs_user.values.data, sample.regs_user.values.count * sizeof(uint64_t));
	if (sample.present & SAMPLE_REGS_INTR)
		pack_scrub_clear(
			record, out, sample.regs_intr.values.data, sample.regs_intr.values.count * sizeof(uint64_t));
	if (sample.present & SAMPLE_AUX)
		pack_scrub_clear(record, out, sample.aux.data, sample.aux.len);
	return out->failed ? INJECT_NO_MEMORY : INJECT_CHANGED;
}

static enum inject_change scrub_any(struct pack_scrub *scrub, const struct record *record, struct writer *out)
{
	switch (record->type) {
	case RECORD_SAMPLE:
		return scrub_sample(scrub, record, out);
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
	case RECORD_CGROUP:
	case RECORD_KSYMBOL:
		return scrub_named(scrub, record, out);
	case RECORD_LOST:
	case RECORD_EXIT:
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
	case RECORD_FORK:
	case RECORD_READ:
	case RECORD_LOST_SAMPLES:
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
	case RECORD_NAMESPACES:
	case RECORD_CALLCHAIN_DEFERRED:
	case RECORD_FINISHED_ROUND:
	case RECORD_FINISHED_INIT:
	case RECORD_ID_INDEX:
	case RECORD_TIME_CONV:
		return INJECT_KEPT; /* These records contain only numbers. */
	default:
		return INJECT_DROPPED;
	}
}

enum inject_change pack_scrub_record(void *context, const struct record *record, struct writer *out)
{
	struct pack_scrub *scrub = context;
	enum inject_change change = scrub_any(scrub, record, out);
	scrub->dropped += change == INJECT_DROPPED;
	return change;
}

/* Returns whether the name is a generic event with modifiers, or a tracepoint that was not made by users. */
static bool is_known_event(const struct perfdata_event_desc *event)
{
	struct tally_str base = event->name;
	uint64_t config;
	for (size_t i = 0; i < event->name.len; i++) {
		char c = event->name.data[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && !strchr("_:-", c))
			return false;
	}
	if (event->attr && event->attr->type == EVENT_TRACEPOINT)
		return !begins_with(event->name, "probe");
	const char *colon = base.len ? memchr(base.data, ':', base.len) : NULL;
	base.len = colon ? (size_t)(colon - base.data) : base.len;
	if (event->name.len - base.len > 8)
		return false;
	return event_symbol_find(base) || cache_event_find(base, &config);
}

static void scrub_events(struct pack_scrub *scrub, struct perfdata_features *f)
{
	struct perfdata_event_desc *events = arena_array(&scrub->arena, struct perfdata_event_desc, f->event_count);
	struct perfdata_group *groups = arena_array(&scrub->arena, struct perfdata_group, f->group_count);
	struct perfdata_build_id *ids = arena_array(&scrub->arena, struct perfdata_build_id, f->build_id_count);
	if (!events || !groups || !ids) {
		scrub->failed = true;
		return;
	}
	for (size_t i = 0; i < f->event_count; i++) {
		events[i] = f->events[i];
		events[i].name = is_known_event(&events[i]) ? pack_scrub_keep(scrub, events[i].name)
							    : pack_scrub_hide(scrub, events[i].name);
	}
	for (size_t i = 0; i < f->group_count; i++) {
		groups[i] = f->groups[i];
		groups[i].name = STR("{anon_group}");
	}
	for (size_t i = 0; i < f->build_id_count; i++) {
		ids[i] = f->build_ids[i];
		bool is_kernel = (ids[i].misc & MISC_CPUMODE_MASK) != MISC_CPUMODE_USER;
		ids[i].filename = scrub_path(scrub, ids[i].filename, is_kernel);
	}
	f->events = events;
	f->groups = groups;
	f->build_ids = ids;
}

static bool pack_scrub_stays(unsigned bit)
{
	switch (bit) {
	case FEATURE_TRACING_DATA:
	case FEATURE_BUILD_ID:
	case FEATURE_VERSION:
	case FEATURE_ARCH:
	case FEATURE_NRCPUS:
	case FEATURE_CPUDESC:
	case FEATURE_CPUID:
	case FEATURE_TOTAL_MEM:
	case FEATURE_EVENT_DESC:
	case FEATURE_CPU_TOPOLOGY:
	case FEATURE_NUMA_TOPOLOGY:
	case FEATURE_BRANCH_STACK:
	case FEATURE_GROUP_DESC:
	case FEATURE_STAT:
	case FEATURE_CACHE:
	case FEATURE_SAMPLE_TIME:
	case FEATURE_MEM_TOPOLOGY:
	case FEATURE_CLOCKID:
	case FEATURE_CLOCK_DATA:
	case FEATURE_E_MACHINE:
	case FEATURE_CLN_SIZE:
	case FEATURE_ORIGIN:
		return true;
	default:
		return false;
	}
}

static void pack_scrub_drop(struct perfdata_features *f, unsigned bit)
{
	feature_leave_out(f, bit);
	f->raw[bit] = (struct tally_bytes){NULL, 0};
}

/* Encodes the section again from its parsed fields, which removes any data between them. */
static void pack_scrub_renew(struct pack_scrub *scrub, struct perfdata_features *f, unsigned bit)
{
	struct writer w = {.swap = perfdata_reader_is_swapped(scrub->reader)};
	bool is_tracing = bit == FEATURE_TRACING_DATA;
	bool is_good = true;
	f->raw[bit].len = 0;
	if (is_tracing)
		is_good = pack_formats_scrub(f->tracing_data, &w);
	else
		feature_encode(&w, bit, f);
	struct tally_bytes made = {arena_copy(&scrub->arena, w.data, w.len), w.len};
	scrub->failed = scrub->failed || w.failed || (w.len > 0 && !made.data);
	writer_deinit(&w);
	f->raw[bit] = made;
	if (is_tracing)
		f->tracing_data = made;
	if (!is_good)
		pack_scrub_drop(f, bit);
}

void pack_scrub_features(struct pack_scrub *scrub, struct perfdata_features *f)
{
	scrub_events(scrub, f);
	for (unsigned bit = 0; bit < FEATURE_BITS && !scrub->failed; bit++) {
		if (!feature_is_present(f, bit))
			continue;
		/* A damaged origin is retained, because it is read as an unknown one. */
		bool is_damaged = feature_is_damaged(f, bit) && bit != FEATURE_ORIGIN;
		if (!pack_scrub_stays(bit) || is_damaged)
			pack_scrub_drop(f, bit);
		else
			pack_scrub_renew(scrub, f, bit);
	}
}

static void note_program(struct pack_scrub *scrub, struct tally_str path)
{
	size_t slash = path.len;
	uint32_t id;
	while (slash > 0 && path.data[slash - 1] != '/')
		slash--;
	size_t len = MIN(path.len - slash, PACK_SCRUB_COMM_BYTES);
	if (is_of_system(path) && !intern_add(&scrub->programs, path.data + slash, len, &id))
		scrub->failed = true;
}

/* Matches "/tmp/perf-123.map", which contains only the PID. */
static bool is_perf_map(struct tally_str path)
{
	static const char start[] = "/tmp/perf-", end[] = ".map";
	size_t at = sizeof(start) - 1;
	if (!begins_with(path, start))
		return false;
	while (at < path.len && path.data[at] >= '0' && path.data[at] <= '9')
		at++;
	return str_equal((struct tally_str){path.data + at, path.len - at}, str_from(end));
}

const char *pack_scrub_symbol(void *context, const char *name)
{
	return strchr(name, '/') ? pack_scrub_hide(context, str_from(name)).data : name;
}

static void scrub_object(struct pack_scrub *scrub, struct pack_object *object)
{
	bool is_kernel = object->key.kind == BINARY_KERNEL || object->key.kind == BINARY_MODULE;
	note_program(scrub, object->key.path);
	if (object->key.kind != BINARY_PERF_MAP || !is_perf_map(object->key.path))
		object->key.path = scrub_path(scrub, object->key.path, is_kernel);
	object->key.file = scrub_path(scrub, object->key.file, is_kernel);
	object->used_path = object->text = object->places_path = NULL;
	if (object->status != BINARY_OK)
		object->text = "no symbols were available where it was packed";
	for (size_t i = 0; i < object->symbols.len; i++)
		object->symbols.items[i].name = pack_scrub_symbol(scrub, object->symbols.items[i].name);
	for (size_t i = 0; i < object->places.len; i++)
		if (object->places.items[i].path)
			object->places.items[i].path = hide_path(scrub, str_from(object->places.items[i].path)).data;
}

void pack_scrub_objects(struct pack_scrub *scrub, struct pack_object *objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		scrub_object(scrub, &objects[i]);
}

void pack_scrub_tell(const struct pack_scrub *scrub, struct text *out)
{
	text_printf(out,
		"What remains: addresses, times, counts, numbers of processes, threads, CPUs and "
		"files;\ndescriptions of the CPU and the memory; build IDs; names of functions; and these names:\n");
	for (size_t i = 0; i < scrub->kept.len; i++) {
		struct tally_str name = intern_get(&scrub->kept, (uint32_t)i);
		text_printf(out, "  %.*s\n", (int)name.len, name.data);
	}
	text_printf(out, "%zu names were replaced by numbers, %llu records were removed\n", scrub->hidden.len,
		(unsigned long long)scrub->dropped);
}
