/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_facets.h"

#include <sys/mman.h>

#include "analysis/access_parts.h"
#include "analysis/wait_events.h"

/* Bits of union perf_mem_data_src in linux/perf_event.h, grouped by what they describe. */
#define MEM_LEVEL_BITS (UINT64_C(0x3fff) << 5 | UINT64_C(0xf) << 33 | UINT64_C(1) << 37 | UINT64_C(7) << 43)
#define MEM_SNOOP_BITS (UINT64_C(0x1f) << 19 | UINT64_C(3) << 38)
#define MEM_LOCK_BITS  (UINT64_C(3) << 24)
#define MEM_TLB_BITS   (UINT64_C(0x7f) << 26)
#define MEM_BLOCK_BITS (UINT64_C(7) << 40)

void sample_facets_init(struct sample_facets *f, const struct replay_options *options,
	const struct perfdata_features *features, struct resolver *resolver)
{
	*f = (struct sample_facets){.kept = options->facets,
		.quantum_ns = options->time_quantum_ns ? options->time_quantum_ns : 1,
		.topology = &features->topology,
		.resolver = resolver,
		.has_payload = (options->facets & FACET_PAYLOAD_MASK) != 0};
	for (unsigned facet = 0; facet < PROFILE_MAX_FACETS; facet++)
		if (options->facets & ~FACET_PAYLOAD_MASK & UINT64_C(1) << facet)
			f->numbers[f->number_count++] = (uint8_t)facet;
	f->rows.words = f->number_count + f->has_payload;
	intern_init(&f->payloads);
	intern_init(&f->wakers);
}

void sample_facets_deinit(struct sample_facets *f)
{
	id_table_deinit(&f->rows);
	intern_deinit(&f->payloads);
	intern_deinit(&f->wakers);
	text_deinit(&f->text);
}

static uint64_t sample_facets_socket_of(const struct sample_facets *f, const struct facet_input *in)
{
	uint32_t cpu = in->sample->cpu;
	bool is_known =
		(in->event->attr.sample_type & SAMPLE_CPU) && f->topology->socket_ids && cpu < f->topology->cpu_count;
	return is_known ? f->topology->socket_ids[cpu] : UINT64_MAX;
}

static uint64_t mapped_size(const struct sample_facets *f, const struct facet_input *in)
{
	const struct machine *machine = f->resolver->machine;
	const struct resolve_where *where = &in->where;
	const struct mapping *map;
	if (!in->is_branch) {
		map = machine_find_mapping(machine, where->pid, where->time_ns, in->cpumode, VA(in->sample->ip));
	} else {
		struct tally_va to = VA(in->branch.to);
		map = machine_find_mapping(machine, where->pid, where->time_ns, MISC_CPUMODE_USER, to);
		if (!map)
			map = machine_find_mapping(machine, where->pid, where->time_ns, MISC_CPUMODE_KERNEL, to);
	}
	return map ? map->end - map->start : 0;
}

/*
 * The value that distinguishes memory with equal addresses: the file, if the kernel recorded one; else the process,
 * unless the memory is shared; 0 for kernel memory.
 */
static uint32_t sample_facets_memory_of(const struct sample_facets *f, const struct facet_input *in)
{
	const struct resolve_where *where = &in->where;
	const struct mapping *map = NULL;
	if (in->cpumode == MISC_CPUMODE_USER)
		map = machine_find_mapping(
			f->resolver->machine, where->pid, where->time_ns, in->cpumode, VA(in->sample->addr));
	if (!map)
		return 0;
	if (map->file)
		return FACET_MEMORY_FILE | map->file;
	return map->flags & MAP_SHARED ? 0 : (uint32_t)where->pid & ~FACET_MEMORY_FILE;
}

static uint64_t sample_facets_branch_flags(const struct sample_branch *branch)
{
	return (branch->is_mispredicted ? BRANCH_FLAG_MISPREDICTED : 0u) |
	       (branch->is_predicted ? BRANCH_FLAG_PREDICTED : 0u) | (branch->in_transaction ? BRANCH_FLAG_IN_TX : 0u) |
	       (branch->is_abort ? BRANCH_FLAG_ABORT : 0u);
}

/* A weight in struct form holds three numbers in one word. */
static uint64_t weight_part(const struct facet_input *in, enum profile_facet facet)
{
	bool is_struct = (in->event->attr.sample_type & SAMPLE_WEIGHT_STRUCT) != 0;
	uint64_t weight = in->sample->weight;
	if (in->is_branch && facet == FACET_WEIGHT)
		return in->branch.cycles ? in->branch.cycles : 1;
	if (facet == FACET_WEIGHT)
		return is_struct ? (uint32_t)weight : weight;
	if (!is_struct)
		return 0;
	return facet == FACET_INS_LAT ? weight >> 32 & 0xffff : weight >> 48;
}

static uint64_t sample_facets_waker(struct sample_facets *f, const struct facet_input *in)
{
	uint32_t waker = INTERN_NONE;
	text_clear(&f->text);
	wait_sample_waker(in->event, in->sample, &f->text);
	if (f->text.failed || !intern_add(&f->wakers, f->text.data, f->text.len, &waker))
		f->failed = true;
	return waker | (uint64_t)wait_sample_is_sum(in->event, in->sample) << 32;
}

static uint64_t word_of(struct sample_facets *f, const struct facet_input *in, enum profile_facet facet)
{
	const struct sample *s = in->sample;
	switch ((int)facet) {
	case FACET_TIME:
		return s->time / f->quantum_ns * f->quantum_ns;
	case FACET_SOCKET:
		return sample_facets_socket_of(f, in);
	case FACET_ADDRESS:
		return in->is_branch ? in->branch.to : s->ip;
	case FACET_PLACE:
	case FACET_TYPE:
	case FACET_TYPE_OFFSET:
		return in->leaf;
	case FACET_WEIGHT:
	case FACET_INS_LAT:
	case FACET_STAGE_CYCLES:
		return weight_part(in, facet);
	case FACET_TRANSACTION:
		return s->transaction;
	case FACET_CODE_PAGE:
		return s->code_page_size;
	case FACET_CGROUP:
		return s->cgroup;
	case FACET_MAPPED_SIZE:
		return mapped_size(f, in);
	case FACET_COMM_NODIGIT:
		return in->comm != INTERN_NONE || (in->has_thread && (int32_t)s->tid >= 0) ? in->comm : FACET_NOBODY;
	case FACET_PARALLELISM:
		return f->parallelism ? parallelism_at(f->parallelism, s->time) : 1;
	case FACET_NAMESPACE:
		return f->namespaces ? thread_namespaces_at(f->namespaces, (int32_t)s->tid, in->where.time_ns) : 0;
	case FACET_BRANCH_FROM:
		return resolver_raw_frame(f->resolver, &in->where, RESOLVE_ANY_MODE, 0, in->branch.from);
	case FACET_BRANCH_TO:
		return resolver_raw_frame(f->resolver, &in->where, RESOLVE_ANY_MODE, 0, in->branch.to);
	case FACET_BRANCH_FLAGS:
		return sample_facets_branch_flags(&in->branch);
	case FACET_BRANCH_CYCLES:
		return in->branch.cycles;
	case FACET_BRANCH_KIND:
		return in->is_branch ? sample_branch_kind(&in->branch) : 0;
	case FACET_DATA:
		return resolver_raw_frame(f->resolver, &in->where, in->cpumode, 0, s->addr);
	case FACET_DATA_MEMORY:
		return resolver_raw_frame(f->resolver, &in->where, in->cpumode, 0, s->addr) |
		       (uint64_t)sample_facets_memory_of(f, in) << 32;
	case FACET_CODE:
		return resolver_raw_frame(f->resolver, &in->where, RESOLVE_ANY_MODE, 0, s->ip);
	case FACET_MEM_LEVEL:
		return s->data_src & MEM_LEVEL_BITS;
	case FACET_MEM_TLB:
		return s->data_src & MEM_TLB_BITS;
	case FACET_MEM_LOCK:
		return s->data_src & MEM_LOCK_BITS;
	case FACET_MEM_SNOOP:
		return s->data_src & MEM_SNOOP_BITS;
	case FACET_MEM_BLOCK:
		return s->data_src & MEM_BLOCK_BITS;
	case FACET_MEM_PARTS:
		return access_parts(s->data_src);
	case FACET_PHYSICAL:
		return s->phys_addr;
	case FACET_DATA_PAGE:
		return s->data_page_size;
	case FACET_STATE:
		return wait_sample_state(in->event, s);
	case FACET_WAKER:
		return sample_facets_waker(f, in);
	default:
		return 0;
	}
}

uint32_t sample_facets_add(struct sample_facets *f, const struct facet_input *input)
{
	uint64_t words[PROFILE_MAX_FACETS + 1];
	for (unsigned i = 0; i < f->number_count; i++)
		words[i] = word_of(f, input, (enum profile_facet)f->numbers[i]);
	if (f->has_payload) {
		uint32_t payload = RESOLVE_NONE;
		const struct tally_bytes raw = input->sample->raw;
		if (input->event->attr.type == EVENT_TRACEPOINT &&
			!intern_add(&f->payloads, raw.data, raw.len, &payload))
			return ID_TABLE_NONE;
		words[f->number_count] = payload;
	}
	return f->failed ? ID_TABLE_NONE : id_table_add(&f->rows, words, NULL);
}
