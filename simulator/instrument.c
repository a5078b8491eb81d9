/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument.h"

#include <pub_tool_hashtable.h>

#include "counting.h"
#include "model.h"
#include "options.h"
#include "registers.h"
#include "sampling.h"
#include "toggles.h"

#define INSTRUMENT_PIECE_MOST 1024u
#define INSTRUMENT_NO_LINE    (~0ull)

/* Event sums, each counted by one addition at the begin of a piece. */
enum instrument_sum {
	INSTRUMENT_INSTRUCTIONS, /* First, because the check for samples uses it. */
	INSTRUMENT_LOADS,
	INSTRUMENT_STORES,
	INSTRUMENT_CONDITIONAL,
	INSTRUMENT_INDIRECT,
	INSTRUMENT_SUMS
};

static const enum sim_event instrument_sum_events[INSTRUMENT_SUMS] = {
	SIM_INSTRUCTIONS, SIM_L1D_LOADS, SIM_L1D_STORES, SIM_CONDITIONAL_BRANCHES, SIM_INDIRECT_BRANCHES};

/* Number of statements reserved for a sum, and for the check whether a sample is due. */
#define INSTRUMENT_SUM_STATEMENTS   3
#define INSTRUMENT_PIECE_STATEMENTS 6

/* Pieces of a translation, retained for samples of instructions. */
struct instrument_pieces {
	struct instrument_pieces *next; /* The first two members are those of a node of Valgrind's hash table. */
	UWord key;
	struct instrument_pieces *more; /* Next piece of the same translation. */
	struct sim_piece piece;
};

/* State of the translation that is being built. */
struct instrument_block {
	IRSB *out;
	/* The members up to pieces describe the current piece. */
	Int sums_at; /* Index of the first statement reserved for its sums; -1 if no piece is open. */
	UInt sums[INSTRUMENT_SUMS];
	Addr ips[INSTRUMENT_PIECE_MOST];
	struct instrument_pieces *pieces;
	/* The members up to last_load_bytes describe the current instruction. */
	Addr ip;
	UInt bytes;
	Bool is_repeated;
	Bool repeat_is_counted, repeat_works;
	IRTemp sp; /* Stack pointer before the instruction. */
	IRExpr *last_load; /* Address of the last access if it was a load, else NULL. */
	UInt last_load_bytes;
	/* The line of code that is known to be the one fetched last. */
	ULong fetched;
	Bool any_instruction;
};

static const struct sim_model *instrument_model;
/* Sums of sampled events, which the model counts instead of translated code. */
static Bool instrument_dynamic[INSTRUMENT_SUMS];
static Bool instrument_samples_instructions, instrument_samples_fetches, instrument_keeps_sp;
static UInt instrument_code_shift;
static VgHashTable *instrument_table;

static void instrument_add(struct instrument_block *b, IRStmt *statement)
{
	addStmtToIRSB(b->out, statement);
}

static IRExpr *instrument_word(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *instrument_temp(struct instrument_block *b, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(b->out->tyenv, type);
	instrument_add(b, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *instrument_variable(struct instrument_block *b, const ULong *variable)
{
	return instrument_temp(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, instrument_word((Addr)variable)));
}

static void instrument_set(struct instrument_block *b, const ULong *variable, IRExpr *value)
{
	instrument_add(b, IRStmt_Store(Iend_LE, instrument_word((Addr)variable), value));
}

static void instrument_increase(struct instrument_block *b, const ULong *variable, IRExpr *by)
{
	IRExpr *old = instrument_variable(b, variable);
	instrument_set(b, variable, instrument_temp(b, Ity_I64, IRExpr_Binop(Iop_Add64, old, by)));
}

/* Makes a call of a function that reads the registers of the guest. */
static IRStmt *instrument_call(const HChar *name, void *function, IRExpr **arguments, IRExpr *guard)
{
	IRDirty *call = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), arguments);
	if (guard)
		call->guard = guard;
	if (sim_options.sampled_count && sim_options.stack_bytes) {
		call->nFxState = 1;
		VG_(memset)(&call->fxState, 0, sizeof call->fxState);
		call->fxState[0].fx = Ifx_Read;
		call->fxState[0].offset = (UShort)SIM_STATE_BEGIN;
		call->fxState[0].size = (UShort)(SIM_STATE_END - SIM_STATE_BEGIN);
	}
	return IRStmt_Dirty(call);
}

static void instrument_open(struct instrument_block *b)
{
	b->sums_at = b->out->stmts_used;
	VG_(memset)(b->sums, 0, sizeof b->sums);
	for (Int i = 0; i < INSTRUMENT_SUMS * INSTRUMENT_SUM_STATEMENTS + INSTRUMENT_PIECE_STATEMENTS; i++)
		instrument_add(b, IRStmt_NoOp());
}

/* Adds, after the sum of instructions, a call that is made if a sample is due. */
static void instrument_look(struct instrument_block *b, Int at, IRTemp now)
{
	UInt count = b->sums[INSTRUMENT_INSTRUCTIONS];
	struct instrument_pieces *made = VG_(malloc)("tally.piece", sizeof *made + count * sizeof made->piece.ips[0]);
	IRTemp next = newIRTemp(b->out->tyenv, Ity_I64), due = newIRTemp(b->out->tyenv, Ity_I1);
	made->more = b->pieces;
	b->pieces = made;
	made->piece.count = count;
	VG_(memcpy)(made->piece.ips, b->ips, count * sizeof made->piece.ips[0]);
	b->out->stmts[at] =
		IRStmt_WrTmp(next, IRExpr_Load(Iend_LE, Ity_I64, instrument_word((Addr)&sim_next[SIM_INSTRUCTIONS])));
	b->out->stmts[at + 1] = IRStmt_WrTmp(due, IRExpr_Binop(Iop_CmpLE64U, IRExpr_RdTmp(next), IRExpr_RdTmp(now)));
	b->out->stmts[at + 2] = instrument_call("sim_sampling_piece", sim_sampling_piece,
		mkIRExprVec_1(instrument_word((Addr)&made->piece)), IRExpr_RdTmp(due));
}

/* Fills in the sums of the piece that has ended. */
static void instrument_close(struct instrument_block *b)
{
	Int at = b->sums_at;
	if (at < 0)
		return;
	b->sums_at = -1;
	for (UInt sum = 0; sum < INSTRUMENT_SUMS; sum++) {
		const ULong *variable = &sim_raw[instrument_sum_events[sum]];
		if (!b->sums[sum] || instrument_dynamic[sum])
			continue;
		IRTemp old = newIRTemp(b->out->tyenv, Ity_I64), now = newIRTemp(b->out->tyenv, Ity_I64);
		b->out->stmts[at] = IRStmt_WrTmp(old, IRExpr_Load(Iend_LE, Ity_I64, instrument_word((Addr)variable)));
		b->out->stmts[at + 1] =
			IRStmt_WrTmp(now, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(old), instrument_word(b->sums[sum])));
		b->out->stmts[at + 2] = IRStmt_Store(Iend_LE, instrument_word((Addr)variable), IRExpr_RdTmp(now));
		at += INSTRUMENT_SUM_STATEMENTS;
		if (sum == INSTRUMENT_INSTRUCTIONS && instrument_samples_instructions) {
			instrument_look(b, at, now);
			at += INSTRUMENT_SUM_STATEMENTS;
		}
	}
}

/* Returns the arguments of the model functions, with those for samples if the model takes samples. */
static IRExpr **instrument_arguments(struct instrument_block *b, IRExpr *address, UInt bytes)
{
	IRExpr *size = instrument_word(bytes);
	if (!instrument_model->is_sampled)
		return mkIRExprVec_2(address, size);
	return mkIRExprVec_4(address, size, instrument_word(b->ip),
		b->sp == IRTemp_INVALID ? instrument_word(0) : IRExpr_RdTmp(b->sp));
}

static void instrument_fetch(struct instrument_block *b)
{
	ULong first = b->ip >> instrument_code_shift, last = (b->ip + b->bytes - 1) >> instrument_code_shift;
	IRExpr *guard = NULL;
	if (!(sim_options.kinds & (SIM_KIND_CACHES | SIM_KIND_TLB)))
		return;
	/* The line that was fetched last is the most recently used one, so fetching it again changes nothing. */
	if (!instrument_samples_fetches && first == last) {
		if (first == b->fetched)
			return;
		if (b->fetched == INSTRUMENT_NO_LINE)
			guard = instrument_temp(b, Ity_I1,
				IRExpr_Binop(
					Iop_CmpNE64, instrument_variable(b, &sim_fetched), instrument_word(first)));
	}
	b->fetched = last;
	instrument_add(b, instrument_call("fetch", instrument_model->fetch,
				  instrument_arguments(b, instrument_word(b->ip), b->bytes), guard));
}

static void instrument_access(struct instrument_block *b, IRExpr *address, UInt bytes, Bool is_store, IRExpr *guard)
{
	enum instrument_sum sum = is_store ? INSTRUMENT_STORES : INSTRUMENT_LOADS;
	if (!(sim_options.kinds & (SIM_KIND_CACHES | SIM_KIND_TLB)))
		return;
	/* An instruction that changes memory in place has already loaded the line; its store is not a
	 * separate access. */
	if (is_store && !guard && b->last_load && b->last_load_bytes == bytes && eqIRAtom(b->last_load, address)) {
		b->last_load = NULL;
		return;
	}
	b->last_load = is_store || guard ? NULL : address;
	b->last_load_bytes = bytes;
	if (!guard)
		b->sums[sum]++;
	else if (!instrument_dynamic[sum])
		instrument_increase(b, &sim_raw[instrument_sum_events[sum]],
			instrument_temp(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, guard)));
	instrument_add(b, instrument_call(is_store ? "store" : "load",
				  is_store ? instrument_model->store : instrument_model->load,
				  instrument_arguments(b, address, bytes), guard));
}

static UInt instrument_size(struct instrument_block *b, IRExpr *value)
{
	return (UInt)sizeofIRType(typeOfIRExpr(b->out->tyenv, value));
}

static void instrument_guarded_load(struct instrument_block *b, const IRLoadG *load)
{
	IRType result, loaded;
	typeOfIRLoadGOp(load->cvt, &result, &loaded);
	instrument_access(b, load->addr, (UInt)sizeofIRType(loaded), False, load->guard);
}

/* An instruction like FXSAVE or XSAVE reads or writes hundreds of bytes. It counts as one access of the size of one
 * line: the model has one miss per access, as in cachegrind. */
static UInt instrument_dirty_size(Int bytes)
{
	UInt line = 1u << sim_options.d1.shift;
	return (UInt)bytes < line ? (UInt)bytes : line;
}

/* Adds the accesses of a statement before the statement itself. */
static void instrument_accesses(struct instrument_block *b, const IRStmt *s)
{
	switch ((UInt)s->tag) {
	case Ist_WrTmp:
		if (s->Ist.WrTmp.data->tag == Iex_Load)
			instrument_access(b, s->Ist.WrTmp.data->Iex.Load.addr,
				(UInt)sizeofIRType(s->Ist.WrTmp.data->Iex.Load.ty), False, NULL);
		break;
	case Ist_Store:
		instrument_access(b, s->Ist.Store.addr, instrument_size(b, s->Ist.Store.data), True, NULL);
		break;
	case Ist_StoreG:
		instrument_access(b, s->Ist.StoreG.details->addr, instrument_size(b, s->Ist.StoreG.details->data), True,
			s->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG:
		instrument_guarded_load(b, s->Ist.LoadG.details);
		break;
	case Ist_CAS:
		instrument_access(b, s->Ist.CAS.details->addr,
			instrument_size(b, s->Ist.CAS.details->dataLo) * (s->Ist.CAS.details->dataHi ? 2 : 1), False,
			NULL);
		b->last_load = NULL; /* The store changes memory in place. */
		break;
	case Ist_LLSC:
		if (s->Ist.LLSC.storedata)
			instrument_access(b, s->Ist.LLSC.addr, instrument_size(b, s->Ist.LLSC.storedata), True, NULL);
		else
			instrument_access(b, s->Ist.LLSC.addr,
				(UInt)sizeofIRType(typeOfIRTemp(b->out->tyenv, s->Ist.LLSC.result)), False, NULL);
		break;
	case Ist_Dirty: {
		const IRDirty *dirty = s->Ist.Dirty.details;
		if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify)
			instrument_access(b, dirty->mAddr, instrument_dirty_size(dirty->mSize), False, NULL);
		if (dirty->mFx == Ifx_Write || dirty->mFx == Ifx_Modify)
			instrument_access(b, dirty->mAddr, instrument_dirty_size(dirty->mSize), True, NULL);
		break;
	}
	default:
		break;
	}
}

static void instrument_instruction(struct instrument_block *b, IRStmt *mark)
{
	if (b->sums_at < 0)
		instrument_open(b);
	b->ip = mark->Ist.IMark.addr;
	b->bytes = mark->Ist.IMark.len ? mark->Ist.IMark.len : 1;
	b->is_repeated = sim_is_repeated(b->ip, b->bytes);
	b->repeat_is_counted = b->repeat_works = False;
	b->last_load = NULL;
	b->any_instruction = True;
	instrument_add(b, mark);
	if (instrument_keeps_sp) {
		b->sp = newIRTemp(b->out->tyenv, Ity_I64);
		instrument_add(b, IRStmt_WrTmp(b->sp, IRExpr_Get(SIM_SP_OFFSET, Ity_I64)));
	}
	instrument_fetch(b);
	if (b->is_repeated)
		return;
	tl_assert(b->sums[INSTRUMENT_INSTRUCTIONS] < INSTRUMENT_PIECE_MOST);
	b->ips[b->sums[INSTRUMENT_INSTRUCTIONS]++] = b->ip;
}

/* Vex translates one iteration of a repeated string instruction: it exits if the count is 0, and otherwise executes the
 * iteration and jumps back. A CPU retires and counts all iterations as one instruction, so a jump back to the same
 * instruction does not count again. Vex omits checks with a known outcome. */
static void instrument_repeated(struct instrument_block *b, IRExpr *finds_0)
{
	IRExpr *again = instrument_temp(
		b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, instrument_variable(b, &sim_repeating), instrument_word(b->ip)));
	IRExpr *extra = instrument_temp(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, again));
	instrument_increase(b, &sim_repeat_extra, extra);
	instrument_increase(b, &sim_raw[SIM_INSTRUCTIONS],
		instrument_temp(b, Ity_I64, IRExpr_Binop(Iop_Sub64, instrument_word(1), extra)));
	instrument_set(b, &sim_repeating,
		instrument_temp(b, Ity_I64, IRExpr_ITE(finds_0, instrument_word(0), instrument_word(b->ip))));
	b->repeat_is_counted = True;
}

/* The repeated instruction accesses memory, so its count was not 0. */
static void instrument_repeat_works(struct instrument_block *b)
{
	if (!b->repeat_is_counted)
		instrument_repeated(b, IRExpr_Const(IRConst_U1(False)));
	b->repeat_works = True;
}

static Bool instrument_is_access(const IRStmt *s)
{
	return s->tag == Ist_Store || (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load);
}

static void instrument_repeat_ends(struct instrument_block *b)
{
	const IRExpr *next = b->out->next;
	if (!b->repeat_is_counted)
		instrument_repeated(b, IRExpr_Const(IRConst_U1(True)));
	else if (next->tag != Iex_Const || next->Iex.Const.con->Ico.U64 != b->ip)
		instrument_set(b, &sim_repeating, instrument_word(0));
}

static void instrument_exit(struct instrument_block *b, IRStmt *s)
{
	IRJumpKind kind = s->Ist.Exit.jk;
	Bool is_branch = kind == Ijk_Boring || kind == Ijk_Call || kind == Ijk_Ret;
	if (b->is_repeated && is_branch && !b->repeat_works)
		instrument_repeated(b, s->Ist.Exit.guard);
	else if (b->is_repeated && is_branch && s->Ist.Exit.dst->Ico.U64 != b->ip)
		instrument_set(b, &sim_repeating,
			instrument_temp(
				b, Ity_I64, IRExpr_ITE(s->Ist.Exit.guard, instrument_word(0), instrument_word(b->ip))));
	if (is_branch && sim_options.kinds & SIM_KIND_BRANCHES) {
		IRExpr *taken = s->Ist.Exit.guard;
		if (s->Ist.Exit.dst->Ico.U64 == b->ip + b->bytes) /* Vex inverted the condition. */
			taken = instrument_temp(b, Ity_I1, IRExpr_Unop(Iop_Not1, taken));
		b->sums[INSTRUMENT_CONDITIONAL]++;
		instrument_add(b, instrument_call("conditional", instrument_model->conditional,
					  mkIRExprVec_2(instrument_word(b->ip),
						  instrument_temp(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, taken))),
					  NULL));
	}
	instrument_close(b);
	instrument_add(b, s);
	instrument_open(b);
}

/* Adds the call for an indirect jump or a return at the end of the block. */
static void instrument_end(struct instrument_block *b)
{
	IRJumpKind kind = b->out->jumpkind;
	Bool is_indirect = b->out->next->tag != Iex_Const;
	if (!b->any_instruction)
		return;
	if (is_indirect && (kind == Ijk_Boring || kind == Ijk_Call) && sim_options.kinds & SIM_KIND_BRANCHES) {
		IRExpr *sp = b->sp == IRTemp_INVALID ? instrument_word(0) : IRExpr_RdTmp(b->sp);
		b->sums[INSTRUMENT_INDIRECT]++;
		instrument_add(b,
			instrument_call("indirect", instrument_model->indirect,
				instrument_model->is_sampled ? mkIRExprVec_3(instrument_word(b->ip), b->out->next, sp)
							     : mkIRExprVec_2(instrument_word(b->ip), b->out->next),
				NULL));
	}
	if (b->is_repeated)
		instrument_repeat_ends(b);
	instrument_close(b);
	if (is_indirect && sim_options.toggle_count) {
		IRExpr *sp = instrument_temp(b, Ity_I64, IRExpr_Get(SIM_SP_OFFSET, Ity_I64));
		IRExpr *above = instrument_temp(
			b, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, instrument_variable(b, &sim_toggle.sp), sp));
		instrument_add(
			b, instrument_call("toggles_leave", sim_toggles_leave, mkIRExprVec_2(sp, b->out->next), above));
	}
}

static void instrument_enter(struct instrument_block *b)
{
	IRExpr *sp = instrument_temp(b, Ity_I64, IRExpr_Get(SIM_SP_OFFSET, Ity_I64));
	IRExpr *outside = instrument_temp(b, Ity_I1,
		IRExpr_Binop(Iop_CmpEQ64, instrument_variable(b, &sim_toggle.sp), instrument_word(SIM_NEVER)));
	IRExpr *address = SIM_LINK_OFFSET < 0 ? instrument_word(0)
					      : instrument_temp(b, Ity_I64, IRExpr_Get(SIM_LINK_OFFSET, Ity_I64));
	instrument_add(b, instrument_call("toggles_enter", sim_toggles_enter, mkIRExprVec_2(sp, address), outside));
}

static void instrument_keep_pieces(struct instrument_pieces *pieces, Addr address)
{
	if (!pieces)
		return;
	pieces->key = address;
	VG_(HT_add_node)(instrument_table, pieces);
}

IRSB *sim_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
	const VexArchInfo *host, IRType guest_word, IRType host_word)
{
	static struct instrument_block block;
	struct instrument_block *b = &block;
	Int i = 0;
	b->out = deepCopyIRSBExceptStmts(in);
	b->sums_at = -1;
	b->pieces = NULL;
	b->sp = IRTemp_INVALID;
	b->fetched = INSTRUMENT_NO_LINE;
	b->any_instruction = b->is_repeated = False;
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		instrument_add(b, in->stmts[i]);
	if (sim_toggles_begins(extents->base[0]))
		instrument_enter(b);
	for (; i < in->stmts_used; i++) {
		IRStmt *s = in->stmts[i];
		if (s->tag == Ist_IMark) {
			instrument_instruction(b, s);
		} else if (s->tag == Ist_Exit) {
			instrument_exit(b, s);
		} else {
			if (b->is_repeated && instrument_is_access(s))
				instrument_repeat_works(b);
			instrument_accesses(b, s);
			instrument_add(b, s);
		}
	}
	instrument_end(b);
	instrument_keep_pieces(b->pieces, closure->nraddr);
	return b->out;
}

void sim_instrument_discard(Addr address, VexGuestExtents extents)
{
	struct instrument_pieces *pieces = instrument_table ? VG_(HT_remove)(instrument_table, address) : NULL;
	while (pieces) {
		struct instrument_pieces *more = pieces->more;
		VG_(free)(pieces);
		pieces = more;
	}
}

/* Chasing would merge branches (a && b) into one, and execute instructions that the program skips. The guest state
 * holds all registers at the begin of a piece; in its middle only on request. */
static void instrument_control_vex(void)
{
	VG_(clo_vex_control).guest_chase = False;
	if (!instrument_keeps_sp)
		return;
	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}

void sim_instrument_init(void)
{
	Bool has_caches = sim_options.kinds & SIM_KIND_CACHES ? True : False;
	instrument_model = sim_model_init();
	instrument_code_shift = has_caches ? sim_options.i1.shift : sim_options.itlb.shift;
	instrument_dynamic[INSTRUMENT_LOADS] = sim_options_samples(SIM_L1D_LOADS);
	instrument_dynamic[INSTRUMENT_STORES] = sim_options_samples(SIM_L1D_STORES);
	instrument_dynamic[INSTRUMENT_CONDITIONAL] = sim_options_samples(SIM_CONDITIONAL_BRANCHES);
	instrument_dynamic[INSTRUMENT_INDIRECT] = sim_options_samples(SIM_INDIRECT_BRANCHES);
	instrument_samples_instructions = sim_options_samples(SIM_INSTRUCTIONS);
	instrument_samples_fetches = sim_options_samples(SIM_L1I_LOADS) || sim_options_samples(SIM_ITLB_LOADS);
	instrument_keeps_sp = instrument_model->is_sampled && sim_options.stack_bytes;
	if (instrument_samples_instructions)
		instrument_table = VG_(HT_construct)("tally.pieces");
	instrument_control_vex();
}
