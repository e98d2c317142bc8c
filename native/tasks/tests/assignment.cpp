// SPDX-License-Identifier: Apache-2.0
//
// The Hungarian method as a function in C, for tests.
#include "../fusion/assignment.hpp"

extern "C" __attribute__((visibility("default"))) void assign(const double *costs, size_t rows, size_t columns,
                                                              double most, long *column_of) {
  fusion::Costs table(rows, columns);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) table(row, column) = costs[row * columns + column];
  }
  const auto found = fusion::assign(table, most);
  for (size_t row = 0; row < rows; ++row) column_of[row] = found[row] ? static_cast<long>(*found[row]) : -1;
}
