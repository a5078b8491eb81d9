/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/summary/summary_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/replay/quality.h"
#include "base/array.h"
#include "base/error.h"
#include "base/shell_words.h"
#include "perfdata/origin.h"
#include "profile/diff/diff_table.h"
#include "profile/flame_tree.h"
#include "profile/rows/row_value.h"
#include "tasks/comparing/match_notes.h"
#include "tasks/health/health_report.h"
#include "tasks/session/advice_notes.h"

#define FACTS_NODE_SHARE 0.03 /* Smallest share of a node of the tree that is listed. */
/* An only child with at least this share of its caller's time is shown in its caller's line. */
#define FACTS_RUN_SHARE	   0.9
#define FACTS_RUN_NAMES	   5 /* Maximum number of names in a line. */
#define FACTS_CHANGE_LEAST 0.5 /* Smallest change that is listed, in percentage points. */
#define FACTS_CHANGE_SIGMA 3.0
#define FACTS_HOT_SHARE	   0.01 /* Functions with a smaller share are not suggested for annotation. */
/* If functions with a name have a smaller share of the time, the summary suggests obtaining symbols first. */
#define FACTS_NAMED_LEAST 0.5
#define FACTS_CONFIDENCE  1.96 /* Half the width of a 95 % confidence interval in standard deviations. */

struct facts_making {
	struct summary_facts *facts;
	struct summary_recording *recording;
	const struct flame_tree *tree;
	uint32_t *first_child, *next; /* Lists of retained nodes, sorted by weight, indexed by node. */
	struct tally_error *err;
};

static struct tally_str facts_keep(struct summary_facts *facts, struct text *text)
{
	const char *kept = text->failed ? NULL : arena_string(&facts->arena, text->data ? text->data : "", text->len);
	struct tally_str str = kept ? (struct tally_str){kept, text->len} : (struct tally_str){NULL, 0};
	text_deinit(text);
	return str;
}

/* ---- functions ---- */

static struct tally_str facts_function_name(struct summary_facts *facts, const struct flat_table *table, uint32_t row)
{
	struct row_value value = row_value(table, &table->rows[row], KEY_SYMBOL);
	struct text text = {0};
	if (value.text.len)
		return value.text;
	text_printf(&text, "0x%llx", (unsigned long long)table->rows[row].address);
	return facts_keep(facts, &text);
}

/* Rows of several recordings are matched by symbol and binary, so all code of a binary without symbols is a single
 * row. */
static struct tally_str facts_changed_name(struct summary_facts *facts, const struct flat_table *table, uint32_t row)
{
	struct row_value symbol = row_value(table, &table->rows[row], KEY_SYMBOL);
	struct text text = {0};
	if (symbol.text.len)
		return symbol.text;
	struct tally_str object = row_value(table, &table->rows[row], KEY_DSO).text;
	if (!object.len || object.data[0] == '[')
		return object.len ? object : STR("[unknown]");
	text_char(&text, '[');
	text_bytes(&text, object.data, object.len);
	text_char(&text, ']');
	return facts_keep(facts, &text);
}

static enum tally_status facts_add_functions(struct facts_making *m)
{
	const struct flat_table *table = &m->recording->functions;
	for (size_t i = 0; i < table->shown_count; i++) {
		uint32_t row = table->order[i];
		const struct flat_stat *stat = flat_table_stat(table, row, 0);
		const struct summary_function function = {.name = facts_function_name(m->facts, table, row),
			.object = row_value(table, &table->rows[row], KEY_DSO).text,
			.period = stat->period,
			.samples = stat->count};
		if (!function.name.data || !vec_push(&m->facts->functions, function))
			return error_nomem(m->err);
	}
	return TALLY_OK;
}

/* ---- the tree ---- */

/* Inserts the node into its parent's list of children, which is sorted by weight. */
static void facts_link_child(struct facts_making *m, uint32_t node)
{
	const struct flame_node *nodes = m->tree->nodes;
	uint32_t parent = nodes[node].parent;
	uint32_t *at = &m->first_child[parent == PROFILE_NONE ? m->tree->node_count : parent];
	while (*at != PROFILE_NONE && nodes[*at].total >= nodes[node].total)
		at = &m->next[*at];
	m->next[node] = *at;
	*at = node;
}

/* Returns the node that is shown in the same line, or PROFILE_NONE if the line ends. */
static uint32_t facts_continuation(const struct facts_making *m, uint32_t node)
{
	uint32_t child = m->first_child[node];
	bool goes_on = child != PROFILE_NONE && m->next[child] == PROFILE_NONE &&
		       (double)m->tree->nodes[child].total >= FACTS_RUN_SHARE * (double)m->tree->nodes[node].total;
	return goes_on ? child : PROFILE_NONE;
}

/* Adds the line that starts with a node. *last is set to the node at its end. */
static enum tally_status facts_add_line(struct facts_making *m, uint32_t node, unsigned depth, uint32_t *last)
{
	struct text path = {0};
	const struct flame_node *first = &m->tree->nodes[node];
	struct summary_node line = {.depth = depth, .total = first->total};
	unsigned count = 0, written = 0;
	for (uint32_t at = node; at != PROFILE_NONE; at = facts_continuation(m, at))
		count++;
	for (uint32_t at = node; at != PROFILE_NONE; at = facts_continuation(m, at), written++) {
		*last = at;
		line.self += m->tree->nodes[at].self;
		/* Of a long line, only the first two and the last names are shown. */
		bool is_left_out = count > FACTS_RUN_NAMES && written >= 2 && written < count - (FACTS_RUN_NAMES - 3);
		if (is_left_out && written > 2)
			continue;
		text_str(&path, written ? " > " : "");
		if (is_left_out)
			text_str(&path, "...");
		else
			text_visible(&path, m->tree->labels[m->tree->nodes[at].label].name);
	}
	line.path = facts_keep(m->facts, &path);
	return line.path.data && vec_push(&m->facts->nodes, line) ? TALLY_OK : error_nomem(m->err);
}

/* Visits the tree from the roots, heaviest first. It does not recurse, because stacks may be arbitrarily deep. */
static enum tally_status facts_walk_tree(struct facts_making *m)
{
	struct {
		uint32_t node;
		unsigned depth;
	} *todo = malloc((m->tree->node_count + 1) * sizeof(*todo));
	size_t count = 0;
	enum tally_status status = todo ? TALLY_OK : error_nomem(m->err);
	uint32_t list = todo ? m->first_child[m->tree->node_count] : PROFILE_NONE;
	unsigned depth = 0;
	while (status == TALLY_OK && (list != PROFILE_NONE || count > 0)) {
		if (list == PROFILE_NONE) {
			count--;
			list = todo[count].node;
			depth = todo[count].depth;
			continue;
		}
		uint32_t last = list;
		todo[count].node = m->next[list];
		todo[count++].depth = depth;
		status = facts_add_line(m, list, depth, &last);
		list = m->first_child[last];
		depth++;
	}
	free(todo);
	return status;
}

static enum tally_status facts_add_tree(struct facts_making *m)
{
	size_t count = m->tree->node_count;
	m->first_child = malloc((count + 1) * sizeof(*m->first_child));
	m->next = malloc((count + 1) * sizeof(*m->next));
	enum tally_status status = m->first_child && m->next ? TALLY_OK : error_nomem(m->err);
	for (size_t i = 0; status == TALLY_OK && i <= count; i++)
		m->first_child[i] = m->next[i] = PROFILE_NONE;
	for (uint32_t i = 0; status == TALLY_OK && i < count; i++)
		if ((double)m->tree->nodes[i].total >= FACTS_NODE_SHARE * (double)m->tree->total)
			facts_link_child(m, i);
	if (status == TALLY_OK)
		status = facts_walk_tree(m);
	free(m->first_child);
	free(m->next);
	return status;
}

static int facts_by_period(const void *a, const void *b)
{
	const struct summary_state *one = a, *other = b;
	if (one->period != other->period)
		return one->period < other->period ? 1 : -1;
	return strcmp(one->name.data, other->name.data);
}

static enum tally_status facts_add_states(struct facts_making *m)
{
	const struct flame_tree *tree = m->tree;
	uint64_t sums[FLAME_STATES] = {0};
	if (!tree->states)
		return TALLY_OK;
	for (size_t i = 0; i < tree->node_count; i++)
		for (size_t k = 0; k < FLAME_STATES; k++)
			sums[k] += tree->states[i * FLAME_STATES + k];
	for (size_t k = 0; k < FLAME_STATES; k++)
		if (sums[k] && !vec_push(&m->facts->states, ((struct summary_state){tree->state_names[k], sums[k]})))
			return error_nomem(m->err);
	if (m->facts->states.len)
		qsort(m->facts->states.items, m->facts->states.len, sizeof(struct summary_state), facts_by_period);
	return TALLY_OK;
}

static enum tally_status facts_add_flame(struct facts_making *m)
{
	struct flame_tree tree;
	const struct profile *p = m->recording->result.profile;
	const struct flame_options options = {
		.event = m->recording->event, .group = FLAME_BY_COMM, .by_state = (p->facets >> FACET_STATE & 1) != 0};
	enum tally_status status = flame_tree_init(&tree, p, &options, m->err);
	if (status != TALLY_OK)
		return status;
	m->tree = &tree;
	if (p->events[m->recording->event].has_callchain)
		status = facts_add_tree(m);
	if (status == TALLY_OK)
		status = facts_add_states(m);
	/* The names of states belong to the profile, so they outlive the tree. */
	flame_tree_deinit(&tree);
	m->tree = NULL;
	return status;
}

/* ---- changes ---- */

static double facts_variance(double share, double samples)
{
	return samples > 0 ? share * (1 - share) / samples : 0;
}

static int facts_by_change(const void *a, const void *b)
{
	const struct summary_change *one = a, *other = b;
	double x = fabs(one->new_percent - one->base_percent), y = fabs(other->new_percent - other->base_percent);
	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(one->name.data, other->name.data);
}

static enum tally_status facts_note(struct facts_making *m, struct text *text)
{
	struct tally_str note = facts_keep(m->facts, text);
	return note.data && vec_push(&m->facts->notes, note) ? TALLY_OK : error_nomem(m->err);
}

/* Adds notes about functions that were matched by another name. */
static enum tally_status facts_note_match(struct facts_making *m, const struct name_match *match)
{
	struct diag notes;
	enum tally_status status = TALLY_OK;
	diag_init(&notes);
	match_notes_add(&notes, match);
	for (size_t i = 0; status == TALLY_OK && i < notes.len; i++) {
		struct text text = {0};
		text_str(&text, notes.entries[i].text);
		status = facts_note(m, &text);
	}
	diag_deinit(&notes);
	return status;
}

static enum tally_status facts_add_changes(struct facts_making *m, struct summary_recording *baseline)
{
	const struct flat_table *const tables[] = {&baseline->functions, &m->recording->functions};
	const struct flat_total *base = &tables[0]->totals[0], *now = &tables[1]->totals[0];
	struct diff_table diff;
	struct summary_facts *facts = m->facts;
	struct name_match match;
	const struct profile *const profiles[] = {tables[0]->profile, tables[1]->profile};
	const struct diff_options options = {.keys = summary_keys, .key_count = SUMMARY_KEYS, .match = &match};
	facts->base_samples = base->count;
	facts->base_period = base->period;
	enum tally_status status = name_match_init(&match, profiles, ARRAY_LEN(profiles), m->err);
	if (status != TALLY_OK)
		return status;
	status = diff_table_init(&diff, tables, 2, &options, m->err);
	if (status != TALLY_OK) {
		name_match_deinit(&match);
		return status;
	}
	for (size_t i = 0; status == TALLY_OK && i < diff.row_count && base->period && now->period; i++) {
		double was = (double)diff_table_value(&diff, i, 0)->period / (double)base->period;
		double is = (double)diff_table_value(&diff, i, 1)->period / (double)now->period;
		double error = sqrt(facts_variance(was, (double)base->count) + facts_variance(is, (double)now->count));
		const struct diff_row *row = &diff.rows[i];
		if (100 * fabs(is - was) < FACTS_CHANGE_LEAST || fabs(is - was) < FACTS_CHANGE_SIGMA * error)
			continue;
		const struct summary_change change = {.name = facts_changed_name(facts, tables[row->file], row->row),
			.object = row_value(tables[row->file], &tables[row->file]->rows[row->row], KEY_DSO).text,
			.base_percent = 100 * was,
			.new_percent = 100 * is};
		if (!change.name.data || !vec_push(&facts->changes, change))
			status = error_nomem(m->err);
	}
	if (status == TALLY_OK)
		status = facts_note_match(m, &match);
	if (status == TALLY_OK && facts->changes.len)
		qsort(facts->changes.items, facts->changes.len, sizeof(struct summary_change), facts_by_change);
	diff_table_deinit(&diff);
	name_match_deinit(&match);
	return status;
}

/* ---- reliability ---- */

/* Adds a note if the two recordings were made in different ways. */
static enum tally_status facts_note_origins(
	struct facts_making *m, const struct summary_recording *baseline, const struct summary_sources *sources)
{
	const struct origin_named base = {
		str_from(sources->baseline), perfdata_reader_features(baseline->source.reader)};
	const struct origin_named now = {
		str_from(sources->path), perfdata_reader_features(m->recording->source.reader)};
	struct text text = {0};
	origin_difference(&text, &base, &now);
	if (text.len > 0)
		return facts_note(m, &text);
	text_deinit(&text);
	return TALLY_OK;
}

static struct tally_str facts_verdict(struct summary_recording *r, const char *path)
{
	const struct health_source source = {.path = path, .reader = r->source.reader, .health = &r->health};
	return r->has_health ? str_from(health_word(&source)) : STR("good");
}

static enum tally_status facts_add_notes(struct facts_making *m)
{
	struct summary_recording *r = m->recording;
	struct quality quality;
	struct text line = {0};
	struct diag advice;
	quality_measure(&quality, r->source.reader, &r->result);
	quality_text(&line, &quality);
	enum tally_status status = facts_note(m, &line);
	if (status == TALLY_OK && !str_equal(m->facts->verdict, STR("good"))) {
		struct text note = {0};
		text_str(&note, "the recording is ");
		text_bytes(&note, m->facts->verdict.data, m->facts->verdict.len);
		text_printf(&note, ": '%s health' says what is missing", m->facts->program);
		status = facts_note(m, &note);
	}
	diag_init(&advice);
	advice_notes_add(&advice, r->source.reader, r->result.profile);
	for (size_t i = 0; status == TALLY_OK && i < advice.len; i++) {
		struct text note = {0};
		text_str(&note, advice.entries[i].text);
		status = facts_note(m, &note);
	}
	diag_deinit(&advice);
	return status;
}

/* ---- suggested commands ---- */

static void facts_put_word(struct text *out, struct tally_str word)
{
	text_char(out, ' ');
	shell_words_put(out, word);
}

static const char *facts_command(struct summary_facts *facts, const char *verb, const struct summary_sources *sources,
	bool with_baseline, struct tally_str word)
{
	struct text text = {0};
	text_printf(&text, "%s %s", facts->program, verb);
	if (!facts->has_file) {
		/* The commands apply to perf.data, which the user or the first of the commands creates. */
	} else if (with_baseline) {
		facts_put_word(&text, str_from(sources->baseline));
		facts_put_word(&text, str_from(sources->path));
	} else if (strcmp(sources->path, "perf.data") != 0) {
		text_str(&text, " -i");
		facts_put_word(&text, str_from(sources->path));
	}
	if (word.len)
		facts_put_word(&text, word);
	return facts_keep(facts, &text).data;
}

static bool facts_has_name(const struct summary_function *function)
{
	return !str_starts_with(function->name, STR("0x"));
}

/* Returns the heaviest function of a binary that annotate can disassemble, which excludes the kernel and JIT code.
 * Empty if there is none. */
static struct tally_str facts_hottest(const struct summary_facts *facts)
{
	for (size_t i = 0; i < facts->functions.len; i++) {
		const struct summary_function *function = &facts->functions.items[i];
		if ((double)function->period < FACTS_HOT_SHARE * (double)facts->period)
			break;
		if (facts_has_name(function) && function->object.len && function->object.data[0] != '[')
			return function->name;
	}
	return STR("");
}

static bool facts_lacks_names(const struct summary_facts *facts)
{
	uint64_t named = 0;
	for (size_t i = 0; i < facts->functions.len; i++)
		if (facts_has_name(&facts->functions.items[i]))
			named += facts->functions.items[i].period;
	return (double)named < FACTS_NAMED_LEAST * (double)facts->period;
}

static enum tally_status facts_add_commands(struct facts_making *m, const struct summary_sources *sources)
{
	struct summary_facts *facts = m->facts;
	struct tally_str hottest = facts_hottest(facts), none = STR("");
	const struct profile *p = m->recording->result.profile;
	bool has_stacks = p->events[m->recording->event].has_callchain;
	bool can_compare = sources->baseline && facts->has_file;
	facts->commands[0] = can_compare  ? facts_command(facts, "diff", sources, true, none)
			     : has_stacks ? facts_command(facts, "flamegraph", sources, false, none)
					  : facts_command(facts, "report", sources, false, none);
	facts->commands[1] = facts_lacks_names(facts) ? facts_command(facts, "report --missing", sources, false, none)
			     : hottest.len	      ? facts_command(facts, "annotate", sources, false, hottest)
					   : facts_command(facts, "report -s comm,sym", sources, false, none);
	facts->commands[2] = !str_equal(facts->verdict, STR("good"))
				     ? facts_command(facts, "health", sources, false, none)
			     : facts->states.len ? facts_command(facts, "report -s state,sym", sources, false, none)
			     : has_stacks	 ? facts_command(facts, "report --children", sources, false, none)
						 : facts_command(facts, "report -s dso", sources, false, none);
	if (sources->words) {
		facts->commands[2] = facts->commands[1];
		facts->commands[1] = facts->commands[0];
		struct text text = {0};
		text_printf(&text, "%s record --call-graph auto --", facts->program);
		for (size_t i = 0; sources->words[i]; i++)
			facts_put_word(&text, str_from(sources->words[i]));
		facts->commands[0] = facts_keep(facts, &text).data;
	}
	for (size_t i = 0; i < SUMMARY_COMMANDS; i++)
		if (!facts->commands[i])
			return error_nomem(m->err);
	return TALLY_OK;
}

/* ---- origin ---- */

static enum tally_status facts_add_origin(struct facts_making *m, const struct summary_sources *sources)
{
	struct summary_recording *r = m->recording;
	struct summary_facts *facts = m->facts;
	const struct perfdata_features *f = perfdata_reader_features(r->source.reader);
	const struct profile *p = r->result.profile;
	struct text command = {0};
	for (size_t i = 0; i < f->cmdline.len && !sources->words; i++)
		facts_put_word(&command, f->cmdline.items[i]);
	facts->command = str_trim(facts_keep(facts, &command));
	facts->host = f->hostname;
	facts->kernel = f->osrelease;
	facts->cpu = f->cpudesc;
	if (r->has_health && r->health.has_times && r->health.last_ns > r->health.first_ns)
		facts->duration_ns = r->health.last_ns - r->health.first_ns;
	facts->has_file = !sources->words && !sources->is_stream;
	facts->is_made_again = sources->words != NULL;
	for (size_t i = 0; i < p->event_count; i++) {
		const struct summary_event other = {profile_string(p, p->events[i].name), p->events[i].sample_count};
		if (i != r->event && other.samples > 0 && !vec_push(&facts->others, other))
			return error_nomem(m->err);
	}
	facts->features = f;
	facts->event = profile_string(p, p->events[r->event].name);
	facts->is_time = profile_event_is_time(facts->event);
	facts->samples = r->functions.totals[0].count;
	facts->period = r->functions.totals[0].period;
	if (facts->samples)
		facts->error_points = 100 * FACTS_CONFIDENCE * sqrt(0.25 / (double)facts->samples);
	return facts->command.data ? TALLY_OK : error_nomem(m->err);
}

enum tally_status summary_facts_make(struct summary_recording *recording, struct summary_recording *baseline,
	const struct summary_sources *sources, struct summary_facts *facts, struct tally_error *err)
{
	struct facts_making m = {.facts = facts, .recording = recording, .err = err};
	*facts = (struct summary_facts){.path = sources->path,
		.baseline = sources->baseline,
		.program = sources->program,
		.verdict = facts_verdict(recording, sources->path)};
	arena_init(&facts->arena);
	enum tally_status status = facts_add_origin(&m, sources);
	if (status == TALLY_OK)
		status = facts_add_functions(&m);
	if (status == TALLY_OK)
		status = facts_add_flame(&m);
	if (status == TALLY_OK && baseline)
		status = facts_add_changes(&m, baseline);
	if (status == TALLY_OK && baseline)
		status = facts_note_origins(&m, baseline, sources);
	if (status == TALLY_OK)
		status = facts_add_notes(&m);
	if (status == TALLY_OK)
		status = facts_add_commands(&m, sources);
	if (status != TALLY_OK)
		summary_facts_deinit(facts);
	return status;
}

enum tally_status summary_facts_make_empty(struct summary_recording *recording, const struct summary_sources *sources,
	const char *reason, struct summary_facts *facts, struct tally_error *err)
{
	*facts = (struct summary_facts){.path = sources->path,
		.program = sources->program,
		.verdict = facts_verdict(recording, sources->path),
		.features = perfdata_reader_features(recording->source.reader)};
	arena_init(&facts->arena);
	if (vec_push(&facts->notes, str_from(reason)))
		return TALLY_OK;
	summary_facts_deinit(facts);
	return error_nomem(err);
}

void summary_facts_deinit(struct summary_facts *facts)
{
	vec_free(&facts->functions);
	vec_free(&facts->nodes);
	vec_free(&facts->states);
	vec_free(&facts->changes);
	vec_free(&facts->others);
	vec_free(&facts->notes);
	arena_deinit(&facts->arena);
}
