// SPDX-License-Identifier: Apache-2.0
// What cxx.data is of: overloads, a template and a virtual call, some of them inlined.
#include <cstdlib>
#include <vector>

namespace shapes {
static volatile unsigned long sink;

struct Shape {
	virtual ~Shape() = default;
	virtual void draw(unsigned long turns) const = 0;
};

template <typename Number> __attribute__((noinline)) void sum(Number turns)
{
	for (Number i = 0; i < turns; i++)
		sink = sink + static_cast<unsigned long>(i);
}

struct Round : Shape {
	void draw(unsigned long turns) const override { sum<unsigned long>(turns); }
};

struct Square : Shape {
	void draw(unsigned long turns) const override { sum<double>(static_cast<double>(turns)); }
};
} // namespace shapes

int main(int argc, char **argv)
{
	unsigned long turns = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 20000000;
	const shapes::Round round;
	const shapes::Square square;
	const std::vector<const shapes::Shape *> all = {&round, &square};
	for (const shapes::Shape *shape : all)
		shape->draw(turns);
}
