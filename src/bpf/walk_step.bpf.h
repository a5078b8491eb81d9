/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk_step.bpf.h - the state of a stack walk, its step from one frame to the caller's, by a table or by frame pointer,
 * and notes of what the steps depended on. Included by walk.bpf.h.
 */
#ifndef BPF_WALK_STEP_BPF_H
#define BPF_WALK_STEP_BPF_H

#include "bpf/python.bpf.h"
#include "bpf/walk_layout.h"
#include "bpf/walk_registers.bpf.h"
#include "bpf/walk_rules.bpf.h"
#include "bpf/walk_space.bpf.h"

#define WALK_STACK_BYTES (8u << 20) /* that one frame may take */
#define WALK_USER_MOST	 (1ULL << 56) /* user addresses are below */
#define WALK_WINDOW	 256 /* bytes of the stack that are read at once; a power of two */
#define WALK_SAVED	 64 /* bytes below the CFA, where a frame usually saves registers */
#define WALK_NOTES_MOST	 64 /* a power of two */
#ifndef WALK_TAKES_NOTES
#define WALK_TAKES_NOTES false
#endif

enum walk_bx { WALK_BX_IN_REGISTER, WALK_BX_LOST };

enum walk_uses { WALK_USES_FP = 1, WALK_USES_BX = 2, WALK_USES_R10 = 4, WALK_USES_LINK = 8 };

/* What a walk depended on beside the first pc and sp, the mappings, and the tables: who finds all of it again knows the
 * result. Taken where WALK_TAKES_NOTES is defined as true. */
struct walk_notes {
	__u64 sp; /* the first */
	__u64 hash; /* of the words that were read from the stack */
	__u32 count;
	__u8 uses; /* enum walk_uses: registers */
	bool is_partial; /* it depended on something else, too */
	__u16 offsets[WALK_NOTES_MOST]; /* of the words, in words above sp */
};

enum walk_fp { WALK_FP_IN_REGISTER, WALK_FP_NOTED }; /* or the address that it was read from */

/* The state of one walk: the current frame, and the mapping of its code. */
struct walk {
	struct walk_registers at;
	__u32 mapping, mapping_count; /* of the process, where the kernel's mappings cannot be read */
	struct walk_mapping code;
	struct walk_space space;
	bool is_lost; /* no code is mapped at the current frame */
	__u64 bx_at; /* where rbx is saved, unless it is: */
	__u64 fp_at; /* where the frame pointer was read, or enum walk_fp; for notes */
	bool is_exact; /* pc is the next instruction to run, not one behind a call */
	bool is_innermost;
	__u64 window; /* where the words were read; 0: none were */
	__u64 words[WALK_WINDOW / sizeof(__u64)];
	bool is_interpreted; /* frames of an interpreter come next: walk_interpret */
	struct python_walk python;
	struct walk_notes notes;
};

static __always_inline __u64 walk_mix(__u64 hash, __u64 word)
{
	hash ^= word * 0x9e3779b97f4a7c15ULL;
	return (hash << 29 | hash >> 35) * 0xbf58476d1ce4e5b9ULL;
}

/* A word of the stack that the result depends on. */
static __always_inline void walk_note(struct walk *walk, __u64 address, __u64 word)
{
	struct walk_notes *notes = &walk->notes;
	__u64 offset = address - notes->sp;
	__u32 count = notes->count;
	if (!WALK_TAKES_NOTES)
		return;
	if (offset & 7 || offset >> 3 > 0xffff || count >= WALK_NOTES_MOST) {
		notes->is_partial = true;
		return;
	}
	barrier_var(count);
	notes->offsets[count & (WALK_NOTES_MOST - 1)] = (__u16)(offset >> 3);
	notes->hash = walk_mix(notes->hash, word);
	notes->count = count + 1;
}

static __always_inline void walk_note_use(struct walk *walk, enum walk_uses use)
{
	if (WALK_TAKES_NOTES)
		walk->notes.uses |= use;
}

/* The result depends on the frame pointer, whose value many frames only save. */
static __always_inline void walk_note_fp(struct walk *walk)
{
	__u64 at = walk->fp_at;
	if (!WALK_TAKES_NOTES || at == WALK_FP_NOTED)
		return;
	walk->fp_at = WALK_FP_NOTED;
	if (at == WALK_FP_IN_REGISTER)
		walk_note_use(walk, WALK_USES_FP);
	else
		walk_note(walk, at, walk->at.fp);
}

static __always_inline void walk_note_more(struct walk *walk)
{
	if (WALK_TAKES_NOTES)
		walk->notes.is_partial = true;
}

static __always_inline bool walk_read(__u64 address, __u64 *value)
{
	return address < WALK_USER_MOST && bpf_probe_read_user(value, sizeof(*value), (const void *)address) == 0;
}

/* One read costs as much as its neighbours': it gets the registers that a frame saved, and what small callers saved. */
static __always_inline void walk_read_window(struct walk *walk, __u64 cfa)
{
	__u64 from = cfa - WALK_SAVED;
	if (from - walk->window <= WALK_WINDOW - WALK_SAVED)
		return;
	walk->window = from;
	if (from >= WALK_USER_MOST || bpf_probe_read_user(walk->words, sizeof(walk->words), (const void *)from))
		walk->window = 0;
}

static __always_inline bool walk_read_saved(const struct walk *walk, __u64 address, __u64 *value)
{
	__u64 offset = address - walk->window;
	if (walk->window == 0 || offset > WALK_WINDOW - sizeof(__u64) || offset & 7)
		return walk_read(address, value);
	offset /= sizeof(__u64);
	barrier_var(offset); /* as in walk_row_at */
	*value = walk->words[offset & (WALK_WINDOW / sizeof(__u64) - 1)];
	return true;
}

/* Whether a call is before the return address. False if its page is not in memory. */
static __always_inline bool walk_is_behind_call(__u64 pc)
{
	__u64 before; /* the eight bytes */
	if (!walk_read(pc - sizeof(before), &before))
		return false;
#if defined(__TARGET_ARCH_x86)
	if ((__u8)(before >> 24) == 0xe8)
		return true;
	for (__u32 bytes = 2; bytes <= 7; bytes++) { /* ff /2, with its operand */
		__u64 call = before >> 8 * (8 - bytes);
		if ((call & 0x38ff) == 0x10ff)
			return true;
	}
	return false;
#else
	__u32 call = (__u32)(before >> 32);
	return (call & 0xfc000000) == 0x94000000 || (call & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
#endif
}

/* Steps by frame pointer, if no table covers the code. The caller's may be something else, in code that has a table. */
static __always_inline enum walk_end walk_step_chained(struct walk *walk, struct walk_stack *stack)
{
	__u64 pair[2], fp = walk->at.fp;
	walk_note_fp(walk);
	if (fp < walk->at.sp || fp - walk->at.sp > WALK_STACK_BYTES || fp & 7)
		return WALK_NO_TABLE;
	if (bpf_probe_read_user(pair, sizeof(pair), (const void *)fp))
		return WALK_SHORT;
	walk_note(walk, fp + sizeof(__u64), pair[1]);
	if (pair[1] == 0)
		return WALK_ROOT;
	if (pair[0] <= fp && pair[0] != 0) { /* code is read */
		walk_note_more(walk);
		if (!walk_is_behind_call(pair[1] & WALK_ADDRESS_MASK))
			return WALK_BROKEN;
	}
	walk_note(walk, fp, pair[0]);
	walk->fp_at = WALK_FP_NOTED;
	walk->at.sp = fp + sizeof(pair);
	walk->at.fp = pair[0];
	walk->at.pc = pair[1] & WALK_ADDRESS_MASK;
	walk->bx_at = WALK_BX_LOST;
	walk->is_exact = false;
	if (stack->bridged < 255)
		stack->bridged++;
	return WALK_ENDS;
}

static __always_inline enum walk_end walk_step_signal(struct walk *walk)
{
	__u64 sp = walk->at.sp;
	if (!walk_read(sp + WALK_SIGNAL_FP, &walk->at.fp) || !walk_read(sp + WALK_SIGNAL_PC, &walk->at.pc) ||
		!walk_read(sp + WALK_SIGNAL_SP, &walk->at.sp))
		return WALK_SHORT;
	walk_note(walk, sp + WALK_SIGNAL_FP, walk->at.fp);
	walk_note(walk, sp + WALK_SIGNAL_PC, walk->at.pc);
	walk_note(walk, sp + WALK_SIGNAL_SP, walk->at.sp);
	walk->fp_at = WALK_FP_NOTED;
#ifdef WALK_SIGNAL_BX
	walk->bx_at = sp + WALK_SIGNAL_BX;
#endif
#ifdef WALK_SIGNAL_LINK
	if (!walk_read(sp + WALK_SIGNAL_LINK, &walk->at.link))
		return WALK_SHORT;
	walk_note(walk, sp + WALK_SIGNAL_LINK, walk->at.link);
#endif
	walk->is_exact = true;
	return WALK_ENDS;
}

/* WALK_ENDS: known. */
static __always_inline enum walk_end walk_cfa(struct walk *walk, const struct walk_rule *rule, __u64 *cfa)
{
	const struct walk_registers *at = &walk->at;
	__u64 offset = (__u64)(__s64)rule->cfa_offset;
	switch (rule->cfa) {
	case WALK_CFA_SP:
		*cfa = at->sp + offset;
		return WALK_ENDS;
	case WALK_CFA_FP:
	case WALK_CFA_SWITCH:
		walk_note_fp(walk);
		*cfa = at->fp + offset;
		return WALK_ENDS;
	case WALK_CFA_AT_FP:
		walk_note_fp(walk);
		if (!walk_read(at->fp + offset, cfa))
			return WALK_SHORT;
		walk_note(walk, at->fp + offset, *cfa);
		return WALK_ENDS;
	case WALK_CFA_AT_SP:
		if (!walk_read(at->sp + offset, cfa))
			return WALK_SHORT;
		walk_note(walk, at->sp + offset, *cfa);
		return WALK_ENDS;
	case WALK_CFA_R10:
		walk_note_use(walk, WALK_USES_R10);
		*cfa = at->r10 + offset;
		return walk->is_innermost ? WALK_ENDS : WALK_NO_REGISTERS;
	case WALK_CFA_BX:
		*cfa = at->bx;
		if (walk->bx_at == WALK_BX_LOST)
			return WALK_NO_REGISTERS;
		if (walk->bx_at == WALK_BX_IN_REGISTER) {
			walk_note_use(walk, WALK_USES_BX);
		} else {
			if (!walk_read(walk->bx_at, cfa))
				return WALK_SHORT;
			walk_note(walk, walk->bx_at, *cfa);
		}
		*cfa += offset;
		return WALK_ENDS;
	case WALK_CFA_PLT:
		*cfa = at->sp + 8 + ((at->pc & 15) >= (__u64)rule->cfa_offset ? 8 : 0);
		return WALK_ENDS;
	default:
		return WALK_NO_REGISTERS;
	}
}

/* Steps to the caller by a table. WALK_ENDS: the walk continues. */
static __always_inline enum walk_end walk_step_ruled(struct walk *walk, const struct walk_rule *rule)
{
	__u64 cfa, caller = walk->at.link, fp = walk->at.fp, fp_at;
	enum walk_end end = walk_cfa(walk, rule, &cfa);
	if (end != WALK_ENDS)
		return end;
	fp_at = walk->fp_at;
	/* A stack grows down; a leaf of aarch64 has no frame. */
	if (rule->cfa != WALK_CFA_SWITCH &&
		(cfa < walk->at.sp || (cfa == walk->at.sp && !(WALK_HAS_LINK && walk->is_innermost))))
		return WALK_BROKEN;
	walk_read_window(walk, cfa);
	if (rule->return_place == WALK_IS_AT_CFA) {
		__u64 place = cfa + (__u64)(__s64)rule->return_offset;
		if (!walk_read_saved(walk, place, &caller))
			return WALK_SHORT;
		walk_note(walk, place, caller);
	} else if (!WALK_HAS_LINK || !walk->is_exact) {
		return WALK_NO_REGISTERS;
	} else if (walk->is_innermost) { /* else it was noted with the signal's frame */
		walk_note_use(walk, WALK_USES_LINK);
	}
	if (rule->fp_place == WALK_IS_AT_CFA || rule->fp_place == WALK_IS_AT_FP) {
		if (rule->fp_place == WALK_IS_AT_FP)
			walk_note_fp(walk);
		__u64 place = rule->fp_place == WALK_IS_AT_CFA ? cfa : walk->at.fp;
		place += (__u64)(__s64)rule->fp_offset;
		if (!walk_read_saved(walk, place, &fp))
			return WALK_SHORT;
		fp_at = place;
	} else if (rule->fp_place == WALK_IS_LOST) {
		fp = 0;
		fp_at = WALK_FP_NOTED;
	}
	if (caller == 0)
		return WALK_ROOT;
	if (rule->bx_place == WALK_IS_LOST)
		walk->bx_at = WALK_BX_LOST;
	else if (rule->bx_place == WALK_IS_AT_FP)
		walk_note_fp(walk);
	if (rule->bx_place == WALK_IS_AT_CFA || rule->bx_place == WALK_IS_AT_FP)
		walk->bx_at = (rule->bx_place == WALK_IS_AT_CFA ? cfa : walk->at.fp) + (__u64)(__s64)rule->bx_offset;
	walk->at.sp = cfa;
	walk->at.fp = fp;
	walk->fp_at = fp_at;
	walk->at.pc = caller & WALK_ADDRESS_MASK;
	walk->is_exact = false;
	return WALK_ENDS;
}

static __always_inline enum walk_end walk_step(struct walk *walk, struct walk_stack *stack, __u64 address)
{
	if (walk->is_lost) {
		/* Of a process that nothing is known of yet, frame pointers say what they can. */
		if ((walk_space_is_readable() || walk->mapping_count > 0) && !walk->is_innermost)
			return WALK_BROKEN;
		return walk_step_chained(walk, stack);
	}
	const struct walk_rule *rule = walk_find_rule(&walk->code, address);
	if (!rule && walk->code.entry && address - walk->code.entry < WALK_STARTUP_BYTES)
		return WALK_ROOT; /* the dynamic linker's has no call-frame information */
	/* An innermost instruction may run before or behind the change of stacks. */
	if (!rule || (rule->cfa >= WALK_CFA_SWITCH_ROOT && walk->is_exact))
		return walk_step_chained(walk, stack);
	if (rule->cfa == WALK_CFA_ROOT || rule->cfa == WALK_CFA_SWITCH_ROOT)
		return WALK_ROOT;
	if (rule->cfa == WALK_CFA_SWITCH_CUT)
		return WALK_SHORT;
	if (rule->cfa == WALK_CFA_SIGNAL)
		return walk_step_signal(walk);
	return walk_step_ruled(walk, rule);
}

#endif
