/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/inject/inject_build_ids.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "code/binaries/kernel_match.h"
#include "machine/binary_id.h"
#include "tasks/session/build_id.h"

#define KERNEL_NAME "[kernel.kallsyms]"
#define FILE_PREFIX "file://"
#define ANY_PID	    (-1)

struct known_id {
	struct record_build_id id;
	struct tally_str path;
};

struct id_search {
	const struct inject_ids_request *request;
	const struct inject_survey *survey;
	VEC(struct known_id) known;
	char *known_text; /* Contents of the file that --known-build-ids names; NULL if it names none. */
	struct intern listed_names, hit_names;
	VEC(size_t) listed_index; /* Maps an index of listed_names to an index of the list. */
	bool kernel_is_running;
};

static bool parse_id(struct tally_str hex, struct record_build_id *id)
{
	if (hex.len == 0 || hex.len % 2 || hex.len > 2 * sizeof(id->bytes))
		return false;
	*id = (struct record_build_id){.size = (uint8_t)(hex.len / 2)};
	for (size_t i = 0; i < id->size; i++) {
		uint64_t byte;
		if (!str_to_u64((struct tally_str){hex.data + 2 * i, 2}, 16, &byte))
			return false;
		id->bytes[i] = (uint8_t)byte;
	}
	return true;
}

static enum tally_status parse_known(
	struct id_search *search, struct tally_str list, char separator, struct tally_error *err)
{
	struct tally_str part;
	while (str_next(&list, separator, &part)) {
		struct known_id known;
		struct tally_str rest = str_trim(part), hex;
		if (rest.len == 0)
			continue;
		if (!str_next(&rest, ' ', &hex) || !parse_id(hex, &known.id) || str_trim(rest).len == 0)
			return error_set(err, TALLY_INVALID,
				"--known-build-ids takes pairs of an ID and a path, not '%.*s'", (int)part.len,
				part.data);
		known.path = str_trim(rest);
		if (!vec_push(&search->known, known))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static enum tally_status read_known(struct id_search *search, const char *known, struct tally_error *err)
{
	struct tally_str text = str_from(known);
	size_t len;
	if (!known)
		return TALLY_OK;
	if (!str_starts_with(text, STR(FILE_PREFIX)))
		return parse_known(search, text, ',', err);
	enum tally_status status =
		file_read(known + strlen(FILE_PREFIX), LIMIT_SMALL_FILE, &search->known_text, &len, err);
	return status == TALLY_OK ? parse_known(search, (struct tally_str){search->known_text, len}, '\n', err)
				  : status;
}

static bool find_known(const struct id_search *search, struct tally_str path, struct record_build_id *id)
{
	for (size_t i = 0; i < search->known.len; i++) {
		if (!str_equal(search->known.items[i].path, path))
			continue;
		*id = search->known.items[i].id;
		return true;
	}
	return false;
}

static bool read_from_file(const struct id_search *search, const struct machine_binary *binary, struct tally_str path,
	struct record_build_id *id)
{
	switch (binary->kind) {
	case MACHINE_KERNEL:
		if (search->request->vmlinux)
			return build_id_of_file(search->request->vmlinux, id);
		return search->kernel_is_running && build_id_of_kernel(id);
	case MACHINE_VDSO:
		return search->kernel_is_running && build_id_of_vdso(path, id);
	case MACHINE_USER_FILE:
	case MACHINE_KERNEL_MODULE:
		return path.len && path.data[0] == '/' && build_id_of_file(path.data, id);
	case MACHINE_ANON_JIT:
	case MACHINE_JITDUMP:
	case MACHINE_ANON_DATA:
	case MACHINE_NO_FILE:
	case MACHINE_BPF:
	default:
		return false;
	}
}

/* Finds the kernel's build ID, which a recording may list under the path of a vmlinux. */
static const struct perfdata_build_id *find_listed_kernel(const struct inject_ids *ids)
{
	for (size_t i = 0; i < ids->listed.len; i++)
		if (binary_is_listed_kernel(ids->listed.items[i].misc, ids->listed.items[i].filename))
			return &ids->listed.items[i];
	return NULL;
}

static const struct perfdata_build_id *inject_build_ids_find_listed(
	const struct id_search *search, const struct inject_ids *ids, struct tally_str name)
{
	uint32_t index = intern_find(&search->listed_names, name.data, name.len);
	return index == INTERN_NONE ? NULL : &ids->listed.items[search->listed_index.items[index]];
}

/* Appends a build ID to the list. If its file name occurs more than once, inject_build_ids_find_listed returns the
 * first. */
static bool inject_build_ids_list(struct id_search *search, const struct perfdata_build_id *id, struct inject_ids *ids)
{
	uint32_t index;
	if (!intern_add(&search->listed_names, id->filename.data, id->filename.len, &index))
		return false;
	if (index == search->listed_index.len && !vec_push(&search->listed_index, ids->listed.len))
		return false;
	return vec_push(&ids->listed, *id);
}

static void set_id(struct perfdata_build_id *item, const struct record_build_id *id)
{
	item->misc |= MISC_BUILD_ID_SIZE;
	item->size = id->size;
	memcpy(item->bytes, id->bytes, sizeof(item->bytes));
}

/* Lists the build IDs of the recording's section and records, and replaces those that the user has specified. */
static bool list_recorded(struct id_search *search, const struct perfdata_features *features, struct inject_ids *ids)
{
	for (size_t i = 0; i < features->build_id_count; i++)
		if (!inject_build_ids_list(search, &features->build_ids[i], ids))
			return false;
	for (size_t i = 0; i < search->survey->build_ids.len; i++) {
		const struct perfdata_build_id *id = &search->survey->build_ids.items[i];
		if (!inject_build_ids_find_listed(search, ids, id->filename) && !inject_build_ids_list(search, id, ids))
			return false;
	}
	for (size_t i = 0; i < ids->listed.len; i++) {
		struct record_build_id id;
		if (find_known(search, ids->listed.items[i].filename, &id))
			set_id(&ids->listed.items[i], &id);
	}
	return true;
}

static bool inject_build_ids_list_hit(struct id_search *search, uint32_t index, struct inject_ids *ids)
{
	const struct machine *machine = search->survey->pass.sideband.machine;
	const struct machine_binary *binary = machine_binary_get(machine, index);
	bool is_kernel = binary->kind == MACHINE_KERNEL || binary->kind == MACHINE_KERNEL_MODULE;
	struct tally_str path = machine_string(machine, binary->path);
	struct perfdata_build_id hit = {
		.pid = ANY_PID,
		.misc = is_kernel ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER,
		.filename = binary->kind == MACHINE_KERNEL ? STR(KERNEL_NAME) : path,
	};
	struct record_build_id id = binary->build_id;
	size_t names_before = search->hit_names.len;
	uint32_t name;
	if (!intern_add(&search->hit_names, hit.filename.data, hit.filename.len, &name))
		return false;
	/* A file that was mapped several times is listed once. */
	if (search->hit_names.len == names_before)
		return true;
	const struct perfdata_build_id *listed = binary->kind == MACHINE_KERNEL
							 ? find_listed_kernel(ids)
							 : inject_build_ids_find_listed(search, ids, hit.filename);
	if (find_known(search, hit.filename, &id) || id.size > 0) {
		set_id(&hit, &id);
	} else if (listed) {
		hit.size = listed->size;
		memcpy(hit.bytes, listed->bytes, sizeof(hit.bytes));
		hit.misc |= MISC_BUILD_ID_SIZE;
	} else if (read_from_file(search, binary, path, &id)) {
		set_id(&hit, &id);
	}
	if (hit.size > 0 && !listed && !inject_build_ids_list(search, &hit, ids))
		return false;
	return vec_push(&ids->hits, hit);
}

/* Returns whether the running kernel has the recorded release but is another build, whose text has another length or
 * address. */
static bool is_of_another_build(const struct inject_survey *survey)
{
	const struct machine *machine = survey->pass.sideband.machine;
	enum kernel_match match = KERNEL_MATCH_UNKNOWN;
	struct kallsyms list;
	char *text;
	size_t len;
	if (!machine || file_read("/proc/kallsyms", LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return false;
	kallsyms_open(text, len, &list);
	for (uint32_t i = 0; i < machine_binary_count(machine) && match != KERNEL_MATCH_OTHER; i++) {
		const struct machine_binary *binary = machine_binary_get(machine, i);
		if (binary->kind == MACHINE_KERNEL && binary->build_id.size == 0)
			match = kernel_match_list(&list, binary->start, binary->text_end);
	}
	free(text);
	return match == KERNEL_MATCH_OTHER;
}

static bool is_of_running_kernel(const struct perfdata_features *features)
{
	struct utsname name;
	return uname(&name) == 0 && str_equal(features->osrelease, str_from(name.release)) &&
	       str_equal(features->arch, str_from(name.machine));
}

static enum tally_status search_all(struct id_search *search, const struct perfdata_features *features,
	struct inject_ids *ids, struct tally_error *err)
{
	const struct inject_survey *survey = search->survey;
	enum tally_status status = read_known(search, search->request->known, err);
	if (status != TALLY_OK)
		return status;
	if (!list_recorded(search, features, ids))
		return error_nomem(err);
	if (!survey->pass.sideband.machine)
		return TALLY_OK;
	size_t count = machine_binary_count(survey->pass.sideband.machine);
	for (uint32_t i = 0; i < count; i++)
		if (survey->is_hit[i] && !inject_build_ids_list_hit(search, i, ids))
			return error_nomem(err);
	return TALLY_OK;
}

enum tally_status inject_ids_read(struct perfdata_reader *reader, const struct inject_survey *survey,
	const struct inject_ids_request *request, struct inject_ids *ids, struct tally_error *err)
{
	const struct perfdata_features *features = perfdata_reader_features(reader);
	struct id_search search = {
		.request = request,
		.survey = survey,
		.kernel_is_running =
			!request->kernel_is_foreign && is_of_running_kernel(features) && !is_of_another_build(survey),
	};
	*ids = (struct inject_ids){0};
	intern_init(&search.listed_names);
	intern_init(&search.hit_names);
	enum tally_status status = search_all(&search, features, ids, err);
	intern_deinit(&search.listed_names);
	intern_deinit(&search.hit_names);
	vec_free(&search.listed_index);
	vec_free(&search.known);
	free(search.known_text);
	if (status != TALLY_OK)
		inject_ids_deinit(ids);
	return status;
}

void inject_ids_deinit(struct inject_ids *ids)
{
	vec_free(&ids->hits);
	vec_free(&ids->listed);
	*ids = (struct inject_ids){0};
}
