#pragma once
#include <cstddef>
#include "abacus/export.h"

namespace abacus {
namespace detail {
struct Partial;
}

/// How a sum is made.
enum class Method { Plain, Compensated = 2 };

/// Adds up numbers without losing the small ones.
template <typename T>
class ABACUS_API Summer final : public detail::Base<T> {
 public:
  explicit Summer(Method method = Method::Compensated);
  ~Summer() override;
  void add(T number);
  T operator()() const { return total_; }
  static constexpr int kWays = 2;

 private:
  T total_ = 0;  ///< what it comes to
};

using Sum = Summer<double>;
typedef unsigned long count_t;

ABACUS_API double sum_exact(const double* numbers, std::size_t count) noexcept;

}  // namespace abacus
