/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sixty.cc - a program of sixty functions whose stacks are hard to unwind: templates, lambdas, exceptions, recursion,
 * tail calls, calls inlined three deep, functions of libraries (linked and dlopen'd), callbacks through libc, a signal
 * handler, threads, frames of a size that is known at run time only, over-aligned frames, cold parts.
 *
 * usage: sixty ROUNDS LIBRARY [THREADS [MICROSECONDS]]. LIBRARY is sixty_library.cc, built with NAME=loaded. Prints one
 * number, which depends on ROUNDS only. With MICROSECONDS a signal comes each time that much CPU time has gone by: the
 * program ignores it, whoever traces it sees it.
 */
#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))
#define INLINE	 inline __attribute__((always_inline))

extern "C" uint64_t linked_leaf(uint64_t x);
extern "C" uint64_t linked_text(uint64_t x);
extern "C" uint64_t linked_calls_back(uint64_t (*f)(uint64_t), uint64_t x);

namespace sixty
{

static uint64_t (*loaded_leaf)(uint64_t);
static uint64_t (*loaded_calls_back)(uint64_t (*)(uint64_t), uint64_t);
static thread_local volatile uint64_t handled;

/* Inlined three deep. */
INLINE uint64_t inner(uint64_t x)
{
	for (int i = 0; i < 12; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

INLINE uint64_t between(uint64_t x)
{
	return inner(x ^ 3) + (x >> 7);
}

INLINE uint64_t outermost(uint64_t x)
{
	uint64_t y = between(x);
	return y ^ between(y + 1);
}

NOINLINE uint64_t three_deep(uint64_t x)
{
	return outermost(x) * 3;
}

/* Tail calls: none of these leaves a frame behind. */
NOINLINE uint64_t tail_end(uint64_t x, int n)
{
	for (int i = 0; i < n; i++)
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
	return x;
}

NOINLINE uint64_t tail_middle(uint64_t x, int n)
{
	return tail_end(x + 1, n + 1);
}

NOINLINE uint64_t tail_begin(uint64_t x)
{
	return tail_middle(x * 3, 8);
}

/* Recursion, and two that call each other. */
NOINLINE uint64_t fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

NOINLINE uint64_t ackermann(unsigned m, unsigned n)
{
	if (m == 0)
		return n + 1;
	return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, static_cast<unsigned>(ackermann(m, n - 1)));
}

NOINLINE bool is_odd(unsigned n);
NOINLINE bool is_even(unsigned n)
{
	asm volatile("");
	bool below = n == 0 || is_odd(n - 1);
	asm volatile("" : : "r"(&below) : "memory");
	return below;
}

bool is_odd(unsigned n)
{
	bool below = n != 0 && is_even(n - 1);
	asm volatile("" : : "r"(&below) : "memory");
	return below;
}

/* Templates. */
template <typename T> struct Tree {
	T value;
	std::unique_ptr<Tree> left, right;

	NOINLINE explicit Tree(T v) : value(v)
	{
	}
	NOINLINE void insert(T v)
	{
		auto &side = v < value ? left : right;
		if (side)
			side->insert(v);
		else
			side = std::make_unique<Tree>(v);
	}
	template <typename F> NOINLINE void each(F &&f) const
	{
		if (left)
			left->each(f);
		f(value);
		if (right)
			right->each(f);
	}
	NOINLINE unsigned depth() const
	{
		return 1 + std::max(left ? left->depth() : 0, right ? right->depth() : 0);
	}
};

template <unsigned N> struct Power {
	static NOINLINE uint64_t of(uint64_t x)
	{
		return Power<N / 2>::of(x) * Power<N - N / 2>::of(x) + 1;
	}
};

template <> struct Power<1> {
	static NOINLINE uint64_t of(uint64_t x)
	{
		return x | 1;
	}
};

template <typename T, typename... Rest> NOINLINE uint64_t fold(T first, Rest... rest)
{
	uint64_t sum = static_cast<uint64_t>(first);
	if constexpr (sizeof...(rest) > 0)
		sum = sum * 31 + fold(rest...);
	return tail_end(sum, 2) + sum;
}

template <typename T> NOINLINE uint64_t tree_sum(uint64_t seed)
{
	Tree<T> tree(static_cast<T>(seed % 1000));
	for (int i = 0; i < 20; i++)
		tree.insert(static_cast<T>(seed = tail_end(seed, 1)));
	uint64_t sum = tree.depth();
	tree.each([&](T v) { sum = sum * 7 + static_cast<uint64_t>(static_cast<int64_t>(v) & 0xffff); });
	return sum;
}

/* Lambdas. */
NOINLINE uint64_t apply(const std::function<uint64_t(uint64_t)> &f, uint64_t x)
{
	return f(x) + 1;
}

NOINLINE uint64_t lambdas(uint64_t x)
{
	auto adds = [x](uint64_t y) { return three_deep(x + y); };
	auto twice = [&adds](auto v) { return adds(v) ^ adds(v + 1); };
	return apply(adds, x) + apply([&](uint64_t y) { return apply(twice, y); }, x);
}

/* Exceptions: through frames with and without something to destroy; rethrown; caught by a base. */
struct Guard {
	uint64_t &value;
	NOINLINE ~Guard()
	{
		value = tail_end(value, 3);
	}
};

struct Failure : std::runtime_error {
	uint64_t code;
	explicit Failure(uint64_t c) : std::runtime_error("failure " + std::to_string(c)), code(c)
	{
	}
};

NOINLINE void fails(uint64_t x)
{
	throw Failure(x % 100);
}

NOINLINE void fails_below(uint64_t x, int depth)
{
	Guard guard{x};
	if (depth == 0)
		fails(x);
	if (depth > 0)
		fails_below(x + 1, depth - 1);
	asm volatile("");
}

NOINLINE uint64_t rethrows(uint64_t x)
{
	try {
		fails_below(x, 4);
	} catch (Failure &) {
		throw;
	}
	return 0;
}

NOINLINE uint64_t exceptions(uint64_t x)
{
	try {
		return rethrows(x);
	} catch (const std::exception &e) {
		return std::strlen(e.what()) + x;
	}
}

/* Virtual calls. */
struct Shape {
	virtual ~Shape() = default;
	virtual uint64_t area(uint64_t x) const = 0;
};

struct Square final : Shape {
	NOINLINE uint64_t area(uint64_t x) const override
	{
		return x * x;
	}
};

struct Holed final : Shape {
	Square outside;
	NOINLINE uint64_t area(uint64_t x) const override
	{
		return outside.area(x) - three_deep(x);
	}
};

NOINLINE uint64_t shapes(uint64_t x)
{
	std::unique_ptr<Shape> list[] = {std::make_unique<Square>(), std::make_unique<Holed>()};
	uint64_t sum = 0;
	for (auto &shape : list)
		sum = sum * 5 + shape->area(x);
	return sum;
}

/* Callbacks: through libc's C code and through templates of the library. */
extern "C" {
static NOINLINE int compare(const void *a, const void *b)
{
	uint64_t left = three_deep(*static_cast<const uint64_t *>(a));
	uint64_t right = three_deep(*static_cast<const uint64_t *>(b));
	return left < right ? -1 : left > right;
}
}

NOINLINE uint64_t sorts(uint64_t x)
{
	uint64_t values[40];
	for (auto &value : values)
		value = x = tail_end(x, 1);
	qsort(values, 40, sizeof(values[0]), compare);
	std::sort(values, values + 40, [](uint64_t a, uint64_t b) { return tail_begin(a) < tail_begin(b); });
	return values[7];
}

NOINLINE uint64_t maps(uint64_t x)
{
	std::map<std::string, uint64_t> map;
	for (int i = 0; i < 8; i++)
		map["key" + std::to_string(x >> i & 15)] += x;
	uint64_t sum = 0;
	for (auto &[key, value] : map)
		sum = sum * 3 + key.size() + value;
	return sum;
}

/* Frames whose size the compiler does not know, or that it must align. */
NOINLINE uint64_t fills(volatile unsigned char *bytes, size_t count)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		bytes[i] = static_cast<unsigned char>(i * 7);
	for (size_t i = 0; i < count; i++)
		sum = sum * 3 + bytes[i];
	return sum;
}

NOINLINE uint64_t grows(uint64_t x)
{
	size_t count = 16 + x % 200;
	auto *bytes = static_cast<unsigned char *>(__builtin_alloca(count));
	return fills(bytes, count);
}

NOINLINE uint64_t aligned(uint64_t x)
{
	alignas(64) volatile unsigned char bytes[192];
	return fills(bytes, sizeof(bytes) - x % 64);
}

NOINLINE uint64_t aligned_and_grows(uint64_t x)
{
	alignas(128) volatile unsigned char fixed[128];
	auto *bytes = static_cast<unsigned char *>(__builtin_alloca(32 + x % 50));
	return fills(fixed, sizeof(fixed)) + fills(bytes, 32) + grows(x);
}

NOINLINE uint64_t large(uint64_t x)
{
	volatile unsigned char bytes[9000];
	bytes[0] = 1;
	return fills(bytes + 8000, 100) + grows(x) + bytes[0];
}

NOINLINE uint64_t many_arguments(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
	uint64_t h, uint64_t i, uint64_t j)
{
	return fold(a, b, c) + fold(d, e, f) + fold(g, h, i, j);
}

NOINLINE uint64_t sums(int count, ...)
{
	va_list list;
	uint64_t sum = 0;
	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += tail_begin(va_arg(list, uint64_t));
	va_end(list);
	return sum;
}

/* A part that is hardly ever run, which the compiler puts elsewhere. */
__attribute__((cold)) NOINLINE uint64_t seldom(uint64_t x)
{
	return fold(x, 1, 2);
}

NOINLINE uint64_t has_cold_part(uint64_t x)
{
	uint64_t sum = tail_end(x, 2);
	if (__builtin_expect(x % 16 == 3, 0)) {
		sum += seldom(x) + seldom(x + 1);
		sum ^= fibonacci(3);
	}
	return sum + 1;
}

NOINLINE uint64_t switches(uint64_t x)
{
	switch (x % 8) {
	case 0:
		return tail_begin(x);
	case 1:
		return linked_leaf(x);
	case 2:
		return Power<3>::of(x);
	case 3:
		return three_deep(x);
	case 4:
		return fold(x, 5u);
	case 5:
		return loaded_leaf(x);
	case 6:
		return grows(x);
	default:
		return has_cold_part(x) * 2;
	}
}

static thread_local jmp_buf place;

[[noreturn]] NOINLINE void jumps(int depth)
{
	if (depth > 0)
		jumps(depth - 1);
	longjmp(place, 1);
}

NOINLINE uint64_t long_jumps(uint64_t x)
{
	if (setjmp(place) == 0)
		jumps(static_cast<int>(x % 5));
	return x + 1;
}

/* Libraries. */
NOINLINE uint64_t called_back(uint64_t x)
{
	return three_deep(x) + is_even(static_cast<unsigned>(x % 9));
}

NOINLINE uint64_t libraries(uint64_t x)
{
	return linked_calls_back(called_back, x) + loaded_calls_back(called_back, x) + linked_text(x) +
	       loaded_leaf(linked_leaf(x));
}

NOINLINE uint64_t prints(uint64_t x)
{
	char text[100];
	snprintf(text, sizeof(text), "%lu %s %.10g", static_cast<unsigned long>(x), "text", static_cast<double>(x));
	return std::strlen(text);
}

/* Signals: the handler runs on top of whatever raised, here and in libc. */
NOINLINE uint64_t in_handler(uint64_t x)
{
	return fibonacci(static_cast<unsigned>(x % 4 + 4)) + three_deep(x);
}

extern "C" {
static NOINLINE void handler(int number)
{
	handled = handled + in_handler(static_cast<uint64_t>(number));
}
}

NOINLINE uint64_t raises(uint64_t x)
{
	raise(x % 2 ? SIGUSR1 : SIGUSR2);
	return handled + x;
}

NOINLINE uint64_t traps(uint64_t x)
{
#if defined(__x86_64__)
	asm volatile("ud2" : : : "memory");
#else
	raise(SIGILL);
#endif
	return x + 1;
}

extern "C" {
static NOINLINE void on_trap(int number, siginfo_t *info, void *context)
{
	handled = handled + in_handler(static_cast<uint64_t>(number));
	(void)info;
#if defined(__x86_64__)
	static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP] += 2;
#endif
}
}

NOINLINE uint64_t one_round(uint64_t x)
{
	uint64_t sum = 0;
	sum += three_deep(x) + tail_begin(x);
	sum += fibonacci(8) + ackermann(1, static_cast<unsigned>(x % 4)) + is_even(static_cast<unsigned>(x % 12));
	sum += tree_sum<int>(x) + tree_sum<short>(x) + tree_sum<int64_t>(x);
	sum += Power<9>::of(x) + fold(x, 2, 'c', 4L, 5u);
	sum += lambdas(x) + exceptions(x) + shapes(x) + sorts(x) + maps(x);
	sum += grows(x) + aligned(x) + aligned_and_grows(x) + large(x);
	sum += many_arguments(x, 2, 3, 4, 5, 6, 7, 8, 9, 10) + sums(4, x, x + 1, x + 2, x + 3);
	sum += has_cold_part(x) + switches(x) + long_jumps(x) + libraries(x) + prints(x);
	sum += raises(x) + raises(x + 1) + traps(x);
	return sum;
}

NOINLINE uint64_t rounds(uint64_t count)
{
	uint64_t sum = 1;
	for (uint64_t i = 0; i < count; i++) {
		sum = sum * 31 + one_round(i);
		asm volatile("" : : : "memory");
	}
	return sum;
}

NOINLINE void handle_signals()
{
	struct sigaction action = {};
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, nullptr);
	stack_t stack = {};
	stack.ss_size = 1 << 16;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
	action.sa_flags = SA_SIGINFO;
	action.sa_sigaction = on_trap;
	sigaction(SIGILL, &action, nullptr);
}

NOINLINE void set_timer(int microseconds)
{
	struct itimerval every = {};
	every.it_interval.tv_usec = every.it_value.tv_usec = microseconds;
	signal(SIGVTALRM, SIG_IGN);
	setitimer(ITIMER_VIRTUAL, &every, nullptr);
}

NOINLINE bool load_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library)
		return false;
	loaded_leaf = reinterpret_cast<uint64_t (*)(uint64_t)>(dlsym(library, "loaded_leaf"));
	loaded_calls_back = reinterpret_cast<uint64_t (*)(uint64_t (*)(uint64_t), uint64_t)>(
		dlsym(library, "loaded_calls_back"));
	return loaded_leaf && loaded_calls_back;
}

} // namespace sixty

int main(int argc, char **argv)
{
	if (argc < 3 || !sixty::load_library(argv[2])) {
		fprintf(stderr, "usage: sixty ROUNDS LIBRARY [THREADS [MICROSECONDS]]\n");
		return 2;
	}
	uint64_t count = strtoull(argv[1], nullptr, 10);
	int thread_count = argc > 3 ? atoi(argv[3]) : 0;
	std::vector<std::thread> threads;
	std::atomic<uint64_t> sink{0};
	sixty::handle_signals();
	if (argc > 4)
		sixty::set_timer(atoi(argv[4]));
	for (int i = 0; i < thread_count; i++)
		threads.emplace_back([&sink, count] { sink += sixty::rounds(count); });
	uint64_t sum = sixty::rounds(count);
	for (auto &thread : threads)
		thread.join();
	printf("%016lx\n", static_cast<unsigned long>(sum));
	return 0;
}
