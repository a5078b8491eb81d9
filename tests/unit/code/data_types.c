/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the data types that this program's own code accesses, by its own debug information; merging of states, fused
 * pairs, and operations. */
#include "code/types/data_types.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "code/disasm/disassembler.h"
#include "code/types/fused.h"
#include "code/types/value_state.h"
#include "unit_test.h"

struct test_inner {
	int first;
	char letters[12];
	long last;
};

struct test_node {
	struct test_node *next;
	long key;
	struct test_inner inner;
	unsigned low : 3, high : 5;
	union {
		int number;
		float real;
	};
};

/* Not static, because compilers may clone or inline static functions. */
long test_walk(struct test_node *node);

__attribute__((noinline)) long test_walk(struct test_node *node)
{
	long sum = 0;
	for (; node; node = node->next) {
		sum += node->key + node->inner.last;
		node->number = (int)sum;
		__asm__ volatile("" : : : "memory");
	}
	return sum;
}

struct opened {
	struct elf_image *image;
	struct debug_info *info;
	struct data_types *types;
	uint64_t low, high;
	struct tally_bytes code;
};

static bool open_self(struct opened *o)
{
	size_t count;
	struct elf_symbol_list list = {0};
	uint64_t address = 0;
	assert_int_equal(elf_image_open("/proc/self/exe", &o->image, NULL), TALLY_OK);
	if (debug_info_open(o->image, &(struct debug_info_options){0}, &o->info, NULL) != TALLY_OK)
		return false;
	assert_int_equal(elf_image_symbols(o->image, &list, NULL), TALLY_OK);
	for (size_t i = 0; i < list.symbols.len; i++)
		if (strcmp(list.symbols.items[i].name, "test_walk") == 0)
			address = list.symbols.items[i].vaddr;
	vec_free(&list.symbols);
	assert_int_not_equal(address, 0);
	assert_int_equal(debug_info_load(o->info, &address, 1, 1, NULL), TALLY_OK);
	const struct data_types_input input = {
		.info = o->info, .image = o->image, .elf_machine = elf_image_machine(o->image)};
	if (data_types_create(&input, &o->types, NULL) != TALLY_OK)
		return false;
	assert_true(data_types_range(o->types, address, &o->low, &o->high));
	assert_int_equal(o->low, address);
	const struct elf_segment *segments = elf_image_segments(o->image, &count);
	struct tally_bytes file = elf_image_bytes(o->image);
	for (size_t i = 0; i < count; i++)
		if (address >= segments[i].vaddr && address - segments[i].vaddr < segments[i].file_size)
			o->code = (struct tally_bytes){file.data + segments[i].offset + (address - segments[i].vaddr),
				(size_t)(o->high - o->low)};
	return o->code.len > 0;
}

static void close_self(struct opened *o)
{
	data_types_destroy(o->types);
	debug_info_close(o->info);
	elf_image_close(o->image);
}

static bool finds(struct opened *o, const char *type, const char *field, uint64_t offset, struct data_access *found)
{
	for (uint64_t at = o->low; at < o->high; at++) {
		struct data_access access;
		assert_int_equal(data_types_find(o->types, at, o->code, &access, NULL), TALLY_OK);
		if (access.kind != DATA_ACCESS_TYPED || strcmp(access.type_name, type) != 0 ||
			access.offset != offset || !access.field || strcmp(access.field, field) != 0)
			continue;
		*found = access;
		return true;
	}
	return false;
}

static void test_own_fields(void **state)
{
	struct opened o = {0};
	struct data_access access;
	struct test_node node = {.key = 1};
	(void)state;
	assert_int_equal(test_walk(&node), 1);
	if (!open_self(&o)) {
		close_self(&o);
		skip(); /* There is no debug information, or it is for another machine. */
	}
	assert_true(finds(&o, "struct test_node", "next", 0, &access));
	assert_true(finds(&o, "struct test_node", "key", sizeof(void *), &access));
	assert_true(finds(&o, "struct test_node", "inner.last", offsetof(struct test_node, inner.last), &access));
	assert_true(finds(&o, "struct test_node", "number", offsetof(struct test_node, number), &access));
	assert_int_equal(access.size, sizeof(struct test_node));
	close_self(&o);
}

static const struct data_field *field_of(const struct data_field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

static void test_layout(void **state)
{
	struct opened o = {0};
	struct data_access access;
	const struct data_field *fields, *field;
	size_t count;
	(void)state;
	if (!open_self(&o) || !finds(&o, "struct test_node", "next", 0, &access)) {
		close_self(&o);
		skip();
	}
	assert_int_equal(data_types_fields(o.types, access.type, &fields, &count, NULL), TALLY_OK);
	assert_int_equal(count, 12);
	assert_string_equal(fields[0].type_name, "struct test_node");
	assert_true(fields[0].has_fields);
	field = field_of(fields, count, "next");
	assert_string_equal(field->type_name, "struct test_node*");
	assert_int_equal(field->depth, 1);
	field = field_of(fields, count, "letters");
	assert_string_equal(field->type_name, "char[]");
	assert_int_equal(field->size, 12);
	assert_int_equal(field->depth, 2);
	assert_int_equal(field->offset, offsetof(struct test_node, inner.letters));
	assert_int_equal(field_of(fields, count, "low:3")->size, 1);
	assert_int_equal(field_of(fields, count, "high:5")->offset, field_of(fields, count, "low:3")->offset);
	assert_string_equal(field_of(fields, count, "real")->type_name, "float");
	close_self(&o);
}

/* Nothing is known about addresses without code, between instructions, or outside functions. */
static void test_no_code(void **state)
{
	struct opened o = {0};
	struct data_access access;
	(void)state;
	if (!open_self(&o)) {
		close_self(&o);
		skip();
	}
	struct tally_bytes none = {NULL, 0};
	assert_int_equal(data_types_find(o.types, 1, none, &access, NULL), TALLY_OK);
	assert_int_equal(access.kind, DATA_ACCESS_NO_FUNCTION);
	assert_false(data_types_has(o.types, o.low));
	assert_int_equal(data_types_find(o.types, o.low, none, &access, NULL), TALLY_OK);
	assert_int_equal(access.kind, DATA_ACCESS_NO_INSTRUCTION);
	assert_true(data_types_has(o.types, o.low));
	close_self(&o);
}

static void test_merge_keeps_what_both_have(void **state)
{
	struct value_state a = {.is_reached = true}, b = {.is_reached = true}, unreached = {.is_reached = false};
	(void)state;
	a.registers[1] = b.registers[1] = (struct value){.kind = VALUE_FRAME, .offset = -8};
	a.registers[2] = (struct value){.kind = VALUE_CONSTANT, .offset = 1};
	b.registers[2] = (struct value){.kind = VALUE_CONSTANT, .offset = 2};
	value_state_set_slot(&a, -16, a.registers[1]);
	value_state_set_slot(&a, -24, a.registers[2]);
	value_state_set_slot(&b, -16, b.registers[1]);
	assert_false(value_state_merge(&a, &unreached));
	assert_true(value_state_merge(&a, &b));
	assert_int_equal(a.registers[1].kind, VALUE_FRAME);
	assert_int_equal(a.registers[2].kind, VALUE_NONE);
	assert_int_equal(value_state_slot(&a, -16).kind, VALUE_FRAME);
	assert_int_equal(value_state_slot(&a, -24).kind, VALUE_NONE);
	assert_false(value_state_merge(&a, &b));
	value_state_clear_slots(&a, -10, 1); /* The range is inside the slot. */
	assert_int_equal(a.slot_count, 0);
	assert_true(value_state_merge(&unreached, &b));
	for (int i = 0; i < 2 * VALUE_SLOTS; i++)
		value_state_set_slot(&a, 8 * i, b.registers[1]);
	assert_int_equal(a.slot_count, VALUE_SLOTS);
}

static bool fuses(const char *cpu, enum operation_fusing fusing)
{
	return fused_has(fused_set_of(str_from(cpu)), fusing);
}

static void test_fused_by_cpu(void **state)
{
	(void)state;
	assert_true(fuses("AuthenticAMD,26,2,1", OPERATION_FUSES_LOGIC));
	assert_true(fuses("AuthenticAMD,23,1,1", OPERATION_FUSES_COMPARE));
	assert_false(fuses("AuthenticAMD,23,1,1", OPERATION_FUSES_SUM));
	assert_false(fuses("AuthenticAMD,20,1,1", OPERATION_FUSES_COMPARE));
	assert_true(fuses("GenuineIntel,6,85,4", OPERATION_FUSES_STEP));
	assert_false(fuses("GenuineIntel,6,85,4", OPERATION_FUSES_LOGIC));
	assert_false(fuses("GenuineIntel,6,30,4", OPERATION_FUSES_SUM));
	assert_false(fuses("GenuineIntel,6,15,1", OPERATION_FUSES_COMPARE));
	assert_false(fuses("GenuineIntel,6,85,4", OPERATION_FUSES_NEVER));
	static const char *const odd[] = {
		"", "GenuineIntel,", "GenuineIntel,6", "GenuineIntel,x,y", "0x0000000000500000"};
	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		assert_int_equal(fused_set_of(str_from(odd[i])), 0);
}

struct decoded {
	unsigned machine, len;
	uint8_t bytes[10];
	enum operation_kind kind;
	uint8_t to, from, base;
	int64_t number; /* Constant, or offset of the memory operand. */
};

static void test_operations(void **state)
{
	enum { X = EM_X86_64, A = EM_AARCH64, NO = OPERATION_NO_REGISTER };
	static const struct decoded cases[] = {
		{X, 4, {0x48, 0x8b, 0x47, 0x08}, OPERATION_LOAD, 0, NO, 5, 8}, /* mov 0x8(%rdi),%rax */
		{X, 4, {0x48, 0x89, 0x5d, 0xf8}, OPERATION_STORE, NO, 3, 6, -8}, /* mov %rbx,-0x8(%rbp) */
		{X, 3, {0x48, 0x89, 0xe5}, OPERATION_COPY, 6, 7, NO, 0}, /* mov %rsp,%rbp */
		/* mov %edi,%eax: only half of the register is copied. */
		{X, 2, {0x89, 0xf8}, OPERATION_OTHER, NO, NO, NO, 0},
		{X, 4, {0x48, 0x83, 0xec, 0x18}, OPERATION_ADD_CONSTANT, 7, 7, NO, -24}, /* sub $0x18,%rsp */
		{X, 3, {0x48, 0x01, 0xd0}, OPERATION_ADD_REGISTER, 0, 0, NO, 0}, /* add %rdx,%rax */
		{X, 5, {0x48, 0x8d, 0x44, 0x24, 0x10}, OPERATION_ADDRESS, 0, NO, 7, 16}, /* lea 0x10(%rsp),%rax */
		{X, 1, {0x55}, OPERATION_PUSH, NO, 6, NO, 0}, {X, 2, {0x41, 0x5c}, OPERATION_POP, 12, NO, NO, 0},
		{X, 1, {0xc9}, OPERATION_LEAVE, NO, NO, NO, 0}, {X, 1, {0xc3}, OPERATION_RETURN, NO, NO, NO, 0},
		{X, 5, {0xe8, 0, 0, 0, 0}, OPERATION_CALL, NO, NO, NO, 0},
		{X, 2, {0x74, 0x10}, OPERATION_JUMP, NO, NO, NO, 0},
		{A, 4, {0x00, 0x04, 0x40, 0xf9}, OPERATION_LOAD, 0, NO, 0, 8}, /* ldr x0, [x0, #8] */
		{A, 4, {0xf3, 0x53, 0x01, 0xa9}, OPERATION_STORE, NO, 19, 31, 16}, /* stp x19, x20, [sp, #16] */
		{A, 4, {0xfd, 0x03, 0x00, 0x91}, OPERATION_COPY, 29, 31, NO, 0}, /* mov x29, sp */
		{A, 4, {0x21, 0x40, 0x00, 0x91}, OPERATION_ADD_CONSTANT, 1, 1, NO, 16}, /* add x1, x1, #16 */
		{A, 4, {0xc0, 0x03, 0x5f, 0xd6}, OPERATION_RETURN, NO, NO, NO, 0},
		{A, 4, {0x00, 0x00, 0x40, 0xb9}, OPERATION_OTHER, NO, NO, 0, 0}, /* ldr w0, [x0] */
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct decoded *c = &cases[i];
		struct disassembler *d;
		struct operation got;
		const struct disassembler_options options = {.elf_machine = c->machine, .is_intel = true};
		assert_int_equal(disassembler_create(&options, &d, NULL), TALLY_OK);
		assert_true(disassembler_operation(d, (struct tally_bytes){c->bytes, c->len}, 0x1000, &got));
		assert_int_equal(got.size, c->len);
		assert_int_equal(got.kind, c->kind);
		assert_int_equal(got.to, c->to);
		assert_int_equal(got.from, c->from);
		assert_int_equal(got.memory.base, c->base);
		assert_int_equal(got.memory.is_there ? got.memory.offset : got.constant, c->number);
		for (unsigned len = 1; len < c->len; len++)
			(void)disassembler_operation(d, (struct tally_bytes){c->bytes, len}, 0x1000, &got);
		disassembler_destroy(d);
	}
}

static void test_relative_address_and_stepped_base(void **state)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x05, 0x10, 0, 0, 0}; /* mov 0x10(%rip),%rax */
	static const uint8_t store[] = {0xfd, 0x7b, 0xbe, 0xa9}; /* stp x29, x30, [sp, #-32]! */
	struct disassembler *d;
	struct operation got;
	(void)state;
	struct disassembler_options options = {.elf_machine = EM_X86_64, .is_intel = true};
	assert_int_equal(disassembler_create(&options, &d, NULL), TALLY_OK);
	assert_true(disassembler_operation(d, (struct tally_bytes){load, sizeof(load)}, 0x1000, &got));
	assert_true(got.memory.is_absolute);
	assert_int_equal(got.memory.address, 0x1017);
	disassembler_destroy(d);
	options.elf_machine = EM_AARCH64;
	assert_int_equal(disassembler_create(&options, &d, NULL), TALLY_OK);
	assert_true(disassembler_operation(d, (struct tally_bytes){store, sizeof(store)}, 0x1000, &got));
	assert_int_equal(got.step, -32);
	assert_int_equal(got.second, 30);
	disassembler_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_fields),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_merge_keeps_what_both_have),
		cmocka_unit_test(test_fused_by_cpu),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_relative_address_and_stepped_base),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
