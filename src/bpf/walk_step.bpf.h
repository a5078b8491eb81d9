/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk_step.bpf.h - defines the state of a stack walk and its step from one frame to the caller's, by an unwind table
 * or by frame pointer, and records the values that the steps depended on. Included by walk.bpf.h.
 */
#ifndef BPF_WALK_STEP_BPF_H
#define BPF_WALK_STEP_BPF_H

#include "bpf/python.bpf.h"
#include "bpf/walk_layout.h"
#include "bpf/walk_registers.bpf.h"
#include "bpf/walk_rules.bpf.h"
#include "bpf/walk_space.bpf.h"

#define WALK_STACK_BYTES (8u << 20) /* Maximum size of a frame. */
#define WALK_USER_MOST	 (1ULL << 56) /* User addresses are below this limit. */
#define WALK_WINDOW	 256 /* Number of bytes of the stack that are read at once; a power of two. */
#define WALK_SAVED	 64 /* Number of bytes below the CFA in which a frame usually saves registers. */
#define WALK_NOTES_MOST	 64 /* Maximum number of recorded words; a power of two. */
#ifndef WALK_TAKES_NOTES
#define WALK_TAKES_NOTES false
#endif

/* Special values of walk.bx_at, which otherwise is the address at which rbx was saved. */
enum walk_bx { WALK_BX_IN_REGISTER, WALK_BX_LOST };

enum walk_uses { WALK_USES_FP = 1, WALK_USES_BX = 2, WALK_USES_R10 = 4, WALK_USES_LINK = 8 };

/*
 * Values that a walk depended on besides the first pc and sp, the mappings and the tables: if all of them are the same,
 * so is the result. Recorded only if WALK_TAKES_NOTES is defined as true.
 */
struct walk_notes {
	__u64 sp; /* Stack pointer at the start of the walk. */
	__u64 hash; /* Hash of the words that were read from the stack. */
	__u32 count;
	__u8 uses; /* Flags of enum walk_uses: registers that the walk used. */
	bool is_partial; /* True if the walk depended on values that were not recorded. */
	__u16 offsets[WALK_NOTES_MOST]; /* Offsets of the words from sp, in units of words. */
};

/* Special values of walk.fp_at; with WALK_FP_NOTED, the value is recorded already or need not be recorded. */
enum walk_fp { WALK_FP_IN_REGISTER, WALK_FP_NOTED };

/* The state of one walk: the current frame, and the mapping of its code. */
struct walk {
	struct walk_registers at;
	/* Mappings of the process in walk_mappings, on kernels without a readable tree. */
	__u32 mapping, mapping_count;
	struct walk_mapping code;
	struct walk_space space;
	bool is_lost; /* True if no code is mapped at the address of the current frame. */
	__u64 bx_at; /* Address at which rbx was saved, or a value of enum walk_bx. */
	__u64 fp_at; /* Address from which the frame pointer was read, or a value of enum walk_fp. */
	bool is_exact; /* True if pc is the next instruction to run, not a return address. */
	bool is_innermost;
	__u64 window; /* Address of words; 0 if they are not valid. */
	__u64 words[WALK_WINDOW / sizeof(__u64)];
	bool is_interpreted; /* True if walk_interpret must add interpreter frames next. */
	struct python_walk python;
	struct walk_notes notes;
};

static __always_inline __u64 walk_mix(__u64 hash, __u64 word)
{
	hash ^= word * 0x9e3779b97f4a7c15ULL;
	return (hash << 29 | hash >> 35) * 0xbf58476d1ce4e5b9ULL;
}

/* Records a word of the stack that the result depends on. */
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

/*
 * Records that the result depends on the frame pointer. This is deferred until its value is used, because many frames
 * only save it.
 */
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

/* Records that the result depends on values that are not recorded. */
static __always_inline void walk_note_more(struct walk *walk)
{
	if (WALK_TAKES_NOTES)
		walk->notes.is_partial = true;
}

static __always_inline bool walk_read(__u64 address, __u64 *value)
{
	return address < WALK_USER_MOST && bpf_probe_read_user(value, sizeof(*value), (const void *)address) == 0;
}

/*
 * Reads all words around the CFA at once, because that costs as much as reading a single word. They include the
 * registers that this frame saved, and those that callers with small frames saved.
 */
static __always_inline void walk_read_window(struct walk *walk, __u64 cfa)
{
	__u64 from = cfa - WALK_SAVED;
	if (from - walk->window <= WALK_WINDOW - WALK_SAVED)
		return;
	walk->window = from;
	if (from >= WALK_USER_MOST || bpf_probe_read_user(walk->words, sizeof(walk->words), (const void *)from))
		walk->window = 0;
}

/* Reads a word of the stack, from the window if it contains the word. */
static __always_inline bool walk_read_saved(const struct walk *walk, __u64 address, __u64 *value)
{
	__u64 offset = address - walk->window;
	if (walk->window == 0 || offset > WALK_WINDOW - sizeof(__u64) || offset & 7)
		return walk_read(address, value);
	offset /= sizeof(__u64);
	barrier_var(offset); /* Prevents the compiler from omitting the mask, as in walk_row_at. */
	*value = walk->words[offset & (WALK_WINDOW / sizeof(__u64) - 1)];
	return true;
}

/* Returns true if a call instruction precedes the return address. Returns false if the page is not in memory. */
static __always_inline bool walk_is_behind_call(__u64 pc)
{
	__u64 before; /* The eight bytes before pc. */
	if (!walk_read(pc - sizeof(before), &before))
		return false;
#if defined(__TARGET_ARCH_x86)
	if ((__u8)(before >> 24) == 0xe8)
		return true;
	for (__u32 bytes = 2; bytes <= 7; bytes++) { /* Matches ff /2 (an indirect call) with its operand. */
		__u64 call = before >> 8 * (8 - bytes);
		if ((call & 0x38ff) == 0x10ff)
			return true;
	}
	return false;
#else
	__u32 call = (__u32)(before >> 32);
	return (call & 0xfc000000) == 0x94000000 || (call & 0xfffffc1f) == 0xd63f0000; /* Matches bl and blr. */
#endif
}

/*
 * Steps by frame pointer, if no table covers the code. The caller's code may have a table and use the register for
 * something else.
 */
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
	/* The frame pointer is not plausible, so the code before the return address is checked. */
	if (pair[0] <= fp && pair[0] != 0) {
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

/* Computes the CFA; WALK_ENDS if it is known, otherwise the reason why the walk ends. */
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

/* Steps to the caller by a table. Returns WALK_ENDS if the walk continues. */
static __always_inline enum walk_end walk_step_ruled(struct walk *walk, const struct walk_rule *rule)
{
	__u64 cfa, caller = walk->at.link, fp = walk->at.fp, fp_at;
	enum walk_end end = walk_cfa(walk, rule, &cfa);
	if (end != WALK_ENDS)
		return end;
	fp_at = walk->fp_at;
	/* The stack grows down, so the CFA must be above sp. A leaf function of aarch64 may have no frame. */
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
	} else if (walk->is_innermost) { /* In other frames, it was recorded with the signal frame. */
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

/* Steps to the caller of the frame at address. Returns WALK_ENDS if the walk continues, otherwise why it ends. */
static __always_inline enum walk_end walk_step(struct walk *walk, struct walk_stack *stack, __u64 address)
{
	if (walk->is_lost) {
		/* In a process of which no mappings are known yet, frame pointers are used. */
		if ((walk_space_is_readable() || walk->mapping_count > 0) && !walk->is_innermost)
			return WALK_BROKEN;
		return walk_step_chained(walk, stack);
	}
	const struct walk_rule *rule = walk_find_rule(&walk->code, address);
	if (!rule && walk->code.entry && address - walk->code.entry < WALK_STARTUP_BYTES)
		return WALK_ROOT; /* The dynamic linker has no call-frame information for its entry point. */
	/* An innermost instruction may run before or after the switch of stacks. */
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
