/* SPDX-License-Identifier: Apache-2.0 */
#include "code/unwind/unwind_run.h"

#include "base/cursor.h"
#include "base/limits.h"

const struct unwind_module *unwind_run_ask_module(struct run *run, uint64_t pc)
{
	struct unwinder *u = run->unwinder;
	for (unsigned i = 0; i < u->module_count; i++) {
		if (module_covers(&u->modules[i], pc)) {
			u->module_last = i;
			return &u->modules[i];
		}
	}
	if (!run->modules->find(run->modules->context, pc, &run->found))
		return NULL;
	if (!module_covers(&run->found, pc))
		return &run->found;
	unsigned slot = u->module_next;
	u->module_next = (slot + 1) % MODULE_SLOTS;
	if (u->module_count < MODULE_SLOTS)
		u->module_count++;
	u->modules[slot] = run->found;
	u->module_last = slot;
	return &u->modules[slot];
}

enum step unwind_run_read(const struct run *run, uint64_t address, unsigned size, uint64_t *value)
{
	const struct unwind_stack *stack = run->stack;
	uint64_t offset = address - stack->address;
	if (address < stack->address || offset > LIMIT_STACK_BYTES)
		return run->is_elsewhere ? STEP_SHORT : STEP_BROKEN;
	if (stack->bytes.len < size || offset > stack->bytes.len - size)
		return STEP_SHORT;
	struct cursor c = cursor_make((struct tally_bytes){stack->bytes.data + offset, size}, stack->swap);
	switch (size) {
	case 1:
		*value = cursor_u8(&c);
		break;
	case 2:
		*value = cursor_u16(&c);
		break;
	case 4:
		*value = cursor_u32(&c);
		break;
	default:
		*value = cursor_u64(&c);
		break;
	}
	return STEP_ON;
}
