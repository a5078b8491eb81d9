/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/tracepoints.h"

#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

static bool name_is_safe(struct tally_str name)
{
	return name.len > 0 && name.len < 256 && name.data[0] != '.' && !memchr(name.data, '/', name.len);
}

const char *tracefs_directory(const struct kernel_seam *kernel)
{
	const char *usual = "/sys/kernel/tracing", *old = "/sys/kernel/debug/tracing";
	if (kernel_has(kernel, "%s/events", usual))
		return usual;
	if (kernel_has(kernel, "%s/events", old))
		return old;
	if (kernel->root[0] == '\0' && geteuid() == 0 && mount("nodev", usual, "tracefs", 0, NULL) == 0)
		return usual;
	if (kernel_has(kernel, "%s", usual) && !kernel_has(kernel, "%s/README", usual) && access(usual, X_OK) != 0 &&
		kernel->root[0] == '\0')
		return usual; /* tracefs is mounted but inaccessible, and the caller will get EACCES. */
	return "";
}

static enum tally_status tracefs_missing(struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED,
		"can't access trace events: tracefs is not mounted; 'sudo mount -t tracefs nodev /sys/kernel/tracing' "
		"mounts it");
}

static enum tally_status tracefs_denied(const char *directory, struct tally_error *err)
{
	return error_set(err, TALLY_DENIED,
		"can't access trace events: no permission to read %s/events; run as root, or open it to your group "
		"with 'sudo mount -o remount,mode=755,gid=$(id -g) %s'",
		directory, directory);
}

/* Reports an unknown tracepoint and suggests the nearest name of its system. */
static enum tally_status tracepoint_unknown(const struct kernel_seam *kernel, const char *directory,
	struct tally_str system, struct tally_str name, struct tally_error *err)
{
	struct name_list names = {0};
	const char *nearest = NULL;
	char word[256];
	if (kernel_names(kernel, &names, NULL, "%s/events/%.*s", directory, (int)system.len, system.data) != TALLY_OK)
		return error_set(err, TALLY_NOT_FOUND,
			"unknown tracepoint: no tracepoint system '%.*s' under %s/events", (int)system.len, system.data,
			directory);
	snprintf(word, sizeof(word), "%.*s", (int)name.len, name.data);
	size_t found = text_nearest((const char *const *)names.items, names.len, word);
	if (found != SIZE_MAX)
		nearest = names.items[found];
	enum tally_status status = error_set(err, TALLY_NOT_FOUND,
		"unknown tracepoint: no '%s' under %s/events/%.*s%s%s%s", word, directory, (int)system.len, system.data,
		nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	name_list_deinit(&names);
	return status;
}

enum tally_status tracepoint_id(const struct kernel_seam *kernel, struct tally_str system, struct tally_str name,
	uint64_t *id, struct tally_error *err)
{
	if (!name_is_safe(system) || !name_is_safe(name))
		return error_set(err, TALLY_INVALID, "parser error: a tracepoint is named SYSTEM:NAME");
	const char *directory = tracefs_directory(kernel);
	if (!*directory)
		return tracefs_missing(err);
	char *text;
	enum tally_status status = kernel_text(kernel, &text, err, "%s/events/%.*s/%.*s/id", directory, (int)system.len,
		system.data, (int)name.len, name.data);
	if (status == TALLY_DENIED)
		return tracefs_denied(directory, err);
	if (status == TALLY_NOT_FOUND)
		return tracepoint_unknown(kernel, directory, system, name, err);
	if (status != TALLY_OK)
		return status;
	uint64_t value;
	bool ok = str_to_u64(str_from(text), 10, &value);
	free(text);
	if (!ok)
		return error_set(err, TALLY_UNSUPPORTED, "unknown tracepoint: %.*s:%.*s has no id that perf can use",
			(int)system.len, system.data, (int)name.len, name.data);
	*id = value;
	return TALLY_OK;
}

static enum tally_status system_names_add(const struct kernel_seam *kernel, const char *directory, const char *system,
	struct tally_str pattern, struct name_list *names, struct tally_error *err)
{
	struct name_list found = {0};
	enum tally_status status = kernel_names(kernel, &found, err, "%s/events/%s", directory, system);
	if (status == TALLY_NOT_FOUND)
		return TALLY_OK; /* This is a file such as events/enable, or the system was unloaded meanwhile. */
	for (size_t i = 0; i < found.len && status == TALLY_OK; i++) {
		if (!str_glob(pattern, str_from(found.items[i])) ||
			!kernel_has(kernel, "%s/events/%s/%s/id", directory, system, found.items[i]))
			continue;
		struct text full = {0};
		text_printf(&full, "%s:%s", system, found.items[i]);
		text_char(&full, '\0');
		if (full.failed || !vec_push(names, full.data)) {
			text_deinit(&full);
			status = error_nomem(err);
		}
	}
	name_list_deinit(&found);
	return status;
}

enum tally_status tracepoint_names(const struct kernel_seam *kernel, struct tally_str system_pattern,
	struct tally_str name_pattern, struct name_list *names, struct tally_error *err)
{
	const char *directory = tracefs_directory(kernel);
	if (!*directory)
		return tracefs_missing(err);
	struct name_list systems = {0}, found = {0};
	enum tally_status status = kernel_names(kernel, &systems, err, "%s/events", directory);
	if (status == TALLY_DENIED)
		return tracefs_denied(directory, err);
	for (size_t i = 0; i < systems.len && status == TALLY_OK; i++)
		if (str_glob(system_pattern, str_from(systems.items[i])))
			status = system_names_add(kernel, directory, systems.items[i], name_pattern, &found, err);
	name_list_deinit(&systems);
	if (status == TALLY_OK && found.len == 0)
		status = error_set(err, TALLY_NOT_FOUND, "unknown tracepoint: no tracepoint matches '%.*s:%.*s'",
			(int)system_pattern.len, system_pattern.data, (int)name_pattern.len, name_pattern.data);
	if (status != TALLY_OK) {
		name_list_deinit(&found);
		return status;
	}
	*names = found;
	return TALLY_OK;
}
