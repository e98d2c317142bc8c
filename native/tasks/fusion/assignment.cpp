// SPDX-License-Identifier: Apache-2.0
#include "assignment.hpp"

#include <algorithm>
#include <limits>

namespace fusion {

// Shortest augmenting paths with potentials (Jonker and Volgenant 1987). Each row also has a column of its own at the
// cost `most`: it takes that one if it stays free.
std::vector<std::optional<size_t>> assign(const Costs &costs, double most) {
  const size_t rows = costs.rows(), columns = costs.columns() + rows;
  constexpr size_t NONE = std::numeric_limits<size_t>::max();
  constexpr double FAR = std::numeric_limits<double>::max() / 4;
  const auto cost = [&](size_t row, size_t column) {
    if (column >= costs.columns()) return column - costs.columns() == row ? most : FAR;
    return costs(row, column) < most ? costs(row, column) : FAR;
  };
  std::vector<double> of_row(rows, 0), of_column(columns, 0), shortest(columns);
  std::vector<size_t> row_of(columns, NONE), before(columns);
  std::vector<bool> is_done(columns);
  for (size_t start = 0; start < rows; ++start) {
    std::fill(shortest.begin(), shortest.end(), FAR);
    std::fill(is_done.begin(), is_done.end(), false);
    size_t row = start, from = NONE;
    double length = 0;
    size_t end = NONE;
    while (end == NONE) {
      size_t next = NONE;
      for (size_t column = 0; column < columns; ++column) {
        if (is_done[column]) continue;
        const double reduced = length + cost(row, column) - of_row[row] - of_column[column];
        if (reduced < shortest[column]) shortest[column] = reduced, before[column] = from;
        if (next == NONE || shortest[column] < shortest[next]) next = column;
      }
      length = shortest[next];
      is_done[next] = true;
      if (row_of[next] == NONE) {
        end = next;
      } else {
        from = next, row = row_of[next];
      }
    }
    // The columns on the way become tight.
    of_row[start] += length;
    for (size_t column = 0; column < columns; ++column) {
      if (!is_done[column] || column == end) continue;
      of_row[row_of[column]] += length - shortest[column];
      of_column[column] -= length - shortest[column];
    }
    for (size_t column = end; column != NONE;) {
      const size_t previous = before[column];
      row_of[column] = previous == NONE ? start : row_of[previous];
      column = previous;
    }
  }
  std::vector<std::optional<size_t>> column_of(rows);
  for (size_t column = 0; column < costs.columns(); ++column) {
    if (row_of[column] != NONE) column_of[row_of[column]] = column;
  }
  return column_of;
}

}  // namespace fusion
