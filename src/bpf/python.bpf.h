/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * python.bpf.h - reads Python frames (CPython 3.11) during the walk of a user stack. Used by walk.bpf.h only.
 *
 * A native frame of the function that runs bytecode (_PyEval_EvalFrameDefault) is replaced by the Python frames that
 * this call of the function runs. Each call has a record on its C stack (_PyCFrame), which points to its innermost
 * Python frame and to the record of the previous call. So native frames and Python frames are matched by addresses, not
 * by counting.
 *
 * This code runs in separate BPF programs, which the programs of the walk call (walk_interpret).
 *
 * A frame is reported as the ID of its code object and the index of an instruction. A code object that is seen for the
 * first time is sent through a ring buffer, with its name, file and line table.
 */
#ifndef BPF_PYTHON_BPF_H
#define BPF_PYTHON_BPF_H

#include "bpf/kernel_types.bpf.h"
#include "bpf/python_layout.h"

#define PYTHON_THREADS_MOST 128 /* Maximum number of threads of the main interpreter that are searched. */
#define PYTHON_FORKED	    0x40 /* PF_FORKNOEXEC of the kernel. */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PYTHON_BINARIES);
	__type(key, __u32);
	__type(value, struct python_binary);
} python_binaries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PYTHON_CODES_MOST);
	__type(key, struct python_code_key);
	__type(value, struct python_known_code);
} python_codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} python_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PYTHON_IDS);
	__type(key, __u32);
	__type(value, struct python_ids);
} python_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_losses);
} python_losses SEC(".maps");

struct python_walk { /* State of the walk of Python frames, in a map of the program. */
	__u32 binary; /* Index in python_binaries of the file that the walk is in. */
	bool is_begun; /* True after python_begin. */
	__u64 bias; /* Difference between the run-time address and the row address. */
	__u64 stack_begin, stack_end; /* Stack range of the native frame that runs bytecode. */
	__u64 runtime; /* Run-time address of _PyRuntime. */
	struct python_offsets at;
	/* generation is a hash of the program image: processes in which it is equal share their code objects. */
	__u32 pid, generation;
	__u32 id; /* Thread ID in the process's own PID namespace. */
	__u64 base; /* Address of its thread-local data; 0 if it is not known. */
	__u64 thread; /* Address of its PyThreadState; 0 if the interpreter does not know the thread. */
	__u64 cframe; /* _PyCFrame of the next call of the function that runs bytecode; 0 if there is none. */
	__u64 frame; /* Python frame to report next; 0 if there is none. */
};

static __always_inline struct python_losses *python_losses_here(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&python_losses, &zero);
}

static __always_inline bool python_read(__u64 address, __u64 *value)
{
	return bpf_probe_read_user(value, sizeof(*value), (const void *)address) == 0;
}

/* Returns the thread's ID in its own PID namespace. */
static __always_inline __u32 python_own_id(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *number = (void *)((char *)pid + bpf_core_field_offset(struct pid, numbers) +
				       (level & 31) * bpf_core_type_size(struct upid));
	return (__u32)BPF_CORE_READ(number, nr);
}

static __always_inline __u64 python_thread_base(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(task, thread.fsbase);
#else
	return 0;
#endif
}

/*
 * Checks whether a PyThreadState belongs to the current thread. After a fork, the child's main thread still has the
 * parent's native ID there, so its address of thread-local data is compared, too.
 */
static __always_inline bool python_is_thread(const struct python_walk *python, __u64 thread)
{
	__u64 native, own;
	if (!python_read(thread + python->at.thread_native_id, &native) ||
		!python_read(thread + python->at.thread_id, &own))
		return false;
	return native == python->id || (python->base && own == python->base);
}

/* Returns the PyThreadState of the current thread; 0 if the interpreter does not know the thread. */
static __always_inline __u64 python_find_thread(const struct python_walk *python)
{
	__u64 thread, interpreter;
	if (python_read(python->runtime + python->at.runtime_current, &thread) && thread &&
		python_is_thread(python, thread))
		return thread;
	if (!python_read(python->runtime + python->at.runtime_interpreters, &interpreter) || !interpreter ||
		!python_read(interpreter + python->at.interpreter_threads, &thread))
		return 0;
	for (int i = 0; i < PYTHON_THREADS_MOST && thread; i++) {
		if (python_is_thread(python, thread))
			return thread;
		if (!python_read(thread + python->at.thread_next, &thread))
			return 0;
	}
	return 0;
}

/*
 * Returns true if the address, in a binary with an interpreter, belongs to the function that runs bytecode, so that
 * Python frames may replace this native frame, which occupies the given part of the stack.
 */
static __always_inline bool python_is_here(
	struct python_walk *python, __u32 number, __u64 bias, __u64 address, __u64 stack_begin, __u64 stack_end)
{
	const struct python_binary *binary = bpf_map_lookup_elem(&python_binaries, &number);
	if (!binary || address - bias < binary->eval_start || address - bias >= binary->eval_end)
		return false;
	python->binary = number;
	python->bias = bias;
	python->stack_begin = stack_begin;
	python->stack_end = stack_end;
	return true;
}

/* Initializes the state once for each walk. Forked children share the code objects of their parent. */
static __always_inline void python_begin(struct python_walk *python)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	const struct python_binary *binary = bpf_map_lookup_elem(&python_binaries, &python->binary);
	if (!binary)
		return;
	__u32 owner = python->pid = (__u32)BPF_CORE_READ(task, tgid);
	if (BPF_CORE_READ(task, flags) & PYTHON_FORKED)
		owner = (__u32)BPF_CORE_READ(task, real_parent, tgid);
	__u64 hash = BPF_CORE_READ(mm, start_stack) ^ (__u64)owner * 0x9e3779b97f4a7c15ULL ^
		     (__u64)(__u32)BPF_CORE_READ(task, self_exec_id) * 0xbf58476d1ce4e5b9ULL;
	python->generation = (__u32)(hash >> 32 ^ hash);
	python->at = binary->at;
	python->runtime = binary->runtime + python->bias;
	python->id = python_own_id(task);
	python->base = python_thread_base(task);
	python->thread = python_find_thread(python);
	if (python->thread)
		python_read(python->thread + python->at.thread_cframe, &python->cframe);
	struct python_losses *losses = python->thread ? NULL : python_losses_here();
	if (losses)
		losses->threads++;
}

/*
 * Starts with the Python frames of the current native frame. Returns false if it has none, because it has just been
 * called and has no record yet.
 */
static __always_inline bool python_enter(struct python_walk *python)
{
	__u64 cframe = python->cframe;
	if (cframe < python->stack_begin || cframe >= python->stack_end)
		return false;
	if (!python_read(cframe + python->at.cframe_frame, &python->frame) ||
		!python_read(cframe + python->at.cframe_previous, &python->cframe)) {
		python->frame = python->cframe = 0;
		return false;
	}
	return python->frame != 0;
}

/* Limits a size. Callers additionally mask the result, for the verifier. */
static __always_inline __u64 python_bounded(__u64 size, __u64 most)
{
	size = size < most ? size : most;
	barrier_var(size);
	return size;
}

static __always_inline bool python_read_text(const struct python_walk *python, __u64 text, struct python_text *to)
{
	const struct python_offsets *at = &python->at;
	__u64 length, begin;
	__u32 state;
	if (!python_read(text + at->text_length, &length) ||
		bpf_probe_read_user(&state, sizeof(state), (const void *)(text + at->text_state)))
		return false;
	__u32 kind = state >> 2 & 7, is_ascii = state >> 6 & 1;
	to->length = (__u32)python_bounded(length, PYTHON_TEXT);
	to->bytes_each = (__u8)kind;
	begin = text + (is_ascii ? at->text_ascii : at->text_other);
	__u64 bytes = (__u64)to->length * kind;
	if (!(state & 1 << 5) || kind == 0) /* Not compact, which names of code never are. */
		return false;
	bytes = python_bounded(bytes, PYTHON_TEXT - 1);
	return bpf_probe_read_user(to->data, bytes & (PYTHON_TEXT - 1), (const void *)begin) == 0;
}

static __always_inline bool python_read_code(
	const struct python_walk *python, __u64 code, const struct python_known_code *known, struct python_code *to)
{
	const struct python_offsets *at = &python->at;
	__u64 file, size;
	if (!python_read(code + at->code_file, &file) || !python_read(known->lines + at->bytes_size, &size) ||
		bpf_probe_read_user(
			&to->first_line, sizeof(to->first_line), (const void *)(code + at->code_first_line)))
		return false;
	to->id = known->id;
	to->pid = python->pid;
	to->generation = python->generation;
	to->lines_size = (__u32)size;
	size = python_bounded(size, PYTHON_LINES - 1);
	return python_read_text(python, known->name, &to->name) && python_read_text(python, file, &to->file) &&
	       bpf_probe_read_user(
		       to->lines, size & (PYTHON_LINES - 1), (const void *)(known->lines + at->bytes_data)) == 0;
}

/* Sends a new code object and returns its ID; PYTHON_UNKNOWN if it cannot be sent now. */
static __always_inline __u32 python_tell_code(
	const struct python_walk *python, const struct python_code_key *key, struct python_known_code *known)
{
	__u32 kind = PYTHON_IDS_OF;
	struct python_ids *ids = bpf_map_lookup_elem(&python_ids, &kind);
	if (!ids)
		return PYTHON_UNKNOWN;
	known->id = ids->next;
	ids->next += ids->step;
	if (bpf_map_update_elem(&python_codes, key, known, BPF_ANY))
		return PYTHON_UNKNOWN;
	struct python_code *to = bpf_ringbuf_reserve(&python_ring, sizeof(*to), 0);
	if (to && python_read_code(python, key->code, known, to)) {
		bpf_ringbuf_submit(to, 0);
		return known->id;
	}
	if (to)
		bpf_ringbuf_discard(to, 0);
	bpf_map_delete_elem(&python_codes, key); /* Its next use tries again. */
	return PYTHON_UNKNOWN;
}

/* Returns the ID of the code object at an address; PYTHON_UNKNOWN if it cannot be read or sent. */
static __always_inline __u32 python_code_id(const struct python_walk *python, __u64 code)
{
	const struct python_offsets *at = &python->at;
	struct python_code_key key = {.code = code, .generation = python->generation};
	struct python_known_code now = {.id = PYTHON_UNKNOWN};
	const struct python_known_code *known = bpf_map_lookup_elem(&python_codes, &key);
	if (!python_read(code + at->code_name, &now.name) || !python_read(code + at->code_lines, &now.lines))
		return PYTHON_UNKNOWN;
	if (known && known->name == now.name && known->lines == now.lines)
		return known->id;
	return python_tell_code(python, &key, &now);
}

static __always_inline __u64 python_lose_frame(void)
{
	struct python_losses *losses = python_losses_here();
	if (losses)
		losses->frames++;
	return PYTHON_TAG;
}

/* Returns the next frame as it is stored in a stack, and advances. */
static __always_inline __u64 python_take_frame(struct python_walk *python)
{
	__u64 code = 0, instruction, previous;
	__u8 is_entry;
	const struct python_offsets *at = &python->at;
	__u64 frame = python->frame;
	python->frame = 0;
	if (!python_read(frame + at->frame_code, &code) || !python_read(frame + at->frame_instruction, &instruction) ||
		!python_read(frame + at->frame_previous, &previous) ||
		bpf_probe_read_user(&is_entry, sizeof(is_entry), (const void *)(frame + at->frame_is_entry)))
		return python_lose_frame();
	if (!is_entry)
		python->frame = previous;
	__u32 id = python_code_id(python, code);
	if (id == PYTHON_UNKNOWN) {
		struct python_losses *losses = python_losses_here();
		if (losses)
			losses->codes++;
		return PYTHON_TAG;
	}
	/* Before a frame's first instruction, its instruction pointer points to the preceding code unit. */
	__u64 index = (instruction - (code + at->code_instructions)) / 2;
	if (index > PYTHON_INDEX_MOST)
		index = 0;
	return PYTHON_TAG | (__u64)id << PYTHON_ID_SHIFT | index;
}

#endif
