/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/sample_filter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "abi/perf_constants.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

#define PATH_ROOM 4096
#define WORD_ROOM 64

/* ---- fields and values ---- */

static const struct sample_filter_field {
	const char *name;
	enum sample_filter_term term;
	uint64_t flags; /* Sample type bits of which at least one must be set; 0 if the field is always known. */
	const char *flag_name, *option; /* The option sets the flag; NULL if none is necessary. */
} fields[] = {
	{"ip", FILTER_IP, SAMPLE_IP, "PERF_SAMPLE_IP", NULL},
	{"id", FILTER_ID, SAMPLE_ID | SAMPLE_IDENTIFIER, "PERF_SAMPLE_ID", "--sample-identifier"},
	{"tid", FILTER_TID, SAMPLE_TID, "PERF_SAMPLE_TID", NULL},
	{"pid", FILTER_PID, SAMPLE_TID, "PERF_SAMPLE_TID", NULL},
	{"cpu", FILTER_CPU, SAMPLE_CPU, "PERF_SAMPLE_CPU", "--sample-cpu"},
	{"time", FILTER_TIME, SAMPLE_TIME, "PERF_SAMPLE_TIME", "-T"},
	{"addr", FILTER_ADDR, SAMPLE_ADDR, "PERF_SAMPLE_ADDR", "-d"},
	{"period", FILTER_PERIOD, 0, NULL, NULL},
	{"txn", FILTER_TXN, SAMPLE_TRANSACTION, "PERF_SAMPLE_TRANSACTION", "--transaction"},
	{"weight", FILTER_WEIGHT, SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT", "-W"},
	{"weight1", FILTER_WEIGHT1, SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W"},
	{"weight2", FILTER_WEIGHT2, SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W"},
	{"ins_lat", FILTER_WEIGHT2, SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W"},
	{"weight3", FILTER_WEIGHT3, SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W"},
	{"retire_lat", FILTER_WEIGHT3, SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W"},
	{"p_stage_cyc", FILTER_WEIGHT3, SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W"},
	{"phys_addr", FILTER_PHYS_ADDR, SAMPLE_PHYS_ADDR, "PERF_SAMPLE_PHYS_ADDR", "--phys-data"},
	{"code_pgsz", FILTER_CODE_PAGE_SIZE, SAMPLE_CODE_PAGE_SIZE, "PERF_SAMPLE_CODE_PAGE_SIZE", "--code-page-size"},
	{"data_pgsz", FILTER_DATA_PAGE_SIZE, SAMPLE_DATA_PAGE_SIZE, "PERF_SAMPLE_DATA_PAGE_SIZE", "--data-page-size"},
	{"mem_op", FILTER_MEM_OP, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"mem_lvl", FILTER_MEM_LEVEL, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"mem_snoop", FILTER_MEM_SNOOP, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"mem_remote", FILTER_MEM_REMOTE, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"mem_lock", FILTER_MEM_LOCK, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"mem_dtlb", FILTER_MEM_DTLB, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"mem_blk", FILTER_MEM_BLK, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"mem_hops", FILTER_MEM_HOPS, SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d"},
	{"uid", FILTER_UID, 0, NULL, NULL},
	{"gid", FILTER_GID, 0, NULL, NULL},
	{"cgroup", FILTER_CGROUP, SAMPLE_CGROUP, "PERF_SAMPLE_CGROUP", "--all-cgroups"},
};

/* Names of values: the codes and bits of perf_mem_data_src (linux/perf_event.h). */
static const struct sample_filter_constant {
	enum sample_filter_term term;
	const char *name;
	uint64_t value;
} constants[] = {
	{FILTER_MEM_OP, "na", 0x01},
	{FILTER_MEM_OP, "load", 0x02},
	{FILTER_MEM_OP, "store", 0x04},
	{FILTER_MEM_OP, "pfetch", 0x08},
	{FILTER_MEM_OP, "exec", 0x10},
	{FILTER_MEM_LEVEL, "l1", 0x01},
	{FILTER_MEM_LEVEL, "l2", 0x02},
	{FILTER_MEM_LEVEL, "l3", 0x03},
	{FILTER_MEM_LEVEL, "l4", 0x04},
	{FILTER_MEM_LEVEL, "cxl", 0x09},
	{FILTER_MEM_LEVEL, "io", 0x0a},
	{FILTER_MEM_LEVEL, "any_cache", 0x0b},
	{FILTER_MEM_LEVEL, "lfb", 0x0c},
	{FILTER_MEM_LEVEL, "ram", 0x0d},
	{FILTER_MEM_LEVEL, "pmem", 0x0e},
	{FILTER_MEM_LEVEL, "na", 0x0f},
	{FILTER_MEM_SNOOP, "na", 0x01},
	{FILTER_MEM_SNOOP, "none", 0x02},
	{FILTER_MEM_SNOOP, "hit", 0x04},
	{FILTER_MEM_SNOOP, "miss", 0x08},
	{FILTER_MEM_SNOOP, "hitm", 0x10},
	{FILTER_MEM_SNOOP, "fwd", 0x20}, /* The bits of mem_snoopx lie above those of mem_snoop. */
	{FILTER_MEM_SNOOP, "peer", 0x40},
	{FILTER_MEM_REMOTE, "remote", 1},
	{FILTER_MEM_LOCK, "na", 0x01},
	{FILTER_MEM_LOCK, "locked", 0x02},
	{FILTER_MEM_DTLB, "na", 0x01},
	{FILTER_MEM_DTLB, "l1_hit", 0x08 | 0x02},
	{FILTER_MEM_DTLB, "l1_miss", 0x08 | 0x04},
	{FILTER_MEM_DTLB, "l2_hit", 0x10 | 0x02},
	{FILTER_MEM_DTLB, "l2_miss", 0x10 | 0x04},
	{FILTER_MEM_DTLB, "any_hit", 0x02},
	{FILTER_MEM_DTLB, "any_miss", 0x04},
	{FILTER_MEM_DTLB, "walk", 0x20},
	{FILTER_MEM_DTLB, "fault", 0x40},
	{FILTER_MEM_BLK, "na", 0x01},
	{FILTER_MEM_BLK, "by_data", 0x02},
	{FILTER_MEM_BLK, "by_addr", 0x04},
	{FILTER_MEM_HOPS, "hops0", 1},
	{FILTER_MEM_HOPS, "hops1", 2},
	{FILTER_MEM_HOPS, "hops2", 3},
	{FILTER_MEM_HOPS, "hops3", 4},
};

/* Longer operators come first, because the first match counts. */
static const struct {
	const char *text;
	enum sample_filter_operator op;
} operators[] = {{"==", FILTER_EQUAL}, {"!=", FILTER_NOT_EQUAL}, {">=", FILTER_GREATER_EQUAL},
	{"<=", FILTER_LESS_EQUAL}, {">", FILTER_GREATER}, {"<", FILTER_LESS}, {"&", FILTER_ANY_BIT}};

static const struct sample_filter_field *field_of_term(uint32_t term)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].term == term)
			return &fields[i];
	return NULL;
}

const char *sample_filter_term_name(enum sample_filter_term term)
{
	const struct sample_filter_field *field = field_of_term(term);
	return field ? field->name : "?";
}

/* ---- parsing ---- */

struct sample_filter_text {
	const char *begin, *at;
	const struct kernel_seam *kernel;
	struct tally_error *err;
};

static void filter_skip_blanks(struct sample_filter_text *t)
{
	while (isspace((unsigned char)*t->at))
		t->at++;
}

static struct tally_str read_word(struct sample_filter_text *t)
{
	const char *begin = t->at;
	while (isalnum((unsigned char)*t->at) || *t->at == '_')
		t->at++;
	return (struct tally_str){begin, (size_t)(t->at - begin)};
}

/* Reports a mistake at the given position. */
static enum tally_status filter_mistake(struct sample_filter_text *t, const char *where, const char *what)
{
	enum tally_status status = error_set(t->err, TALLY_INVALID, "%s", what);
	if (t->err)
		t->err->offset = (uint64_t)(where - t->begin);
	return status;
}

/* `names` lists all words that are valid here. */
static enum tally_status filter_unknown_word(
	struct sample_filter_text *t, struct tally_str word, const char *kind, const char *const *names, size_t count)
{
	struct text what = {0};
	char copy[WORD_ROOM];
	snprintf(copy, sizeof(copy), "%.*s", (int)(MIN(word.len, sizeof(copy) - 1)), word.data);
	size_t near = text_nearest(names, count, copy);
	if (word.len == 0)
		text_printf(&what, "expected %s", kind);
	else
		text_printf(&what, "unknown %s '%s'", kind, copy);
	if (near != SIZE_MAX && word.len > 0)
		text_printf(&what, ", did you mean '%s'?", names[near]);
	for (size_t i = 0; near == SIZE_MAX && i < count; i++)
		text_printf(&what, "%s%s", i == 0 ? ": one of " : i + 1 == count ? " or " : ", ", names[i]);
	text_char(&what, '\0');
	enum tally_status status = what.failed ? error_nomem(t->err) : filter_mistake(t, word.data, what.data);
	text_deinit(&what);
	return status;
}

static enum tally_status read_field(struct sample_filter_text *t, const struct sample_filter_field **field)
{
	const char *names[ARRAY_LEN(fields)];
	struct tally_str word = read_word(t);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		names[i] = fields[i].name;
		if (str_equal(word, str_from(fields[i].name))) {
			*field = &fields[i];
			return TALLY_OK;
		}
	}
	return filter_unknown_word(t, word, "field of a sample", names, ARRAY_LEN(names));
}

static enum tally_status read_operator(struct sample_filter_text *t, unsigned short *op)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t len = strlen(operators[i].text);
		if (strncmp(t->at, operators[i].text, len) != 0 || strncmp(t->at, "&&", 2) == 0)
			continue;
		*op = (unsigned short)operators[i].op;
		t->at += len;
		return TALLY_OK;
	}
	return filter_mistake(t, t->at,
		*t->at == '=' ? "the operator is '=='" : "expected an operator: one of ==, !=, >, >=, <, <= or &");
}

/* The ID of a cgroup is the inode number of its directory (Linux 5.5, cgroup v2). */
static enum tally_status read_cgroup(struct sample_filter_text *t, uint64_t *value)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	const char *begin = t->at;
	char path[PATH_ROOM];
	struct stat info;
	while (*t->at && *t->at != ',' && *t->at != '|' && !isspace((unsigned char)*t->at))
		t->at++;
	struct tally_str name = {begin, (size_t)(t->at - begin)};
	if (name.len == 0)
		return filter_mistake(t, begin, "expected the path of a cgroup, or its number");
	if (str_to_u64(name, 0, value))
		return TALLY_OK;
	while (name.len > 0 && name.data[0] == '/')
		name = (struct tally_str){name.data + 1, name.len - 1};
	for (size_t i = 0; i < ARRAY_LEN(mounts); i++) {
		int len = snprintf(path, sizeof(path), "%s%s/%.*s", t->kernel->root, mounts[i],
			(int)MIN(name.len, (size_t)PATH_ROOM), name.data);
		if (len > 0 && (size_t)len < sizeof(path) && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
			*value = info.st_ino;
			return TALLY_OK;
		}
	}
	return filter_mistake(t, begin, "no such cgroup below /sys/fs/cgroup");
}

static enum tally_status read_value(
	struct sample_filter_text *t, const struct sample_filter_field *field, uint64_t *value)
{
	const char *names[ARRAY_LEN(constants)];
	size_t count = 0;
	if (field->term == FILTER_CGROUP)
		return read_cgroup(t, value);
	struct tally_str word = read_word(t);
	if (word.len > 0 && isdigit((unsigned char)word.data[0]))
		return str_to_u64(word, 0, value)
			       ? TALLY_OK
			       : filter_mistake(t, word.data, "expected a number of 64 bits: 1000, or 0x3e8");
	for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
		if (constants[i].term != field->term)
			continue;
		if (str_equal(word, str_from(constants[i].name))) {
			*value = constants[i].value;
			return TALLY_OK;
		}
		names[count++] = constants[i].name;
	}
	if (count == 0)
		return filter_mistake(
			t, word.data, *t->at == '-' ? "expected a number: fields have no sign" : "expected a number");
	return filter_unknown_word(t, word, "value of this field", names, count);
}

static enum tally_status read_condition(struct sample_filter_text *t, struct sample_filter_item *item)
{
	const struct sample_filter_field *field = NULL;
	uint64_t value = 0;
	filter_skip_blanks(t);
	enum tally_status status = read_field(t, &field);
	if (status != TALLY_OK)
		return status;
	item->term = field->term;
	filter_skip_blanks(t);
	status = read_operator(t, &item->op);
	filter_skip_blanks(t);
	if (status == TALLY_OK)
		status = read_value(t, field, &value);
	item->value = value;
	filter_skip_blanks(t);
	return status;
}

/* Reads the operator between conditions. TALLY_END means the end of the text. */
static enum tally_status read_joint(struct sample_filter_text *t, bool *is_alternative)
{
	if (!*t->at)
		return TALLY_END;
	if (strncmp(t->at, "&&", 2) == 0)
		return filter_mistake(t, t->at, "write ',' for \"and\"; '||' binds tighter than it");
	*is_alternative = strncmp(t->at, "||", 2) == 0;
	if (!*is_alternative && *t->at != ',')
		return filter_mistake(t, t->at, "expected ',' (and), '||' (or) or the end of the filter");
	t->at += *is_alternative ? 2 : 1;
	return TALLY_OK;
}

enum tally_status sample_filter_parse(
	const char *text, const struct kernel_seam *kernel, struct sample_filter_list *filter, struct tally_error *err)
{
	struct sample_filter_text t = {.begin = text, .at = text, .kernel = kernel, .err = err};
	struct sample_filter_list made = *filter;
	bool is_alternative = false;
	for (;;) {
		struct sample_filter_item item = {.is_alternative = is_alternative};
		const char *begin = t.at;
		enum tally_status status = read_condition(&t, &item);
		if (status == TALLY_OK && made.count == SAMPLE_FILTER_ITEMS)
			status = filter_mistake(&t, begin, "an event takes 64 conditions at most");
		if (status != TALLY_OK)
			return status;
		made.items[made.count++] = item;
		status = read_joint(&t, &is_alternative);
		if (status == TALLY_END)
			break;
		if (status != TALLY_OK)
			return status;
	}
	*filter = made;
	return TALLY_OK;
}

enum tally_status sample_filter_check(const struct sample_filter_list *filter, const struct perf_attr *attr,
	const char *event, struct tally_error *err)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct sample_filter_field *field = field_of_term(filter->items[i].term);
		if (!field || !field->flags || (attr->sample_type & field->flags))
			continue;
		return error_set(err, TALLY_INVALID, "--filter: samples of %s do not store '%s' (%s)%s%s", event,
			field->name, field->flag_name, field->option ? ": add " : "",
			field->option ? field->option : "");
	}
	return TALLY_OK;
}
