/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary C++ program for the benchmarks of names: regular expressions, maps and sorting, whose calls are inlined. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

int main(int, char **argv)
{
	std::regex pattern("([a-z]+)([0-9]+)x*");
	std::map<std::string, int> seen;
	std::unordered_map<std::string, std::vector<int>> groups;
	unsigned state = 1;
	size_t sum = 0;
	for (int i = 0, n = atoi(argv[1]); i < n; i++) {
		std::string key;
		for (int j = 0; j < 8; j++) {
			state = state * 1103515245 + 12345;
			key += char('a' + (state >> 16) % 26);
		}
		key += std::to_string(state % 1000);
		std::smatch found;
		if (std::regex_match(key, found, pattern))
			sum += found[1].length();
		seen[key]++;
		groups[key.substr(0, 2)].push_back(i);
	}
	for (auto &group : groups)
		std::sort(group.second.begin(), group.second.end(), [](int a, int b) { return (a ^ 77) < (b ^ 77); });
	printf("%zu %zu\n", sum, seen.size());
}
