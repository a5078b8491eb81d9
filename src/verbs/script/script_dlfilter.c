/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_dlfilter.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi/branch.h"
#include "analysis/store_entry.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/shared_object.h"
#include "verbs/script/script_rows.h"

#define SCRIPT_DLFILTER_PATH_BYTES 4096
#define OBJECT_BYTES		   (64u << 20) /* Size limit for files of a listed directory; filters have some kB. */
/* Minimum size of the attr, so that a filter built for a newer struct perf_event_attr reads zeros. */
#define ATTR_BYTES		   256
#define STAGE_SYMBOL		   (stage == DLFILTER_EARLY ? "filter_event_early" : "filter_event")
#define SCRIPT_DLFILTER_NAME_WIDTH 36
#define FOLDER_IN_HOME		   "libexec/perf-core"

typedef int (*event_function)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
typedef int (*start_function)(void **data, void *ctx);
typedef int (*stop_function)(void *data, void *ctx);
typedef const char *(*description_function)(const char **long_description);

/* Stores a function's address by memcpy, because ISO C has no conversion from void * to function pointers. */
static void script_dlfilter_find_function(void *handle, const char *name, void *function)
{
	void *found = dlsym(handle, name);
	memcpy(function, &found, sizeof(found));
}

static void describe_file(
	struct script_dlfilter *f, const struct script_spot *spot, uint8_t *build_id, struct perf_dlfilter_al *al)
{
	struct binary_store *store = f->code->store;
	struct binary_code code;
	al->is_64_bit = 1;
	if (spot->store_id == STORE_ENTRY_NONE)
		return;
	const struct symbol *symbol = binary_store_find(store, spot->store_id, spot->address);
	struct binary_info info = binary_store_info(store, spot->store_id);
	if (symbol) {
		al->sym_start = symbol->start;
		al->sym_end = symbol->end;
		al->sym_binding = symbol->binding == 'l' ? STB_LOCAL : symbol->binding == 'w' ? STB_WEAK : STB_GLOBAL;
	}
	if (!spot->is_kernel &&
		binary_store_code(store, spot->store_id, spot->address, spot->address + 1, &code, NULL) == TALLY_OK)
		al->is_64_bit = code.is_64;
	memcpy(build_id, info.build_id, sizeof(info.build_id));
	al->buildid = build_id;
	al->buildid_size = info.build_id_size;
}

/* Returns false if out of memory. */
static bool script_dlfilter_describe(
	struct script_dlfilter *f, unsigned cpumode, uint64_t address, uint8_t *build_id, struct perf_dlfilter_al *al)
{
	struct script_places *places = f->code->places;
	struct script_place place;
	struct script_spot spot;
	*al = (struct perf_dlfilter_al){.size = sizeof(*al), .addr = address};
	if (!script_place_find(places, &f->where, cpumode, address, &place) ||
		!script_code_find(f->code, &f->where, cpumode, address, &spot)) {
		f->failed = true;
		return false;
	}
	al->is_kernel_ip = script_cpumode_of(places, address) == MISC_CPUMODE_KERNEL;
	struct resolved_frame frame = resolved_frame_get(&places->resolver->frames, place.frame);
	if (frame.binary == RESOLVE_NONE)
		return true;
	const struct frame_name *name = place.name;
	al->addr = resolved_frame_shown(&frame);
	al->dso = name->has_short_name ? name->shown.data : name->path.data;
	al->sym = name->symbol;
	al->symoff = (uint32_t)name->symbol_offset;
	describe_file(f, &spot, build_id, al);
	return true;
}

static const struct perf_dlfilter_al *resolve_ip(void *ctx)
{
	struct script_dlfilter *f = ctx;
	struct perf_dlfilter_al *al = &f->places[0];
	bool is_wanted = true;
	if (!f->probe || !(f->probe->sample->present & SAMPLE_IP))
		return NULL;
	if (al->size)
		return al;
	if (!script_dlfilter_describe(f, f->probe->cpumode, f->probe->sample->ip, f->build_ids[0], al))
		return NULL;
	if (!script_filter_wants_place(f->filter, f->code->places, f->probe, &is_wanted))
		f->failed = true;
	al->filtered = !is_wanted;
	const struct machine *machine = f->code->places->machine;
	uint32_t comm = machine_comm_at(machine, (int32_t)f->probe->sample->tid, f->probe->clock);
	al->comm = comm == INTERN_NONE ? NULL : machine_string(machine, comm).data;
	return al;
}

static const struct perf_dlfilter_al *resolve_addr(void *ctx)
{
	struct script_dlfilter *f = ctx;
	struct perf_dlfilter_al *al = &f->places[1];
	if (!f->probe || !f->sample.addr_correlates_sym)
		return NULL;
	uint64_t address = f->probe->sample->addr;
	unsigned cpumode = script_data_cpumode(f->code->places, f->probe->cpumode, address);
	if (!al->size && !script_dlfilter_describe(f, cpumode, address, f->build_ids[1], al))
		return NULL;
	return al;
}

static char **get_args(void *ctx, int *count)
{
	const struct script_dlfilter *f = ctx;
	*count = (int)f->request->arguments.len;
	return f->request->arguments.items;
}

static __s32 resolve_address(void *ctx, __u64 address, struct perf_dlfilter_al *to)
{
	struct script_dlfilter *f = ctx;
	struct perf_dlfilter_al al;
	if (!f->probe || !to || to->size < sizeof(to->size))
		return -1;
	if (!script_dlfilter_describe(f, script_cpumode_of(f->code->places, address), address, f->build_ids[2], &al))
		return -1;
	/* Copies only as much as the struct that the filter was built with can hold. */
	al.size = to->size < sizeof(al) ? to->size : (uint32_t)sizeof(al);
	memcpy(to, &al, al.size);
	return 0;
}

static const __u8 *get_insn(void *ctx, __u32 *length)
{
	struct script_dlfilter *f = ctx;
	struct script_spot spot;
	struct script_step step;
	*length = 0;
	if (!f->probe || !(f->probe->sample->present & SAMPLE_IP))
		return NULL;
	uint64_t ip = f->probe->sample->ip;
	f->failed = f->failed || !script_code_find(f->code, &f->where, f->probe->cpumode, ip, &spot);
	if (f->failed || !script_code_decode(f->code, &spot, ip, &step))
		return NULL;
	*length = (uint32_t)step.bytes.len;
	return step.bytes.data;
}

static const char *get_srcline(void *ctx, __u32 *line)
{
	struct script_dlfilter *f = ctx;
	struct script_places *places = f->code->places;
	struct script_place place;
	*line = 0;
	if (!f->probe || !(f->probe->sample->present & SAMPLE_IP))
		return NULL;
	if (!script_place_find(places, &f->where, f->probe->cpumode, f->probe->sample->ip, &place) ||
		!frame_names_places(places->names, place.frame, place.name)) {
		f->failed = true;
		return NULL;
	}
	const struct source_place *at = place.name->place_count ? &place.name->places[0] : NULL;
	if (!at || !at->path)
		return NULL;
	*line = at->line;
	return at->path;
}

static struct perf_event_attr *get_attr(void *ctx)
{
	struct script_dlfilter *f = ctx;
	if (!f->probe)
		return NULL;
	writer_clear(&f->attr);
	attr_encode(&f->attr, &f->probe->event->attr);
	if (f->attr.len < ATTR_BYTES)
		writer_zeros(&f->attr, ATTR_BYTES - f->attr.len);
	f->failed = f->failed || f->attr.failed;
	return f->attr.failed ? NULL : (struct perf_event_attr *)(void *)f->attr.data;
}

static __s32 get_object_code(void *ctx, __u64 ip, void *buffer, __u32 len)
{
	struct script_dlfilter *f = ctx;
	struct script_spot spot;
	if (!f->probe)
		return -1;
	unsigned cpumode = script_cpumode_of(f->code->places, ip);
	if (!script_code_find(f->code, &f->where, cpumode, ip, &spot)) {
		f->failed = true;
		return -1;
	}
	size_t read = script_code_read(f->code, &spot, buffer, MIN(len, INT32_MAX));
	return read ? (__s32)read : -1;
}

static void clean_al(void *ctx, struct perf_dlfilter_al *al)
{
	(void)ctx;
	(void)al; /* All memory that the struct points to belongs to the filter's state. */
}

static const struct perf_dlfilter_fns functions = {.resolve_ip = resolve_ip,
	.resolve_addr = resolve_addr,
	.args = get_args,
	.resolve_address = resolve_address,
	.insn = get_insn,
	.srcline = get_srcline,
	.attr = get_attr,
	.object_code = get_object_code,
	.al_cleanup = clean_al};

/* Stores the nth directory that is searched for filters. Returns false if there is none. */
static bool folder_at(unsigned nth, char *path, size_t path_bytes)
{
	const char *chosen = getenv("PERF_EXEC_PATH"), *home = getenv("HOME");
	const char *folders[] = {chosen ? chosen : "/usr/lib/perf-core", chosen ? "" : "/usr/libexec/perf-core"};
	path[0] = '\0';
	if (nth < ARRAY_LEN(folders) && *folders[nth])
		snprintf(path, path_bytes, "%s/dlfilters", folders[nth]);
	else if (nth == ARRAY_LEN(folders) && home && !chosen)
		snprintf(path, path_bytes, "%s/" FOLDER_IN_HOME "/dlfilters", home);
	return nth <= ARRAY_LEN(folders);
}

static void *open_by_name(const char *name)
{
	char folder[SCRIPT_DLFILTER_PATH_BYTES], path[SCRIPT_DLFILTER_PATH_BYTES + 256];
	if (strchr(name, '/'))
		return shared_object_open(name, RTLD_NOW);
	snprintf(path, sizeof(path), "./%s", name);
	if (access(path, R_OK) == 0)
		return shared_object_open(path, RTLD_NOW);
	for (unsigned i = 0; folder_at(i, folder, sizeof(folder)); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (*folder && access(path, R_OK) == 0)
			return shared_object_open(path, RTLD_NOW);
	}
	return shared_object_open(name, RTLD_NOW);
}

enum tally_status script_dlfilter_open(
	struct script_dlfilter *f, const struct script_dlfilter_request *request, struct tally_error *err)
{
	*f = (struct script_dlfilter){.request = request};
	if (!request->path)
		return TALLY_OK;
	f->handle = open_by_name(request->path);
	if (!f->handle)
		return error_set(
			err, TALLY_NOT_FOUND, "dlopen failed for: '%s': %s", request->path, shared_object_error());
	struct perf_dlfilter_fns *theirs = dlsym(f->handle, "perf_dlfilter_fns");
	if (theirs)
		*theirs = functions;
	return TALLY_OK;
}

void script_dlfilter_close(struct script_dlfilter *f)
{
	if (f->handle)
		dlclose(f->handle);
	vec_free(&f->words);
	writer_deinit(&f->attr);
	*f = (struct script_dlfilter){0};
}

enum tally_status script_dlfilter_start(struct script_dlfilter *f, struct tally_error *err)
{
	start_function start = NULL;
	if (!f->handle)
		return TALLY_OK;
	script_dlfilter_find_function(f->handle, "start", &start);
	int code = start ? start(&f->data, f) : 0;
	return code ? error_set(err, TALLY_INVALID, "start of %s returned %d", f->request->path, code) : TALLY_OK;
}

enum tally_status script_dlfilter_stop(struct script_dlfilter *f, struct text *out, struct tally_error *err)
{
	stop_function stop = NULL;
	if (!f->handle)
		return TALLY_OK;
	(void)script_dlfilter_pass(f, out);
	script_dlfilter_find_function(f->handle, "stop", &stop);
	if (stop)
		(void)stop(f->data, f); /* The result is ignored: all samples have been processed. */
	if (script_dlfilter_flush(f, out) || f->write_errno == EPIPE)
		return TALLY_OK;
	return error_set_errno(err, TALLY_IO, f->write_errno, "cannot write to standard output");
}

/* Encodes the flags of a branch as the kernel does, in native byte order. */
static uint64_t branch_word(const struct sample *sample, uint32_t index)
{
	struct sample_branch b = sample_branch_at(sample, index);
	return (uint64_t)b.is_mispredicted | (uint64_t)b.is_predicted << 1 | (uint64_t)b.in_transaction << 2 |
	       (uint64_t)b.is_abort << 3 | (uint64_t)b.cycles << 4 | (uint64_t)b.type << 20 |
	       (uint64_t)b.more_type << 26;
}

/* Copies branches and call chain in native byte order and aligned. Returns false if out of memory. */
static bool copy_words(struct script_dlfilter *f, const struct sample *sample)
{
	uint32_t branches = sample->branches.entries.count / SAMPLE_BRANCH_WORDS * SAMPLE_BRANCH_WORDS;
	uint32_t chain = sample->callchain.count;
	f->words.len = 0;
	if (!vec_reserve(&f->words, (size_t)branches + chain + 1))
		return false;
	for (uint32_t i = 0; i < branches; i++) {
		bool is_flags = i % SAMPLE_BRANCH_WORDS == SAMPLE_BRANCH_WORDS - 1;
		f->words.items[f->words.len++] =
			is_flags && sample->swap ? branch_word(sample, i / SAMPLE_BRANCH_WORDS)
						 : sample_u64_at(sample->branches.entries.data, i, sample->swap);
	}
	for (uint32_t i = 0; i < chain; i++)
		f->words.items[f->words.len++] = sample_u64_at(sample->callchain.data, i, sample->swap);
	f->sample.brstack_nr = branches / SAMPLE_BRANCH_WORDS;
	f->sample.brstack = branches ? (const struct perf_branch_entry *)(const void *)f->words.items : NULL;
	f->sample.raw_callchain_nr = chain;
	f->sample.raw_callchain = chain ? (const __u64 *)(const void *)(f->words.items + branches) : NULL;
	return true;
}

static bool make_sample(struct script_dlfilter *f)
{
	const struct sample *s = f->probe->sample;
	const struct perfdata_event *event = f->probe->event;
	bool is_struct = (s->present & SAMPLE_WEIGHT_STRUCT) != 0;
	bool has_id = s->present & (SAMPLE_ID | SAMPLE_IDENTIFIER);
	f->sample = (struct perf_dlfilter_sample){
		.size = sizeof(f->sample),
		.ins_lat = is_struct ? (uint16_t)(s->weight >> 32) : 0,
		.p_stage_cyc = is_struct ? (uint16_t)(s->weight >> 48) : 0,
		.ip = s->ip,
		.pid = (int32_t)s->pid,
		.tid = (int32_t)s->tid,
		.time = s->present & SAMPLE_TIME ? s->time : UINT64_MAX,
		.addr = s->addr,
		.id = has_id ? s->id : UINT64_MAX,
		.stream_id = s->present & SAMPLE_STREAM_ID ? s->stream_id : UINT64_MAX,
		.period = s->period,
		.weight = is_struct ? (uint32_t)s->weight : s->weight,
		.transaction = s->transaction,
		.cpu = s->present & SAMPLE_CPU ? (int32_t)s->cpu : -1,
		.data_src = s->data_src,
		.phys_addr = s->phys_addr,
		.data_page_size = s->data_page_size,
		.code_page_size = s->code_page_size,
		.cgroup = s->cgroup,
		.cpumode = (uint8_t)f->probe->cpumode,
		.addr_correlates_sym = (s->present & SAMPLE_ADDR) && script_has_named_address(&event->attr),
		.misc = f->probe->misc,
		.raw_size = (uint32_t)s->raw.len,
		.raw_data = s->raw.data,
		.event = event->name.data,
		.vcpu = -1,
	};
	f->places[0].size = f->places[1].size = 0;
	return copy_words(f, s);
}

enum tally_status script_dlfilter_wants(struct script_dlfilter *f, const struct script_probe *probe,
	enum dlfilter_stage stage, bool *wanted, struct tally_error *err)
{
	event_function function = NULL;
	*wanted = true;
	if (!f->handle)
		return TALLY_OK;
	script_dlfilter_find_function(f->handle, STAGE_SYMBOL, &function);
	if (!function)
		return TALLY_OK;
	f->probe = probe;
	f->where = resolver_where(f->code->places->resolver, (int32_t)probe->sample->pid, probe->clock);
	bool is_made = make_sample(f);
	int code = is_made ? function(f->data, &f->sample, f) : 0;
	f->probe = NULL; /* It belongs to the caller. */
	if (!is_made || f->failed)
		return error_nomem(err);
	*wanted = code == 0;
	return code < 0 ? error_set(err, TALLY_INVALID, "%s of %s returned %d", STAGE_SYMBOL, f->request->path, code)
			: TALLY_OK;
}

bool script_dlfilter_pass(struct script_dlfilter *f, struct text *out)
{
	if (!f->handle || out->len == 0)
		return true;
	if (fwrite(out->data, 1, out->len, stdout) != out->len && !f->write_errno)
		f->write_errno = errno;
	text_clear(out);
	return !f->write_errno;
}

bool script_dlfilter_flush(struct script_dlfilter *f, struct text *out)
{
	if (!f->handle)
		return true;
	(void)script_dlfilter_pass(f, out);
	if (fflush(stdout) != 0 && !f->write_errno)
		f->write_errno = errno;
	return !f->write_errno;
}

/* Loading an object executes its constructors, so only files with this function name are loaded. */
static bool may_be_filter(const char *path)
{
	char *data;
	size_t len;
	if (file_read(path, OBJECT_BYTES, &data, &len, NULL) != TALLY_OK)
		return false;
	bool has_function = memmem(data, len, "filter_event", strlen("filter_event")) != NULL;
	free(data);
	return has_function;
}

static void list_file(struct text *out, const char *folder, const char *name, bool with_long_descriptions)
{
	char path[SCRIPT_DLFILTER_PATH_BYTES + 256];
	const char *more = NULL;
	description_function describe_filter = NULL;
	event_function late = NULL, early = NULL;
	size_t len = strlen(name);
	if (len < 3 || strcmp(name + len - 3, ".so") != 0)
		return;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	void *handle = may_be_filter(path) ? shared_object_open(path, RTLD_NOW) : NULL;
	if (!handle)
		return;
	script_dlfilter_find_function(handle, "filter_event", &late);
	script_dlfilter_find_function(handle, "filter_event_early", &early);
	script_dlfilter_find_function(handle, "filter_description", &describe_filter);
	if (late || early) {
		const char *what = describe_filter ? describe_filter(&more) : NULL;
		text_str(out, "  ");
		text_str_left(out, str_from(name), SCRIPT_DLFILTER_NAME_WIDTH);
		text_printf(out, " %s\n", what ? what : "");
		if (more && with_long_descriptions)
			text_printf(out, "%*s%s\n", SCRIPT_DLFILTER_NAME_WIDTH + 3, "", more);
	}
	dlclose(handle);
}

static int script_dlfilter_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void script_dlfilter_list_folder(struct text *out, const char *folder, bool with_long_descriptions)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, script_dlfilter_by_name);
	for (int i = 0; i < count; i++) {
		list_file(out, folder, entries[i]->d_name, with_long_descriptions);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

void script_dlfilter_list(struct text *out, bool with_long_descriptions)
{
	char folder[SCRIPT_DLFILTER_PATH_BYTES];
	text_str(out, "List of available dlfilters:\n");
	script_dlfilter_list_folder(out, ".", with_long_descriptions);
	for (unsigned i = 0; folder_at(i, folder, sizeof(folder)); i++)
		if (*folder)
			script_dlfilter_list_folder(out, folder, with_long_descriptions);
}
