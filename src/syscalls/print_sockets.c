/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "syscalls/syscall_printer.h"

enum {
	PRINT_AF_UNIX = 1,
	PRINT_AF_INET = 2,
	PRINT_AF_INET6 = 10,
	PRINT_AF_NETLINK = 16,
	PRINT_AF_PACKET = 17,
	PRINT_AF_VSOCK = 40
};

static unsigned syscall_take_port(struct tally_bytes bytes, size_t offset)
{
	return (unsigned)(syscall_take(bytes, offset, 1) << 8 | syscall_take(bytes, offset + 1, 1));
}

static void syscall_put_ipv4(struct text *t, struct tally_bytes bytes, size_t offset)
{
	for (size_t i = 0; i < 4; i++) {
		if (i)
			text_char(t, '.');
		text_u64(t, syscall_take(bytes, offset + i, 1));
	}
}

/* RFC 5952: the longest run of zero groups is written as "::" if it has at least two. */
static void syscall_put_ipv6(struct text *t, struct tally_bytes bytes, size_t offset)
{
	unsigned groups[8], best = 8, best_count = 1;
	for (unsigned i = 0; i < 8; i++)
		groups[i] = syscall_take_port(bytes, offset + 2u * i);
	for (unsigned i = 0; i < 8; i++) {
		unsigned count = 0;
		while (i + count < 8 && groups[i + count] == 0)
			count++;
		if (count > best_count) {
			best = i;
			best_count = count;
		}
	}
	if (best == 0 && best_count == 5 && groups[5] == 0xffff) {
		text_str(t, "::ffff:");
		syscall_put_ipv4(t, bytes, offset + 12);
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		if (i == best) {
			text_str(t, "::");
			i += best_count - 1;
			continue;
		}
		if (i && i != best + best_count)
			text_char(t, ':');
		text_hex(t, groups[i], 0);
	}
}

static void syscall_put_unix(struct syscall_printer *p, struct syscall_braces *braces, struct tally_bytes bytes)
{
	struct tally_bytes path = bytes_part(bytes, 2, SIZE_MAX);
	if (path.len == 0)
		return;
	syscall_braces_field(braces, "path");
	if (path.data[0] == 0) { /* The name is abstract: it begins with a NUL, and none ends it. */
		text_char(p->t, '@');
		syscall_put_quoted(p->t, bytes_part(path, 1, SIZE_MAX), SIZE_MAX, false);
		return;
	}
	syscall_put_string(p->t, &(struct syscall_copied){path, false});
}

static void syscall_put_inet6(struct syscall_printer *p, struct syscall_braces *braces, struct tally_bytes bytes)
{
	syscall_braces_field(braces, "port");
	text_u64(p->t, syscall_take_port(bytes, 2));
	syscall_braces_field(braces, "addr");
	syscall_put_ipv6(p->t, bytes, 8);
	if (syscall_take(bytes, 24, 4)) {
		syscall_braces_field(braces, "scope_id");
		text_u64(p->t, syscall_take(bytes, 24, 4));
	}
}

void syscall_print_sockaddr(struct syscall_printer *p, struct tally_bytes bytes)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	unsigned family = (unsigned)syscall_take(bytes, 0, 2);
	syscall_braces_field(&braces, "family");
	syscall_put_words(p, &syscall_words_family, family);
	if (family == PRINT_AF_UNIX) {
		syscall_put_unix(p, &braces, bytes);
	} else if (family == PRINT_AF_INET && bytes.len >= 8) {
		syscall_braces_field(&braces, "port");
		text_u64(p->t, syscall_take_port(bytes, 2));
		syscall_braces_field(&braces, "addr");
		syscall_put_ipv4(p->t, bytes, 4);
	} else if (family == PRINT_AF_INET6 && bytes.len >= 24) {
		syscall_put_inet6(p, &braces, bytes);
	} else if (family == PRINT_AF_NETLINK && bytes.len >= 12) {
		syscall_braces_field(&braces, "pid");
		text_u64(p->t, syscall_take(bytes, 4, 4));
		syscall_braces_field(&braces, "groups");
		text_u64(p->t, syscall_take(bytes, 8, 4));
	} else if (family == PRINT_AF_VSOCK && bytes.len >= 12) {
		syscall_braces_field(&braces, "port");
		text_u64(p->t, syscall_take(bytes, 4, 4));
		syscall_braces_field(&braces, "cid");
		text_u64(p->t, syscall_take(bytes, 8, 4));
	} else if (family == PRINT_AF_PACKET && bytes.len >= 8) {
		syscall_braces_field(&braces, "protocol");
		text_u64(p->t, syscall_take_port(bytes, 2));
		syscall_braces_field(&braces, "ifindex");
		text_i64(p->t, syscall_take_signed(bytes, 4, 4));
	} else if (bytes.len > 2) {
		syscall_braces_field(&braces, "data");
		syscall_put_quoted(p->t, bytes_part(bytes, 2, SIZE_MAX), syscall_string_bytes(p), false);
	}
	syscall_braces_end(&braces, false);
}

void syscall_print_pollfds(struct syscall_printer *p, struct tally_bytes bytes, bool at_exit, bool is_truncated)
{
	bool has_some = false;
	text_char(p->t, '[');
	for (size_t at = 0; at + 8 <= bytes.len; at += 8) {
		uint64_t events = syscall_take(bytes, at + 4, 2), ready = syscall_take(bytes, at + 6, 2);
		struct syscall_braces braces;
		if (has_some)
			text_str(p->t, ", ");
		has_some = true;
		braces = syscall_braces_begin(p);
		syscall_braces_field(&braces, "fd");
		syscall_put_fd(p, (int32_t)syscall_take(bytes, at, 4));
		syscall_braces_field(&braces, "events");
		syscall_put_words(p, &syscall_words_poll_events, events);
		if (at_exit && ready) {
			syscall_braces_field(&braces, "revents");
			syscall_put_words(p, &syscall_words_poll_events, ready);
		}
		syscall_braces_end(&braces, false);
	}
	text_str(p->t, is_truncated ? ", ...]" : "]");
}

static void syscall_put_epoll_event(struct syscall_printer *p, struct tally_bytes bytes, size_t at, size_t size)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	uint64_t data = syscall_take(bytes, at + size - 8, 8);
	syscall_braces_field(&braces, "events");
	syscall_put_words(p, &syscall_words_epoll_events, syscall_take(bytes, at, 4));
	syscall_braces_field(&braces, "data");
	if (data < 1 << 20) /* A small number usually is a descriptor, a large one a pointer. */
		text_u64(p->t, data);
	else
		syscall_put_address(p->t, data);
	syscall_braces_end(&braces, false);
}

void syscall_print_epoll_events(struct syscall_printer *p, struct tally_bytes bytes, bool is_truncated)
{
	size_t size = syscall_kind_bytes(KIND_EPOLL_EVENT, p->call->abi);
	/* Only epoll_wait has a list; the second argument of epoll_ctl is an operation, 1 to 3. */
	bool is_list = p->call->args[1] > 3 || bytes.len != size;
	if (!is_list) {
		syscall_put_epoll_event(p, bytes, 0, size);
		return;
	}
	text_char(p->t, '[');
	for (size_t at = 0; at + size <= bytes.len; at += size) {
		if (at)
			text_str(p->t, ", ");
		syscall_put_epoll_event(p, bytes, at, size);
	}
	text_str(p->t, is_truncated ? ", ...]" : "]");
}

void syscall_print_sockopt(struct syscall_printer *p, uint64_t level, uint64_t option)
{
	static const struct {
		uint64_t level;
		const struct syscall_words *words;
	} levels[] = {{1, &syscall_words_so}, {0, &syscall_words_ip_opt}, {6, &syscall_words_tcp},
		{41, &syscall_words_ipv6_opt}};
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (levels[i].level == (level & UINT32_MAX)) {
			syscall_put_words(p, levels[i].words, option);
			return;
		}
	text_u64(p->t, option);
}

/* Most options are an int; names of devices and algorithms are strings. */
void syscall_print_sockopt_value(struct syscall_printer *p, struct syscall_copied copied)
{
	if (copied.bytes.len == 4 && !copied.is_truncated) {
		text_char(p->t, '[');
		text_i64(p->t, syscall_take_signed(copied.bytes, 0, 4));
		text_char(p->t, ']');
		return;
	}
	syscall_put_quoted(p->t, copied.bytes, syscall_string_bytes(p), copied.is_truncated);
}
