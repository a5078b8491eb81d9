/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/memory/c2c_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text_cells.h"

#define RULE	     "================================================="
#define SYMBOL_WIDTH 22
#define OBJECT_WIDTH 16

struct c2c_text_printer {
	const struct c2c_table *table;
	struct text *out;
	struct c2c_order order;
	int line_width, comm_width;
};

static double c2c_text_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole * 100.0 : 0.0;
}

static void c2c_text_print_heading(struct text *out, const char *title)
{
	text_printf(out, RULE "\n%s\n" RULE "\n", title);
}

static void print_number(struct text *out, const char *name, uint64_t value)
{
	text_printf(out, "  %-34s: %10" PRIu64 "\n", name, value);
}

static void print_part(struct text *out, const char *name, uint64_t part, uint64_t whole)
{
	if (whole)
		text_printf(out, "  %-34s: %10.1f%%\n", name, c2c_text_share(part, whole));
	else
		text_printf(out, "  %-34s: %10s%%\n", name, "-nan");
}

struct named_kind {
	const char *name;
	enum access_kind kind;
};

static void print_kinds(struct text *out, const struct access_counts *c, const struct named_kind *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = c->n[kinds[i].kind];
		/* A line that another core had modified was also found in the last-level cache. */
		print_number(
			out, kinds[i].name, value + (kinds[i].kind == ACCESS_LAST_LEVEL ? c->n[ACCESS_LOCAL_HITM] : 0));
	}
}

#define PRINT_KINDS(out, counts, kinds) print_kinds(out, counts, kinds, ARRAY_LEN(kinds))

static void c2c_text_print_all(struct text *out, const struct access_counts *c)
{
	static const struct named_kind loads[] = {{"Locked Load/Store Operations", ACCESS_LOCKED},
		{"Load Operations", ACCESS_LOAD}, {"Loads - uncacheable", ACCESS_LOAD_UNCACHED},
		{"Loads - IO", ACCESS_LOAD_IO}, {"Loads - Miss", ACCESS_LOAD_MISS},
		{"Loads - no mapping", ACCESS_LOAD_NO_ADDRESS}, {"Load Fill Buffer Hit", ACCESS_FILL_BUFFER},
		{"Load L1D hit", ACCESS_L1}, {"Load L2D hit", ACCESS_L2}, {"Load LLC hit", ACCESS_LAST_LEVEL},
		{"Load Local HITM", ACCESS_LOCAL_HITM}, {"Load Remote HITM", ACCESS_REMOTE_HITM},
		{"Load Remote HIT", ACCESS_REMOTE_HIT}, {"Load Local DRAM", ACCESS_LOCAL_DRAM},
		{"Load Remote DRAM", ACCESS_REMOTE_DRAM}, {"Load MESI State Exclusive", ACCESS_EXCLUSIVE},
		{"Load MESI State Shared", ACCESS_SHARED}};
	static const struct named_kind blocks[] = {{"Load access blocked by data", ACCESS_BLOCKED_BY_DATA},
		{"Load access blocked by address", ACCESS_BLOCKED_BY_ADDRESS},
		{"Load HIT Local Peer", ACCESS_LOCAL_PEER}, {"Load HIT Remote Peer", ACCESS_REMOTE_PEER}};
	static const struct named_kind stores[] = {{"Store Operations", ACCESS_STORE},
		{"Store - uncacheable", ACCESS_STORE_UNCACHED}, {"Store - no mapping", ACCESS_STORE_NO_ADDRESS},
		{"Store L1D Hit", ACCESS_STORE_L1_HIT}, {"Store L1D Miss", ACCESS_STORE_L1_MISS},
		{"Store No available memory level", ACCESS_STORE_NO_LEVEL}, {"No Page Map Rejects", ACCESS_NO_MAPPING},
		{"Unable to parse data source", ACCESS_UNKNOWN}};
	uint64_t misses =
		c->n[ACCESS_LOCAL_DRAM] + c->n[ACCESS_REMOTE_DRAM] + c->n[ACCESS_REMOTE_HIT] + c->n[ACCESS_REMOTE_HITM];
	c2c_text_print_heading(out, "            Trace Event Information              ");
	print_number(out, "Total records", c->samples);
	PRINT_KINDS(out, c, loads);
	print_number(out, "Load LLC Misses", misses);
	PRINT_KINDS(out, c, blocks);
	print_part(out, "LLC Misses to Local DRAM", c->n[ACCESS_LOCAL_DRAM], misses);
	print_part(out, "LLC Misses to Remote DRAM", c->n[ACCESS_REMOTE_DRAM], misses);
	print_part(out, "LLC Misses to Remote cache (HIT)", c->n[ACCESS_REMOTE_HIT], misses);
	print_part(out, "LLC Misses to Remote cache (HITM)", c->n[ACCESS_REMOTE_HITM], misses);
	PRINT_KINDS(out, c, stores);
}

static void print_shared(struct c2c_text_printer *p)
{
	static const struct named_kind hits[] = {{"Load HITs on shared lines", ACCESS_LOAD},
		{"Fill Buffer Hits on shared lines", ACCESS_FILL_BUFFER}, {"L1D hits on shared lines", ACCESS_L1},
		{"L2D hits on shared lines", ACCESS_L2}, {"LLC hits on shared lines", ACCESS_LAST_LEVEL}};
	static const struct named_kind stores[] = {{"Store HITs on shared lines", ACCESS_STORE},
		{"Store L1D hits on shared lines", ACCESS_STORE_L1_HIT},
		{"Store No available memory level", ACCESS_STORE_NO_LEVEL}};
	struct access_counts sum;
	uint64_t count = c2c_shared_lines(p->table, &sum);
	c2c_text_print_heading(p->out, "    Global Shared Cache Line Event Information   ");
	print_number(p->out, "Total Shared Cache Lines", count);
	PRINT_KINDS(p->out, &sum, hits);
	print_number(p->out, "Load hits on peer cache or nodes", access_counts_peers(&sum));
	print_number(p->out, "Locked Access on shared lines", sum.n[ACCESS_LOCKED]);
	print_number(p->out, "Blocked Access on shared lines",
		sum.n[ACCESS_BLOCKED_BY_DATA] + sum.n[ACCESS_BLOCKED_BY_ADDRESS]);
	PRINT_KINDS(p->out, &sum, stores);
	print_number(p->out, "Total Merged records", access_counts_hitms(&sum) + sum.n[ACCESS_STORE]);
}

static void print_details(struct c2c_text_printer *p)
{
	static const char *const sorts[] = {"Total HITMs", "Local HITMs", "Remote HITMs", "Peer Snoop"};
	static const char *const keys[C2C_KEYS] = {"pid", "tid", "iaddr", "dso"};
	const struct c2c_table *t = p->table;
	c2c_text_print_heading(p->out, "                 c2c details                     ");
	for (size_t i = 0; i < t->event_count; i++)
		text_printf(p->out, "  %-34s: %.*s\n", i ? "" : "Events", (int)t->event_names[i].len,
			t->event_names[i].data);
	text_printf(p->out, "  %-34s: %s\n  %-34s: offset", "Cachelines sort on", sorts[t->display],
		"Cacheline data grouping");
	for (size_t i = 0; i < t->key_count; i++)
		text_printf(p->out, ",%s", keys[t->keys[i]]);
	text_str(p->out, "\n");
}

/* Prints a bit mask as a list such as "0-1,3", or "N/A" if it is empty, right-aligned. */
static void print_nodes(struct text *out, uint64_t nodes)
{
	char list[512];
	size_t len = 0;
	for (int node = 0; node < 64; node++) {
		int last = node;
		if (!(nodes >> node & 1))
			continue;
		while (last < 63 && nodes >> (last + 1) & 1)
			last++;
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, last > node ? "%s%d-%d" : "%s%d", len ? "," : "", node, last);
		node = last;
	}
	text_printf(out, "  %4s", nodes ? list : "N/A");
}

static void print_lines_header(struct c2c_text_printer *p)
{
	static const char *const firsts[] = {"    Tot", "    Lcl", "    Rmt", "   Peer"};
	bool is_peer = p->table->display == C2C_PEER;
	struct text *out = p->out;
	c2c_text_print_heading(out, "           Shared Data Cache Line Table          ");
	text_printf(out,
		"#\n#        %s  %s  ------- %s -------    Total    Total    Total  --------- Stores --------  "
		"----- Core Load Hit -----  - LLC Load Hit --  - RMT Load Hit --  --- Load Dram ----\n",
		p->table->is_double ? "------- Double-Cacheline -------" : "----------- Cacheline ----------",
		firsts[p->table->display], is_peer ? "Load Peer" : "Load Hitm");
	text_printf(out,
		"# Index             Address  Node  PA cnt  %s    Total  %s  records    Loads   Stores    L1Hit   "
		"L1Miss"
		"      N/A       FB       L1       L2    LclHit  LclHitm    RmtHit  RmtHitm       Lcl       Rmt\n",
		is_peer ? "  Snoop" : "   Hitm", is_peer ? "  Local   Remote" : "LclHitm  RmtHitm");
	text_str(out, "# .....  ..................  ....  ......");
	for (unsigned i = 0; i < 13; i++)
		text_str(out, "  .......");
	text_str(out, "  ........  .......  ........  .......  ........  ........\n#\n");
}

static void c2c_text_print_count(struct text *out, int width, uint64_t value)
{
	text_printf(out, "  %*" PRIu64, width, value);
}

static void c2c_text_print_line(struct c2c_text_printer *p, size_t index)
{
	const struct cache_line *line = &p->table->lines->lines.items[p->order.lines[index]];
	const struct access_counts *c = &line->counts;
	bool is_peer = p->table->display == C2C_PEER;
	uint64_t local = c->n[is_peer ? ACCESS_LOCAL_PEER : ACCESS_LOCAL_HITM];
	uint64_t remote = c->n[is_peer ? ACCESS_REMOTE_PEER : ACCESS_REMOTE_HITM];
	uint64_t loads = access_counts_loads(c), stores = access_counts_stores(c);
	char address[24];
	snprintf(address, sizeof(address), "0x%" PRIx64, line->address);
	text_printf(p->out, "  %5zu  %18s", index, address);
	print_nodes(p->out, line->memory_nodes);
	c2c_text_print_count(p->out, 6, line->physical_count);
	text_printf(p->out, "  %6.2f%%", c2c_text_share(c2c_displayed(p->table, c), p->order.displayed));
	const uint64_t values[] = {local + remote, local, remote, loads + stores, loads, c->n[ACCESS_STORE],
		c->n[ACCESS_STORE_L1_HIT], c->n[ACCESS_STORE_L1_MISS], c->n[ACCESS_STORE_NO_LEVEL],
		c->n[ACCESS_FILL_BUFFER], c->n[ACCESS_L1], c->n[ACCESS_L2]};
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		c2c_text_print_count(p->out, 7, values[i]);
	c2c_text_print_count(p->out, 8, c->n[ACCESS_LAST_LEVEL]);
	c2c_text_print_count(p->out, 7, c->n[ACCESS_LOCAL_HITM]);
	c2c_text_print_count(p->out, 8, c->n[ACCESS_REMOTE_HIT]);
	c2c_text_print_count(p->out, 7, c->n[ACCESS_REMOTE_HITM]);
	c2c_text_print_count(p->out, 8, c->n[ACCESS_LOCAL_DRAM]);
	c2c_text_print_count(p->out, 8, c->n[ACCESS_REMOTE_DRAM]);
	text_str(p->out, "\n");
}

static bool c2c_text_has_key(const struct c2c_table *t, enum c2c_key key)
{
	for (size_t i = 0; i < t->key_count; i++)
		if (t->keys[i] == key)
			return true;
	return false;
}

static void print_dots(struct text *out, int count)
{
	text_str(out, "  ");
	while (count-- > 0)
		text_char(out, '.');
}

/* Prints one of the three lines of the header: the upper words, the lower words, or the dots. */
static void print_offsets_head(struct c2c_text_printer *p, int row)
{
	const struct c2c_table *t = p->table;
	struct text *out = p->out;
	bool is_peer = t->display == C2C_PEER, has_code = c2c_text_has_key(t, C2C_KEY_IADDR);
	int tid_width = 8 + p->comm_width;
	static const char *const nodes[] = {"Node", NULL, "Node{cpu list}"};
	const char *node = nodes[t->node_detail];
	if (!node)
		node = is_peer ? "Node{cpus %peers %stores}" : "Node{cpus %hitms %stores}";
	static const char *const fixed[3] = {"  ------- Store Refs ------  --------- Data address ---------",
		"   L1 Hit  L1 Miss      N/A              Offset  Node  PA cnt",
		"  .......  .......  .......  ..................  ....  ......"};
	if (row == 0)
		text_str(out, is_peer ? "#        -- Peer Snoop --" : "#        ----- HITM -----");
	else if (row == 1)
		text_str(out, is_peer ? "#   Num      Rmt      Lcl" : "#   Num  RmtHitm  LclHitm");
	else
		text_str(out, "# .....  .......  .......");
	text_str(out, fixed[row]);
	for (size_t i = 0; i < t->key_count; i++) {
		static const char *const names[] = {"Pid", "Tid", "Code address", NULL};
		int width = t->keys[i] == C2C_KEY_PID ? 7 : t->keys[i] == C2C_KEY_TID ? tid_width : 18;
		if (t->keys[i] == C2C_KEY_DSO)
			continue;
		if (row == 2)
			print_dots(out, width);
		else
			text_printf(out, "  %*s", width, row ? names[t->keys[i]] : "");
	}
	static const char *const costs[3] = {"  ---------- cycles ----------    Total       cpu",
		"  rmt hitm  lcl hitm      load  records       cnt",
		"  ........  ........  ........  .......  ........"};
	text_str(out, row == 1 && is_peer ? "  rmt peer  lcl peer      load  records       cnt" : costs[row]);
	static const char *const symbols[3] = {
		"                        ", "                  Symbol", "  ......................"};
	static const char *const objects[3] = {"            Shared", "            Object", "  ................"};
	bool has_object = has_code || c2c_text_has_key(t, C2C_KEY_DSO);
	text_str(out, has_code ? symbols[row] : "");
	text_str(out, has_object ? objects[row] : "");
	if (has_code && !t->without_lines) {
		if (row == 2)
			print_dots(out, p->line_width);
		else
			text_printf(out, "  %*s", p->line_width, row ? "Source:Line" : "");
	}
	text_printf(out, "  %s\n", row == 2 ? "...." : row ? node : "    ");
}

static void print_mean(struct text *out, const struct mean *mean)
{
	text_printf(out, "  %8.0f", mean->value);
}

struct node_sums {
	uint64_t cpus, hitms, stores;
};

static struct node_sums sum_node(const struct c2c_text_printer *p, uint32_t entry, int node)
{
	struct node_sums sums = {0};
	const struct c2c_table *t = p->table;
	for (uint32_t i = p->order.first_use[entry]; i < p->order.first_use[entry + 1]; i++) {
		const struct cache_use *use = &t->lines->uses.items[p->order.uses[i]];
		if (node >= 0 && (use->cpu >= t->cpu_count || t->cpu_nodes[use->cpu] != node))
			continue;
		sums.cpus++;
		sums.hitms += t->display == C2C_PEER ? use->peers : use->hitms;
		sums.stores += use->stores;
	}
	return sums;
}

static void c2c_text_print_share(struct text *out, uint64_t part, uint64_t whole)
{
	if (whole)
		text_printf(out, " %5.1f%%", c2c_text_share(part, whole));
	else
		text_printf(out, " %6s", "n/a");
}

static void c2c_text_print_cpus(struct c2c_text_printer *p, uint32_t entry, int node)
{
	const struct c2c_table *t = p->table;
	const char *comma = "";
	for (uint32_t i = p->order.first_use[entry]; i < p->order.first_use[entry + 1]; i++) {
		uint32_t cpu = t->lines->uses.items[p->order.uses[i]].cpu, last = cpu;
		if (cpu >= t->cpu_count || t->cpu_nodes[cpu] != node)
			continue;
		for (; i + 1 < p->order.first_use[entry + 1]; i++) {
			uint32_t next = t->lines->uses.items[p->order.uses[i + 1]].cpu;
			if (next != last + 1 || next >= t->cpu_count || t->cpu_nodes[next] != node)
				break;
			last = next;
		}
		text_printf(p->out, last > cpu ? "%s%u-%u" : "%s%u", comma, cpu, last);
		comma = ",";
	}
}

static void print_entry_nodes(struct c2c_text_printer *p, uint32_t entry)
{
	const struct c2c_table *t = p->table;
	struct node_sums all = sum_node(p, entry, -1);
	bool is_first = true;
	text_str(p->out, "  ");
	for (size_t i = 0; i < t->node_count; i++) {
		int node = (int)t->nodes[i];
		struct node_sums sums = sum_node(p, entry, node);
		if (sums.cpus == 0 && t->node_detail != 1)
			continue;
		text_str(p->out, is_first ? "" : " ");
		is_first = false;
		if (sums.cpus == 0) {
			text_printf(p->out, "%20s", "");
			continue;
		}
		text_printf(p->out, t->node_detail == 0 ? "%2d" : "%2d{", node);
		if (t->node_detail == 2)
			c2c_text_print_cpus(p, entry, node);
		if (t->node_detail == 1) {
			text_printf(p->out, "%2d", (int)sums.cpus);
			c2c_text_print_share(p->out, sums.hitms, all.hitms);
			c2c_text_print_share(p->out, sums.stores, all.stores);
		}
		text_str(p->out, t->node_detail == 0 ? "" : "}");
	}
}

static void c2c_text_print_keys(struct c2c_text_printer *p, const struct cache_entry *e, const struct c2c_label *label)
{
	char code[24];
	for (size_t i = 0; i < p->table->key_count; i++) {
		switch (p->table->keys[i]) {
		case C2C_KEY_PID:
			text_printf(p->out, "  %7d", e->pid);
			break;
		case C2C_KEY_TID:
			text_printf(p->out, "  %7d:", e->tid);
			text_str_left(p->out, str_from(label->comm), (size_t)p->comm_width);
			break;
		case C2C_KEY_IADDR:
			snprintf(code, sizeof(code), "0x%" PRIx64, e->code);
			text_printf(p->out, "  %18s", code);
			break;
		case C2C_KEY_DSO:
		case C2C_KEYS:
		default:
			break;
		}
	}
}

static void c2c_text_print_name(struct text *out, const char *text, size_t width, bool is_cut)
{
	const struct tally_str name = str_from(text);
	text_str(out, "  ");
	text_str_left(out, is_cut ? text_cells_cut(name, width) : name, width);
}

static void print_entry(struct c2c_text_printer *p, const struct access_counts *whole, uint32_t index)
{
	const struct c2c_table *t = p->table;
	const struct cache_entry *e = &t->lines->entries.items[index];
	const struct c2c_label *label = &t->labels[index];
	bool is_peer = t->display == C2C_PEER, has_code = c2c_text_has_key(t, C2C_KEY_IADDR);
	const enum access_kind kinds[] = {is_peer ? ACCESS_REMOTE_PEER : ACCESS_REMOTE_HITM,
		is_peer ? ACCESS_LOCAL_PEER : ACCESS_LOCAL_HITM, ACCESS_STORE_L1_HIT, ACCESS_STORE_L1_MISS,
		ACCESS_STORE_NO_LEVEL};
	text_str(p->out, "       ");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		text_printf(p->out, "  %6.2f%%", c2c_text_share(e->counts.n[kinds[i]], whole->n[kinds[i]]));
	char offset[24];
	snprintf(offset, sizeof(offset), "0x%" PRIx64, e->offset);
	text_printf(p->out, "  %18s", offset);
	print_nodes(p->out, e->memory_nodes);
	c2c_text_print_count(p->out, 6, e->physical_count);
	c2c_text_print_keys(p, e, label);
	print_mean(p->out, is_peer ? &e->remote_peer : &e->remote_hitm);
	print_mean(p->out, is_peer ? &e->local_peer : &e->local_hitm);
	print_mean(p->out, &e->load);
	c2c_text_print_count(p->out, 7, access_counts_loads(&e->counts) + access_counts_stores(&e->counts));
	c2c_text_print_count(p->out, 8, p->order.first_use[index + 1] - p->order.first_use[index]);
	if (has_code)
		c2c_text_print_name(p->out, label->symbol, SYMBOL_WIDTH, !t->full_symbols);
	if (has_code || c2c_text_has_key(t, C2C_KEY_DSO))
		c2c_text_print_name(p->out, label->object, OBJECT_WIDTH, !t->full_symbols);
	if (has_code && !t->without_lines)
		c2c_text_print_name(p->out, label->line, (size_t)p->line_width, false);
	print_entry_nodes(p, index);
	text_str(p->out, "\n");
}

static void print_offsets(struct c2c_text_printer *p)
{
	static const char dashes[] = "  ----------------------------------------------------------------------\n";
	const struct cache_lines *lines = p->table->lines;
	bool is_peer = p->table->display == C2C_PEER;
	text_str(p->out, "\n");
	c2c_text_print_heading(p->out, "      Shared Cache Line Distribution Pareto      ");
	text_str(p->out, "#\n");
	for (int row = 0; row < 3 && p->order.line_count; row++)
		print_offsets_head(p, row);
	text_str(p->out, p->order.line_count ? "#\n" : "");
	for (size_t i = 0; i < p->order.line_count; i++) {
		const struct cache_line *line = &lines->lines.items[p->order.lines[i]];
		const struct access_counts *c = &line->counts;
		char address[24];
		snprintf(address, sizeof(address), "0x%" PRIx64, line->address);
		text_printf(p->out, "%s%s  %5zu", i ? "\n" : "", dashes, i);
		c2c_text_print_count(p->out, 7, c->n[is_peer ? ACCESS_REMOTE_PEER : ACCESS_REMOTE_HITM]);
		c2c_text_print_count(p->out, 7, c->n[is_peer ? ACCESS_LOCAL_PEER : ACCESS_LOCAL_HITM]);
		c2c_text_print_count(p->out, 7, c->n[ACCESS_STORE_L1_HIT]);
		c2c_text_print_count(p->out, 7, c->n[ACCESS_STORE_L1_MISS]);
		c2c_text_print_count(p->out, 7, c->n[ACCESS_STORE_NO_LEVEL]);
		text_printf(p->out, "  %18s\n%s", address, dashes);
		for (uint32_t k = p->order.first_entry[p->order.lines[i]];
			k < p->order.first_entry[p->order.lines[i] + 1]; k++) {
			if (!c2c_entry_is_shown(p->table, &lines->entries.items[p->order.entries[k]]))
				continue;
			print_entry(p, c, p->order.entries[k]);
			if (p->table->chains &&
				c2c_chains_print(p->table->chains, p->out, p->order.entries[k], NULL) != TALLY_OK)
				p->out->failed = true;
		}
	}
}

static void c2c_text_fit_widths(struct c2c_text_printer *p)
{
	const struct c2c_table *t = p->table;
	p->line_width = (int)strlen("Source:Line");
	for (size_t i = 0; i < t->lines->entries.len; i++) {
		int line = (int)text_cells(str_from(t->labels[i].line));
		int comm = (int)text_cells(str_from(t->labels[i].comm));
		p->line_width = MAX(line, p->line_width);
		p->comm_width = MAX(comm, p->comm_width);
	}
}

bool c2c_text_print(const struct c2c_table *table, struct text *out)
{
	struct c2c_text_printer p = {.table = table, .out = out};
	bool is_done = c2c_order_init(&p.order, table);
	if (is_done) {
		c2c_text_fit_widths(&p);
		c2c_text_print_all(out, &table->lines->total);
		text_str(out, "\n");
		print_shared(&p);
		text_str(out, "\n");
		print_details(&p);
	}
	if (is_done && !table->only_stats) {
		text_str(out, "\n");
		print_lines_header(&p);
		for (size_t i = 0; i < p.order.line_count; i++)
			c2c_text_print_line(&p, i);
		print_offsets(&p);
	}
	c2c_order_deinit(&p.order);
	return is_done && !out->failed;
}
