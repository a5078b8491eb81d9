/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/config/config_list.h"

#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/config_files.h"

struct config_list_reading {
	struct config_list *list;
	const char *path;
};

static struct config_setting *config_list_at(struct config_list *list, const char *name)
{
	for (size_t i = 0; i < list->settings.len; i++)
		if (strcmp(list->settings.items[i].name, name) == 0)
			return &list->settings.items[i];
	return NULL;
}

/* Makes room after the last setting of the section, or at the end if there is none. Returns NULL if out of memory. */
static struct config_setting *config_list_insert(struct config_list *list, const char *section)
{
	if (!vec_push(&list->settings, (struct config_setting){0}))
		return NULL;
	struct config_setting *items = list->settings.items;
	size_t at = list->settings.len - 1;
	size_t place = at;
	while (place > 0 && strcmp(items[place - 1].section, section) != 0)
		place--;
	if (place == 0)
		return &items[at];
	memmove(items + place + 1, items + place, (at - place) * sizeof(*items));
	return &items[place];
}

static enum tally_status config_list_take(void *data, const struct config_text *config, struct tally_error *err)
{
	const struct config_list_reading *reading = data;
	struct config_list *list = reading->list;
	struct tally_str value = config_text_value(config);
	struct config_setting *known = config_list_at(list, config->name);
	struct config_setting setting = {.path = reading->path};
	const char *copy = arena_string(&list->arena, value.data, value.len);
	if (known)
		setting.name = known->name, setting.section = known->section;
	else
		setting.name = arena_string(&list->arena, config->name, strlen(config->name)),
		setting.section = arena_string(&list->arena, config->section, strlen(config->section));
	if (!copy || !setting.name || !setting.section)
		return error_nomem(err);
	setting.value = (struct tally_str){copy, value.len};
	if (!known)
		known = config_list_insert(list, setting.section);
	if (!known)
		return error_nomem(err);
	*known = setting;
	return TALLY_OK;
}

enum tally_status config_list_read(
	struct config_list *list, const char *path, struct diag *notes, struct tally_error *err)
{
	struct config_list_reading reading = {list, arena_string(&list->arena, path, strlen(path))};
	if (!reading.path)
		return error_nomem(err);
	return config_files_read_file(path, config_list_take, &reading, notes, err);
}

const struct config_setting *config_list_find(const struct config_list *list, struct tally_str name)
{
	for (size_t i = 0; i < list->settings.len; i++) {
		const struct config_setting *setting = &list->settings.items[i];
		if (strlen(setting->name) == name.len && strncasecmp(setting->name, name.data, name.len) == 0)
			return setting;
	}
	return NULL;
}

void config_list_text(const struct config_list *list, struct text *out)
{
	for (size_t i = 0; i < list->settings.len; i++) {
		const struct config_setting *setting = &list->settings.items[i];
		text_str(out, setting->name);
		text_char(out, '=');
		text_bytes(out, setting->value.data, setting->value.len);
		text_char(out, '\n');
	}
}

void config_list_json(const struct config_list *list, struct text *out)
{
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_u64(&j, "schema", 1);
	json_array(&j, "settings");
	for (size_t i = 0; i < list->settings.len; i++) {
		const struct config_setting *setting = &list->settings.items[i];
		json_object(&j, NULL);
		json_string(&j, "name", str_from(setting->name));
		json_string(&j, "value", setting->value);
		json_string(&j, "file", str_from(setting->path));
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
}

void config_list_deinit(struct config_list *list)
{
	vec_free(&list->settings);
	arena_deinit(&list->arena);
}
