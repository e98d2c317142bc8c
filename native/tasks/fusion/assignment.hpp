// SPDX-License-Identifier: Apache-2.0
//
// The Hungarian method: which row gets which column, so that the costs add up to the least.
#ifndef TACHO_TASKS_FUSION_ASSIGNMENT_HPP_
#define TACHO_TASKS_FUSION_ASSIGNMENT_HPP_

#include <cstddef>
#include <optional>
#include <vector>

namespace fusion {

class Costs {
 public:
  Costs(size_t rows, size_t columns) : rows_(rows), columns_(columns), costs_(rows * columns, 0) {}

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  double &operator()(size_t row, size_t column) { return costs_[row * columns_ + column]; }
  double operator()(size_t row, size_t column) const { return costs_[row * columns_ + column]; }

 private:
  size_t rows_, columns_;
  std::vector<double> costs_;
};

// The column of each row. A row or column stays free rather than be paired at a cost of `most` or more; costs are
// finite and 0 or more.
std::vector<std::optional<size_t>> assign(const Costs &costs, double most);

}  // namespace fusion

#endif  // TACHO_TASKS_FUSION_ASSIGNMENT_HPP_
