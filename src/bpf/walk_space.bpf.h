/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk_space.bpf.h - finds the mapping of an address of the current thread in the kernel's tree of mappings (Linux 6.1
 * and newer), and the unwind table of the mapped file. Its results are correct from the first instruction of a program
 * on, and after each mmap, dlopen or exec. Included by walk.bpf.h.
 *
 * It takes no lock, unlike bpf_find_vma, which can be called only once while interrupts are off. The tree supports such
 * readers: they see nodes and mappings in their previous state, and both stay in memory while a BPF program runs.
 * If another thread changes the mapping at that moment, the lookup may fail. A mapping that was found is cached for
 * this CPU until the address space changes (mm_lock_seq).
 */
#ifndef BPF_WALK_SPACE_BPF_H
#define BPF_WALK_SPACE_BPF_H

#include "bpf/kernel_types.bpf.h"
#include "bpf/walk_layout.h"

#define WALK_EXEC 0x4 /* VM_EXEC of the kernel. */
/* Layout of the nodes of the kernel's maple tree, in words; the types are values of enum maple_type. */
#define WALK_NODE_WORDS	     32
#define WALK_TREE_LEVELS     6 /* Six levels hold far more mappings than a process may have. */
#define WALK_RANGE_PIVOTS    15
#define WALK_RANGE_SLOTS_AT  16
#define WALK_ARANGE_PIVOTS   9
#define WALK_ARANGE_SLOTS_AT 10
#define WALK_ARANGE_META_AT  30
#define WALK_LEAF_TYPE	     1
#define WALK_ARANGE_TYPE     3
#define WALK_KEPT	     256 /* Number of cached mappings; a power of two. */
/*
 * Addresses that differ only below this bit share a cache element, because nearby addresses are usually in one mapping.
 */
#define WALK_KEPT_SHIFT		 20
#define WALK_PAGE_SHIFT_SMALLEST 12 /* Pages have at least 2^12 bytes on all machines. */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct walk_file_key);
	__type(value, struct walk_file_table);
} walk_files SEC(".maps");

struct walk_kept {
	__u64 tag; /* Identifies the state of the address space. */
	struct walk_mapping mapping;
};

struct { /* Each BPF object has its own map, because its program may interrupt that of another object. */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALK_KEPT);
	__type(key, __u32);
	__type(value, struct walk_kept);
} walk_kept SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} walk_misses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk_losses);
} walk_losses SEC(".maps");

struct walk_space { /* Address space of the current thread. */
	struct mm_struct *mm;
	__u64 tag; /* Changes with the mappings; 0 if nothing may be cached. */
	__u32 pid;
	bool is_unknown; /* True if the unwind table of a mapped file was not available yet. */
	__u64 node[WALK_NODE_WORDS];
};

/*
 * Returns all ones if a < b, else 0. Both must be below 2^63. It has no branch, because the verifier follows both ways
 * of each branch.
 */
static __always_inline __u64 walk_if_less(__u64 a, __u64 b)
{
	__u64 difference = a - b;
	barrier_var(difference); /* Prevents the compiler from generating a branch. */
	return (__u64)((__s64)difference >> 63);
}

/*
 * Returns the index in a stack of a count below WALK_FRAMES. The verifier of Linux 6.1 forgets this bound when it
 * follows other code, so the compiler must not omit the mask.
 */
static __always_inline __u32 walk_frame_at(__u32 count)
{
	barrier_var(count);
	return count & WALK_FRAMES;
}

/*
 * Returns true if the kernel's tree has the layout that this code reads. The conditions are constant after loading, so
 * the verifier skips code that does not apply to this kernel.
 */
static __always_inline bool walk_space_is_readable(void)
{
	struct mm_struct *mm = NULL;
	return bpf_core_field_exists(mm->mm_mt.ma_root) &&
	       bpf_core_type_size(struct maple_node) == WALK_NODE_WORDS * sizeof(__u64) &&
	       bpf_core_field_offset(struct maple_range_64, slot) == WALK_RANGE_SLOTS_AT * sizeof(__u64) &&
	       bpf_core_field_offset(struct maple_arange_64, slot) == WALK_ARANGE_SLOTS_AT * sizeof(__u64) &&
	       bpf_core_field_offset(struct maple_arange_64, meta) == WALK_ARANGE_META_AT * sizeof(__u64);
}

static __always_inline __u64 walk_space_mix(__u64 hash, __u64 word)
{
	hash ^= word * 0x9e3779b97f4a7c15ULL;
	return (hash << 29 | hash >> 35) * 0xbf58476d1ce4e5b9ULL;
}

/*
 * Starts lookups in the current address space. The tag includes the process and its program, because the memory of an
 * ended process's mm_struct is reused.
 */
static __always_inline void walk_space_begin(struct walk_space *space, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mm_struct___before_6_13 *old = (void *)mm;
	__u64 sequence = 1;
	space->mm = mm;
	space->pid = (__u32)BPF_CORE_READ(task, tgid);
	space->is_unknown = false;
	if (bpf_core_field_exists(mm->mm_lock_seq.sequence))
		sequence = BPF_CORE_READ(mm, mm_lock_seq.sequence);
	else if (bpf_core_field_exists(old->mm_lock_seq))
		sequence = (__u64)(__u32)BPF_CORE_READ(old, mm_lock_seq) << 1;
	__u64 tag = walk_space_mix((__u64)mm, sequence);
	tag = walk_space_mix(tag, (__u64)space->pid << 32 | (__u32)BPF_CORE_READ(task, self_exec_id));
	tag = walk_space_mix(tag, BPF_CORE_READ(mm, start_stack));
	space->tag = sequence & 1 ? 0 : tag | 1;
}

static __always_inline struct walk_kept *walk_space_kept(const struct walk_space *space, __u64 address)
{
	__u32 key = (__u32)(walk_space_mix(space->tag, address >> WALK_KEPT_SHIFT) >> 32) & (WALK_KEPT - 1);
	return bpf_map_lookup_elem(&walk_kept, &key);
}

/* Looks the address up in the cache; true if it was found. */
static __always_inline bool walk_space_remembers(
	const struct walk_space *space, __u64 address, struct walk_mapping *mapping)
{
	const struct walk_kept *kept = walk_space_kept(space, address);
	if (!kept || kept->tag != space->tag || address < kept->mapping.start || address >= kept->mapping.end)
		return false;
	*mapping = kept->mapping;
	return true;
}

/*
 * Returns the contents of the node's slot for the page, a page number. Pivots are the last addresses of slots, in
 * ascending order.
 */
static __always_inline __u64 walk_space_slot(const __u64 *node, bool is_arange, __u64 page)
{
	__u64 end = is_arange ? node[WALK_ARANGE_META_AT] & 0xff
		    : node[WALK_RANGE_PIVOTS]
			    ? WALK_RANGE_PIVOTS
			    : node[WALK_NODE_WORDS - 1] & 0xf; /* The metadata is stored in the unused last slot. */
	__u64 index = 0;
	if (is_arange && end > WALK_ARANGE_PIVOTS)
		end = WALK_ARANGE_PIVOTS;
	for (__u32 i = 0; i < WALK_RANGE_PIVOTS; i++)
		index += walk_if_less(node[1 + i] >> WALK_PAGE_SHIFT_SMALLEST, page) & walk_if_less(i, end) & 1;
	index += is_arange ? WALK_ARANGE_SLOTS_AT : WALK_RANGE_SLOTS_AT;
	/* Prevents the compiler from omitting the mask, which the verifier of Linux 6.1 requires. */
	barrier_var(index);
	return node[index & (WALK_NODE_WORDS - 1)];
}

/* Returns NULL if there is no mapping at the address or another thread is changing the tree. */
static __always_inline struct vm_area_struct *walk_space_area(struct walk_space *space, __u64 address)
{
	/* A local copy, because CO-RE must not relocate the accesses to struct walk_space. */
	struct mm_struct *mm = space->mm;
	__u64 entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	if ((entry & 3) != 2) /* The tree is empty, or has a single entry instead of a node. */
		return NULL;
	for (__u32 level = 0; level < WALK_TREE_LEVELS; level++) {
		__u32 type = (entry >> 3) & 0xf;
		if (bpf_probe_read_kernel(space->node, sizeof(space->node), (const void *)(entry & ~0xffULL)))
			return NULL;
		entry = walk_space_slot(space->node, type == WALK_ARANGE_TYPE, address >> WALK_PAGE_SHIFT_SMALLEST);
		if (type <= WALK_LEAF_TYPE)
			return entry & 3 ? NULL : (struct vm_area_struct *)entry;
	}
	return NULL;
}

static __always_inline void walk_space_file_key(struct file *file, struct walk_file_key *key)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	key->inode = BPF_CORE_READ(inode, i_ino);
	key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		key->mtime_s = BPF_CORE_READ(inode, i_mtime_sec);
		key->mtime_ns = BPF_CORE_READ(inode, i_mtime_nsec);
	} else if (bpf_core_field_exists(inode->__i_mtime)) {
		key->mtime_s = BPF_CORE_READ(inode, __i_mtime.tv_sec);
		key->mtime_ns = (__u32)BPF_CORE_READ(inode, __i_mtime.tv_nsec);
	} else {
		key->mtime_s = BPF_CORE_READ(inode, i_mtime.tv_sec);
		key->mtime_ns = (__u32)BPF_CORE_READ(inode, i_mtime.tv_nsec);
	}
}

/* Sends a request to walk_tables.c; false if the ring buffer has no room. */
static __always_inline bool walk_space_ask(struct walk_miss *question)
{
	__u32 zero = 0;
	if (bpf_ringbuf_output(&walk_misses, question, sizeof(*question), 0) == 0)
		return true;
	struct walk_losses *losses = bpf_map_lookup_elem(&walk_losses, &zero);
	if (losses)
		losses->misses++;
	return false;
}

/* Requests the table of a file, once for each file. */
static __always_inline void walk_space_miss(
	const struct walk_space *space, const struct walk_file_key *key, const struct walk_mapping *mapping)
{
	struct walk_file_table asked = {.state = WALK_FILE_ASKED};
	struct walk_miss question = {
		.kind = WALK_MISS_FILE, .pid = space->pid, .start = mapping->start, .end = mapping->end, .file = *key};
	__u32 zero = 0;
	long failed = bpf_map_update_elem(&walk_files, key, &asked, BPF_NOEXIST);
	if (failed == 0 && !walk_space_ask(&question))
		bpf_map_delete_elem(&walk_files, key);
	struct walk_losses *losses = failed == -7 /* E2BIG */ ? bpf_map_lookup_elem(&walk_losses, &zero) : NULL;
	if (losses)
		losses->files++;
}

/*
 * Sets the unwind table of the mapping for code at this address. page is the mapping's offset in the file, in pages.
 * Returns true if the result may be cached for the whole mapping.
 */
static __always_inline bool walk_space_table(
	const struct walk_file_table *table, __u64 address, __u64 page, struct walk_mapping *mapping)
{
	__u64 begin = page << table->page_shift, offset = address - mapping->start + begin;
	if (table->state == WALK_FILE_ASKED)
		return false;
	for (__u32 i = 0; i < WALK_SEGMENTS; i++) {
		const struct walk_segment *segment = &table->segments[i];
		if (i >= table->segment_count || offset < segment->begin || offset >= segment->end)
			continue;
		mapping->bias = mapping->start - begin - segment->shift;
		mapping->entry = table->has_entry ? mapping->bias + table->entry : 0;
		mapping->chunk = table->chunk;
		mapping->chunk_count = table->chunk_count;
		mapping->has_table = table->state == WALK_FILE_HAS_TABLE;
		mapping->interpreter = table->interpreter;
		break;
	}
	return table->segment_count == 1 || table->state == WALK_FILE_HAS_NONE;
}

/* Sets mapping to that of the address, and caches it if possible. Returns false if no code is mapped there. */
static __always_inline bool walk_space_find(struct walk_space *space, __u64 address, struct walk_mapping *mapping)
{
	struct vm_area_struct *area = walk_space_area(space, address);
	struct walk_file_key key = {.inode = 0};
	struct mm_struct *mm = space->mm;
	struct walk_mapping found = {.start = BPF_CORE_READ(area, vm_start), .end = BPF_CORE_READ(area, vm_end)};
	bool may_keep = true;
	if (!area || address < found.start || address >= found.end || !(BPF_CORE_READ(area, vm_flags) & WALK_EXEC))
		return false;
	struct file *file = BPF_CORE_READ(area, vm_file);
	if (file)
		walk_space_file_key(file, &key);
	if (file || found.start == (__u64)BPF_CORE_READ(mm, context.vdso)) {
		const struct walk_file_table *table = bpf_map_lookup_elem(&walk_files, &key);
		may_keep = table && walk_space_table(table, address, BPF_CORE_READ(area, vm_pgoff), &found);
		space->is_unknown |= !table || table->state == WALK_FILE_ASKED;
		if (!table)
			walk_space_miss(space, &key, &found);
	}
	struct walk_kept *kept = may_keep && space->tag ? walk_space_kept(space, address) : NULL;
	if (kept) {
		kept->mapping = found;
		kept->tag = space->tag;
	}
	*mapping = found;
	return true;
}

#endif
