/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/disassembler.h"

#include <elf.h>
#include <stdio.h>

#include "base/array.h"
#include "base/text.h"
#include "unit_test.h"

struct row {
	const char *bytes, *text;
	enum instruction_kind kind;
	uint64_t target, data; /* 0 if there is none. */
};

static struct disassembler *open_for(unsigned machine, bool is_intel)
{
	struct disassembler *d = NULL;
	struct tally_error err;
	struct disassembler_options options = {.elf_machine = machine, .is_64 = true, .is_intel = is_intel};
	assert_int_equal(disassembler_create(&options, &d, &err), TALLY_OK);
	return d;
}

static size_t from_hex(const char *text, uint8_t *bytes)
{
	size_t count = 0;
	for (unsigned value; sscanf(text, " %2x", &value) == 1; text += 2 + (text[2] == ' '))
		bytes[count++] = (uint8_t)value;
	return count;
}

static void check_rows(unsigned machine, bool is_intel, const struct row *rows, size_t count)
{
	struct disassembler *d = open_for(machine, is_intel);
	for (size_t i = 0; i < count; i++) {
		uint8_t bytes[16];
		char text[300];
		struct instruction insn;
		size_t size = from_hex(rows[i].bytes, bytes);
		disassembler_next(d, (struct tally_bytes){bytes, size}, 0x1000, &insn);
		snprintf(text, sizeof(text), "%s%s%s", insn.mnemonic, insn.operands[0] ? " " : "", insn.operands);
		assert_string_equal(text, rows[i].text);
		assert_int_equal(insn.size, size);
		assert_int_equal(insn.kind, rows[i].kind);
		assert_int_equal(insn.has_target, rows[i].target != 0);
		assert_int_equal(insn.target, rows[i].target);
		assert_int_equal(insn.has_data, rows[i].data != 0);
		assert_int_equal(insn.data, rows[i].data);
	}
	disassembler_destroy(d);
}

#define CHECK(machine, is_intel, rows) check_rows(machine, is_intel, rows, ARRAY_LEN(rows))

static void test_x86_att(void **state)
{
	static const struct row rows[] = {
		{"48 8b 05 20 ad 0b 00", "mov 0xbad20(%rip),%rax", INSTRUCTION_OTHER, 0, 0x1007 + 0xbad20},
		{"74 2c", "je 102e", INSTRUCTION_JUMP, 0x102e, 0},
		{"e8 fb 0f 00 00", "call 2000", INSTRUCTION_CALL, 0x2000, 0},
		{"ff 50 08", "call *0x8(%rax)", INSTRUCTION_CALL, 0, 0},
		{"41 ff 55 00", "call *0x0(%r13)", INSTRUCTION_CALL, 0, 0},
		{"c3", "ret", INSTRUCTION_RETURN, 0, 0},
		{"f3 c3", "repz ret", INSTRUCTION_RETURN, 0, 0},
		{"48 d1 e8", "shr %rax", INSTRUCTION_OTHER, 0, 0},
		{"48 83 e4 f0", "and $0xfffffffffffffff0,%rsp", INSTRUCTION_OTHER, 0, 0},
		{"83 c0 ff", "add $0xffffffff,%eax", INSTRUCTION_OTHER, 0, 0},
		{"c6 45 00 05", "movb $0x5,0x0(%rbp)", INSTRUCTION_OTHER, 0, 0},
		{"66 90", "xchg %ax,%ax", INSTRUCTION_OTHER, 0, 0},
		{"66 2e 0f 1f 84 00 00 00 00 00", "cs nopw 0x0(%rax,%rax,1)", INSTRUCTION_OTHER, 0, 0},
		{"f0 0f b1 0a", "lock cmpxchg %ecx,(%rdx)", INSTRUCTION_OTHER, 0, 0},
		{"f3 48 ab", "rep stos %rax,%es:(%rdi)", INSTRUCTION_OTHER, 0, 0},
		{"64 48 8b 04 25 28 00 00 00", "mov %fs:0x28,%rax", INSTRUCTION_OTHER, 0, 0},
		{"d8 c0", "fadd %st(0),%st", INSTRUCTION_OTHER, 0, 0},
		{"de c9", "fmulp %st,%st(1)", INSTRUCTION_OTHER, 0, 0},
		{"3e ff e0", "notrack jmp *%rax", INSTRUCTION_JUMP, 0, 0},
		{"66 48 0f 6e c0", "movq %rax,%xmm0", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_X86_64, false, rows);
}

static void test_x86_masks(void **state)
{
	static const struct row rows[] = {
		{"c5 fb 93 c0", "kmovd %k0,%eax", INSTRUCTION_OTHER, 0, 0},
		{"c4 e1 fb 92 cb", "kmovq %rbx,%k1", INSTRUCTION_OTHER, 0, 0},
		{"c4 e1 f4 4b c0", "kunpckdq %k0,%k1,%k0", INSTRUCTION_OTHER, 0, 0},
		{"c4 e1 f9 98 e2", "kortestd %k2,%k4", INSTRUCTION_OTHER, 0, 0},
		{"62 f3 7d 49 3f eb 00", "vpcmpeqb %zmm3,%zmm0,%k5{%k1}", INSTRUCTION_OTHER, 0, 0},
		{"62 93 25 20 3e ee 01", "vpcmpltub %ymm30,%ymm27,%k5", INSTRUCTION_OTHER, 0, 0},
		{"62 e3 75 20 25 67 03 de", "vpternlogd $0xde,0x60(%rdi),%ymm17,%ymm20", INSTRUCTION_OTHER, 0, 0},
		{"62 f2 7d 48 78 14 0f", "vpbroadcastb (%rdi,%rcx,1),%zmm2", INSTRUCTION_OTHER, 0, 0},
		{"0f 01 ee", "rdpkru", INSTRUCTION_OTHER, 0, 0},
		{"62 f3 75 22 1f 4c 06 ff 00", "vpcmpeqd -0x20(%rsi,%rax,1),%ymm17,%k1{%k2}", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_X86_64, false, rows);
}

static void test_x86_intel(void **state)
{
	static const struct row rows[] = {
		{"48 8b 05 20 ad 0b 00", "mov rax,QWORD PTR [rip+0xbad20]", INSTRUCTION_OTHER, 0, 0x1007 + 0xbad20},
		{"ba 00 00 00 00", "mov edx,0x0", INSTRUCTION_OTHER, 0, 0},
		{"62 f3 7d 49 3f eb 00", "vpcmpeqb k5{k1},zmm0,zmm3", INSTRUCTION_OTHER, 0, 0},
		{"48 d1 e8", "shr rax,1", INSTRUCTION_OTHER, 0, 0},
		{"64 48 8b 04 25 28 00 00 00", "mov rax,QWORD PTR fs:0x28", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_X86_64, true, rows);
}

static void test_other_machines(void **state)
{
	static const struct row arm64[] = {
		{"c0 03 5f d6", "ret", INSTRUCTION_RETURN, 0, 0},
		{"04 00 00 94", "bl 1010", INSTRUCTION_CALL, 0x1010, 0},
		{"02 10 6e 1e", "fmov d2, #1.000000000000000000e+00", INSTRUCTION_OTHER, 0, 0},
		{"02 00 80 d2", "mov x2, #0x0", INSTRUCTION_OTHER, 0, 0},
		{"f0 7b bf a9", "stp x16, x30, [sp, #-16]!", INSTRUCTION_OTHER, 0, 0},
		{"5f 24 03 d5", "bti c", INSTRUCTION_OTHER, 0, 0},
		{"80 ff 6f 37", "tbnz w0, #13, ff0", INSTRUCTION_JUMP, 0xff0, 0},
		{"40 00 00 54", "b.eq 1008", INSTRUCTION_JUMP, 0x1008, 0},
	};
	static const struct row i386[] = {{"83 ec 0c", "sub $0xc,%esp", INSTRUCTION_OTHER, 0, 0}};
	CHECK(EM_AARCH64, false, arm64);
	CHECK(EM_386, false, i386);
}

static void test_x86_vectors(void **state)
{
	static const struct row rows[] = {
		{"62 92 65 48 0b d9", "vpmulhrsw %zmm25,%zmm3,%zmm3", INSTRUCTION_OTHER, 0, 0},
		{"62 d2 6d 18 52 41 03", "vpdpwssd 0xc(%r9){1to4},%xmm2,%xmm0", INSTRUCTION_OTHER, 0, 0},
		{"62 e2 7d 40 00 05 a2 85 14 00", "vpshufb 0x1485a2(%rip),%zmm16,%zmm16", INSTRUCTION_OTHER, 0,
			0x1495ac},
		{"62 f3 7d 48 3b 04 37 01", "vextracti32x8 $0x1,%zmm0,(%rdi,%rsi,1)", INSTRUCTION_OTHER, 0, 0},
		{"62 e1 ff 49 12 5a 01", "vmovddup 0x40(%rdx),%zmm19{%k1}", INSTRUCTION_OTHER, 0, 0},
		{"62 02 7d 48 58 54 8a 4c", "vpbroadcastd 0x130(%r10,%r9,4),%zmm26", INSTRUCTION_OTHER, 0, 0},
		{"62 c2 fd 29 59 10", "vpbroadcastq (%r8),%ymm18{%k1}", INSTRUCTION_OTHER, 0, 0},
		{"62 a1 6d 48 72 d0 05", "vpsrld $0x5,%zmm16,%zmm2", INSTRUCTION_OTHER, 0, 0},
		{"62 f1 7c 48 c2 ca 11", "vcmplt_oqps %zmm2,%zmm0,%k1", INSTRUCTION_OTHER, 0, 0},
		{"62 f1 fd 09 5a 44 51 08", "vcvtpd2psx 0x80(%rcx,%rdx,2),%xmm0{%k1}", INSTRUCTION_OTHER, 0, 0},
		{"62 f1 fd 38 5a 44 51 08", "vcvtpd2ps 0x40(%rcx,%rdx,2){1to4},%xmm0", INSTRUCTION_OTHER, 0, 0},
		{"62 d1 ff 18 58 c0", "vaddsd {rn-sae},%xmm8,%xmm0,%xmm0", INSTRUCTION_OTHER, 0, 0},
		{"62 21 d6 30 2a da", "vcvtsi2ss %rdx,{rd-sae},%xmm21,%xmm27", INSTRUCTION_OTHER, 0, 0},
		{"62 f2 7d 49 92 04 88", "vgatherdps (%rax,%zmm1,4),%zmm0{%k1}", INSTRUCTION_OTHER, 0, 0},
		{"62 f2 7d 29 a3 04 88", "vscatterqps %xmm0,(%rax,%ymm1,4){%k1}", INSTRUCTION_OTHER, 0, 0},
		{"62 f2 7e 28 31 4c 51 08", "vpmovdb %ymm1,0x40(%rcx,%rdx,2)", INSTRUCTION_OTHER, 0, 0},
		{"62 f2 fd 48 8a 48 01", "vcompresspd %zmm1,0x8(%rax)", INSTRUCTION_OTHER, 0, 0},
		{"62 f3 fd 08 66 48 01 05", "vfpclasspdx $0x5,0x10(%rax),%k1", INSTRUCTION_OTHER, 0, 0},
		{"62 f3 7d 58 50 c1 02", "vrangeps $0x2,{sae},%zmm1,%zmm0,%zmm0", INSTRUCTION_OTHER, 0, 0},
		{"62 f3 75 48 44 c2 11", "vpclmulhqhqdq %zmm2,%zmm1,%zmm0", INSTRUCTION_OTHER, 0, 0},
		{"c4 e2 7d 5a 20", "vbroadcasti128 (%rax),%ymm4", INSTRUCTION_OTHER, 0, 0},
		{"c4 e2 7d dc c1", "vaesenc %ymm1,%ymm0,%ymm0", INSTRUCTION_OTHER, 0, 0},
		{"c4 e2 71 50 c2", "{vex} vpdpbusd %xmm2,%xmm1,%xmm0", INSTRUCTION_OTHER, 0, 0},
		{"64 62 f1 7c 48 10 40 01", "vmovups %fs:0x40(%rax),%zmm0", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_X86_64, false, rows);
}

static void test_x86_corrections(void **state)
{
	static const struct row rows[] = {
		{"dc ca", "fmul %st,%st(2)", INSTRUCTION_OTHER, 0, 0},
		{"da c1", "fcmovb %st(1),%st", INSTRUCTION_OTHER, 0, 0},
		{"9b df e0", "fstsw %ax", INSTRUCTION_OTHER, 0, 0},
		{"9b d9 7c 24 02", "fstcw 0x2(%rsp)", INSTRUCTION_OTHER, 0, 0},
		{"66 48 8d 3d 80 bf 16 00", "data16 lea 0x16bf80(%rip),%rdi", INSTRUCTION_OTHER, 0, 0x16cf88},
		{"66 66 48 e8 c8 3b ff ff", "data16 data16 rex.W call ffffffffffff4bd0", INSTRUCTION_CALL,
			0xffffffffffff4bd0, 0},
		{"66 66 66 64 48 8b 04 25 00 00 00 00", "data16 data16 data16 mov %fs:0x0,%rax", INSTRUCTION_OTHER, 0,
			0},
		{"0f 0d 86 00 01 00 00", "prefetch 0x100(%rsi)", INSTRUCTION_OTHER, 0, 0},
		{"66 0f 18 8f a0 04 00 00", "data16 prefetcht0 0x4a0(%rdi)", INSTRUCTION_OTHER, 0, 0},
		{"67 67 49 89 f7", "addr32 addr32 mov %rsi,%r15", INSTRUCTION_OTHER, 0, 0},
		{"67 8b 06", "mov (%esi),%eax", INSTRUCTION_OTHER, 0, 0},
		{"66 66 44 0f 58 d2", "data16 addpd %xmm2,%xmm10", INSTRUCTION_OTHER, 0, 0},
		{"3e 7e 36", "jle,pt 1039", INSTRUCTION_JUMP, 0x1039, 0},
		{"3e 3e 0f 84 aa 00 00 00", "ds je,pt 10b2", INSTRUCTION_JUMP, 0x10b2, 0},
		{"f3 0f c7 f8", "rdpid %rax", INSTRUCTION_OTHER, 0, 0},
		{"66 0f 3a 44 c1 10", "pclmullqhqdq %xmm1,%xmm0", INSTRUCTION_OTHER, 0, 0},
		{"0f 38 cb d1", "sha256rnds2 %xmm0,%xmm1,%xmm2", INSTRUCTION_OTHER, 0, 0},
		{"48 8d 74 26 00", "lea 0x0(%rsi,%riz,1),%rsi", INSTRUCTION_OTHER, 0, 0},
		{"49 90", "xchg %rax,%r8", INSTRUCTION_OTHER, 0, 0},
		{"9c", "pushf", INSTRUCTION_OTHER, 0, 0},
		{"ee", "out %al,(%dx)", INSTRUCTION_OTHER, 0, 0},
		{"4d 0f 50 e7", "movmskps %xmm15,%r12", INSTRUCTION_OTHER, 0, 0},
		{"8f e8 e0 a3 ec 00", "vpperm %xmm4,%xmm0,%xmm3,%xmm5", INSTRUCTION_OTHER, 0, 0},
		{"c4 e1 7d 5a f6", "vcvtpd2ps %ymm6,%xmm6", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_X86_64, false, rows);
}

static void test_x86_corrections_intel(void **state)
{
	static const struct row rows[] = {
		{"62 c1 7e 38 51 e3", "vsqrtss xmm20,xmm0,xmm11{rd-sae}", INSTRUCTION_OTHER, 0, 0},
		{"62 e1 fd 18 58 54 c1 f8", "vaddpd xmm18,xmm0,QWORD BCST [rcx+rax*8-0x40]", INSTRUCTION_OTHER, 0, 0},
		{"62 f1 fd 38 5a 44 51 08", "vcvtpd2ps xmm0,QWORD BCST [rcx+rdx*2+0x40]{1to4}", INSTRUCTION_OTHER, 0,
			0},
		{"c5 fb f0 09", "vlddqu xmm1,[rcx]", INSTRUCTION_OTHER, 0, 0},
		{"c5 f9 2f 0d b7 7e 0a 00", "vcomisd xmm1,QWORD PTR [rip+0xa7eb7]", INSTRUCTION_OTHER, 0, 0xa8ebf},
		{"0f ae 6c 24 40", "xrstor [rsp+0x40]", INSTRUCTION_OTHER, 0, 0},
		{"0f 60 46 01", "punpcklbw mm0,DWORD PTR [rsi+0x1]", INSTRUCTION_OTHER, 0, 0},
		{"66 0f 38 10 d1", "pblendvb xmm2,xmm1,xmm0", INSTRUCTION_OTHER, 0, 0},
		{"41 0f 0d 47 40", "prefetch BYTE PTR [r15+0x40]", INSTRUCTION_OTHER, 0, 0},
		{"2e 7e 36", "cs jle 1039", INSTRUCTION_JUMP, 0x1039, 0},
		{"dd 7c 24 06", "fnstsw WORD PTR [rsp+0x6]", INSTRUCTION_OTHER, 0, 0},
		{"c4 e1 79 5a 4c 51 08", "vcvtpd2ps xmm1,XMMWORD PTR [rcx+rdx*2+0x8]", INSTRUCTION_OTHER, 0, 0},
		{"48 8d 74 26 00", "lea rsi,[rsi+riz*1+0x0]", INSTRUCTION_OTHER, 0, 0},
		{"da c1", "fcmovb st,st(1)", INSTRUCTION_OTHER, 0, 0},
		{"dc ca", "fmul st(2),st", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_X86_64, true, rows);
}

static void test_i386(void **state)
{
	static const struct row rows[] = {
		{"8d 74 26 00", "lea 0x0(%esi,%eiz,1),%esi", INSTRUCTION_OTHER, 0, 0},
		{"f3 ab", "rep stos %eax,%es:(%edi)", INSTRUCTION_OTHER, 0, 0},
		{"a4", "movsb %ds:(%esi),%es:(%edi)", INSTRUCTION_OTHER, 0, 0},
		{"66 a5", "movsw %ds:(%esi),%es:(%edi)", INSTRUCTION_OTHER, 0, 0},
		{"0f 01 ee", "rdpkru", INSTRUCTION_OTHER, 0, 0},
		{"65 a1 14 00 00 00", "mov %gs:0x14,%eax", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_386, false, rows);
}

static void test_i386_intel(void **state)
{
	static const struct row rows[] = {
		{"65 a1 14 00 00 00", "mov eax,gs:0x14", INSTRUCTION_OTHER, 0, 0},
		{"8d 05 8c fb ff ff", "lea eax,ds:0xfffffb8c", INSTRUCTION_OTHER, 0, 0},
		{"f3 ab", "rep stos DWORD PTR es:[edi],eax", INSTRUCTION_OTHER, 0, 0},
		{"8d b4 26 00 00 00 00", "lea esi,[esi+eiz*1+0x0]", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_386, true, rows);
}

static void test_arm64_corrections(void **state)
{
	static const struct row rows[] = {
		{"61 1c 18 4e", "mov v1.d[1], x3", INSTRUCTION_OTHER, 0, 0},
		{"08 20 20 1e", "fcmp s0, #0.0", INSTRUCTION_OTHER, 0, 0},
		{"41 fc e0 88", "casal w0, w1, [x2]", INSTRUCTION_OTHER, 0, 0},
		{"20 80 e0 b8", "swpal w0, w0, [x1]", INSTRUCTION_OTHER, 0, 0},
		{"20 00 e0 b8", "ldaddal w0, w0, [x1]", INSTRUCTION_OTHER, 0, 0},
		{"1f 00 60 f8", "staddl x0, [x0]", INSTRUCTION_OTHER, 0, 0},
		{"20 c0 bf f8", "ldapr x0, [x1]", INSTRUCTION_OTHER, 0, 0},
		{"40 7c 22 48", "casp x2, x3, x0, x1, [x2]", INSTRUCTION_OTHER, 0, 0},
		{"01 98 20 4e", "cmeq v1.16b, v0.16b, #0", INSTRUCTION_OTHER, 0, 0},
		{"00 a4 20 2f", "uxtl v0.2d, v0.2s", INSTRUCTION_OTHER, 0, 0},
		{"20 f8 58 1e", "fcvtzs w0, d1, #2", INSTRUCTION_OTHER, 0, 0},
		{"a6 32 c2 4d", "ld3 {v6.b-v8.b}[12], [x21], x2", INSTRUCTION_OTHER, 0, 0},
		{"5e 08 d5 0c", "ld4 {v30.2s, v31.2s, v0.2s, v1.2s}, [x2], x21", INSTRUCTION_OTHER, 0, 0},
		{"82 74 0b d5", "sys #3, C7, C4, #4, x2", INSTRUCTION_OTHER, 0, 0},
		{"8c 2e 07 18", "ldr w12, f5d0", INSTRUCTION_OTHER, 0xf5d0, 0},
		{"ed 9b 76 b3", "bfc x13, #10, #39", INSTRUCTION_OTHER, 0, 0},
		{"ec d7 44 b2", "orr x12, xzr, #0xf003ffffffffffff", INSTRUCTION_OTHER, 0, 0},
	};
	CHECK(EM_AARCH64, false, rows);
}

/* On big-endian arm64, data is big-endian but code is not. */
static void test_big_endian_arm64(void **state)
{
	static const char *const codes[][2] = {
		{"c0 03 5f d6", "ret"}, {"41 fc e0 88", "casal"}, {"00 00 00 04", ".inst"}};
	struct disassembler *d = NULL;
	struct tally_error err;
	struct disassembler_options options = {.elf_machine = EM_AARCH64, .is_64 = true, .is_big_endian = true};
	assert_int_equal(disassembler_create(&options, &d, &err), TALLY_OK);
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		uint8_t bytes[4];
		struct instruction insn;
		assert_int_equal(from_hex(codes[i][0], bytes), 4);
		disassembler_next(d, (struct tally_bytes){bytes, 4}, 0, &insn);
		assert_string_equal(insn.mnemonic, codes[i][1]);
	}
	disassembler_destroy(d);
}

/* An instruction without an operation is skipped completely if operations are requested. */
static void test_operations_go_on_behind_vectors(void **state)
{
	static const struct {
		unsigned machine;
		const char *bytes;
	} rows[] = {{EM_X86_64, "62 92 65 48 0b d9"}, {EM_X86_64, "c4 e2 7d 5a 20"}, {EM_AARCH64, "41 fc e0 88"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct disassembler *d = open_for(rows[i].machine, true);
		uint8_t bytes[16];
		struct operation operation;
		size_t size = from_hex(rows[i].bytes, bytes);
		assert_false(disassembler_operation(d, (struct tally_bytes){bytes, size}, 0x1000, &operation));
		assert_int_equal(operation.size, size);
		disassembler_destroy(d);
	}
}

static void test_bad_bytes_move_on(void **state)
{
	static const uint8_t bytes[] = {0x06, 0x62, 0xff, 0xc5, 0xff, 0xff, 0xff, 0xff};
	static const unsigned machines[] = {EM_X86_64, EM_AARCH64, EM_ARM};
	for (size_t m = 0; m < ARRAY_LEN(machines); m++) {
		struct disassembler *d = open_for(machines[m], false);
		for (size_t at = 0; at < sizeof(bytes);) {
			struct instruction insn;
			disassembler_next(d, (struct tally_bytes){bytes + at, sizeof(bytes) - at}, at, &insn);
			assert_in_range(insn.size, 1, sizeof(bytes) - at);
			at += insn.size;
		}
		disassembler_destroy(d);
	}
	struct disassembler *none = NULL;
	struct tally_error err;
	assert_int_equal(disassembler_create(&(struct disassembler_options){.elf_machine = EM_VAX}, &none, &err),
		TALLY_UNSUPPORTED);
}

static void check_leaves(unsigned machine, const char *const *codes, bool expected)
{
	struct disassembler *d = open_for(machine, false);
	for (; *codes; codes++) {
		uint8_t bytes[16];
		struct instruction insn;
		size_t size = from_hex(*codes, bytes);
		disassembler_next(d, (struct tally_bytes){bytes, size}, 0x1000, &insn);
		assert_int_equal(insn.size, size);
		assert_int_equal(insn.always_leaves, expected);
	}
	disassembler_destroy(d);
}

static void test_what_always_leaves(void **state)
{
	/* call, jmp, jmp *%rax, ret, repz ret, syscall, sysenter, int3, int $0x80, iretq, sysret, lret,
	 * ljmp *(%rax). */
	static const char *const x86_leaves[] = {"e8 fb 0f 00 00", "eb 00", "ff e0", "c3", "f3 c3", "0f 05", "0f 34",
		"cc", "cd 80", "48 cf", "0f 07", "cb", "ff 28", NULL};
	/* je, jrcxz, loop, xbegin, nop, mov, a masked vaddps. */
	static const char *const x86_stays[] = {
		"74 2c", "e3 fe", "e2 fe", "c7 f8 00 00 00 00", "90", "48 89 e5", "62 f1 74 48 58 54 c8 01", NULL};
	/* b, bl, blr x1, br x1, ret, svc #0. */
	static const char *const arm_leaves[] = {
		"01 00 00 14", "01 00 00 94", "20 00 3f d6", "20 00 1f d6", "c0 03 5f d6", "01 00 00 d4", NULL};
	/* b.eq, cbz, tbz, nop. */
	static const char *const arm_stays[] = {"20 00 00 54", "20 00 00 b4", "20 00 00 36", "1f 20 03 d5", NULL};
	check_leaves(EM_X86_64, x86_leaves, true);
	check_leaves(EM_X86_64, x86_stays, false);
	check_leaves(EM_AARCH64, arm_leaves, true);
	check_leaves(EM_AARCH64, arm_stays, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_att),
		cmocka_unit_test(test_what_always_leaves),
		cmocka_unit_test(test_x86_masks),
		cmocka_unit_test(test_x86_intel),
		cmocka_unit_test(test_x86_vectors),
		cmocka_unit_test(test_x86_corrections),
		cmocka_unit_test(test_x86_corrections_intel),
		cmocka_unit_test(test_i386),
		cmocka_unit_test(test_i386_intel),
		cmocka_unit_test(test_arm64_corrections),
		cmocka_unit_test(test_big_endian_arm64),
		cmocka_unit_test(test_operations_go_on_behind_vectors),
		cmocka_unit_test(test_other_machines),
		cmocka_unit_test(test_bad_bytes_move_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
