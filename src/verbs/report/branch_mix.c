/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/branch_mix.h"

void branch_mix_add(struct branch_mix *mix, uint64_t kind, uint64_t count)
{
	unsigned type = kind & BRANCH_KIND_TYPE;
	if (type == 0 || type >= BRANCH_KINDS)
		return;
	mix->total += count;
	mix->types[type] += count;
	if (kind & BRANCH_KIND_CROSS_2M)
		mix->cross_2m += count;
	else if (kind & BRANCH_KIND_CROSS_4K)
		mix->cross_4k += count;
	if (type == BRANCH_KIND_CONDITION)
		*(kind & BRANCH_KIND_BACKWARD ? &mix->backward : &mix->forward) += count;
}

static void branch_mix_print_share(
	const struct branch_mix *mix, struct tally_str name, uint64_t count, struct text *out)
{
	if (!count)
		return;
	text_str_right(out, name, 8);
	text_printf(out, ": %5.1f%%\n", 100.0 * (double)count / (double)mix->total);
}

void branch_mix_print(const struct branch_mix *mix, struct text *out)
{
	if (!mix->total)
		return;
	text_str(out, "\n#\n# Branch Statistics:\n#\n");
	branch_mix_print_share(mix, STR("COND_FWD"), mix->forward, out);
	branch_mix_print_share(mix, STR("COND_BWD"), mix->backward, out);
	branch_mix_print_share(mix, STR("CROSS_4K"), mix->cross_4k, out);
	branch_mix_print_share(mix, STR("CROSS_2M"), mix->cross_2m, out);
	struct text name = {0};
	for (unsigned type = 1; type < BRANCH_KINDS; type++) {
		text_clear(&name);
		branch_kind_print(&name, type);
		branch_mix_print_share(mix, text_view(&name), mix->types[type], out);
	}
	out->failed = out->failed || name.failed;
	text_deinit(&name);
}

void branch_mix_json(const struct branch_mix *mix, struct json *j)
{
	if (!mix->total)
		return;
	json_object(j, "branch_types");
	json_u64(j, "branches", mix->total);
	json_u64(j, "conditional_forward", mix->forward);
	json_u64(j, "conditional_backward", mix->backward);
	json_u64(j, "cross_4k", mix->cross_4k);
	json_u64(j, "cross_2m", mix->cross_2m);
	json_array(j, "types");
	struct text name = {0};
	for (unsigned type = 1; type < BRANCH_KINDS; type++) {
		if (!mix->types[type])
			continue;
		text_clear(&name);
		branch_kind_print(&name, type);
		json_object(j, NULL);
		json_string(j, "type", text_view(&name));
		json_u64(j, "count", mix->types[type]);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
	j->out->failed = j->out->failed || name.failed;
	text_deinit(&name);
}
