/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_cgroups.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/order.h"
#include "kernel/recording/cgroups.h"

/* A dot does not make a word a pattern, because names of systemd units contain dots. */
#define PATTERN_SIGNS "*?+^$[]|()"

static bool name_is_listed(const struct name_list *names, const char *name)
{
	for (size_t i = 0; i < names->len; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

static enum tally_status name_list_put(struct name_list *names, struct tally_str name, struct tally_error *err)
{
	char *copy = strndup(name.data, name.len);
	if (copy && name_is_listed(names, copy)) {
		free(copy);
		return TALLY_OK;
	}
	if (!copy || !vec_push(names, copy)) {
		free(copy);
		return error_nomem(err);
	}
	return TALLY_OK;
}

struct cgroup_match {
	regex_t pattern;
	struct name_list *found;
};

static enum tally_status cgroup_take(void *context, uint64_t id, struct tally_str path, struct tally_error *err)
{
	struct cgroup_match *match = context;
	regmatch_t where;
	(void)id;
	struct tally_str name = path.len > 1 ? (struct tally_str){path.data + 1, path.len - 1} : path;
	char *text = strndup(name.data, name.len);
	if (!text)
		return error_nomem(err);
	bool is_match = regexec(&match->pattern, path.len > 1 ? text : "", 1, &where, 0) == 0 && where.rm_so == 0;
	free(text);
	return is_match ? name_list_put(match->found, name, err) : TALLY_OK;
}

static enum tally_status pattern_add(
	const struct kernel_seam *kernel, struct tally_str word, struct name_list *names, struct tally_error *err)
{
	struct name_list found = {0};
	struct cgroup_match match = {.found = &found};
	/* Names of cgroups are relative to the root of the hierarchy, so a leading slash is removed. */
	bool has_slash = word.data[0] == '/';
	char *text = strndup(word.data + has_slash, word.len - has_slash);
	if (!text)
		return error_nomem(err);
	int why = regcomp(&match.pattern, text, REG_EXTENDED);
	if (why != 0) {
		char reason[128];
		regerror(why, &match.pattern, reason, sizeof(reason));
		enum tally_status status =
			error_set(err, TALLY_INVALID, "invalid pattern of cgroups: %s: %s", text, reason);
		free(text);
		return status;
	}
	enum tally_status status = cgroups_each(kernel, cgroup_take, &match, err);
	if (status == TALLY_OK && found.len == 0)
		status = error_set(err, TALLY_NOT_FOUND, "no cgroup matched: %s", text);
	if (found.len > 1)
		qsort(found.items, found.len, sizeof(*found.items), order_strings);
	for (size_t i = 0; status == TALLY_OK && i < found.len; i++)
		status = name_list_put(names, str_from(found.items[i]), err);
	name_list_deinit(&found);
	regfree(&match.pattern);
	free(text);
	return status;
}

static bool stat_cgroups_is_pattern(struct tally_str word)
{
	for (size_t i = 0; i < word.len; i++)
		if (strchr(PATTERN_SIGNS, word.data[i]))
			return true;
	return false;
}

enum tally_status stat_cgroups_find(
	const struct kernel_seam *kernel, const char *text, struct name_list *names, struct tally_error *err)
{
	struct tally_str rest = str_from(text), word;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && str_next(&rest, ',', &word)) {
		word = str_trim(word);
		if (stat_cgroups_is_pattern(word))
			status = pattern_add(kernel, word, names, err);
		else
			/* An empty name denotes the root cgroup, as in perf. */
			status = name_list_put(names, word.len ? word : STR("/"), err);
	}
	return status;
}
