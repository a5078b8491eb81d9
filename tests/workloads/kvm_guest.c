/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvm_guest.c - runs a virtual machine that writes N bytes to a port, then N bytes to memory that does not exist, and
 * halts: N exits of each kind. Usage: kvm_guest N. Exit status 77: this machine has no KVM.
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define STATUS_NONE 77
#define GUEST_BYTES 0x1000
#define GUEST_START 0x1000

static int fail(const char *what)
{
	perror(what);
	return STATUS_NONE;
}

/* The counter is in cx: out to port 0x10, then stores past the end of the memory; then hlt. */
static void write_code(unsigned char *code, unsigned short turns)
{
	const unsigned char program[] = {
		0xb9, (unsigned char)turns, (unsigned char)(turns >> 8), /* mov cx, turns */
		0xb0, 'x', /* mov al, 'x' */
		0xe6, 0x10, /* out 0x10, al */
		0xe2, 0xfc, /* loop to out */
		0xb9, (unsigned char)turns, (unsigned char)(turns >> 8), /* mov cx, turns */
		0xa2, 0x00, 0x80, /* mov [0x8000], al */
		0xe2, 0xfb, /* loop to mov */
		0xf4, /* hlt */
	};
	memcpy(code, program, sizeof(program));
}

static int run(int vcpu, struct kvm_run *state)
{
	unsigned ports = 0, stores = 0;
	for (;;) {
		if (ioctl(vcpu, KVM_RUN, 0) != 0)
			return fail("KVM_RUN");
		if (state->exit_reason == KVM_EXIT_IO)
			ports++;
		else if (state->exit_reason == KVM_EXIT_MMIO)
			stores++;
		else
			break;
	}
	printf("%u port writes, %u stores, exit %u\n", ports, stores, state->exit_reason);
	return state->exit_reason == KVM_EXIT_HLT ? 0 : 1;
}

int main(int argc, char **argv)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		return fail("/dev/kvm");
	int vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0)
		return fail("KVM_CREATE_VM");
	unsigned char *memory = mmap(NULL, GUEST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_START, .memory_size = GUEST_BYTES, .userspace_addr = (unsigned long)memory};
	if (memory == MAP_FAILED || ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) != 0)
		return fail("KVM_SET_USER_MEMORY_REGION");
	write_code(memory, (unsigned short)(argc > 1 ? atoi(argv[1]) : 10));
	int vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	int bytes = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (vcpu < 0 || bytes < (int)sizeof(struct kvm_run))
		return fail("KVM_CREATE_VCPU");
	struct kvm_run *state = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	struct kvm_sregs special;
	if (state == MAP_FAILED || ioctl(vcpu, KVM_GET_SREGS, &special) != 0)
		return fail("KVM_GET_SREGS");
	special.cs.base = 0;
	special.cs.selector = 0;
	struct kvm_regs registers = {.rip = GUEST_START, .rflags = 2};
	if (ioctl(vcpu, KVM_SET_SREGS, &special) != 0 || ioctl(vcpu, KVM_SET_REGS, &registers) != 0)
		return fail("KVM_SET_REGS");
	return run(vcpu, state);
}
