/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of many forms, for tests of probes (../probe_places.py). */
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shapes {

class Shape {
public:
	explicit Shape(std::string name) : name_(std::move(name))
	{
		count_++;
	}
	virtual ~Shape();
	virtual double area() const = 0;
	const std::string &name() const
	{
		return name_;
	}
	static int count()
	{
		return count_;
	}

private:
	std::string name_;
	static int count_;
};

int Shape::count_ = 0;

Shape::~Shape()
{
	count_--;
}

class Circle : public Shape {
public:
	explicit Circle(double radius) : Shape("circle"), radius_(radius)
	{
	}
	double area() const override;

private:
	double radius_;
};

double Circle::area() const
{
	return 3.14159 * radius_ * radius_;
}

class Square : public Shape {
public:
	explicit Square(double side) : Shape("square"), side_(side)
	{
	}
	double area() const override
	{
		return side_ * side_;
	}

private:
	double side_;
};

} // namespace shapes

namespace {

__attribute__((noinline)) int hidden(int value)
{
	return value * 3;
}

} // namespace

template <typename T> __attribute__((noinline)) T largest(const std::vector<T> &values)
{
	T best = values[0];
	for (const T &value : values)
		if (value > best)
			best = value;
	return best;
}

__attribute__((noinline)) int overload(int value)
{
	return value + 1;
}

__attribute__((noinline)) int overload(double value)
{
	return static_cast<int>(value) + 2;
}

__attribute__((noinline)) double total_area(const std::vector<std::unique_ptr<shapes::Shape>> &all)
{
	double sum = 0;
	for (const auto &shape : all)
		sum += shape->area();
	return sum;
}

__attribute__((noinline)) int by_lambda(std::vector<int> values)
{
	int limit = 2;
	auto above = [limit](int value) {
		return value > limit;
	};
	return static_cast<int>(std::count_if(values.begin(), values.end(), above));
}

struct Vector {
	int x, y;
	Vector operator+(const Vector &other) const
	{
		return Vector{x + other.x, y + other.y};
	}
};

__attribute__((noinline)) Vector twice(Vector v)
{
	return v + v;
}

__attribute__((noinline)) void thrower(int value)
{
	if (value > 100)
		throw std::to_string(value);
}

__attribute__((noinline)) int catcher(int value)
{
	try {
		thrower(value);
	} catch (const std::string &text) {
		return static_cast<int>(text.size());
	}
	return 0;
}

extern "C" __attribute__((noinline)) int plain_c(int value)
{
	return value - 1;
}

int main(int argc, char **argv)
{
	std::vector<std::unique_ptr<shapes::Shape>> all;
	all.push_back(std::make_unique<shapes::Circle>(argc));
	all.push_back(std::make_unique<shapes::Square>(argc));
	std::map<std::string, int> words;
	for (int i = 0; i < argc; i++)
		words[argv[i]]++;
	int result = largest(std::vector<int>{1, 2, argc}) + static_cast<int>(largest(std::vector<double>{1.5, 2}));
	result += overload(argc) + overload(2.5 * argc) + hidden(argc) + by_lambda({1, 2, 3, argc});
	result += twice({argc, 2}).x + catcher(argc) + catcher(argc + 100) + plain_c(argc);
	std::printf("%f %d %d %s\n", total_area(all), result, shapes::Shape::count(), all[0]->name().c_str());
	return 0;
}
